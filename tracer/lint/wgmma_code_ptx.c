/* wgmma_code_ptx.c - the PTX of a kernel as wgmma_code.h has it: its blocks, and the registers of its wgmma.
 *
 * Called functions stand behind the kernel's own code: they begin blocks of their own, and a call goes on behind
 * itself.
 */
#include <stdlib.h>

#include "lint/wgmma_code.h"
#include "lint/wgmma_code_parts.h"

struct reading {
    const struct wsdbg_ptx_program *program;
    uint32_t first, end; /* instructions */
    uint32_t *block_of;  /* by instruction from `first` on; while blocks are found: 1 begins one, 2 an entry */
    struct wsdbg_wgmma_builder builder;
};

static const struct wsdbg_ptx_instruction *instruction_at(const struct reading *reading, uint32_t number)
{
    return &reading->program->instructions[number];
}

static bool ends_path(const struct wsdbg_ptx_instruction *in)
{
    return in->operation == WSDBG_PTX_OP_ret || in->operation == WSDBG_PTX_OP_exit ||
           in->operation == WSDBG_PTX_OP_trap;
}

/* Where a branch may go, beside on; none where the instruction is no branch. */
static const uint32_t *targets_of(const struct reading *reading, const struct wsdbg_ptx_instruction *in,
                                  uint32_t *count)
{
    *count = 0;
    if (in->operation == WSDBG_PTX_OP_bra) {
        *count = 1;
        return &in->target;
    }
    if (in->operation != WSDBG_PTX_OP_brx)
        return NULL;
    const uint32_t *table = &reading->program->branch_tables[in->target];
    *count = table[0];
    return table + 1;
}

static void mark(struct reading *reading, uint32_t number, uint32_t what)
{
    if (number >= reading->first && number < reading->end)
        reading->block_of[number - reading->first] |= what;
}

static void mark_beginnings(struct reading *reading)
{
    mark(reading, reading->first, 3);
    for (uint32_t i = reading->first; i < reading->end; i++) {
        const struct wsdbg_ptx_instruction *in = instruction_at(reading, i);
        uint32_t count;
        const uint32_t *targets = targets_of(reading, in, &count);
        for (uint32_t k = 0; k < count; k++)
            mark(reading, targets[k], 1);
        if (in->operation == WSDBG_PTX_OP_call && in->target != WSDBG_PTX_NONE)
            mark(reading, in->target, 3);
        if (count || ends_path(in))
            mark(reading, i + 1, 1);
    }
}

static uint32_t count_blocks(const struct reading *reading)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < reading->end - reading->first; i++)
        count += reading->block_of[i] != 0;
    return count;
}

static void cut_into_blocks(struct reading *reading)
{
    struct wsdbg_wgmma_block *block = NULL;
    uint32_t count = 0;
    for (uint32_t i = reading->first; i < reading->end; i++) {
        uint32_t *of = &reading->block_of[i - reading->first];
        if (*of) {
            block = &reading->builder.code->blocks[count++];
            *block = (struct wsdbg_wgmma_block){.first = i, .is_entry = (*of & 2) != 0};
        }
        block->end = i + 1;
        *of = count - 1;
    }
}

static void join_blocks(struct reading *reading)
{
    struct wsdbg_wgmma_code *code = reading->builder.code;
    for (uint32_t number = 0; number < code->block_count; number++) {
        struct wsdbg_wgmma_block *block = &code->blocks[number];
        const struct wsdbg_ptx_instruction *last = instruction_at(reading, block->end - 1);
        uint32_t count;
        const uint32_t *targets = targets_of(reading, last, &count);
        block->first_successor = (uint32_t)reading->builder.successor_count;
        for (uint32_t k = 0; k < count; k++)
            if (targets[k] >= reading->first && targets[k] < reading->end)
                wsdbg_wgmma_builder_successor(&reading->builder, reading->block_of[targets[k] - reading->first]);
        const bool always_leaves = (count || ends_path(last)) && last->guard == WSDBG_PTX_NONE;
        if (!always_leaves && block->end < reading->end && !code->blocks[number + 1].is_entry)
            wsdbg_wgmma_builder_successor(&reading->builder, number + 1);
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
    const struct wsdbg_ptx_instruction *in = instruction_at(reading, number);
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
    struct reading reading = {.program = program, .first = kernel->first, .end = kernel->end};
    reading.block_of = calloc((size_t)(kernel->end - kernel->first) + 1, sizeof *reading.block_of);
    if (!reading.block_of)
        return &wsdbg_error_no_memory;
    mark_beginnings(&reading);
    if (wsdbg_wgmma_builder_init(&reading.builder, out, kernel->register_count, count_blocks(&reading))) {
        cut_into_blocks(&reading);
        join_blocks(&reading);
        for (uint32_t i = reading.first; i < reading.end; i++)
            add_event(&reading, i);
    } else {
        reading.builder.is_out_of_memory = true;
    }
    free(reading.block_of);
    return wsdbg_wgmma_builder_finish(&reading.builder);
}
