/* walk_tokens.c - see walk_tokens.h.  Reads: instructions.  Writes: the tokens that the group holds. */
#include "sass/walk_tokens.h"

uint32_t walk_token_of(const struct walk_group *group, unsigned reg)
{
    for (unsigned i = 0; i < WALK_TOKENS_KEPT; i++)
        if (group->tokens[i].step && group->tokens[i].reg == reg)
            return group->tokens[i].step;
    return 0;
}

static void set(struct walk_group *group, unsigned reg, uint32_t step)
{
    unsigned free = WALK_TOKENS_KEPT;
    for (unsigned i = WALK_TOKENS_KEPT; i-- > 0;) {
        if (group->tokens[i].step && group->tokens[i].reg == reg)
            group->tokens[i].step = 0;
        free = group->tokens[i].step ? free : i;
    }
    if (step && free < WALK_TOKENS_KEPT) {
        group->tokens[free].reg = (uint16_t)reg;
        group->tokens[free].step = step;
    }
}

static void set_written(struct walk_group *group, const struct wsdbg_instruction *instruction, uint32_t step)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[i].registers; part++)
            if (!step || !wsdbg_is_predicate(&instruction->destinations[i]))
                set(group, wsdbg_register_of(&instruction->destinations[i], part), step);
}

void walk_tokens_give(struct walk_group *group, const struct wsdbg_instruction *instruction, uint32_t step)
{
    set_written(group, instruction, step + 1);
}

static bool is_zero(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ;
}

/* The source that the instruction copies, as MOV does and IMAD.MOV; NULL = it is no copy. */
static const struct wsdbg_operand *copied_by(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *sources = instruction->sources;
    const bool is_move = (instruction->operation == WSDBG_OP_MOV || instruction->operation == WSDBG_OP_UMOV) &&
                         instruction->source_count == 1;
    const bool is_sum = instruction->operation == WSDBG_OP_IMAD && instruction->source_count == 3 &&
                        is_zero(&sources[0]) && is_zero(&sources[1]);
    const struct wsdbg_operand *source = is_move ? &sources[0] : is_sum ? &sources[2] : NULL;
    return source && source->kind == WSDBG_OPERAND_REGISTER && !source->is_negated && !source->is_inverted &&
                   instruction->destination_count == 1
               ? source
               : NULL;
}

void walk_tokens_follow(struct walk_group *group, const struct wsdbg_instruction *instruction,
                        enum wsdbg_truth executes)
{
    const struct wsdbg_operand *source = executes == WSDBG_TRUTH_YES ? copied_by(instruction) : NULL;
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (!source) {
        set_written(group, instruction, 0);
        return;
    }
    const struct wsdbg_operand *to = &instruction->destinations[0];
    uint32_t tokens[4] = {0};
    for (unsigned part = 0; part < 4; part++)
        tokens[part] = walk_token_of(group, wsdbg_register_of(source, part));
    for (unsigned part = 0; part == 0 || part < to->registers; part++)
        set(group, wsdbg_register_of(to, part), part < 4 ? tokens[part] : 0);
}

void walk_tokens_forget(struct walk_group *group, const uint64_t *registers)
{
    for (unsigned i = 0; i < WALK_TOKENS_KEPT; i++)
        if (!registers || registers[group->tokens[i].reg / 64] >> group->tokens[i].reg % 64 & 1)
            group->tokens[i].step = 0;
}
