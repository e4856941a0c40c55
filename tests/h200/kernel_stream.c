/* kernel_stream.c - streams of kernels of 5 us: what markers cost them; and how the call that puts markers down
 * behaves.
 *
 * Usage: kernel_stream SECONDS [STREAMS]   one JSON line: nanoseconds a kernel, over all streams together
 *        kernel_stream --record            one JSON line a situation: what cuCtxRecordEvent answers, in how much time,
 * and when the event has passed; null = not within two seconds
 *        kernel_stream --captures          one JSON line a mode of a stream capture that another thread has begun: what
 * the calls of a thread answer that has put itself into mode relaxed, and how the capture ends after each
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_lookup.h"

/* 5 us from one kernel to the next at 1.98 GHz, with what the GPU needs between two. */
enum { KERNEL_CYCLES = 8000, STREAMS_MAX = 16, BLOCK = 1000, QUEUE = 4000, RECORDS = 40, PATIENCE_MS = 2000 };
enum { NON_BLOCKING = 1, DISABLE_TIMING = 2, MAPPED = 2, RELAXED = 2 };

/* Busy for so many cycles (the global timer goes in steps, which made streams of it 3 % apart from run to run); then,
 * with a flag, until that is set. */
static const char kernel_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry busy(.param .u64 flag, .param .u64 cycles)\n{\n"
    " .reg .u64 %f, %n, %t, %e;\n .reg .u32 %v;\n .reg .pred %p;\n"
    " ld.param.u64 %f, [flag];\n ld.param.u64 %n, [cycles];\n mov.u64 %t, %clock64;\n add.u64 %e, %t, %n;\n"
    "SPIN: mov.u64 %t, %clock64;\n setp.lt.u64 %p, %t, %e;\n @%p bra SPIN;\n"
    " setp.eq.u64 %p, %f, 0;\n @%p bra DONE;\n"
    "WAIT: ld.relaxed.sys.u32 %v, [%f];\n setp.eq.u32 %p, %v, 0;\n @%p bra WAIT;\n"
    "DONE: ret;\n}\n";

static void *function, *context, *streams[STREAMS_MAX];
static int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                            void **, void **);
static int (*synchronize)(void), (*set_current)(void *), (*record)(void *, void *), (*query)(void *);

static void launch(void *stream, uint64_t flag, uint64_t cycles)
{
    void *arguments[] = {&flag, &cycles};
    check(launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
}

static void prepare(int stream_count)
{
    driver_find("kernel_stream");
    function = load_kernel(kernel_ptx, "busy");
    launch_kernel = driver("cuLaunchKernel");
    synchronize = driver("cuCtxSynchronize");
    set_current = driver("cuCtxSetCurrent");
    check(((int (*)(void **))driver("cuCtxGetCurrent"))(&context), "cuCtxGetCurrent");
    for (int i = 0; i < stream_count; i++)
        check(((int (*)(void **, unsigned))driver("cuStreamCreate"))(&streams[i], NON_BLOCKING), "cuStreamCreate");
}

static int measure(double seconds, int stream_count)
{
    prepare(stream_count);
    for (int i = 0; i < BLOCK; i++)
        launch(streams[i % stream_count], 0, KERNEL_CYCLES);
    check(synchronize(), "cuCtxSynchronize");
    const double start = now_ns();
    long kernels = 0;
    for (; now_ns() - start < seconds * 1e9; kernels += BLOCK)
        for (int i = 0; i < BLOCK; i++)
            launch(streams[i % stream_count], 0, KERNEL_CYCLES);
    check(synchronize(), "cuCtxSynchronize");
    printf("{\"kernel_ns\": %.1f, \"kernels\": %ld, \"streams\": %d}\n", (now_ns() - start) / (double)kernels, kernels,
           stream_count);
    return 0;
}

/* ---- the call itself ---- */

static void *events[RECORDS];
static double took_ns[RECORDS];
static _Atomic int recorded, answer;

static void *record_all(void *unused)
{
    (void)unused;
    check(set_current(context), "cuCtxSetCurrent");
    for (int i = 0; i < RECORDS; i++) {
        const double start = now_ns();
        atomic_store(&answer, record(context, events[i]));
        took_ns[i] = now_ns() - start;
        atomic_store(&recorded, i + 1);
    }
    return NULL;
}

static void *synchronize_all(void *unused)
{
    (void)unused;
    set_current(context);
    synchronize();
    return NULL;
}

static void *fill_queue(void *unused)
{
    (void)unused;
    set_current(context);
    for (int i = 0; i < QUEUE; i++)
        launch(streams[0], 0, KERNEL_CYCLES);
    return NULL;
}

static void try_records(const char *situation)
{
    pthread_t thread;
    atomic_store(&recorded, 0);
    pthread_create(&thread, NULL, record_all, NULL);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&recorded) < RECORDS; i++)
        usleep(1000);
    const int count = atomic_load(&recorded);
    double longest = 0, passed_ms = -1;
    for (int i = 0; i < count; i++)
        longest = took_ns[i] > longest ? took_ns[i] : longest;
    const double start = now_ns();
    while (count && passed_ms < 0 && now_ns() - start < 0.5e9)
        if (query(events[0]) == 0)
            passed_ms = (now_ns() - start) / 1e6;
    printf("{\"situation\": \"%s\", \"recorded\": %d, \"of\": %d, \"answer\": %d, ", situation, count, RECORDS,
           count ? atomic_load(&answer) : -1);
    if (count)
        printf("\"median_us\": %.1f, \"max_us\": %.1f, ", median(took_ns, count) / 1e3, longest / 1e3);
    else
        printf("\"median_us\": null, \"max_us\": null, ");
    if (passed_ms >= 0)
        printf("\"passed_ms\": %.2f}\n", passed_ms);
    else
        printf("\"passed_ms\": null}\n");
    fflush(stdout);
    if (count < RECORDS)
        _exit(1); /* its thread is stuck in the driver: what comes next would say nothing */
    pthread_join(thread, NULL);
}

/* Two streams, the events, and a word that the kernel polls, with its address there. */
static uint32_t *prepare_records(uint64_t *address)
{
    uint32_t *flag = NULL;
    prepare(2);
    record = driver("cuCtxRecordEvent");
    query = driver("cuEventQuery");
    for (int i = 0; i < RECORDS; i++)
        check(((int (*)(void **, unsigned))driver("cuEventCreate"))(&events[i], DISABLE_TIMING), "cuEventCreate");
    check(((int (*)(void **, size_t, unsigned))driver("cuMemHostAlloc"))((void **)&flag, 4096, MAPPED),
          "cuMemHostAlloc");
    check(((int (*)(uint64_t *, void *, unsigned))driver("cuMemHostGetDevicePointer"))(address, flag, 0),
          "cuMemHostGetDevicePointer");
    memset(flag, 0, 4096);
    return flag;
}

static int try_situations(void)
{
    uint64_t address = 0;
    pthread_t waiting, filling;
    uint32_t *flag = prepare_records(&address);
    try_records("nothing runs");
    for (int i = 0; i < BLOCK / 2; i++)
        launch(streams[0], 0, KERNEL_CYCLES);
    try_records("500 kernels of 5 us in a stream");
    check(synchronize(), "cuCtxSynchronize");
    launch(streams[0], address, 0);
    usleep(10000);
    try_records("a kernel hangs");
    pthread_create(&waiting, NULL, synchronize_all, NULL);
    usleep(100000);
    try_records("a kernel hangs, a thread is in cuCtxSynchronize");
    launch(streams[1], 0, KERNEL_CYCLES);
    try_records("... and another stream works");
    pthread_create(&filling, NULL, fill_queue, NULL);
    usleep(500000);
    try_records("... and a thread is in cuLaunchKernel, its queue full");
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    pthread_join(waiting, NULL);
    pthread_join(filling, NULL);
    try_records("the kernel went on");
    return 0;
}

/* ---- beside a capture ---- */

static pthread_barrier_t turn;
static int capture_mode, capture_end;

static void *capture_once(void *unused)
{
    void *graph = NULL;
    (void)unused;
    check(set_current(context), "cuCtxSetCurrent");
    check(((int (*)(void *, int))driver("cuStreamBeginCapture"))(streams[1], capture_mode), "cuStreamBeginCapture");
    launch(streams[1], 0, KERNEL_CYCLES);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    capture_end = ((int (*)(void *, void **))driver("cuStreamEndCapture"))(streams[1], &graph);
    return NULL;
}

enum beside { QUERY_IN_FLIGHT, QUERY_PASSED, RECORD_IN_STREAM, RECORD_IN_CONTEXT, BESIDE_COUNT };

static int call_beside(enum beside what, uint32_t *flag)
{
    if (what == RECORD_IN_STREAM)
        return ((int (*)(void *, void *))driver("cuEventRecord"))(events[1], streams[0]);
    if (what == RECORD_IN_CONTEXT)
        return record(context, events[1]);
    if (what == QUERY_PASSED)
        __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    usleep(10000);
    return query(events[0]);
}

/* A kernel hangs with an event behind it; then a capture is open while this thread makes the call. */
static void try_beside(enum beside what, uint32_t *flag, uint64_t address)
{
    static const char *const names[] = {"query of an event in flight", "query of one that has passed",
                                        "record in another stream", "record in the context"};
    pthread_t thread;
    *flag = 0;
    launch(streams[0], address, 0);
    check(record(context, events[0]), "cuCtxRecordEvent");
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&thread, NULL, capture_once, NULL);
    pthread_barrier_wait(&turn);
    const int result = call_beside(what, flag);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check(synchronize(), "cuCtxSynchronize");
    printf("{\"capture_mode\": %d, \"call\": \"%s\", \"answer\": %d, \"capture_end\": %d}\n", capture_mode, names[what],
           result, capture_end);
    fflush(stdout);
}

static int try_captures(void)
{
    uint64_t address = 0;
    int mode = RELAXED;
    uint32_t *flag = prepare_records(&address);
    check(((int (*)(int *))driver("cuThreadExchangeStreamCaptureMode"))(&mode), "cuThreadExchangeStreamCaptureMode");
    for (capture_mode = 0; capture_mode <= RELAXED; capture_mode++)
        for (int what = 0; what < BESIDE_COUNT; what++)
            try_beside((enum beside)what, flag, address);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--captures") == 0)
        return try_captures();
    if (argc == 2 && strcmp(argv[1], "--record") == 0)
        return try_situations();
    const double seconds = argc > 1 ? atof(argv[1]) : 0;
    const int stream_count = argc > 2 ? atoi(argv[2]) : 1;
    if (argc > 3 || seconds <= 0 || seconds > 60 || stream_count < 1 || stream_count > STREAMS_MAX) {
        fprintf(stderr, "usage: kernel_stream SECONDS [STREAMS] | --record | --captures\n");
        return 2;
    }
    return measure(seconds, stream_count);
}
