/* first.cu - a kernel with probes; the other one of the program is in second.cu.  "first" or "second" as argument makes
 * that kernel hang. */
#include "names.h"

#include <cstring>

__global__ void first(bool hangs)
{
    WSDBG_BEGIN(w);
    if (threadIdx.x < 32) {
        WSDBG_ROLE_BEGIN(w, 0);
        if (!hangs)
            sync(w, SENT);
    } else {
        WSDBG_ROLE_BEGIN(w, 1);
        sync(w, SENT);
    }
    WSDBG_EXIT(w);
}

void launch_second(bool hangs);

int main(int argc, char **argv)
{
    const char *const hangs = argc > 1 ? argv[1] : "";
    first<<<1, THREADS>>>(strcmp(hangs, "first") == 0);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    launch_second(strcmp(hangs, "second") == 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
