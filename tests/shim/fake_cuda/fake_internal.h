/* fake_internal.h - what the parts of the fake libcuda share: objects behind handles, and the frame of every call.
 *
 * fake_cuda.c has start, devices and contexts; fake_address.c cuGetProcAddress; fake_module.c modules and functions;
 * fake_memory.c memory; fake_shared.c memory that others may write, and work for streams; fake_launch.c streams,
 * launches and captures; fake_kernel.c what the kernels do; fake_debug.c and fake_debugged.c the debug interface.
 */
#ifndef WSDBG_TESTS_FAKE_INTERNAL_H
#define WSDBG_TESTS_FAKE_INTERNAL_H

#include <stdint.h>

#include "driver_api.h"
#include "fake_cuda.h"
#include "wsdbg/ring.h"

#define EXPORT __attribute__((visibility("default")))

enum fake_kind {
    DEAD = 0xdead,
    CONTEXT = 0xc0de01,
    MODULE,
    LIBRARY,
    KERNEL,
    FUNCTION,
    STREAM,
    GRAPH,
    MEMORY,
    EVENT,
    NODE
};

struct context {
    uint32_t kind;
    int device;
    int error;              /* sticky */
    uint64_t busy_until_ns; /* some stream of it */
};

struct module {
    uint32_t kind; /* MODULE */
    struct context *context;
    int probed, is_ptx;
    struct wsdbg_config config;
    struct wsdbg_name names[8];
    int name_count;
    struct function *functions[8];
    int function_count;
};

struct function {
    uint32_t kind;
    struct module *module;
    char name[512];
    uint32_t count; /* events written so far */
};

struct library {
    uint32_t kind;
    char *image;
    struct module *in[16]; /* one module per context that used it */
    struct kernel *kernels[8];
    int kernel_count;
};

struct kernel {
    uint32_t kind;
    struct library *library;
    char name[64];
};

struct stream {
    uint32_t kind;
    uint64_t busy_until_ns;
    struct graph *capture;
};

struct event {
    uint32_t kind;
    struct context *context;
    uint64_t done_ns;
};

struct graph_node {
    uint32_t kind;
    struct cu_kernel_node kernel;
    uint32_t cluster[3];
    struct graph *inner; /* of a node that runs a graph, else NULL */
};

struct graph {
    uint32_t kind;
    struct graph_node nodes[4];
    size_t node_count;
    struct function *functions[64];
    int count;
};

/* Every call begins here: counts it, and fails, hangs or crashes where the environment asks for that. */
int fake_enter(const char *name);
void fake_log(const char *name, int result);
/* The caller broke a rule: says so and ends the process. */
_Noreturn void fake_complain(const char *what);
/* `handle` if it is a living object of the kind; complains otherwise. */
void *fake_need(void *handle, uint32_t kind, const char *call);
/* 0, or what the driver answers to a call that is not allowed while a stream is captured. */
int fake_unsafe(void);
struct context *fake_current(void);
/* 0, or why nothing can be done in the current context. */
int fake_context_error(void);
uint64_t fake_now_ns(void);
/* The function of that name, NULL = none. */
struct function *fake_function(struct module *module, const char *name);
/* The library's module in the current context. */
struct module *fake_library_module(struct library *library);
/* What the kernel does to the GPU, the stream and its context. */
void fake_kernel_run(struct function *function, struct stream *stream);

/* ---- fake_debugged.c: what an attached debugger changes ---- */
/* The file of FAKE_DEBUG_STATE; complains where there is none. */
struct fake_gpu *fake_gpu(void);
uint64_t fake_debug_now_ns(void); /* CLOCK_MONOTONIC */
/* True shortly after a resume, when the resumed kernels may not run yet. */
int fake_debug_is_too_soon(void);
/* A call of the program that loads an image. */
void fake_debug_load(void);
/* In a debugger: fake_gpu() is from now on the GPU of the program that let it in. */
void fake_debug_find_gpu(void);
/* A launch of the program, or of the observer's. */
void fake_debug_launch(void);
/* A kernel has faulted.  True: a debugger is attached, and the driver forgets the error. */
int fake_debug_takes_fault(void);
/* So long the driver is then busy with it. */
uint64_t fake_debug_handled_ns(void);
/* A kernel of the observer's has brought an error again. */
void fake_debug_brought(void);
/* Whether an exception has stopped the GPU, and whether what it is given waits for the debugger to leave. */
int fake_debug_is_halted(void);
int fake_debug_holds_back(void);
/* What an event takes on a GPU that has nothing else of this program to do. */
uint64_t fake_debug_event_ns(void);

/* ---- fake_events.c: what wakes the driver's event thread ---- */
enum fake_event { FAKE_WORK_ENDED, FAKE_KERNEL_FAILED, FAKE_EVENT_KINDS };
void fake_events_tell(enum fake_event kind);

#define FAKE(name, parameters, arguments)    \
    EXPORT CUresult name parameters;         \
    static CUresult impl_##name parameters;  \
    EXPORT CUresult name parameters          \
    {                                        \
        CUresult result = fake_enter(#name); \
        if (!result)                         \
            result = impl_##name arguments;  \
        fake_log(#name, result);             \
        return result;                       \
    }                                        \
    static CUresult impl_##name parameters

#endif
