/* spin.h - whether a lane goes round in a circle in which it only looks at memory: found by executing the circle with
 * the lane's registers and with memory as it is, whatever shape the code has.
 *
 * Reads: machine code, one lane's registers, memory and constants that the caller knows.  Private to this room.
 */
#ifndef WSDBG_MACHINE_SPIN_H
#define WSDBG_MACHINE_SPIN_H

#include "machine/spin_code.h"
#include "sass/thread_step.h"

struct wsdbg_spin {
    uint32_t load;     /* instruction of the kernel's graph: of those that decide the lane's way, and bring no pointer
                        * to another one's place, the last one */
    uint32_t home;     /* the circle's first instruction, by its place in the code */
    bool is_test;      /* it tests an mbarrier for `phase`: the address is as the lane names it */
    bool is_shared;    /* it loads from shared memory of the own CTA: the address is an offset there */
    bool may_time_out; /* the clock or a count of rounds may end it, too */
    uint32_t phase;
    uint64_t address;    /* of the load's first byte */
    uint8_t width_bytes; /* 4 or 8 */
    uint64_t value;      /* what is there */
};

/* True: from a place on, a lane with these registers comes back to where it was, or goes round for some thousand
 * instructions, and nothing that it executes on the way writes memory that others see or meets another lane.  Only
 * machine code counts.  `world` must answer for shared, global and local memory; what it does not know is unknown, and
 * a way that depends on that is not followed.  Of a branch that the clock decides both ways are followed to where they
 * meet. */
bool wsdbg_spin_find(struct wsdbg_spin_code *code, struct wsdbg_spin_place from, const struct wsdbg_thread_state *state,
                     const struct wsdbg_thread_world *world, struct wsdbg_spin *out);

/* False: the lanes that were followed so far have made all steps of a look.  The last one may have been broken off. */
bool wsdbg_spin_has_steps(const struct wsdbg_spin_code *code);

/* What a lane looks at. */
struct wsdbg_spin_target {
    bool is_test, is_shared; /* as in struct wsdbg_spin */
    uint32_t phase;
    uint64_t address;
};

/* True: the lane comes to this instruction of the kernel's graph, which looks at memory or tests an mbarrier, and does
 * nothing but look on its way. */
bool wsdbg_spin_reach(struct wsdbg_spin_code *code, struct wsdbg_spin_place from,
                      const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                      uint32_t instruction, struct wsdbg_spin_target *out);

#endif
