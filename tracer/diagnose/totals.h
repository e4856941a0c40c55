/* totals.h - the arrivals that all threads make on one mbarrier up to the kernel's end, and a wait for which they are
 * too few.  Only for rule_code_totals.c and totals_left.c.
 */
#ifndef WSDBG_DIAGNOSE_TOTALS_H
#define WSDBG_DIAGNOSE_TOTALS_H

#include "diagnose/replay.h"

struct wsdbg_totals {
    struct wsdbg_case *c;
    const struct wsdbg_replay *replay;
    uint32_t agent, barrier, warp; /* who waits, on what */
    uint32_t row;                  /* of the barrier, in snapshot.barriers */
    uint64_t in_walks;             /* arrivals of all threads up to the kernel's end */
    uint64_t arrivals;             /* ... less those of agents that wait on the barrier themselves, behind that wait */
    uint32_t expected, phase;      /* phase: how many have completed */
    bool has_bytes;                /* some step announces bytes without an arrival */
    bool is_guessed;               /* some walk took an atomic to find the present value */
    uint32_t inits;                /* steps that initialise it */
    uint32_t initial;              /* the count that they name */
    struct wsdbg_warp_set by;      /* who arrives on it */
    struct wsdbg_warp_set beside;  /* who announces or copies bytes without an arrival */
};

/* A finding about the barrier, and the role of these warps; NULL when memory ran out. */
struct wsdbg_finding *wsdbg_totals_find(const struct wsdbg_totals *totals, enum wsdbg_cause cause,
                                        const struct wsdbg_warp_set *whose);
/* How many arrivals an agent makes at once on a barrier, in its first round there. */
uint32_t wsdbg_totals_first_arrivals(const struct wsdbg_replay_agent *agent, uint32_t barrier);

/* ---- those who have left the kernel (totals_left.c) ---- */

/* Warps that have left the kernel and could have arrived on the barrier, had they taken another way. */
struct wsdbg_warp_set wsdbg_totals_left_arrivers(const struct wsdbg_totals *totals);
/* Whether each agent that announces or copies bytes to the barrier has left the kernel right after that. */
bool wsdbg_totals_have_left_at_bytes(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *left);
/* Lanes whose code arrives on the barrier and that have left the kernel, though they took part and their warp is still
 * in it; 0: there are none. */
uint32_t wsdbg_totals_lanes_that_left(const struct wsdbg_totals *totals, uint32_t *warp);
/* Adds a finding where lanes, or all threads that have left before they did anything, make up just what one phase
 * lacks. */
bool wsdbg_totals_say_threads_left(const struct wsdbg_totals *totals);
/* Adds that these warps, whose code has an arrival on the barrier, left without one. */
void wsdbg_totals_say_left(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *left);

#endif
