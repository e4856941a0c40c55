/* survey.c - see survey.h.  Reads a file of sizes and the device's clock through events, writes JSON lines on stdout.
 */
#include "survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "cublas.h"
#include "kernel.h"
#include "reference.h"

#define SHAPES_MOST 4096

/* A plan is timed as a candidate when its estimate is no more than this many times the least. */
#define CANDIDATE_SLACK 1.5
#define CANDIDATES_MOST 64

struct shape {
    int m, n, k;
};

struct survey {
    const struct device *device;
    const struct gemm_options *options;
    struct cublas *cublas;
    struct gemm_matrices matrices; /* as large as the largest shape needs */
    struct shape shape[SHAPES_MOST];
    int count;
};

static bool is_size(int size)
{
    return size >= 8 && size <= SIZE_MOST && size % 8 == 0;
}

static struct wsdbg_error *read_shape(const char *path, const char *line, struct survey *survey)
{
    struct shape s;
    char rest;
    if (sscanf(line, "%d %d %d %c", &s.m, &s.n, &s.k, &rest) != 3 || !is_size(s.m) || !is_size(s.n) || !is_size(s.k))
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: line %d is not three multiples of 8 up to %d", path,
                                  survey->count + 1, SIZE_MOST);
    if (survey->count == SHAPES_MOST)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s has more than %d products", path, SHAPES_MOST);
    survey->shape[survey->count++] = s;
    return NULL;
}

static struct wsdbg_error *read_shapes(const char *path, struct survey *survey)
{
    FILE *const file = fopen(path, "r");
    if (!file)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "cannot read %s", path);
    struct wsdbg_error *error = NULL;
    char line[256];
    while (!error && fgets(line, sizeof line, file))
        error = read_shape(path, line, survey);
    if (!error && survey->count == 0)
        error = wsdbg_error_create(WSDBG_ERROR_OTHER, "%s has no product", path);
    fclose(file);
    return error;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct wsdbg_error *upload_random(const struct device *device, size_t count, uint64_t seed, CUdeviceptr *out)
{
    bf16 *const values = malloc(count * sizeof *values);
    if (!values)
        return &wsdbg_error_no_memory;
    reference_fill(values, count, seed);
    struct wsdbg_error *error = device_upload(device, values, count * sizeof *values, out);
    free(values);
    return error;
}

static struct wsdbg_error *create_matrices(struct survey *survey)
{
    size_t a = 1, b = 1, c = 1;
    for (int i = 0; i < survey->count; i++) {
        const size_t m = (size_t)survey->shape[i].m, n = (size_t)survey->shape[i].n, k = (size_t)survey->shape[i].k;
        a = larger(a, m * k);
        b = larger(b, n * k);
        c = larger(c, m * n);
    }
    const uint64_t seed = (uint64_t)survey->options->seed;
    struct wsdbg_error *error = upload_random(survey->device, a, seed, &survey->matrices.a);
    if (!error)
        error = upload_random(survey->device, b, seed + 0x10000, &survey->matrices.b);
    if (!error)
        error = device_upload(survey->device, NULL, c * sizeof(bf16), &survey->matrices.c);
    return error;
}

static void print_plan(const struct gemm_plan *plan)
{
    printf("\"schedule\": \"%s\", \"columns\": %d, \"cluster\": %d, \"ctas\": %d, \"transposed\": %s",
           schedule_words[plan->schedule], plan->columns, plan->cluster, plan->ctas,
           plan->transposed ? "true" : "false");
}

static void print_quartiles(const char *name, const struct quartiles *q, double unit)
{
    printf("\"%s\": [%.4f, %.4f, %.4f]", name, q->low * unit, q->median * unit, q->high * unit);
}

/* ---- times ---- */

/* As many launches as take about 200 us at 600 TFLOP/s, but at least 5 and at most 40. */
static int launches_a_graph(const struct shape *s)
{
    const double us = 2e-6 * s->m * s->n * s->k / 600;
    return us > 40 ? 5 : us < 5 ? 40 : (int)(200 / us);
}

static void print_contestant(const struct contest *contest, int i)
{
    struct quartiles q = contest_times(contest, i);
    print_quartiles(contest->as_graph ? "gpu_us" : "us", &q, 1e3);
    if (i == 0)
        return;
    q = contest_ratios(contest, i, 0);
    printf(", ");
    print_quartiles(contest->as_graph ? "gpu_speed" : "speed", &q, 1);
}

/* cuBLAS first, then the plans; `launched` is NULL where that was not timed. */
static void print_times(const struct shape *s, const struct contest *launched, const struct contest *graphs)
{
    printf("{\"m\": %d, \"n\": %d, \"k\": %d, \"samples\": %ld, \"launches\": [%d, %d]", s->m, s->n, s->k,
           graphs->samples, launched ? launched->launches : 0, graphs->launches);
    for (int i = 0; i < graphs->count; i++) {
        printf("%s", i == 0 ? ", \"cublas\": {" : i == 1 ? ", \"plans\": [{" : ", {");
        if (i > 0) {
            print_plan(&graphs->contestant[i].kernel->plan);
            printf(", ");
        }
        if (launched) {
            print_contestant(launched, i);
            printf(", ");
        }
        print_contestant(graphs, i);
        printf("}");
    }
    printf("]}\n");
    fflush(stdout);
}

/* Times the plans twice: launched one by one, as --bench does it, and as graphs, so that only the GPU's time counts.
 * With --candidates there are many plans, so they are timed only as graphs. */
static struct wsdbg_error *time_plans(const struct survey *survey, const struct shape *s, struct gemm_kernel *kernels,
                                      int count)
{
    const struct gemm_problem problem = {.m = s->m, .n = s->n, .k = s->k};
    struct contestant contestants[1 + GEMM_PLANS_MOST] = {
        {.name = "cublas", .cublas = survey->cublas, .problem = &problem, .matrices = &survey->matrices}};
    for (int i = 0; i < count; i++)
        contestants[1 + i] = (struct contestant){.name = "plan", .kernel = &kernels[i]};
    const bool is_launched = !survey->options->candidates;
    struct contest launched = {.device = survey->device,
                               .contestant = contestants,
                               .count = 1 + count,
                               .samples = survey->options->repeat,
                               .launches = LAUNCHES_A_SAMPLE};
    struct contest graphs = launched;
    graphs.launches = launches_a_graph(s);
    graphs.as_graph = true;
    struct wsdbg_error *error = is_launched ? contest_run(&launched) : NULL;
    if (!error)
        error = contest_run(&graphs);
    if (!error)
        print_times(s, is_launched ? &launched : NULL, &graphs);
    contest_free(&launched);
    contest_free(&graphs);
    return error;
}

/* ---- results ---- */

/* Computes the product with the kernel, or with cuBLAS if `kernel` is NULL. */
static struct wsdbg_error *result_of(const struct survey *survey, const struct shape *s, struct gemm_kernel *kernel,
                                     bf16 *out)
{
    const struct gemm_problem problem = {.m = s->m, .n = s->n, .k = s->k};
    const struct contestant contestant = {
        .kernel = kernel, .cublas = survey->cublas, .problem = &problem, .matrices = &survey->matrices};
    return contest_result(survey->device, &contestant, survey->matrices.c, (size_t)s->m * (size_t)s->n * sizeof(bf16),
                          survey->options->timeout_ms, out);
}

/* Computes the product twice: the second launch must leave the same bits. */
static struct wsdbg_error *check_plan(const struct survey *survey, const struct shape *s, struct gemm_kernel *kernel,
                                      const bf16 *theirs, bf16 *ours)
{
    const size_t count = (size_t)s->m * (size_t)s->n;
    struct wsdbg_error *error = result_of(survey, s, kernel, ours);
    if (error)
        return error;
    const uint64_t hash = reference_hash(ours, count);
    const struct reference_difference d = reference_compare(ours, theirs, count, s->k);
    error = result_of(survey, s, kernel, ours);
    if (error)
        return error;
    const bool is_same = hash == reference_hash(ours, count);
    printf("{\"m\": %d, \"n\": %d, \"k\": %d, ", s->m, s->n, s->k);
    print_plan(&kernel->plan);
    printf(", \"elements\": %zu, \"other_bits\": %zu, \"beyond\": %zu, \"same_again\": %s}\n", count, d.other_bits,
           d.beyond, is_same ? "true" : "false");
    if (d.beyond || !is_same)
        error = wsdbg_error_create(WSDBG_ERROR_OTHER, "%d x %d x %d: %zu elements differ from cuBLAS, %s", s->m, s->n,
                                   s->k, d.beyond, is_same ? "in both launches" : "and two launches differ");
    return error;
}

static struct wsdbg_error *check_plans(const struct survey *survey, const struct shape *s, struct gemm_kernel *kernels,
                                       int count)
{
    const size_t bytes = (size_t)s->m * (size_t)s->n * sizeof(bf16);
    bf16 *const theirs = malloc(bytes), *const ours = malloc(bytes);
    struct wsdbg_error *error = theirs && ours ? result_of(survey, s, NULL, theirs) : &wsdbg_error_no_memory;
    for (int i = 0; !error && i < count; i++)
        error = check_plan(survey, s, &kernels[i], theirs, ours);
    free(theirs);
    free(ours);
    return error;
}

/* ---- all shapes ---- */

/* The plan that `--schedule auto` takes.  With --candidates all plans that are not much slower by their estimates; with
 * --check as well, all plans. */
static int choose_plans(const struct survey *survey, const struct shape *s, struct gemm_plan *out)
{
    const int multiprocessors = survey->device->multiprocessors;
    if (!survey->options->candidates) {
        out[0] = gemm_plan_choose(s->m, s->n, s->k, multiprocessors);
        return 1;
    }
    const int all = gemm_plan_all(s->m, s->n, s->k, multiprocessors, out);
    int count = 1;
    while (count < all && (survey->options->check || (count < CANDIDATES_MOST &&
                                                      out[count].estimated_ns < CANDIDATE_SLACK * out[0].estimated_ns)))
        count++;
    return count;
}

static struct wsdbg_error *survey_shape(const struct survey *survey, const struct shape *s)
{
    struct gemm_plan plans[GEMM_PLANS_MOST];
    struct gemm_kernel kernels[GEMM_PLANS_MOST];
    struct wsdbg_error *error = NULL;
    const int count = choose_plans(survey, s, plans);
    int opened = 0;
    while (!error && opened < count) {
        error = gemm_kernel_open(survey->device, &plans[opened], s->m, s->n, s->k,
                                 (enum variant)survey->options->variant, NULL, &survey->matrices, &kernels[opened]);
        opened += !error;
    }
    if (!error)
        error = survey->options->check ? check_plans(survey, s, kernels, count) : time_plans(survey, s, kernels, count);
    while (opened > 0)
        gemm_kernel_close(survey->device, &kernels[--opened]);
    return error;
}

struct wsdbg_error *survey_run(const struct device *device, const struct gemm_options *options)
{
    struct survey *const survey = calloc(1, sizeof *survey);
    if (!survey)
        return &wsdbg_error_no_memory;
    survey->device = device;
    survey->options = options;
    struct wsdbg_error *error = read_shapes(options->shapes, survey);
    if (!error)
        error = cublas_open(device, &survey->cublas);
    if (!error)
        error = create_matrices(survey);
    for (int i = 0; !error && i < survey->count; i++)
        error = survey_shape(survey, &survey->shape[i]);
    gemm_matrices_free(device, &survey->matrices);
    cublas_close(survey->cublas);
    free(survey);
    return error;
}
