/* code_rows.h - rows of a snapshot: instructions of the kernels, and what warps do at them by the code.
 *
 * Written from: a module's code and the registers of its warps (tracer/machine).  snapshot.h says what holds for all
 * rows.
 */
#ifndef WSDBG_MODEL_CODE_ROWS_H
#define WSDBG_MODEL_CODE_ROWS_H

#include "base/optional.h"
#include "sass/access_kind.h"

/* A place in the machine code of a kernel. */
struct wsdbg_site {
    uint32_t function;                      /* index in functions, WSDBG_NONE */
    uint64_t pc;                            /* GPU virtual address */
    struct wsdbg_optional_u32 offset_bytes; /* from the function's start */
    char instruction[128];                  /* "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x8], R4", "" = not decoded */
    char file[192];                         /* "" = compiled without line information */
    struct wsdbg_optional_u32 line;
    uint32_t inlined_at; /* index in sites: the call this was inlined at, WSDBG_NONE */
    bool is_passed;      /* the site's place is a line further out (base/inlined.h); a session keeps the place */
    bool is_wgmma;       /* its instruction issues, orders or waits for wgmma; not kept in sessions */
    bool is_system;      /* it reads memory with the scope of the whole system; not kept in sessions */
    bool may_time_out;   /* lanes poll here in a loop that the clock may end, too; not kept in sessions */
};

/* An instruction of a grid's code that waits for barriers or may complete one. */
struct wsdbg_access_row {
    uint32_t grid;
    uint32_t site;
    uint32_t kind;  /* enum wsdbg_access_kind of sass/access_kind.h */
    bool certain;   /* false: its operands could not be followed to one place, it may be another barrier */
    bool any_rank;  /* may be the barrier of another CTA of the cluster */
    uint32_t lanes; /* enum wsdbg_lanes of sass/access_kind.h */
    struct wsdbg_optional_u32 address; /* mbarrier: offset in shared memory; named barrier: id */
    uint32_t stride, places; /* the same every `stride` bytes, `places` times; 1 = one, 0 = as often as there is room */
    struct wsdbg_optional_u32 count; /* arrivals, bytes, threads, registers: see the kind */
    bool arrives_again; /* an arrival on one place: every way from it reaches another one on the same place before any
                           wait or the end; not kept in sessions */
    bool may_be_early;  /* an arrival on one place: no barrier puts it before or behind some initialisation of that
                           place; not kept  in sessions */
    bool comes_with_arrival; /* a copy or expect_tx: its warp always arrives on the same places, before it or behind it,
                                with no wait between (machine/look_turns.c); not kept in sessions */
    uint32_t poll_loop;      /* the loop around it that tests several mbarriers in turn and acts when a test succeeds, a
                                number of the kernel's own; 0 = none (machine/look_polls.c); not kept in sessions */
    bool is_poll;            /* a wait: it is one of these tests; not kept in sessions */
    struct wsdbg_optional_u32 mask; /* of a copy into several CTAs of the cluster: a bit a rank; not kept in sessions */
};

/* How a warp stands to an access: what its way there must have executed, may have, and still can. */
struct wsdbg_reach {
    uint32_t warp, access;
    uint8_t before_least,
        before_most; /* times on the paths from the kernel's start to where it stands; 255 = that or more */
    bool before_known;
    uint8_t
        after; /* 0 = can never reach it, 1 = only through a branch nobody can follow, 2 = can, once its wait ends */
    uint8_t after_apart; /* ... of its parts that are not in the wait that the warp is shown in; not kept in sessions */
};

/* A thread that passes the wait reaches this arrival, or another one on the same places, before the loop of the arrival
 * begins its next round.  Not kept in sessions. */
struct wsdbg_answer_row {
    uint32_t wait, arrival; /* index in accesses */
    /* `arrival` is an expect_tx instead: some way leads from the wait through it, past all arrivals on the same places,
     * back to the wait.  Or it is a copy: some way leads from the wait to it, and some way from it to a wait, past all
     * announcements on the same places. */
    bool is_bare;
};

/* An access to a barrier on the way of a thread, with what its operands are then.  Not kept in sessions. */
enum { WSDBG_STEP_OWN_RANK = 0xff };
enum wsdbg_step_kind {
    WSDBG_STEP_TOGETHER = 0x80, /* the lanes of the warp wait for each other; smaller ones: enum wsdbg_access_kind */
    WSDBG_STEP_POLL             /* a loop without an access; it is not known when it ends */
};

struct wsdbg_step_row {
    uint32_t access;  /* index in accesses, WSDBG_NONE */
    uint32_t address; /* mbarrier: offset in shared memory; named barrier: id */
    uint32_t number;  /* parity, arrivals, bytes, threads: see the kind */
    uint32_t mask;    /* a copy into several CTAs: their ranks; 0 = one */
    uint32_t token;   /* a wait by token: the step of its walk that gave the token, counted from 1; 0 = not known */
    uint8_t kind;
    uint8_t rank; /* of the mbarrier's CTA in its cluster, WSDBG_STEP_OWN_RANK */
    bool number_known;
    uint8_t traffic; /* which memory was read and written since the step before: enum wsdbg_traffic of
                        sass/access_kind.h, or more than that */
};

/* The way of lanes of a warp through the kernel, from its start to its end, as far as the launch alone decides it: what
 * they did and would do.  Waits and polls are taken to end.  A warp has a row for each way that its lanes go.  Not kept
 * in sessions. */
struct wsdbg_walk_row {
    uint32_t warp;
    uint32_t lanes;
    uint32_t step_first, step_count; /* in steps */
    bool is_guessed;                 /* an atomic was taken to find the present value, or a number in turn; */
    bool is_in_turn;                 /* ... only the latter: CTAs are taken to have got numbers of a counter in turn */
    bool has_loaded;                 /* it was told what global memory holds now, which may have been other before */
    bool is_whole;                   /* to the end; false: nobody knows how it goes on behind the last step */
    struct wsdbg_optional_u32 lost_site; /* ... and from which place on that is not known, a row of sites */
};

/* An instruction near a place where a warp stands, for people to read. */
struct wsdbg_code_row {
    uint32_t function; /* index in functions */
    uint32_t offset_bytes;
    char text[128];                 /* "" = not decoded */
    char file[192];                 /* of the place (base/inlined.h), "" = compiled without line information */
    struct wsdbg_optional_u32 line; /* of the place */
};

#endif
