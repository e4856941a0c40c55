/* capture.h - stream captures: what is queued in a stream becomes nodes of a graph.
 *
 * All with the lock held.
 */
#ifndef WSDBG_LIBCUDA_CAPTURE_H
#define WSDBG_LIBCUDA_CAPTURE_H

#include "libcuda/operation.h"

/* The operation becomes a node; takes it, also when this fails. */
CUresult capture_operation(struct stream *stream, struct operation *operation);
/* A graph that is launched into the stream becomes a node; takes it. */
CUresult capture_graph(struct stream *stream, struct graph *graph);
/* cuEventRecord and cuStreamWaitEvent where the stream or the event is of a capture. */
CUresult capture_record(struct stream *stream, struct event *event, unsigned flags);
CUresult capture_wait(struct stream *stream, struct event *event, unsigned flags);
/* The event is recorded outside of captures. */
void capture_forget_event(struct event *event);
void capture_forget_stream(struct stream *stream);
/* A call that a capture cannot have: the capture is invalid from now on.  Returns `result`. */
CUresult capture_spoil(struct capture *capture, CUresult result);
/* What a call gives that would have the legacy stream wait for a captured one, that would wait for all work of the
 * context, or that is not safe while the calling thread's mode forbids it. */
CUresult capture_forbids_legacy(const struct stream *stream);
CUresult capture_forbids_waiting(const struct context *context);
CUresult capture_forbids_unsafe(void);

#endif
