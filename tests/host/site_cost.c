/* site_cost.c - how long a launch of the stand-in for libcuda takes, which does nearly nothing.
 *
 *   site_cost [ROUNDS [DEPTH]]     prints the median of ROUNDS rounds of 1000 launches in ns, made DEPTH calls deep
 *
 * It is a program, and a library for site_cost.py, which calls site_cost() from Python functions.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 1000, ROUNDS_MOST = 1001 };

typedef int (*launch_function)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                               void **, void **);

__attribute__((visibility("default"))) double site_cost(int rounds, int depth);

static launch_function launch;
static void *kernel;

static void *need(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "site_cost: no %s\n", name);
        exit(2);
    }
    return found;
}

static void check(int status)
{
    if (status) {
        fprintf(stderr, "site_cost: CUDA error %d\n", status);
        exit(2);
    }
}

static void prepare(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *module = NULL;
    check(((int (*)(unsigned))need(library, "cuInit"))(0));
    check(((int (*)(void **, int))need(library, "cuDevicePrimaryCtxRetain"))(&context, 0));
    check(((int (*)(void *))need(library, "cuCtxSetCurrent"))(context));
    check(((int (*)(void **, const void *))need(library, "cuModuleLoadData"))(&module, "//fake\nfunction nothing\n"));
    check(((int (*)(void **, void *, const char *))need(library, "cuModuleGetFunction"))(&kernel, module, "nothing"));
    launch = (launch_function)need(library, "cuLaunchKernel");
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(int rounds)
{
    static double times[ROUNDS_MOST];
    for (int round = 0; round < rounds; round++) {
        const double begin = now_ns();
        for (int i = 0; i < LAUNCHES; i++)
            launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
        times[round] = (now_ns() - begin) / LAUNCHES;
    }
    qsort(times, (size_t)rounds, sizeof *times, compare);
    return times[rounds / 2];
}

/* Frames of some size, as libraries have them between the program and the driver. */
static __attribute__((noinline)) double go_down(int rounds, int depth)
{
    volatile char room[200];
    memset((void *)(uintptr_t)room, depth, sizeof room); // NOLINT
    const double result = depth > 0 ? go_down(rounds, depth - 1) : measure(rounds);
    return result + 0 * room[0];
}

double site_cost(int rounds, int depth)
{
    if (!launch)
        prepare();
    return go_down(rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST, depth);
}

int main(int argc, char **argv)
{
    printf("%.1f\n", site_cost(argc > 1 ? atoi(argv[1]) : 101, argc > 2 ? atoi(argv[2]) : 20));
    return 0;
}
