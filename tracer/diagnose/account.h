/* account.h - what each warp has to do with one barrier: who waits on it, what was done for its present phase, and who
 * could still come.
 *
 * Reads: a snapshot.  Read by: `wsdbg why`.  The rules ask the same things of the case, the ledger and the wait-for
 * graph; this puts them side by side for one barrier, with what is not known said to be so.
 */
#ifndef WSDBG_DIAGNOSE_ACCOUNT_H
#define WSDBG_DIAGNOSE_ACCOUNT_H

#include "diagnose/finding.h"

/* A set of these a warp. */
enum wsdbg_share {
    WSDBG_SHARE_WAITS = 1u << 0,
    WSDBG_SHARE_ARRIVED = 1u << 1,  /* in the present phase, as the next three */
    WSDBG_SHARE_EXPECTED = 1u << 2, /* announced bytes */
    WSDBG_SHARE_ISSUED = 1u << 3,   /* issued a copy that completes here */
    WSDBG_SHARE_SKIPPED = 1u << 4,  /* went past the place without arriving */
    WSDBG_SHARE_TO_COME = 1u << 5,  /* has not come, and could */
    WSDBG_SHARE_LEFT = 1u << 6      /* has not come, and left the kernel */
};

struct wsdbg_account_row {
    uint32_t warp;                        /* index in snapshot.warps */
    unsigned shares;                      /* enum wsdbg_share, at least one */
    uint32_t arrived, threads;            /* where only some of its threads arrived in the present phase, else 0 */
    struct wsdbg_history_event last_deed; /* newest arrival, bytes or copy of it on record; kind NONE = none */
};

struct wsdbg_account {
    struct wsdbg_account_row *rows; /* ordered by warp */
    size_t row_count;
    bool phase_known;   /* whose deeds count for the present phase is on record */
    bool phase_over;    /* ... or rather for the one before: all that it needs was done, and a new one began */
    bool to_come_known; /* nobody else could come */
    struct wsdbg_optional_u32 iteration;                    /* of the present phase, as the author counts */
    struct wsdbg_optional_u64 expected_bytes, issued_bytes; /* in the present phase, as recorded */
};

/* The account of barrier `barrier` of the snapshot; `histories`, where they are there, are those of its cluster's CTAs.
 * `out` is owned by the caller. */
struct wsdbg_error *wsdbg_account(const struct wsdbg_snapshot *snapshot, uint32_t barrier, struct wsdbg_account *out);
void wsdbg_account_deinit(struct wsdbg_account *account);

/* CTAs (indices in snapshot.ctas, by rank) that can block each other with this one: itself, or its cluster.  `out` is
 * owned by the caller; *count = 0 where the grid's rows do not fit together. */
struct wsdbg_error *wsdbg_account_ctas(const struct wsdbg_snapshot *snapshot, uint32_t cta, uint32_t **out,
                                       uint32_t *count);

#endif
