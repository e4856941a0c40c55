/* barrier_rules.h - the rules about barriers: each reads a survey and adds what it finds.  One file an idea;
 * rule_barriers.c calls them. */
#ifndef WSDBG_LINT_BARRIER_RULES_H
#define WSDBG_LINT_BARRIER_RULES_H

#include "lint/barrier_survey.h"

typedef struct wsdbg_error *wsdbg_barrier_rule(const struct wsdbg_barrier_survey *survey,
                                               struct wsdbg_lint_findings *out);

wsdbg_barrier_rule wsdbg_barrier_rule_waits;     /* BARRIER_NOT_INIT, ARRIVE_MISSING, ARRIVE_SHORT, TX_… */
wsdbg_barrier_rule wsdbg_barrier_rule_init;      /* BARRIER_NOT_INIT: used before it is */
wsdbg_barrier_rule wsdbg_barrier_rule_named;     /* NAMED_COUNT, NAMED_ID_SHARED */
wsdbg_barrier_rule wsdbg_barrier_rule_role_sync; /* BLOCK_SYNC_IN_ROLE, CLUSTER_MISSING */
wsdbg_barrier_rule wsdbg_barrier_rule_peer;      /* PEER_EXITED */

/* ---- what is wrong with one mbarrier (mbarrier_verdict.c) ---- */

enum wsdbg_mbarrier_fault {
    WSDBG_MBARRIER_FINE, /* or nobody can tell */
    WSDBG_MBARRIER_NOT_INITIALISED,
    WSDBG_MBARRIER_NO_ARRIVAL,
    WSDBG_MBARRIER_BYTES_ONLY, /* bytes are announced, or come, and nobody arrives */
    WSDBG_MBARRIER_SHORT,
    WSDBG_MBARRIER_NO_BYTES,    /* bytes are announced, and no copy brings any */
    WSDBG_MBARRIER_OTHER_BYTES, /* no number of the copies that there are brings those announced */
};

struct wsdbg_mbarrier_verdict {
    enum wsdbg_mbarrier_fault fault;
    bool is_proven;    /* in whatever way the code is run */
    uint32_t count;    /* SHORT: of the init, the lowest */
    uint32_t arrivals; /* SHORT: in a phase, at most */
    uint64_t bytes;    /* announced */
};

/* Of the mbarrier at this offset of the CTA's shared memory. */
struct wsdbg_mbarrier_verdict wsdbg_mbarrier_judge(const struct wsdbg_barrier_survey *survey, uint32_t offset);

#endif
