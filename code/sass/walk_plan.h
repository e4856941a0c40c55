/* walk_plan.h - the inside of walk.h: which instructions a walk executes, and where it goes on behind a branch that
 * nobody can decide (walk_plan.c finds both, walk.c walks).
 */
#ifndef WSDBG_SASS_WALK_PLAN_H
#define WSDBG_SASS_WALK_PLAN_H

#include "sass/flow.h"
#include "sass/walk.h"

enum { WSDBG_WALK_REGISTER_WORDS = (WSDBG_REGISTER_COUNT + 63) / 64 };

/* What lies between a branch and the place where its sides meet. */
struct wsdbg_walk_detour {
    bool is_known, can_be_passed;
    bool loops;                                  /* it leads back to the branch */
    uint32_t meets;                              /* block */
    uint64_t written[WSDBG_WALK_REGISTER_WORDS]; /* registers, a bit each */
};

/* What lane 0 had to tell at a shuffle, time by time. */
struct wsdbg_walk_told {
    uint32_t *values;
    bool *known;
    size_t count, values_capacity, known_capacity;
};

struct wsdbg_walk_plan {
    const struct wsdbg_graph *graph;
    uint64_t needed[WSDBG_WALK_REGISTER_WORDS]; /* registers that some decision may rest on */
    bool *executes;                             /* by instruction */
    struct wsdbg_access_operands *operands;     /* by instruction: a walk asks for them each time it executes one */
    struct wsdbg_lists by_block;                /* instructions that are executed */
    struct wsdbg_dominators *after;             /* post-dominators, NULL = not asked for yet */
    struct wsdbg_walk_detour *detours;          /* by block */
    struct wsdbg_walk_told *told;               /* by instruction */
};

struct wsdbg_error *wsdbg_walk_detour_of(struct wsdbg_walk_plan *plan, uint32_t block,
                                         const struct wsdbg_walk_detour **out);

#endif
