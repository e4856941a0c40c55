/* graph_exec.c - calls that make graphs ready to run, launch and update them.
 *
 * A launch queues the graph's nodes as a program would: each lane of nodes in a stream, with marks between the lanes.
 * So nodes that may run side by side do.  Reads: graphs.  Writes: ready graphs, operations of streams.
 */
#include "libcuda/graph_exec.h"

#include <stdlib.h>

#include "libcuda/capture.h"
#include "libcuda/context.h"
#include "libcuda/queue.h"

enum { FLAGS_KNOWN = 15, FLAG_DEVICE_LAUNCH = 4 };
enum { INSTANTIATE_SUCCESS, INSTANTIATE_ERROR, INSTANTIATE_INVALID_STRUCTURE };
enum { UPDATE_SUCCESS, UPDATE_ERROR, UPDATE_TOPOLOGY_CHANGED, UPDATE_TYPE_CHANGED };

static CUresult enter(const void *handle, enum handle_kind kind)
{
    const CUresult result = driver_enter_handle(handle, kind);
    return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
}

/* What is queued is still done. */
static void free_lanes(struct graph_exec *exec)
{
    for (size_t i = 1; exec->lanes && exec->context && i < exec->lane_count; i++)
        if (exec->lanes[i] && !exec->context->is_destroyed) {
            handle_remove(&driver.handles, exec->lanes[i]);
            exec->lanes[i]->is_destroyed = true;
        }
    if (exec->context && !exec->context->is_destroyed)
        stream_sweep(exec->context);
    free(exec->lanes);
    exec->lanes = NULL;
    exec->context = NULL;
}

static void destroy(struct graph_exec *exec)
{
    free_lanes(exec);
    graph_exec_free_plan(exec);
    graph_destroy(exec->graph);
    mark_release(exec->last);
    handle_remove(&driver.handles, exec);
    free(exec);
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, uint64_t flags, int *why)
{
    CUresult result = enter(graph, HANDLE_GRAPH);
    *why = INSTANTIATE_ERROR;
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~(uint64_t)FLAGS_KNOWN)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags & FLAG_DEVICE_LAUNCH)
        return driver_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (!graph_has_order(graph)) {
        *why = INSTANTIATE_INVALID_STRUCTURE;
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    }
    struct graph_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    exec->flags = flags;
    exec->graph = graph_clone(graph);
    if (!exec->graph || !graph_exec_plan(exec) || !handle_add(&driver.handles, exec, HANDLE_GRAPH_EXEC)) {
        destroy(exec);
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    exec->graph->is_hidden = true;
    *why = INSTANTIATE_SUCCESS;
    *out = exec;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphInstantiateWithFlags, CUgraphExec *out, CUgraph graph, uint64_t flags)
{
    int why;
    return instantiate(out, graph, flags, &why);
}

ENTRY(cuGraphInstantiate_v2, CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log, size_t log_bytes)
{
    int why;
    if (node)
        *node = NULL;
    if (log && log_bytes)
        *log = '\0';
    return instantiate(out, graph, 0, &why);
}

ENTRY(cuGraphInstantiate, CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log, size_t log_bytes)
{
    return cuGraphInstantiate_v2(out, graph, node, log, log_bytes);
}

static CUresult instantiate_with(CUgraphExec *out, CUgraph graph, struct cu_graph_instantiate *with, bool per_thread)
{
    (void)per_thread;
    if (!with)
        return CUDA_ERROR_INVALID_VALUE;
    with->error_node = NULL;
    return instantiate(out, graph, with->flags, &with->result);
}

STREAM_ENTRY(cuGraphInstantiateWithParams, _ptsz, (CUgraphExec * out, CUgraph graph, struct cu_graph_instantiate *with),
             instantiate_with, out, graph, with)

ENTRY(cuGraphExecGetFlags, CUgraphExec exec, uint64_t *flags)
{
    CUresult result = enter(exec, HANDLE_GRAPH_EXEC);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        *flags = exec->flags;
    return driver_leave(flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuGraphExecDestroy, CUgraphExec exec)
{
    CUresult result = enter(exec, HANDLE_GRAPH_EXEC);
    if (result != CUDA_SUCCESS)
        return result;
    destroy(exec);
    return driver_leave(CUDA_SUCCESS);
}

/* ---- launches ---- */

static CUresult make_lanes(struct graph_exec *exec, struct context *context)
{
    if (exec->context == context)
        return CUDA_SUCCESS;
    free_lanes(exec);
    exec->lanes = calloc(exec->lane_count + 1, sizeof(struct stream *));
    CUresult result = exec->lanes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    exec->context = context;
    for (size_t i = 1; i < exec->lane_count && result == CUDA_SUCCESS; i++)
        result = stream_create(context, STREAM_NON_BLOCKING, &exec->lanes[i]);
    if (result != CUDA_SUCCESS)
        free_lanes(exec);
    return result;
}

static CUresult queue_mark(struct stream *stream, enum operation_kind kind, struct mark *mark)
{
    struct operation *operation = operation_create(kind);
    if (!operation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mark->users++;
    operation->mark = mark;
    return queue_add(stream, operation);
}

/* A new mark, when all that is in the stream is done; *link has it in place of the one before. */
static CUresult put_mark(struct stream *stream, struct mark **link)
{
    struct mark *mark = mark_create();
    if (!mark)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mark_release(*link);
    *link = mark;
    return queue_mark(stream, OPERATION_RECORD, mark);
}

static CUresult queue_node(struct stream *stream, struct graph_node *node)
{
    if (!node || node->is_disabled || node->type == CU_GRAPH_EMPTY)
        return CUDA_SUCCESS;
    if (node->operation) {
        struct operation *operation = operation_copy(node->operation);
        return operation ? queue_add(stream, operation) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!handle_is(&driver.handles, node->event, HANDLE_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (node->type == CU_GRAPH_EVENT_RECORD)
        return put_mark(stream, &node->event->mark);
    return node->event->mark ? queue_mark(stream, OPERATION_WAIT_EVENT, node->event->mark) : CUDA_SUCCESS;
}

static CUresult queue_step(struct graph_exec *exec, struct graph_step *step, struct stream *stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < step->before_count && result == CUDA_SUCCESS; i++) {
        const struct graph_step *before = &exec->steps[step->before[i]];
        if (before->lane != step->lane)
            result = queue_mark(stream, OPERATION_WAIT_EVENT, before->mark);
    }
    if (result == CUDA_SUCCESS)
        result = queue_node(stream, step->node);
    return result == CUDA_SUCCESS && step->is_marked ? put_mark(stream, &step->mark) : result;
}

/* Launches of one ready graph come one after the other, in whatever streams. */
static CUresult launch_steps(struct graph_exec *exec, struct stream *stream)
{
    CUresult result = make_lanes(exec, stream->context);
    if (result == CUDA_SUCCESS && exec->last && !exec->last->is_done && !exec->last->is_lost)
        result = queue_mark(stream, OPERATION_WAIT_EVENT, exec->last);
    for (size_t i = 0; i < exec->step_count && result == CUDA_SUCCESS; i++) {
        struct graph_step *step = &exec->steps[i];
        result = queue_step(exec, step, step->lane ? exec->lanes[step->lane] : stream);
    }
    for (size_t i = 0; i < exec->step_count; i++) {
        mark_release(exec->steps[i].mark);
        exec->steps[i].mark = NULL;
    }
    return result == CUDA_SUCCESS ? put_mark(stream, &exec->last) : result;
}

static bool is_of_context(const struct graph *graph, const struct context *context)
{
    for (const struct graph_node *node = graph->first; node; node = node->next)
        if ((node->type == CU_GRAPH_KERNEL && node->operation &&
             node->operation->launch.function->module->context != context) ||
            (node->child && !is_of_context(node->child, context)))
            return false;
    return true;
}

/* Takes the lock, checks the ready graph and finds the stream.  With an error the lock is not held. */
static CUresult enter_with_stream(CUgraphExec exec, CUstream handle, bool per_thread, struct stream **out)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle_is(&driver.handles, exec, HANDLE_GRAPH_EXEC))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = stream_find(context, handle, per_thread, out);
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

static CUresult launch(CUgraphExec exec, CUstream handle, bool per_thread)
{
    struct stream *stream;
    const CUresult result = enter_with_stream(exec, handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph_has_lost_kernel(exec->graph)) {
        driver_say("a graph was not launched: the module of one of its kernels has been unloaded");
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    }
    if (!is_of_context(exec->graph, stream->context))
        return driver_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!stream->capture)
        return driver_leave(launch_steps(exec, stream));
    struct graph *copy = graph_clone(exec->graph);
    return driver_leave(copy ? capture_graph(stream, copy) : CUDA_ERROR_OUT_OF_MEMORY);
}

STREAM_ENTRY(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream), launch, exec, stream)

static CUresult upload(CUgraphExec exec, CUstream handle, bool per_thread)
{
    struct stream *stream;
    const CUresult result = enter_with_stream(exec, handle, per_thread, &stream);
    return result == CUDA_SUCCESS ? driver_leave(CUDA_SUCCESS) : result;
}

STREAM_ENTRY(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream), upload, exec, stream)

/* ---- updates ---- */

/* Nodes in the order of their making must be of one type, with the same edges. */
static int compare(const struct graph *old, const struct graph *new, CUgraphNode *at)
{
    size_t number = 0;
    if (old->count != new->count)
        return UPDATE_TOPOLOGY_CHANGED;
    struct graph_node *b = new->first;
    for (struct graph_node *a = old->first; a; a = a->next, b = b->next)
        a->number = b->number = number++;
    b = new->first;
    for (struct graph_node *a = old->first; a; a = a->next, b = b->next) {
        *at = b;
        if (a->type != b->type)
            return UPDATE_TYPE_CHANGED;
        if (a->before.count != b->before.count)
            return UPDATE_TOPOLOGY_CHANGED;
        for (size_t i = 0; i < a->before.count; i++)
            if (a->before.rows[i]->number != b->before.rows[i]->number)
                return UPDATE_TOPOLOGY_CHANGED;
        const int inner = a->child ? compare(a->child, b->child, at) : UPDATE_SUCCESS;
        if (inner != UPDATE_SUCCESS)
            return inner;
    }
    *at = NULL;
    return UPDATE_SUCCESS;
}

static CUresult take_over(struct graph *old, const struct graph *new)
{
    const struct graph_node *b = new->first;
    CUresult result = CUDA_SUCCESS;
    for (struct graph_node *a = old->first; a && result == CUDA_SUCCESS; a = a->next, b = b->next) {
        struct operation *operation = b->operation ? operation_copy(b->operation) : NULL;
        if (b->operation && !operation)
            return CUDA_ERROR_OUT_OF_MEMORY;
        operation_destroy(a->operation);
        a->operation = operation;
        a->event = b->event;
        if (a->child)
            result = take_over(a->child, b->child);
    }
    return result;
}

static CUresult update(CUgraphExec exec, CUgraph graph, int *why, CUgraphNode *at)
{
    CUresult result = enter(exec, HANDLE_GRAPH_EXEC);
    *why = UPDATE_ERROR;
    *at = NULL;
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle_is(&driver.handles, graph, HANDLE_GRAPH))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *why = compare(exec->graph, graph, at);
    if (*why != UPDATE_SUCCESS)
        return driver_leave(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    return driver_leave(take_over(exec->graph, graph));
}

ENTRY(cuGraphExecUpdate, CUgraphExec exec, CUgraph graph, CUgraphNode *node, int *why)
{
    return node && why ? update(exec, graph, why, node) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphExecUpdate_v2, CUgraphExec exec, CUgraph graph, struct cu_graph_update *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    out->from = NULL;
    return update(exec, graph, &out->result, &out->node);
}

ENTRY(cuGraphNodeSetEnabled, CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    CUresult result = enter(exec, HANDLE_GRAPH_EXEC);
    if (result != CUDA_SUCCESS)
        return result;
    struct graph_node *own = graph_exec_node(exec, node);
    if (!own || own->type > CU_GRAPH_MEMSET)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    own->is_disabled = !enabled;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphNodeGetEnabled, CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    CUresult result = enter(exec, HANDLE_GRAPH_EXEC);
    if (result != CUDA_SUCCESS)
        return result;
    const struct graph_node *own = graph_exec_node(exec, node);
    if (!own || !enabled || own->type > CU_GRAPH_MEMSET)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *enabled = !own->is_disabled;
    return driver_leave(CUDA_SUCCESS);
}
