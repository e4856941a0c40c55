/* thread_operand.h - the operands of an instruction as one thread reads them. */
#ifndef WSDBG_SASS_THREAD_OPERAND_H
#define WSDBG_SASS_THREAD_OPERAND_H

#include "sass/thread_state.h"

/* Whether the thread executes an instruction that it reaches. */
enum wsdbg_truth wsdbg_thread_executes(const struct wsdbg_thread_state *state,
                                       const struct wsdbg_instruction *instruction);
/* A predicate as it is read; UNKNOWN also for other operands. */
enum wsdbg_truth wsdbg_thread_predicate(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand);
/* 32 bits of an operand as it is read, the low ones first; false where they are not known, or it is none of registers,
 * numbers, constants and special registers. */
bool wsdbg_thread_operand(const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                          const struct wsdbg_operand *operand, unsigned part, uint32_t *value);
/* The address of a global or generic access. */
bool wsdbg_thread_address(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand,
                          uint64_t *address);

/* ---- the sources of an instruction: private to this room ---- */

/* An instruction, and what it may read. */
struct wsdbg_thread_reader {
    const struct wsdbg_instruction *instruction;
    const struct wsdbg_thread_world *world;
    const struct wsdbg_thread_state *state;
};

static inline bool wsdbg_thread_is_zero(const struct wsdbg_operand *operand)
{
    return (operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ) ||
           (operand->kind == WSDBG_OPERAND_UNIFORM && operand->number == WSDBG_URZ);
}

/* 32 bits of a source, the low ones first, without its sign; false where they are not known. */
bool wsdbg_thread_source(const struct wsdbg_thread_reader *reader, unsigned source, unsigned part, uint32_t *value);
/* The known bits of a source without its sign; returns which bits these are. */
uint32_t wsdbg_thread_source_bits(const struct wsdbg_thread_reader *reader, unsigned source, uint32_t *value);
/* A source of a sum, with its sign: -x is ~x + 1, which gives the carry that the hardware gives.  False: not known. */
bool wsdbg_thread_addend(const struct wsdbg_thread_reader *reader, unsigned source, uint64_t *value);
/* Adds 1 to the sum for each true predicate among the sources from `first` on; false where one is not known. */
bool wsdbg_thread_carries(const struct wsdbg_thread_reader *reader, unsigned first, uint64_t *sum);
/* Whether none of the first `count` sources is negated or inverted. */
bool wsdbg_thread_is_plain(const struct wsdbg_thread_reader *reader, unsigned count);

#endif
