/* shim.h - what the parts of the preloaded library share.
 *
 * Rules of this room (the library runs inside somebody else's process): it never exits, aborts, prints to
 * stdout, blocks across a driver call, holds a lock across one, synchronises the app's streams, changes errno
 * or what a driver call returns.  Bounded waits are the exception: debug_attach_wait (also for calls that make or
 * end a context), debug_attach_await, debug_attach_confirm, debug_fault_result, tracking_close_begin, observer_capture,
 * and at exit() debug_attach_stop, 1.3 s at most while somebody is attached, and hold_for_dump, while wsdbg waits for a
 * GPU core dump of the process.  So is one result: debug_fault_result gives the error that an attached inspector has
 * made the driver forget.  On trouble of its own: one line on stderr, switched off, calls forwarded.
 *
 * Parts: interpose.c finds libcuda and gives out the wrappers of hooks.c; hooks.c calls tracking.c, which
 * follows contexts, modules and functions, allocations.c, which follows memory, and work.c; ring_setup.c and copy_thread.c serve probed modules; markers.c tells
 * whether work gets done, host_threads.c whether the program's threads do; refusals.c tells what the driver refused;
 * graph_kernels.c which kernels graphs hold;
 * registry.c and segment.c write the shared segment; loader.c and sanitizers.c keep programs with a sanitizer as they are.
 */
#ifndef WSDBG_SHIM_H
#define WSDBG_SHIM_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"
#include "driver_api.h"
#include "observer.h"
#include "hook_table.h"

#define SHIM_EXPORT __attribute__((visibility("default")))
#define SHIM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

enum shim_state {
    SHIM_ASLEEP = 0, /* no session: forward only */
    SHIM_AWAKE = 1,  /* a session, no segment yet */
    SHIM_ON = 2,     /* recording */
    SHIM_OFF = 3,    /* switched itself off: forward only */
    SHIM_ASIDE = 4,  /* will have to, at the first use of CUDA */
};

/* ---- control.c: state, text, fork ---- */
extern _Atomic int shim_state;
extern _Atomic bool shim_exiting; /* exit() has begun: no new driver calls of our own */

/* Reads the environment once; the constructor's work. */
void shim_start(void);
/* One line on stderr, off_reason in the segment when there is one, and no recording from here on. */
void shim_off(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A new file for the reason why this process is not watched; -1 = there is none. */
int shim_open_reason(int access);
/* One line on stderr. */
void shim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True when calls are to be recorded; creates the segment at the first call.  Never true inside our own calls. */
bool shim_recording(void);
uint64_t shim_now_ns(void);
uint32_t shim_thread_id(void);
/* `fd`, which was just opened, moved above the numbers of the standard streams: a program that has closed one of those
 * must not write to, read from or close what is ours.  It is closed on exec.  -1 stays -1; errno is kept. */
int shim_above_streams(int fd);

/* Around a write of our own: a closed pipe or a file-size limit must not end the app by SIGPIPE or SIGXFSZ. */
struct shim_signals {
    sigset_t mine, before;
};
void shim_signals_off(struct shim_signals *kept);
void shim_signals_on(const struct shim_signals *kept);

/* Above zero while this thread is inside a hooked driver call or one of ours: nested calls are not recorded. */
extern SHIM_THREAD_LOCAL int shim_depth;

/* A lock that is never held across a driver call. */
void shim_lock(void);
void shim_unlock(void);

/* ---- own_threads.c ---- */
/* Sleeps `us` microseconds; errno is kept. */
void shim_sleep_us(unsigned us);
/* Starts a detached thread that takes no signals.  When `serve` returns it rests for ever. */
bool shim_start_thread(void *(*serve)(void *));
/* Such a thread's first call: nothing that it does is the app's, and its name says so. */
void shim_thread_is_ours(void);
/* None of them does anything any more, as far as they can be brought to it in 0.3 s. */
void shim_put_threads_to_rest(void);
/* In a forked child: they are its parent's. */
void shim_threads_forget(void);

/* ---- stand_aside.c ---- */
/* The program is about to limit its own system calls: from here on there are none of ours, on no thread. */
void shim_stand_aside(void);
/* It uses CUDA after it has: wsdbg is told, without a system call. */
void stand_aside_tell(void);
/* This process is one of its own: called at the start, and in a forked child. */
void stand_aside_is_process(void);
/* Whether the thread's calls are limited more than wsdbg's are. */
bool stand_aside_is_limited(void);

/* ---- segment.c ---- */
/* The segment, NULL before it is created. */
extern struct wsdbg_segment *_Atomic shim_segment;
/* Creates the fixed part.  False: `why` (WSDBG_TEXT_BYTES) says what went wrong. */
bool segment_create(const char *session, uint64_t limit_bytes, char *why);
/* Appends `bytes` of zeroed, page-aligned memory.  Caller holds the lock. */
bool segment_grow(uint64_t bytes, uint64_t *offset, void **memory, char *why);
/* Bytes that segment_grow may still add. */
uint64_t segment_room_bytes(void);

/* ---- segment_file.c ---- */
enum segment_place { SEGMENT_IN_MEMORY, SEGMENT_IN_SPOOL };
enum segment_place segment_file_first_place(void);
/* Creates this process's file and remembers its name.  -1: it is not there; `why` says so if it was empty. */
int segment_file_create(enum segment_place place, const char *session, char *why);
/* The file that was created last: opened for writing, removed, its name. */
int segment_file_open(void);
void segment_file_remove(void);
const char *segment_file_name(void);
/* The file of another process, opened for reading; -1 = there is none. */
int segment_file_open_of(const char *session, int process);
/* 0 = not known. */
uint64_t segment_file_pid_namespace(void);
/* What another program left that this process executed before, or that had its number: wsdbg is told, the name is
 * free. */
void segment_file_leave_earlier(const char *session);
/* The wsdbg that watched has ended and removed its folder. */
bool segment_file_session_is_over(const char *session);

/* ---- region.c ---- */
/* True when region_take can succeed. */
bool region_fits(uint64_t bytes);
/* `bytes` of zeroed segment memory for the ring of context row `context`; false: `why` says what is missing. */
bool region_take(uint32_t context, uint64_t bytes, uint64_t *offset, void **memory, char *why);

/* ---- registry.c: rows of the segment; every function is safe from any thread ---- */
/* The caller's copy of the row is published at the next index; WSDBG_UNKNOWN32 when the table is full. */
uint32_t registry_add_context(const struct wsdbg_context_row *row);
uint32_t registry_add_module(const struct wsdbg_module_row *row);
/* An equal (handle, module) pair is found again instead. */
uint32_t registry_add_function(const struct wsdbg_function_row *row);
/* Rows [*first, *first + return) of the name table hold `names`. */
uint32_t registry_add_names(const struct wsdbg_name *names, uint32_t count, uint32_t *first);
/* Records a launch before it happens (result pending); returns its entry number, UINT64_MAX when lost. */
uint64_t registry_launch_begin(const struct wsdbg_launch_row *row);
void registry_launch_end(uint64_t entry, CUresult result);
/* Marks this thread as inside `call` (a string that lives for ever). */
void registry_thread_enter(const char *call, uint32_t context, uint64_t stream, uint64_t now_ns);
void registry_thread_leave(void);
/* True while some thread has been inside a launch since before `since_ns`: the context's queue is full. */
bool registry_launch_is_blocked(uint64_t since_ns);

/* ---- interpose.c ---- */
extern struct wsdbg_driver shim_driver; /* valid once interpose_ready() */
bool interpose_ready(void);             /* libcuda is loaded and every needed call was found */
/* Anything that libcuda exports, NULL when it does not.  For threads of our own: it may leave a dlerror(). */
void *interpose_libcuda_symbol(const char *name);
/* The hook's real function in libcuda, NULL when there is none. */
void *interpose_real(enum wsdbg_hook_id id);
/* Where the exported symbol forwards to: another preloaded interposer, or libcuda. */
void *interpose_next(enum wsdbg_hook_id id);
/* What the app gets for `pointer`, which the driver returned for `symbol`. */
void *interpose_replace(const char *symbol, int version, uint64_t flags, void *pointer);
/* ---- hooks.c: the wrappers, by row ---- */
extern void *const hook_wrapper[WSDBG_HOOK_COUNT];  /* what dlsym and cuGetProcAddress give out */
extern void *const hook_exported[WSDBG_HOOK_COUNT]; /* the exported symbols */
extern const char *const hook_name[WSDBG_HOOK_COUNT];

/* ---- graph_kernels.c: which kernels a graph launch carries ---- */
/* A graph was made ready to run as `exec`: its nodes are read. */
void graph_kernels_made(const void *exec, CUgraph graph, uint32_t context);
/* `exec` holds from now on what `graph` does. */
void graph_kernels_updated(const void *exec, CUgraph graph, uint32_t context);
/* A node of `exec` has other parameters from now on; kernel NULL = what they are is not known. */
void graph_kernels_changed(const void *exec, void *node, const struct cu_kernel_node *kernel, uint32_t context);
/* The number of what `exec` holds now, 0 = not known; *partly as WSDBG_LAUNCH_GRAPH_PARTLY, left alone for 0. */
uint32_t graph_kernels_of(const void *exec, bool *partly);
/* False: the driver does not tell. */
bool graph_kernel_read(void *node, struct cu_kernel_node *out);
/* As the driver was given it: CUfunction or CUkernel. */
CUfunction graph_kernel_function(const struct cu_kernel_node *kernel);

/* ---- observer.c ---- */
/* A stream capture begins (1; called before the driver is) or ended (-1) in this process. */
void observer_capture(int change);
/* Whether some stream is captured now. */
bool observer_is_capturing(void);
/* What is put into the stream now goes into a graph. */
bool observer_is_captured(CUstream stream);
/* Between the two nothing is captured.  False, and no end then, while something is: a capture must not see a marker. */
bool observer_marking_begin(void);
void observer_marking_end(void);

/* ---- work.c: what contexts were given to do ---- */
enum work_kind { WORK_COPY, WORK_MEMSET, WORK_OTHER };
/* A call that began then gave the context a kernel or a graph; something else. */
void work_launched(uint32_t context, uint64_t began_ns);
void work_given(uint32_t context, enum work_kind kind, uint64_t began_ns);

/* ---- tracking.c: contexts, modules, functions as this process knows them ---- */
enum ring_state { RING_NONE, RING_BUSY, RING_READY, RING_FAILED };
struct shim_context {
    _Atomic uint64_t handle; /* 0 = free or destroyed */
    _Atomic int closing;     /* the app is destroying it: start nothing new */
    _Atomic int users;       /* our own thread is inside it */
    _Atomic int setup_busy;  /* a module of it is being configured */
    _Atomic int ring;        /* enum ring_state */
    _Atomic bool launched;   /* something was launched since the last marker */
    bool created;            /* by cuCtxCreate; else a device's primary context, as far as we know */
    CUdevice device;
    struct wsdbg_config config; /* module_id is filled in per module */
    void *bounce;               /* registered memory for small copies */
    CUstream stream;            /* our own, non-blocking */
    struct shim_memory {
        CUdeviceptr address;
        uint64_t mapped_bytes; /* 0 = ordinary memory: the context's end frees it */
    } memory[2];
    CUdeviceptr slots;  /* in device memory */
    void *slots_mirror; /* in the segment, as the history's */
    uint64_t slots_bytes;
    void *mirror; /* history in the segment */
    CUdeviceptr history;
    uint64_t history_bytes;
    CUstream copy_stream;
};
#define SHIM_BOUNCE_BYTES 65536u
extern struct shim_context shim_contexts[WSDBG_CONTEXT_ROWS]; /* index = row */

enum module_state { MODULE_NEW, MODULE_BUSY, MODULE_PLAIN, MODULE_PROBED, MODULE_FAILED };
struct shim_module {
    uint64_t module;  /* CUmodule, 0 = not seen yet (a library nobody launched from) */
    uint64_t library; /* CUlibrary, 0 = none */
    uint32_t context; /* row, WSDBG_UNKNOWN32 for a library */
    uint32_t row;     /* in the segment, WSDBG_UNKNOWN32 when the table was full */
    bool alive;
    _Atomic int state;           /* enum module_state */
    _Atomic uint32_t generation; /* raised when it is unloaded */
};

/* Row of the current context, recorded at first sight; WSDBG_UNKNOWN32 if there is none. */
uint32_t tracking_current_context(void);
uint32_t tracking_add_context(CUcontext handle, CUdevice device, bool created);
/* A context is about to be destroyed: keeps our thread out of it.  Ends with one of the two below. */
void tracking_close_begin(uint32_t row);
void tracking_close_end(uint32_t row, bool destroyed);
uint32_t tracking_find_context(uint64_t handle);
uint32_t tracking_find_primary(CUdevice device);
/* True for errors after which a context is of no more use; all others leave it usable. */
bool tracking_ends_context(CUresult result);
/* Marks the context as ended when `result` is an error that ends contexts. */
void tracking_check(CUresult result);

/* A module (context known) or library was loaded; image may be NULL. */
void tracking_loaded(CUmodule module, CUlibrary library, const void *image);
void tracking_unloading(CUmodule module, CUlibrary library);
void tracking_kernel(CUkernel kernel, CUlibrary library);
/* The module is in the current context: points its probes at the ring. */
void tracking_module_seen(CUmodule module, CUlibrary library);
void tracking_function_seen(CUfunction function);
void tracking_kernel_function(CUfunction function, CUkernel kernel);
/* Row of a function about to be launched in context `context`; its module has its ring then. */
uint32_t tracking_launch_function(CUfunction function, uint32_t context);

/* Row of a living module or library, WSDBG_UNKNOWN32 where it has none. */
uint32_t tracking_module_row(CUmodule module, CUlibrary library);
/* The same of one that was seen there before, WSDBG_UNKNOWN32 where it was not: the driver is asked nothing. */
uint32_t tracking_seen_function(CUfunction function, uint32_t context);
/* A handle that was given for a launch: *library is set for a kernel of one.  The function to ask the driver about in
 * context `context`, NULL where it is not known.  The driver is not asked for a kernel's function: it would load it,
 * where nothing has yet. */
CUfunction tracking_look_into(CUfunction handle, uint32_t context, CUlibrary *library);

/* ---- refusals.c: calls that the driver refused; errno is kept, the result is not looked at twice ---- */
/* Errors of what is launched, and not of work before it, of the context or of handles. */
bool refusal_is_about_launch(CUresult result);
/* A launch, its row filled by observer_launch_begin. */
void refusal_launch(const char *call, const struct wsdbg_launch_row *launch, CUfunction handle, CUresult result);
/* A kernel of a graph, of whose node the members that CUDA 12 added are not read; a graph of which no kernel is known
 * to be the reason. */
void refusal_node(const char *call, CUfunction handle, const struct cu_kernel_node *kernel, CUresult result);
void refusal_graph(const char *call, const void *graph, CUresult result);
struct refused_code {
    const void *image; /* that was to be loaded, NULL = none */
    const char *name;  /* of the kernel or the file, NULL = not given */
    CUmodule module;   /* in which it was looked for */
    CUlibrary library;
    CUkernel kernel;
};
void refusal_code(const char *call, const struct refused_code *code, CUresult result);
struct refused_setting {
    CUfunction function; /* NULL: */
    CUkernel kernel;
    CUdevice device; /* of the kernel */
    int attribute, value;
};
void refusal_setting(const char *call, const struct refused_setting *setting, CUresult result);

/* ---- ring_memory.c ---- */
/* Zeroed device memory for the ring of context row `row`, its context current: `bytes` that are read, and behind them
 * `behind_bytes` for the GPU alone.  kind: enum wsdbg_memory_kind. */
CUresult ring_memory_take(uint32_t row, uint32_t kind, uint64_t bytes, uint64_t behind_bytes, CUdeviceptr *address);
/* The context is gone: gives back what its end did not free. */
void ring_memory_release(uint32_t row);

/* ---- ring_setup.c ---- */
/* Configures the module's probes; the module's context is current. */
void ring_configure(struct shim_module *module);

/* ---- copy_thread.c ---- */
void copies_start(void);

/* ---- markers.c ---- */
/* Starts the thread that puts markers behind the contexts' work, if the session wants them.  Once. */
void markers_start(void);

/* ---- host_threads.c ---- */
/* Starts the thread that follows the program's own ones while some of them wait.  Once. */
void host_threads_start(void);
/* What it would write now. */
enum wsdbg_host_state host_threads_look(const struct wsdbg_segment *segment);
/* Whether a thread rests by the text of its files comm, without the end of line, and syscall. */
bool host_thread_rests(const char *name, const char *call_text);
/* What the system call getdents64 gives of a folder: the C library's streams take memory from the program's allocator. */
struct folder_entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};
/* The system call that a thread is in. */
struct host_call {
    long number;
    unsigned long argument[6], stack, pc; /* stack and pc: 0 = not told */
};
/* By the thread's file syscall; false where it is in none. */
bool host_thread_call(uint32_t thread, struct host_call *out);
bool host_call_polls(const struct host_call *call);

/* ---- service_threads.c ---- */
/* Whether a thread of that name in that call is a library's own, which gives no kernel what it waits for.  Called by one
 * thread at a time. */
bool service_thread_rests(const char *name, const struct host_call *call);

/* ---- network_cards.c ---- */
enum wsdbg_network_cards network_cards_look(void);

/* ---- module_image.c ---- */
/* Bytes of a module image by its own headers (ELF, fatbin, PTX), 0 = not known. */
uint64_t image_bytes(const void *image, const void **start);
/* Whether an image is of so many bytes or more by its own header, of which nothing is believed: it may lead anywhere. */
bool image_is_large(const void *image, uint64_t at_least_bytes);
/* Fills image_* of module row `index` and keeps a copy in the spool. */
void image_record(const void *image, uint32_t index);
/* Copies an image that the driver refused, so of which nothing is believed, into the spool as number `number`; false =
 * it could not be read to an end, or is too large. */
bool image_keep_refused(const void *image, uint32_t number);
/* A second row of the same image (a library in another context) gets the first row's image_* and file. */
void image_share(uint32_t from, uint32_t to);

#endif
