/* contexts.c - makes and ends contexts all the time, for contexts.py: a context, a stream, a kernel of 60 ms, and back
 * again.
 *
 * Usage: contexts SECONDS [primary|keep|one]   primary = the device's primary context; keep = another context stays all
 * the time; one = one context, of which only streams and modules come and go.  Writes how many rounds there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_lookup.h"

static const char kernel_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry spin(.param .u64 ns)\n{\n .reg .u64 %n, %s, %t;\n .reg .pred %p;\n"
    " ld.param.u64 %n, [ns];\n mov.u64 %s, %globaltimer;\n"
    "SPIN: mov.u64 %t, %globaltimer;\n sub.u64 %t, %t, %s;\n setp.lt.u64 %p, %t, %n;\n @%p bra SPIN;\n ret;\n}\n";

static void run_kernel(void)
{
    void *module = NULL, *function = NULL, *stream = NULL;
    uint64_t ns = 60000000;
    void *arguments[] = {&ns};
    check(((int (*)(void **, const void *))driver("cuModuleLoadData"))(&module, kernel_ptx), "cuModuleLoadData");
    check(((int (*)(void **, void *, const char *))driver("cuModuleGetFunction"))(&function, module, "spin"),
          "cuModuleGetFunction");
    check(((int (*)(void **, unsigned))driver("cuStreamCreate"))(&stream, 1), "cuStreamCreate");
    check(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                    void **))driver("cuLaunchKernel"))(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL),
          "cuLaunchKernel");
    check(((int (*)(void *))driver("cuStreamSynchronize"))(stream), "cuStreamSynchronize");
    check(((int (*)(void *))driver("cuStreamDestroy"))(stream), "cuStreamDestroy");
    check(((int (*)(void *))driver("cuModuleUnload"))(module), "cuModuleUnload");
}

static void *create_context(void)
{
    void *context = NULL;
    /* As of CUDA 12.5 the second argument is a structure, NULL for none. */
    check(((int (*)(void **, void *, unsigned, int))driver("cuCtxCreate"))(&context, NULL, 0, 0), "cuCtxCreate");
    return context;
}

static void destroy_context(void *context)
{
    check(((int (*)(void *))driver("cuCtxDestroy"))(context), "cuCtxDestroy");
}

static void round_of_primary(void)
{
    void *context = NULL;
    check(((int (*)(void **, int))driver("cuDevicePrimaryCtxRetain"))(&context, 0), "cuDevicePrimaryCtxRetain");
    check(((int (*)(void *))driver("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
    run_kernel();
    check(((int (*)(int))driver("cuDevicePrimaryCtxRelease"))(0), "cuDevicePrimaryCtxRelease");
}

int main(int argc, char **argv)
{
    const double until_ns = now_ns() + (argc > 1 ? atof(argv[1]) : 4) * 1e9;
    const char *mode = argc > 2 ? argv[2] : "";
    int rounds = 0;
    driver_find("contexts");
    check(((int (*)(unsigned))driver("cuInit"))(0), "cuInit");
    void *kept = strcmp(mode, "keep") == 0 || strcmp(mode, "one") == 0 ? create_context() : NULL;
    for (; now_ns() < until_ns; rounds++) {
        if (strcmp(mode, "primary") == 0) {
            round_of_primary();
            continue;
        }
        void *context = strcmp(mode, "one") == 0 ? NULL : create_context();
        run_kernel();
        if (context)
            destroy_context(context);
    }
    if (kept)
        destroy_context(kept);
    printf("%d rounds\n", rounds);
    return 0;
}
