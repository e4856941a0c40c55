/* debug_waits.cu - waits as a build without optimisation has them, for spin_debug_test.c: variables are in the stack
 * frame, and small functions are called.  A kernel's name says what it does.
 */
#include <stdint.h>

struct ring {
    uint64_t *barriers;
    int stage, parity;
};

__device__ void look(const volatile uint32_t *word, uint32_t *out)
{
    *out = *word;
}

__device__ uint32_t value_of(const volatile uint32_t *word)
{
    uint32_t value;
    look(word, &value);
    return value;
}

__device__ bool is_over(uint64_t *barrier, int parity)
{
    uint32_t over;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(over)
                 : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(barrier))), "r"(parity)
                 : "memory");
    return over != 0;
}

struct tester {
    const ring *of;
    __device__ bool operator()() const { return is_over(&of->barriers[of->stage], of->parity); }
};

__device__ uint64_t now()
{
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

/* Sleeps longer and longer; no limit is 0. */
template <class Test> __device__ bool wait_until(const Test &test, uint64_t limit)
{
    const uint64_t begin = now();
    while (!test()) {
        const uint64_t elapsed = now() - begin;
        if (limit != 0 && elapsed > limit)
            return false;
        if (elapsed > 4096)
            __nanosleep(1024);
        else if (elapsed > 256)
            __nanosleep(static_cast<uint32_t>(elapsed) / 4);
    }
    return true;
}

extern "C" __global__ void poll_word(const uint32_t *words, uint32_t index)
{
    while (value_of(&words[index]) < 7)
        __nanosleep(100);
}

struct comparer {
    const uint32_t *word;
    __device__ bool operator()() const { return value_of(word) >= 7; }
};

extern "C" __global__ void poll_with_limit(const uint32_t *words, uint32_t index)
{
    wait_until(comparer{&words[index]}, 1000000);
}

/* The code has the variable's address as a number. */
__device__ volatile uint32_t flag;
extern "C" __global__ void poll_variable()
{
    while (value_of(&flag) < 7)
        ;
}

extern "C" __global__ void poll_word_and_count(const uint32_t *words, uint32_t index, uint32_t *count)
{
    while (value_of(&words[index]) < 7)
        *count += 1;
}

extern "C" __global__ void wait_at_stage(int stage, int parity)
{
    extern __shared__ uint64_t barriers[];
    ring own = {barriers, stage, parity};
    while (!is_over(&own.barriers[own.stage], own.parity))
        ;
}

extern "C" __global__ void wait_with_sleep(int stage, int parity)
{
    extern __shared__ uint64_t barriers[];
    ring own = {barriers, stage, parity};
    wait_until(tester{&own}, 0);
}

extern "C" __global__ void wait_with_limit(int stage, int parity)
{
    extern __shared__ uint64_t barriers[];
    ring own = {barriers, stage, parity};
    wait_until(tester{&own}, 1000000);
}

/* Two barriers in turn, until one of them is through. */
extern "C" __global__ void wait_at_either(int parity)
{
    extern __shared__ uint64_t barriers[];
    while (!is_over(&barriers[0], parity) && !is_over(&barriers[1], parity))
        ;
}
