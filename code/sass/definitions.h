/* definitions.h - which instruction of a stretch of code last wrote a register. */
#ifndef WSDBG_SASS_DEFINITIONS_H
#define WSDBG_SASS_DEFINITIONS_H

#include "sass/flow.h"

/* How many more registers and predicates code has that comes from PTX: their numbers are 256 and 8, and those above. */
enum { WSDBG_MORE_REGISTERS = 256, WSDBG_MORE_PREDICATES = 40 };
/* General registers, uniform ones, predicates and uniform predicates by one number.  RZ, URZ and PT have none. */
enum {
    WSDBG_REGISTER_UNIFORM = 256,
    WSDBG_REGISTER_MORE = WSDBG_REGISTER_UNIFORM + 64,
    WSDBG_REGISTER_PREDICATE = WSDBG_REGISTER_MORE + WSDBG_MORE_REGISTERS,
    WSDBG_REGISTER_UNIFORM_PREDICATE = WSDBG_REGISTER_PREDICATE + 8,
    WSDBG_REGISTER_MORE_PREDICATES = WSDBG_REGISTER_UNIFORM_PREDICATE + 8,
    WSDBG_REGISTER_COUNT = WSDBG_REGISTER_MORE_PREDICATES + WSDBG_MORE_PREDICATES,
    WSDBG_REGISTER_NONE = WSDBG_REGISTER_COUNT,
};

static inline bool wsdbg_is_predicate(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
}

/* The number of register `part` of an operand; WSDBG_REGISTER_NONE for the constant ones and for other operands. */
unsigned wsdbg_register_of(const struct wsdbg_operand *operand, unsigned part);
/* The number of the predicate that guards an instruction; WSDBG_REGISTER_NONE = PT. */
unsigned wsdbg_register_of_guard(const struct wsdbg_instruction *instruction);
/* True where the instruction may write the register: all that is known of WSDBG_OP_OTHER is that it may. */
bool wsdbg_writes(const struct wsdbg_instruction *instruction, unsigned reg);

struct wsdbg_definitions {
    const struct wsdbg_graph *graph;
    struct wsdbg_lists by_register; /* instructions, ascending */
    uint32_t *wide;                 /* instructions that write many registers, ascending; in no list */
    uint32_t wide_count;
    bool has_others; /* some of these may write any register; else only general ones */
};

/* The graph must outlive *out, which the caller destroys. */
struct wsdbg_error *wsdbg_definitions_create(const struct wsdbg_graph *graph, struct wsdbg_definitions *out);
void wsdbg_definitions_destroy(struct wsdbg_definitions *definitions);

/* The last instruction of [first, end) that may write the register; `end` = none.  False: the search was cut short. */
bool wsdbg_definition_before(const struct wsdbg_definitions *definitions, unsigned reg, uint32_t first, uint32_t end,
                             uint32_t *out);

#endif
