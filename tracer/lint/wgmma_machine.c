/* wgmma_machine.c - see wgmma_machine.h. */
#include "lint/wgmma_machine.h"

#include <stdlib.h>
#include <string.h>

#include "lint/wgmma_flow.h"

struct survey {
    const struct wsdbg_graph *graph;
    const struct wsdbg_lines *lines; /* NULL = none */
    const struct wsdbg_cubin_function *function;
    const struct wsdbg_wgmma_code *code;
    bool *is_around; /* by block: the loop it is in issues a wgmma, or it does */
    struct wsdbg_wgmma_machine *out;
};

static void add(struct wsdbg_wgmma_places *places, uint32_t number)
{
    if (places->count < WSDBG_WGMMA_PLACES_MOST)
        places->at[places->count] = number;
    places->count++;
}

static bool is_accumulator(const struct wsdbg_wgmma_code *code, const struct wsdbg_operand *operand)
{
    for (unsigned i = 0; operand->kind == WSDBG_OPERAND_REGISTER && i < operand->registers; i++) {
        const unsigned reg = operand->number + i;
        const uint8_t tile = reg < code->register_count ? code->tile_of[reg] : WSDBG_WGMMA_NO_TILE;
        if (tile != WSDBG_WGMMA_NO_TILE && !code->is_input[tile])
            return true;
    }
    return false;
}

static bool uses_accumulator(const struct wsdbg_wgmma_code *code, const struct wsdbg_instruction *in)
{
    bool uses = false;
    for (unsigned i = 0; i < in->destination_count; i++)
        uses = uses || is_accumulator(code, &in->destinations[i]);
    for (unsigned i = 0; i < in->source_count; i++)
        uses = uses || is_accumulator(code, &in->sources[i]);
    return uses;
}

/* ---- waits that nothing needs ---- */

/* Arithmetic, and what only wgmma need: a wait before it serves nobody, unless it uses accumulators. */
static bool is_indifferent(const struct wsdbg_wgmma_code *code, const struct wsdbg_instruction *in)
{
    const enum wsdbg_operation_space space = wsdbg_operation_space(in->operation);
    const bool is_arithmetic = wsdbg_operation_computes(in->operation) && space != WSDBG_SPACE_LOCAL &&
                               wsdbg_operation_class(in->operation) != WSDBG_CLASS_MARK;
    const bool is_indifferent = is_arithmetic || space == WSDBG_SPACE_CONSTANT;
    return in->operation == WSDBG_OP_NOP || (is_indifferent && in->is_whole && !uses_accumulator(code, in));
}

/* The wgmma that is issued next in the block, with nothing in between that needs a wait. */
static bool leads_to_wgmma(const struct survey *survey, uint32_t number, uint32_t end)
{
    for (uint32_t i = number + 1; i < end; i++) {
        const struct wsdbg_wgmma_event *event = wsdbg_wgmma_event_at(survey->code, i);
        if (event && event->kind != WSDBG_WGMMA_FENCE)
            return event->kind == WSDBG_WGMMA_ISSUE;
        if (!event && !is_indifferent(survey->code, wsdbg_graph_instruction(survey->graph, i)))
            return false;
    }
    return false;
}

enum { LEVELS = 16 };

static bool have_one_line(const struct wsdbg_line *a, const struct wsdbg_line *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].line != b[i].line || strcmp(a[i].file, b[i].file) != 0)
            return false;
    return true;
}

/* A wait of the source has a line that no other instruction of the block has, unless all is written in one line; one
 * that ptxas put in has that of an instruction near it. */
static bool has_a_line(const struct survey *survey, uint32_t wait)
{
    struct wsdbg_line own[LEVELS], other[LEVELS];
    const struct wsdbg_wgmma_block *block = &survey->code->blocks[wsdbg_graph_block_of(survey->graph, wait)];
    const size_t count =
        wsdbg_lines_find(survey->lines, survey->function, (uint64_t)wait * WSDBG_INSTRUCTION_BYTES, own, LEVELS);
    for (uint32_t i = block->first; i < block->end; i++) {
        if (wsdbg_graph_instruction(survey->graph, i)->operation == WSDBG_OP_WARPGROUP)
            continue;
        const size_t levels =
            wsdbg_lines_find(survey->lines, survey->function, (uint64_t)i * WSDBG_INSTRUCTION_BYTES, other, LEVELS);
        if (levels == count && have_one_line(own, other, count < LEVELS ? count : LEVELS))
            return false;
    }
    return count > 0;
}

static void find_waits(const struct survey *survey)
{
    struct wsdbg_wgmma_machine *out = survey->out;
    for (size_t i = 0; i < survey->code->event_count; i++) {
        const struct wsdbg_wgmma_event *event = &survey->code->events[i];
        if (event->kind != WSDBG_WGMMA_WAIT || event->groups_left)
            continue;
        add(&out->waits, event->at);
        const uint32_t block = wsdbg_graph_block_of(survey->graph, event->at);
        if (!leads_to_wgmma(survey, event->at, survey->code->blocks[block].end))
            continue;
        if (out->idle_waits.count < WSDBG_WGMMA_PLACES_MOST && survey->lines)
            out->idle_with_a_line += has_a_line(survey, event->at);
        add(&out->idle_waits, event->at);
    }
}

/* ---- what stands around wgmma ---- */

static bool mark_around(struct survey *survey)
{
    const uint32_t count = survey->code->block_count;
    bool *issues = calloc((size_t)count + 1, sizeof *issues); /* by block, and by the block that heads a loop */
    if (!issues)
        return false;
    for (size_t i = 0; i < survey->code->event_count; i++) {
        if (survey->code->events[i].kind != WSDBG_WGMMA_ISSUE)
            continue;
        const uint32_t block = wsdbg_graph_block_of(survey->graph, survey->code->events[i].at);
        const uint32_t loop = wsdbg_graph_block(survey->graph, block)->loop;
        survey->is_around[block] = true;
        if (loop != WSDBG_GRAPH_NONE)
            issues[loop] = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t loop = wsdbg_graph_block(survey->graph, i)->loop;
        survey->is_around[i] = survey->is_around[i] || (loop != WSDBG_GRAPH_NONE && issues[loop]);
    }
    free(issues);
    return true;
}

/* Within no loop only what comes behind a wgmma is between two: before it accumulators get their first values. */
static bool is_between(const struct survey *survey, uint32_t number, const struct wsdbg_wgmma_state *state)
{
    const uint32_t block = wsdbg_graph_block_of(survey->graph, number);
    if (!survey->is_around[block])
        return false;
    if (wsdbg_graph_block(survey->graph, block)->loop != WSDBG_GRAPH_NONE)
        return true;
    for (unsigned i = 0; i < survey->code->tile_count; i++)
        if (!survey->code->is_input[i] && state->tiles[i])
            return true;
    return false;
}

static void look_around(const struct survey *survey, uint32_t number, const struct wsdbg_instruction *in)
{
    struct wsdbg_wgmma_machine *out = survey->out;
    bool reads = false, writes = false;
    for (unsigned i = 0; i < in->source_count; i++)
        reads = reads || is_accumulator(survey->code, &in->sources[i]);
    for (unsigned i = 0; i < in->destination_count; i++)
        writes = writes || is_accumulator(survey->code, &in->destinations[i]);
    if (in->operation == WSDBG_OP_STL && reads)
        add(&out->spill_stores, number);
    else if (in->operation == WSDBG_OP_LDL && writes)
        add(&out->spill_loads, number);
    else if (in->operation == WSDBG_OP_BSYNC || in->operation == WSDBG_OP_WARPSYNC)
        add(&out->joinings, number);
    else if (writes)
        add(&out->written, number);
}

static bool is_opaque_call(const struct survey *survey, uint32_t number, const struct wsdbg_instruction *in)
{
    if (in->operation != WSDBG_OP_CALL)
        return false;
    return wsdbg_graph_block(survey->graph, wsdbg_graph_block_of(survey->graph, number))->callee == WSDBG_GRAPH_NONE;
}

static void visit(void *context, uint32_t number, const struct wsdbg_wgmma_event *event,
                  const struct wsdbg_wgmma_state *before)
{
    const struct survey *survey = context;
    struct wsdbg_wgmma_machine *out = survey->out;
    const struct wsdbg_instruction *in = wsdbg_graph_instruction(survey->graph, number);
    if (!event) {
        if (is_between(survey, number, before))
            look_around(survey, number, in);
        if (is_opaque_call(survey, number, in))
            add(&out->opaque_calls, number);
        return;
    }
    if (event->kind != WSDBG_WGMMA_ISSUE)
        return;
    if (out->issues++ == 0)
        out->first_issue = number;
    const unsigned in_flight = wsdbg_wgmma_in_flight_with_one_more(before);
    out->in_flight = in_flight > out->in_flight ? in_flight : out->in_flight;
    const struct wsdbg_operand *last = in->source_count ? &in->sources[in->source_count - 1] : NULL;
    if (last && last->kind == WSDBG_OPERAND_UNIFORM_PREDICATE && last->number != WSDBG_PT)
        add(&out->scales, number);
}

struct wsdbg_error *wsdbg_wgmma_machine_read(const struct wsdbg_graph *graph, const struct wsdbg_lines *lines,
                                             const struct wsdbg_cubin_function *function,
                                             struct wsdbg_wgmma_machine *out)
{
    struct wsdbg_wgmma_code code;
    *out = (struct wsdbg_wgmma_machine){0};
    struct wsdbg_error *error = wsdbg_wgmma_code_of_graph(graph, &code);
    if (error)
        return error;
    struct survey survey = {graph, lines, function, &code, calloc((size_t)code.block_count + 1, sizeof(bool)), out};
    if (!survey.is_around || !mark_around(&survey))
        error = &wsdbg_error_no_memory;
    if (!error && code.issue_count)
        error = wsdbg_wgmma_flow(&code, visit, &survey);
    if (!error)
        find_waits(&survey);
    free(survey.is_around);
    wsdbg_wgmma_code_deinit(&code);
    return error;
}
