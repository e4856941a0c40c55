/* walking.h - the state of one walk through a kernel, for the files of code/sass that make walks.
 *
 * walk.c goes from block to block.  walk_steps.c executes what may be a step of the walk, walk_matrices.c the
 * multiplications of a warpgroup, and walk_turns.c says where the lanes go on behind a branch.
 */
#ifndef WSDBG_SASS_WALKING_H
#define WSDBG_SASS_WALKING_H

#include "sass/walk_group.h"

enum { WALK_CALLS_MOST = 32 };
enum { WALK_MATRIX_GROUPS_MOST = 8 }; /* of multiplications, that a wait can leave pending */

struct walking {
    struct walk_group group;
    struct wsdbg_walk_limits limits;
    struct wsdbg_walk *out;
    uint64_t length;                 /* so far, see wsdbg_walk_limits */
    uint64_t asks_at;                /* how much work is done when the time is asked for again */
    uint32_t calls[WALK_CALLS_MOST]; /* blocks that the open calls return to */
    unsigned depth;
    unsigned sides; /* of how many nested branches a side is being walked */
    unsigned leads; /* how often it was led (walk_lead.h) */
    uint8_t traffic; /* since the last step */
    bool may_store; /* where the walk is lost: some way on stores to shared memory */
    struct {
        uint32_t issued, waited;                 /* multiplications so far; those that the last wait was for */
        uint32_t ended[WALK_MATRIX_GROUPS_MOST]; /* by group, modulo: those issued when it ended */
        uint32_t groups;
    } matrices;
};

static inline const struct wsdbg_graph *walking_graph(const struct walking *walking)
{
    return walking->group.plan->graph;
}

/* False: the walk has as many steps as it may have, or there is no memory (group.error). */
bool walk_add_step(struct walking *walking, struct wsdbg_walk_step step);

/* Takes back the steps from this one on.  What lay between them counts to the next one. */
void walk_drop_steps(struct walking *walking, size_t first);

/* Whether the instruction is a copy that a warp issues once, and lanes that were walked before have issued it. */
bool walk_was_issued(struct walking *walking, uint32_t number);

/* Adds the leader's step, if it makes one; lanes that do something else leave the group.  False: the walk is lost. */
bool walk_take_step(struct walking *walking, uint32_t number);

/* Executes a multiplication, the end of a group of them or a wait for groups.  If the instruction may not execute, it
 * is taken to execute. */
bool walk_take_matrix_step(struct walking *walking, uint32_t number);

/* Where a lane goes on behind a block.  `to`: of a branch through a register, whose noted targets each have the value
 * that leads there; NONE = not known. */
struct walk_turn {
    enum wsdbg_truth taken;
    uint32_t to;
};

struct walk_turn walk_turn_of(const struct walk_lane *lane, uint32_t branch);
/* The leader's turn behind the block; lanes that take another one leave the group. */
struct walk_turn walk_turn_together(struct walking *walking, uint32_t number);

#endif
