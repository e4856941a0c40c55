/* missing.c - what the stand-in does not have: every other function of the runtime resolves, says so once on stderr and
 * returns cudaErrorNotSupported.  missing.def lists them. */
#include <stdatomic.h>
#include <stdio.h>

#include "libcudart/runtime.h"

static cudaError_t missing(const char *name, atomic_bool *was_said)
{
    if (!atomic_exchange(was_said, true))
        fprintf(stderr, "wsdbg: the simulated CUDA runtime has no %s\n", name);
    return runtime_fail(cudaErrorNotSupported);
}

#define MISSING(symbol)                     \
    RUNTIME(symbol, void)                   \
    {                                       \
        static atomic_bool was_said;        \
        return missing(#symbol, &was_said); \
    }
#include "libcudart/missing.def"
#undef MISSING
