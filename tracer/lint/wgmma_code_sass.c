/* wgmma_code_sass.c - machine code as wgmma_code.h has it.
 *
 * A commit is a mark (gsb0) of the last multiplication of the group, or where nothing was issued since the last one a
 * multiplication of nothing.  Registers are the 256 general ones.
 */
#include "lint/wgmma_code.h"
#include "lint/wgmma_code_parts.h"

static bool is_multiplication(const struct wsdbg_instruction *in)
{
    return wsdbg_operation_class(in->operation) == WSDBG_CLASS_WGMMA;
}

static const struct wsdbg_operand *accumulator_of(const struct wsdbg_instruction *in)
{
    return in->destination_count ? &in->destinations[in->destination_count - 1] : NULL;
}

static void join_registers(struct wsdbg_wgmma_builder *builder, const struct wsdbg_operand *operand,
                           bool is_accumulator)
{
    for (uint32_t i = 0; i < operand->registers; i++)
        wsdbg_wgmma_builder_join(builder, operand->number, (uint32_t)operand->number + i, is_accumulator);
}

static void add_multiplication(struct wsdbg_wgmma_builder *builder, uint32_t number, const struct wsdbg_instruction *in)
{
    struct wsdbg_wgmma_event event = {.at = number,
                                      .kind = WSDBG_WGMMA_ISSUE,
                                      .ends_group = in->ends_group,
                                      .is_conditional = in->guard != WSDBG_PT,
                                      .register_of_tile = UINT32_MAX,
                                      .register_of_input = UINT32_MAX};
    const struct wsdbg_operand *accumulator = accumulator_of(in);
    if (!accumulator || accumulator->number == WSDBG_RZ) {
        event.kind = WSDBG_WGMMA_COMMIT;
        if (in->ends_group)
            wsdbg_wgmma_builder_event(builder, event);
        return;
    }
    event.register_of_tile = accumulator->number;
    join_registers(builder, accumulator, true);
    if (in->source_count && in->sources[0].kind == WSDBG_OPERAND_REGISTER && in->sources[0].number != WSDBG_RZ) {
        event.register_of_input = in->sources[0].number;
        join_registers(builder, &in->sources[0], false);
    }
    wsdbg_wgmma_builder_event(builder, event);
}

static void add_instruction(struct wsdbg_wgmma_builder *builder, uint32_t number, const struct wsdbg_instruction *in)
{
    if (is_multiplication(in)) {
        add_multiplication(builder, number, in);
    } else if (in->operation == WSDBG_OP_WARPGROUP) {
        const bool is_wait = in->mode == WSDBG_WARPGROUP_DEPBAR;
        const struct wsdbg_wgmma_event event = {
            .at = number,
            .kind = is_wait ? WSDBG_WGMMA_WAIT : WSDBG_WGMMA_FENCE,
            .is_conditional = in->guard != WSDBG_PT,
            .groups_left = (uint8_t)(is_wait && in->source_count ? in->sources[0].value : 0),
            .register_of_tile = UINT32_MAX,
            .register_of_input = UINT32_MAX,
        };
        wsdbg_wgmma_builder_event(builder, event);
    }
}

static void add_block(struct wsdbg_wgmma_builder *builder, const struct wsdbg_graph *graph, uint32_t number)
{
    const struct wsdbg_block *from = wsdbg_graph_block(graph, number);
    struct wsdbg_wgmma_block *block = &builder->code->blocks[number];
    block->first = from->first;
    block->end = from->first + from->count;
    block->is_entry = block->is_entry || number == 0;
    block->first_successor = (uint32_t)builder->successor_count;
    for (uint32_t i = 0; i < from->successor_count; i++)
        if (from->successor[i] != WSDBG_GRAPH_NONE)
            wsdbg_wgmma_builder_successor(builder, from->successor[i]);
    block->successor_count = (uint32_t)builder->successor_count - block->first_successor;
    if (from->calls && from->callee != WSDBG_GRAPH_NONE)
        builder->code->blocks[wsdbg_graph_block_of(graph, from->callee)].is_entry = true;
    for (uint32_t i = block->first; i < block->end; i++)
        add_instruction(builder, i, wsdbg_graph_instruction(graph, i));
}

struct wsdbg_error *wsdbg_wgmma_code_of_graph(const struct wsdbg_graph *graph, struct wsdbg_wgmma_code *out)
{
    struct wsdbg_wgmma_builder builder;
    const uint32_t block_count = wsdbg_graph_block_count(graph);
    if (wsdbg_wgmma_builder_init(&builder, out, WSDBG_RZ, block_count)) {
        for (uint32_t i = 0; i < block_count; i++)
            add_block(&builder, graph, i);
    } else {
        builder.is_out_of_memory = true;
    }
    return wsdbg_wgmma_builder_finish(&builder);
}
