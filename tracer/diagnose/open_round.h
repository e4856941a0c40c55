/* open_round.h - whether warps that have exited went through a round without the arrival that they make in others: then
 * that arrival is missing, and that they left afterwards is no fault. */
#ifndef WSDBG_DIAGNOSE_OPEN_ROUND_H
#define WSDBG_DIAGNOSE_OPEN_ROUND_H

#include "diagnose/code_case.h"

struct wsdbg_open_round {
    uint32_t waited;             /* index in snapshot.barriers: one of the family on which a round begins with a wait */
    uint32_t waits, arrivals;    /* how many one of the warps makes from its start to its end, on the two families */
    struct wsdbg_warp_set warps; /* those that do so */
};

/* As walks from the kernel's start to its end tell it: all lanes of `gone` that arrive on the family of `barrier`
 * (index in snapshot.barriers) make each of their arrivals behind a wait on another family, twice at least, and wait
 * there once more behind the last one; and the warp `waiter` waits for more phases than they make, in its whole walk,
 * but for no more than with an arrival behind each of those waits.  Otherwise they left too early.  Lanes without such
 * a walk do not count. */
bool wsdbg_open_round_find(struct wsdbg_case *c, const struct wsdbg_warp_set *gone, uint32_t waiter, uint32_t barrier,
                           struct wsdbg_open_round *out);

#endif
