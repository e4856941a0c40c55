/* bench.c - see bench.h.  Writes JSON lines on stdout. */
#include "bench.h"

#include <stdio.h>

#include "contest.h"

static void print_contestant(const struct contest *contest, int i)
{
    const struct contestant *const c = &contest->contestant[i];
    const struct gemm_problem *const p = c->problem;
    const struct quartiles ms = contest_times(contest, i);
    printf("{\"contestant\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, ", c->name, p->m, p->n, p->k);
    if (c->kernel) {
        const struct gemm_plan *const plan = &c->kernel->plan;
        printf("\"schedule\": \"%s\", \"columns\": %d, \"cluster\": %d, \"band\": %d, \"ctas\": %d, ",
               schedule_words[plan->schedule], plan->columns, plan->cluster, plan->band_rows, plan->ctas);
    }
    printf("\"samples\": %ld, \"launches_a_sample\": %d, \"median_ms\": %.4f, \"quartiles_ms\": [%.4f, %.4f], "
           "\"extremes_ms\": [%.4f, %.4f], \"tflops\": %.1f}\n",
           contest->samples, contest->launches, ms.median, ms.low, ms.high, ms.least, ms.most,
           2e-9 * p->m * p->n * p->k / ms.median);
}

static struct wsdbg_error *compete(const struct device *device, const struct gemm_options *options,
                                   const struct contestant *two)
{
    struct contest contest = {
        .device = device, .contestant = two, .count = 2, .samples = options->repeat, .launches = LAUNCHES_A_SAMPLE};
    struct wsdbg_error *error = contest_run(&contest);
    if (!error) {
        const struct quartiles ratio = contest_ratios(&contest, 0, 1);
        printf("{\"speed_of\": \"%s\", \"against\": \"%s\", \"median\": %.4f, \"quartiles\": [%.4f, %.4f]}\n",
               two[0].name, two[1].name, ratio.median, ratio.low, ratio.high);
        print_contestant(&contest, 0);
        print_contestant(&contest, 1);
        fflush(stdout);
    }
    contest_free(&contest);
    return error;
}

struct wsdbg_error *bench_run(const struct device *device, const struct gemm_options *options,
                              struct gemm_kernel *kernel, const struct gemm_matrices *matrices)
{
    const struct gemm_problem *const p = &kernel->problem;
    struct contestant two[2] = {
        {.name = variant_words[options->variant], .kernel = kernel, .problem = p, .matrices = matrices},
        {.name = rival_words[options->rival], .problem = p, .matrices = matrices},
    };
    struct wsdbg_error *error;
    if (options->rival == RIVAL_CUBLAS) {
        struct cublas *cublas = NULL;
        error = cublas_open(device, &cublas);
        two[1].cublas = cublas;
        if (!error)
            error = compete(device, options, two);
        cublas_close(cublas);
    } else {
        struct gemm_kernel rival;
        error = gemm_kernel_open(device, &kernel->plan, p->m, p->n, p->k, (enum variant)(options->rival - RIVAL_PLAIN),
                                 options->bug, matrices, &rival);
        if (error)
            return error;
        two[1].kernel = &rival;
        error = compete(device, options, two);
        gemm_kernel_close(device, &rival);
    }
    return error;
}
