/* null_launch.c - what an observer adds to a launch: times an empty kernel, launch and synchronise, many times.
 *
 * Usage: null_launch [ROUNDS]     Prints one JSON line: medians of ROUNDS blocks of 1000 launches, nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "driver_lookup.h"

enum { LAUNCHES = 1000, ROUNDS_MAX = 200 };

static const char kernel_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n";

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "null_launch: ROUNDS must be 1 to %d, not \"%s\"\n", ROUNDS_MAX, argv[1]);
        return 2;
    }
    driver_find("null_launch");
    void *function = load_kernel(kernel_ptx, "nothing");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **) = driver("cuLaunchKernel");
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
