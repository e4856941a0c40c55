/* program_rows.h - rows of a snapshot: the program's processes and what they gave the GPU to do.
 *
 * Written from: the segment, a core dump.  snapshot.h says what holds for all rows.
 */
#ifndef WSDBG_MODEL_PROGRAM_ROWS_H
#define WSDBG_MODEL_PROGRAM_ROWS_H

#include "base/optional.h"
#include "wsdbg/session.h"

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

struct wsdbg_activity {
    uint32_t process_id, kind, device_ordinal, correlation;
    uint64_t start_ns, end_ns, stream, bytes;
    char name[256];
};

#endif
