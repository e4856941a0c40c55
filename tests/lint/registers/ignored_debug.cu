// REGS_IGNORED warning: compiled for a debugger.
// nvcc -G
#include "registers.cuh"

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) defect(int *out, int n)
{
    if (threadIdx.x < GROUP)
        RELEASE(40); // here
    else
        REQUEST(232);
    out[threadIdx.x] = n;
}
