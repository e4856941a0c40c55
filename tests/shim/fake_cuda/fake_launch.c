/* fake_launch.c - streams, launches, captures and graphs of the fake libcuda. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_internal.h"

static _Atomic int launches_done;
static _Atomic int capturing, capture_spoiled;
static struct stream default_stream = {.kind = STREAM};
static __thread int capture_mode; /* 0 global, 2 relaxed */

/* What the driver refuses while a stream is captured. */
int fake_unsafe(void)
{
    if (atomic_load(&capturing) && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
        atomic_store(&capture_spoiled, 1);
        return 900;
    }
    return 0;
}

static struct stream *stream_of(CUstream handle)
{
    return (uintptr_t)handle <= 2 ? &default_stream : fake_need(handle, STREAM, "a call with a stream");
}

FAKE(cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags))
{
    struct stream *made = calloc(1, sizeof *made);
    (void)flags;
    made->kind = STREAM;
    *stream = made;
    return fake_context_error();
}

FAKE(cuStreamQuery, (CUstream handle), (handle))
{
    int error = fake_context_error();
    return error ? error : fake_now_ns() < stream_of(handle)->busy_until_ns ? CUDA_ERROR_NOT_READY : 0;
}

static CUresult wait_stream(struct stream *stream)
{
    while (fake_now_ns() < stream->busy_until_ns || fake_debug_is_halted())
        usleep(1000);
    return fake_context_error();
}

FAKE(cuStreamSynchronize, (CUstream handle), (handle))
{
    return wait_stream(stream_of(handle));
}

FAKE(cuStreamSynchronize_ptsz, (CUstream handle), (handle))
{
    return wait_stream(stream_of(handle));
}

FAKE(cuCtxSynchronize, (void), ())
{
    return wait_stream(&default_stream);
}

static void run(struct function *function, struct stream *stream)
{
    launches_done++;
    fake_kernel_run(function, stream);
}

static CUresult launch(CUfunction handle, unsigned grid, CUstream on)
{
    int error = fake_context_error();
    if (error)
        return error;
    if (!handle)
        return 400;
    struct function *function = handle;
    if (*(uint32_t *)handle == KERNEL) {
        struct kernel *kernel = handle;
        function = fake_function(fake_library_module(kernel->library), kernel->name);
    }
    fake_need(function, FUNCTION, "a launch");
    if (grid == 0)
        return 1;
    struct stream *stream = stream_of(on);
    fake_debug_launch();
    if (stream->capture)
        stream->capture->functions[stream->capture->count++] = function;
    else
        run(function, stream);
    return 0;
}

#define LAUNCH_LIKE(name)                                                                                              \
    FAKE(name,                                                                                                         \
         (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
          CUstream stream, void **parameters, void **extra),                                                           \
         (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra))                                               \
    {                                                                                                                  \
        (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters, (void)extra;                 \
        return launch(f, gx, stream);                                                                                  \
    }
LAUNCH_LIKE(cuLaunchKernel)
LAUNCH_LIKE(cuLaunchKernel_ptsz)

FAKE(cuLaunchCooperativeKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
      CUstream stream, void **parameters),
     (f, gx, gy, gz, bx, by, bz, shared, stream, parameters))
{
    (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters;
    return launch(f, gx, stream);
}

FAKE(cuLaunchKernelEx, (const struct cu_launch_config *config, CUfunction f, void **parameters, void **extra),
     (config, f, parameters, extra))
{
    (void)parameters, (void)extra;
    return launch(f, config->grid[0], config->stream);
}

FAKE(cuStreamBeginCapture_v2, (CUstream handle, int mode), (handle, mode))
{
    struct stream *stream = stream_of(handle);
    (void)mode;
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->kind = GRAPH;
    capture_spoiled = 0;
    capturing++;
    return 0;
}

FAKE(cuStreamEndCapture, (CUstream handle, CUgraph *graph), (handle, graph))
{
    struct stream *stream = stream_of(handle);
    capturing--;
    *graph = capture_spoiled ? NULL : stream->capture;
    stream->capture = NULL;
    return capture_spoiled ? 901 : 0;
}

FAKE(cuStreamIsCapturing, (CUstream handle, int *status), (handle, status))
{
    *status = stream_of(handle)->capture != NULL;
    return 0;
}

FAKE(cuThreadExchangeStreamCaptureMode, (int *mode), (mode))
{
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}

FAKE(cuEventCreate, (CUevent * event, unsigned flags), (event, flags))
{
    struct event *made = calloc(1, sizeof *made);
    (void)flags;
    made->kind = EVENT;
    made->context = fake_current();
    *event = made;
    return fake_context_error();
}

/* As the driver: in whatever mode the thread is, a capture in the context is spoiled. */
FAKE(cuCtxRecordEvent, (CUcontext handle, CUevent event), (handle, event))
{
    struct context *context = fake_need(handle, CONTEXT, "cuCtxRecordEvent");
    struct event *recorded = fake_need(event, EVENT, "cuCtxRecordEvent");
    if (recorded->context != context)
        fake_complain("cuCtxRecordEvent got an event of another context");
    if (atomic_load(&capturing)) {
        atomic_store(&capture_spoiled, 1);
        return 900;
    }
    const uint64_t soonest_ns = fake_now_ns() + fake_debug_event_ns();
    recorded->done_ns = context->busy_until_ns > soonest_ns ? context->busy_until_ns : soonest_ns;
    return context->error;
}

FAKE(cuEventQuery, (CUevent handle), (handle))
{
    const struct event *event = fake_need(handle, EVENT, "cuEventQuery");
    fake_need(event->context, CONTEXT, "cuEventQuery of an event of");
    int error = fake_unsafe();
    if (!error)
        error = fake_context_error();
    if (error)
        return error;
    return fake_now_ns() < event->done_ns || fake_debug_holds_back() ? CUDA_ERROR_NOT_READY : 0;
}

FAKE(cuGraphCreate, (CUgraph * graph, unsigned flags), (graph, flags))
{
    struct graph *made = calloc(1, sizeof *made);
    (void)flags;
    made->kind = GRAPH;
    *graph = made;
    return 0;
}

FAKE(cuGraphAddKernelNode_v2,
     (void **node, CUgraph handle, const void *nodes, size_t count, const struct cu_kernel_node *kernel),
     (node, handle, nodes, count, kernel))
{
    struct graph *graph = fake_need(handle, GRAPH, "cuGraphAddKernelNode");
    (void)nodes, (void)count;
    if (graph->node_count == sizeof graph->nodes / sizeof *graph->nodes)
        return 1;
    graph->nodes[graph->node_count] = (struct graph_node){.kind = NODE, .kernel = *kernel};
    *node = &graph->nodes[graph->node_count++];
    return 0;
}

FAKE(cuGraphAddChildGraphNode, (void **node, CUgraph handle, const void *nodes, size_t count, CUgraph inner),
     (node, handle, nodes, count, inner))
{
    struct graph *graph = fake_need(handle, GRAPH, "cuGraphAddChildGraphNode");
    (void)nodes, (void)count;
    if (graph->node_count == sizeof graph->nodes / sizeof *graph->nodes)
        return 1;
    graph->nodes[graph->node_count] =
        (struct graph_node){.kind = NODE, .inner = fake_need(inner, GRAPH, "cuGraphAddChildGraphNode")};
    *node = &graph->nodes[graph->node_count++];
    return 0;
}

/* A CTA that is too large shows only here. */
FAKE(cuGraphInstantiateWithFlags, (void **exec, CUgraph handle, uint64_t flags), (exec, handle, flags))
{
    struct graph *graph = fake_need(handle, GRAPH, "cuGraphInstantiate");
    (void)flags;
    *exec = graph;
    for (size_t i = 0; i < graph->node_count; i++)
        if (!graph->nodes[i].inner && (graph->nodes[i].kernel.block[0] > 1024 || graph->nodes[i].kernel.grid[0] == 0))
            return 1;
    return 0;
}

/* Refuses, and leaves untouched where a node at fault would be told. */
FAKE(cuGraphInstantiateWithParams, (void **exec, CUgraph handle, struct cu_graph_instantiate *with),
     (exec, handle, with))
{
    (void)exec, (void)with;
    fake_need(handle, GRAPH, "cuGraphInstantiateWithParams");
    return 1;
}

FAKE(cuGraphGetNodes, (CUgraph handle, void **nodes, size_t *count), (handle, nodes, count))
{
    struct graph *graph = fake_need(handle, GRAPH, "cuGraphGetNodes");
    for (size_t i = 0; nodes && i < graph->node_count && i < *count; i++)
        nodes[i] = &graph->nodes[i];
    *count = graph->node_count;
    return 0;
}

FAKE(cuGraphNodeGetType, (void *node, int *type), (node, type))
{
    const struct graph_node *of = fake_need(node, NODE, "cuGraphNodeGetType");
    *type = of->inner ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL;
    return 0;
}

FAKE(cuGraphChildGraphNodeGetGraph, (void *node, CUgraph *inner), (node, inner))
{
    *inner = ((struct graph_node *)fake_need(node, NODE, "cuGraphChildGraphNodeGetGraph"))->inner;
    return *inner ? 0 : 1;
}

FAKE(cuGraphKernelNodeSetAttribute, (void *node, int attribute, const void *value), (node, attribute, value))
{
    struct graph_node *of = fake_need(node, NODE, "cuGraphKernelNodeSetAttribute");
    if (attribute != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return 1;
    memcpy(of->cluster, value, sizeof of->cluster);
    return 0;
}

FAKE(cuGraphKernelNodeGetAttribute, (void *node, int attribute, void *value), (node, attribute, value))
{
    const struct graph_node *of = fake_need(node, NODE, "cuGraphKernelNodeGetAttribute");
    if (attribute != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return 1;
    memcpy(value, of->cluster, sizeof of->cluster);
    return 0;
}

/* What is ready to run is the graph itself here: a change of it would be seen in the graph, which the driver's is not.
 */
FAKE(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node, const struct cu_kernel_node *kernel),
     (exec, node, kernel))
{
    fake_need(exec, GRAPH, "cuGraphExecKernelNodeSetParams");
    fake_need(node, NODE, "cuGraphExecKernelNodeSetParams");
    return kernel->grid[0] == 0;
}

FAKE(cuGraphExecUpdate_v2, (void *exec, CUgraph graph, void *why), (exec, graph, why))
{
    (void)why;
    fake_need(exec, GRAPH, "cuGraphExecUpdate");
    fake_need(graph, GRAPH, "cuGraphExecUpdate");
    return 0;
}

FAKE(cuGraphKernelNodeGetParams_v2, (void *node, struct cu_kernel_node *kernel), (node, kernel))
{
    *kernel = ((struct graph_node *)fake_need(node, NODE, "cuGraphKernelNodeGetParams"))->kernel;
    return 0;
}

FAKE(cuGraphLaunch, (void *handle, CUstream stream), (handle, stream))
{
    struct graph *graph = fake_need(handle, GRAPH, "cuGraphLaunch");
    for (int i = 0; i < graph->count; i++)
        run(graph->functions[i], stream_of(stream));
    return 0;
}

/* Not of the driver: for tests. */
EXPORT int fake_cuda_launches(void);
EXPORT int fake_cuda_launches(void)
{
    return launches_done;
}
