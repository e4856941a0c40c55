/* common.cu - see stands.cuh. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "stands.cuh"

static void end_at_limit(int)
{
    static const char line[] = "stands: the time limit is over\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        _exit(STATUS_LIMIT);
    _exit(STATUS_LIMIT);
}

void limit_time(int seconds)
{
    struct itimerval timer = {};
    timer.it_value.tv_sec = seconds;
    struct sigaction action = {};
    action.sa_handler = end_at_limit;
    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &timer, NULL) != 0) {
        perror("stands: no time limit");
        exit(1);
    }
}

static void skip(const char *why)
{
    fprintf(stderr, "stands: skipped: %s\n", why);
    exit(STATUS_SKIP);
}

void need_gpus(int count)
{
    int found = 0;
    const cudaError_t error = cudaGetDeviceCount(&found);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        skip("no GPU, or no driver for it");
    CHECK(error);
    if (found < count)
        skip("the case needs two GPUs");
    for (int other = 1; other < count; other++) {
        int can = 0;
        CHECK(cudaDeviceCanAccessPeer(&can, other, 0));
        if (!can)
            skip("the GPUs cannot access each other's memory");
    }
}

cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void *new_zeroed(size_t bytes)
{
    void *memory;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0, bytes));
    CHECK(cudaDeviceSynchronize());
    return memory;
}

uint32_t *new_word(void)
{
    return (uint32_t *)new_zeroed(sizeof(uint32_t));
}

void spin_until_done(cudaStream_t stream)
{
    for (cudaError_t state; (state = cudaStreamQuery(stream)) != cudaSuccess;)
        if (state != cudaErrorNotReady)
            CHECK(state);
}

void sleep_s(double seconds)
{
    struct timespec left;
    left.tv_sec = (time_t)floor(seconds);
    left.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void load_code(const void *kernel)
{
    struct cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
}

__global__ void poll(const uint32_t *word, uint32_t wanted)
{
    while (load_word(word) != wanted)
        __nanosleep(200);
}

__global__ void poll_volatile(const volatile uint32_t *word, uint32_t wanted)
{
    while (*word != wanted)
        __nanosleep(200);
}

__global__ void write_word(uint32_t *word, uint32_t value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__global__ void compute(uint64_t duration_ns, uint32_t *out)
{
    const uint32_t value = work_for(duration_ns, threadIdx.x);
    if (value == 0x12345678u)
        *out = value;
}

void load_polls(void)
{
    load_code((const void *)poll);
    load_code((const void *)poll_volatile);
}

void launch_poll(const struct options *options, const uint32_t *word, cudaStream_t stream)
{
    if (options->is_volatile)
        poll_volatile<<<POLL_CTAS, POLL_THREADS, 0, stream>>>(word, WANTED);
    else
        poll<<<POLL_CTAS, POLL_THREADS, 0, stream>>>(word, WANTED);
    CHECK(cudaGetLastError());
}
