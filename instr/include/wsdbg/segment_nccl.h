/* segment_nccl.h - rows of the segment: the process as a rank, and its communicators and calls of NCCL.
 *
 * Written by: the observer (instr/shim).
 * session.h has the segment, the protocol of its tables and the rules of change.  Compiles as C11 and C++17.
 */
#ifndef WSDBG_SEGMENT_NCCL_H
#define WSDBG_SEGMENT_NCCL_H

#include "ring.h"

/* Which process of a parallel run this one is, by its own environment at the moment at which the newest context was
 * made (and, while no rank was found, at which the newest module was loaded): a launcher sets the variables before the
 * program starts, Python's multiprocessing may set them later. */
struct wsdbg_rank_row {
    uint32_t version; /* counts up with each change, written last; 0 = being written, or never was */
    uint32_t rank, local_rank, world_size; /* WSDBG_UNKNOWN32 */
    char rank_from[64];                    /* the variable that the rank is the value of; "" = no rank is known */
    char job[512]; /* variables that are the same in all processes of a run: "NAME=value", one a line */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_rank_row) % 8 == 0, "word copies");

/* Communicators of NCCL that the program made, and the newest calls on each.  If no row is free, the row of a destroyed
 * communicator is used again.  Data types and reductions have the numbers of NCCL's public header. */
enum wsdbg_communicator_end {
    WSDBG_COMMUNICATOR_LIVES,
    WSDBG_COMMUNICATOR_FINALIZED, /* ncclCommFinalize */
    WSDBG_COMMUNICATOR_DESTROYED,
    WSDBG_COMMUNICATOR_ABORTED
};
struct wsdbg_communicator_row {
    uint64_t number;      /* counts the process's communicators up from 1, written last; 0 = being written */
    uint64_t handle;      /* ncclComm_t; 0 = the call that makes it has not returned it yet */
    uint64_t identity;    /* the same in all processes of the communicator; 0 = not known */
    uint64_t began_ns;    /* start of the call that makes it */
    uint64_t ready_ns;    /* end of that call, or of the group around it; 0 = not over */
    uint64_t ended_ns;    /* start of the first call that finalized, destroyed or aborted it; 0 = there was none */
    uint64_t calls;       /* calls on it so far */
    uint64_t collectives; /* of these all but sends and receives */
    uint32_t rank;        /* in the communicator, or WSDBG_UNKNOWN32, as the next ones */
    uint32_t rank_count;
    uint32_t device;  /* ordinal */
    uint32_t context; /* row in contexts */
    uint32_t end;     /* enum wsdbg_communicator_end */
    int32_t error;    /* last error of a call on it or of ncclCommGetAsyncError; 0 = none */
    char made_by[40]; /* "ncclCommInitRank" */
    uint64_t done_ns; /* calls issued before this moment are done: a call that waited for them has returned */
    uint64_t reserved;
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_communicator_row) == 144, "communicator layout");

enum wsdbg_collective_operation {
    WSDBG_COLLECTIVE_ALL_REDUCE = 1,
    WSDBG_COLLECTIVE_BROADCAST,
    WSDBG_COLLECTIVE_REDUCE,
    WSDBG_COLLECTIVE_ALL_GATHER,
    WSDBG_COLLECTIVE_REDUCE_SCATTER,
    WSDBG_COLLECTIVE_ALL_TO_ALL,
    WSDBG_COLLECTIVE_GATHER,
    WSDBG_COLLECTIVE_SCATTER,
    WSDBG_COLLECTIVE_SEND,
    WSDBG_COLLECTIVE_RECEIVE
};
enum wsdbg_collective_flags {
    WSDBG_COLLECTIVE_CAPTURED = 1, /* captured into a graph: nobody knows when and how often that runs */
    WSDBG_COLLECTIVE_GROUPED = 2,  /* between ncclGroupStart and ncclGroupEnd: the outermost end issues it */
    WSDBG_COLLECTIVE_REFUSED = 4   /* NCCL returned an error */
};
struct wsdbg_collective_row {
    uint64_t sequence;     /* entry number + 1 among the communicator's calls, written last */
    uint64_t communicator; /* `number` of its row */
    uint64_t number; /* counts the communicator's collectives from 1, or its sends (receives) with that peer; 0 = not
                        known */
    uint64_t time_ns;
    uint64_t issued_ns;       /* end of the call, or of the outermost group around it; 0 = not over */
    uint64_t count;           /* elements, as given */
    uint64_t stream;          /* CUstream as given */
    uint64_t launches_before; /* launches of the process before the call, or before the end of its group */
    uint64_t launches_after;  /* launches of the process after it */
    uint32_t operation;       /* enum wsdbg_collective_operation */
    uint32_t datatype;        /* ncclDataType_t */
    uint32_t reduction;       /* ncclRedOp_t, or WSDBG_UNKNOWN32 where there is none */
    uint32_t peer;            /* root, destination or source; WSDBG_UNKNOWN32 = none */
    uint32_t thread_id;
    uint32_t flags; /* enum wsdbg_collective_flags */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_collective_row) == 96, "collective layout");

#endif
