/* session.h - the binary format of the shared segment between a traced process and wsdbg.
 *
 * Written by: the observer in the traced process (instr/shim).  Read by: tracer/evidence.
 * Compiles as C11 and C++17.
 *
 * A traced process that initialises CUDA creates one file, mode 0600, named
 *     wsdbg.<session>.<pid>         (<session> comes from the environment variable WSDBG_SESSION)
 * in /dev/shm, or where there is little room in the folder "segments" of the session's folder (WSDBG_SPOOL),
 * and grows it (posix_fallocate, then a larger mapping) only when a context with probed code appears:
 *
 *     struct wsdbg_segment                      fixed tables, always there
 *     slots of context 0 | history of context 0 | slots of context 1 | ...     (mirrors; context row has offsets)
 *
 * wsdbg unlinks the file once it has read what an ended process left, or when the session ends, so it outlives the
 * traced process and its GPU context.  A process that executes another program renames the file of the one before.
 *
 * Protocol of a table: rows [0, count) are valid; the writer fills a row, then publishes it by raising
 * `count` (release; readers acquire).  The launch and activity tables are rings: row n % capacity holds
 * entry n while row.sequence == n + 1, read before and after copying the row.  The calls of each communicator
 * are a ring, too.  Rows of `threads` are claimed once a thread and rewritten: `since_ns` != 0 means "inside
 * `call` now", published last.  Rows of `allocations` and `communicators` are rewritten too: `number` is 0 while
 * one is written, and the same before and after a copy.
 * A reader checks every count, offset and string end against the segment's real size; it trusts nothing.
 *
 * Rules of change: as in ring.h; WSDBG_SEGMENT_VERSION.
 */
#ifndef WSDBG_SESSION_H
#define WSDBG_SESSION_H

#include <stddef.h>

#include "ring.h"
#include "segment_attach.h"
#include "segment_nccl.h"
#include "segment_sites.h"

#define WSDBG_SEGMENT_MAGIC 0x3147455347444257ull /* "WBDGSEG1" read as little-endian bytes */
#define WSDBG_SEGMENT_VERSION 1u
#define WSDBG_SEGMENT_BYTES_DEFAULT (32u << 20)  /* most a segment may grow to, without launch sites */
#define WSDBG_SEGMENT_NAME_FORMAT "/wsdbg.%s.%d" /* session, pid */
#define WSDBG_SEGMENT_LEFT ".left-"              /* suffix of a file that was left (left_ns); a number follows */
#define WSDBG_SEGMENT_FOLDER "/dev/shm"
/* Session: a folder (0700) of its own, in which nobody else can take a name. */
#define WSDBG_SEGMENT_OWN_FORMAT WSDBG_SEGMENT_FOLDER "/wsdbg.%s"
#define WSDBG_SEGMENT_PATH_FORMAT WSDBG_SEGMENT_OWN_FORMAT WSDBG_SEGMENT_NAME_FORMAT /* session, session, pid */
#define WSDBG_SEGMENT_SPOOLED "segments" /* folder in the session's folder */
/* With less free in /dev/shm it is left to the program: 64 MiB are usual in containers. */
#define WSDBG_SEGMENT_ROOM_BYTES (256ull << 20)

/* Environment of a traced process. */
#define WSDBG_ENV_SESSION "WSDBG_SESSION"             /* session name; absent = the shim stays asleep */
#define WSDBG_ENV_SEGMENT_BYTES "WSDBG_SEGMENT_BYTES" /* decimal */
#define WSDBG_ENV_HISTORY "WSDBG_HISTORY"             /* events kept a warp, 0 = off; rounded down to a power of two */
#define WSDBG_ENV_RING "WSDBG_RING"                   /* "mapped": the GPU writes the ring into the segment */
#define WSDBG_ENV_SPOOL "WSDBG_SPOOL"                 /* folder (0700) for module images, absent = do not keep them */
#define WSDBG_ENV_OBSERVER "WSDBG_OBSERVER"           /* "driver" or "cupti" */
#define WSDBG_ENV_SIM_REASON "WSDBG_SIM_REASON"       /* why a program that expects a GPU gets the simulator */
#define WSDBG_ENV_EXPLORE "WSDBG_EXPLORE" /* for the simulator: try many schedules; see sim/libcuda/explore.h */
#define WSDBG_ENV_RACES "WSDBG_RACES"     /* for the simulator: file for the races it finds; see sim/libcuda/races.h */
#define WSDBG_ENV_MARKERS "WSDBG_MARKERS" /* "1": put markers behind the work of contexts */
/* "MS": the first launch waits at most so many milliseconds for an inspector that stays.  "MS,cheap": it does not wait
 * if a module has probes, and an inspector leaves before the program loads WSDBG_MUCH_CODE_BYTES or more.  Otherwise
 * the driver would spend time to prepare that code for the inspector. */
#define WSDBG_ENV_ATTACH_FIRST "WSDBG_ATTACH_FIRST"
#define WSDBG_MUCH_CODE_BYTES 4000000u
#define WSDBG_ENV_LAUNCH_SITES "WSDBG_LAUNCH_SITES"   /* "off": keep no launch sites */
#define WSDBG_ENV_RANK_FROM "WSDBG_RANK_FROM"         /* name of the variable that holds the process's rank */
#define WSDBG_ENV_FILTERS "WSDBG_FILTERS"             /* number of seccomp filters that wsdbg itself has; decimal */
#define WSDBG_ENV_PID_NAMESPACE "WSDBG_PID_NAMESPACE" /* inode of wsdbg's own /proc/self/ns/pid; decimal */
#define WSDBG_ENV_DEVICE_FILES "WSDBG_DEVICE_FILES"   /* for tests: put before the driver's paths in /proc and /dev */

/* Most that WSDBG_EXPLORE may ask for. */
#define WSDBG_EXPLORE_JOBS_MAX 256
#define WSDBG_EXPLORE_DEPTH_MAX 1000

#define WSDBG_NAME_BYTES 256

#define WSDBG_CONTEXT_ROWS 16
#define WSDBG_MODULE_ROWS 512
#define WSDBG_FUNCTION_ROWS 1024
#define WSDBG_NAME_ROWS 1024
#define WSDBG_THREAD_ROWS 256
#define WSDBG_LAUNCH_ROWS 4096
#define WSDBG_ACTIVITY_ROWS 4096
#define WSDBG_NOTE_ROWS 64
#define WSDBG_REFUSAL_ROWS 32
#define WSDBG_GRAPH_KERNEL_ROWS 4096
#define WSDBG_ALLOCATION_ROWS 1024
#define WSDBG_COMMUNICATOR_ROWS 32
#define WSDBG_COLLECTIVE_ROWS 64 /* of each communicator */

/* Unknown 32-bit / 64-bit values in rows. */
#define WSDBG_UNKNOWN32 0xffffffffu
#define WSDBG_UNKNOWN64 0xffffffffffffffffull

/* The ring's device memory outlives its context: the observer sends wsdbg a file descriptor of each allocation
 * (SCM_RIGHTS) on the datagram socket WSDBG_MEMORY_SOCKET in the spool folder.  While wsdbg holds it the memory
 * stays, whatever becomes of the process; after a GPU fault wsdbg reads it from a context of its own. */
#define WSDBG_SIM_UUID "wsdbg sim sm_90" /* of the simulated device, with its final zero: the memory is a file */
#define WSDBG_MEMORY_SOCKET "memory"
enum wsdbg_memory_kind { WSDBG_MEMORY_SLOTS = 1, WSDBG_MEMORY_HISTORY = 2 };
struct wsdbg_memory_message {
    uint32_t version; /* WSDBG_SEGMENT_VERSION */
    uint32_t process_id;
    uint32_t context;        /* row in contexts */
    uint32_t kind;           /* enum wsdbg_memory_kind */
    uint64_t device_address; /* slots_device_address or history_device_address of that row */
    uint64_t used_bytes;
    uint64_t allocated_bytes; /* what must be mapped */
    uint32_t device_ordinal;  /* in the sender's numbering */
    uint32_t reserved;
    uint8_t device_uuid[16]; /* all zero = not known */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_memory_message) == 64, "memory message layout");

enum wsdbg_observer_state { WSDBG_OBSERVER_ACTIVE = 1, WSDBG_OBSERVER_OFF = 2 /* off_reason says why */ };
enum wsdbg_observer_kind { WSDBG_OBSERVER_DRIVER = 1, WSDBG_OBSERVER_CUPTI = 2 };
enum wsdbg_context_state { WSDBG_CONTEXT_ALIVE = 1, WSDBG_CONTEXT_DESTROYED = 2, WSDBG_CONTEXT_FAULTED = 3 };

/* Where the slots and histories of a context lie.  In host memory they lie in the segment itself, and the GPU writes
 * them there: what a reader finds is as of now, whatever the process and the copy engines do, and needs no request. */
enum wsdbg_ring_memory { WSDBG_RING_NOT_KNOWN, WSDBG_RING_IN_DEVICE, WSDBG_RING_IN_HOST };

struct wsdbg_context_row {
    uint64_t handle;     /* CUcontext */
    uint64_t created_ns; /* CLOCK_MONOTONIC, as every *_ns here */
    uint32_t device_ordinal;
    uint32_t state; /* enum wsdbg_context_state */
    int32_t error;  /* CUresult that ended it, 0 = none */
    uint32_t sm_count;
    uint32_t warps_per_sm;
    uint32_t slot_count;     /* 0 = no ring in this context */
    uint64_t slots_offset;   /* from the segment's start */
    uint64_t history_offset; /* mirror: slot_count * history_depth events; 0 = none */
    uint64_t history_device_address;
    uint32_t history_depth;
    uint32_t compute_capability; /* 10 * major + minor */
    uint64_t history_copied;     /* number of the last history request served for this context */
    char device_name[96];
    uint64_t slots_device_address; /* 0 = the GPU writes the slots here directly; else they are copied here */
    uint64_t slots_copied_ns;      /* host time of the last whole copy, 0 = none yet */
};

struct wsdbg_module_row {
    uint64_t handle; /* CUmodule or CUlibrary, 0 = not known */
    uint64_t loaded_ns;
    uint64_t image_bytes; /* 0 = not known */
    uint64_t image_hash;  /* FNV-1a 64 of the image, 0 = not known */
    uint32_t context;     /* row in contexts, or WSDBG_UNKNOWN32 */
    uint32_t probed;      /* 1 = has wsdbg_config_v1 */
    uint32_t names_first; /* its first row in the name table */
    uint32_t names_count;
    uint32_t image_kept; /* 1 = spool/<pid>-<row>.image holds it */
    uint32_t reserved;
};

struct wsdbg_function_row {
    uint64_t handle;    /* CUfunction or CUkernel as launched */
    uint32_t module;    /* row in modules, or WSDBG_UNKNOWN32 */
    uint32_t registers; /* per thread at launch, or WSDBG_UNKNOWN32 */
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
    uint32_t max_threads;
    uint32_t binary_version;     /* 90 = sm_90 */
    char name[WSDBG_NAME_BYTES]; /* as the driver gives it (mangled), cut at 255 bytes */
};

enum wsdbg_launch_flags {
    WSDBG_LAUNCH_COOPERATIVE = 1,
    WSDBG_LAUNCH_CAPTURED = 2,
    WSDBG_LAUNCH_GRAPH = 4,
    WSDBG_LAUNCH_REFUSED = 8,
    WSDBG_LAUNCH_PROGRAMMATIC = 16, /* may begin before the work ahead of it in its stream has ended */
    WSDBG_LAUNCH_GRAPH_PARTLY = 32  /* graph_kernels may be wrong about this graph: rows may be missing, or too many */
};

#define WSDBG_RESULT_PENDING (-1) /* the launch call has not returned yet */

struct wsdbg_launch_row {
    uint64_t sequence; /* entry number + 1, written last */
    uint64_t time_ns;
    uint64_t stream;    /* CUstream as given */
    uint32_t function;  /* row in functions, or WSDBG_UNKNOWN32 (graph launch, table full) */
    uint32_t context;   /* row in contexts */
    uint32_t thread_id; /* gettid() */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /* WSDBG_UNKNOWN32 = not given at launch */
    uint32_t dynamic_shared_bytes;
    uint32_t flags; /* enum wsdbg_launch_flags */
    int32_t result; /* CUresult of the launch call, WSDBG_RESULT_PENDING */
    uint32_t graph; /* of a graph launch: `graph` of its rows in graph_kernels, 0 = not known */
    uint32_t reserved[2];
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_launch_row) == 96, "launch layout");

struct wsdbg_thread_row {
    uint32_t thread_id; /* 0 = free */
    uint32_t context;
    uint64_t since_ns; /* 0 = not in a synchronising call */
    uint64_t stream;   /* WSDBG_UNKNOWN64 where the call has none */
    char call[48];     /* "cuStreamSynchronize" */
};

/* CUPTI observer only: what ran on the GPU and when. */
enum wsdbg_activity_kind { WSDBG_ACTIVITY_KERNEL = 1, WSDBG_ACTIVITY_COPY = 2, WSDBG_ACTIVITY_SET = 3 };
struct wsdbg_activity_row {
    uint64_t sequence; /* entry number + 1, written last */
    uint64_t start_ns; /* GPU time stamps as CUPTI gives them */
    uint64_t end_ns;
    uint64_t stream;
    uint64_t bytes;
    uint32_t kind;
    uint32_t device_ordinal;
    uint32_t correlation;
    uint32_t function; /* row in functions with this name, or WSDBG_UNKNOWN32 */
    char name[64];
};

/* Whether a context's work gets done: now and then a thread of the observer puts an event behind everything that the
 * context was given, never a second one while one is in flight, and looks whether the GPU has passed it.  An event in
 * flight means that something the context was given before `recorded_ns` is not done; at `checked_ns` it was not. */
enum wsdbg_marker_state {
    WSDBG_MARKER_NONE,    /* nobody follows the context */
    WSDBG_MARKER_STARTED, /* the observer does, but has recorded no event yet, or cannot record one now */
    WSDBG_MARKER_WORKS,
    WSDBG_MARKER_FAILED /* the driver cannot; a note says why */
};
struct wsdbg_marker_row {
    uint64_t recorded_ns;   /* when the event in flight was recorded, written last; 0 = none is in flight */
    uint64_t checked_ns;    /* when the GPU was last found not to have passed it; 0 = not checked yet */
    uint64_t done_ns;       /* when the GPU was last found to have passed an event; 0 = never yet */
    uint64_t launches;      /* launches begun (entries of the launch table) when the newest event was recorded */
    uint64_t done_launches; /* ... when the newest passed event was recorded: these launches are done */
    uint32_t state;         /* enum wsdbg_marker_state */
    uint32_t reserved;
    uint64_t kept_out_ns; /* since when stream captures keep events from being recorded for new work; 0 = none do */
    uint64_t inside_ns;   /* since when the observer's thread has been in the driver for this context; 0 = it is not */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_marker_row) == 64, "marker layout");

/* A call by which a kernel was to run and that the driver refused: what was asked for, and what the kernel and the
 * device allow, asked of the driver afterwards.  Calls that ask for the same and get the same answer are one row.
 * Numbers that the driver did not tell are WSDBG_UNKNOWN32, and so are those that the kind of call does not have.
 * Half of the rows are kept for launches: what only asks (the other kinds) is not recorded beyond that. */
enum wsdbg_refusal_kind {
    WSDBG_REFUSAL_LAUNCH = 1, /* also a kernel that is put into a graph */
    WSDBG_REFUSAL_CODE,       /* loading a module, or finding a kernel in one */
    WSDBG_REFUSAL_SETTING     /* an attribute of a kernel */
};
struct wsdbg_refusal_row {
    uint64_t time_ns; /* of the first such call */
    uint32_t times;   /* number of such calls: those that are equal from `kind` to `call` */
    uint32_t kind;    /* enum wsdbg_refusal_kind */
    uint64_t handle;  /* CUfunction, CUkernel, CUmodule or CUlibrary as given, or the image's address; 0 = none */
    int32_t result;   /* CUresult */
    uint32_t context; /* row in contexts */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /* WSDBG_UNKNOWN32 = not given at launch */
    uint32_t dynamic_shared_bytes;
    uint32_t flags;     /* enum wsdbg_launch_flags */
    uint32_t attribute; /* CUfunction_attribute that was to be set */
    uint32_t value;     /* the value that it was to get */
    uint32_t reserved;
    char call[48];               /* "cuLaunchKernel" */
    char name[WSDBG_NAME_BYTES]; /* the kernel's name (mangled), or the file that was to be loaded; "" = not known */
    uint32_t function;           /* row in functions */
    uint32_t module;             /* row in modules */
    uint32_t image;              /* the image is kept as spool/<pid>-refused-<image>.image; 0 = it is not kept */
    /* Of the kernel. */
    uint32_t registers; /* per thread */
    uint32_t static_shared_bytes;
    uint32_t most_dynamic_shared_bytes; /* as its attribute is set */
    uint32_t most_threads;              /* per CTA: the lower limit of launch bounds and registers */
    uint32_t required_cluster[3];       /* 0 = none */
    uint32_t non_portable_cluster;      /* 1 = allowed */
    uint32_t must_have_cluster;         /* 1 = a launch must give a cluster size */
    /* Of the device. */
    uint32_t registers_per_cta;
    uint32_t threads_per_cta;
    uint32_t shared_per_cta; /* if the kernel's attribute is not set */
    uint32_t shared_per_cta_most;
    uint32_t cooperative; /* 1 = it supports cooperative launches */
    uint32_t sm_count;
    uint32_t compute_capability; /* 10 * major + minor */
    /* Of this launch, where it asked for more than one CTA at a time. */
    uint32_t ctas_per_sm;   /* that fit on one multiprocessor */
    uint32_t clusters_most; /* that fit on the device */
    uint32_t reserved_too;
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_refusal_row) % 8 == 0, "word copies");

/* A kernel that a graph holds, as it was when the graph was made ready to run or changed since.  Nodes of one graph
 * that are alike are one row. */
struct wsdbg_graph_kernel_row {
    uint32_t graph;    /* a number from 1 for each graph made ready, and a new one for each update of a whole graph */
    uint32_t function; /* row in functions, WSDBG_UNKNOWN32 */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /* WSDBG_UNKNOWN32 = not given */
    uint32_t dynamic_shared_bytes;
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_graph_kernel_row) == 48, "graph kernel layout");

/* What the program's threads do while a call of `threads` lasts for a moment or longer.  A thread is blocked if it is
 * in such a call, or in a wait that only another thread of the process can end (instr/shim/host_threads.c). */
enum wsdbg_host_state {
    WSDBG_HOST_NOT_KNOWN,        /* nobody looked, or not everything could be seen */
    WSDBG_HOST_GOES_ON,          /* some thread is not blocked that has been in such a call before */
    WSDBG_HOST_STRANGER_GOES_ON, /* some thread is not blocked, but none that has been in such a call before; or one
                                  * only seems to be blocked: it had a turn between two looks */
    WSDBG_HOST_ALL_BLOCKED       /* every thread is blocked */
};
/* Names of the threads that wsdbg adds to a program: /proc/self/task/<thread>/comm. */
#define WSDBG_THREAD_OBSERVER "wsdbg-observer"
#define WSDBG_THREAD_SIMULATOR "wsdbg-simulator"

/* Memory that the program got from the driver and that kernels can address.  A row is used again once its memory was
 * freed and all other rows had their turn. */
enum wsdbg_allocation_kind {
    WSDBG_ALLOCATION_DEVICE = 1, /* cuMemAlloc */
    WSDBG_ALLOCATION_PITCHED,
    WSDBG_ALLOCATION_POOL,       /* cuMemAllocAsync */
    WSDBG_ALLOCATION_HOST,       /* host memory, mapped: cuMemHostAlloc */
    WSDBG_ALLOCATION_REGISTERED, /* host memory that the program made itself: cuMemHostRegister */
    WSDBG_ALLOCATION_MANAGED,
    WSDBG_ALLOCATION_VMM,          /* a mapping of what cuMemCreate made */
    WSDBG_ALLOCATION_VMM_IMPORTED, /* a mapping of memory that came from another process */
    WSDBG_ALLOCATION_VMM_UNKNOWN,  /* a mapping of memory whose origin is not known */
    WSDBG_ALLOCATION_IMPORTED      /* cuIpcOpenMemHandle and the like */
};
enum wsdbg_allocation_flags {
    /* Given away: another process may write it, or a device that is no GPU of this process. */
    WSDBG_ALLOCATION_EXPORTED = 1,
    WSDBG_ALLOCATION_HOST_ACCESS = 2, /* a mapping that the host may write as well */
    /* Beside EXPORTED: not, or not only, to processes of this machine, but to a network card, to another machine or to
     * the GPUs of a multicast object. */
    WSDBG_ALLOCATION_ELSEWHERE = 4,
    /* Beside EXPORTED, or alone the reason for it: a network card may be let in without a call of the driver. */
    WSDBG_ALLOCATION_CARDS = 8
};
/* Whether the process holds a device open that might be a network card. */
enum wsdbg_network_cards { WSDBG_NETWORK_CARDS_NOT_KNOWN, WSDBG_NETWORK_CARDS_OPEN, WSDBG_NETWORK_CARDS_NONE };
struct wsdbg_allocation_row {
    uint64_t number;  /* counts the process's allocations up from 1, written last; 0 = being written */
    uint64_t address; /* as the device sees it */
    uint64_t bytes;   /* 0 = not known */
    uint64_t time_ns;
    uint64_t freed_ns;     /* 0 = not freed */
    uint32_t kind;         /* enum wsdbg_allocation_kind */
    uint32_t flags;        /* enum wsdbg_allocation_flags; more may be set later */
    uint32_t context;      /* row in contexts, or WSDBG_UNKNOWN32 */
    uint32_t device;       /* ordinal of the device whose memory it is, or WSDBG_UNKNOWN32 */
    uint32_t peer_devices; /* bit n: kernels of device n, another one, may write it; more bits may be set later */
    uint32_t call_number;  /* which of the process's calls of `call` made it, counted from 1 as they began */
    char call[40];         /* the driver call that made it, without suffixes like _v2: "cuMemAlloc" */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_allocation_row) == 104, "allocation layout");

/* What the program gave a context to do.  The words are written without a lock: of two calls at the same moment
 * given_ns may have either's time.  Kernels and graphs are entries of the launch table. */
struct wsdbg_given_row {
    uint64_t given_ns; /* when the last call began that gave it a kernel, a graph, a copy, a memset, a write of a stream
                          or a host function; 0 = none did */
    uint64_t done_given_ns; /* given_ns when the newest passed marker was recorded: all work given by then is done */
    uint64_t copies;        /* calls that gave copies, without those that wait until the copy is done */
    uint64_t memsets;
    uint64_t others;
    uint64_t reserved[3];
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_given_row) == 64, "given layout");

struct wsdbg_segment {
    uint64_t magic;
    uint32_t version;      /* WSDBG_SEGMENT_VERSION */
    uint32_t ring_version; /* WSDBG_ABI_VERSION */
    uint64_t fixed_bytes;  /* sizeof(struct wsdbg_segment) of the writer */
    uint64_t used_bytes;   /* bytes in use now; grows */
    uint64_t limit_bytes;
    uint32_t process_id;
    uint32_t parent_process_id;
    uint64_t created_ns;      /* CLOCK_MONOTONIC */
    uint64_t created_unix_ns; /* CLOCK_REALTIME at the same moment */
    uint32_t observer_kind;
    uint32_t observer_state;
    char off_reason[WSDBG_TEXT_BYTES]; /* one sentence when the observer is off or partly blind */
    char program[WSDBG_NAME_BYTES];
    uint32_t driver_version; /* cuDriverGetVersion, 0 = not known */
    uint32_t note_count;
    char notes[WSDBG_NOTE_ROWS][WSDBG_TEXT_BYTES]; /* what the observer could not see, each said once */

    /* wsdbg raises history_request and wakes the word's futex; the shim's thread copies every living
     * context's slots, then its history, into their mirrors, then sets history_done to the request it served.
     * wsdbg raises slots_request whenever it looks; within 20 ms the thread copies the slots once and sets
     * slots_done.  When nobody looks nothing is copied.  A ring in host memory is never copied: the thread only says
     * that it is current. */
    uint32_t history_request;
    uint32_t slots_request;
    uint32_t history_done;
    uint32_t slots_done;

    uint32_t context_count;
    uint32_t module_count;
    uint32_t function_count;
    uint32_t name_count;
    uint32_t thread_count; /* rows ever claimed */
    uint32_t reserved0;
    uint64_t launch_count; /* launches ever, also those that left the ring */
    uint64_t activity_count;
    uint64_t lost_rows; /* rows not recorded because a table was full */
    uint64_t
        hold_exit_until_ns;  /* set by wsdbg while a GPU core dump of the process is written: until then exit() waits,
                                ten seconds at most; CLOCK_MONOTONIC, renewed while wsdbg waits, 0 = no wait */
    uint64_t left_ns;        /* when this file was left: its process executed another program, or is gone and its number
                                belongs to another one; 0 = not left */
    uint64_t program_device; /* st_dev of /proc/self/exe */
    uint64_t program_inode;  /* st_ino of it, 0 = not known */
    uint64_t pid_namespace;  /* inode of /proc/self/ns/pid, 0 = not known */
    uint64_t reserved[3];

    struct wsdbg_context_row contexts[WSDBG_CONTEXT_ROWS];
    struct wsdbg_module_row modules[WSDBG_MODULE_ROWS];
    struct wsdbg_function_row functions[WSDBG_FUNCTION_ROWS];
    struct wsdbg_name names[WSDBG_NAME_ROWS];
    struct wsdbg_thread_row threads[WSDBG_THREAD_ROWS];
    struct wsdbg_launch_row launches[WSDBG_LAUNCH_ROWS];
    struct wsdbg_activity_row activities[WSDBG_ACTIVITY_ROWS];

    /* Appended later: a reader looks at fixed_bytes before it believes a row is there (WSDBG_SEGMENT_HAS). */
    struct wsdbg_attach_row attach;
    struct wsdbg_marker_row markers[WSDBG_CONTEXT_ROWS]; /* of the context with that row */
    uint64_t reserved_of_threads[WSDBG_THREAD_ROWS];
    uint32_t refusal_count;
    uint32_t refusals_left_out; /* the table was full */
    struct wsdbg_refusal_row refusals[WSDBG_REFUSAL_ROWS];
    uint32_t host_state; /* enum wsdbg_host_state */
    uint32_t reserved_too;

    /* The kernels of graphs. */
    uint32_t graph_kernel_count;
    uint32_t graph_nodes_left_out; /* nodes not recorded: no room, too many, or of a kind that hides kernels */
    struct wsdbg_graph_kernel_row graph_kernels[WSDBG_GRAPH_KERNEL_ROWS];
    uint32_t allocation_count;     /* rows ever used */
    uint32_t allocations_left_out; /* no row was free */
    struct wsdbg_allocation_row allocations[WSDBG_ALLOCATION_ROWS];
    struct wsdbg_given_row given[WSDBG_CONTEXT_ROWS]; /* of the context with that row */
    uint32_t network_cards; /* enum wsdbg_network_cards; looked at while a thread waits for the GPU */
    uint32_t reserved_behind;
    struct wsdbg_rank_row rank;
    int32_t exit_status;  /* that the process gave exit() */
    uint32_t exit_called; /* 1: it did, written last; _exit() and signals are not noticed */

    /* Of an armed process (wsdbg/armed.h).  To watch it, wsdbg sets watched_until_ns, raises watch_begun and wakes that
     * futex.  After watched_until_ns the observer's threads sleep again, also if wsdbg was killed. */
    uint64_t watched_until_ns; /* CLOCK_MONOTONIC, 0 = nobody watches */
    uint32_t watch_begun;      /* futex */
    uint32_t watcher_pid;      /* this wsdbg may read the process's memory meanwhile */
    uint64_t start_ticks; /* starttime of /proc/self/stat, as a later process may get the same number; 0 = not known */
    uint32_t armed;       /* 1: the process is armed */
    uint32_t communicator_count;     /* rows ever used */
    uint32_t communicators_left_out; /* not recorded, as no row was free */
    uint32_t reserved_at_end;
    struct wsdbg_communicator_row communicators[WSDBG_COMMUNICATOR_ROWS];
    struct wsdbg_collective_row collectives[WSDBG_COMMUNICATOR_ROWS][WSDBG_COLLECTIVE_ROWS];
    uint64_t sites_offset;                  /* of WSDBG_SITES_ROWS rows, from the segment's start; 0 = none are kept */
    uint64_t site_counts[WSDBG_SITE_RINGS]; /* entries so far; LAUNCHED stays 0: launch_count has it */
    uint32_t ring_places[WSDBG_CONTEXT_ROWS]; /* enum wsdbg_ring_memory, of the context with that row */
};

/* What every segment of this version has. */
#define WSDBG_SEGMENT_FIRST_BYTES offsetof(struct wsdbg_segment, attach)
/* Whether a segment whose fixed_bytes are given has the appended member. */
#define WSDBG_SEGMENT_HAS(fixed_bytes, member) \
    ((fixed_bytes) >= offsetof(struct wsdbg_segment, member) + sizeof(((struct wsdbg_segment *)0)->member))

#endif
