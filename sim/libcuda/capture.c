/* capture.c - see capture.h; and the calls that begin, end and describe captures.
 *
 * Each captured stream has the nodes that its next node depends on.  An event that was recorded there stands for them;
 * a stream that waits for it joins the capture.  Reads and writes: streams, events, graphs.
 */
#include "libcuda/capture.h"

#include <stdlib.h>

#include "libcuda/context.h"
#include "libcuda/graph.h"
#include "libcuda/image.h"
#include "libcuda/queue.h"

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };
enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALIDATED };
enum { WAIT_EXTERNAL = 1, RECORD_EXTERNAL = 1 };

struct capture {
    struct graph *graph;
    struct stream *origin;
    uint64_t id, thread;
    int mode;
    bool is_spoiled, is_given; /* given: the graph is the program's own */
};

static _Thread_local int thread_mode;

CUresult capture_spoil(struct capture *capture, CUresult result)
{
    capture->is_spoiled = true;
    return result;
}

/* The node comes behind what the stream has, and is what its next one comes behind. */
static CUresult add_node(struct stream *stream, int type, struct operation *operation, struct graph_node **out)
{
    struct capture *capture = stream->capture;
    if (capture->is_spoiled) {
        operation_destroy(operation);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    struct graph_node *node = graph_add(capture->graph, type, operation, &stream->tails);
    if (!node)
        return capture_spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    node_list_clear(&stream->tails);
    if (!node_list_add(&stream->tails, node))
        return capture_spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (out)
        *out = node;
    return CUDA_SUCCESS;
}

static int type_of(const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_LAUNCH:
        return CU_GRAPH_KERNEL;
    case OPERATION_COPY:
        return CU_GRAPH_MEMCPY;
    case OPERATION_FILL:
        return CU_GRAPH_MEMSET;
    case OPERATION_CALL:
        return operation->call.function ? CU_GRAPH_HOST : -1;
    case OPERATION_WRITE_VALUE:
    case OPERATION_WAIT_VALUE:
        return CU_GRAPH_BATCH_MEM_OP;
    default:
        return -1;
    }
}

CUresult capture_operation(struct stream *stream, struct operation *operation)
{
    const int type = type_of(operation);
    if (type >= 0)
        return add_node(stream, type, operation, NULL);
    operation_destroy(operation);
    return capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult capture_graph(struct stream *stream, struct graph *graph)
{
    struct graph_node *node;
    const CUresult result = add_node(stream, CU_GRAPH_GRAPH, NULL, &node);
    if (result != CUDA_SUCCESS) {
        graph_destroy(graph);
        return result;
    }
    node->child = graph;
    graph->parent = node;
    return result;
}

void capture_forget_event(struct event *event)
{
    event->capture = 0;
    node_list_clear(&event->nodes);
}

static CUresult add_event_node(struct stream *stream, int type, struct event *event)
{
    struct graph_node *node;
    const CUresult result = add_node(stream, type, NULL, &node);
    if (result == CUDA_SUCCESS)
        node->event = event;
    return result;
}

CUresult capture_record(struct stream *stream, struct event *event, unsigned flags)
{
    struct capture *capture = stream->capture;
    if (flags & RECORD_EXTERNAL)
        return add_event_node(stream, CU_GRAPH_EVENT_RECORD, event);
    if (capture->is_spoiled)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!node_list_set(&event->nodes, &stream->tails))
        return capture_spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    event->capture = capture->id;
    return CUDA_SUCCESS;
}

static struct capture *find_capture(uint64_t id)
{
    for (const struct context *context = driver.contexts; context; context = context->next)
        for (const struct stream *stream = context->streams; stream; stream = stream->next)
            if (stream->capture && stream->capture->id == id)
                return stream->capture;
    return NULL;
}

static CUresult join(struct stream *stream, struct event *event)
{
    struct capture *capture = find_capture(event->capture);
    if (!capture || capture->is_spoiled)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->kind == STREAM_LEGACY)
        return capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (stream->capture && stream->capture != capture) {
        stream->capture->is_spoiled = true;
        return capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    stream->capture = capture;
    for (size_t i = 0; i < event->nodes.count; i++)
        if (!node_list_add(&stream->tails, event->nodes.rows[i]))
            return capture_spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    return CUDA_SUCCESS;
}

CUresult capture_wait(struct stream *stream, struct event *event, unsigned flags)
{
    if (stream->capture && flags & WAIT_EXTERNAL)
        return add_event_node(stream, CU_GRAPH_WAIT_EVENT, event);
    if (event->capture)
        return join(stream, event);
    return event->mark ? capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
}

/* ---- what captures forbid ---- */

CUresult capture_forbids_legacy(const struct stream *stream)
{
    if (stream->kind != STREAM_LEGACY)
        return CUDA_SUCCESS;
    for (const struct stream *other = stream->context->streams; other; other = other->next)
        if (other->capture && other->kind == STREAM_BLOCKING)
            return capture_spoil(other->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return CUDA_SUCCESS;
}

CUresult capture_forbids_waiting(const struct context *context)
{
    for (const struct stream *stream = context->streams; stream; stream = stream->next)
        if (stream->capture)
            return capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return CUDA_SUCCESS;
}

/* A capture forbids calls of other threads in mode GLOBAL, of its own in all modes but RELAXED. */
CUresult capture_forbids_unsafe(void)
{
    const uint64_t thread = context_thread();
    for (const struct context *context = driver.contexts; context; context = context->next)
        for (const struct stream *stream = context->streams; stream; stream = stream->next) {
            struct capture *capture = stream->capture;
            if (!capture || capture->mode == MODE_RELAXED || thread_mode == MODE_RELAXED)
                continue;
            if (capture->thread == thread || (capture->mode == MODE_GLOBAL && thread_mode == MODE_GLOBAL))
                return capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
    return CUDA_SUCCESS;
}

/* ---- begin and end ---- */

/* All streams leave the capture, which is freed. */
static void end(struct capture *capture)
{
    for (struct context *context = driver.contexts; context; context = context->next) {
        for (struct stream *stream = context->streams; stream; stream = stream->next)
            if (stream->capture == capture) {
                stream->capture = NULL;
                node_list_clear(&stream->tails);
            }
        for (struct event *event = context->events; event; event = event->next)
            if (event->capture == capture->id)
                node_list_clear(&event->nodes);
    }
    free(capture);
}

void capture_forget_stream(struct stream *stream)
{
    struct capture *capture = stream->capture;
    node_list_clear(&stream->tails);
    stream->capture = NULL;
    if (!capture || capture->origin != stream)
        return;
    if (!capture->is_given)
        graph_destroy(capture->graph);
    end(capture);
}

static CUresult begin(struct stream *stream, int mode, struct graph *given, const struct node_list *behind)
{
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->kind == STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *capture = calloc(1, sizeof *capture);
    struct graph *graph = given ? given : graph_create();
    if (!capture || !graph || (behind && !node_list_set(&stream->tails, behind))) {
        free(capture);
        if (!given)
            graph_destroy(graph);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct capture){.graph = graph,
                                .origin = stream,
                                .id = ++driver.next_id,
                                .thread = context_thread(),
                                .mode = mode,
                                .is_given = given != NULL};
    graph->is_hidden = true;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream handle, int mode, bool per_thread)
{
    struct stream *stream;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    return result == CUDA_SUCCESS ? driver_leave(begin(stream, mode, NULL, NULL)) : result;
}

STREAM_ENTRY(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, int mode), begin_capture, stream, mode)
STREAM_ENTRY(cuStreamBeginCapture, _ptsz, (CUstream stream), begin_capture, stream, MODE_GLOBAL)

static CUresult begin_in_graph(CUstream handle, CUgraph graph, CUgraphNode *before, const struct cu_edge *edges,
                               size_t count, int mode, bool per_thread)
{
    struct stream *stream;
    const struct node_list list = {before, count};
    (void)edges;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle_is(&driver.handles, graph, HANDLE_GRAPH) || graph->is_hidden || (count && !before))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!handle_is(&driver.handles, before[i], HANDLE_GRAPH_NODE) || before[i]->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
    return driver_leave(result == CUDA_SUCCESS ? begin(stream, mode, graph, &list) : result);
}

STREAM_ENTRY(cuStreamBeginCaptureToGraph, _ptsz,
             (CUstream stream, CUgraph graph, CUgraphNode *before, const struct cu_edge *edges, size_t count, int mode),
             begin_in_graph, stream, graph, before, edges, count, mode)

/* Marks the nodes of the list and all that come before them. */
static void mark_before(const struct capture *capture, const struct node_list *list)
{
    for (struct graph_node *node = capture->graph->first; node; node = node->next)
        node->number = node_list_has(list, node);
    for (bool changed = true; changed;) {
        changed = false;
        for (struct graph_node *node = capture->graph->first; node; node = node->next)
            for (size_t i = 0; node->number && i < node->before.count; i++)
                if (!node->before.rows[i]->number) {
                    node->before.rows[i]->number = 1;
                    changed = true;
                }
    }
}

/* Whether all that other streams do in the capture is done before what the first stream would do next. */
static bool is_joined(const struct capture *capture)
{
    mark_before(capture, &capture->origin->tails);
    for (const struct context *context = driver.contexts; context; context = context->next)
        for (const struct stream *stream = context->streams; stream; stream = stream->next)
            for (size_t i = 0; stream->capture == capture && i < stream->tails.count; i++)
                if (!stream->tails.rows[i]->number)
                    return false;
    return true;
}

static CUresult end_capture(CUstream handle, CUgraph *out, bool per_thread)
{
    struct stream *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct capture *capture = stream->capture;
    if (!capture || !out)
        return driver_leave(capture ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE);
    if (capture->origin != stream)
        return driver_leave(capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    if (capture->mode != MODE_RELAXED && capture->thread != context_thread())
        return driver_leave(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    result = capture->is_spoiled   ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
             : !is_joined(capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                   : CUDA_SUCCESS;
    capture->graph->is_hidden = false;
    *out = result == CUDA_SUCCESS ? capture->graph : NULL;
    if (result != CUDA_SUCCESS && !capture->is_given)
        graph_destroy(capture->graph);
    end(capture);
    return driver_leave(result);
}

STREAM_ENTRY(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph *graph), end_capture, stream, graph)

/* ---- what a capture is ---- */

static CUresult get_info(CUstream handle, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes, void **edges,
                         size_t *count, bool per_thread)
{
    struct stream *stream;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!status)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (stream->kind == STREAM_LEGACY && capture_forbids_legacy(stream) != CUDA_SUCCESS)
        return driver_leave(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    const struct capture *capture = stream->capture;
    *status = !capture ? STATUS_NONE : capture->is_spoiled ? STATUS_INVALIDATED : STATUS_ACTIVE;
    if (id)
        *id = capture ? capture->id : 0;
    if (graph)
        *graph = *status == STATUS_ACTIVE ? capture->graph : NULL;
    if (nodes)
        *nodes = *status == STATUS_ACTIVE ? stream->tails.rows : NULL;
    if (edges)
        *edges = NULL;
    if (count)
        *count = *status == STATUS_ACTIVE ? stream->tails.count : 0;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamIsCapturing, _ptsz, (CUstream stream, int *status), get_info, stream, status, NULL, NULL, NULL,
             NULL, NULL)
STREAM_ENTRY(cuStreamGetCaptureInfo, _ptsz, (CUstream stream, int *status, uint64_t *id), get_info, stream, status, id,
             NULL, NULL, NULL, NULL)
STREAM_ENTRY(cuStreamGetCaptureInfo_v2, _ptsz,
             (CUstream stream, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes, size_t *count), get_info,
             stream, status, id, graph, nodes, NULL, count)
STREAM_ENTRY(cuStreamGetCaptureInfo_v3, _ptsz,
             (CUstream stream, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes, void **edges,
              size_t *count),
             get_info, stream, status, id, graph, nodes, edges, count)

ENTRY(cuThreadExchangeStreamCaptureMode, int *mode)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
