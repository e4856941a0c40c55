/* gemm.c - runs the reference GEMM, or one of its deliberate hangs.
 *
 * Reads the command line (options.h), makes random inputs, launches, and on request checks, hashes or times the
 * result.  Results go to stdout, complaints to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "contest.h"
#include "cublas.h"
#include "kernel.h"
#include "options.h"
#include "reference.h"
#include "survey.h"

#define ROWS_CHECKED 16

struct host_matrices {
    bf16 *a, *b, *c;
    size_t a_count, b_count, c_count;
};

static void host_free(struct host_matrices *host)
{
    free(host->a);
    free(host->b);
    free(host->c);
}

static struct wsdbg_error *host_create(const struct gemm_options *options, struct host_matrices *out)
{
    struct host_matrices host = {.a_count = (size_t)options->m * (size_t)options->k,
                                 .b_count = (size_t)options->n * (size_t)options->k,
                                 .c_count = (size_t)options->m * (size_t)options->n};
    host.a = malloc(host.a_count * sizeof(bf16));
    host.b = malloc(host.b_count * sizeof(bf16));
    host.c = malloc(host.c_count * sizeof(bf16));
    if (!host.a || !host.b || !host.c) {
        host_free(&host);
        return &wsdbg_error_no_memory;
    }
    reference_fill(host.a, host.a_count, (uint64_t)options->seed);
    reference_fill(host.b, host.b_count, (uint64_t)options->seed + 0x10000);
    *out = host;
    return NULL;
}

static struct wsdbg_error *device_matrices_create(const struct device *device, const struct host_matrices *host,
                                                  struct gemm_matrices *out)
{
    struct gemm_matrices matrices = {0};
    struct wsdbg_error *error = device_upload(device, host->a, host->a_count * sizeof(bf16), &matrices.a);
    if (!error)
        error = device_upload(device, host->b, host->b_count * sizeof(bf16), &matrices.b);
    if (!error)
        error = device_upload(device, NULL, host->c_count * sizeof(bf16), &matrices.c);
    if (error)
        gemm_matrices_free(device, &matrices);
    else
        *out = matrices;
    return error;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Launches and waits, `repeat` times.  A launch that times out ends the program: nothing can be freed under it. */
static struct wsdbg_error *run(const struct device *device, const struct gemm_options *options,
                               struct gemm_kernel *kernel)
{
    struct wsdbg_error *error = NULL;
    const double start_ms = now_ms();
    for (long i = 0; !error && i < options->repeat; i++) {
        error = gemm_kernel_launch(device, kernel);
        if (!error)
            error = device_wait(device, "gemm", options->timeout_ms);
        if (!error && options->times)
            printf("over %.3f\n", now_ms() - start_ms);
    }
    return error;
}

/* Prints what was checked; an error when an element is wrong. */
static struct wsdbg_error *check(const struct gemm_problem *problem, const struct host_matrices *host, uint64_t seed)
{
    const struct reference_result result = reference_check(problem, host->a, host->b, host->c, ROWS_CHECKED, seed);
    printf("check: %d rows of %d, %zu elements wrong, worst error %.3f of the tolerance\n", result.rows_checked,
           problem->m, result.wrong, result.worst);
    if (result.wrong)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "C[%d][%d] is %g, should be %g", result.row, result.column,
                                  result.got, result.wanted);
    return NULL;
}

/* The same product by cuBLAS into the device's C, compared with what the kernel left in host->c. */
static struct wsdbg_error *compare_with_cublas(const struct device *device, const struct cublas *cublas,
                                               const struct gemm_problem *problem, const struct gemm_matrices *matrices,
                                               const struct host_matrices *host)
{
    const size_t bytes = host->c_count * sizeof(bf16);
    bf16 *const theirs = malloc(bytes);
    if (!theirs)
        return &wsdbg_error_no_memory;
    const struct contestant rival = {.cublas = cublas, .problem = problem, .matrices = matrices};
    struct wsdbg_error *error = contest_result(device, &rival, matrices->c, bytes, -1, theirs);
    if (!error) {
        const struct reference_difference difference = reference_compare(host->c, theirs, host->c_count, problem->k);
        printf("cublas: %zu elements, %zu not the same bits, %zu beyond the tolerance\n", host->c_count,
               difference.other_bits, difference.beyond);
        if (difference.beyond)
            error = wsdbg_error_create(WSDBG_ERROR_OTHER, "%zu elements differ from cuBLAS", difference.beyond);
    }
    free(theirs);
    return error;
}

/* Where there is no cuBLAS this says so and is content. */
static struct wsdbg_error *check_with_cublas(const struct device *device, const struct gemm_problem *problem,
                                             const struct gemm_matrices *matrices, const struct host_matrices *host)
{
    struct cublas *cublas;
    struct wsdbg_error *error = cublas_open(device, &cublas);
    if (error && wsdbg_error_code(error) == WSDBG_ERROR_NOT_FOUND) {
        printf("cublas: not compared (%s)\n", wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        return NULL;
    }
    if (error)
        return error;
    error = compare_with_cublas(device, cublas, problem, matrices, host);
    cublas_close(cublas);
    return error;
}

static struct wsdbg_error *look_at_result(const struct device *device, const struct gemm_options *options,
                                          const struct gemm_problem *problem, const struct gemm_matrices *matrices,
                                          struct host_matrices *host)
{
    struct wsdbg_error *error = NULL;
    if (options->check || options->checksum)
        error = device_check(device, device->cu.cuMemcpyDtoH(host->c, matrices->c, host->c_count * sizeof(bf16)),
                             "cuMemcpyDtoH");
    if (!error && options->checksum)
        printf("checksum: %016llx\n", (unsigned long long)reference_hash(host->c, host->c_count));
    if (!error && options->check)
        error = check(problem, host, (uint64_t)options->seed);
    if (!error && options->check)
        error = check_with_cublas(device, problem, matrices, host);
    return error;
}

static struct wsdbg_error *with_kernel(const struct device *device, const struct gemm_options *options,
                                       struct host_matrices *host)
{
    struct gemm_matrices matrices;
    struct wsdbg_error *error = device_matrices_create(device, host, &matrices);
    if (error)
        return error;
    struct gemm_kernel kernel;
    const struct gemm_plan plan = gemm_options_plan(options, device->multiprocessors);
    error = gemm_kernel_open(device, &plan, (int)options->m, (int)options->n, (int)options->k,
                             (enum variant)options->variant, options->bug, &matrices, &kernel);
    if (!error) {
        error = options->bench ? bench_run(device, options, &kernel, &matrices) : run(device, options, &kernel);
        if (!error)
            error = look_at_result(device, options, &kernel.problem, &matrices, host);
        gemm_kernel_close(device, &kernel);
    }
    gemm_matrices_free(device, &matrices);
    return error;
}

static struct wsdbg_error *with_device(struct gemm_options *options)
{
    struct device device;
    struct wsdbg_error *error = device_open(&device);
    if (error)
        return error;
    if (options->shapes) {
        error = survey_run(&device, options);
        device_close(&device);
        return error;
    }
    struct host_matrices host;
    gemm_options_size(options, device.is_simulated);
    error = host_create(options, &host);
    if (!error) {
        error = with_kernel(&device, options, &host);
        host_free(&host);
    }
    device_close(&device);
    return error;
}

int main(int argc, char **argv)
{
    struct gemm_options options;
    if (gemm_options_parse(argc, argv, &options))
        return STATUS_BAD_OPTION;
    if (options.help || options.list_bugs) {
        if (options.help)
            gemm_options_help(stdout);
        else
            bugs_print(stdout);
        return 0;
    }
    struct wsdbg_error *error = with_device(&options);
    if (!error)
        return 0;
    fflush(stdout);
    fprintf(stderr, "gemm: %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return STATUS_FAILED;
}
