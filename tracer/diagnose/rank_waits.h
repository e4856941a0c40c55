/* rank_waits.h - which ranks a kernel of a collective waits for, by the calls of NCCL that each process made. */
#ifndef WSDBG_DIAGNOSE_RANK_WAITS_H
#define WSDBG_DIAGNOSE_RANK_WAITS_H

#include "model/snapshot.h"

/* What another rank of the communicator has done about a call whose kernel stands still. */
enum wsdbg_rank_wait_kind {
    WSDBG_RANK_ABSENT = 1, /* it has not made the call */
    WSDBG_RANK_QUEUED,     /* it has, but its kernel does not run, while that of another call does */
    WSDBG_RANK_DIFFERS,    /* its call with this number is another one */
    WSDBG_RANK_ENDED       /* its process has ended */
};

struct wsdbg_rank_wait {
    enum wsdbg_rank_wait_kind kind;
    uint32_t grid;           /* that stands still */
    uint32_t call;           /* index in collectives: whose kernel that is */
    uint32_t process, other; /* indexes in processes: who waits, and for whom */
    uint32_t member;         /* index in communicators: the other's place in it */
    uint32_t other_call;     /* DIFFERS, QUEUED: index in collectives; else WSDBG_NONE */
    bool cannot_come; /* ABSENT, QUEUED: the other can not get there any more, as far as is seen: it has ended the
                         communicator, or is blocked for good */
};

struct wsdbg_rank_waits {
    struct wsdbg_rank_wait *rows;
    size_t count;
};

/* All of them, by grid.  `out` is the caller's, to be ended by wsdbg_rank_waits_deinit. */
struct wsdbg_error *wsdbg_rank_waits_find(const struct wsdbg_snapshot *snapshot, struct wsdbg_rank_waits *out);
void wsdbg_rank_waits_deinit(struct wsdbg_rank_waits *waits);

/* Whether some process waits, over others, for itself: this wait is a part of that circle. */
bool wsdbg_rank_wait_is_in_circle(const struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait,
                                  const struct wsdbg_rank_wait **next);
/* The one that is waited for may come, so nothing is wrong yet. */
bool wsdbg_rank_wait_may_end(const struct wsdbg_rank_wait *wait);
/* The process waits in a collective itself. */
bool wsdbg_rank_waits_itself(const struct wsdbg_rank_waits *waits, uint32_t process);
/* A rank for which the grid waits may still come, so nothing is wrong yet. */
bool wsdbg_rank_may_come(const struct wsdbg_snapshot *snapshot, uint32_t grid);

#endif
