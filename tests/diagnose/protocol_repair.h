/* protocol_repair.h - which single change of a protocol lets every schedule of it finish.
 *
 * A cause names what to change: an arrival that is missing, a count that is too high, a parity.  So a verdict can be
 * held against the protocol itself: with one change of the kind that the cause names, at the barrier that it names, no
 * schedule hangs or faults any more.
 */
#ifndef TEST_DIAGNOSE_PROTOCOL_REPAIR_H
#define TEST_DIAGNOSE_PROTOCOL_REPAIR_H

#include "protocol.h"

/* Kinds of changes; a set of them is a mask. */
enum repair_kind {
    REPAIR_ADD_ARRIVAL = 1 << 0, /* one more, in any warp, at any place of its program */
    REPAIR_DROP_ARRIVAL = 1 << 1,
    REPAIR_LOWER_COUNT = 1 << 2,
    REPAIR_RAISE_COUNT = 1 << 3,
    REPAIR_PARITY = 1 << 4,         /* of one wait, or of it and those of its warp behind it on the same family */
    REPAIR_BYTES = 1 << 5,          /* one unit more or less is expected */
    REPAIR_COPY = 1 << 6,           /* one copy more or less */
    REPAIR_EXPECT_ARRIVES = 1 << 7, /* an expect_tx becomes an arrival too */
    REPAIR_NAMED_COUNT = 1 << 8,    /* one step's or every step's number of warps */
    REPAIR_NAMED_STEP = 1 << 9,     /* one step on a named barrier more or less */
    REPAIR_NAMED_ID = 1 << 10,
    REPAIR_CLUSTER_STEP = 1 << 11, /* one step on the cluster barrier more or less */
    REPAIR_ORDER = 1 << 12,        /* two neighbouring steps change places */
    REPAIR_LONGER = 1 << 13,       /* a warp does what it did before it was cut short */
    REPAIR_SHORTER = 1 << 14,      /* a warp leaves before the step at which it stands */
    REPAIR_ANY = (1 << 15) - 1,
};

/* The barrier that a change is about. */
struct repair_place {
    bool any;
    uint32_t cta, barrier; /* as a step has them */
};

/* What repairs a standstill that the protocol comes to. */
struct repairs {
    struct search *search;
    const struct protocol *p;
    const struct protocol *right; /* what it was before its defects; NULL = it never was right */
    const struct moment *stands;
};

/* Some change of these kinds at this place lets every schedule finish.  Searches that are too large count as "does
 * not". */
bool repair_exists(const struct repairs *r, uint32_t kinds, struct repair_place place);

#endif
