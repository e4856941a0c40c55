/* contest.h - times kernels and cuBLAS in turns. */
#ifndef GEMM_CONTEST_H
#define GEMM_CONTEST_H

#include "cublas.h"
#include "kernel.h"

/* Of a sample whose launches the host makes one by one. */
#define LAUNCHES_A_SAMPLE 5

/* Our kernel in some image, or cuBLAS when `kernel` is NULL. */
struct contestant {
    const char *name;
    struct gemm_kernel *kernel;
    const struct cublas *cublas;
    const struct gemm_problem *problem;
    const struct gemm_matrices *matrices;
};

/* What a contestant computes: `bytes` of the device's C, copied to `out`.  With timeout_ms >= 0 the program ends if that
 * takes longer, as device_wait says. */
struct wsdbg_error *contest_result(const struct device *device, const struct contestant *contestant, CUdeviceptr c,
                                   size_t bytes, long timeout_ms, void *out);

struct contest {
    const struct device *device;
    const struct contestant *contestant;
    int count;
    long samples;       /* of each contestant */
    int launches;       /* a sample */
    bool as_graph;      /* a sample is one graph of so many launches: what the host does for them is not timed */
    CUgraphExec *graph; /* of each contestant, or NULL */
    double *of_ms;      /* a launch's mean in each sample: contestant after contestant */
};

struct quartiles {
    double least, low, median, high, most;
};

/* Warms up and takes the samples.  Each round of samples begins with another contestant, so that none always runs on
 * the warmer chip.  contest_free is needed in any case. */
struct wsdbg_error *contest_run(struct contest *contest);
void contest_free(struct contest *contest);

/* Of contestant `i`'s milliseconds a launch. */
struct quartiles contest_times(const struct contest *contest, int i);

/* Of the speed of contestant `i` against `rival`, round by round: neighbours in time share the chip's state, so this is
 * steadier than the medians' ratio. */
struct quartiles contest_ratios(const struct contest *contest, int i, int rival);

#endif
