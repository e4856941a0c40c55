/* round.h - what one mbarrier wait still needs, and which warps did or did not contribute to it.
 *
 * A wait is the r-th of its stage.  A "full" barrier's wait r needs the arrivals of round r; an "empty"
 * barrier's needs those of round r - 1, either because its first wait passes by design or because the
 * arrivers released every slot once beforehand.
 */
#ifndef WSDBG_DIAGNOSE_ROUND_H
#define WSDBG_DIAGNOSE_ROUND_H

#include "diagnose/ledger.h"

struct wsdbg_round {
    bool known;              /* `round` below holds; else nothing else does */
    bool passes_by_design;   /* a first wait that needs no arrival */
    bool needs_known;        /* `tag` holds: which arrivals are needed */
    bool certain;            /* ... declared or seen to be so, not assumed */
    bool of_its_parity;      /* the wait names the parity of phase `tag`; else it is about another phase */
    bool covered;            /* every record reaches back far enough: what is not in it did not happen */
    uint32_t round;          /* of the wait */
    uint32_t tag;            /* of the arrivals it needs */
    uint32_t iteration;      /* the same in the author's count; WSDBG_NO_ITERATION where rounds were counted */
    uint32_t arrivals;       /* recorded for `tag` */
    uint32_t later_arrivals; /* recorded for rounds after it */
    uint64_t expected_bytes, issued_bytes;   /* for `tag` */
    struct wsdbg_warp_set arrived, expected; /* warps that arrived, that expected bytes, for `tag` */
};

/* Works out the rounds of all waits once; the ledger keeps them. */
struct wsdbg_error *wsdbg_rounds_create(struct wsdbg_case *c);

/* `wait` is one of the ledger's. */
struct wsdbg_round wsdbg_round_of(const struct wsdbg_case *c, const struct wsdbg_wait *wait);

/* The parity a wait of this round must name; false where neither a name nor earlier waits tell. */
bool wsdbg_right_parity(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t *parity, bool *declared);

/* True if nothing about `iteration` of the stage's barrier can be missing from the records. */
bool wsdbg_case_covers(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t iteration);

/* Fills in `init` of stages whose init is not on record: what every completed round on record needed. */
void wsdbg_infer_inits(struct wsdbg_case *c);

/* By whole records the phase under way has all its arrivals, or none: that it has some is an error in the count of
 * rounds. */
bool wsdbg_stage_comes_out_even(const struct wsdbg_case *c, const struct wsdbg_stage *stage);

/* Of whole records: the waiter came through more rounds than the arrivals on record complete, one that may have passed
 * at once left out.  Somebody arrives who has no probe there. */
bool wsdbg_others_arrive_unseen(const struct wsdbg_case *c, const struct wsdbg_wait *wait);

/* What a warp that should arrive did about the round. */
enum wsdbg_contribution {
    WSDBG_ARRIVED,
    WSDBG_SKIPPED,       /* went past the iteration without arriving */
    WSDBG_EXITED_BEFORE, /* left the kernel before it reached the iteration */
    WSDBG_TO_COME,       /* has not reached it, or that cannot be told */
    WSDBG_NEVER_ARRIVES  /* never used the barrier as an arriver, as far as seen */
};
enum wsdbg_contribution wsdbg_contribution(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                           const struct wsdbg_round *round, uint32_t warp);

/* Warps that should arrive: declared roles, else those seen arriving; `declared` says which. */
struct wsdbg_warp_set wsdbg_arrivers(const struct wsdbg_case *c, const struct wsdbg_stage *stage, bool *declared);

/* A warp of which some threads arrived and others did not. */
struct wsdbg_torn {
    uint32_t warp; /* of the case; WSDBG_NONE = there is none */
    uint32_t arrived, threads;
};
/* The one torn warp of those that arrived, where each other one arrived with all its threads; none where its threads
 * are not as many as are missing. */
struct wsdbg_torn wsdbg_round_torn(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                                   const struct wsdbg_round *round, uint32_t missing);

/* Arrivals the warp makes each time on this barrier, from its newest one; 0 = none seen. */
uint32_t wsdbg_usual_arrivals(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp);

#endif
