/* contest.c - see contest.h.  Reads the device's clock through events. */
#include "contest.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP_ROUNDS 4

static struct wsdbg_error *launch(const struct device *device, const struct contestant *contestant)
{
    if (contestant->kernel)
        return gemm_kernel_launch(device, contestant->kernel);
    return cublas_launch(contestant->cublas, contestant->problem, contestant->matrices);
}

struct wsdbg_error *contest_result(const struct device *device, const struct contestant *contestant, CUdeviceptr c,
                                   size_t bytes, long timeout_ms, void *out)
{
    /* NaN everywhere first: what is not written must not pass for a result. */
    struct wsdbg_error *error = device_check(device, device->cu.cuMemsetD8(c, 0xff, bytes), "cuMemsetD8");
    if (!error)
        error = launch(device, contestant);
    if (!error)
        error = device_wait(device, "gemm", timeout_ms);
    if (!error)
        error = device_check(device, device->cu.cuMemcpyDtoH(out, c, bytes), "cuMemcpyDtoH");
    return error;
}

static struct wsdbg_error *launch_all(const struct contest *contest, int i)
{
    struct wsdbg_error *error = NULL;
    for (int l = 0; !error && l < contest->launches; l++)
        error = launch(contest->device, &contest->contestant[i]);
    return error;
}

/* A contestant's sample as a graph.  It has launched before: what a library does once must not be in it. */
static struct wsdbg_error *capture(const struct contest *contest, int i, CUgraphExec *out)
{
    const struct device *const device = contest->device;
    const struct cuda_driver *const cu = &device->cu;
    CUgraph graph = NULL;
    struct wsdbg_error *error = launch(device, &contest->contestant[i]);
    if (!error)
        error = device_check(device, cu->cuStreamBeginCapture(device->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                             "cuStreamBeginCapture");
    if (error)
        return error;
    error = launch_all(contest, i);
    struct wsdbg_error *const ended =
        device_check(device, cu->cuStreamEndCapture(device->stream, &graph), "cuStreamEndCapture");
    if (error)
        wsdbg_error_destroy(ended);
    else
        error = ended;
    if (!error)
        error = device_check(device, cu->cuGraphInstantiate(out, graph, 0), "cuGraphInstantiate");
    if (graph)
        cu->cuGraphDestroy(graph);
    return error;
}

static struct wsdbg_error *sample(const struct contest *contest, int i, const CUevent between[2], double *launch_ms)
{
    const struct device *const device = contest->device;
    const struct cuda_driver *const cu = &device->cu;
    struct wsdbg_error *error = device_check(device, cu->cuEventRecord(between[0], device->stream), "cuEventRecord");
    if (!error)
        error = contest->graph ? device_check(device, cu->cuGraphLaunch(contest->graph[i], device->stream), "a graph")
                               : launch_all(contest, i);
    if (!error)
        error = device_check(device, cu->cuEventRecord(between[1], device->stream), "cuEventRecord");
    if (!error)
        error = device_check(device, cu->cuEventSynchronize(between[1]), contest->contestant[i].name);
    float ms = 0;
    if (!error)
        error = device_check(device, cu->cuEventElapsedTime(&ms, between[0], between[1]), "cuEventElapsedTime");
    if (!error)
        *launch_ms = ms / (double)contest->launches;
    return error;
}

static struct wsdbg_error *take_samples(struct contest *contest, const CUevent between[2])
{
    struct wsdbg_error *error = NULL;
    for (long round = -WARM_UP_ROUNDS; !error && round < contest->samples; round++) {
        double ms = 0;
        for (int turn = 0; !error && turn < contest->count; turn++) {
            const int i = (int)((round + WARM_UP_ROUNDS + turn) % contest->count);
            error = sample(contest, i, between, &ms);
            if (!error && round >= 0)
                contest->of_ms[i * contest->samples + round] = ms;
        }
    }
    return error;
}

static struct wsdbg_error *allocate(struct contest *contest)
{
    contest->of_ms = calloc((size_t)contest->count * (size_t)contest->samples, sizeof *contest->of_ms);
    if (contest->as_graph)
        contest->graph = calloc((size_t)contest->count, sizeof(CUgraphExec));
    return contest->of_ms && (contest->graph || !contest->as_graph) ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *contest_run(struct contest *contest)
{
    const struct device *const device = contest->device;
    const struct cuda_driver *const cu = &device->cu;
    CUevent between[2] = {NULL, NULL};
    struct wsdbg_error *error = allocate(contest);
    for (int i = 0; !error && contest->as_graph && i < contest->count; i++)
        error = capture(contest, i, &contest->graph[i]);
    for (int i = 0; !error && i < 2; i++)
        error = device_check(device, cu->cuEventCreate(&between[i], CU_EVENT_DEFAULT), "cuEventCreate");
    if (!error)
        error = take_samples(contest, between);
    for (int i = 0; i < 2; i++)
        if (between[i])
            cu->cuEventDestroy(between[i]);
    return error;
}

void contest_free(struct contest *contest)
{
    for (int i = 0; contest->graph && i < contest->count; i++)
        if (contest->graph[i])
            contest->device->cu.cuGraphExecDestroy(contest->graph[i]);
    free(contest->graph);
    free(contest->of_ms);
    contest->graph = NULL;
    contest->of_ms = NULL;
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

/* Of `above[i] / below[i]`, or of `above` where there is no `below`; NaN when there is no memory. */
static struct quartiles quartiles_of(const double *above, const double *below, long count)
{
    const double unknown = strtod("nan", NULL);
    struct quartiles q = {unknown, unknown, unknown, unknown, unknown};
    double *const values = calloc((size_t)count, sizeof *values);
    if (!values)
        return q;
    for (long i = 0; i < count; i++)
        values[i] = below ? above[i] / below[i] : above[i];
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    q = (struct quartiles){values[0], quantile(values, count, 0.25), quantile(values, count, 0.5),
                           quantile(values, count, 0.75), values[count - 1]};
    free(values);
    return q;
}

struct quartiles contest_times(const struct contest *contest, int i)
{
    return quartiles_of(contest->of_ms + i * contest->samples, NULL, contest->samples);
}

struct quartiles contest_ratios(const struct contest *contest, int i, int rival)
{
    const double *const all = contest->of_ms;
    return quartiles_of(all + rival * contest->samples, all + i * contest->samples, contest->samples);
}
