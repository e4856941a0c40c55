/* branch_target.c - see branch_target.h.  Reads a trace's values. */
#include "sass/branch_target.h"

enum { MODE_BIT = 85 }; /* of BRX: two bits that count the register up or down */

bool wsdbg_branch_asks_register(const struct wsdbg_instruction *branch)
{
    return branch->operation == WSDBG_OP_BRX && !(branch->words[1] >> (MODE_BIT - 64) & 3) &&
           branch->source_count == 1 && branch->sources[0].kind == WSDBG_OPERAND_REGISTER;
}

bool wsdbg_branch_leads(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t branch, uint32_t *to)
{
    const struct wsdbg_instruction *instruction = &graph->instructions[branch];
    const struct wsdbg_way *ways;
    uint32_t value;
    if (!wsdbg_branch_asks_register(instruction))
        return false;
    const uint32_t count = wsdbg_flow_ways(graph, branch, &ways);
    const struct wsdbg_values values =
        count ? wsdbg_trace_operand(trace, branch, &instruction->sources[0], 0) : wsdbg_values_any();
    if (!wsdbg_values_is_one(&values, &value))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (ways[i].value == value) {
            *to = ways[i].to;
            return true;
        }
    return false;
}
