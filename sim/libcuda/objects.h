/* objects.h - what handles of the Driver API point to, and the table that says which pointers are handles.
 *
 * A program may hand over anything as a handle: it is looked up before it is followed.
 */
#ifndef WSDBG_LIBCUDA_OBJECTS_H
#define WSDBG_LIBCUDA_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hopper/gpu.h"
#include "libcuda/cuda_types.h"

enum handle_kind {
    HANDLE_NONE,
    HANDLE_CONTEXT,
    HANDLE_MODULE,
    HANDLE_LIBRARY,
    HANDLE_FUNCTION,
    HANDLE_KERNEL,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_POOL,
    HANDLE_PHYSICAL,
    HANDLE_GRAPH,
    HANDLE_GRAPH_NODE,
    HANDLE_GRAPH_EXEC
};

/* Open addressing; capacity is a power of two. */
struct handle_table {
    struct handle_row {
        const void *pointer; /* NULL = free; the table itself = was used */
        enum handle_kind kind;
    } * rows;
    size_t capacity, used; /* with rows that were used */
};

/* False: no memory. */
bool handle_add(struct handle_table *table, const void *pointer, enum handle_kind kind);
void handle_remove(struct handle_table *table, const void *pointer);
/* Whether the pointer is a handle of that kind; it may be any pointer. */
bool handle_is(const struct handle_table *table, const void *pointer, enum handle_kind kind);

/* A program that was parsed: modules and libraries made of it share it. */
struct image {
    unsigned users;
    struct wsdbg_ptx_program *program;
    char *text; /* that it was made of */
    size_t text_bytes;
    uint32_t *registers;   /* a thread, of each function of the program */
    bool *keeps_registers; /* of each function: see struct function */
};

enum { FUNCTION_SHARED_DEFAULT = 48 << 10, FUNCTION_SHARED_MOST = 227 << 10 };

/* What cuFuncSetAttribute changes. */
struct function_settings {
    int max_dynamic_shared, carveout, cluster_policy;
    uint32_t required_cluster[3]; /* 0 = not set */
    bool non_portable_cluster;
};

/* A kernel of a module (CUfunction), or of a library, in no context yet (CUkernel). */
struct function {
    const struct wsdbg_ptx_function *code;
    struct module *module;                            /* NULL of a CUkernel */
    struct library *library;                          /* NULL of a module that was loaded on its own */
    uint32_t registers;                               /* a thread; 0 = not known */
    bool keeps_registers;                             /* its machine code has no setmaxnreg: ptxas ignored the PTX's */
    struct function_settings own_settings, *settings; /* of a library's function: those of its CUkernel */
};

/* A program's kernels, in its order. */
struct kernel_set {
    struct function *rows;
    size_t count;
};

struct module {
    struct module *next; /* of the context */
    struct context *context;
    struct image *image;
    struct library *library; /* that it was made for, NULL = loaded on its own */
    struct wsdbg_gpu_module *gpu_module;
    struct kernel_set functions;
};

struct library {
    struct image *image;
    struct kernel_set kernels;
};

/* Nodes of a graph, each once. */
struct node_list {
    struct graph_node **rows;
    size_t count;
};

enum stream_kind {
    STREAM_LEGACY,       /* ordered with all blocking streams */
    STREAM_BLOCKING,     /* made by the program, or a thread's default stream */
    STREAM_NON_BLOCKING, /* ordered with no other */
    STREAM_EVERYTHING    /* its operations wait for all earlier ones of the context; nothing waits for them */
};

struct stream {
    struct stream *next; /* of the context */
    struct context *context;
    enum stream_kind kind;
    unsigned flags;
    int priority;
    uint64_t id;
    uint64_t thread; /* whose default stream it is, 0 = nobody's */
    struct operation *first, *last;
    unsigned waiting;        /* threads that wait for it */
    struct capture *capture; /* that what is queued goes to, NULL = none */
    struct node_list tails;  /* of a capture: nodes that the next one depends on */
    bool is_destroyed;
};

/* What cuEventRecord leaves: shared by the event, the operation that reaches it and operations that wait for it. */
struct mark {
    unsigned users;
    bool is_done, is_lost; /* lost: given up, so nobody waits for it any more */
    uint64_t time_ns;      /* simulated */
};

struct event {
    struct event *next; /* of the context */
    struct context *context;
    unsigned flags;
    struct mark *mark;      /* of the last record, NULL = never recorded */
    uint64_t capture;       /* number of the capture of the last record, 0 = of none */
    struct node_list nodes; /* that the record stands for */
};

/* Memory pools are accounts only: memory comes from the gpu. */
struct pool {
    uint64_t values[9]; /* by CUmemPool_attribute; what is reserved is what is used */
};

/* An allocation of which more is to be known than where it lies. */
struct noted_memory {
    struct noted_memory *next; /* of the context */
    uint64_t address;
    bool is_managed;
    struct pool *pool; /* NULL = of none, or the pool is gone */
};

struct context {
    struct context *next; /* of the driver */
    uint64_t id;
    unsigned flags, api_version;
    bool is_primary, is_destroyed, is_stopping;
    CUresult failure; /* sticky: every later call gives it */
    struct wsdbg_gpu *gpu;
    pthread_t thread; /* executes kernels and what is queued behind them */
    pthread_cond_t work;
    uint64_t kicks;    /* grows with everything that an idle device might go on with */
    uint64_t running;  /* grids handed to the gpu that are not over */
    size_t races_told; /* see races.h */
    struct module *modules;
    struct stream *streams, *legacy, *everything;
    struct event *events;
    struct noted_memory *noted;
    size_t limits[10];
    int cache_config, shared_config;
    uint64_t allocated_bytes;
    unsigned char *state; /* the file that shows the device to wsdbg, NULL = none is there; see state_file.h */
    bool state_failed;
    uint64_t works_said_ns;  /* when wsdbg was last told that instructions are executed (CLOCK_MONOTONIC) */
    bool is_deadlocked;      /* proven of all that runs: only another launch can change that */
    uint64_t slice_began_ns; /* when the device's thread last began to execute */
};

#endif
