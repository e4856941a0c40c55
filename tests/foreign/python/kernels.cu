/* kernels.cu - for the programs of this folder: fill stores numbers, hang waits for an arrival that nobody makes. */
extern "C" __global__ void fill(int *v, int with)
{
    v[threadIdx.x] = with + threadIdx.x;
}

extern "C" __global__ void hang(int *v)
{
    __shared__ unsigned long long barrier;
    const unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address));
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(address) : "memory");
    v[0] = 1;
}
