/* graph.c - captures and graphs.  Nodes and graphs are the driver's; only kernels, which the host names by addresses of
 * its functions, and copies have structs of the runtime's own. */
#include "libcudart/runtime.h"

#include <string.h>

/* ---- captures ---- */

STREAM_RUNTIME_CALLS(cudaStreamBeginCapture, _ptsz, (CUstream stream, int mode),
                     cuStreamBeginCapture_v2(runtime_stream(stream, default_stream), mode))
STREAM_RUNTIME_CALLS(cudaStreamBeginCaptureToGraph, _ptsz,
                     (CUstream stream, CUgraph graph, CUgraphNode *before, const struct cu_edge *edges, size_t count,
                      int mode),
                     cuStreamBeginCaptureToGraph(runtime_stream(stream, default_stream), graph, before, edges, count,
                                                 mode))
STREAM_RUNTIME_CALLS(cudaStreamEndCapture, _ptsz, (CUstream stream, CUgraph *graph),
                     cuStreamEndCapture(runtime_stream(stream, default_stream), graph))
RUNTIME_CALLS(cudaThreadExchangeStreamCaptureMode, (int *mode), cuThreadExchangeStreamCaptureMode(mode))

#define CAPTURE_INFO(symbol)                                                                            \
    STREAM_RUNTIME_CALLS(                                                                               \
        symbol, _ptsz,                                                                                  \
        (CUstream stream, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes, void **edges, \
         size_t *count),                                                                                \
        cuStreamGetCaptureInfo_v3(runtime_stream(stream, default_stream), status, id, graph, nodes, edges, count))
#if RUNTIME_VERSION < 13000
STREAM_RUNTIME_CALLS(cudaStreamGetCaptureInfo, _ptsz, (CUstream stream, int *status, uint64_t *id),
                     cuStreamGetCaptureInfo_v3(runtime_stream(stream, default_stream), status, id, NULL, NULL, NULL,
                                               NULL))
STREAM_RUNTIME_CALLS(cudaStreamGetCaptureInfo_v2, _ptsz,
                     (CUstream stream, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes, size_t *count),
                     cuStreamGetCaptureInfo_v3(runtime_stream(stream, default_stream), status, id, graph, nodes, NULL,
                                               count))
CAPTURE_INFO(cudaStreamGetCaptureInfo_v3)
#else
CAPTURE_INFO(cudaStreamGetCaptureInfo)
#endif

/* ---- graphs ---- */

RUNTIME_CALLS(cudaGraphCreate, (CUgraph * graph, unsigned flags), cuGraphCreate(graph, flags))
RUNTIME_CALLS(cudaGraphDestroy, (CUgraph graph), cuGraphDestroy(graph))
RUNTIME_CALLS(cudaGraphClone, (CUgraph * out, CUgraph graph), cuGraphClone(out, graph))
RUNTIME_CALLS(cudaGraphNodeFindInClone, (CUgraphNode * out, CUgraphNode node, CUgraph clone),
              cuGraphNodeFindInClone(out, node, clone))
RUNTIME_CALLS(cudaGraphNodeGetType, (CUgraphNode node, int *type), cuGraphNodeGetType(node, type))
RUNTIME_CALLS(cudaGraphDestroyNode, (CUgraphNode node), cuGraphDestroyNode(node))
RUNTIME_CALLS(cudaGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
              cuGraphGetNodes(graph, nodes, count))
RUNTIME_CALLS(cudaGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
              cuGraphGetRootNodes(graph, nodes, count))
RUNTIME_CALLS(cudaGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned flags),
              cuGraphDebugDotPrint(graph, path, flags))

/* Since CUDA 13 the functions about edges have the edges' data, which CUDA 12 has under other names. */
#if RUNTIME_VERSION < 13000
RUNTIME_CALLS(cudaGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
              cuGraphGetEdges_v2(graph, from, to, NULL, count))
RUNTIME_CALLS(cudaGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *out, size_t *count),
              cuGraphNodeGetDependencies_v2(node, out, NULL, count))
RUNTIME_CALLS(cudaGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *out, size_t *count),
              cuGraphNodeGetDependentNodes_v2(node, out, NULL, count))
RUNTIME_CALLS(cudaGraphAddDependencies, (CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, size_t count),
              cuGraphAddDependencies_v2(graph, from, to, NULL, count))
RUNTIME_CALLS(cudaGraphRemoveDependencies,
              (CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, size_t count),
              cuGraphRemoveDependencies_v2(graph, from, to, NULL, count))
#define WITH_EDGES(symbol) symbol##_v2
#else
#define WITH_EDGES(symbol) symbol
#endif
RUNTIME_CALLS(WITH_EDGES(cudaGraphGetEdges),
              (CUgraph graph, CUgraphNode *from, CUgraphNode *to, struct cu_edge *edges, size_t *count),
              cuGraphGetEdges_v2(graph, from, to, edges, count))
RUNTIME_CALLS(WITH_EDGES(cudaGraphNodeGetDependencies),
              (CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count),
              cuGraphNodeGetDependencies_v2(node, out, edges, count))
RUNTIME_CALLS(WITH_EDGES(cudaGraphNodeGetDependentNodes),
              (CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count),
              cuGraphNodeGetDependentNodes_v2(node, out, edges, count))
RUNTIME_CALLS(WITH_EDGES(cudaGraphAddDependencies),
              (CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, const struct cu_edge *edges,
               size_t count),
              cuGraphAddDependencies_v2(graph, from, to, edges, count))
RUNTIME_CALLS(WITH_EDGES(cudaGraphRemoveDependencies),
              (CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, const struct cu_edge *edges,
               size_t count),
              cuGraphRemoveDependencies_v2(graph, from, to, edges, count))

/* ---- ready graphs ---- */

RUNTIME_CALLS(cudaGraphInstantiate, (CUgraphExec * out, CUgraph graph, uint64_t flags),
              cuGraphInstantiateWithFlags(out, graph, flags))
RUNTIME_CALLS(cudaGraphInstantiateWithFlags, (CUgraphExec * out, CUgraph graph, uint64_t flags),
              cuGraphInstantiateWithFlags(out, graph, flags))
RUNTIME_CALLS(cudaGraphInstantiateWithParams, (CUgraphExec * out, CUgraph graph, struct cu_graph_instantiate *with),
              cuGraphInstantiateWithParams(out, graph, with))
RUNTIME_CALLS(cudaGraphInstantiateWithParams_ptsz,
              (CUgraphExec * out, CUgraph graph, struct cu_graph_instantiate *with),
              cuGraphInstantiateWithParams_ptsz(out, graph, with))
STREAM_RUNTIME_CALLS(cudaGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream),
                     cuGraphLaunch(exec, runtime_stream(stream, default_stream)))
STREAM_RUNTIME_CALLS(cudaGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream),
                     cuGraphUpload(exec, runtime_stream(stream, default_stream)))
RUNTIME_CALLS(cudaGraphExecDestroy, (CUgraphExec exec), cuGraphExecDestroy(exec))
RUNTIME_CALLS(cudaGraphExecGetFlags, (CUgraphExec exec, uint64_t *flags), cuGraphExecGetFlags(exec, flags))
RUNTIME_CALLS(cudaGraphExecUpdate, (CUgraphExec exec, CUgraph graph, struct cu_graph_update *out),
              cuGraphExecUpdate_v2(exec, graph, out))
RUNTIME_CALLS(cudaGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned enabled),
              cuGraphNodeSetEnabled(exec, node, enabled))
RUNTIME_CALLS(cudaGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *enabled),
              cuGraphNodeGetEnabled(exec, node, enabled))

/* ---- nodes ---- */

/* cudaKernelNodeParams is the beginning of the driver's struct, with the host's function in place of the kernel. */
static cudaError_t kernel_of(const struct cu_kernel_node *given, struct cu_kernel_node *out)
{
    if (!given)
        return runtime_fail(cudaErrorInvalidValue);
    *out = (struct cu_kernel_node){0};
    memcpy(out, given, offsetof(struct cu_kernel_node, kernel));
    out->function = NULL;
    return runtime_kernel(given->function, &out->kernel);
}

RUNTIME(cudaGraphAddKernelNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
        const struct cu_kernel_node *given)
{
    struct cu_kernel_node kernel;
    const cudaError_t error = kernel_of(given, &kernel);
    return error ? error : runtime_done(cuGraphAddKernelNode_v2(out, graph, before, count, &kernel));
}

RUNTIME(cudaGraphKernelNodeSetParams, CUgraphNode node, const struct cu_kernel_node *given)
{
    struct cu_kernel_node kernel;
    const cudaError_t error = kernel_of(given, &kernel);
    return error ? error : runtime_done(cuGraphKernelNodeSetParams_v2(node, &kernel));
}

RUNTIME(cudaGraphExecKernelNodeSetParams, CUgraphExec exec, CUgraphNode node, const struct cu_kernel_node *given)
{
    struct cu_kernel_node kernel;
    const cudaError_t error = kernel_of(given, &kernel);
    return error ? error : runtime_done(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel));
}

/* The function in it is the driver's, which this runtime takes where it takes one of the host's. */
RUNTIME(cudaGraphKernelNodeGetParams, CUgraphNode node, struct cu_kernel_node *out)
{
    struct cu_kernel_node all;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuGraphKernelNodeGetParams_v2(node, &all);
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    memcpy(out, &all, offsetof(struct cu_kernel_node, kernel));
    return runtime_note_kernel(all.function);
}

RUNTIME_CALLS(cudaGraphKernelNodeGetAttribute, (CUgraphNode node, unsigned id, void *value),
              cuGraphKernelNodeGetAttribute(node, id, value))
RUNTIME_CALLS(cudaGraphKernelNodeSetAttribute, (CUgraphNode node, unsigned id, const void *value),
              cuGraphKernelNodeSetAttribute(node, id, value))

/* cudaMemcpy3DParms */
struct pitched {
    void *address;
    size_t pitch_bytes, width_bytes, height;
};
struct copy_3d {
    void *from_array;
    size_t from_at[3];
    struct pitched from;
    void *to_array;
    size_t to_at[3];
    struct pitched to;
    size_t extent[3];
    int kind;
};

static struct cu_copy_side_3d side(const struct pitched *memory, const size_t at[3])
{
    return (struct cu_copy_side_3d){.x_bytes = at[0],
                                    .y = at[1],
                                    .z = at[2],
                                    .memory_type = CU_MEMORYTYPE_UNIFIED,
                                    .device = (CUdeviceptr)(uintptr_t)memory->address,
                                    .pitch_bytes = memory->pitch_bytes,
                                    .height = memory->height};
}

static struct cu_copy_3d driver_copy(const struct copy_3d *copy)
{
    return (struct cu_copy_3d){.from = side(&copy->from, copy->from_at),
                               .to = side(&copy->to, copy->to_at),
                               .width_bytes = copy->extent[0],
                               .height = copy->extent[1],
                               .depth = copy->extent[2]};
}

static struct cu_copy_3d bytes_in_a_row(void *to, const void *from, size_t byte_count)
{
    const struct copy_3d copy = {.from = {(void *)(uintptr_t)from, byte_count, byte_count, 1},
                                 .to = {to, byte_count, byte_count, 1},
                                 .extent = {byte_count, 1, 1}};
    return driver_copy(&copy);
}

static cudaError_t check_copy(const struct copy_3d *copy)
{
    if (!copy)
        return runtime_fail(cudaErrorInvalidValue);
    if (copy->from_array || copy->to_array)
        return runtime_fail(cudaErrorNotSupported);
    return runtime_done(runtime_enter());
}

RUNTIME(cudaGraphAddMemcpyNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
        const struct copy_3d *given)
{
    const cudaError_t error = check_copy(given);
    if (error)
        return error;
    const struct cu_copy_3d copy = driver_copy(given);
    return runtime_done(cuGraphAddMemcpyNode(out, graph, before, count, &copy, NULL));
}

RUNTIME(cudaGraphAddMemcpyNode1D, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count, void *to,
        const void *from, size_t byte_count, int kind)
{
    const struct cu_copy_3d copy = bytes_in_a_row(to, from, byte_count);
    const CUresult result = runtime_enter();
    (void)kind;
    return runtime_done(result == CUDA_SUCCESS ? cuGraphAddMemcpyNode(out, graph, before, count, &copy, NULL) : result);
}

RUNTIME(cudaGraphExecMemcpyNodeSetParams1D, CUgraphExec exec, CUgraphNode node, void *to, const void *from,
        size_t byte_count, int kind)
{
    const struct cu_copy_3d copy = bytes_in_a_row(to, from, byte_count);
    const CUresult result = runtime_enter();
    (void)kind;
    return runtime_done(result == CUDA_SUCCESS ? cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL) : result);
}

RUNTIME_CALLS(cudaGraphAddMemsetNode,
              (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count,
               const struct cu_memset_node *given),
              cuGraphAddMemsetNode(out, graph, before, count, given, NULL))
RUNTIME_CALLS(cudaGraphMemsetNodeGetParams, (CUgraphNode node, struct cu_memset_node *out),
              cuGraphMemsetNodeGetParams(node, out))
RUNTIME_CALLS(cudaGraphMemsetNodeSetParams, (CUgraphNode node, const struct cu_memset_node *given),
              cuGraphMemsetNodeSetParams(node, given))
RUNTIME_CALLS(cudaGraphExecMemsetNodeSetParams,
              (CUgraphExec exec, CUgraphNode node, const struct cu_memset_node *given),
              cuGraphExecMemsetNodeSetParams(exec, node, given, NULL))
RUNTIME_CALLS(cudaGraphAddHostNode,
              (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count,
               const struct cu_host_node *given),
              cuGraphAddHostNode(out, graph, before, count, given))
RUNTIME_CALLS(cudaGraphHostNodeGetParams, (CUgraphNode node, struct cu_host_node *out),
              cuGraphHostNodeGetParams(node, out))
RUNTIME_CALLS(cudaGraphHostNodeSetParams, (CUgraphNode node, const struct cu_host_node *given),
              cuGraphHostNodeSetParams(node, given))
RUNTIME_CALLS(cudaGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode node, const struct cu_host_node *given),
              cuGraphExecHostNodeSetParams(exec, node, given))
RUNTIME_CALLS(cudaGraphAddEmptyNode, (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count),
              cuGraphAddEmptyNode(out, graph, before, count))
RUNTIME_CALLS(cudaGraphAddChildGraphNode,
              (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count, CUgraph child),
              cuGraphAddChildGraphNode(out, graph, before, count, child))
RUNTIME_CALLS(cudaGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *out),
              cuGraphChildGraphNodeGetGraph(node, out))
RUNTIME_CALLS(cudaGraphAddEventRecordNode,
              (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count, CUevent event),
              cuGraphAddEventRecordNode(out, graph, before, count, event))
RUNTIME_CALLS(cudaGraphAddEventWaitNode,
              (CUgraphNode * out, CUgraph graph, CUgraphNode const *before, size_t count, CUevent event),
              cuGraphAddEventWaitNode(out, graph, before, count, event))
