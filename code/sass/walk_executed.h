/* walk_executed.h - which instructions of a kernel a walk executes: those that are steps or end a block, and those that
 * write a register which such an instruction needs.  Private to the walks.
 */
#ifndef WSDBG_SASS_WALK_EXECUTED_H
#define WSDBG_SASS_WALK_EXECUTED_H

#include "sass/walk_plan.h"

/* Adds the registers of an operand to a set, a bit each; whether some were not there. */
bool walk_put_span(uint64_t *set, struct wsdbg_operand operand);
/* Adds the registers that the instruction reads; whether some were not there. */
bool walk_need_sources(uint64_t *set, const struct wsdbg_instruction *instruction);
/* Whether walks keep what an instruction gives: a shuffle, a vote or a lent copy (struct wsdbg_walk_told). */
bool walk_is_kept(const struct wsdbg_graph *graph, uint32_t number);
/* Fills plan->executes.  If it takes too many rounds to find what is needed, all instructions are executed.
 * leaves_out_idle: loops are left out on which nothing else depends (walk_idle.h). */
struct wsdbg_error *walk_find_executed(struct wsdbg_walk_plan *plan, bool leaves_out_idle);

#endif
