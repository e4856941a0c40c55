/* late_work.c - a kernel that polls a word, and work that writes the word, given to the GPU a while later in another
 * stream: is it done beside the kernel?
 *
 * Usage: late_work copy|memset|kernel SECONDS [thread]
 *
 * SECONDS: from the kernel's launch to the other work; thread: another thread gives that, which has used the driver
 * before, while the first one is in cuStreamSynchronize for the kernel.  Prints one line.  Exit status: 0 = both are
 * done, 3 = not within three seconds, 77 = there is no driver.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_lookup.h"

#define NON_BLOCKING 1
#define NOT_READY 600
#define LIMIT_NS 3e9

static const char kernels_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry poll(.param .u64 word)\n{\n .reg .u64 %w;\n .reg .u32 %v;\n .reg .pred %p;\n"
    " ld.param.u64 %w, [word];\n"
    "AGAIN: nanosleep.u32 1000;\n ld.relaxed.gpu.global.u32 %v, [%w];\n setp.eq.u32 %p, %v, 0;\n @%p bra AGAIN;\n "
    "ret;\n}\n"
    ".visible .entry put(.param .u64 word)\n{\n .reg .u64 %w;\n ld.param.u64 %w, [word];\n"
    " st.relaxed.gpu.global.u32 [%w], 7;\n ret;\n}\n";

static void *module_kernel(void *module, const char *name)
{
    void *function = NULL;
    check(((int (*)(void **, void *, const char *))driver("cuModuleGetFunction"))(&function, module, name), name);
    return function;
}

static void *new_stream(void)
{
    void *stream = NULL;
    check(((int (*)(void **, unsigned))driver("cuStreamCreate"))(&stream, NON_BLOCKING), "cuStreamCreate");
    return stream;
}

static void launch(void *function, void *stream, uint64_t word)
{
    void *arguments[] = {&word};
    check(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                    void **))driver("cuLaunchKernel"))(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL),
          "cuLaunchKernel");
}

static void give(const char *kind, void *put, void *stream, uint64_t word)
{
    static const uint32_t seven = 7;
    if (strcmp(kind, "copy") == 0)
        check(((int (*)(uint64_t, const void *, size_t, void *))driver("cuMemcpyHtoDAsync"))(word, &seven, sizeof seven,
                                                                                             stream),
              "cuMemcpyHtoDAsync");
    else if (strcmp(kind, "memset") == 0)
        check(((int (*)(uint64_t, unsigned, size_t, void *))driver("cuMemsetD32Async"))(word, 7, 1, stream),
              "cuMemsetD32Async");
    else
        launch(put, stream, word);
}

struct work {
    const char *kind;
    double after_ns;
    void *context, *put, *first, *second;
    uint64_t word;
};

static int is_done(void *stream, double until_ns)
{
    int result;
    while ((result = ((int (*)(void *))driver("cuStreamQuery"))(stream)) == NOT_READY && now_ns() < until_ns)
        usleep(1000);
    if (result != NOT_READY)
        check(result, "cuStreamQuery");
    return result == 0;
}

static void synchronize(void *stream)
{
    check(((int (*)(void *))driver("cuStreamSynchronize"))(stream), "cuStreamSynchronize");
}

/* Gives the late work, waits for both and ends the program: nothing can be freed under a kernel that runs. */
static void give_and_end(const struct work *work)
{
    usleep((useconds_t)(work->after_ns / 1e3));
    give(work->kind, work->put, work->second, work->word);
    const double given_ns = now_ns();
    const int late = is_done(work->second, given_ns + LIMIT_NS), kernel = is_done(work->first, given_ns + LIMIT_NS);
    printf("%s: late work %s, kernel %s after %.3f s\n", work->kind, late ? "done" : "not done",
           kernel ? "done" : "not done", (now_ns() - given_ns) / 1e9);
    fflush(stdout);
    _exit(late && kernel ? 0 : 3);
}

static pthread_barrier_t has_used; /* the driver, the other thread */

static void *be_another(void *argument)
{
    const struct work *work = argument;
    check(((int (*)(void *))driver("cuCtxSetCurrent"))(work->context), "cuCtxSetCurrent");
    synchronize(work->second);
    pthread_barrier_wait(&has_used);
    pthread_barrier_wait(&has_used); /* the kernel is launched */
    give_and_end(work);
    return NULL;
}

static void *set_up(struct work *work)
{
    void *module = NULL;
    driver_find("late_work");
    load_kernel(kernels_ptx, "poll"); /* makes the context */
    check(((int (*)(void **))driver("cuCtxGetCurrent"))(&work->context), "cuCtxGetCurrent");
    check(((int (*)(void **, const void *))driver("cuModuleLoadData"))(&module, kernels_ptx), "cuModuleLoadData");
    work->put = module_kernel(module, "put");
    work->first = new_stream();
    work->second = new_stream();
    check(((int (*)(uint64_t *, size_t))driver("cuMemAlloc"))(&work->word, sizeof(uint32_t)), "cuMemAlloc");
    check(((int (*)(uint64_t, unsigned, size_t))driver("cuMemsetD32"))(work->word, 0, 1), "cuMemsetD32");
    return module_kernel(module, "poll");
}

int main(int argc, char **argv)
{
    const int by_thread = argc == 4 && strcmp(argv[3], "thread") == 0;
    if ((argc != 3 && !by_thread) || !strstr("copy memset kernel", argv[1]) || atof(argv[2]) < 0) {
        fprintf(stderr, "usage: late_work copy|memset|kernel SECONDS [thread]\n");
        return 2;
    }
    struct work work = {.kind = argv[1], .after_ns = atof(argv[2]) * 1e9};
    pthread_t thread;
    void *poll = set_up(&work);
    pthread_barrier_init(&has_used, NULL, 2);
    if (by_thread && pthread_create(&thread, NULL, be_another, &work) != 0)
        return 1;
    if (by_thread)
        pthread_barrier_wait(&has_used);
    launch(poll, work.first, work.word);
    if (!by_thread)
        give_and_end(&work);
    pthread_barrier_wait(&has_used);
    synchronize(work.first);
    pthread_join(thread, NULL);
    return 1; /* the other thread ends the program */
}
