/* rules.h - the table of rules.  A rule looks at one case and adds the findings it can justify.
 *
 * A rule never says more than the records show: "proven" needs every record it rests on; where one is
 * missing it says likely, possible or nothing.
 */
#ifndef WSDBG_DIAGNOSE_RULES_H
#define WSDBG_DIAGNOSE_RULES_H

#include "diagnose/phrase.h"
#include "diagnose/round.h"
#include "diagnose/wait_graph.h"

typedef void wsdbg_rule(struct wsdbg_case *c);

wsdbg_rule wsdbg_rule_registers;   /* REGS_PARTIAL_WARPGROUP, REGS_DIVERGED, REGS_EXHAUSTED */
wsdbg_rule wsdbg_rule_shared_tx;   /* TX_SHARED_BARRIER */
wsdbg_rule wsdbg_rule_double;      /* DOUBLE_ARRIVE */
wsdbg_rule wsdbg_rule_parity;      /* PARITY_WRONG, PARITY_DRIFT */
wsdbg_rule wsdbg_rule_transaction; /* TX_MISMATCH, CLUSTER_RANK_ASYMMETRY, TX_NO_ARRIVE, TMA_NEVER_COMPLETED */
wsdbg_rule wsdbg_rule_early;       /* BARRIER_NOT_INIT: arrivals before the initialisation */
wsdbg_rule wsdbg_rule_arrivals;    /* ARRIVE_MISSING, ARRIVE_SHORT, BARRIER_NOT_INIT */
wsdbg_rule wsdbg_rule_named;       /* NAMED_COUNT, NAMED_ID_SHARED, DOUBLE_ARRIVE, BLOCK_SYNC_IN_ROLE */
wsdbg_rule wsdbg_rule_lanes;       /* LANE_SPLIT */
wsdbg_rule wsdbg_rule_exited;      /* WAKER_EXITED, ROLE_DISAGREE */
wsdbg_rule wsdbg_rule_peer;        /* PEER_EXITED */
wsdbg_rule wsdbg_rule_fault;       /* TX_SHARED_BARRIER, DOUBLE_ARRIVE: only where an error ended the context */
wsdbg_rule wsdbg_rule_fault_peer;  /* PEER_EXITED: likewise */
wsdbg_rule wsdbg_rule_exception;   /* those two, PEER_EXITED, UNKNOWN: where the GPU says which instruction */

/* For cases known from the machine's state and the code. */
wsdbg_rule wsdbg_rule_code_lanes;    /* LANE_SPLIT */
wsdbg_rule wsdbg_rule_code_phase;    /* TX_SHARED_BARRIER, DOUBLE_ARRIVE, PARITY_WRONG, PARITY_DRIFT */
wsdbg_rule wsdbg_rule_code_bytes;    /* TX_MISMATCH, CLUSTER_RANK_ASYMMETRY, TMA_NEVER_COMPLETED, BARRIER_NOT_INIT */
wsdbg_rule wsdbg_rule_code_early;    /* BARRIER_NOT_INIT: arrivals before the initialisation */
wsdbg_rule wsdbg_rule_code_arrivals; /* ARRIVE_MISSING, ARRIVE_SHORT, TX_NO_ARRIVE, LANE_SPLIT, PEER_EXITED */
wsdbg_rule wsdbg_rule_code_gather;   /* the same, LANE_SPLIT */
wsdbg_rule wsdbg_rule_code_exited;   /* WAKER_EXITED, ROLE_DISAGREE */

/* For both. */
wsdbg_rule wsdbg_rule_cluster; /* CLUSTER_MISSING */
wsdbg_rule wsdbg_rule_outside; /* GLOBAL_SPIN, HOST_WAIT, NOT_RESIDENT, GRID_DEPENDENCY, LANE_SPLIT */
wsdbg_rule wsdbg_rule_cycle;   /* WAIT_CYCLE, SLOW, UNKNOWN: only where nothing better was said */

/* Arrivals on the barrier go over the cluster, and warps of other CTAs like those that arrived have not. */
bool wsdbg_peers_owe(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round);

/* Whether some finding of the case is at least likely. */
bool wsdbg_case_explained(const struct wsdbg_case *c);

/* Where a cause stands among findings of equal confidence: smaller = more specific = first. */
unsigned wsdbg_cause_rank(enum wsdbg_cause cause);
/* Causes that only describe the standstill; a specific one of the same case replaces them. */
bool wsdbg_cause_is_fallback(enum wsdbg_cause cause);

/* PROVEN where the waiter cannot be woken any more.  Else POSSIBLE, whatever the record shows: a warp that runs may
 * still do what is missing, and only what is likely ends the program. */
static inline enum wsdbg_confidence wsdbg_if_stuck(const struct wsdbg_case *c, uint32_t warp)
{
    return wsdbg_case_stuck(c, warp) ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_POSSIBLE;
}

static inline enum wsdbg_confidence wsdbg_weaker(enum wsdbg_confidence a, enum wsdbg_confidence b)
{
    return a < b ? a : b;
}

#endif
