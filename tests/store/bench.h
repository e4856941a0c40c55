/* bench.h - what the measuring programs share. */
#ifndef TESTS_STORE_BENCH_H
#define TESTS_STORE_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"

static inline double bench_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Ends the program with the error's message if there is one. */
static inline void bench_ok(struct wsdbg_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "bench: %s\n", wsdbg_error_message(error));
    exit(1);
}

/* The most memory that the process has had. */
static inline long bench_peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

#endif
