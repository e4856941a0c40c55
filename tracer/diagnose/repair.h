/* repair.h - changes of a kernel's protocol after which its threads would have finished: see replay.h.
 *
 * Each is one thing that a programmer may have got wrong, and only what the standstill's replay gives reason for is
 * tried: a parity that does not alternate, a count that is not the arrivals of a round, a round that differs from the
 * others.  A repair counts where the whole kernel then ends, and each wait is passed by just the phase that its turn is
 * for.
 */
#ifndef WSDBG_DIAGNOSE_REPAIR_H
#define WSDBG_DIAGNOSE_REPAIR_H

#include "diagnose/replay.h"

enum wsdbg_repair_kind {
    WSDBG_REPAIR_PARITY_DRIFT, /* waits whose parity does not alternate do */
    WSDBG_REPAIR_PARITY_FIRST, /* the first wait, and so all, ask for the other parity */
    WSDBG_REPAIR_ADD,          /* rounds without an arrival get it */
    WSDBG_REPAIR_DROP,         /* rounds with more arrivals than the others lose those */
    WSDBG_REPAIR_COPY,         /* a warp that waits like another one arrives like it */
    WSDBG_REPAIR_COUNT,        /* the barrier is initialised for another number of arrivals */
    WSDBG_REPAIR_KINDS
};

/* A wait of an agent. */
struct wsdbg_repair_wait {
    uint32_t agent, step;
    uint32_t turn; /* waits of the agent on the barrier before it */
};

struct wsdbg_repair {
    enum wsdbg_repair_kind kind;
    uint32_t barrier;              /* of the replay: one of those that it changes */
    bool is_mixed;                 /* PARITY_FIRST: these warps begin with the right parity on some other stage */
    bool is_of_stage;              /* COUNT: it alone, the stages beside it have other counts */
    uint32_t value;                /* of COUNT: arrivals; of PARITY_FIRST: the first parity */
    struct wsdbg_repair_wait wait; /* PARITY_DRIFT: the first wait that does not alternate */
    struct wsdbg_replay_edit edit; /* ADD, DROP, COPY: the first arrival in question */
    uint32_t edit_count;
    struct wsdbg_warp_set warps; /* whose waits or arrivals it changes */
};

enum { WSDBG_REPAIRS_MOST = 16 };
struct wsdbg_repairs {
    struct wsdbg_repair rows[WSDBG_REPAIRS_MOST];
    uint32_t count;
};

/* Of a replay whose last run, in this order and without changes, was the picture. */
struct wsdbg_error *wsdbg_repairs_find(struct wsdbg_replay *replay, enum wsdbg_replay_order order,
                                       struct wsdbg_repairs *out);

#endif
