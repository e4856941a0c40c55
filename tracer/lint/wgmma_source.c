/* wgmma_source.c - see wgmma_source.h. */
#include "lint/wgmma_source.h"

#include <stdlib.h>

#include "lint/ptx_calls.h"
#include "lint/wgmma_flow.h"
#include "ptx/graph.h"

struct survey {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *kernel;
    const struct wsdbg_wgmma_code *code;
    uint32_t own_end;                                                            /* where called functions begin */
    bool is_written[WSDBG_WGMMA_TILES_MOST], is_carried[WSDBG_WGMMA_TILES_MOST]; /* by tile: see first_values */
    struct wsdbg_wgmma_source *out;
};

static void touch(struct survey *survey, enum wsdbg_wgmma_touch_kind kind, uint32_t number, bool is_of_branch)
{
    struct wsdbg_wgmma_touch *row = &survey->out->touches[kind];
    if (row->count++ == 0)
        row->first = number;
    if (is_of_branch && row->of_branch++ == 0)
        row->branch_first = number;
}

/* A register that an instruction uses which is no wgmma. */
static void use_register(struct survey *survey, uint32_t number, uint32_t reg, bool is_written,
                         const struct wsdbg_wgmma_state *state)
{
    const uint8_t tile = reg < survey->code->register_count ? survey->code->tile_of[reg] : WSDBG_WGMMA_NO_TILE;
    if (tile == WSDBG_WGMMA_NO_TILE)
        return;
    const uint8_t was = state->tiles[tile];
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[number];
    survey->is_written[tile] = survey->is_written[tile] || is_written;
    if (!(was & WSDBG_WGMMA_AGE)) {
        if (was & WSDBG_WGMMA_CARRIED && !survey->code->is_input[tile])
            touch(survey, WSDBG_WGMMA_LATE, number, false);
        return;
    }
    const bool is_local =
        in->space == WSDBG_PTX_LOCAL && (in->operation == WSDBG_PTX_OP_ld || in->operation == WSDBG_PTX_OP_st);
    const bool is_of_branch = (was & WSDBG_WGMMA_WAITED_FOR) != 0;
    if (survey->code->is_input[tile]) {
        if (is_written)
            touch(survey, WSDBG_WGMMA_INPUT, number, is_of_branch);
    } else if (is_local) {
        touch(survey, WSDBG_WGMMA_SPILLED, number, is_of_branch);
        survey->out->touches[WSDBG_WGMMA_SPILLED].loads += is_written;
    } else {
        touch(survey, is_written ? WSDBG_WGMMA_WRITTEN : WSDBG_WGMMA_READ, number, is_of_branch);
    }
}

static void use_operands(struct survey *survey, uint32_t number, const struct wsdbg_wgmma_state *state)
{
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[number];
    for (unsigned i = 0; i < in->operand_count; i++) {
        const struct wsdbg_ptx_operand *operand = &in->operands[i];
        if (operand->kind == WSDBG_PTX_OPERAND_REGISTER)
            use_register(survey, number, operand->number, operand->is_written, state);
        if (operand->kind != WSDBG_PTX_OPERAND_VECTOR)
            continue;
        for (uint32_t k = 0; k < operand->count; k++) {
            const struct wsdbg_ptx_operand *element = &survey->program->vectors[operand->number + k];
            if (element->kind == WSDBG_PTX_OPERAND_REGISTER)
                use_register(survey, number, element->number, operand->is_written, state);
        }
    }
}

static void use_call(struct survey *survey, uint32_t number)
{
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[number];
    if (!wsdbg_lint_is_opaque_call(in) || survey->out->opaque_calls++)
        return;
    survey->out->opaque_call = number;
    survey->out->callee = wsdbg_lint_callee_name(survey->program, in);
}

static void use_branch(struct survey *survey, uint32_t number, const struct wsdbg_wgmma_state *state)
{
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[number];
    const bool may_part =
        in->operation == WSDBG_PTX_OP_bra && in->guard != WSDBG_PTX_NONE && !(in->flags & WSDBG_PTX_UNI);
    if (state->open && may_part && survey->out->branches_inside++ == 0)
        survey->out->branch_inside = number;
}

/* ---- scale-d ---- */

static bool writes(const struct survey *survey, uint32_t number, uint32_t reg)
{
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[number];
    for (unsigned i = 0; i < in->operand_count && in->operation != WSDBG_PTX_OP_wgmma_mma_async; i++) {
        const struct wsdbg_ptx_operand *operand = &in->operands[i];
        if (!operand->is_written)
            continue;
        if (operand->kind == WSDBG_PTX_OPERAND_REGISTER && operand->number == reg)
            return true;
        for (uint32_t k = 0; operand->kind == WSDBG_PTX_OPERAND_VECTOR && k < operand->count; k++)
            if (survey->program->vectors[operand->number + k].kind == WSDBG_PTX_OPERAND_REGISTER &&
                survey->program->vectors[operand->number + k].number == reg)
                return true;
    }
    return false;
}

/* The only instruction of the kernel that writes a register; NONE where there are several or none. */
static uint32_t only_writer(const struct survey *survey, uint32_t reg)
{
    uint32_t found = WSDBG_PTX_NONE;
    for (uint32_t i = survey->kernel->first; i < survey->kernel->end; i++) {
        if (!writes(survey, i, reg))
            continue;
        if (found != WSDBG_PTX_NONE)
            return WSDBG_PTX_NONE;
        found = i;
    }
    return found;
}

/* The last writer of a register before an instruction, not beyond the label before it. */
static uint32_t writer_before(const struct survey *survey, uint32_t number, uint32_t reg)
{
    const uint32_t reach = 64; /* inline assembly sets the predicate just before it */
    for (uint32_t i = number, left = reach; i-- > survey->kernel->first && left; left--)
        if (writes(survey, i, reg))
            return i;
    return only_writer(survey, reg);
}

static bool is_constant(const struct survey *survey, const struct wsdbg_ptx_operand *operand)
{
    if (operand->kind == WSDBG_PTX_OPERAND_IMMEDIATE)
        return true;
    if (operand->kind != WSDBG_PTX_OPERAND_REGISTER)
        return false;
    const uint32_t writer = only_writer(survey, operand->number);
    if (writer == WSDBG_PTX_NONE)
        return false;
    const struct wsdbg_ptx_instruction *in = &survey->program->instructions[writer];
    return in->operation == WSDBG_PTX_OP_mov && in->operand_count == 2 && in->guard == WSDBG_PTX_NONE &&
           in->operands[1].kind == WSDBG_PTX_OPERAND_IMMEDIATE;
}

static void read_scale(struct survey *survey, uint32_t number)
{
    const struct wsdbg_ptx_operand *scale = &survey->program->instructions[number].operands[3];
    if (scale->kind != WSDBG_PTX_OPERAND_REGISTER)
        return;
    const uint32_t writer = writer_before(survey, number, scale->number);
    if (writer != WSDBG_PTX_NONE) {
        const struct wsdbg_ptx_instruction *in = &survey->program->instructions[writer];
        bool all = in->operation == WSDBG_PTX_OP_setp || in->operation == WSDBG_PTX_OP_mov;
        for (unsigned i = 0; i < in->operand_count; i++)
            all = all && (in->operands[i].is_written || is_constant(survey, &in->operands[i]));
        if (all)
            return;
    }
    if (survey->out->scales++ == 0) {
        survey->out->scale = number;
        survey->out->scale_source = writer;
    }
}

/* ---- one instruction after another ---- */

static void use_wgmma(struct survey *survey, uint32_t number, const struct wsdbg_wgmma_event *event,
                      const struct wsdbg_wgmma_state *state)
{
    struct wsdbg_wgmma_source *out = survey->out;
    if (event->kind != WSDBG_WGMMA_ISSUE)
        return;
    if (out->issues++ == 0)
        out->first_issue = number;
    const unsigned in_flight = wsdbg_wgmma_in_flight_with_one_more(state);
    out->in_flight = in_flight > out->in_flight ? in_flight : out->in_flight;
    if (number >= survey->own_end && out->wgmma_in_calls++ == 0)
        out->wgmma_in_call = number;
    if (event->tile != WSDBG_WGMMA_NO_TILE && state->tiles[event->tile] & WSDBG_WGMMA_AGE &&
        state->tiles[event->tile] & WSDBG_WGMMA_CARRIED)
        survey->is_carried[event->tile] = true;
    unsigned registers = 0;
    for (unsigned i = 0; i < survey->code->tile_count; i++)
        if (!survey->code->is_input[i] && (i == event->tile || state->tiles[i] & WSDBG_WGMMA_AGE))
            registers += survey->code->tile_registers[i];
    out->registers = registers > out->registers ? registers : out->registers;
    read_scale(survey, number);
}

static void visit(void *context, uint32_t number, const struct wsdbg_wgmma_event *event,
                  const struct wsdbg_wgmma_state *before)
{
    struct survey *survey = context;
    if (event) {
        use_wgmma(survey, number, event, before);
        return;
    }
    use_operands(survey, number, before);
    use_call(survey, number);
    use_branch(survey, number, before);
}

struct wsdbg_error *wsdbg_wgmma_source_read(const struct wsdbg_ptx_program *program,
                                            const struct wsdbg_ptx_function *kernel, struct wsdbg_wgmma_source *out)
{
    struct wsdbg_wgmma_code code;
    *out = (struct wsdbg_wgmma_source){.scale_source = WSDBG_PTX_NONE};
    struct survey survey = {
        .program = program, .kernel = kernel, .code = &code, .own_end = wsdbg_ptx_own_end(program, kernel), .out = out};
    struct wsdbg_error *error = wsdbg_wgmma_code_of_ptx(program, kernel, &code);
    if (error)
        return error;
    if (code.issue_count)
        error = wsdbg_wgmma_flow(&code, visit, &survey);
    for (unsigned i = 0; i < code.tile_count; i++)
        out->first_values += survey.is_written[i] && survey.is_carried[i] && !code.is_input[i];
    wsdbg_wgmma_code_deinit(&code);
    return error;
}
