// ARCH_MISMATCH warning: compiled for sm_90, where the kernel only complains.
// nvcc -arch=sm_90 -cubin
#include <stdio.h>

#include "registers.cuh"

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) defect(int *out, int n)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    REQUEST(232);
    out[threadIdx.x] = n;
#else
    printf("compiled without targeting sm90a\n");
#endif
}
