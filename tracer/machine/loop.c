/* loop.c - see loop.h.  Reads: a function's graph.  Writes: the set of blocks of one loop. */
#include "machine/loop.h"

#include <stdlib.h>

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static bool is_store_to_shared(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_STORE &&
           wsdbg_operation_space(instruction->operation) == WSDBG_SPACE_SHARED;
}

static bool is_load(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_reads_memory(instruction->operation);
}

static bool is_atomic(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_ATOMIC;
}

/* What changes nothing that others see: the rest of the decoded set does, or may. */
static bool is_harmless(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_fits_wait_loop(instruction->operation);
}

/* An instruction that writes must write to one place, whatever the others write.  One that only reads may find its
 * place through a pointer: a poll that now and then looks at a flag of the host does so. */
static bool stays_at_its_place(const struct wsdbg_loop *loop, uint32_t number)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, number);
    const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction);
    if (!memory)
        return false;
    return is_atomic(instruction) || is_store_to_shared(instruction) ? wsdbg_loop_keeps(loop, number, memory)
                                                                     : wsdbg_loop_settles(loop, number, memory);
}

static void classify(struct wsdbg_loop *loop)
{
    loop->is_quiet = true;
    for (uint32_t i = wsdbg_loop_next(loop, 0); loop->is_quiet && i != WSDBG_NO_INSTRUCTION;
         i = wsdbg_loop_next(loop, i + 1)) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
        loop->has_global |= is_load(instruction) && wsdbg_operation_space(instruction->operation) != WSDBG_SPACE_SHARED;
        loop->is_quiet &= is_load(instruction) || is_store_to_shared(instruction) ? stays_at_its_place(loop, i)
                                                                                  : is_harmless(instruction);
    }
}

/* Whether the blocks of this loop itself, without those of loops in it, do nothing but look and compute: a glance that
 * spares most loops the rest. */
static bool may_only_wait(const struct wsdbg_graph *graph, uint32_t head)
{
    bool looks = false;
    for (uint32_t b = 0; b < wsdbg_graph_block_count(graph); b++) {
        const struct wsdbg_block *block = wsdbg_graph_block(graph, b);
        for (uint32_t i = block->first; block->loop == head && i < block->first + block->count; i++) {
            const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, i);
            if (!is_load(instruction) && !is_store_to_shared(instruction) && !is_harmless(instruction))
                return false;
            looks |= is_load(instruction) || instruction->operation == WSDBG_OP_SYNCS_PHASECHK ||
                     instruction->operation == WSDBG_OP_USETMAXREG;
        }
    }
    return looks;
}

struct wsdbg_error *wsdbg_loop_around(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_loop *out,
                                      bool *found)
{
    const uint32_t head = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, instruction))->loop;
    *found = false;
    if (head >= wsdbg_graph_block_count(graph) || !may_only_wait(graph, head))
        return NULL;
    uint64_t *body = calloc(wsdbg_graph_block_count(graph) / 64 + 1, sizeof *body);
    if (!body)
        return &wsdbg_error_no_memory;
    wsdbg_graph_loop_blocks(graph, head, body);
    *out = (struct wsdbg_loop){.graph = graph, .head = head, .body = body};
    classify(out);
    *found = true;
    return NULL;
}

bool wsdbg_loop_has_block(const struct wsdbg_loop *loop, uint32_t block)
{
    return has_bit(loop->body, block);
}

bool wsdbg_loop_has(const struct wsdbg_loop *loop, uint32_t instruction)
{
    return has_bit(loop->body, wsdbg_graph_block_of(loop->graph, instruction));
}

uint32_t wsdbg_loop_next(const struct wsdbg_loop *loop, uint32_t from)
{
    const uint32_t count = wsdbg_graph_instruction_count(loop->graph);
    while (from < count && !wsdbg_loop_has(loop, from)) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, from));
        from = block->first + block->count > from ? block->first + block->count : from + 1;
    }
    return from < count ? from : WSDBG_NO_INSTRUCTION;
}

const struct wsdbg_operand *wsdbg_memory_operand(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &instruction->sources[i];
    return NULL;
}

const struct wsdbg_operand *wsdbg_loaded_register(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (instruction->destinations[i].kind == WSDBG_OPERAND_REGISTER &&
            instruction->destinations[i].number != WSDBG_RZ)
            return &instruction->destinations[i];
    return NULL;
}

/* Spreads from the blocks in `reached` to those behind them in the loop, but for `avoid`.  True: it reached the head.
 */
static bool spreads_to_head(const struct wsdbg_loop *loop, uint64_t *reached, uint32_t avoid)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t i = 0; i < wsdbg_graph_block_count(loop->graph); i++) {
            const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
            for (uint32_t s = 0; has_bit(reached, i) && s < block->successor_count; s++) {
                const uint32_t next = block->successor[s];
                if (next == loop->head)
                    return true;
                if (next >= wsdbg_graph_block_count(loop->graph) || next == avoid || !has_bit(loop->body, next) ||
                    has_bit(reached, next))
                    continue;
                set_bit(reached, next);
                grows = true;
            }
        }
    }
    return false;
}

bool wsdbg_loop_always_passes(const struct wsdbg_loop *loop, uint32_t instruction)
{
    const uint32_t block = wsdbg_graph_block_of(loop->graph, instruction);
    if (block == loop->head)
        return true;
    uint64_t *reached = calloc(wsdbg_graph_block_count(loop->graph) / 64 + 1, sizeof *reached);
    if (!reached)
        return false;
    set_bit(reached, loop->head);
    const bool passes = !spreads_to_head(loop, reached, block);
    free(reached);
    return passes;
}
