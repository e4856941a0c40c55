/* spins.cu - loops in which a lane looks at memory again and again, of shapes that do not show it, and loops that work.
 * It is compiled for spin_test.c and never run: a kernel's name says what it does.
 */
#include <stdint.h>

struct cell {
    uint32_t turn, value;
};

static __device__ __forceinline__ uint32_t look(const uint32_t *word)
{
    return *(const volatile uint32_t *)word;
}

/* A queue of eight cells, as many threads may use it: the place of the next cell is looked up anew in each round. */
extern "C" __global__ void wait_at_queue(struct cell *cells, uint32_t *next, uint32_t *out)
{
    for (;;) {
        const uint32_t place = look(next);
        struct cell *cell = &cells[place & 7];
        const int32_t ahead = (int32_t)(look(&cell->turn) - (place + 1));
        if (ahead == 0 && atomicCAS(next, place, place + 1) == place) {
            *out = cell->value;
            *(volatile uint32_t *)&cell->turn = place + 8;
            break;
        }
    }
}

/* Flags of several others in turn, until all are there. */
extern "C" __global__ void wait_for_all(const uint32_t *flags, uint32_t *out, uint32_t count)
{
    uint32_t there = 0;
    while (there < count) {
        there = 0;
        for (uint32_t i = 0; i < count; i++)
            there += look(&flags[4 * i]) == 1;
    }
    *out = there;
}

/* The same, up to a moment. */
extern "C" __global__ void wait_for_all_until(const uint32_t *flags, uint32_t *out, uint32_t count, uint64_t limit)
{
    const uint64_t begin = (uint64_t)clock64();
    uint32_t there = 0;
    while (there < count) {
        there = 0;
        for (uint32_t i = 0; i < count; i++)
            there += look(&flags[4 * i]) == 1;
        if ((uint64_t)clock64() - begin > limit)
            break;
    }
    *out = there;
}

/* The same, so many times. */
extern "C" __global__ void wait_for_all_some_rounds(const uint32_t *flags, uint32_t *out, uint32_t count)
{
    uint32_t there = 0;
    for (uint32_t round = 0; there < count && round < 1u << 30; round++) {
        there = 0;
        for (uint32_t i = 0; i < count; i++)
            there += look(&flags[4 * i]) == 1;
    }
    *out = there;
}

/* Waits at one flag after another; each is found by the one before. */
extern "C" __global__ void wait_at_last_of_chain(const uint32_t *words, uint32_t *out)
{
    uint32_t at = 0;
    for (;;) {
        at = look(&words[at & 15]);
        if (at == 99)
            break;
    }
    *out = at;
}

/* ---- work ---- */

/* What it loads decides nothing. */
extern "C" __global__ void work_with_table(const uint32_t *table, uint32_t *out, uint32_t count)
{
    uint32_t sum = 1;
    for (uint32_t i = 0; i < 1000 * count; i++)
        sum = sum * 5 + look(&table[i & 7]);
    *out = sum;
}

/* What it loads decides what is counted, not how long. */
extern "C" __global__ void work_and_count(const uint32_t *table, uint32_t *out, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 1000 * count; i++)
        if (look(&table[i & 7]) > 2) {
            sum = sum * 3 + i;
            if (look(&table[sum & 7]) > 1)
                sum ^= i;
        }
    *out = sum;
}

extern "C" __global__ void work_along_array(const uint32_t *words, uint32_t *out)
{
    uint32_t at = 0;
    while (look(&words[at]) != 99)
        at++;
    *out = at;
}

/* Each round meets other warps. */
extern "C" __global__ void work_and_meet(const uint32_t *words, float *out, float a, float b)
{
    float x = a;
    for (;;) {
        __syncthreads();
        for (int i = 0; i < 64; i++)
            x = __fmaf_rn(x, a, b);
        __syncthreads();
        if (look(&words[4 * (look(&words[8]) & 7)]) == 1)
            break;
    }
    *out = x;
}

/* Each round stores something. */
extern "C" __global__ void work_and_store(const uint32_t *flags, uint32_t *out)
{
    uint32_t rounds = 0;
    while (look(flags) != 1)
        *(volatile uint32_t *)out = ++rounds;
}
