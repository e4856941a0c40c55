/* ptx_operands.h - one PTX instruction on its way into the words of machine code: what its operands become.  Private to
 * this room.
 *
 * ptx_operands.c makes the operands.  A file for each kind of instruction puts them together: ptx_translate.c control
 * flow, ptx_move.c, ptx_arithmetic.c, ptx_compare.c, ptx_memory.c, ptx_lanes.c what lanes exchange, ptx_barriers.c what
 * waits and signals.
 */
#ifndef WSDBG_TRANSLATE_PTX_OPERANDS_H
#define WSDBG_TRANSLATE_PTX_OPERANDS_H

#include "translate/ptx_registers.h"

struct wsdbg_ptx_translation {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    const struct wsdbg_ptx_registers *registers;
    const struct wsdbg_ptx_instruction *from;
    uint32_t shared_first, index;
    unsigned first_source; /* operand behind those that are written */
    bool *writes_more;     /* than there is room for */
    struct wsdbg_instruction *out;
};

struct wsdbg_operand wsdbg_ptx_immediate(int64_t value);
struct wsdbg_operand wsdbg_ptx_zero(void);
/* The predicate that always holds. */
struct wsdbg_operand wsdbg_ptx_always(void);
struct wsdbg_operand wsdbg_ptx_special(enum wsdbg_ptx_special number);
/* False: the register has no number. */
bool wsdbg_ptx_numbered(const struct wsdbg_ptx_translation *t, uint32_t reg, struct wsdbg_operand *out);
/* A source; what is in brackets.  NONE where its value cannot be followed. */
struct wsdbg_operand wsdbg_ptx_plain(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand);
struct wsdbg_operand wsdbg_ptx_memory(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand);

/* From here on it is this operation, all of whose operands are known; those that are added may say otherwise. */
void wsdbg_ptx_become(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation);
void wsdbg_ptx_add_destinations(struct wsdbg_ptx_translation *t);
/* Operand number `source` of those that are read, one of kind NONE where there are fewer. */
const struct wsdbg_ptx_operand *wsdbg_ptx_source(const struct wsdbg_ptx_translation *t, unsigned source);
unsigned wsdbg_ptx_source_count(const struct wsdbg_ptx_translation *t);
/* One that cannot be followed makes the instruction one of which only the destinations count. */
void wsdbg_ptx_add(const struct wsdbg_ptx_translation *t, struct wsdbg_operand operand);
void wsdbg_ptx_add_source(const struct wsdbg_ptx_translation *t, unsigned source);
void wsdbg_ptx_add_sources(const struct wsdbg_ptx_translation *t, unsigned count);

/* Each translates instructions of its kind.  False: the instruction is of another kind, and *t->out is as before. */
/* Moves and conversions. */
bool wsdbg_ptx_translate_move(const struct wsdbg_ptx_translation *t);
/* Arithmetic, logic, shifts, fields of bits. */
bool wsdbg_ptx_translate_arithmetic(const struct wsdbg_ptx_translation *t);
/* Comparisons, choices, minimum and maximum. */
bool wsdbg_ptx_translate_comparison(const struct wsdbg_ptx_translation *t);
/* Loads, stores, atomics, copies by threads, fences. */
bool wsdbg_ptx_translate_memory(const struct wsdbg_ptx_translation *t);
/* Shuffles, votes, elections and bit counts. */
bool wsdbg_ptx_translate_lanes(const struct wsdbg_ptx_translation *t);
/* Barriers of all kinds, bulk copies, and what else waits or has work done beside the warp. */
bool wsdbg_ptx_translate_barrier(const struct wsdbg_ptx_translation *t);

#endif
