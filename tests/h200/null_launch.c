/* null_launch.c - what an observer adds to a launch: times an empty kernel, launch and synchronise, many times.
 *
 * Usage: null_launch [ROUNDS]     Prints one JSON line: medians of ROUNDS blocks of 1000 launches, nanoseconds.
 * Reaches the driver through dlopen and cuGetProcAddress, as cudart does.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LAUNCHES = 1000, ROUNDS_MAX = 200 };

typedef int (*get_proc_address)(const char *, void **, int, uint64_t, int *);

static const char kernel_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n";

static get_proc_address proc;

static void *driver(const char *name)
{
    void *function = NULL;
    int found = 0;
    if (proc(name, &function, 12000, 0, &found) != 0 || !function) {
        fprintf(stderr, "null_launch: the driver has no %s\n", name);
        exit(77);
    }
    return function;
}

static void check(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "null_launch: %s: CUDA error %d\n", what, result);
        exit(77);
    }
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *load_kernel(void)
{
    int device = 0;
    void *context = NULL, *module = NULL, *function = NULL;
    check(((int (*)(unsigned))driver("cuInit"))(0), "cuInit");
    check(((int (*)(int *, int))driver("cuDeviceGet"))(&device, 0), "cuDeviceGet");
    check(((int (*)(void **, int))driver("cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
    check(((int (*)(void *))driver("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
    check(((int (*)(void **, const void *))driver("cuModuleLoadData"))(&module, kernel_ptx), "cuModuleLoadData");
    check(((int (*)(void **, void *, const char *))driver("cuModuleGetFunction"))(&function, module, "nothing"),
          "cuModuleGetFunction");
    return function;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "null_launch: ROUNDS must be 1 to %d, not \"%s\"\n", ROUNDS_MAX, argv[1]);
        return 2;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library || !(proc = (get_proc_address)dlsym(library, "cuGetProcAddress_v2"))) {
        fprintf(stderr, "null_launch: no NVIDIA driver\n");
        return 77;
    }
    void *function = load_kernel();
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        driver("cuLaunchKernel");
    int (*synchronize)(void) = driver("cuCtxSynchronize");
    double launches[ROUNDS_MAX], pairs[ROUNDS_MAX];
    for (int round = -3; round < rounds; round++) {
        double start = now_ns();
        for (int i = 0; i < LAUNCHES; i++)
            launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
        const double launched = (now_ns() - start) / LAUNCHES;
        check(synchronize(), "cuCtxSynchronize");
        start = now_ns();
        for (int i = 0; i < LAUNCHES; i++) {
            launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
            synchronize();
        }
        const double pair = (now_ns() - start) / LAUNCHES;
        if (round >= 0) {
            launches[round] = launched;
            pairs[round] = pair;
        }
    }
    qsort(launches, (size_t)rounds, sizeof *launches, compare);
    qsort(pairs, (size_t)rounds, sizeof *pairs, compare);
    printf("{\"launch_ns\": %.0f, \"launch_and_sync_ns\": %.0f, \"rounds\": %d}\n", launches[rounds / 2],
           pairs[rounds / 2], rounds);
    return 0;
}
