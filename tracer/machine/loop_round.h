/* loop_round.h - what a loop makes anew in each round, of registers that it leaves alone.  Private to this room. */
#ifndef WSDBG_MACHINE_LOOP_ROUND_H
#define WSDBG_MACHINE_LOOP_ROUND_H

#include "machine/loop.h"
#include "sass/thread_step.h"

/* The registers of a lane that stands in the loop. */
struct wsdbg_lane_values {
    void *context;
    /* 32 bits of a register, as it is now; false where that is not known. */
    bool (*value)(void *context, const struct wsdbg_operand *operand, uint32_t *value);
};

/* The barrier and the phase that the test `at` of a loop names.  What the loop does not write is as it is now.  The
 * rest is calculated from the beginning of the test's block.  False where that does not tell them. */
bool wsdbg_loop_test_operands(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_lane_values *lane,
                              const struct wsdbg_thread_world *world, uint32_t *address, uint32_t *phase);

#endif
