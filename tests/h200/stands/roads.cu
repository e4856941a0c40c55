/* roads.cu - the ways by which a kernel comes to the GPU: after three launches that end, each case launches
 * `road_poll`, which never ends.
 *
 * Prints a line `launch` with what a report should know of it; launch counts the program's launches from 0.
 */
#include <cuda.h>
#include <dlfcn.h>

#include "stands.cuh"

#define ROAD_THREADS 96
#define LAUNCHES_BEFORE 3

static const dim3 grid(6, 2, 1), block(ROAD_THREADS, 1, 1);

__global__ void road_before(uint32_t *word)
{
    atomicAnd(word, 0u);
}

__global__ void road_poll(const uint32_t *word)
{
    while (load_word(word) == 0)
        __nanosleep(200);
}

struct road {
    cudaStream_t stream;
    uint32_t *word;
    void *arguments[1];
};

/* In place, because the arguments point into it. */
static void begin(struct road *road, int cluster_ctas)
{
    road->stream = new_stream();
    road->word = new_word();
    road->arguments[0] = &road->word;
    load_code((const void *)road_poll);
    for (int i = 0; i < LAUNCHES_BEFORE; i++)
        road_before<<<1, 32, 0, road->stream>>>(road->word);
    CHECK(cudaStreamSynchronize(road->stream));
    printf("launch kernel=road_poll grid=%u,%u,%u block=%u,%u,%u cluster=%d,1,1 stream=0x%llx launch=%d\n", grid.x,
           grid.y, grid.z, block.x, block.y, block.z, cluster_ctas, (unsigned long long)(uintptr_t)road->stream,
           LAUNCHES_BEFORE);
    fflush(stdout);
}

static int wait_for(const struct road *road)
{
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(road->stream));
    return 0;
}

int stand_road_runtime(const struct options *)
{
    struct road road;
    begin(&road, 1);
    road_poll<<<grid, block, 0, road.stream>>>(road.word);
    return wait_for(&road);
}

int stand_road_cooperative(const struct options *)
{
    struct road road;
    begin(&road, 1);
    CHECK(cudaLaunchCooperativeKernel((const void *)road_poll, grid, block, road.arguments, 0, road.stream));
    return wait_for(&road);
}

int stand_road_ex_cluster(const struct options *)
{
    struct road road;
    begin(&road, 2);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = road.stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelExC(&config, (const void *)road_poll, road.arguments));
    return wait_for(&road);
}

int stand_road_driver(const struct options *)
{
    struct road road;
    cudaFunction_t function;
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult (*const launch)(const CUlaunchConfig *, CUfunction, void **, void **) =
        driver ? (decltype(launch))dlsym(driver, "cuLaunchKernelEx") : NULL;
    if (!launch) {
        fprintf(stderr, "stands: skipped: the driver has no cuLaunchKernelEx\n");
        return STATUS_SKIP;
    }
    CHECK(cudaGetFuncBySymbol(&function, (const void *)road_poll));
    begin(&road, 1);
    CUlaunchConfig config = {};
    config.gridDimX = grid.x;
    config.gridDimY = grid.y;
    config.gridDimZ = grid.z;
    config.blockDimX = block.x;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = road.stream;
    CHECK((cudaError_t)launch(&config, function, road.arguments, NULL));
    return wait_for(&road);
}

static int launch_graph(struct road *road, cudaGraph_t graph)
{
    CHECK(cudaGraphLaunch(instantiate(graph), road->stream));
    return wait_for(road);
}

int stand_road_capture(const struct options *)
{
    struct road road;
    cudaGraph_t graph;
    begin(&road, 1);
    CHECK(cudaStreamBeginCapture(road.stream, cudaStreamCaptureModeGlobal));
    road_poll<<<grid, block, 0, road.stream>>>(road.word);
    CHECK(cudaStreamEndCapture(road.stream, &graph));
    return launch_graph(&road, graph);
}

/* A graph of one kernel node. */
static cudaGraph_t graph_of_node(struct road *road)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)road_poll;
    kernel.gridDim = grid;
    kernel.blockDim = block;
    kernel.kernelParams = road->arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    return graph;
}

int stand_road_graph_node(const struct options *)
{
    struct road road;
    begin(&road, 1);
    return launch_graph(&road, graph_of_node(&road));
}

int stand_road_child_graph(const struct options *)
{
    struct road road;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    begin(&road, 1);
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, graph_of_node(&road)));
    return launch_graph(&road, graph);
}
