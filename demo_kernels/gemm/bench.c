/* bench.c - see bench.h.  Reads the device's clock through events, writes JSON lines on stdout. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cublas.h"

#define LAUNCHES_A_SAMPLE 5
#define WARM_UP_SAMPLES 4

/* One side of the comparison: our kernel in some image, or cuBLAS when `kernel` is NULL. */
struct contestant {
    const char *name;
    struct gemm_kernel *kernel;
    const struct cublas *cublas;
    const struct gemm_problem *problem;
    const struct gemm_matrices *matrices;
    double *sample_ms; /* one launch's mean, `repeat` of them */
};

static struct wsdbg_error *launch(const struct device *device, const struct contestant *contestant)
{
    if (contestant->kernel)
        return gemm_kernel_launch(device, contestant->kernel);
    return cublas_launch(contestant->cublas, contestant->problem, contestant->matrices);
}

static struct wsdbg_error *sample(const struct device *device, const struct contestant *contestant, CUevent start,
                                  CUevent stop, double *launch_ms)
{
    const struct cuda_driver *cu = &device->cu;
    struct wsdbg_error *error = device_check(device, cu->cuEventRecord(start, device->stream), "cuEventRecord");
    for (int i = 0; !error && i < LAUNCHES_A_SAMPLE; i++)
        error = launch(device, contestant);
    if (!error)
        error = device_check(device, cu->cuEventRecord(stop, device->stream), "cuEventRecord");
    if (!error)
        error = device_check(device, cu->cuEventSynchronize(stop), contestant->name);
    float ms = 0;
    if (!error)
        error = device_check(device, cu->cuEventElapsedTime(&ms, start, stop), "cuEventElapsedTime");
    if (!error)
        *launch_ms = ms / LAUNCHES_A_SAMPLE;
    return error;
}

/* Every pair of samples starts with the other contestant, so that neither always runs on the warmer chip. */
static struct wsdbg_error *alternate(const struct device *device, struct contestant *two, long repeat)
{
    const struct cuda_driver *cu = &device->cu;
    CUevent start = NULL, stop = NULL;
    struct wsdbg_error *error = device_check(device, cu->cuEventCreate(&start, CU_EVENT_DEFAULT), "cuEventCreate");
    if (!error)
        error = device_check(device, cu->cuEventCreate(&stop, CU_EVENT_DEFAULT), "cuEventCreate");
    for (long i = -WARM_UP_SAMPLES; !error && i < repeat; i++) {
        for (int turn = 0; !error && turn < 2; turn++) {
            struct contestant *contestant = &two[(i + turn) & 1];
            double ignored;
            error = sample(device, contestant, start, stop, i < 0 ? &ignored : &contestant->sample_ms[i]);
        }
    }
    if (start)
        cu->cuEventDestroy(start);
    if (stop)
        cu->cuEventDestroy(stop);
    return error;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The q-th quantile of sorted values, interpolated. */
static double quantile(const double *sorted, long count, double q)
{
    const double at = q * (double)(count - 1);
    const long below = (long)at;
    const long above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void print_contestant(const struct contestant *contestant, const struct gemm_options *options)
{
    const long count = options->repeat;
    double *const ms = contestant->sample_ms;
    qsort(ms, (size_t)count, sizeof *ms, compare_doubles);
    const double median = quantile(ms, count, 0.5);
    printf("{\"contestant\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld, ", contestant->name, options->m, options->n,
           options->k);
    if (contestant->kernel)
        printf("\"schedule\": \"%s\", \"cluster\": %ld, \"band\": %d, \"ctas\": %u, ",
               schedule_words[options->schedule], options->cluster, contestant->kernel->problem.band_rows,
               contestant->kernel->ctas);
    printf("\"samples\": %ld, \"launches_a_sample\": %d, \"median_ms\": %.4f, \"quartiles_ms\": [%.4f, %.4f], "
           "\"extremes_ms\": [%.4f, %.4f], \"tflops\": %.1f}\n",
           count, LAUNCHES_A_SAMPLE, median, quantile(ms, count, 0.25), quantile(ms, count, 0.75), ms[0], ms[count - 1],
           2e-9 * (double)options->m * (double)options->n * (double)options->k / median);
}

/* Sorts each pair's ratio: neighbours in time share the chip's state, so this is steadier than the medians' ratio. */
static void print_ratio(const struct contestant *two, long count, double *ratio)
{
    for (long i = 0; i < count; i++)
        ratio[i] = two[1].sample_ms[i] / two[0].sample_ms[i];
    qsort(ratio, (size_t)count, sizeof *ratio, compare_doubles);
    printf("{\"speed_of\": \"%s\", \"against\": \"%s\", \"median\": %.4f, \"quartiles\": [%.4f, %.4f]}\n", two[0].name,
           two[1].name, quantile(ratio, count, 0.5), quantile(ratio, count, 0.25), quantile(ratio, count, 0.75));
}

static struct wsdbg_error *compete(const struct device *device, const struct gemm_options *options,
                                   struct contestant *two)
{
    const size_t count = (size_t)options->repeat;
    double *const samples = calloc(3 * count, sizeof *samples);
    if (!samples)
        return &wsdbg_error_no_memory;
    two[0].sample_ms = samples;
    two[1].sample_ms = samples + count;
    struct wsdbg_error *error = alternate(device, two, options->repeat);
    if (!error) {
        print_ratio(two, options->repeat, samples + 2 * count);
        print_contestant(&two[0], options);
        print_contestant(&two[1], options);
        fflush(stdout);
    }
    free(samples);
    return error;
}

struct wsdbg_error *bench_run(const struct device *device, const struct gemm_options *options,
                              struct gemm_kernel *kernel, const struct gemm_matrices *matrices)
{
    struct contestant two[2] = {
        {.name = variant_words[options->variant], .kernel = kernel, .problem = &kernel->problem, .matrices = matrices},
        {.name = rival_words[options->rival], .problem = &kernel->problem, .matrices = matrices},
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
        error = gemm_kernel_open(device, options, (enum variant)(options->rival - RIVAL_PLAIN), matrices, &rival);
        if (error)
            return error;
        two[1].kernel = &rival;
        error = compete(device, options, two);
        gemm_kernel_close(device, &rival);
    }
    return error;
}
