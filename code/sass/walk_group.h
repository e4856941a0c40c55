/* walk_group.h - the lanes of a warp that walk together, and their registers.  Private to the walks.
 *
 * The lanes of a group have done the same so far.  The first of them leads.  A register that all of them have alike is
 * kept once, with the leader; one that varies is kept for each lane.  Where the lanes would do different things, those
 * that do not do what the leader does leave the group.
 *
 * The other lanes of the warp may be followed beside the group, for what they give to shuffles and votes
 * (walk_beside.h).  Their registers are kept as those of the group are; they make no steps.
 */
#ifndef WSDBG_SASS_WALK_GROUP_H
#define WSDBG_SASS_WALK_GROUP_H

#include "sass/walk_plan.h"

/* Lanes that went another way than the group, and come back to it where the ways meet. */
struct walk_apart {
    uint32_t lanes; /* a bit each */
    struct {
        const struct wsdbg_walk_detour *detour;
        unsigned depth; /* of calls */
    } until[WSDBG_WALK_LANES];
};

enum { WALK_TOKENS_KEPT = 16, WALK_UNIFORMS = 64 };

struct walk_group {
    struct wsdbg_walk_plan *plan;
    const struct wsdbg_thread_world *worlds; /* by lane */
    uint32_t leader;
    uint32_t lanes;  /* a bit each */
    uint32_t beside; /* other lanes that are followed; a bit each */
    uint32_t
        silent; /* of `lanes`, on a side of a branch: those that are only followed, and store in a walk of their own */
    struct walk_apart apart;
    uint32_t elsewhere; /* lanes that have left the kernel, or take another side of a branch and come back behind it */
    uint32_t left;      /* lanes that left at a branch whose sides need not meet; a bit each */
    uint32_t left_to[WSDBG_WALK_LANES];         /* ... the block at which they went on */
    uint64_t varies[WSDBG_WALK_REGISTER_WORDS]; /* registers */
    uint64_t spread[WSDBG_WALK_REGISTER_WORDS]; /* ... that do not vary, and that every lane that is followed has */
    struct wsdbg_thread_state *states;          /* by lane; of a lane only what was spread to it holds */
    struct walk_place place;                    /* how far the walk is */
    uint32_t uncounted;                         /* lanes that may have executed atomics which nobody followed */
    bool is_partial;                            /* the last WARPSYNC did not wait for all lanes of the warp */
    uint32_t awaited; /* ... the lanes that it waited for; 0 = not known, or lanes named different ones */
    /* By uniform register: lanes for which the last loop over different values (R2UR with a predicate) did not write
     * it, as it served other lanes; a bit each.  What the loop does with it is not theirs. */
    uint32_t unserved[WALK_UNIFORMS];
    uint32_t unelected; /* lanes that only passed the last ELECT of such a loop of one block (walk_serves.h) */
    struct {
        uint32_t step; /* see walk_tokens.h; 0 = the row is free */
        uint16_t reg;
    } tokens[WALK_TOKENS_KEPT];
    struct wsdbg_error *error;
};

/* One lane of a group, with every register that the instruction at hand reads. */
struct walk_lane {
    const struct walk_group *group;
    struct wsdbg_thread_state *state;
    const struct wsdbg_thread_world *world;
    uint32_t lane;
};

/* A group of lanes at the kernel's start.  It uses memory of the plan: so there is one at a time. */
struct walk_group walk_group_begin(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *worlds,
                                   uint32_t lanes);

struct walk_lane walk_group_leader(struct walk_group *group);
/* Whether the lane walks, and is not only followed. */
static inline bool walk_group_has(const struct walk_group *group, uint32_t lane)
{
    return (group->lanes & ~group->silent) >> lane & 1;
}
/* Whether what the instruction reads may differ between the lanes.  If so, each lane gets every register that it reads.
 */
bool walk_group_parts(struct walk_group *group, uint32_t instruction);
/* The group's lanes but for the leader, one after the other: *at is 0 at first; false = no more. */
bool walk_group_next(struct walk_group *group, uint32_t *at, struct walk_lane *out);
/* ... and those beside them. */
bool walk_group_next_followed(struct walk_group *group, uint32_t *at, struct walk_lane *out);
/* The lane leaves the group at an instruction behind which it goes on as the group does. */
void walk_group_drop(struct walk_group *group, uint32_t lane);
/* A lane of the group.  Of its registers only those that were spread to it are valid. */
struct walk_lane walk_group_lane(struct walk_group *group, uint32_t lane);
/* Copies the registers that the instruction reads or writes from the leader to every lane. */
void walk_group_spread_operands(struct walk_group *group, uint32_t instruction);
/* To be called after an instruction was executed for each lane: notes which written registers differ between lanes. */
void walk_group_compare_written(struct walk_group *group, uint32_t instruction);
/* To be called after an instruction was executed for the leader alone: what it wrote holds for every lane. */
void walk_group_agree_written(struct walk_group *group, uint32_t instruction);
/* Copies these registers, a bit each, from the leader to every lane; NULL = all registers. */
void walk_group_spread(struct walk_group *group, const uint64_t *registers);
/* Executes an instruction that is no step and ends no block.  Returns for how many lanes it did so. */
unsigned walk_group_execute(struct walk_group *group, uint32_t instruction);
/* The lanes meet all others of their warp, as at a __syncwarp. */
void walk_group_meet(struct walk_group *group);
/* The lanes have made this step.  If it is an access to a barrier, they joined it, waited for its phase, or both. */
void walk_group_join(struct walk_group *group, const struct wsdbg_walk_step *step);
/* Each lane that executes the instruction gets this value in the predicates that the instruction writes. */
void walk_group_set_predicates(struct walk_group *group, uint32_t instruction, bool value);
/* Other lanes are followed from here on: nothing was spread to them. */
static inline void walk_group_change_lanes(struct walk_group *group)
{
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        group->spread[word] = 0;
}
/* Forgets registers, a bit each; NULL = all. */
void walk_group_forget(struct walk_group *group, const uint64_t *registers);

/* 32 bits of an operand as a lane reads it; of a memory operand its address. */
bool walk_value(const struct walk_lane *lane, const struct wsdbg_operand *operand, unsigned part, uint32_t *value);
bool walk_source(const struct walk_lane *lane, const struct wsdbg_instruction *instruction, int source, int part,
                 uint32_t *value);

/* Takes the rank out of an address of shared memory: machine code may put the CTA's own one into the highest byte.
 * False: the place is in another CTA. */
bool walk_is_own_place(const struct walk_lane *lane, uint32_t *address);

/* Writes the register, or marks it as unknown. */
void walk_set_word(struct wsdbg_thread_state *state, unsigned reg, bool known, uint32_t value);
void walk_copy_register(struct wsdbg_thread_state *to, const struct wsdbg_thread_state *from, unsigned written,
                        unsigned read);
void walk_forget_written(const struct walk_lane *lane, const struct wsdbg_instruction *instruction);
void walk_set_register(struct wsdbg_thread_state *state, const struct wsdbg_operand *to, bool known, uint32_t value);

#endif
