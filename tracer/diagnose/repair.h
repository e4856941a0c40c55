/* repair.h - repairs: changes of a kernel with which its replay (replay.h) finishes.
 *
 * A repair corrects one mistake that a programmer may have made.  Only changes that the standstill gives a reason for
 * are tried: a parity does not alternate, a count is not the number of arrivals of a round, a round differs from the
 * others.  A repair works if the whole kernel then finishes and each wait is ended by the phase that it is meant for.
 * Where some walk is not known to its end, it is enough that all who stood go on (is_to_end).
 */
#ifndef WSDBG_DIAGNOSE_REPAIR_H
#define WSDBG_DIAGNOSE_REPAIR_H

#include "diagnose/replay.h"

enum wsdbg_repair_kind {
    WSDBG_REPAIR_PARITY_DRIFT, /* the parities of waits alternate from the first wait on */
    WSDBG_REPAIR_PARITY_FIRST, /* the first wait names the other parity, and so do all after it */
    WSDBG_REPAIR_PARITY_SITE,  /* waits by one instruction name other parities */
    WSDBG_REPAIR_SHIFT,        /* waits and arrivals of a warpgroup on a ring go to stages further on */
    WSDBG_REPAIR_AFRESH,       /* a thread that goes back to where it began on a ring goes on instead */
    WSDBG_REPAIR_ASTRAY,       /* waits by one instruction go to the stage that is released behind them */
    WSDBG_REPAIR_TOKEN,        /* a wait names the token of the last arrival, not of an earlier one */
    WSDBG_REPAIR_ADD,          /* a round without an arrival gets one */
    WSDBG_REPAIR_FILL,         /* a round gets all arrivals that one thread makes in other rounds */
    WSDBG_REPAIR_BEGIN,        /* threads arrive on a barrier before their first wait, as on others of its family */
    WSDBG_REPAIR_BEGIN_LESS,   /* ... no more often than on others */
    WSDBG_REPAIR_BEGIN_ALL,    /* threads that arrive on a family only behind their waits do so once before */
    WSDBG_REPAIR_RELEASE,      /* a barrier whose arrivers all wait first gets the arrivals of one phase at once */
    WSDBG_REPAIR_DROP,         /* a round with several arrivals keeps the first one */
    WSDBG_REPAIR_LEAP,         /* threads that leap over rounds of a ring release these rounds */
    WSDBG_REPAIR_SKIP,         /* a warp makes the arrivals of rounds that it leaves out and a like one makes */
    WSDBG_REPAIR_MOVE,         /* arrivals go to another CTA of the cluster, or to the other one of two barriers */
    WSDBG_REPAIR_STAY,         /* a warp that has left the kernel does what a similar one does */
    WSDBG_REPAIR_UNMADE,       /* an arrival that was on a warp's way and that nobody makes is made */
    WSDBG_REPAIR_COPY,         /* a warp that never arrives does so, like a similar one */
    WSDBG_REPAIR_ANNOUNCE,     /* who copies bytes without an arrival arrives and announces them */
    WSDBG_REPAIR_BYTES,        /* copies bring just what is announced */
    WSDBG_REPAIR_BLOCK,        /* warps leave out a barrier for all threads to which the others never come */
    WSDBG_REPAIR_NAMED,        /* uses of a named barrier name another count of threads */
    WSDBG_REPAIR_NAMED_ID,     /* uses by one instruction name another named barrier */
    WSDBG_REPAIR_NAMED_APART,  /* some of the warps that use a named barrier use a free one */
    WSDBG_REPAIR_NAMED_LESS,   /* arrivals at named barriers by some instructions are made once, or not at all */
    WSDBG_REPAIR_NAMED_MATES,  /* all warps of a warpgroup come to a named barrier when one of them does */
    WSDBG_REPAIR_NAMED_ROUND,  /* warps that use a named barrier in some of their rounds do so in all */
    WSDBG_REPAIR_EARLY,        /* warps arrive at a named barrier once before they begin */
    WSDBG_REPAIR_COUNT,        /* the barrier is initialised with another count */
    WSDBG_REPAIR_KINDS
};

enum { WSDBG_MOVES_SWAP = 3 };

/* A wait of an agent. */
struct wsdbg_repair_wait {
    uint32_t agent, step;
    uint32_t turn; /* how many waits of the agent on the barrier came before it */
};

struct wsdbg_repair {
    enum wsdbg_repair_kind kind;
    uint32_t barrier; /* of the replay: one of those that it changes */
    /* PARITY_FIRST: one of these warps begins some other stage with the right parity; FILL, STAY where warps take
     * turns: some arrivals are those of warps that have not left */
    bool is_mixed;
    bool is_of_own_waits;   /* ... but it does so at waits of other source lines */
    bool is_exception;      /* PARITY_FIRST: each of these warps begins most other stages with the right parity */
    bool is_by_flow;        /* PARITY_FIRST: the only reason is that these warps bring data to those who arrive */
    bool is_of_part;        /* PARITY_FIRST: only barriers of the family change that the same warps use */
    bool is_of_families;    /* PARITY_FIRST: so do others on other families, and all of them change together */
    bool is_of_stage;       /* COUNT: only this stage changes, to the count of other stages */
    bool is_of_instruction; /* COUNT: so do barriers of other families that the same instruction initialises */
    bool is_of_count;       /* COUNT: so do all barriers of other families that have the count */
    bool is_of_ends;        /* COUNT: only those of the first and the last CTA of the cluster change */
    bool is_of_comers; /* NAMED: as many threads as the new count says come to the barrier; else other uses name it */
    bool is_of_any;    /* NAMED: other barriers that the same instruction names change, too */
    bool is_shared;    /* NAMED_ID: others come to the barrier, too */
    bool of_each;      /* ... several warpgroups, of which each gets an id of its own */
    bool is_of_cta;    /* BEGIN_ALL: it is one CTA of a cluster alone whose barriers lack the arrivals */
    bool is_of_turns;  /* STAY: warps take turns at arriving */
    bool is_announced; /* ADD: the thread announces bytes in the round, without an arrival, at the step announced_at */
    uint32_t announced_at;
    bool is_alone;     /* SHIFT: no other warpgroup waits on the ring */
    bool is_each_time; /* SHIFT: by that number of rounds more each time that the warpgroup passes over rounds;
                          NAMED_LESS: the first arrival at each barrier stays */
    /* ADD: it is of a warp that had arrived in each phase, and others had not; PARITY_FIRST, PARITY_SITE: the same
     * instruction begins to wait on another barrier with the parity that is called wrong, and is right there; NAMED_ID:
     * a warp that comes to such barriers has left the kernel before its rounds were over; MOVE: CTAs make different
     * numbers of rounds, and arrivals that stay in their CTA would only hide that */
    bool is_doubtful;
    bool is_to_end; /* all threads then reach the kernel's end; else only all that stood go on */
    uint32_t was;   /* the count that the barrier was initialised with; NAMED: the threads that the code names */
    uint32_t value; /* COUNT, NAMED: the new count; NAMED_MATES: the threads that the code names; PARITY_FIRST: the new
                       first parity; PARITY_SITE: which flips; MOVE: 0 = they go to each CTA, WSDBG_MOVES_SWAP = to the
                       other one of two barriers; NAMED_ID: another id that some use is given; NAMED_APART: the free id;
                       EARLY, NAMED_LESS: a bit for each named barrier, `named` is one of them; UNMADE: arrivals that
                       each phase lacks; SHIFT: by how many rounds */
    uint32_t named; /* EARLY, BLOCK, NAMED, NAMED_ID and so on: the named barrier's id, in the code */
    /* PARITY_SITE: a wait by the instruction; TOKEN: the wait; PARITY_DRIFT: the first wait that names the parity of
     * the wait before it; LEAP: the first wait behind a leap; NAMED_ID, NAMED_APART: the first use that changes; SHIFT,
     * ASTRAY, AFRESH: the first wait that moves */
    struct wsdbg_repair_wait wait;
    uint32_t moved_to;             /* SHIFT, ASTRAY, AFRESH: that wait's barrier, of the replay, with the change */
    uint32_t moved_parity;         /* SHIFT, AFRESH: its parity with the change */
    uint32_t released;             /* ASTRAY: the barrier that is released behind it */
    uint32_t like;                 /* STAY: a warp that stays; SKIP, NAMED_MATES: the other one's warp */
    uint32_t access;               /* UNMADE: the arrival, an index in snapshot.accesses */
    struct wsdbg_replay_edit edit; /* of those that change arrivals: the first of its edits */
    uint32_t edit_count;
    /* FILL: arrivals of all its edits; those that all agents make on the same barriers.  SKIP: waits that are left out
     */
    uint64_t added, made;
    uint32_t lanes; /* STAY, UNMADE: those that left, while their warps went on; 0 = whole warps did, or none */
    struct wsdbg_warp_set warps; /* whose waits or arrivals it changes; STAY: who left; COUNT: who had arrived; BYTES:
                                    who announces them */
};

enum { WSDBG_REPAIRS_MOST = 16 };
struct wsdbg_repairs {
    struct wsdbg_repair rows[WSDBG_REPAIRS_MOST];
    uint32_t count;
    bool is_partial; /* not all could be tried: there are too many, or the replay took too many steps */
};

/* Finds the repairs of a replay whose last run, without changes, ended in the picture; or overflowed.  Afterwards the
 * replay is as before. */
struct wsdbg_error *wsdbg_repairs_find(struct wsdbg_replay *replay, struct wsdbg_repairs *out);
/* The same, of ANNOUNCE and BYTES alone, which wsdbg_repairs_find leaves out.  The replay ended in the picture. */
struct wsdbg_error *wsdbg_repairs_find_copies(struct wsdbg_replay *replay, struct wsdbg_repairs *out);
/* Those with which the replay would not be broken by an arrival too many, as its last run was. */
struct wsdbg_error *wsdbg_repairs_find_fault(struct wsdbg_replay *replay, struct wsdbg_repairs *out);
/* The same, of NAMED_ROUND alone, which wsdbg_repairs_find leaves out, too. */
struct wsdbg_error *wsdbg_repairs_find_named_rounds(struct wsdbg_replay *replay, struct wsdbg_repairs *out);

#endif
