/* launch_cost.cu - what a launch costs the thread that makes it, alone and with the wait for its end.
 *
 * Usage: launch_cost [--threads N] [--streams] [--graph] [--seconds S] [--rest-us N]
 *
 * --threads: 1 to 16 that launch at once; --streams: each into a stream of its own, else all into one; --graph: a
 * launch is that of a graph of 200 empty kernels; --rest-us: each thread sleeps so long after every launch.  Half of the
 * time each kind.  Prints one line of key=value, times as medians of batches of all threads.  Exit status: 0, 1 = an error, 2 = usage, 77 = no driver.
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <time.h>
#include <vector>

#include <cuda_runtime.h>
#include <getopt.h>
#include <unistd.h>

#define MAX_THREADS 16
#define GRAPH_KERNELS 200
/* Launches in flight, of all threads: fewer than a queue holds, or a launch would wait for the GPU. */
#define QUEUED 512
#define SYNCED_BATCH 20

#define CHECK(call) check((call), #call)

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "launch_cost: %s: %s\n", call, cudaGetErrorName(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

__global__ void nothing(void)
{
}

struct plan {
    int threads;
    bool has_streams, is_graph;
    double seconds;
    unsigned rest_us;
    pthread_barrier_t begin;
};

struct worker {
    struct plan *plan;
    pthread_t thread;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    std::vector<double> launch_ns, synced_ns; /* a launch, by batch */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void launch(const struct worker *worker)
{
    if (worker->graph) {
        CHECK(cudaGraphLaunch(worker->graph, worker->stream));
    } else {
        nothing<<<1, 32, 0, worker->stream>>>();
        CHECK(cudaGetLastError());
    }
}

static void measure_launches(struct worker *worker, double until_s)
{
    const struct plan *const plan = worker->plan;
    /* A graph waits for its own last run. */
    const int batch = plan->is_graph || plan->rest_us ? 1 : QUEUED / plan->threads;
    do {
        const double start_s = now_s();
        for (int i = 0; i < batch; i++)
            launch(worker);
        worker->launch_ns.push_back((now_s() - start_s) * 1e9 / batch);
        CHECK(cudaStreamSynchronize(worker->stream));
        usleep(plan->rest_us);
    } while (now_s() < until_s);
}

static void measure_synced(struct worker *worker, double until_s)
{
    const int batch = worker->plan->rest_us ? 1 : SYNCED_BATCH;
    do {
        const double start_s = now_s();
        for (int i = 0; i < batch; i++) {
            launch(worker);
            CHECK(cudaStreamSynchronize(worker->stream));
        }
        worker->synced_ns.push_back((now_s() - start_s) * 1e9 / batch);
        usleep(worker->plan->rest_us);
    } while (now_s() < until_s);
}

static void *work(void *argument)
{
    struct worker *const worker = (struct worker *)argument;
    CHECK(cudaSetDevice(0));
    for (int i = 0; i < 3; i++)
        launch(worker); /* the first ones are slow */
    CHECK(cudaStreamSynchronize(worker->stream));
    if (pthread_barrier_wait(&worker->plan->begin) == PTHREAD_BARRIER_SERIAL_THREAD) {
        printf("launching\n");
        fflush(stdout);
    }
    const double begin_s = now_s();
    measure_launches(worker, begin_s + worker->plan->seconds / 2);
    pthread_barrier_wait(&worker->plan->begin);
    measure_synced(worker, begin_s + worker->plan->seconds);
    return NULL;
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* One a worker: two launches of one executable graph do not run at once. */
static cudaGraphExec_t new_graph(void)
{
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_KERNELS; i++)
        nothing<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
}

static void set_up(struct worker *workers, struct plan *plan)
{
    struct cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, nothing)); /* its code is there before a capture begins */
    for (int i = 0; i < plan->threads; i++) {
        workers[i].plan = plan;
        workers[i].stream = i == 0 || plan->has_streams ? new_stream() : workers[0].stream;
        workers[i].graph = plan->is_graph ? new_graph() : NULL;
    }
}

static int run(struct worker *workers, struct plan *plan)
{
    pthread_barrier_init(&plan->begin, NULL, (unsigned)plan->threads);
    for (int i = 0; i < plan->threads; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "launch_cost: no thread\n");
            return 1;
        }
    for (int i = 0; i < plan->threads; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}

static double median(const struct worker *workers, int count, std::vector<double> worker::*values)
{
    std::vector<double> all;
    for (int i = 0; i < count; i++)
        all.insert(all.end(), (workers[i].*values).begin(), (workers[i].*values).end());
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[all.size() / 2];
}

static int usage(void)
{
    fprintf(stderr, "usage: launch_cost [--threads N] [--streams] [--graph] [--seconds S] [--rest-us N]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"threads", required_argument, NULL, 't'},
                                          {"streams", no_argument, NULL, 's'},
                                          {"graph", no_argument, NULL, 'g'},
                                          {"seconds", required_argument, NULL, 'd'},
                                          {"rest-us", required_argument, NULL, 'r'},
                                          {}};
    static struct worker workers[MAX_THREADS];
    struct plan plan = {};
    plan.threads = 1;
    plan.seconds = 4;
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (letter) {
        case 't':
            plan.threads = atoi(optarg);
            break;
        case 's':
            plan.has_streams = true;
            break;
        case 'g':
            plan.is_graph = true;
            break;
        case 'd':
            plan.seconds = atof(optarg);
            break;
        case 'r':
            plan.rest_us = (unsigned)atoi(optarg);
            break;
        default:
            return usage();
        }
    if (optind != argc || plan.threads < 1 || plan.threads > MAX_THREADS || plan.seconds <= 0)
        return usage();
    set_up(workers, &plan);
    if (run(workers, &plan) != 0)
        return 1;
    printf("launch_cost threads=%d streams=%d graph=%d seconds=%g ns_per_launch=%.0f ns_per_launch_sync=%.0f\n",
           plan.threads, plan.has_streams ? plan.threads : 1, plan.is_graph ? GRAPH_KERNELS : 0, plan.seconds,
           median(workers, plan.threads, &worker::launch_ns), median(workers, plan.threads, &worker::synced_ns));
    return 0;
}
