// REGS_IGNORED warning: compiled to be linked with others.
// nvcc -dc
#include "registers.cuh"

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) defect(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40); // here
        out[threadIdx.x] = n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    }
}
