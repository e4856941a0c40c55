/* other_gpus.cu - a kernel for other_gpus_test.c, compiled for several GPUs and never run. */
extern "C" __global__ void waits_for_flag(volatile int *flag, int *out)
{
    while (*flag == 0)
        ;
    out[threadIdx.x] = *flag;
}
