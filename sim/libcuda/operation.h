/* operation.h - what a stream is given to do: launches, copies, marks of events, functions to call.
 *
 * An operation is its stream's from queue_add (queue.h) until it is done or given up.
 */
#ifndef WSDBG_LIBCUDA_OPERATION_H
#define WSDBG_LIBCUDA_OPERATION_H

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
    struct function *function;
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
/* Of a launch, a copy, a fill, a call or a write.  NULL = no memory. */
struct operation *operation_copy(const struct operation *operation);
void operation_destroy(struct operation *operation);
/* An operation that was begun is done: takes it, and what is done behind it, off the front of its stream.  With the
 * lock held. */
void operation_finish(struct operation *operation);

/* With one user; NULL = no memory. */
struct mark *mark_create(void);
void mark_release(struct mark *mark); /* NULL is fine */

/* Tells the context's thread that something may have changed.  With the lock held. */
void queue_kick(struct context *context);

#endif
