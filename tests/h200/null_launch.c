/* null_launch.c - what an observer adds to a launch: times an empty kernel, launch and synchronise, many times.
 *
 * Usage: null_launch [ROUNDS]     Prints one JSON line: medians of ROUNDS blocks of 1000 launches, nanoseconds.
 *        null_launch storm COUNT  Prints one JSON line: the seconds of COUNT launches and one synchronisation, those of
 *                                 the first launch, and the mean of the launches of the second half, nanoseconds.
 *        null_launch past ROUNDS  Prints one JSON line, nanoseconds: the median of ROUNDS blocks of 500 launches past
 *                                 the observer, and that of what a block through it takes more; the same with
 *                                 synchronisation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_lookup.h"

enum { LAUNCHES = 1000, ROUNDS_MAX = 200 };

static const char kernel_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n";

typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **);

/* The first launch counts too: an observer may make it wait.  In the second half an observer has settled. */
static int storm(const char *text)
{
    const long count = strtol(text, NULL, 10);
    if (count < 1) {
        fprintf(stderr, "null_launch: COUNT must be 1 or more, not \"%s\"\n", text);
        return 2;
    }
    driver_find("null_launch");
    void *function = load_kernel(kernel_ptx, "nothing");
    launch_fn *launch = driver("cuLaunchKernel");
    int (*synchronize)(void) = driver("cuCtxSynchronize");
    const long half = count / 2;
    const double start = now_ns();
    double first = start, middle = start;
    for (long i = 0; i < count; i++) {
        check(launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
        if (i == 0)
            first = now_ns();
        if (i + 1 == half)
            middle = now_ns();
    }
    const double last = now_ns();
    check(synchronize(), "cuCtxSynchronize");
    printf("{\"storm_s\": %.4f, \"launches\": %ld, \"first_s\": %.4f, \"late_launch_ns\": %.1f}\n",
           (now_ns() - start) / 1e9, count, (first - start) / 1e9, (last - middle) / (double)(count - half));
    return 0;
}

enum { PAST_LAUNCHES = 500, PAST_PAIRS = 100, PAST_ROUNDS_MAX = 1000 };

struct calls {
    void *function;
    launch_fn *launch;
    int (*synchronize)(void);
};

/* Nanoseconds a launch.  The driver's queue is empty before, and has room for all launches. */
static double launches_ns(const struct calls *calls)
{
    check(calls->synchronize(), "cuCtxSynchronize");
    const double start = now_ns();
    for (int i = 0; i < PAST_LAUNCHES; i++)
        calls->launch(calls->function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    return (now_ns() - start) / PAST_LAUNCHES;
}

static double pairs_ns(const struct calls *calls)
{
    check(calls->synchronize(), "cuCtxSynchronize");
    const double start = now_ns();
    for (int i = 0; i < PAST_PAIRS; i++) {
        calls->launch(calls->function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
        calls->synchronize();
    }
    return (now_ns() - start) / PAST_PAIRS;
}

/* Two processes differ by more than an observer costs, but two blocks of one process do not.  Before the first block,
 * an observer gets half a second to attach and leave. */
static int past(const char *text)
{
    static double figures[4][PAST_ROUNDS_MAX];
    const int rounds = atoi(text);
    if (rounds < 1 || rounds > PAST_ROUNDS_MAX) {
        fprintf(stderr, "null_launch: ROUNDS must be 1 to %d, not \"%s\"\n", PAST_ROUNDS_MAX, text);
        return 2;
    }
    driver_find("null_launch");
    void *function = load_kernel(kernel_ptx, "nothing");
    const struct calls through = {function, driver("cuLaunchKernel"), driver("cuCtxSynchronize")};
    const struct calls around = {function, driver_itself("cuLaunchKernel"), driver_itself("cuCtxSynchronize")};
    for (const double until = now_ns() + 0.5e9; now_ns() < until;)
        launches_ns(&through);
    for (int round = 0; round < rounds; round++) {
        figures[0][round] = launches_ns(&around);
        figures[1][round] = launches_ns(&through) - figures[0][round];
        figures[2][round] = pairs_ns(&around);
        figures[3][round] = pairs_ns(&through) - figures[2][round];
    }
    printf("{\"launch_ns\": %.0f, \"more_ns\": %.0f, \"launch_and_sync_ns\": %.0f, \"sync_more_ns\": %.0f}\n",
           median(figures[0], rounds), median(figures[1], rounds), median(figures[2], rounds),
           median(figures[3], rounds));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "past"))
        return past(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "storm"))
        return storm(argv[2]);
    const int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "null_launch: ROUNDS must be 1 to %d, not \"%s\"\n", ROUNDS_MAX, argv[1]);
        return 2;
    }
    driver_find("null_launch");
    void *function = load_kernel(kernel_ptx, "nothing");
    launch_fn *launch = driver("cuLaunchKernel");
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
    printf("{\"launch_ns\": %.0f, \"launch_and_sync_ns\": %.0f, \"rounds\": %d}\n", median(launches, rounds),
           median(pairs, rounds), rounds);
    return 0;
}
