/* driver.h - the stand-in for NVIDIA's driver: its one struct, its objects, and what its parts offer each other.
 *
 * One lock (driver.lock) guards everything here but the contents of device memory and of programs, which nobody
 * changes.  It is never held while a kernel executes, memory is copied or a function of the program is called.
 * `driver.progress` is broadcast when an operation is done, a context fails or an object goes away.
 */
#ifndef WSDBG_LIBCUDA_DRIVER_H
#define WSDBG_LIBCUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "hopper/gpu.h"
#include "libcuda/cuda_types.h"
#include "libcuda/objects.h"

enum { DRIVER_VERSION = 13000, DRIVER_CONTEXT_STACK = 32, DRIVER_LIMITS = 10 };

/* A function that programs call: exported, and found by cuGetProcAddress. */
struct driver_entry {
    const char *name;
    void (*address)(void);
};

#define ENTRY(symbol, ...)                                                                      \
    __attribute__((visibility("default"))) CUresult symbol(__VA_ARGS__);                        \
    __attribute__((section("wsdbg_entries"), used)) static struct driver_entry row_##symbol = { \
        #symbol, (void (*)(void))symbol};                                                       \
    CUresult symbol(__VA_ARGS__)

/* The two forms of a function that takes a stream, or uses the default one: stream 0 is the legacy default stream, or
 * (with the suffix _ptsz, _ptds) the calling thread's.  `body` is called with the arguments, then with which it is. */
#define PARAMETERS(...) __VA_ARGS__
#define STREAM_ENTRY(symbol, suffix, parameters, body, ...) \
    ENTRY(symbol, PARAMETERS parameters)                    \
    {                                                       \
        return body(__VA_ARGS__, false);                    \
    }                                                       \
    ENTRY(symbol##suffix, PARAMETERS parameters)            \
    {                                                       \
        return body(__VA_ARGS__, true);                     \
    }

enum host_memory_kind {
    HOST_MEMORY_REGISTERED,
    HOST_MEMORY_ALLOCATED, /* cuMemHostAlloc */
    HOST_MEMORY_MAPPING    /* cuMemMap: to the program it is the device's */
};

/* Host memory that kernels may use. */
struct host_memory {
    struct host_memory *next;
    void *address;
    size_t byte_count;
    unsigned flags;
    enum host_memory_kind kind;
};

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t progress;
    bool is_initialized;
    struct wsdbg_gpu_options gpu_options;
    struct handle_table handles;
    struct context *contexts; /* also destroyed ones: threads may still have them on their stacks */
    struct context *primary;  /* NULL = not made yet, or reset */
    unsigned primary_users, primary_flags;
    struct host_memory *host_memory;
    struct reservation *reservations;
    struct mapping *mappings;
    uint64_t sequence; /* of operations */
    uint64_t next_id;  /* of contexts, streams */
    struct host_calls *calls;
    struct pool *default_pool, *current_pool; /* NULL = nobody asked yet; the default one */
    unsigned missing_kernels_said;
    struct exploration *exploration; /* NULL = launches run once, as usual */
};

extern struct driver driver;

void driver_lock(void);
void driver_unlock(void);
/* Waits for driver.progress; the lock is held. */
void driver_wait(void);

/* One line on stderr, "wsdbg simulator: ...". */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says the error's message, destroys the error. */
void driver_say_error(const char *what, struct wsdbg_error *error);

/* The beginning of nearly every entry point: cuInit was called, in this process, and not from within a host function.
 */
CUresult driver_ready(void);
/* The same, and the calling thread has a context that lives and has not failed; takes the lock on success. */
CUresult driver_enter(struct context **out);
/* Without a context: takes the lock, unless the handle is none of its kind. */
CUresult driver_enter_handle(const void *handle, enum handle_kind kind);
/* Gives the lock back; returns `result`, so that it can end a function. */
CUresult driver_leave(CUresult result);

/* A thread of the stand-in's own; it takes none of the program's signals.  name: 15 characters at most. */
struct wsdbg_error *driver_thread(const char *name, void *(*body)(void *), void *argument, pthread_t *out);

/* Set on threads that call functions of the program for the stand-in. */
void driver_forbid_calls(void);
/* Called in a process that was forked: when cuInit was called before, the driver cannot be used there. */
void driver_in_child(void);
bool driver_is_child(void);

#endif
