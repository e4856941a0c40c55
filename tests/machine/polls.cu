/* polls.cu - loops that poll memory, as communication libraries write them, and loops that do work and look similar. It
 * is compiled for poll_loops_test.c and never run: a kernel's name says what it does.
 */
#include <stdint.h>
#include <stdio.h>

struct room {
    uint64_t pad[3];
    uint32_t stopped;
    const volatile uint32_t *stop;
    const uint32_t *next;
};
static __shared__ struct room room;

/* Looks at the program's flag once in many rounds; the others of the CTA learn it from shared memory. */
static __device__ __forceinline__ bool leaves(int *rounds, bool *left)
{
    if (*left)
        return true;
    if (++*rounds >= 10000) {
        *rounds = 0;
        const uint32_t stop = *room.stop;
        if (stop) {
            *left = true;
            room.stopped = stop;
        }
    }
    return *left;
}

static __device__ void enter(const volatile uint32_t *stop)
{
    if (threadIdx.x == 0)
        room = {{0, 0, 0}, 0, stop, (const uint32_t *)stop};
    __syncthreads();
}

static __device__ __forceinline__ uint4 load_line(const uint4 *line)
{
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(line));
    return v;
}

static __device__ __forceinline__ ulonglong2 load_pair(const ulonglong2 *pair)
{
    ulonglong2 v;
    asm volatile("ld.volatile.global.v2.u64 {%0,%1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(pair));
    return v;
}

/* Lines of two words of data, each with a mark behind it; several in a row, so that the marks change. */
extern "C" __global__ void poll_marked_lines(const uint4 *lines, const volatile uint32_t *stop, uint32_t mark,
                                             int count, uint2 *out)
{
    bool left = false;
    int rounds = 0;
    enter(stop);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        uint4 line;
        do {
            line = load_line(lines + i);
            if (leaves(&rounds, &left))
                break;
        } while (line.y != mark + 1 || line.w != mark + 1);
        out[i] = make_uint2(line.x, line.z);
    }
}

/* Pairs whose second half is a mark in some lanes, until all lanes have theirs. */
extern "C" __global__ void poll_pairs_together(const ulonglong2 *pairs, const volatile uint32_t *stop, uint64_t mark,
                                               bool marks, uint64_t *out)
{
    bool left = false, again;
    int rounds = 0;
    enter(stop);
    ulonglong2 a, b;
    do {
        a = load_pair(pairs + threadIdx.x);
        b = load_pair(pairs + threadIdx.x + 32);
        again = marks && (a.y != mark || b.y != mark);
        again &= !leaves(&rounds, &left);
    } while (__any_sync(0xffffffff, again));
    out[threadIdx.x] = a.x + b.x;
}

/* A count of steps that another one raises; the newest one is kept from one wait to the next. */
extern "C" __global__ void poll_step(const volatile uint64_t *there, const volatile uint32_t *stop, uint64_t step,
                                     uint64_t ahead, uint64_t *out)
{
    bool left = false;
    int rounds = 0;
    enter(stop);
    uint64_t known = *there;
    while (known + ahead < step) {
        known = *there;
        if (leaves(&rounds, &left))
            break;
    }
    *out = known;
}

/* The same through memory that several devices have in common. */
extern "C" __global__ void poll_step_of_several(const uint64_t *there, const volatile uint32_t *stop, uint64_t step,
                                                bool several, uint64_t *out)
{
    bool left = false;
    int rounds = 0;
    enter(stop);
    uint64_t known = 0;
    while (known < step) {
        if (several)
            asm volatile("multimem.ld_reduce.acquire.sys.global.min.u64 %0, [%1];" : "=l"(known) : "l"(there));
        else
            asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(known) : "l"(there));
        if (leaves(&rounds, &left))
            break;
    }
    *out = known;
}

/* What is looked at seldom comes first. */
extern "C" __global__ void poll_behind_check(const volatile uint32_t *flag, const volatile uint32_t *stop,
                                             uint64_t *out)
{
    int rounds = 0;
    for (;;) {
        if (++rounds == 10000) {
            rounds = 0;
            if (*stop)
                break;
        }
        const uint32_t now = *flag;
        if (now == 3)
            break;
    }
    *out = rounds;
}

/* ---- work ---- */

/* Each line is another one, and so is what is done with it. */
extern "C" __global__ void work_on_lines(const uint4 *lines, const volatile uint32_t *stop, int count, uint32_t *out)
{
    bool left = false;
    int rounds = 0;
    uint32_t sum = 0;
    enter(stop);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const uint4 line = load_line(lines + i);
        sum += line.x ^ line.y;
        if (leaves(&rounds, &left) || line.w == 7)
            break;
    }
    out[threadIdx.x] = sum;
}

struct link {
    struct link *next;
    uint32_t value;
};

extern "C" __global__ void work_along_chain(const struct link *volatile *first, uint32_t *out)
{
    uint32_t sum = 0;
    for (const volatile struct link *link = *first; link; link = link->next)
        sum += link->value;
    *out = sum;
}

/* The pointer lies in shared memory, always at the same place, and the loop moves it on. */
extern "C" __global__ void work_along_chain_in_shared(const uint32_t *volatile *first, uint32_t *out)
{
    volatile struct room *here = &room;
    uint32_t rounds = 0;
    here->next = *first;
    const uint32_t *at;
    while ((at = here->next)) {
        here->next = *(const uint32_t *const volatile *)at;
        rounds++;
    }
    *out = rounds;
}

/* A bound that is loaded anew ends nothing by itself. */
extern "C" __global__ void work_up_to_bound(const volatile uint32_t *bound, uint32_t *out)
{
    uint32_t value = 1;
    enter(bound);
    for (uint32_t i = 0; i < *((volatile struct room *)&room)->stop; i++)
        value = value * 3 + (value >> 7);
    *out = value;
}

/* A flag of the CTA, read by atomics: "LDS" is nowhere in their names. */
extern "C" __global__ void poll_shared_by_atomics(uint32_t *out)
{
    __shared__ uint32_t flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 32)
        while (atomicAdd(&flag, 0) == 0) {
        }
    else
        atomicExch(&flag, 1);
    *out = flag;
}

extern "C" __global__ void poll_shared(uint32_t *out)
{
    __shared__ uint32_t flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    while (threadIdx.x < 32 && *(volatile uint32_t *)&flag == 0) {
    }
    *(volatile uint32_t *)&flag = 1;
    *out = flag;
}

/* The poll is the first thing in each round: both loops begin at the same instruction. */
extern "C" __global__ void poll_each_round(const volatile uint32_t *flag, uint32_t rounds, uint32_t *out)
{
    for (uint32_t i = 0; i < rounds; i++) {
        while (*flag < i) {
        }
        out[i] = i;
    }
}

/* An inner loop lets time pass between two loads of the flag. */
extern "C" __global__ void poll_with_pauses(const volatile uint32_t *flag, uint32_t rounds, uint32_t *out)
{
    for (uint32_t i = 0; i < rounds; i++) {
        while (*flag < i) {
            const long long begin = clock64();
            while (clock64() - begin < 1000) {
            }
        }
        out[i] = i;
    }
}

/* The pointer to the flag is loaded anew in each round. */
extern "C" __global__ void poll_through_table(const uint32_t *const *flags, uint32_t count, uint32_t *out)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++)
        do
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags[i]) : "memory");
        while (seen != 7);
    *out = seen;
}

/* The loop also ends by itself after some time. */
extern "C" __global__ void poll_for_some_time(const volatile uint32_t *flag, long long limit, uint32_t *out)
{
    const long long begin = clock64();
    while (*flag == 0 && clock64() - begin < limit) {
    }
    *out = *flag;
}

/* As a library does that rather ends the kernel than hang for ever. */
extern "C" __global__ void poll_or_trap(const uint32_t *flag, uint32_t *out)
{
    const long long begin = clock64();
    uint32_t seen;
    for (;;) {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag));
        if (seen)
            break;
        if (clock64() - begin >= 200000000000ll) {
            printf("CTA %u waited too long, and saw %u\n", blockIdx.x, seen);
            __trap();
        }
    }
    *out = seen;
}

/* Polls whose time limit the program may leave out. */
extern "C" __global__ void poll_with_deadline(uint32_t *signal, unsigned long long limit, uint32_t *out)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    const unsigned long long deadline = now + limit * 1000000;
    while (atomicCAS_system(signal, 1u, 0u) != 1u) {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        if (limit != 0 && now > deadline)
            __trap();
    }
    *out = 1;
}

extern "C" __global__ void poll_up_to_limit(const volatile uint32_t *flag, unsigned long long limit, uint32_t *out)
{
    const long long begin = clock64();
    bool late = false;
    while (*flag == 0 && !late)
        late = limit > 0 && clock64() - begin > (long long)limit;
    *out = late;
}

/* No poll: each round of the inner loop reads another word. */
extern "C" __global__ void work_each_round(const volatile uint32_t *words, uint32_t rounds, uint32_t *out)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; words[k] != i; k++)
            sum += k;
        out[i] = sum;
    }
}
