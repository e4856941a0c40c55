/* ptx_translate.c - see ptx_translate.h.  Pure: reads one instruction, writes its counterpart.
 *
 * Control flow and guards are here; ptx_operands.h names the files for other instructions.
 */
#include "translate/ptx_translate.h"

#include "translate/ptx_operands.h"

static void translate_jump(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation)
{
    t->out->operation = operation;
    t->out->has_target = t->from->target >= t->function->first && t->from->target < t->function->end;
    t->out->target_offset_bytes = ((int64_t)t->from->target - t->index) * 16;
}

static bool translate_flow(const struct wsdbg_ptx_translation *t)
{
    const bool is_own = t->index < t->registers->own_end;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_bra:
        translate_jump(t, WSDBG_OP_BRA);
        return true;
    case WSDBG_PTX_OP_brx:
        t->out->operation = WSDBG_OP_BRX;
        wsdbg_ptx_add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_call:
        if (t->from->target == WSDBG_PTX_NONE) /* it has no code: it prints, or says that something failed */
            t->out->operation = WSDBG_OP_NOP;
        else
            translate_jump(t, WSDBG_OP_CALL);
        return true;
    case WSDBG_PTX_OP_ret:
        t->out->operation = is_own ? WSDBG_OP_EXIT : WSDBG_OP_RET;
        return true;
    case WSDBG_PTX_OP_exit:
        t->out->operation = WSDBG_OP_EXIT;
        return true;
    case WSDBG_PTX_OP_trap:
        t->out->operation = WSDBG_OP_KILL;
        return true;
    default:
        return false;
    }
}

static void set_guard(const struct wsdbg_ptx_translation *t)
{
    struct wsdbg_operand guard = wsdbg_ptx_always();
    if (t->from->guard != WSDBG_PTX_NONE && !wsdbg_ptx_numbered(t, t->from->guard, &guard))
        guard = (struct wsdbg_operand){.kind = WSDBG_OPERAND_UNIFORM_PREDICATE, .number = WSDBG_PTX_UNKNOWN_PREDICATE};
    t->out->guard = guard.number;
    t->out->guard_is_uniform = guard.kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
    t->out->guard_is_negated = t->from->guard != WSDBG_PTX_NONE && t->from->guard_negated;
}

/* Of these at most one translates an instruction. */
static bool (*const kinds[])(const struct wsdbg_ptx_translation *t) = {
    translate_flow,
    wsdbg_ptx_translate_move,
    wsdbg_ptx_translate_arithmetic,
    wsdbg_ptx_translate_comparison,
    wsdbg_ptx_translate_memory,
    wsdbg_ptx_translate_lanes,
    wsdbg_ptx_translate_barrier,
};

void wsdbg_ptx_translate(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                         const struct wsdbg_ptx_registers *registers, uint32_t shared_first, uint32_t index,
                         struct wsdbg_instruction *out)
{
    bool writes_more = false;
    struct wsdbg_ptx_translation t = {.program = program,
                                      .function = function,
                                      .registers = registers,
                                      .from = &program->instructions[index],
                                      .shared_first = shared_first,
                                      .index = index,
                                      .writes_more = &writes_more,
                                      .out = out};
    *out = (struct wsdbg_instruction){.operation = WSDBG_OP_FMUL};
    set_guard(&t);
    wsdbg_ptx_add_destinations(&t);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kinds[i](&t); i++)
        continue;
    if (writes_more)
        out->operation = WSDBG_OP_OTHER; /* it may write anything */
}
