/* walk_traffic.c - see walk_traffic.h.
 *
 * Reads: the graph.  Writes: the traffic of its instructions and blocks.
 */
#include "sass/walk_traffic.h"

#include <stdlib.h>

#include "sass/access_kind.h"
#include "sass/flow.h"
#include "sass/operation.h"

/* Bits 77 to 80 of a load of machine code: from 1 to 4 it is from memory that nobody writes while the kernel runs. */
enum { ORDER_SHIFT = 77 - 64, ORDER_MASK = 15, ORDERS_OF_CONSTANTS = 4 };

static bool is_of_constants(const struct wsdbg_instruction *load)
{
    const uint64_t order = load->words[1] >> ORDER_SHIFT & ORDER_MASK;
    return load->operation == WSDBG_OP_LDG && order >= 1 && order <= ORDERS_OF_CONSTANTS;
}

static uint8_t to_space(enum wsdbg_operation_space space)
{
    switch (space) {
    case WSDBG_SPACE_LOCAL:
    case WSDBG_SPACE_CONSTANT:
        return 0;
    case WSDBG_SPACE_SHARED:
    case WSDBG_SPACE_DISTRIBUTED:
        return WSDBG_READS_SHARED | WSDBG_WRITES_SHARED;
    case WSDBG_SPACE_GLOBAL:
        return WSDBG_READS_GLOBAL | WSDBG_WRITES_GLOBAL;
    case WSDBG_SPACE_NONE:
    case WSDBG_SPACE_GENERIC:
        break;
    }
    return WSDBG_TRAFFIC_ALL;
}

/* A copy or a reduction of the copy engine. */
static uint8_t of_engine(const struct wsdbg_instruction *copy)
{
    switch (copy->operation) {
    case WSDBG_OP_UTMALDG:
        return WSDBG_READS_GLOBAL | WSDBG_WRITES_SHARED;
    case WSDBG_OP_UBLKCP:
    case WSDBG_OP_UBLKRED:
        return (uint8_t)((copy->reads_shared || !copy->writes_shared ? WSDBG_READS_SHARED : WSDBG_READS_GLOBAL) |
                         (copy->writes_shared ? WSDBG_WRITES_SHARED : WSDBG_WRITES_GLOBAL));
    default:
        return WSDBG_READS_SHARED | WSDBG_WRITES_GLOBAL;
    }
}

/* What an instruction does that is not known may be anything. */
static uint8_t traffic_of(const struct wsdbg_instruction *instruction)
{
    const uint8_t space = to_space(wsdbg_operation_space(instruction->operation));
    if (instruction->local_words)
        return 0;
    switch (wsdbg_operation_class(instruction->operation)) {
    case WSDBG_CLASS_LOAD:
        return is_of_constants(instruction) ? 0 : space & WSDBG_TRAFFIC_READS;
    case WSDBG_CLASS_STORE:
        return space & WSDBG_TRAFFIC_WRITES;
    case WSDBG_CLASS_REDUCTION: /* of PTX it may be to any memory */
        return (wsdbg_is_machine_code(instruction) ? space : WSDBG_TRAFFIC_ALL) & WSDBG_TRAFFIC_WRITES;
    case WSDBG_CLASS_ATOMIC:
        return space;
    case WSDBG_CLASS_MULTIMEM:
        return WSDBG_READS_GLOBAL;
    case WSDBG_CLASS_ASYNC_COPY:
        return WSDBG_READS_GLOBAL | WSDBG_WRITES_SHARED;
    case WSDBG_CLASS_ASYNC_STORE:
    case WSDBG_CLASS_ASYNC_REDUCTION:
        return WSDBG_WRITES_SHARED;
    case WSDBG_CLASS_COPY_ENGINE:
        return of_engine(instruction);
    case WSDBG_CLASS_WGMMA:
        return WSDBG_READS_SHARED;
    case WSDBG_CLASS_MATRIX:
        return instruction->operation == WSDBG_OP_LDSM   ? WSDBG_READS_SHARED
               : instruction->operation == WSDBG_OP_STSM ? WSDBG_WRITES_SHARED
                                                         : 0;
    case WSDBG_CLASS_NONE:
        return WSDBG_TRAFFIC_ALL;
    default:
        return 0;
    }
}

static void find_in_block(const struct wsdbg_graph *graph, const bool *executes, uint32_t number,
                          struct walk_traffic *out)
{
    const struct wsdbg_block *block = &graph->blocks[number];
    uint8_t since = 0;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        out->own[i] = traffic_of(&graph->instructions[i]);
        out->before[i] = since;
        since = executes[i] ? 0 : since | out->own[i];
    }
    out->behind[number] = since;
}

struct wsdbg_error *walk_traffic_find(const struct wsdbg_graph *graph, const bool *executes, struct walk_traffic *out)
{
    out->own = calloc((size_t)graph->instruction_count + 1, sizeof *out->own);
    out->before = calloc((size_t)graph->instruction_count + 1, sizeof *out->before);
    out->behind = calloc((size_t)graph->block_count + 1, sizeof *out->behind);
    if (!out->own || !out->before || !out->behind)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++)
        find_in_block(graph, executes, block, out);
    return NULL;
}

void walk_traffic_destroy(struct walk_traffic *traffic)
{
    free(traffic->own);
    free(traffic->before);
    free(traffic->behind);
    *traffic = (struct walk_traffic){0};
}
