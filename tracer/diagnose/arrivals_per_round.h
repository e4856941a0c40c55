/* arrivals_per_round.h - how many arrivals on an mbarrier one round of its warps can bring, as the code tells. */
#ifndef WSDBG_DIAGNOSE_ARRIVALS_PER_ROUND_H
#define WSDBG_DIAGNOSE_ARRIVALS_PER_ROUND_H

#include "diagnose/code_case.h"

/* What a warp's instructions bring where it reaches each once.  A path may take one of several instructions, or all.
 */
struct wsdbg_arrivals_per_round {
    uint64_t usual;       /* of the largest one of each warp; 0 = for some warp it is not known how many lanes arrive */
    uint64_t by_lanes[2]; /* the same, where it is not known with one lane of a warp, and with all of them */
    uint64_t most;        /* of all of them; where lanes are not known, of all lanes */
    bool bounded;         /* `most` holds: no warp may arrive at an address, or with a count, that is not known */
};

/* Of the instructions that the warps can still reach or may have executed.  No warps: 0. */
struct wsdbg_arrivals_per_round wsdbg_arrivals_per_round_of(const struct wsdbg_case *c,
                                                            const struct wsdbg_warp_set *warps, uint32_t barrier);

/* A warp of the same four in a row that is still there cannot have arrived and never will: four in a row have one role
 * unless they differ, so a warp of which only that is known is rather not meant to arrive either.  No proof. */
bool wsdbg_arrivals_per_round_is_beside_others(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier);

/* What is there fits one arrival of each of these warps: of one lane, or of all.  *lanes is which of them, the index in
 * `by_lanes`. */
bool wsdbg_arrivals_per_round_fit(const struct wsdbg_arrivals_per_round *per_round, uint64_t made, unsigned *lanes);

/* The most that warps which have exited could have brought with any instruction of the grid; UINT64_MAX = not known. */
uint64_t wsdbg_arrivals_per_round_exited(const struct wsdbg_case *c, uint32_t barrier);

#endif
