/* protocol_repair.h - whether a single change of a protocol repairs it: then every schedule finishes.
 *
 * A verdict names a cause and a barrier, and so a kind of change: add an arrival, lower a count, flip a parity.  The
 * verdict is right if one change of that kind at that barrier repairs the protocol.
 *
 * Reads: a protocol, and its form without defects.  Tries changes on copies.
 */
#ifndef TEST_DIAGNOSE_PROTOCOL_REPAIR_H
#define TEST_DIAGNOSE_PROTOCOL_REPAIR_H

#include "protocol.h"

/* Kinds of changes, as bits of a mask. */
enum repair_kind {
    REPAIR_ADD_ARRIVAL = 1 << 0, /* one more, in any warp, before any step or at the end */
    REPAIR_DROP_ARRIVAL = 1 << 1,
    REPAIR_LOWER_COUNT = 1 << 2,
    REPAIR_RAISE_COUNT = 1 << 3,
    REPAIR_PARITY = 1 << 4,         /* of one wait, or of it and the warp's later waits on the same family */
    REPAIR_BYTES = 1 << 5,          /* one unit more or less is expected */
    REPAIR_COPY = 1 << 6,           /* one copy more or less */
    REPAIR_EXPECT_ARRIVES = 1 << 7, /* an expect_tx becomes an arrival too */
    REPAIR_NAMED_COUNT = 1 << 8,    /* one step's or every step's number of warps */
    REPAIR_NAMED_STEP = 1 << 9,     /* one step on a named barrier more or less */
    REPAIR_NAMED_ID = 1 << 10,
    REPAIR_CLUSTER_STEP = 1 << 11, /* one step on the cluster barrier more or less */
    REPAIR_ORDER = 1 << 12,        /* two neighbouring steps change places */
    REPAIR_LONGER = 1 << 13,       /* a warp that was cut short has all its steps */
    REPAIR_SHORTER = 1 << 14,      /* a warp exits before the step at which it waits */
    REPAIR_ANY = (1 << 15) - 1,
};

/* The barrier that a change must be about. */
struct repair_place {
    bool any;              /* any barrier will do */
    uint32_t cta, barrier; /* as in struct step */
};

/* A protocol, and a standstill that one of its schedules ends in. */
struct repairs {
    struct search *search;
    const struct protocol *p;
    const struct protocol *right; /* without its defects; NULL = it is a wild one */
    const struct moment *stands;
};

/* Whether some change of these kinds at this place lets every schedule finish.  A change whose search is too large does
 * not count. */
bool repair_exists(const struct repairs *r, uint32_t kinds, struct repair_place place);

#endif
