/* look_lane.h - the values that one lane of a warp has for the operands of its instruction.  Private to the looks. */
#ifndef WSDBG_MACHINE_LOOK_LANE_H
#define WSDBG_MACHINE_LOOK_LANE_H

#include "machine/look.h"

struct look_lane {
    struct wsdbg_machine *machine;
    uint32_t warp, lane, cta;        /* warp, cta: rows of the machine */
    uint32_t rank;                   /* of the CTA in its cluster */
    const struct wsdbg_cta *cta_row; /* of the snapshot */
    struct wsdbg_look_loops *loops;
    uint32_t general[WSDBG_EXCERPT_WORDS], uniform[WSDBG_EXCERPT_WORDS];
    uint32_t general_count, uniform_count;
    struct wsdbg_error *error; /* the first one */
};

/* A general or uniform register; false: it is not known. */
bool look_lane_general(struct look_lane *lane, uint32_t number, uint32_t *value);
bool look_lane_uniform(struct look_lane *lane, uint32_t number, uint32_t *value);
/* 32 bits of an operand: of a memory operand its address in shared memory. */
bool look_lane_value(struct look_lane *lane, const struct wsdbg_operand *operand, uint32_t *value);
/* The `number`th source that is no memory and no predicate. */
const struct wsdbg_operand *look_lane_source(const struct wsdbg_instruction *instruction, unsigned number);
/* A word of a constant bank. */
bool look_lane_constant(struct look_lane *lane, uint32_t offset, uint8_t bank, uint32_t *value);
/* A register as the instruction at `at` of a loop finds it each time: what it is now if the loop leaves it alone, else
 * what was moved into it just before, from a parameter or another register. */
bool look_lane_kept_value(struct look_lane *lane, const struct wsdbg_loop *loop, uint32_t at,
                          struct wsdbg_operand operand, unsigned depth, uint32_t *value);

/* What code calculates for the lane: from the registers that were read, its constants and its rank. */
struct wsdbg_thread_world look_lane_world(struct look_lane *lane);
void look_lane_state(const struct look_lane *lane, struct wsdbg_thread_state *state);
/* As look_lane_value, of a state. */
bool look_lane_value_in(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand, uint32_t *value);

/* The BAR before the part's counter: look_bar.c. */
void look_bar_read(struct look_lane *lane, const struct wsdbg_look_part *part, struct wsdbg_part_operands *operands);

#endif
