/* passed_way.h - the instructions that a lane has executed since the one at which an error is reported: a warp goes on
 * for a few more before it is stopped.  Private to this room.
 */
#ifndef WSDBG_MACHINE_PASSED_WAY_H
#define WSDBG_MACHINE_PASSED_WAY_H

#include "machine/code.h"

enum { PASSED_MOST = 64 };

struct passed_way {
    uint32_t instructions[PASSED_MOST]; /* of the place's graph, the place's own first */
    uint32_t count;
};

/* The way from the place to the instruction at `pc`, where that is the only way to it: through branches that are always
 * taken, and out of functions that are joined with the kernel.  No other lanes join those that executed the place's
 * instruction.  False: it is not known. */
bool passed_way_find(const struct wsdbg_code_place *place, uint64_t pc, struct passed_way *out);
/* Whether a register of the operand still has what the place's instruction saw. */
bool passed_way_keeps(const struct wsdbg_code_place *place, const struct passed_way *way,
                      const struct wsdbg_operand *operand);

#endif
