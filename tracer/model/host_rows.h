/* host_rows.h - rows of a snapshot: what the program's threads did on the host, and where it launched kernels.
 *
 * Written from: the segment, and what tracer/host reads of processes from outside.  snapshot.h says what holds for all
 * rows.
 */
#ifndef WSDBG_MODEL_HOST_ROWS_H
#define WSDBG_MODEL_HOST_ROWS_H

#include "base/optional.h"
#include "wsdbg/session.h"

struct wsdbg_host_thread {
    uint32_t process_id, thread_id;
    uint32_t context;
    char call[48]; /* the synchronising call it is inside */
    uint64_t since_ns;
    struct wsdbg_optional_u64 stream;
    enum wsdbg_host_state host_state; /* of its process; not kept in sessions */
};

/* What was read of a process's threads from outside, while it ran on (tracer/host). */
struct wsdbg_host_process {
    uint32_t process_id;
    struct wsdbg_optional_u32 threads; /* that it has */
    char python[16];                   /* "3.11.7", "" = no interpreter was found in it */
    char obstacle[160];                /* why stacks are missing, "" = none is */
    uint64_t read_ns;                  /* how long that took */
};

/* What a thread did while it was read; stable names for JSON and SQL are "sleeps", … */
enum wsdbg_host_motion {
    WSDBG_HOST_MOTION_UNKNOWN = 0,
    WSDBG_HOST_SLEEPS, /* in the kernel all the time: its stack is exact */
    WSDBG_HOST_RUNS,   /* and two readings found the same stack */
    WSDBG_HOST_MOVES,  /* two readings differ: the frames are those that both have, the outermost ones */
    WSDBG_HOST_MOTION_COUNT
};

const char *wsdbg_host_motion_name(enum wsdbg_host_motion motion);

/* A thread that matters: the main one, those inside a waiting call, those that run Python. */
struct wsdbg_host_stack {
    uint32_t process; /* index in host_processes */
    uint32_t thread_id;
    char name[16]; /* "" = not known */
    enum wsdbg_host_motion motion;
    char system_call[24];              /* that it sleeps in, "" = none, or not known */
    uint32_t frame_first, frame_count; /* in host_frames, innermost first */
    char end[96];                      /* why it is not whole, "" = it is */
};

enum wsdbg_host_frame_kind {
    WSDBG_HOST_FRAME_PYTHON = 1,
    WSDBG_HOST_FRAME_NATIVE,
    WSDBG_HOST_FRAME_LEFT_OUT, /* a number of them */
    WSDBG_HOST_FRAME_KINDS
};

/* "python", "native", "left out"; stable. */
const char *wsdbg_host_frame_kind_name(enum wsdbg_host_frame_kind kind);

enum { WSDBG_HOST_FUNCTION_BYTES = 128, WSDBG_HOST_FILE_BYTES = 192, WSDBG_HOST_MODULE_BYTES = 128 };
struct wsdbg_host_frame {
    uint32_t stack; /* index in host_stacks */
    enum wsdbg_host_frame_kind kind;
    char function[WSDBG_HOST_FUNCTION_BYTES]; /* "" = not known */
    char file[WSDBG_HOST_FILE_BYTES];         /* of the source, "" = not known */
    char module[WSDBG_HOST_MODULE_BYTES];     /* program or library of a native frame */
    struct wsdbg_optional_u32 line;
    struct wsdbg_optional_u64 offset_bytes; /* of a native frame: from the start of its function, else of its module */
    uint32_t left_out;                      /* frames that this one stands for; 0 = it is one itself */
};

/* Where in the program something was begun: the stack at that moment, as the observer kept it. */
enum wsdbg_launch_site_kind {
    WSDBG_SITE_OF_LAUNCH = 1, /* of a kernel or graph: launches that may have made the grid, and have the same stack */
    WSDBG_SITE_OF_NODE,       /* of a graph's kernel: where it was captured, or its node added or changed */
    WSDBG_SITE_OF_CALL,       /* of NCCL */
    WSDBG_SITE_KINDS
};

/* "launch", "node", "call"; stable. */
const char *wsdbg_launch_site_kind_name(enum wsdbg_launch_site_kind kind);

struct wsdbg_launch_site {
    uint32_t process_id;
    uint32_t thread_id; /* 0 = not known */
    enum wsdbg_launch_site_kind kind;
    uint32_t grid;          /* index in grids: LAUNCH, NODE */
    uint32_t collective;    /* index in collectives: CALL */
    uint32_t launch;        /* index in launches: LAUNCH, the first one */
    uint32_t count;         /* LAUNCH: launches that this row stands for, 0 = not known; else 1 */
    uint32_t function;      /* index in functions, WSDBG_NONE */
    uint32_t before, after; /* NODE, captured: the kernels before and after it in its stream, indexes in functions */
    uint64_t time_ns;       /* when it was begun, 0 = not known */
    uint32_t frame_first, frame_count; /* in site_frames, innermost first; 0 = the stack is not known */
    char end[96];                      /* why it is not whole, "" = it is */
    uint32_t tag;                      /* while it is read: number of what was asked for */
    uint32_t rows[3];                  /* ... rows of the process's table of functions: function, before, after */
    uint64_t entry;                    /* ... in the launch table */
};

#endif
