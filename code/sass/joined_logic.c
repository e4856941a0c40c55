/* joined_logic.c - predicates that are copied or negated right behind the comparison that made them: see joined_code.h.
 *
 * Reads: the graph of joined code.  Writes: comparisons, and which instructions are left out.
 *
 * A compiler that does not optimise negates the condition of each branch by an instruction of its own.  Without it the
 * comparison itself decides the branch, which is what the rest of this room looks for.
 */
#include "sass/definitions.h"
#include "sass/joined_code.h"

/* Whether the instruction writes one predicate alone. */
static bool writes_one(const struct wsdbg_instruction *in)
{
    return in->destination_count >= 1 && in->destinations[0].kind == WSDBG_OPERAND_PREDICATE &&
           (in->destination_count == 1 || (in->destination_count == 2 && wsdbg_is_predicate(&in->destinations[1]) &&
                                           in->destinations[1].number == WSDBG_PT));
}

enum joined_copied joined_copies_itself(const struct wsdbg_instruction *logic, unsigned *number)
{
    enum { IF_FALSE = 3, IF_TRUE = 7 }; /* bits of the table, the other two sources being true */
    const struct wsdbg_operand *from = &logic->sources[0], *to = &logic->destinations[0];
    if (logic->operation != WSDBG_OP_PLOP3 || !logic->is_whole || !wsdbg_flow_is_unguarded(logic) ||
        !writes_one(logic) || logic->source_count < 3 || from->kind != WSDBG_OPERAND_PREDICATE ||
        to->kind != from->kind || to->number != from->number || from->is_negated)
        return JOINED_NOT_COPIED;
    for (unsigned i = 1; i < 3; i++)
        if (logic->sources[i].kind != WSDBG_OPERAND_PREDICATE || logic->sources[i].number != WSDBG_PT ||
            logic->sources[i].is_negated)
            return JOINED_NOT_COPIED;
    *number = to->number;
    const bool if_false = logic->table >> IF_FALSE & 1, if_true = logic->table >> IF_TRUE & 1;
    return if_false == if_true ? JOINED_NOT_COPIED : if_true ? JOINED_COPIED : JOINED_NEGATED;
}

bool joined_is_comparison(const struct wsdbg_instruction *in)
{
    enum { COMBINED_SHIFT = 74 - 64, COMBINED = 3, EXTENDED_SHIFT = 72 - 64 };
    return in->operation == WSDBG_OP_ISETP && in->is_whole && wsdbg_flow_is_unguarded(in) && writes_one(in) &&
           in->source_count == 3 && in->sources[2].kind == WSDBG_OPERAND_PREDICATE &&
           in->sources[2].number == WSDBG_PT && !in->sources[2].is_negated && !in->is_long &&
           !(in->words[1] >> COMBINED_SHIFT & COMBINED) && !(in->words[1] >> EXTENDED_SHIFT & 1);
}

/* A comparison that writes this predicate. */
static bool compares_into(const struct wsdbg_instruction *compare, unsigned number)
{
    return joined_is_comparison(compare) && compare->destinations[0].number == number;
}

static uint8_t opposite(uint8_t comparison)
{
    static const uint8_t opposites[] = {[WSDBG_COMPARE_F] = WSDBG_COMPARE_T,   [WSDBG_COMPARE_LT] = WSDBG_COMPARE_GE,
                                        [WSDBG_COMPARE_EQ] = WSDBG_COMPARE_NE, [WSDBG_COMPARE_LE] = WSDBG_COMPARE_GT,
                                        [WSDBG_COMPARE_GT] = WSDBG_COMPARE_LE, [WSDBG_COMPARE_NE] = WSDBG_COMPARE_EQ,
                                        [WSDBG_COMPARE_GE] = WSDBG_COMPARE_LT, [WSDBG_COMPARE_T] = WSDBG_COMPARE_F};
    return opposites[comparison];
}

void joined_fold_logic(struct joined_code *code, const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0, compare = 0; i < code->count; i++) {
        struct wsdbg_instruction *in = &code->lines[i].instruction;
        unsigned number;
        const enum joined_copied copied = joined_copies_itself(in, &number);
        if (copied == JOINED_NOT_COPIED) {
            compare = i;
            continue;
        }
        struct wsdbg_instruction *before = &code->lines[compare].instruction;
        if (graph->block_of[compare] != graph->block_of[i] || !compares_into(before, number) ||
            before->mode > WSDBG_COMPARE_T)
            continue;
        before->mode = copied == JOINED_NEGATED ? opposite(before->mode) : before->mode;
        code->lines[i].is_left_out = true;
        *in = (struct wsdbg_instruction){
            .words = {in->words[0], in->words[1]}, .operation = WSDBG_OP_NOP, .guard = WSDBG_PT, .is_whole = true};
    }
}

void joined_make_answer(struct wsdbg_instruction *in, bool answer)
{
    enum { OPCODE_OF_COMPARISON = 0x20c };
    const struct wsdbg_operand zero = {.kind = WSDBG_OPERAND_REGISTER, .number = WSDBG_RZ, .registers = 1};
    in->operation = WSDBG_OP_ISETP;
    in->words[0] = OPCODE_OF_COMPARISON;
    in->words[1] = 0;
    in->mode = answer ? WSDBG_COMPARE_T : WSDBG_COMPARE_F;
    in->sources[0] = in->sources[1] = zero;
    in->sources[2] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_PREDICATE, .number = WSDBG_PT, .registers = 1};
    in->source_count = 3;
    in->destination_count = 1;
    in->is_whole = true;
}
