/* register_steps.c - see register_steps.h.  Reads a warp's graph; writes the steps. */
#include "lint/register_steps.h"

#include <stdlib.h>
#include <string.h>

#include "sass/flow.h"

struct reading {
    const struct wsdbg_graph *graph;
    uint64_t *stops, *reached; /* sets of instructions: those behind which a way does not go on; those it reached */
    struct wsdbg_register_steps *out;
};

/* What the ways from one place reach first. */
struct next {
    uint32_t steps; /* how many different ones */
    uint32_t step;  /* one of them */
    bool exits;
};

static bool is_step(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_USETMAXREG || instruction->operation == WSDBG_OP_BAR) &&
           !wsdbg_flow_never_executes(instruction);
}

static bool is_request(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_USETMAXREG && instruction->mode == WSDBG_MAXREG_TRY_ALLOC;
}

static void insert(uint64_t *set, uint32_t number)
{
    set[number / 64] |= UINT64_C(1) << number % 64;
}

/* A trap ends a way, too: nothing hangs. */
static void note_stops(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &reading->graph->instructions[i];
        if (is_step(instruction) || instruction->operation == WSDBG_OP_BPT)
            insert(reading->stops, i);
    }
}

/* The ways from before instruction `from`; `itself`: a request that is tried again is the same one. */
static struct next look_ahead(struct reading *reading, uint32_t from, uint32_t itself)
{
    const struct wsdbg_graph *graph = reading->graph;
    struct next next = {.exits = false};
    if (from >= graph->instruction_count)
        return next;
    wsdbg_graph_reach_set(graph, from, reading->stops, reading->reached);
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (!wsdbg_flow_contains(reading->reached, i))
            continue;
        next.exits |= instruction->operation == WSDBG_OP_EXIT && !wsdbg_flow_never_executes(instruction);
        if (!is_step(instruction) || (i == itself && is_request(instruction)))
            continue;
        next.steps += wsdbg_flow_is_unguarded(instruction) ? 1 : 2; /* which may also be passed */
        next.step = i;
    }
    return next;
}

static struct wsdbg_register_step step_of(const struct wsdbg_instruction *instruction, uint32_t number)
{
    const struct wsdbg_operand *first = &instruction->sources[0];
    const bool is_number = instruction->source_count && first->kind == WSDBG_OPERAND_IMMEDIATE;
    if (instruction->operation == WSDBG_OP_BAR)
        return (struct wsdbg_register_step){.kind = instruction->mode == WSDBG_BAR_ARV ? WSDBG_STEP_ARRIVE
                                                                                       : WSDBG_STEP_SYNC,
                                            .id = is_number ? (int8_t)first->value : WSDBG_STEP_ID_UNKNOWN,
                                            .instruction = number};
    return (struct wsdbg_register_step){.kind = is_request(instruction) ? WSDBG_STEP_REQUEST : WSDBG_STEP_RELEASE,
                                        .count = is_number ? (uint16_t)first->value : 0,
                                        .instruction = number};
}

/* Whether code that lies elsewhere, or nobody knows where, may execute. */
static bool is_open(struct reading *reading)
{
    const struct wsdbg_graph *graph = reading->graph;
    if (wsdbg_graph_reach_set(graph, 0, NULL, reading->reached))
        return true;
    for (uint32_t i = 0; i < graph->block_count; i++) {
        const struct wsdbg_block *block = &graph->blocks[i];
        if (block->calls && block->callee == WSDBG_GRAPH_NONE && wsdbg_flow_contains(reading->reached, block->first))
            return true;
    }
    return false;
}

/* The least count of all that may come from instruction `from` on. */
static uint32_t least_from(struct reading *reading, uint32_t from)
{
    const struct wsdbg_graph *graph = reading->graph;
    uint32_t least = UINT32_MAX;
    if (from >= graph->instruction_count)
        return least;
    wsdbg_graph_reach_set(graph, from, NULL, reading->reached);
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (instruction->operation != WSDBG_OP_USETMAXREG || !is_step(instruction) ||
            !wsdbg_flow_contains(reading->reached, i))
            continue;
        const uint32_t count = step_of(instruction, i).count;
        least = count < least ? count : least;
    }
    return least;
}

static void follow(struct reading *reading)
{
    struct wsdbg_register_steps *out = reading->out;
    uint32_t from = 0, last = WSDBG_GRAPH_NONE;
    for (;;) {
        const struct next next = look_ahead(reading, from, last);
        const bool ends = next.steps == 0 && next.exits;
        if (ends || next.steps != 1 || next.exits || out->count == WSDBG_STEPS_MOST) {
            out->held_after = ends ? UINT32_MAX : least_from(reading, from);
            return;
        }
        out->steps[out->count++] = step_of(&reading->graph->instructions[next.step], next.step);
        last = next.step;
        from = last + 1;
    }
}

struct wsdbg_error *wsdbg_register_steps_read(const struct wsdbg_graph *graph, struct wsdbg_register_steps *out)
{
    const size_t words = (size_t)graph->instruction_count / 64 + 1;
    struct reading reading = {graph, calloc(words, 8), calloc(words, 8), out};
    const bool has_memory = reading.stops && reading.reached;
    *out = (struct wsdbg_register_steps){.held_after = UINT32_MAX};
    if (has_memory && graph->instruction_count) {
        out->is_open = is_open(&reading);
        out->held_after = out->is_open ? 0 : UINT32_MAX;
        note_stops(&reading);
        if (!out->is_open)
            follow(&reading);
    }
    free(reading.stops);
    free(reading.reached);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}
