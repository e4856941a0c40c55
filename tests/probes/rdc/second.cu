/* second.cu - see first.cu. */
#include "names.h"

static __global__ void second(bool hangs)
{
    WSDBG_BEGIN(w);
    if (threadIdx.x < 32) {
        WSDBG_ROLE_BEGIN(w, 0);
        sync(w, TAKEN);
    } else {
        WSDBG_ROLE_BEGIN(w, 1);
        if (!hangs)
            sync(w, TAKEN);
    }
    WSDBG_EXIT(w);
}

void launch_second(bool hangs)
{
    second<<<1, THREADS>>>(hangs);
}
