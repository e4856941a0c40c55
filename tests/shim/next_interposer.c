/* next_interposer.c - somebody else's preloaded interposer, loaded after the shim: counts launches, and finds the
 * driver's function with RTLD_NEXT, which must mean "after me".
 *
 * INTERPOSER_EXTENDS=1   it makes each launch by cuLaunchKernelEx, as everybody sees it
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver_api.h"

typedef CUresult (*launch_function)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    CUstream, void **, void **);

__attribute__((visibility("default"))) CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                                               unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                               CUstream stream, void **parameters, void **extra);

typedef CUresult (*launch_ex)(const struct cu_launch_config *, CUfunction, void **, void **);

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **parameters, void **extra)
{
    const struct cu_launch_config config = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
    if (getenv("INTERPOSER_EXTENDS"))
        return ((launch_ex)dlsym(RTLD_DEFAULT, "cuLaunchKernelEx"))(&config, f, parameters, extra);
    launch_function next = (launch_function)dlsym(RTLD_NEXT, "cuLaunchKernel");
    if (next == cuLaunchKernel)
        puts("interposer: RTLD_NEXT is myself");
    puts("interposed");
    return next(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}
