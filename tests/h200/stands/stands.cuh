/* stands.cuh - what the programs of stands.def share: options, error checks, streams, words, and the kernels that
 * several use.
 *
 * Reads nothing, writes nothing.  Every function ends the program with status 1 when a call fails that should not.
 */
#ifndef STANDS_CUH
#define STANDS_CUH

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define STATUS_FAULT 1
#define STATUS_USAGE 2
#define STATUS_LIMIT 3
#define STATUS_SKIP 77

/* What a poll waits for: the bytes that a memset by 7 writes too. */
#define WANTED 0x07070707u
#define WANTED_BYTE 7

#define POLL_CTAS 4
#define POLL_THREADS 64

struct options {
    double after_s;   /* from the start of a poll to the write that ends it */
    int limit_s;      /* the whole program's */
    bool is_volatile; /* polls read with the scope of the system, as through a volatile pointer */
};

#define CHECK(call) check((call), #call)

static inline void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "stands: %s: %s\n", call, cudaGetErrorName(error));
    exit(1);
}

/* Ends the program with status 3 after so many seconds.  A timer and not a thread: a further thread of the program
 * could be the one that feeds a kernel, so wsdbg would conclude less. */
void limit_time(int seconds);

/* Ends the program with status 77 and a line unless there are so many GPUs, each able to read and write the first one's
 * memory. */
void need_gpus(int count);

/* A stream that does not wait for the legacy stream. */
cudaStream_t new_stream(void);

/* A zeroed array of device memory. */
void *new_zeroed(size_t bytes);
uint32_t *new_word(void);

void sleep_s(double seconds);
double now_s(void);

/* Loads a kernel's code now.  Loaded lazily, at its first launch, it could have to wait for a kernel that polls. */
void load_code(const void *kernel);

/* Asks for the stream's state without a pause until all that it was given is done. */
void spin_until_done(cudaStream_t stream);

/* An executable graph of it. */
cudaGraphExec_t instantiate(cudaGraph_t graph);

/* Every thread polls until the word has the value. */
__global__ void poll(const uint32_t *word, uint32_t wanted);
__global__ void poll_volatile(const volatile uint32_t *word, uint32_t wanted);
__global__ void write_word(uint32_t *word, uint32_t value);

/* Computes for a time and waits for nothing. */
__global__ void compute(uint64_t duration_ns, uint32_t *out);

/* Loads the code of both kinds of poll. */
void load_polls(void);

/* Launches `poll` or `poll_volatile` for WANTED. */
void launch_poll(const struct options *options, const uint32_t *word, cudaStream_t stream);

/* A read at the scope of the GPU: what correct code uses for words that only this GPU's memory system changes. */
static __device__ __forceinline__ uint32_t load_word(const uint32_t *word)
{
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

static __device__ __forceinline__ uint64_t global_time_ns(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* Arithmetic for a time; the value is to be stored, or the compiler leaves the work out. */
static __device__ __forceinline__ uint32_t work_for(uint64_t duration_ns, uint32_t value)
{
    const uint64_t start = global_time_ns();
    do
        for (int i = 0; i < 10000; i++)
            value = value * 1664525u + 1013904223u;
    while (global_time_ns() - start < duration_ns);
    return value;
}

#define STAND(id, name, kind, gpus, story) int stand_##id(const struct options *options);
#include "stands.def"
#undef STAND

#endif
