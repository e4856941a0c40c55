/* wgmma_code_ptx.c - the PTX of a kernel as wgmma_code.h has it: its blocks, and the registers of its wgmma.
 *
 * Called functions stand behind the kernel's own code: each ends before the next one, and a call goes on behind itself.
 * Reads the program; writes the code.
 */
#include "lint/wgmma_code.h"
#include "lint/wgmma_code_parts.h"
#include "ptx/graph.h"

struct reading {
    const struct wsdbg_ptx_program *program;
    struct wsdbg_ptx_graph graph;
    struct wsdbg_wgmma_builder builder;
};

/* The kernel begins a block, and so does each function that it calls. */
static void mark_entries(struct reading *reading)
{
    struct wsdbg_wgmma_block *blocks = reading->builder.code->blocks;
    const struct wsdbg_ptx_graph *graph = &reading->graph;
    for (uint32_t i = graph->begin; i < graph->end; i++) {
        const struct wsdbg_ptx_instruction *in = &reading->program->instructions[i];
        if (in->operation == WSDBG_PTX_OP_call && in->target >= graph->begin && in->target < graph->end)
            blocks[graph->block_of[in->target - graph->begin]].is_entry = true;
    }
    blocks[0].is_entry = true;
}

static void add_blocks(struct reading *reading)
{
    const struct wsdbg_ptx_graph *graph = &reading->graph;
    for (uint32_t number = 0; number < graph->count; number++) {
        struct wsdbg_wgmma_block *block = &reading->builder.code->blocks[number];
        block->first = graph->first[number];
        block->end = graph->first[number + 1];
        block->first_successor = (uint32_t)reading->builder.successor_count;
        for (uint32_t i = graph->after.first[number]; i < graph->after.first[number + 1]; i++)
            if (graph->after.numbers[i] < graph->count)
                wsdbg_wgmma_builder_successor(&reading->builder, graph->after.numbers[i]);
        block->successor_count = (uint32_t)reading->builder.successor_count - block->first_successor;
    }
}

/* The first register of a vector, all of which become one tile. */
static uint32_t join_vector(struct reading *reading, const struct wsdbg_ptx_operand *operand, bool is_accumulator)
{
    if (operand->kind != WSDBG_PTX_OPERAND_VECTOR)
        return UINT32_MAX;
    const struct wsdbg_ptx_operand *elements = &reading->program->vectors[operand->number];
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < operand->count; i++) {
        if (elements[i].kind != WSDBG_PTX_OPERAND_REGISTER)
            continue;
        first = first == UINT32_MAX ? elements[i].number : first;
        wsdbg_wgmma_builder_join(&reading->builder, first, elements[i].number, is_accumulator);
    }
    return first;
}

static void add_event(struct reading *reading, uint32_t number)
{
    const struct wsdbg_ptx_instruction *in = &reading->program->instructions[number];
    struct wsdbg_wgmma_event event = {.at = number,
                                      .is_conditional = in->guard != WSDBG_PTX_NONE,
                                      .register_of_tile = UINT32_MAX,
                                      .register_of_input = UINT32_MAX};
    switch (in->operation) {
    case WSDBG_PTX_OP_wgmma_fence:
        event.kind = WSDBG_WGMMA_FENCE;
        break;
    case WSDBG_PTX_OP_wgmma_mma_async:
        event.kind = WSDBG_WGMMA_ISSUE;
        event.register_of_tile = join_vector(reading, &in->operands[0], true);
        event.register_of_input = join_vector(reading, &in->operands[1], false);
        break;
    case WSDBG_PTX_OP_wgmma_commit_group:
        event.kind = WSDBG_WGMMA_COMMIT;
        break;
    case WSDBG_PTX_OP_wgmma_wait_group:
        event.kind = WSDBG_WGMMA_WAIT;
        event.groups_left = (uint8_t)(in->operands[0].value < UINT8_MAX ? in->operands[0].value : UINT8_MAX);
        break;
    default:
        return;
    }
    wsdbg_wgmma_builder_event(&reading->builder, event);
}

struct wsdbg_error *wsdbg_wgmma_code_of_ptx(const struct wsdbg_ptx_program *program,
                                            const struct wsdbg_ptx_function *kernel, struct wsdbg_wgmma_code *out)
{
    struct reading reading = {.program = program};
    struct wsdbg_error *error = wsdbg_ptx_graph_create(program->instructions, program->branch_tables, kernel->first,
                                                       kernel->end, UINT32_MAX, &reading.graph);
    if (error)
        return error;
    if (wsdbg_wgmma_builder_init(&reading.builder, out, kernel->register_count, reading.graph.count)) {
        add_blocks(&reading);
        mark_entries(&reading);
        for (uint32_t i = kernel->first; i < kernel->end; i++)
            add_event(&reading, i);
    } else {
        reading.builder.is_out_of_memory = true;
    }
    wsdbg_ptx_graph_destroy(&reading.graph);
    return wsdbg_wgmma_builder_finish(&reading.builder);
}
