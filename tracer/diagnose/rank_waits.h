/* rank_waits.h - the ranks that a call of NCCL waits for, in its kernel, seen or not, or on the host, found from each
 * process's calls of NCCL. */
#ifndef WSDBG_DIAGNOSE_RANK_WAITS_H
#define WSDBG_DIAGNOSE_RANK_WAITS_H

#include "model/snapshot.h"

/* What another rank of the communicator did about the call that waits. */
enum wsdbg_rank_wait_kind {
    WSDBG_RANK_ABSENT = 1, /* it has not made the call */
    WSDBG_RANK_QUEUED,     /* it has, but its kernel is queued behind that of another call */
    WSDBG_RANK_DIFFERS,    /* it made a different call with this number */
    WSDBG_RANK_ENDED       /* its process has ended */
};

struct wsdbg_rank_wait {
    enum wsdbg_rank_wait_kind kind;
    uint32_t grid; /* the kernel that stands still; WSDBG_NONE = none is seen: the call waits on the host, or no look
                      showed its kernel */
    uint32_t call; /* index in collectives: the call of that kernel; WSDBG_NONE = one that makes a communicator */
    uint32_t process, other; /* indexes in processes: the one that waits, and the one that it waits for */
    uint32_t member;         /* index in communicators: the row of the other process; without a call the one that is
                                being made */
    uint32_t other_call;     /* DIFFERS, QUEUED: index in collectives; else WSDBG_NONE */
    bool cannot_come; /* ABSENT, QUEUED: as far as wsdbg sees, the other cannot enter the call any more: it has ended
                         the communicator, or is blocked for good */
    bool is_sure; /* DIFFERS: in more than the reduction, which gives wrong numbers rather than a hang.  ENDED: it had
                     not made the call, or all other ranks have done their part */
};

struct wsdbg_rank_waits {
    struct wsdbg_rank_wait *rows;
    size_t count;
};

/* Finds all waits, ordered by grid.  The caller ends `out` with wsdbg_rank_waits_deinit(). */
struct wsdbg_error *wsdbg_rank_waits_find(const struct wsdbg_snapshot *snapshot, struct wsdbg_rank_waits *out);
void wsdbg_rank_waits_deinit(struct wsdbg_rank_waits *waits);

/* Whether this wait is part of a circle: a process waits, through others, for itself. */
bool wsdbg_rank_wait_is_in_circle(const struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait,
                                  const struct wsdbg_rank_wait **next);
/* Whether the other rank may still come.  Then nothing is wrong yet. */
bool wsdbg_rank_wait_may_end(const struct wsdbg_rank_wait *wait);
/* Whether the process itself waits in a collective. */
bool wsdbg_rank_waits_itself(const struct wsdbg_rank_waits *waits, uint32_t process);
/* Whether some rank that the grid waits for may still come.  Then nothing is wrong yet. */
bool wsdbg_rank_may_come(const struct wsdbg_snapshot *snapshot, uint32_t grid);

#endif
