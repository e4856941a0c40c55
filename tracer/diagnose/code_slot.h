/* code_slot.h - the slot of a ring that a warp waits to fill: its two barriers, and who releases it. */
#ifndef WSDBG_DIAGNOSE_CODE_SLOT_H
#define WSDBG_DIAGNOSE_CODE_SLOT_H

#include "diagnose/code_case.h"

struct wsdbg_code_slot {
    uint32_t filler;                 /* waits for the slot */
    struct wsdbg_barrier_word empty; /* what it waits on */
    struct wsdbg_barrier_word full;  /* what it would fill next */
    struct wsdbg_warp_set releasers; /* live warps that can still arrive on `empty` */
    uint32_t handed;                 /* hand-overs behind the releasers */
    bool waited;                     /* all of them wait for `full` */
    bool handed_known;               /* ... the same for each of them */
};

/* What the slot's two words say of the arrivals on `empty`: as often as it was filled, so often each was to release it.
 * Twice as many arrivals as a phase takes look like none. */
struct wsdbg_code_balance {
    uint32_t missing; /* so many too few */
    uint32_t surplus; /* ... or so many too many */
};
/* False where that is not known: a round is under way, or somebody may not have released yet what is filled. */
bool wsdbg_code_slot_balance(const struct wsdbg_code_slot *slot, struct wsdbg_code_balance *out);

/* False where the warp may still go on, or which barrier it would fill next is not known. */
bool wsdbg_code_slot_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_code_slot *slot);

#endif
