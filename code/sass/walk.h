/* walk.h - follows the lanes of a warp through a kernel from its start to its end, as far as the launch decides their
 * way.  Lists every access to a barrier that a lane executes, in order, with the values of the operands.
 *
 * Every wait is taken to end, and every poll.  What is loaded from shared memory in a loop with accesses is what
 * another walk stored there (walk_words.h).  If no walk did, it is taken to have had its present value, in a loop the
 * first time only.  Global memory is taken to hold what it holds now, but for a word that a loop only waits for. A
 * branch with an unknown condition is passed if its sides meet again and have no access.  Else the walk takes the side
 * that leads to where its lanes were seen, if only one does.  Otherwise the walk ends there, and is whole if no way has
 * an access any more. Only instructions are executed on which a branch, a guard or an
 * operand of an access may depend.
 */
#ifndef WSDBG_SASS_WALK_H
#define WSDBG_SASS_WALK_H

#include "sass/access.h"
#include "sass/thread_step.h"

/* Kinds of steps beside those of enum wsdbg_access_kind.  A step of kind WSDBG_ACCESS_WGMMA is the end of a group of
 * multiplications, its number that of the multiplications so far; the number of WSDBG_ACCESS_WGMMA_WAIT is that of
 * those that must be complete. */
enum {
    WSDBG_WALK_TOGETHER = WSDBG_ACCESS_KIND_COUNT, /* the lanes of the warp wait for each other */
    WSDBG_WALK_POLL,                               /* a loop without accesses; how often it runs is not known */
};

/* In PTX an address that was mapped to a CTA has the CTA's rank plus this number in its highest byte.  An address
 * without it is in the thread's own CTA. */
enum { WSDBG_WALK_RANKED = 0x80 };

struct wsdbg_walk_step {
    uint32_t instruction;
    uint32_t address; /* mbarrier: as the instruction names it, the CTA's rank in its highest byte; named barrier: id */
    uint32_t number;  /* see enum wsdbg_access_kind: parity, arrivals, bytes, threads */
    uint32_t
        mask; /* a copy into several CTAs: a bit a rank, all where neither ranks nor bytes are known; 0 = one CTA */
    uint32_t token; /* a wait by token: the number of the step that gave it, an arrival, plus 1; 0 = not known */
    uint8_t kind;
    uint8_t traffic;      /* between the step before and this one: a set of enum wsdbg_traffic; more than there is where
                             lanes go different ways */
    bool is_number_known; /* false: of a copy the bytes are not known, of an initialisation the arrivals; a wait names a
                             token instead of a parity, and so waits for the phase of the thread's last arrival */
    bool may_be_remote;   /* also an address without a CTA's rank may be in another CTA */
};

struct wsdbg_walk {
    struct wsdbg_walk_step *steps;
    size_t count, capacity;
    bool is_whole;    /* it reaches the kernel's end; false: how it goes on behind the last step is not known */
    bool is_guessed;  /* it took an atomic to find the present value, or a number in turn: it may have been another */
    bool is_in_turn;  /* ... only the latter */
    bool is_led;      /* it took ways that lead to where its lanes were seen: behind that place it is a guess */
    uint32_t lost_at; /* not whole: the instruction from which on it is not known */
    uint64_t work;    /* instructions executed; one that lanes execute each for themselves counts for each of them */
};

/* What the walks of all threads of a kernel share. */
struct wsdbg_walk_plan;
/* The graph must outlive *out, which the caller destroys. */
struct wsdbg_error *wsdbg_walk_plan_create(const struct wsdbg_graph *graph, struct wsdbg_walk_plan **out);
void wsdbg_walk_plan_destroy(struct wsdbg_walk_plan *plan); /* NULL is fine */
/* What a walk takes for a word that it loads from shared memory: what another walk stored there; what is there now. */
enum wsdbg_walk_belief {
    WSDBG_BELIEVE_NOTHING = 0,
    WSDBG_BELIEVE_STORES = 1u << 0,
    WSDBG_BELIEVE_PRESENT = 1u << 1,
    WSDBG_BELIEVE_BOTH = WSDBG_BELIEVE_STORES | WSDBG_BELIEVE_PRESENT,
    /* What it takes for the result of an addition to a counter: CTAs took turns. */
    WSDBG_BELIEVE_TURNS = 1u << 2
};
/* Begins a CTA: forgets what walks have stored so far. */
void wsdbg_walk_plan_begin_cta(struct wsdbg_walk_plan *plan, enum wsdbg_walk_belief belief);
/* The lanes that are walked next are those of this warp. */
void wsdbg_walk_plan_begin_warp(struct wsdbg_walk_plan *plan, uint32_t warp);
/* Whether another warp of the CTA asked for a word that this one stored, in the passes so far.  Such warps should be
 * walked before others in the next pass: what a lost walk may store makes words doubtful for walks behind it. */
bool wsdbg_walk_plan_gives(const struct wsdbg_walk_plan *plan, uint32_t warp);
/* All warps of the CTA were walked.  HOLD: the walks are as good as they can be.  AGAIN: none of them holds; to walk
 * all warps again may help, as some may load what later ones store.  DOUBTFUL: none of them holds,
 * and that did not help. */
enum wsdbg_walks_end { WSDBG_WALKS_HOLD, WSDBG_WALKS_AGAIN, WSDBG_WALKS_DOUBTFUL };
enum wsdbg_walks_end wsdbg_walk_plan_end_pass(struct wsdbg_walk_plan *plan);
/* All warps of the CTA were walked, and the walks hold.  They are walked once more: from here on, walks that would be
 * lost may be led to where their lanes were seen.  What was stored so far is kept. */
void wsdbg_walk_plan_lead(struct wsdbg_walk_plan *plan);
/* Whether some walk may take a number from a counter. */
bool wsdbg_walk_plan_has_counters(const struct wsdbg_walk_plan *plan);
/* Whether some walk of the CTA at hand took a number from a counter on the belief that CTAs took turns. */
bool wsdbg_walk_plan_took_turns(const struct wsdbg_walk_plan *plan);
/* Whether some walk may depend on the special register of this number. */
bool wsdbg_walk_plan_reads_special(const struct wsdbg_walk_plan *plan, uint32_t number);

struct wsdbg_walk_limits {
    uint64_t length; /* instructions and blocks on the walk's way, each counted once for all its lanes */
    uint64_t work;   /* see wsdbg_walk.work */
    size_t steps;
    bool (*is_over)(void *context); /* NULL = never; asked now and then: true ends the walk, which is not whole then */
    void *context;
};

enum { WSDBG_WALK_LANES = 32 };

/* Walks the first lane of `lanes`, and with it all others that go the same way with the same operands: *together is the
 * set of these.  worlds[lane]: what that lane can ask.  Of a warp the group with lane 0 must come first: `plan` keeps
 * the values that its shuffles give to the other lanes.  The elected lane is lane 0, unless it ends before.  The caller
 * frees out->steps. */
struct wsdbg_error *wsdbg_walk_lanes(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *worlds,
                                     uint32_t lanes, struct wsdbg_walk_limits limits, struct wsdbg_walk *out,
                                     uint32_t *together);

#endif
