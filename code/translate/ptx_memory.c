/* ptx_memory.c - PTX that reads or writes memory, or orders accesses to it, in the words of machine code: see
 * ptx_operands.h.  Pure.
 */
#include "translate/ptx_numbers.h"
#include "translate/ptx_translate.h"

/* Without a scope a volatile access has that of the system, but in shared memory. */
static bool is_system(const struct wsdbg_ptx_translation *t)
{
    const bool has_scope = t->from->space == WSDBG_PTX_GLOBAL || t->from->space == WSDBG_PTX_GENERIC;
    return has_scope && t->from->flags & (WSDBG_PTX_SYSTEM | WSDBG_PTX_VOLATILE);
}

static bool is_register_of(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand, size_t bytes)
{
    return operand->kind == WSDBG_PTX_OPERAND_REGISTER &&
           wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->function->register_types[operand->number]) == bytes;
}

/* A parameter is a constant.  An address of one, in a register, is its place among the constants. */
static void translate_parameter(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *place)
{
    const bool has_base = place->number != WSDBG_PTX_NONE;
    struct wsdbg_operand base = wsdbg_ptx_zero();
    t->out->operation = WSDBG_OP_LDC;
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    t->out->is_whole = t->out->width_bytes > 0 && (!has_base || wsdbg_ptx_numbered(t, place->number, &base));
    t->out->is_long = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) == sizeof(uint64_t) ||
                      is_register_of(t, &t->from->operands[0], sizeof(uint64_t));
    if (is_register_of(t, &t->from->operands[0], sizeof(uint16_t))) { /* it holds a number below 2^16 */
        t->out->is_whole &= t->from->type != WSDBG_PTX_S8;
        t->out->is_signed = false;
    }
    wsdbg_ptx_add(t, (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT,
                                            .number = base.number,
                                            .registers = 1,
                                            .value = place->value + (has_base ? 0 : WSDBG_PTX_PARAMETERS)});
}

/* Of a load or store. */
static uint8_t width_of(const struct wsdbg_ptx_translation *t)
{
    return (uint8_t)(wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) *
                     (t->from->vector_length ? t->from->vector_length : 1));
}

/* The load of a parameter is its value; of others only the destination is known. */
static void translate_load(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *place = wsdbg_ptx_source(t, 0);
    wsdbg_ptx_become(t, WSDBG_OP_LD);
    t->out->width_bytes = width_of(t);
    if (t->from->space == WSDBG_PTX_PARAM || place->space == WSDBG_PTX_PARAM) {
        translate_parameter(t, place);
        return;
    }
    t->out->is_system = is_system(t);
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    if (t->from->space == WSDBG_PTX_LOCAL)
        t->out->operation = WSDBG_OP_LDL;
    else if (t->from->space == WSDBG_PTX_SHARED || t->from->space == WSDBG_PTX_SHARED_CLUSTER)
        t->out->operation = WSDBG_OP_LDS;
    else if (t->from->space == WSDBG_PTX_GLOBAL)
        t->out->operation = WSDBG_OP_LDG;
    else if (t->from->space != WSDBG_PTX_GENERIC)
        t->out->operation = WSDBG_OP_MOV, t->out->is_whole = false; /* of constants: nothing that changes */
    if (t->out->operation != WSDBG_OP_MOV)
        wsdbg_ptx_add(t, wsdbg_ptx_memory(t, place));
}

static enum wsdbg_operation by_space(uint8_t space, enum wsdbg_operation shared, enum wsdbg_operation global,
                                     enum wsdbg_operation generic)
{
    if (space == WSDBG_PTX_SHARED || space == WSDBG_PTX_SHARED_CLUSTER)
        return shared;
    return space == WSDBG_PTX_GLOBAL ? global : generic;
}

/* What is stored: one source, or one for each element of a vector. */
static void translate_stored(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *value = wsdbg_ptx_source(t, 1);
    t->out->width_bytes = width_of(t);
    if (value->kind != WSDBG_PTX_OPERAND_VECTOR)
        wsdbg_ptx_add_source(t, 1);
    for (unsigned i = 0; value->kind == WSDBG_PTX_OPERAND_VECTOR && i < value->count; i++)
        wsdbg_ptx_add(t, wsdbg_ptx_plain(t, &t->program->vectors[value->number + i]));
}

bool wsdbg_ptx_translate_memory(const struct wsdbg_ptx_translation *t)
{
    const uint8_t space = t->from->space;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_ld:
    case WSDBG_PTX_OP_ldu:
        translate_load(t);
        return true;
    case WSDBG_PTX_OP_st:
        wsdbg_ptx_become(t, space == WSDBG_PTX_LOCAL ? WSDBG_OP_STL
                                                     : by_space(space, WSDBG_OP_STS, WSDBG_OP_STG, WSDBG_OP_ST));
        break;
    case WSDBG_PTX_OP_atom:
        wsdbg_ptx_become(t, by_space(space, WSDBG_OP_ATOMS, WSDBG_OP_ATOMG, WSDBG_OP_ATOM));
        t->out->width_bytes = width_of(t);
        break;
    case WSDBG_PTX_OP_red:
        wsdbg_ptx_become(t, WSDBG_OP_RED);
        break;
    case WSDBG_PTX_OP_cp_async:
        wsdbg_ptx_become(t, WSDBG_OP_LDGSTS);
        return true;
    case WSDBG_PTX_OP_membar:
    case WSDBG_PTX_OP_fence:
        wsdbg_ptx_become(t, WSDBG_OP_MEMBAR);
        return true;
    case WSDBG_PTX_OP_stmatrix:
        wsdbg_ptx_become(t, WSDBG_OP_STSM);
        t->out->is_whole = false;
        return true;
    default:
        return false;
    }
    t->out->is_system = is_system(t);
    wsdbg_ptx_add(t, wsdbg_ptx_memory(t, wsdbg_ptx_source(t, 0)));
    if (t->from->operation == WSDBG_PTX_OP_st)
        translate_stored(t);
    return true;
}
