/* missing.c - what the stand-in does not have: every other function of the driver resolves, says so once on stderr and
 * returns CUDA_ERROR_NOT_SUPPORTED.
 *
 * NVIDIA's own CUDA runtime and libraries ask cuGetExportTable for private tables that nobody else can have.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#include "libcuda/driver.h"

static CUresult missing(const char *name, atomic_bool *was_said)
{
    if (!atomic_exchange(was_said, true))
        fprintf(stderr, "wsdbg: the simulated driver has no %s\n", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define MISSING(symbol)                     \
    ENTRY(symbol, void)                     \
    {                                       \
        static atomic_bool was_said;        \
        return missing(#symbol, &was_said); \
    }
#include "libcuda/missing.def"
#undef MISSING

ENTRY(cuGetExportTable, const void **table, const void *id)
{
    static atomic_bool was_said;
    (void)id;
    if (table)
        *table = NULL;
    if (atomic_exchange(&was_said, true))
        return CUDA_ERROR_NOT_SUPPORTED;
    Dl_info caller = {0};
    const bool is_known = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname && *caller.dli_fname;
    fprintf(stderr,
            "wsdbg: NVIDIA's own CUDA runtime, or a library made with it (%s), asks for private tables of NVIDIA's "
            "driver, which the simulator does not have; if its calls fail, link it with -cudart shared\n",
            is_known ? caller.dli_fname : "?");
    return CUDA_ERROR_NOT_SUPPORTED;
}
