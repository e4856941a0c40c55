/* calls.cu - a kernel that calls functions, compiled without optimisation for look_calls_test.c: waits that several
 * calls lead to.
 */
__device__ unsigned offset_of(const void *object)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(object));
}

__device__ bool is_over(unsigned long long *barrier, int parity)
{
    unsigned over;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(over)
                 : "r"(offset_of(barrier)), "r"(parity)
                 : "memory");
    return over != 0;
}

__device__ void wait(unsigned long long *barrier, int parity)
{
    while (!is_over(barrier, parity))
        ;
}

__device__ void wait_for_both(unsigned long long *barriers)
{
    wait(&barriers[0], 0);
    wait(&barriers[1], 1);
}

__device__ void poll(volatile int *word)
{
    while (*word == 0)
        ;
}

/* Nothing but a barrier and the return. */
__device__ void meet(int id)
{
    asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory");
}

__device__ void gather(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ bool is_set(volatile int *word)
{
    return *word != 0;
}

extern "C" __global__ void caller(volatile int *words)
{
    __shared__ unsigned long long barriers[2];
    wait(&barriers[0], 0);
    wait_for_both(barriers);
    words[4] = offset_of(barriers);
    poll(words);
    wait(&barriers[1], 1);
    while (!is_set(words + 8))
        ;
    meet(1);
    words[1] = 4;
    meet(2);
    words[2] = 5;
    gather(words[9], words[10]);
    words[3] = 6;
}
