/* late_work.c - a kernel that polls a word, and work that writes the word, given to the GPU a while later in another
 * stream: is it done beside the kernel?
 *
 * Usage: late_work copy|memset|kernel SECONDS     SECONDS: from the kernel's launch to the other work.  Prints one
 * line. Exit status: 0 = both are done, 3 = not within three seconds.
 */
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

static int is_done(void *stream, double until_ns)
{
    int result;
    while ((result = ((int (*)(void *))driver("cuStreamQuery"))(stream)) == NOT_READY && now_ns() < until_ns)
        usleep(1000);
    if (result != NOT_READY)
        check(result, "cuStreamQuery");
    return result == 0;
}

int main(int argc, char **argv)
{
    if (argc != 3 || !strstr("copy memset kernel", argv[1]) || atof(argv[2]) < 0) {
        fprintf(stderr, "usage: late_work copy|memset|kernel SECONDS\n");
        return 2;
    }
    void *module = NULL;
    uint64_t word = 0;
    driver_find("late_work");
    load_kernel(kernels_ptx, "poll"); /* makes the context */
    check(((int (*)(void **, const void *))driver("cuModuleLoadData"))(&module, kernels_ptx), "cuModuleLoadData");
    void *poll = module_kernel(module, "poll"), *put = module_kernel(module, "put");
    void *first = new_stream(), *second = new_stream();
    check(((int (*)(uint64_t *, size_t))driver("cuMemAlloc"))(&word, sizeof(uint32_t)), "cuMemAlloc");
    check(((int (*)(uint64_t, unsigned, size_t))driver("cuMemsetD32"))(word, 0, 1), "cuMemsetD32");
    launch(poll, first, word);
    usleep((useconds_t)(atof(argv[2]) * 1e6));
    give(argv[1], put, second, word);
    const double given_ns = now_ns();
    const int late = is_done(second, given_ns + LIMIT_NS), kernel = is_done(first, given_ns + LIMIT_NS);
    printf("%s: late work %s, kernel %s after %.3f s\n", argv[1], late ? "done" : "not done",
           kernel ? "done" : "not done", (now_ns() - given_ns) / 1e9);
    fflush(stdout);
    _exit(late && kernel ? 0 : 3); /* nothing can be freed under a kernel that runs */
}
