/* graph_nodes.c - calls that add nodes to graphs, and read or change what a node does.
 *
 * What a node is given is checked as the call of a stream would be, and kept as the operation that a launch copies.
 * Reads: what the calls are given.  Writes: nodes of graphs and of ready graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "libcuda/context.h"
#include "libcuda/copy.h"
#include "libcuda/graph_exec.h"
#include "libcuda/launch.h"
#include "libcuda/memory.h"

/* ---- operations of what calls are given, with the lock held ---- */

static CUresult make_kernel(struct context *context, const struct cu_kernel_node *given, struct operation **out)
{
    struct launch_request request = {.function = given->function ? given->function : given->kernel,
                                     .shared_bytes = given->shared_bytes,
                                     .parameters = given->parameters,
                                     .extra = given->extra};
    memcpy(request.grid, given->grid, sizeof request.grid);
    memcpy(request.block, given->block, sizeof request.block);
    return launch_make(context, &request, out);
}

static CUresult make_copy(const struct cu_copy_3d *given, struct operation **out)
{
    struct copy_operation copy;
    const CUresult result = copy_make(given, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    *out = operation_create(OPERATION_COPY);
    if (!*out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->copy = copy;
    return CUDA_SUCCESS;
}

static CUresult make_fill(const struct cu_memset_node *given, struct operation **out)
{
    const uint64_t row = (uint64_t)given->width * given->value_bytes;
    const uint64_t reached = given->height ? (given->height - 1) * given->pitch_bytes + row : 0;
    const bool is_size = given->value_bytes == 1 || given->value_bytes == 2 || given->value_bytes == 4;
    if (!is_size || !given->width || !given->height || given->to % given->value_bytes ||
        (given->height > 1 && given->pitch_bytes < row) || !memory_is_known(given->to, reached))
        return CUDA_ERROR_INVALID_VALUE;
    *out = operation_create(OPERATION_FILL);
    if (!*out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->fill = (struct fill_operation){(unsigned char *)(uintptr_t)given->to,
                                           given->value,
                                           given->value_bytes,
                                           given->width,
                                           given->height,
                                           given->pitch_bytes};
    return CUDA_SUCCESS;
}

static CUresult make_call(const struct cu_host_node *given, struct operation **out)
{
    if (!given->function)
        return CUDA_ERROR_INVALID_VALUE;
    *out = operation_create(OPERATION_CALL);
    if (!*out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->call = (struct call_operation){.function = given->function, .user = given->user};
    return CUDA_SUCCESS;
}

static CUresult make(struct context *context, int type, const void *given, struct operation **out)
{
    *out = NULL;
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    return type == CU_GRAPH_KERNEL   ? make_kernel(context, given, out)
           : type == CU_GRAPH_MEMCPY ? make_copy(given, out)
           : type == CU_GRAPH_MEMSET ? make_fill(given, out)
                                     : make_call(given, out);
}

/* ---- adding ---- */

/* Takes the lock. */
static CUresult enter_graph(CUgraph graph, CUgraphNode const *before, size_t count, CUgraphNode const *out,
                            struct context **context)
{
    CUresult result = driver_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    bool good = out && handle_is(&driver.handles, graph, HANDLE_GRAPH) && (!count || before);
    for (size_t i = 0; i < count && good; i++)
        good = handle_is(&driver.handles, before[i], HANDLE_GRAPH_NODE) && before[i]->graph == graph;
    return good ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_VALUE);
}

static CUresult add(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count, int type,
                    const void *given)
{
    struct context *context;
    struct operation *operation = NULL;
    const struct node_list list = {(struct graph_node **)(uintptr_t)before, count};
    CUresult result = enter_graph(graph, before, count, out, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (type <= CU_GRAPH_HOST)
        result = make(context, type, given, &operation);
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    *out = graph_add(graph, type, operation, &list);
    return driver_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

ENTRY(cuGraphAddKernelNode_v2, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      const struct cu_kernel_node *given)
{
    return add(out, graph, before, count, CU_GRAPH_KERNEL, given);
}

/* The first version's struct ends before the kernel. */
static struct cu_kernel_node first_version(const struct cu_kernel_node *given)
{
    struct cu_kernel_node all = {0};
    memcpy(&all, given, offsetof(struct cu_kernel_node, kernel));
    return all;
}

ENTRY(cuGraphAddKernelNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      const struct cu_kernel_node *given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cu_kernel_node all = first_version(given);
    return add(out, graph, before, count, CU_GRAPH_KERNEL, &all);
}

ENTRY(cuGraphAddMemcpyNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      const struct cu_copy_3d *given, CUcontext context)
{
    (void)context;
    return add(out, graph, before, count, CU_GRAPH_MEMCPY, given);
}

ENTRY(cuGraphAddMemsetNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      const struct cu_memset_node *given, CUcontext context)
{
    (void)context;
    return add(out, graph, before, count, CU_GRAPH_MEMSET, given);
}

ENTRY(cuGraphAddHostNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      const struct cu_host_node *given)
{
    return add(out, graph, before, count, CU_GRAPH_HOST, given);
}

ENTRY(cuGraphAddEmptyNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count)
{
    return add(out, graph, before, count, CU_GRAPH_EMPTY, NULL);
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count, int type,
                          CUevent event)
{
    CUresult result = driver_enter_handle(event, HANDLE_EVENT);
    if (result != CUDA_SUCCESS)
        return result;
    driver_unlock();
    result = add(out, graph, before, count, type, NULL);
    if (result == CUDA_SUCCESS)
        (*out)->event = event;
    return result;
}

ENTRY(cuGraphAddEventRecordNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
      CUevent event)
{
    return add_event(out, graph, before, count, CU_GRAPH_EVENT_RECORD, event);
}

ENTRY(cuGraphAddEventWaitNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count, CUevent event)
{
    return add_event(out, graph, before, count, CU_GRAPH_WAIT_EVENT, event);
}

ENTRY(cuGraphAddChildGraphNode, CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count, CUgraph child)
{
    CUresult result = driver_enter_handle(child, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
    struct graph *copy = child == graph ? NULL : graph_clone(child);
    driver_unlock();
    if (!copy)
        return child == graph ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    result = add(out, graph, before, count, CU_GRAPH_GRAPH, NULL);
    driver_lock();
    if (result == CUDA_SUCCESS) {
        (*out)->child = copy;
        copy->parent = *out;
    } else {
        graph_destroy(copy);
    }
    return driver_leave(result);
}

/* ---- reading ---- */

/* Takes the lock; the node is of the type. */
static CUresult enter_node(CUgraphNode node, int type, const void *out)
{
    CUresult result = driver_enter_handle(node, HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
    if (!out || node->type != type)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const bool is_lost = type == CU_GRAPH_KERNEL && !node->operation; /* its module was unloaded */
    return is_lost ? driver_leave(CUDA_ERROR_INVALID_HANDLE) : CUDA_SUCCESS;
}

/* Pointers to the parameters, which stay until the node is changed. */
static CUresult point_to_parameters(struct graph_node *node)
{
    const struct launch_operation *launch = &node->operation->launch;
    const struct wsdbg_ptx_function *code = launch->function->code;
    if (!node->parameters)
        node->parameters = calloc(code->parameter_count + 1, sizeof(void *));
    for (size_t i = 0; node->parameters && i < code->parameter_count; i++)
        node->parameters[i] = launch->parameters + code->parameters[i].offset;
    return node->parameters ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult read_kernel(CUgraphNode node, struct cu_kernel_node *out)
{
    CUresult result = enter_node(node, CU_GRAPH_KERNEL, out);
    if (result != CUDA_SUCCESS)
        return result;
    const struct launch_operation *launch = &node->operation->launch;
    result = point_to_parameters(node);
    *out = (struct cu_kernel_node){.function = launch->function,
                                   .shared_bytes = launch->launch.dynamic_shared_bytes,
                                   .parameters = node->parameters,
                                   .context = launch->function->module->context};
    memcpy(out->grid, launch->launch.grid, sizeof out->grid);
    memcpy(out->block, launch->launch.block, sizeof out->block);
    return driver_leave(result);
}

ENTRY(cuGraphKernelNodeGetParams_v2, CUgraphNode node, struct cu_kernel_node *out)
{
    return read_kernel(node, out);
}

ENTRY(cuGraphKernelNodeGetParams, CUgraphNode node, struct cu_kernel_node *out)
{
    struct cu_kernel_node all;
    const CUresult result = out ? read_kernel(node, &all) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        memcpy(out, &all, offsetof(struct cu_kernel_node, kernel));
    return result;
}

static struct cu_copy_side_3d side(const void *address, size_t pitch, size_t slice)
{
    return (struct cu_copy_side_3d){.memory_type = CU_MEMORYTYPE_UNIFIED,
                                    .device = (uintptr_t)address,
                                    .pitch_bytes = pitch,
                                    .height = pitch ? slice / pitch : 0};
}

ENTRY(cuGraphMemcpyNodeGetParams, CUgraphNode node, struct cu_copy_3d *out)
{
    CUresult result = enter_node(node, CU_GRAPH_MEMCPY, out);
    if (result != CUDA_SUCCESS)
        return result;
    const struct copy_operation *copy = &node->operation->copy;
    *out = (struct cu_copy_3d){.from = side(copy->from, copy->from_pitch, copy->from_slice),
                               .to = side(copy->to, copy->to_pitch, copy->to_slice),
                               .width_bytes = copy->width_bytes,
                               .height = copy->height,
                               .depth = copy->depth};
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphMemsetNodeGetParams, CUgraphNode node, struct cu_memset_node *out)
{
    CUresult result = enter_node(node, CU_GRAPH_MEMSET, out);
    if (result != CUDA_SUCCESS)
        return result;
    const struct fill_operation *fill = &node->operation->fill;
    *out = (struct cu_memset_node){(uintptr_t)fill->to, fill->pitch_bytes, fill->value,
                                   fill->value_bytes,   fill->width,       fill->height};
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphHostNodeGetParams, CUgraphNode node, struct cu_host_node *out)
{
    CUresult result = enter_node(node, CU_GRAPH_HOST, out);
    if (result != CUDA_SUCCESS)
        return result;
    *out = (struct cu_host_node){node->operation->call.function, node->operation->call.user};
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphChildGraphNodeGetGraph, CUgraphNode node, CUgraph *out)
{
    CUresult result = enter_node(node, CU_GRAPH_GRAPH, out);
    if (result != CUDA_SUCCESS)
        return result;
    *out = node->child;
    return driver_leave(CUDA_SUCCESS);
}

/* Of the attributes those that change how a kernel runs here are kept. */
ENTRY(cuGraphKernelNodeGetAttribute, CUgraphNode node, unsigned id, void *out)
{
    CUresult result = enter_node(node, CU_GRAPH_KERNEL, out);
    if (result != CUDA_SUCCESS)
        return result;
    const struct launch_operation *launch = &node->operation->launch;
    struct cu_launch_attribute attribute = {0};
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        memcpy(attribute.value.cluster, launch->launch.cluster, sizeof attribute.value.cluster);
    else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        attribute.value.cooperative = launch->launch.is_cooperative;
    else if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        attribute.value.programmatic = launch->is_programmatic;
    else if (id > CU_LAUNCH_ATTRIBUTE_LAST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    memcpy(out, &attribute.value, sizeof attribute.value);
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphKernelNodeSetAttribute, CUgraphNode node, unsigned id, const void *value)
{
    CUresult result = enter_node(node, CU_GRAPH_KERNEL, value);
    if (result != CUDA_SUCCESS)
        return result;
    struct launch_operation *launch = &node->operation->launch;
    struct cu_launch_attribute attribute = {0};
    memcpy(&attribute.value, value, sizeof attribute.value);
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        memcpy(launch->launch.cluster, attribute.value.cluster, sizeof launch->launch.cluster);
    else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        launch->launch.is_cooperative = attribute.value.cooperative != 0;
    else if (id > CU_LAUNCH_ATTRIBUTE_LAST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return driver_leave(CUDA_SUCCESS);
}

/* ---- changing: a graph's node, or the node that a ready graph has of it ---- */

static CUresult change(CUgraphExec exec, CUgraphNode node, int type, const void *given)
{
    struct context *context;
    struct operation *operation;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (exec && !handle_is(&driver.handles, exec, HANDLE_GRAPH_EXEC))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (exec)
        node = graph_exec_node(exec, node);
    if (!node || !handle_is(&driver.handles, node, HANDLE_GRAPH_NODE) || node->type != type)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = make(context, type, given, &operation);
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    if (type == CU_GRAPH_KERNEL && node->operation) { /* attributes stay */
        memcpy(operation->launch.launch.cluster, node->operation->launch.launch.cluster,
               sizeof operation->launch.launch.cluster);
        operation->launch.launch.is_cooperative = node->operation->launch.launch.is_cooperative;
        operation->launch.is_programmatic = node->operation->launch.is_programmatic;
    }
    operation_destroy(node->operation);
    free(node->parameters);
    node->parameters = NULL;
    node->operation = operation;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphKernelNodeSetParams_v2, CUgraphNode node, const struct cu_kernel_node *given)
{
    return change(NULL, node, CU_GRAPH_KERNEL, given);
}

ENTRY(cuGraphKernelNodeSetParams, CUgraphNode node, const struct cu_kernel_node *given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cu_kernel_node all = first_version(given);
    return change(NULL, node, CU_GRAPH_KERNEL, &all);
}

ENTRY(cuGraphMemcpyNodeSetParams, CUgraphNode node, const struct cu_copy_3d *given)
{
    return change(NULL, node, CU_GRAPH_MEMCPY, given);
}

ENTRY(cuGraphMemsetNodeSetParams, CUgraphNode node, const struct cu_memset_node *given)
{
    return change(NULL, node, CU_GRAPH_MEMSET, given);
}

ENTRY(cuGraphHostNodeSetParams, CUgraphNode node, const struct cu_host_node *given)
{
    return change(NULL, node, CU_GRAPH_HOST, given);
}

ENTRY(cuGraphExecKernelNodeSetParams_v2, CUgraphExec exec, CUgraphNode node, const struct cu_kernel_node *given)
{
    return exec ? change(exec, node, CU_GRAPH_KERNEL, given) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphExecKernelNodeSetParams, CUgraphExec exec, CUgraphNode node, const struct cu_kernel_node *given)
{
    if (!given || !exec)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cu_kernel_node all = first_version(given);
    return change(exec, node, CU_GRAPH_KERNEL, &all);
}

ENTRY(cuGraphExecMemcpyNodeSetParams, CUgraphExec exec, CUgraphNode node, const struct cu_copy_3d *given,
      CUcontext context)
{
    (void)context;
    return exec ? change(exec, node, CU_GRAPH_MEMCPY, given) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphExecMemsetNodeSetParams, CUgraphExec exec, CUgraphNode node, const struct cu_memset_node *given,
      CUcontext context)
{
    (void)context;
    return exec ? change(exec, node, CU_GRAPH_MEMSET, given) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphExecHostNodeSetParams, CUgraphExec exec, CUgraphNode node, const struct cu_host_node *given)
{
    return exec ? change(exec, node, CU_GRAPH_HOST, given) : CUDA_ERROR_INVALID_VALUE;
}
