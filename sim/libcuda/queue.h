/* queue.h - operations (operation.h) in stream order, and the thread that does them.
 *
 * An operation is begun when it is the first of its stream and no operation that it must wait for in other streams is
 * left: by the thread that queues it where that is so at once, else by the context's own.
 */
#ifndef WSDBG_LIBCUDA_QUEUE_H
#define WSDBG_LIBCUDA_QUEUE_H

#include "libcuda/operation.h"

/* All of these with the lock held; they may give it up in between. */

/* Queues the operation, which the stream then owns, also when this fails. */
CUresult queue_add(struct stream *stream, struct operation *operation);
/* The same, and waits until it is done. */
CUresult queue_add_and_wait(struct stream *stream, struct operation *operation);
/* Waits until all that is in the stream now, or in any stream of the context, is done. */
CUresult queue_wait(struct stream *stream);
CUresult queue_wait_all(struct context *context);
/* Waits until no launch of the module is left, with all that is queued now; what the context's state is then. */
CUresult queue_wait_for_module(struct context *context, const struct wsdbg_gpu_module *module);
/* Whether the allocation is to be given back by what is queued. */
bool queue_frees(const struct context *context, uint64_t address);
bool queue_is_idle(const struct stream *stream);
/* Begins what can be begun; true when anything was. */
bool queue_begin(struct context *context);
/* Takes operations whose launches are over off their streams. */
void queue_collect(struct context *context);
/* Gives up all that is queued. */
void queue_drop(struct context *context);
/* The context gives `error` from now on; gives up all that is queued. */
void context_fail(struct context *context, CUresult error);

/* ---- the context's thread ---- */

/* Warp-instructions between two looks at the queue. */
enum { DEVICE_SLICE_INSTRUCTIONS = 1 << 16 };

struct wsdbg_error *device_thread_start(struct context *context);
/* Ends it, also under a kernel that never ends. */
void device_thread_stop(struct context *context);

/* ---- functions of the program, called on a thread of their own ---- */

/* False: no thread can be had.  Before an operation is queued. */
bool calls_start(void);
/* Calls them in order; each operation is then done. */
void calls_add(struct operation *operation);
/* Waits until none of the context's is being called. */
void calls_finish(const struct context *context);

/* ---- streams ---- */

/* The stream of this handle in the current context; `per_thread` says which one 0 is. */
CUresult stream_find(struct context *context, CUstream handle, bool per_thread, struct stream **out);
/* Enters as driver_enter does and finds the stream.  With an error the lock is not held. */
CUresult stream_enter(CUstream handle, bool per_thread, struct stream **out);
CUresult stream_create(struct context *context, enum stream_kind kind, struct stream **out);
/* Frees those that were destroyed and are done. */
void stream_sweep(struct context *context);

#endif
