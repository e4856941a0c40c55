/* snapshot.h - what was true at one moment, as plain data.  Every kind of evidence ends as this struct.
 *
 * Written by: tracer/evidence.  Read by: diagnose, store, viewer.
 *
 * Arrays with counts; rows refer to each other by index (WSDBG_NONE = none or not known).  Strings are
 * zero-terminated and owned by the snapshot.  Times are CLOCK_MONOTONIC nanoseconds of the host unless a
 * name says gpu: gpu times are nanoseconds of %globaltimer relative to one another (gpu_now_ns is the
 * newest time stamp seen in that context); host and GPU clocks are never subtracted from each other.
 *
 * A table is added in tables.def, with the members of its rows that are rows of other tables; its row's struct is added
 * here.  Its members of struct wsdbg_snapshot, copying and freeing follow, and rows.h: appending and dropping.
 */
#ifndef WSDBG_MODEL_SNAPSHOT_H
#define WSDBG_MODEL_SNAPSHOT_H

#include <stddef.h>

#include "base/error.h"
#include "base/optional.h"
#include "sass/access_kind.h"
#include "wsdbg/session.h"

#define WSDBG_NONE UINT32_MAX

enum wsdbg_warp_state {
    WSDBG_WARP_UNKNOWN = 0,
    WSDBG_WARP_RUNNING,
    WSDBG_WARP_WAIT_MBARRIER,
    WSDBG_WARP_WAIT_NAMED,
    WSDBG_WARP_WAIT_CLUSTER,
    WSDBG_WARP_WAIT_REGISTERS,
    WSDBG_WARP_WAIT_WGMMA,
    WSDBG_WARP_WAIT_BULK,
    WSDBG_WARP_WAIT_GRID_DEPENDENCY,
    WSDBG_WARP_SPIN_GLOBAL, /* polls a word in global memory, or in a space that its load does not name */
    WSDBG_WARP_SPIN_SHARED, /* ... in shared memory: only the CTA's cluster can write it */
    WSDBG_WARP_RECONVERGE,
    WSDBG_WARP_EXITED,
    WSDBG_WARP_STATE_COUNT
};

/* "WAIT_MBARRIER", … stable; for JSON and SQL. */
const char *wsdbg_warp_state_name(enum wsdbg_warp_state state);
/* "mbarrier wait begin", … for people. */
const char *wsdbg_event_kind_name(enum wsdbg_event_kind kind);
/* True for the states that wait for somebody (everything from WAIT_MBARRIER to RECONVERGE). */
bool wsdbg_warp_state_waits(enum wsdbg_warp_state state);
/* SPIN_GLOBAL or SPIN_SHARED. */
bool wsdbg_warp_state_polls(enum wsdbg_warp_state state);

/* A ring event with its time unwrapped. */
struct wsdbg_history_event {
    uint64_t gpu_time_ns;
    uint32_t iteration; /* WSDBG_NO_ITERATION = not given */
    uint32_t value;     /* see enum wsdbg_event_kind */
    uint8_t kind;       /* enum wsdbg_event_kind */
    uint8_t barrier;
    uint8_t stage; /* without the parity bit */
    uint8_t parity;
};

/* How a process ended. */
enum wsdbg_end_kind { WSDBG_END_NONE, WSDBG_END_UNKNOWN, WSDBG_END_EXITED, WSDBG_END_SIGNAL };
struct wsdbg_process_end {
    enum wsdbg_end_kind kind; /* NONE: it has not */
    int32_t value;            /* its status, or the signal's number */
};

/* A process that uses CUDA.  Which of a parallel run it is, is what its environment says. */
struct wsdbg_process {
    uint32_t process_id; /* by which other tables name it */
    uint32_t pid;        /* its number on its host: another one only where sessions were merged */
    struct wsdbg_optional_u32 rank, local_rank, world_size;
    char rank_from[64]; /* the variable that the rank is the value of, "" = no rank is known */
    char job[512];      /* "NAME=value" of variables that name the run, one a line */
    char host[64];      /* "" = not known: the session's */
    struct wsdbg_process_end end;
    struct wsdbg_optional_u64 seen_ns; /* when it was looked at, where that is another moment than the snapshot's */
};

enum { WSDBG_ERROR_WORDS_BYTES = 384 };

struct wsdbg_context {
    uint32_t process_id;
    uint64_t handle;
    uint32_t device_ordinal;
    char device_name[96];
    struct wsdbg_optional_u32 sm_count;
    struct wsdbg_optional_u32 compute_capability;
    bool alive;
    bool process_ended;   /* its process is known to have; not kept in sessions, as is the next one */
    bool no_network_card; /* its process is known to hold no network card open */
    int32_t error;        /* CUresult that ended it, 0 = none; below 0: not known which, but that the GPU reported
                             CUDA_EXCEPTION_<-error>, as a core dump tells */
    char error_words[WSDBG_ERROR_WORDS_BYTES]; /* what a simulated device says of it, "" = nothing; not kept in */
    uint64_t error_grid;                       /* sessions, like the grid_id of the grid that caused it */
    struct wsdbg_optional_u64 state_age_ns; /* with an error: from the last copy of the slots to the first look at it */
    enum wsdbg_ring_memory ring;            /* NOT_KNOWN also where there is none */
    uint32_t history_depth;                 /* 0 = history off */
    bool history_read;                      /* the warps' histories were copied for this snapshot */
    uint64_t gpu_now_ns;
    bool work_followed;                      /* whether what it was given to do gets done is seen: */
    struct wsdbg_optional_u64 unfinished_ns; /* something that it was given before this moment is not done */
    bool unfinished_is_guess;                /* ... which is not known: the driver only keeps threads in calls */
    struct wsdbg_optional_u64 hidden_ns;     /* since then stream captures keep from being seen whether it is */
    bool slots_silent; /* the slots have not been copied for a while: that they look the same says nothing */
    bool attended;     /* an inspector stays attached to its process: a look holds nothing back */
    struct wsdbg_optional_u64 done_launches; /* its launches with lower sequence numbers are done */
    struct wsdbg_optional_u64 given_ns;      /* when it was last given something to do; 0 = never */
    struct wsdbg_optional_u64 done_given_ns; /* what it was given up to this moment is done, as far as is known */
    struct wsdbg_optional_u64 kernels, graphs, copies, memsets, others; /* that it was given; copies: only those for
                                                                          which no call waited */
};

/* In wsdbg_name.reserved of a snapshot's names, which no author gave: what the program calls the variable. */
#define WSDBG_NAME_OF_VARIABLE 1u

/* From what the code does, or from the author of the kernel: also by the name of a variable. */
enum wsdbg_name_origin { WSDBG_ORIGIN_AUTHOR, WSDBG_ORIGIN_CODE, WSDBG_ORIGIN_UNKNOWN };

struct wsdbg_module {
    uint32_t process_id;
    uint32_t context;
    uint32_t row; /* row in the process's segment: names refer to it */
    bool probed;
    bool unnamed; /* probed by a simulated device: nobody gave names, roles in slots are kinds of role */
    struct wsdbg_optional_u64 image_bytes;
    struct wsdbg_optional_u64 image_hash;
    uint32_t names_first, names_count; /* in snapshot.names */
    uint32_t names_given;              /* the first of them: by the author; the others are inferred from the code */
    bool names_undecided;              /* the session's file does not say which of them the author gave */
    char image_path[256];              /* spool file, "" = not kept */
    char source_path[192]; /* of the file its probes' lines count in, as the compiler had it; "" = not known */
};

struct wsdbg_function {
    uint32_t process_id;
    uint32_t module; /* WSDBG_NONE = not known */
    char name[256];  /* mangled, as the driver gives it */
    struct wsdbg_optional_u32 registers, static_shared_bytes, local_bytes, max_threads, binary_version;
};

struct wsdbg_launch {
    uint32_t process_id;
    uint64_t sequence; /* from 0, per process */
    uint64_t time_ns;
    uint64_t stream;
    uint32_t function; /* index in functions */
    uint32_t context;
    uint32_t thread_id;
    uint32_t grid[3], block[3];
    struct wsdbg_optional_u32 cluster[3];
    uint32_t dynamic_shared_bytes;
    uint32_t flags; /* enum wsdbg_launch_flags of wsdbg/session.h */
    int32_t result; /* CUresult of the launch call */
    uint32_t graph; /* of a graph launch: number of the graph in graph_kernels, 0 = not known */
};

/* A kernel that a graph holds; nodes that are alike are one row. */
struct wsdbg_graph_kernel {
    uint32_t process_id;
    uint32_t graph;    /* from 1, per process */
    uint32_t function; /* index in functions */
    uint32_t grid[3], block[3];
    struct wsdbg_optional_u32 cluster[3];
    uint32_t dynamic_shared_bytes;
};

/* A call by which a kernel was to run and that the driver refused.  Not known: WSDBG_UNKNOWN32, as in the row. */
struct wsdbg_refusal {
    uint32_t process_id;
    uint32_t number;                    /* from 0, per process */
    uint32_t context, function, module; /* indexes, WSDBG_NONE */
    char image_path[256];               /* spool file of what was to be loaded, or of the module; "" = not kept */
    struct wsdbg_refusal_row row;       /* its indexes are those of the process's tables */
};

/* Memory that a process got from the driver. */
struct wsdbg_allocation {
    uint32_t process_id;
    uint32_t context;                /* index, WSDBG_NONE */
    struct wsdbg_allocation_row row; /* its context is that of the process's table */
};
/* "device", "pitched", … stable; for SQL.  NULL for a kind of a later version. */
const char *wsdbg_allocation_kind_name(unsigned kind);

/* A communicator of NCCL as one process has it: the process is one of its ranks. */
struct wsdbg_communicator {
    uint32_t process_id;
    uint32_t context;                  /* index, WSDBG_NONE */
    bool lacks_calls;                  /* later calls are not recorded: the process's observer switched itself off */
    struct wsdbg_communicator_row row; /* row.context indexes the process's own contexts */
};

/* A call on a communicator. */
struct wsdbg_collective {
    uint32_t communicator; /* index */
    uint32_t launch;       /* index of its kernel's launch, of a group's last launch; WSDBG_NONE = not known */
    bool done;             /* all that was launched for it is known to be done */
    struct wsdbg_collective_row row;
};

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

struct wsdbg_activity {
    uint32_t process_id, kind, device_ordinal, correlation;
    uint64_t start_ns, end_ns, stream, bytes;
    char name[256];
};

/* A place in the machine code of a kernel. */
struct wsdbg_site {
    uint32_t function;                      /* index in functions, WSDBG_NONE */
    uint64_t pc;                            /* GPU virtual address */
    struct wsdbg_optional_u32 offset_bytes; /* from the function's start */
    char instruction[128];                  /* "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x8], R4", "" = not decoded */
    char file[192];                         /* "" = compiled without line information */
    struct wsdbg_optional_u32 line;
    uint32_t inlined_at; /* index in sites: the call this was inlined at, WSDBG_NONE */
    bool is_passed;      /* the site's place is a line further out (base/inlined.h); a session keeps the place */
    bool is_wgmma;       /* its instruction issues, orders or waits for wgmma; not kept in sessions */
    bool is_system;      /* it reads memory with the scope of the whole system; not kept in sessions */
};

/* An instruction of a grid's code that waits for barriers or may complete one. */
struct wsdbg_access_row {
    uint32_t grid;
    uint32_t site;
    uint32_t kind;  /* enum wsdbg_access_kind of sass/access_kind.h */
    bool certain;   /* false: its operands could not be followed to one place, it may be another barrier */
    bool any_rank;  /* may be the barrier of another CTA of the cluster */
    uint32_t lanes; /* enum wsdbg_lanes of sass/access_kind.h */
    struct wsdbg_optional_u32 address; /* mbarrier: offset in shared memory; named barrier: id */
    uint32_t stride, places; /* the same every `stride` bytes, `places` times; 1 = one, 0 = as often as there is room */
    struct wsdbg_optional_u32 count; /* arrivals, bytes, threads, registers: see the kind */
    bool arrives_again; /* an arrival on one place: every way from it reaches another one on the same place before any
                           wait or the end; not kept in sessions */
    bool may_be_early;  /* an arrival on one place: no barrier puts it before or behind some initialisation of that
                           place; not kept  in sessions */
    bool comes_with_arrival; /* a copy or expect_tx: its warp always arrives on the same places, before it or behind it,
                                with no wait between (machine/look_turns.c); not kept in sessions */
    uint32_t poll_loop;      /* the loop around it that tests several mbarriers in turn and acts when a test succeeds, a
                                number of the kernel's own; 0 = none (machine/look_polls.c); not kept in sessions */
    bool is_poll;            /* a wait: it is one of these tests; not kept in sessions */
    struct wsdbg_optional_u32 mask; /* of a copy into several CTAs of the cluster: a bit a rank; not kept in sessions */
};

/* How a warp stands to an access: what its way there must have executed, may have, and still can. */
struct wsdbg_reach {
    uint32_t warp, access;
    uint8_t before_least,
        before_most; /* times on the paths from the kernel's start to where it stands; 255 = that or more */
    bool before_known;
    uint8_t
        after; /* 0 = can never reach it, 1 = only through a branch nobody can follow, 2 = can, once its wait ends */
    uint8_t after_apart; /* ... of its parts that are not in the wait that the warp is shown in; not kept in sessions */
};

/* Whoever comes through the wait reaches this arrival, or another one on the same places, before the loop of the
 * arrival begins its next round.  Not kept in sessions. */
struct wsdbg_answer_row {
    uint32_t wait, arrival; /* index in accesses */
    /* `arrival` is an expect_tx instead: some way leads from the wait through it, past all arrivals on the same places,
     * back to the wait.  Or it is a copy: some way leads from the wait to it, and some way from it to a wait, past all
     * announcements on the same places. */
    bool is_bare;
    bool is_behind_fill; /* of an expect_tx: every way to the wait announces bytes on the same places */
};

/* An access to a barrier on the way of a thread, with what its operands are then.  Not kept in sessions. */
enum { WSDBG_STEP_OWN_RANK = 0xff };
enum wsdbg_step_kind {
    WSDBG_STEP_TOGETHER = 0x80, /* the lanes of the warp wait for each other; smaller ones: enum wsdbg_access_kind */
    WSDBG_STEP_POLL             /* a loop without an access that nobody knows when it ends */
};
struct wsdbg_step_row {
    uint32_t access;  /* index in accesses, WSDBG_NONE */
    uint32_t address; /* mbarrier: offset in shared memory; named barrier: id */
    uint32_t number;  /* parity, arrivals, bytes, threads: see the kind */
    uint32_t mask;    /* a copy into several CTAs: their ranks; 0 = one */
    uint8_t kind;
    uint8_t rank; /* of the mbarrier's CTA in its cluster, WSDBG_STEP_OWN_RANK */
    bool number_known;
};

/* The way of lanes of a warp through the kernel, from its start to its end, as far as the launch alone decides it: what
 * they did and would do.  Waits and polls are taken to end.  A warp has a row for each way that its lanes go.  Not kept
 * in sessions. */
struct wsdbg_walk_row {
    uint32_t warp;
    uint32_t lanes;
    uint32_t step_first, step_count; /* in steps */
    bool is_guessed;                 /* an atomic was taken to find the present value */
    bool has_loaded;                 /* it was told what global memory holds now, which may have been other before */
    bool is_whole;                   /* to the end; false: nobody knows how it goes on behind the last step */
};

/* An instruction near a place where a warp stands, for people to read. */
struct wsdbg_code_row {
    uint32_t function; /* index in functions */
    uint32_t offset_bytes;
    char text[128];                 /* "" = not decoded */
    char file[192];                 /* of the place (base/inlined.h), "" = compiled without line information */
    struct wsdbg_optional_u32 line; /* of the place */
};

/* A part of a warp: the lanes that stand at one place. */
struct wsdbg_part {
    uint32_t warp;
    uint32_t lanes;
    enum wsdbg_warp_state state;
    uint32_t site;
    uint32_t barrier;                  /* index in barriers, WSDBG_NONE */
    struct wsdbg_optional_u32 parity;  /* waited for */
    struct wsdbg_optional_u32 count;   /* threads of a named barrier, registers asked, groups */
    struct wsdbg_optional_u64 address; /* polled: global address */
    struct wsdbg_optional_u32 width_bytes;
    struct wsdbg_optional_u64 value; /* last seen there */
    bool seen;                       /* its operands were read; false: taken from a warp in the same state */
    /* WAIT_MBARRIER: a loop tests several barriers in turn and goes on when one of them is through; this is one.  Not
     * in the session's file. */
    bool of_several;
    /* Lanes that wait for others of the warp: the row in sites of a store that some of them make next to the word which
     * those poll; what is said of it is in a finding, so it is not in the session's file. */
    struct wsdbg_optional_u32 writes_site;
};

/* An error that the GPU reported of a warp.  Not in the session's file: what is to be said of it is in a finding. */
struct wsdbg_exception {
    uint32_t warp;
    uint32_t code;     /* CUDA_EXCEPTION_<code> */
    uint32_t lanes;    /* that it may be of: those it was reported of, or all of the warp where it names a warp */
    uint32_t at_lanes; /* exact: those of them that executed the instruction; 0 = not known */
    bool thread_known; /* one alone did, or its address alone is misaligned: */
    uint32_t thread[3];
    uint64_t pc;                       /* of the instruction, or where the thread stands */
    bool exact;                        /* the instruction's; false: it is that one or one before it */
    uint32_t site;                     /* of that PC */
    uint8_t access;                    /* exact, an mbarrier's: enum wsdbg_access_kind of sass/access_kind.h; else 0 */
    uint32_t barrier;                  /* ... which, as far as registers say: index in barriers, WSDBG_NONE */
    bool remote;                       /* ... that of a CTA which is not to be seen any more */
    struct wsdbg_optional_u64 address; /* exact, of a load, store or atomic: what it names, the lowest of the lanes */
    uint64_t last_address;             /* ... the highest */
    bool in_shared;                    /* ... offsets in shared memory, as the instruction has them */
    uint32_t misaligned_bytes;         /* ... the address is no multiple of these, its width; 0 = not known to be */
    bool trapped;                      /* exact: the instruction ends the kernel */
};

/* Registers or memory as they were, for the session's file. */
enum wsdbg_excerpt_kind {
    WSDBG_EXCERPT_REGISTERS = 1,
    WSDBG_EXCERPT_UNIFORM,
    WSDBG_EXCERPT_SHARED,
    WSDBG_EXCERPT_GLOBAL
};
enum { WSDBG_EXCERPT_WORDS = 32 };
struct wsdbg_excerpt {
    uint32_t kind;
    uint32_t cta, warp; /* WSDBG_NONE where it does not apply */
    uint32_t lane;
    uint64_t first; /* register, or byte address */
    uint32_t count; /* words */
    uint32_t words[WSDBG_EXCERPT_WORDS];
};

/* One look at the GPU through a debug attach that stops it. */
struct wsdbg_look_row {
    uint32_t process_id;                                           /* that was looked at, 0 = the only one */
    uint64_t time_ns;                                              /* host, when the GPU was stopped; 0 = not known */
    uint64_t attach_ns, suspend_ns, read_ns, resume_ns, detach_ns; /* lengths; 0 = that step was not needed */
    uint64_t earlier_attach_ns; /* host, when a debugger last attached for an earlier look; 0 = none is known of */
    uint64_t first_attach_ns;   /* the same of the process's first look, where there was an earlier one */
    bool held_nothing_back;     /* the debugger attached before there was work that the attach could hold back */
    uint32_t warps, warps_read,
        moved; /* seen; whose registers were read; that stand elsewhere than at the look before */
    struct wsdbg_optional_u32 barriers_changed;
};

/* A core dump tells nothing of what it cost; a look that read the GPU itself took time. */
static inline bool wsdbg_look_lengths_known(const struct wsdbg_look_row *look)
{
    return look->read_ns != 0;
}

/* A grid whose warps were seen: in slots, or on the GPU itself. */
struct wsdbg_grid {
    uint32_t context;
    uint64_t grid_id;   /* %gridid */
    uint32_t module;    /* whose names apply */
    uint32_t launch;    /* WSDBG_NONE = could not be told apart */
    uint32_t function;  /* known also where the launch is not, if only one probed function was launched */
    uint32_t cta_total; /* 0 = not known */
    uint32_t warps_per_cta;
    uint32_t size[3], block[3]; /* CTAs, and threads of one, as the GPU has them; 0 = not known.  Not in the file */
    struct wsdbg_optional_u32 cluster[3]; /* likewise */
    uint32_t cta_first, cta_count;        /* CTAs seen, or known to have left a cluster that was */
    uint32_t warps_live, warps_exited;
    bool running;         /* some warp has not exited, its context is alive and its launch is not known to be done */
    uint64_t progress_ns; /* host time at which it was last seen to move, 0 = not known */
    bool moves;           /* it moves while others stand: what its warps wait for at this moment says nothing */
};

struct wsdbg_cta {
    uint32_t grid;
    uint32_t x, y, z;
    uint32_t cluster_id, cluster_rank, cluster_size; /* size 1 = no cluster */
    struct wsdbg_optional_u32 sm;
    uint32_t warp_first,
        warp_count; /* warps seen, ordered by warp index; fewer than warps_per_cta = the rest not seen */
};

struct wsdbg_warp_row {
    uint32_t cta;
    uint32_t warp; /* linear thread / 32 */
    enum wsdbg_warp_state state;
    struct wsdbg_optional_u32 role;            /* role id */
    struct wsdbg_history_event last;           /* kind NONE = no event yet */
    struct wsdbg_optional_u32 line;            /* source line of the site, where the last event has one */
    struct wsdbg_optional_u32 lanes;           /* active lanes at the last event, where it has them */
    uint32_t barrier;                          /* index in snapshot.barriers of what it waits for */
    uint32_t site;                             /* index in sites, WSDBG_NONE: the part's that it waits with */
    uint32_t part_first, part_count;           /* in snapshot.parts; 0 = not known from the machine's state */
    struct wsdbg_optional_u32 parity;          /* of the phase waited for, from the machine's state */
    struct wsdbg_optional_u32 registers_held;  /* a thread, now */
    struct wsdbg_optional_u32 registers_asked; /* while WAIT_REGISTERS */
    bool unmoved; /* UNKNOWN because two looks saw it in one place outside of any known wait, or in a wait that is over;
                     not kept in sessions, as the next one */
    uint64_t stands; /* two looks show that it stands: by the wait, or by its place and registers; a hash of them.  0 =
                        not known */
    uint64_t changed_ns;                   /* host time at which its slot was last seen to change */
    uint32_t history_first, history_count; /* in snapshot.history, oldest first; the last one equals `last` */
    bool history_whole;                    /* starts with the warp's BEGIN: nothing is missing */
};

enum wsdbg_barrier_kind {
    WSDBG_BARRIER_MBARRIER = 1,
    WSDBG_BARRIER_NAMED,
    WSDBG_BARRIER_CLUSTER,
    WSDBG_BARRIER_REGISTERS,
    WSDBG_BARRIER_WGMMA,
    WSDBG_BARRIER_BULK,
    WSDBG_BARRIER_GRID_DEPENDENCY,
    WSDBG_BARRIER_GLOBAL_FLAG,
    WSDBG_BARRIER_SHARED_FLAG,
    WSDBG_BARRIER_KIND_END
};
const char *wsdbg_barrier_kind_name(enum wsdbg_barrier_kind kind);

/* A barrier object of one CTA (one stage of one mbarrier family, one named id, the CTA's register pool …). */
struct wsdbg_barrier {
    uint32_t cta;
    enum wsdbg_barrier_kind kind;
    uint32_t id;                                 /* author's mbarrier id or hardware id of a named barrier */
    uint32_t stage;                              /* mbarriers */
    const struct wsdbg_name *name;               /* row of snapshot.names, NULL = not named */
    struct wsdbg_optional_u32 expected_arrivals; /* mbarrier: from its init event; named: thread count asked */
    struct wsdbg_optional_u32 phase;             /* parity of the current phase */
    struct wsdbg_optional_u32 pending_arrivals;
    struct wsdbg_optional_u32 completed_phases;
    struct wsdbg_optional_u64 pending_tx_bytes; /* still missing; two's complement if early */
    uint32_t waiters;                           /* warps of the CTA that wait on it now */
    bool record_lacks; /* its word counts arrivals in this phase that nobody recorded, or lacks some that were */
    struct wsdbg_optional_u32 shared_offset; /* mbarriers seen in memory */
    struct wsdbg_optional_u64 word;          /* the mbarrier's 64 bits as they were */
    struct wsdbg_optional_u32 device_id;     /* mbarriers: its array in events that a simulated device writes itself, */
    uint32_t device_stage, device_stages;    /* its stage there, and how many there are; not kept in sessions */
};

/* A line of what could not be seen. */
typedef char wsdbg_note[256];

struct wsdbg_snapshot {
    uint64_t time_ns;   /* host, when it was taken */
    const char *source; /* "ring", … */
    /* contexts and context_count, modules and module_count, … */
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    row_type *rows;                                                 \
    size_t count;
#include "model/tables.def"
    uint64_t launches_total;       /* launches ever, also of processes that are not shown any more */
    uint64_t unread_segments;      /* of the session's, that could not be read: what they hold is not in here */
    char unread_reason[256];       /* of one of them */
    uint64_t refusals_left_out;    /* different ones that there was no room to keep */
    uint64_t allocations_left_out; /* that there was no room to keep */
    struct wsdbg_snapshot *before; /* what the look before the newest one saw, of the first process that was looked
                                      at, to compare with; its tables are the first rows of this one's.  NULL =
                                      there was none */
    struct wsdbg_snapshot *record; /* what the kernels recorded themselves of grids whose state a look then showed:
                                      their slots and histories.  Tables are the first rows of this one's, the history
                                      has the same rows.  NULL = they recorded nothing, or were not looked at */
    bool names_inferred;           /* role and barrier names come from what the code does, not from its author */
    uint64_t torn_events;          /* history entries or slots that did not fit together */
    uint64_t foreign_slots;        /* slots whose identity failed its check */
    uint64_t lost_rows;            /* table rows the observer could not record */
    uint64_t progress_ns;          /* host time at which any slot of a running grid last changed */
};

/* When a process was looked at: snapshots of several nodes are not taken at one moment. */
uint64_t wsdbg_snapshot_seen_ns(const struct wsdbg_snapshot *snapshot, uint32_t process_id);

/* The memory of a process that holds an address: what lives, or was freed after `used_ns` (0 = not known).  What was
 * there at `used_ns` goes before what came later.  NULL = none is known. */
const struct wsdbg_allocation *wsdbg_snapshot_allocation(const struct wsdbg_snapshot *snapshot, uint32_t process_id,
                                                         uint64_t address, uint64_t used_ns);

/* The same grid in another picture of the same contexts: by context and grid id; WSDBG_NONE = it is not there. */
uint32_t wsdbg_snapshot_same_grid(const struct wsdbg_snapshot *snapshot, uint32_t grid,
                                  const struct wsdbg_snapshot *other);
/* The same CTA, by its place in the grid that is `other_grid` there. */
uint32_t wsdbg_snapshot_same_cta(const struct wsdbg_snapshot *snapshot, uint32_t cta,
                                 const struct wsdbg_snapshot *other, uint32_t other_grid);
/* Whether all warps of a CTA have exited. */
bool wsdbg_snapshot_cta_has_left(const struct wsdbg_snapshot *snapshot, uint32_t cta);

/* Frees everything inside; the struct becomes zero. */
void wsdbg_snapshot_deinit(struct wsdbg_snapshot *snapshot);

/* A copy that shares nothing with the original but static strings.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_snapshot_copy(const struct wsdbg_snapshot *snapshot, struct wsdbg_snapshot *out);

/* A row of sites, NULL where the number is none. */
const struct wsdbg_site *wsdbg_snapshot_site(const struct wsdbg_snapshot *snapshot, uint32_t site);

/* Name row of an id in a module; NULL where none was given. */
const struct wsdbg_name *wsdbg_snapshot_name(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                             enum wsdbg_name_kind kind, uint32_t id);
/* Where the name of a module comes from; AUTHOR for NULL. */
enum wsdbg_name_origin wsdbg_snapshot_name_origin(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                                  const struct wsdbg_name *name);
/* The role's name of a warp, or NULL. */
const char *wsdbg_snapshot_role_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp);
/* Demangling is not done here: the function's name of a grid, or NULL. */
const char *wsdbg_snapshot_grid_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid);

/* The clause of a sentence that says why a GPU has no cause. */
#define WSDBG_CAUSES_KNOWN "causes are known for sm_90 only"
/* Whether the rules can name causes on the grid's GPU: it is sm_90, or its architecture is not known. */
bool wsdbg_causes_are_known(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid);

#endif
