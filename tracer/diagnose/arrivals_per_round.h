/* arrivals_per_round.h - how many arrivals on an mbarrier one round of its warps can bring, as the code tells. */
#ifndef WSDBG_DIAGNOSE_ARRIVALS_PER_ROUND_H
#define WSDBG_DIAGNOSE_ARRIVALS_PER_ROUND_H

#include "diagnose/code_case.h"

/* The arrivals of some warps if each executes its arrival instructions once.  Of several instructions in a warp a path
 * may hold one, or all: hence the different sums. */
struct wsdbg_arrivals_per_round {
    uint64_t usual;       /* of each warp the largest instruction; 0 = for some warp the number of lanes is not known */
    uint64_t by_lanes[2]; /* the same if one lane of each warp arrives, and if all lanes do that may */
    uint64_t most;        /* all instructions, each with all lanes that may arrive */
    bool bounded;         /* `most` is an upper limit: the address and the count of every arrival are known */
};

/* Counts the instructions that the warps may have executed or can still reach.  Without warps all sums are 0. */
struct wsdbg_arrivals_per_round wsdbg_arrivals_per_round_of(const struct wsdbg_case *c,
                                                            const struct wsdbg_warp_set *warps, uint32_t barrier);

/* A warp of the same four in a row that is still there cannot have arrived and never will: four in a row have one role
 * unless they differ, so a warp of which only that is known is rather not meant to arrive either.  No proof. */
bool wsdbg_arrivals_per_round_is_beside_others(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier);

/* True if the arrivals made are just one of each warp.  *lanes is the index in `by_lanes` that fits: one lane of each
 * warp, or all. */
bool wsdbg_arrivals_per_round_fit(const struct wsdbg_arrivals_per_round *per_round, uint64_t made, unsigned *lanes);

/* The most that warps which have exited could have brought with any instruction of the grid; UINT64_MAX = not known. */
uint64_t wsdbg_arrivals_per_round_exited(const struct wsdbg_case *c, uint32_t barrier);

#endif
