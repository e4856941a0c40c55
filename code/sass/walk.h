/* walk.h - the way of one thread through a kernel from its start to its end, as far as the launch decides it: every
 * access to a barrier that it executes, in order, with what its operands are then.
 *
 * Words of shared memory that are loaded outside of loops are taken to be what is there now.  Only instructions that a
 * branch, a guard or an operand of an access may rest on are executed.  Waits are taken to end, and polls too.  A
 * branch that nobody can decide is passed where its sides meet again and none of them has an access; else the walk ends
 * there.
 */
#ifndef WSDBG_SASS_WALK_H
#define WSDBG_SASS_WALK_H

#include "sass/access.h"
#include "sass/thread_step.h"

/* Kinds of steps beside those of enum wsdbg_access_kind. */
enum {
    WSDBG_WALK_TOGETHER = WSDBG_ACCESS_KIND_COUNT, /* the lanes of the warp wait for each other */
    WSDBG_WALK_POLL,                               /* a loop without an access that nobody knows when it ends */
};

/* In code that is no machine code, an address in another CTA has its rank plus this in the highest byte: there an
 * address without one is the thread's own CTA's. */
enum { WSDBG_WALK_RANKED = 0x80 };

struct wsdbg_walk_step {
    uint32_t instruction;
    uint32_t address; /* mbarrier: as the instruction names it, the CTA's rank in its highest byte; named barrier: id */
    uint32_t number;  /* see enum wsdbg_access_kind: parity, arrivals, bytes, threads */
    uint32_t mask; /* a copy into several CTAs: their ranks, all where they and the bytes are not known; 0 = its own */
    uint8_t kind;
    bool is_number_known; /* else the bytes of a copy are not known, or a wait names a token: the phase of the thread's
                             last arrival */
    bool may_be_remote;   /* an address without a rank may be that of another CTA */
};

struct wsdbg_walk {
    struct wsdbg_walk_step *steps;
    size_t count, capacity;
    bool is_whole;    /* it reaches the kernel's end; else nobody knows how it goes on behind the last step */
    uint32_t lost_at; /* ... the instruction there */
    uint64_t work;    /* instructions executed */
};

/* What is found once for all threads of a kernel. */
struct wsdbg_walk_plan;
/* The graph must outlive *out, which the caller destroys. */
struct wsdbg_error *wsdbg_walk_plan_create(const struct wsdbg_graph *graph, struct wsdbg_walk_plan **out);
void wsdbg_walk_plan_destroy(struct wsdbg_walk_plan *plan); /* NULL is fine */
/* Whether the way may depend on a special register of this number. */
bool wsdbg_walk_plan_reads_special(const struct wsdbg_walk_plan *plan, uint32_t number);

struct wsdbg_walk_limits {
    uint64_t work; /* instructions */
    size_t steps;
};

/* A thread's walk.  The walk of lane 0 of a warp comes first: `plan` keeps what it tells the others (shuffles), and the
 * elected lane is taken to be lane 0.  The caller frees out->steps. */
struct wsdbg_error *wsdbg_walk_thread(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *world,
                                      uint32_t lane, struct wsdbg_walk_limits limits, struct wsdbg_walk *out);

#endif
