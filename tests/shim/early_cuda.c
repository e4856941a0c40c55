/* early_cuda.c - a libcuda.so.1 that has nothing but these: the observer looks for more and goes without. */
#define SHOWN __attribute__((visibility("default")))

SHOWN int cuInit(unsigned flags);
SHOWN int cuInit(unsigned flags)
{
    return flags != 0;
}

SHOWN int cuLaunchKernel(void);
SHOWN int cuLaunchKernel(void)
{
    return 1;
}
