/* joined_swaps.c - two registers that change their values by three exclusive ors: see joined_code.h.
 *
 * Reads: the graph of joined code.  Writes: moves in the place of the three.
 *
 * A compiler that does not optimise swaps registers so, also those that have the two words of an address.  As moves, by
 * way of a register that no code has, they show where the values go.
 */
#include "sass/definitions.h"
#include "sass/joined_code.h"

enum { STEPS = 3 };

static bool is_register(const struct wsdbg_operand *operand, unsigned number)
{
    return operand->kind == WSDBG_OPERAND_REGISTER && operand->number == number && !operand->is_negated &&
           !operand->is_inverted && number != WSDBG_RZ;
}

/* Whether the instruction writes the exclusive or of a and b to one of them, and nothing else. */
static bool is_step(const struct wsdbg_instruction *in, unsigned to, unsigned a, unsigned b)
{
    enum { TABLE_OF_XOR = 0x3c };
    if (in->operation != WSDBG_OP_LOP3 || !in->is_whole || !wsdbg_flow_is_unguarded(in) || in->table != TABLE_OF_XOR ||
        in->source_count < 2 || !in->destination_count || !is_register(&in->destinations[0], to))
        return false;
    for (unsigned i = 1; i < in->destination_count; i++)
        if (!wsdbg_is_predicate(&in->destinations[i]) || in->destinations[i].number != WSDBG_PT)
            return false;
    return (is_register(&in->sources[0], a) && is_register(&in->sources[1], b)) ||
           (is_register(&in->sources[0], b) && is_register(&in->sources[1], a));
}

static bool is_swap(const struct joined_code *code, const struct wsdbg_graph *graph, uint32_t first, unsigned *a,
                    unsigned *b)
{
    const struct wsdbg_instruction *steps[STEPS];
    for (uint32_t i = 0; i < STEPS; i++)
        if (first + i >= code->count || graph->block_of[first + i] != graph->block_of[first])
            return false;
    for (uint32_t i = 0; i < STEPS; i++)
        steps[i] = &code->lines[first + i].instruction;
    if (!steps[0]->destination_count || !steps[1]->destination_count)
        return false;
    *a = steps[0]->destinations[0].number;
    *b = steps[1]->destinations[0].number;
    return *a != *b && is_step(steps[0], *a, *a, *b) && is_step(steps[1], *b, *a, *b) && is_step(steps[2], *a, *a, *b);
}

static void make_move(struct joined_line *line, unsigned to, unsigned from)
{
    enum { OPCODE_OF_MOVE = 0x202, ALL_LANES = 0xf00 };
    line->instruction = (struct wsdbg_instruction){
        .words = {OPCODE_OF_MOVE, ALL_LANES},
        .operation = WSDBG_OP_MOV,
        .guard = WSDBG_PT,
        .destinations = {{.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)to, .registers = 1}},
        .sources = {{.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)from, .registers = 1}},
        .destination_count = 1,
        .source_count = 1,
        .is_whole = true};
}

void joined_make_swaps(struct joined_code *code, const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < code->count; i++) {
        unsigned a, b;
        if (!is_swap(code, graph, i, &a, &b))
            continue;
        make_move(&code->lines[i], JOINED_SPARE_REGISTER, a);
        make_move(&code->lines[i + 1], a, b);
        make_move(&code->lines[i + 2], b, JOINED_SPARE_REGISTER);
        code->lines[i + 1].is_inside = code->lines[i + 2].is_inside = true;
    }
}
