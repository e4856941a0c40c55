/* call_frame.c - see call_frame.h.  Reads a graph; pure functions. */
#include "sass/call_frame.h"

#include "sass/definitions.h"

enum { STACK_POINTER = 1, NOWHERE = -1 };

/* What the function does with the address and with the stack pointer: numbers of instructions, or NOWHERE. */
struct plan {
    uint32_t number;                 /* the first register of the pair */
    int64_t kept[2];                 /* stores of its words, as the function begins */
    int32_t at[2];                   /* where these put them, from the stack pointer behind `taken_at` */
    int64_t taken_at, given_back_at; /* the frame is taken, and given back before a RET */
    uint32_t frame_bytes;
};

static const struct wsdbg_instruction *instruction_at(const struct wsdbg_graph *graph, int64_t number)
{
    return wsdbg_graph_instruction(graph, (uint32_t)number);
}

static bool writes_register(const struct wsdbg_instruction *instruction, uint32_t number)
{
    const struct wsdbg_operand operand = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)number, .registers = 1};
    return instruction->operation != WSDBG_OP_OTHER && wsdbg_writes(instruction, wsdbg_register_of(&operand, 0));
}

/* R1 = R1 + number. */
static bool moves_pointer(const struct wsdbg_instruction *instruction, int32_t *bytes)
{
    if (instruction->operation != WSDBG_OP_IADD3 || !writes_register(instruction, STACK_POINTER) ||
        instruction->source_count < 2 || instruction->sources[0].number != STACK_POINTER ||
        instruction->sources[1].kind != WSDBG_OPERAND_IMMEDIATE)
        return false;
    *bytes = (int32_t)instruction->sources[1].value;
    return true;
}

/* The register pair that all returns name. */
static bool find_register(const struct wsdbg_graph *graph, struct plan *plan)
{
    bool found = false;
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        const struct wsdbg_instruction *row = wsdbg_graph_instruction(graph, i);
        if (wsdbg_operation_class(row->operation) != WSDBG_CLASS_RETURN)
            continue;
        if (!row->source_count || row->sources[0].kind != WSDBG_OPERAND_REGISTER ||
            (found && row->sources[0].number != plan->number))
            return false;
        plan->number = row->sources[0].number;
        found = true;
    }
    return found;
}

static bool is_store_of(const struct wsdbg_instruction *row, uint32_t number)
{
    return row->operation == WSDBG_OP_STL && row->source_count == 2 && row->width_bytes == sizeof(uint32_t) &&
           row->sources[0].kind == WSDBG_OPERAND_MEMORY && row->sources[0].number == STACK_POINTER &&
           row->sources[1].kind == WSDBG_OPERAND_REGISTER && row->sources[1].number == number;
}

/* As the function begins, up to where it writes the pair or calls. */
static void read_begin(const struct wsdbg_graph *graph, struct plan *plan)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        const struct wsdbg_instruction *row = wsdbg_graph_instruction(graph, i);
        const enum wsdbg_operation_class class = wsdbg_operation_class(row->operation);
        int32_t bytes;
        if (class == WSDBG_CLASS_CALL || class == WSDBG_CLASS_RETURN || writes_register(row, plan->number) ||
            writes_register(row, plan->number + 1))
            return;
        if (moves_pointer(row, &bytes) && bytes < 0 && plan->taken_at == NOWHERE) {
            plan->taken_at = i;
            plan->frame_bytes = (uint32_t)-bytes;
        }
        for (unsigned word = 0; word < 2; word++)
            if (is_store_of(row, plan->number + word)) {
                plan->kept[word] = i;
                plan->at[word] = (int32_t)row->sources[0].value;
            }
    }
}

/* Where the block of an instruction that ends in a return gives the frame back. */
static void read_end(const struct wsdbg_graph *graph, uint32_t instruction, struct plan *plan)
{
    const struct wsdbg_block *block = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, instruction));
    for (uint32_t i = block->first; block->returns && i < block->first + block->count; i++) {
        int32_t bytes;
        if (moves_pointer(wsdbg_graph_instruction(graph, i), &bytes) && bytes > 0 &&
            (uint32_t)bytes == plan->frame_bytes)
            plan->given_back_at = i;
    }
}

/* Whether the pair is written nowhere, and no function is called that may write it. */
static bool is_left_alone(const struct wsdbg_graph *graph, uint32_t number)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++)
        if (writes_register(instruction_at(graph, i), number) ||
            writes_register(instruction_at(graph, i), number + 1) ||
            wsdbg_operation_class(instruction_at(graph, i)->operation) == WSDBG_CLASS_CALL)
            return false;
    return true;
}

bool wsdbg_call_frame_at(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_call_frame *out)
{
    struct plan plan = {.kept = {NOWHERE, NOWHERE}, .taken_at = NOWHERE, .given_back_at = NOWHERE};
    const int64_t at = instruction;
    if (!find_register(graph, &plan))
        return false;
    read_begin(graph, &plan);
    read_end(graph, instruction, &plan);
    const bool is_taken = plan.taken_at != NOWHERE && at > plan.taken_at;
    const bool is_given_back = plan.given_back_at != NOWHERE && at > plan.given_back_at;
    const bool is_kept = plan.kept[0] != NOWHERE && plan.kept[1] != NOWHERE;
    *out = (struct wsdbg_call_frame){.number = plan.number,
                                     .frame_bytes = is_taken && !is_given_back ? plan.frame_bytes : 0,
                                     .low_bytes = plan.at[0],
                                     .high_bytes = plan.at[1]};
    if (!is_kept) {
        out->is_in_registers = true;
        return is_left_alone(graph, plan.number);
    }
    const int64_t last_kept = plan.kept[0] > plan.kept[1] ? plan.kept[0] : plan.kept[1];
    out->is_in_registers = at <= last_kept || is_given_back;
    return true;
}
