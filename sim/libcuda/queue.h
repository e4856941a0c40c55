/* queue.h - operations in stream order, and the thread that does them.
 *
 * An operation is begun when it is the first of its stream and no operation that it must wait for in other streams is
 * left: by the thread that queues it where that is so at once, else by the context's own.
 */
#ifndef WSDBG_LIBCUDA_QUEUE_H
#define WSDBG_LIBCUDA_QUEUE_H

#include "libcuda/driver.h"

enum operation_kind {
    OPERATION_LAUNCH,
    OPERATION_COPY,
    OPERATION_FILL,
    OPERATION_RECORD,
    OPERATION_WAIT_EVENT,
    OPERATION_CALL,
    OPERATION_FREE,
    OPERATION_WRITE_VALUE,
    OPERATION_WAIT_VALUE
};
enum operation_state { OPERATION_WAITS, OPERATION_RUNS, OPERATION_DONE };

struct launch_operation {
    struct wsdbg_gpu_launch launch; /* its parameters are the operation's own */
    bool is_programmatic;           /* may begin before the launch in front of it is over */
    struct wsdbg_grid_run *run;     /* NULL = not handed to the gpu */
    unsigned char *parameters;
};

/* `depth` slices of `height` rows of `width_bytes`. */
struct copy_operation {
    const unsigned char *from;
    unsigned char *to;
    size_t width_bytes, height, depth;
    size_t from_pitch, to_pitch, from_slice, to_slice;
    void *staged; /* a copy of pageable memory, taken when the operation was queued; NULL = none */
};

struct fill_operation {
    unsigned char *to;
    uint32_t value, value_bytes;       /* 1, 2 or 4 */
    size_t width, height, pitch_bytes; /* width in values */
};

struct call_operation {
    void (*function)(void *user);
    void (*callback)(CUstream stream, CUresult result, void *user); /* of cuStreamAddCallback */
    void *user;
    CUstream stream;
};

struct value_operation {
    uint64_t address, value;
    unsigned bytes, comparison;
};

struct operation {
    struct operation *next; /* of the stream */
    struct operation *next_call;
    struct stream *stream;
    uint64_t sequence;
    enum operation_kind kind;
    enum operation_state state;
    union {
        struct launch_operation launch;
        struct copy_operation copy;
        struct fill_operation fill;
        struct call_operation call;
        struct value_operation value;
        struct mark *mark;
        uint64_t address; /* to free */
    };
};

/* NULL = no memory. */
struct operation *operation_create(enum operation_kind kind);
void operation_destroy(struct operation *operation);

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
/* An operation that was begun is done: takes it off its stream. */
void operation_finish(struct operation *operation);
/* Gives up all that is queued. */
void queue_drop(struct context *context);

/* Tells the context's thread that something may have changed. */
void queue_kick(struct context *context);

/* ---- the context's thread ---- */

/* Warp-instructions between two looks at the queue. */
enum { DEVICE_SLICE_INSTRUCTIONS = 1 << 16 };

struct wsdbg_error *device_thread_start(struct context *context);
/* Ends it, also under a kernel that never ends. */
void device_thread_stop(struct context *context);
/* The context gives `error` from now on. */
void context_fail(struct context *context, CUresult error);

/* ---- functions of the program, called on a thread of their own ---- */

/* False: no thread can be had.  Before an operation is queued. */
bool calls_start(void);
/* Calls them in order; each operation is then done. */
void calls_add(struct operation *operation);
/* Waits until none of the context's is being called. */
void calls_finish(const struct context *context);

/* ---- events ---- */

struct mark *mark_create(void);
void mark_release(struct mark *mark); /* NULL is fine */

/* ---- streams ---- */

/* The stream of this handle in the current context; `per_thread` says which one 0 is. */
CUresult stream_find(struct context *context, CUstream handle, bool per_thread, struct stream **out);
CUresult stream_create(struct context *context, enum stream_kind kind, struct stream **out);
/* Frees those that were destroyed and are done. */
void stream_sweep(struct context *context);

#endif
