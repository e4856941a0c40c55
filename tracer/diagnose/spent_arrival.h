/* spent_arrival.h - what a warp does between two of its arrivals on an mbarrier: asked of a warp whose arrival found
 * the count of a phase spent. */
#ifndef WSDBG_DIAGNOSE_SPENT_ARRIVAL_H
#define WSDBG_DIAGNOSE_SPENT_ARRIVAL_H

#include "diagnose/code_case.h"

enum wsdbg_between {
    WSDBG_BETWEEN_UNKNOWN, /* its walk does not tell */
    WSDBG_BETWEEN_NOTHING, /* two arrivals have no mbarrier wait between them; or there is one, with no wait before it
                            */
    WSDBG_BETWEEN_OTHER,   /* something else than an mbarrier may keep arrivals apart: threads meet, or poll a word */
    WSDBG_BETWEEN_REPEAT,  /* all waits between two arrivals name the parity of the wait before them */
    WSDBG_BETWEEN_WAIT     /* any two arrivals have a wait between them that names a new parity */
};

/* The first two arrivals that were not kept apart, if there are any. */
struct wsdbg_spent_arrival {
    enum wsdbg_between between;
    /* Of REPEAT: */
    uint32_t wait; /* index in snapshot.steps */
    uint32_t turn; /* number of that wait among those of the thread on its barrier, from 1 */
};

/* Reads the walks of `warp` (index in snapshot.warps) for its arrivals on `barrier` (index in snapshot.barriers), of
 * its own CTA. */
struct wsdbg_spent_arrival wsdbg_spent_arrival_of(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier);

#endif
