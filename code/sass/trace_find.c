/* trace_find.c - where the value that a register holds comes from: back through a block to who wrote it, under which
 * conditions, and from block to block.  Reads a graph; adds nodes to the trace. */
#include "sass/trace_nodes.h"

#include "sass/compute.h"

/* A condition that is known to hold: the comparison of instruction `compare` came out as `holds`. */
struct condition {
    uint32_t compare; /* WSDBG_GRAPH_NONE = none */
    bool holds;
};

/* Where a register is looked for: in a block, before instruction `end`. */
struct place {
    uint32_t block, end;
    unsigned guard; /* predicate known to be `guard_holds` at `end`; WSDBG_REGISTER_NONE */
    bool guard_holds;
    bool is_carried; /* also to the blocks before, until it is written */
};

/* An ENTRY may also be what the register holds there for the threads that come with a known value of a predicate. */
static uint64_t entry_key(uint32_t block, unsigned reg, unsigned guard, bool guard_holds)
{
    const uint64_t known = guard == WSDBG_REGISTER_NONE ? 0 : guard - WSDBG_REGISTER_PREDICATE + 1u;
    return wsdbg_trace_key(WSDBG_TRACE_ENTRY, block, reg) | known << 33 | (uint64_t)guard_holds << 32;
}

static unsigned guard_of_key(uint64_t key)
{
    const unsigned known = key >> 33 & 0x7f;
    return known ? WSDBG_REGISTER_PREDICATE + known - 1 : WSDBG_REGISTER_NONE;
}

/* The end of a block, before its last instruction is decided. */
static struct place place_at_end(const struct wsdbg_trace *trace, uint32_t block)
{
    const struct wsdbg_block *of = &trace->graph->blocks[block];
    const uint32_t last = of->first + of->count - 1;
    const bool writes_nothing = of->calls || of->returns || of->exits || of->successor[1] != WSDBG_GRAPH_NONE;
    return (struct place){block, writes_nothing ? last : last + 1, WSDBG_REGISTER_NONE, false, false};
}

/* Where a block is left by one of its ways: its last instruction's guard is then decided. */
static struct place place_leaving(const struct wsdbg_trace *trace, uint32_t block, unsigned way)
{
    const struct wsdbg_block *of = &trace->graph->blocks[block];
    const struct wsdbg_instruction *last = &trace->graph->instructions[of->first + of->count - 1];
    struct place place = place_at_end(trace, block);
    const bool is_decided = of->exits || (last->operation == WSDBG_OP_BRA && of->successor[0] != of->successor[1]);
    if (is_decided && !wsdbg_flow_asks_more_than_guard(last)) {
        place.guard = wsdbg_register_of_guard(last);
        place.guard_holds = (way == 1) != last->guard_is_negated;
    }
    return place;
}

/* ---- conditions ---- */

/* The condition that predicate `reg` is `holds` at `end`, where a comparison of the same block says so. */
static struct condition condition_of(const struct wsdbg_trace *trace, uint32_t block, uint32_t end, unsigned reg,
                                     bool holds)
{
    const struct condition none = {WSDBG_GRAPH_NONE, false};
    uint32_t compare;
    if (reg == WSDBG_REGISTER_NONE ||
        !wsdbg_definition_before(&trace->definitions, reg, trace->graph->blocks[block].first, end, &compare) ||
        compare == end)
        return none;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[compare];
    if (!wsdbg_flow_is_unguarded(instruction) || !wsdbg_compute_decides(instruction, reg, holds))
        return none;
    return (struct condition){compare, holds};
}

/* The way by which alone a block is entered: from *from, by its successor *way; false where there are more, or none.
 * Code that nothing leads to may lead to itself in a ring: of that there is none either. */
static bool only_way(const struct wsdbg_graph *graph, uint32_t block, uint32_t *from, unsigned *way)
{
    const uint32_t *ways = &graph->predecessors.first[block];
    if (ways[1] - ways[0] != 1 || graph->procedure_at[block] != WSDBG_GRAPH_NONE ||
        graph->procedure_of[block] == WSDBG_GRAPH_NONE)
        return false;
    *from = graph->predecessors.numbers[ways[0]];
    const struct wsdbg_block *before = &graph->blocks[*from];
    *way = 0;
    while (before->successor[*way] != block)
        ++*way;
    return !before->calls && before->successor[0] != before->successor[1];
}

static bool compares_register(const struct wsdbg_trace *trace, struct condition condition, unsigned reg)
{
    if (condition.compare == WSDBG_GRAPH_NONE)
        return false;
    const struct wsdbg_instruction *compare = &trace->graph->instructions[condition.compare];
    return wsdbg_register_of(&compare->sources[0], 0) == reg || wsdbg_register_of(&compare->sources[1], 0) == reg;
}

/* What a register holds where a block begins: up to the first block that is entered by several ways, that writes the
 * register, or whose end says something of it. */
static uint64_t key_of_entry(const struct wsdbg_trace *trace, uint32_t block, unsigned reg)
{
    uint32_t from, written;
    unsigned way;
    while (only_way(trace->graph, block, &from, &way)) {
        const struct place place = place_leaving(trace, from, way);
        const uint32_t first = trace->graph->blocks[from].first;
        if (!wsdbg_definition_before(&trace->definitions, reg, first, place.end, &written) || written != place.end ||
            compares_register(trace, condition_of(trace, from, place.end, place.guard, place.guard_holds), reg))
            break;
        block = from;
    }
    return wsdbg_trace_key(WSDBG_TRACE_ENTRY, block, reg);
}

/* The key of the only value that an operand of `number` may be, where one of the block's instructions or its start
 * gives it; 0 = there are several, or it is no register. */
static uint64_t only_key(const struct wsdbg_trace *trace, uint32_t block, uint32_t number,
                         const struct wsdbg_operand *operand)
{
    const unsigned reg = wsdbg_register_of(operand, 0);
    uint32_t found;
    if (reg >= WSDBG_REGISTER_PREDICATE || operand->is_negated || operand->is_inverted ||
        !wsdbg_definition_before(&trace->definitions, reg, trace->graph->blocks[block].first, number, &found))
        return 0;
    if (found == number)
        return key_of_entry(trace, block, reg);
    return wsdbg_flow_is_unguarded(&trace->graph->instructions[found]) ? wsdbg_trace_key(WSDBG_TRACE_RESULT, found, reg)
                                                                       : 0;
}

/* Adds to an input that `key`'s value flows in only while the condition holds, where that is about this value. */
static void restrict_input(struct wsdbg_trace *trace, uint32_t block, uint64_t key, struct condition condition,
                           struct wsdbg_trace_input *input)
{
    const struct wsdbg_instruction *compare = &trace->graph->instructions[condition.compare];
    for (unsigned side = 0; side < 2; side++) {
        const struct wsdbg_operand *other = &compare->sources[1 - side];
        if (wsdbg_register_of(&compare->sources[side], 0) != wsdbg_trace_register_of(key) ||
            only_key(trace, block, condition.compare, &compare->sources[side]) != key)
            continue;
        const uint64_t other_key = only_key(trace, block, condition.compare, other);
        input->other = other_key ? wsdbg_trace_node_of(trace, other_key) : WSDBG_GRAPH_NONE;
        if (!other_key && !wsdbg_compute_is_number(other, &input->number))
            return;
        if (other_key && input->other == WSDBG_GRAPH_NONE)
            return;
        input->relations = (uint8_t)wsdbg_compute_relations(compare, condition.holds, side == 1);
        input->is_signed = compare->is_signed;
        return;
    }
}

/* ---- where a register's value comes from ---- */

static void find_anything(struct wsdbg_trace_found *found)
{
    found->count = 1;
    found->inputs[0] = (struct wsdbg_trace_input){.node = WSDBG_GRAPH_NONE, .other = WSDBG_GRAPH_NONE};
}

static bool may_be_anything(const struct wsdbg_trace_found *found)
{
    return found->count && found->inputs[0].node == WSDBG_GRAPH_NONE;
}

/* Adds a value that flows in from instruction `at`, or from the block's start where that is WSDBG_GRAPH_NONE. */
static void find_value(struct wsdbg_trace *trace, const struct place *place, uint64_t key, uint32_t at,
                       struct condition condition, struct wsdbg_trace_found *found)
{
    if (may_be_anything(found))
        return;
    const uint32_t node = found->count < WSDBG_TRACE_INPUTS_MOST ? wsdbg_trace_node_of(trace, key) : WSDBG_GRAPH_NONE;
    if (node == WSDBG_GRAPH_NONE) {
        find_anything(found);
        return;
    }
    struct wsdbg_trace_input input = {.node = node, .other = WSDBG_GRAPH_NONE};
    const bool is_compared =
        condition.compare != WSDBG_GRAPH_NONE && (at == WSDBG_GRAPH_NONE || at < condition.compare);
    if (is_compared)
        restrict_input(trace, place->block, key, condition, &input);
    found->inputs[found->count++] = input;
}

static bool is_unwritten(const struct wsdbg_trace *trace, unsigned reg, uint32_t first, uint32_t end)
{
    uint32_t written;
    return reg != WSDBG_REGISTER_NONE && wsdbg_definition_before(&trace->definitions, reg, first, end, &written) &&
           written == end;
}

/* A uniform predicate that is "all lanes have P": P, and where that was asked. */
struct ballot {
    unsigned of;
    uint32_t at;
};

/* What a predicate is at `end`, if it is such a ballot of this block; else itself. */
static struct ballot ballot_of(const struct wsdbg_trace *trace, uint32_t block, uint32_t end, unsigned reg)
{
    const struct ballot itself = {reg, end};
    uint32_t written;
    if (reg < WSDBG_REGISTER_UNIFORM_PREDICATE || reg == WSDBG_REGISTER_NONE ||
        !wsdbg_definition_before(&trace->definitions, reg, trace->graph->blocks[block].first, end, &written) ||
        written == end)
        return itself;
    const struct wsdbg_instruction *vote = &trace->graph->instructions[written];
    const bool asks_all = !(vote->words[1] >> 8 & 3); /* not .ANY or .EQ */
    if (vote->operation != WSDBG_OP_VOTEU || !wsdbg_flow_is_unguarded(vote) || !asks_all || !vote->source_count ||
        vote->sources[0].is_negated)
        return itself;
    return (struct ballot){wsdbg_register_of(&vote->sources[0], 0), written};
}

/* Whether a lane without the place's predicate executes `number`, whose guard says that not all lanes have it. */
static bool is_of_who_votes_no(const struct wsdbg_trace *trace, const struct place *place, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const unsigned guard = wsdbg_register_of_guard(instruction);
    if (place->guard == WSDBG_REGISTER_NONE || guard == WSDBG_REGISTER_NONE || place->guard_holds ||
        !instruction->guard_is_negated)
        return false;
    const struct ballot known = ballot_of(trace, place->block, place->end, place->guard);
    const struct ballot asked = ballot_of(trace, place->block, number, guard);
    return guard >= WSDBG_REGISTER_UNIFORM_PREDICATE && known.of == asked.of && asked.at < known.at &&
           is_unwritten(trace, asked.of, asked.at, known.at);
}

/* Whether the guard of `number` is the predicate known at the place, and not written since. */
static bool is_same_guard(const struct wsdbg_trace *trace, const struct place *place, uint32_t number)
{
    const unsigned guard = wsdbg_register_of_guard(&trace->graph->instructions[number]);
    return (guard == place->guard && is_unwritten(trace, guard, number, place->end)) ||
           is_of_who_votes_no(trace, place, number);
}

/* A copy to a uniform register by the lane that ELECT has picked: some lane always is. */
static bool is_of_elected(const struct wsdbg_trace *trace, uint32_t block, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const unsigned guard = wsdbg_register_of_guard(instruction);
    uint32_t written;
    return instruction->operation == WSDBG_OP_R2UR && !instruction->guard_is_negated && guard != WSDBG_REGISTER_NONE &&
           wsdbg_definition_before(&trace->definitions, guard, trace->graph->blocks[block].first, number, &written) &&
           written != number && trace->graph->instructions[written].operation == WSDBG_OP_ELECT;
}

/* Everything that the register may hold at a place: back through instructions that may have written it to one that
 * must have, or to the block's start. */
static void find_values(struct wsdbg_trace *trace, const struct place *place, unsigned reg,
                        struct wsdbg_trace_found *found)
{
    const uint32_t first = trace->graph->blocks[place->block].first;
    struct condition condition = condition_of(trace, place->block, place->end, place->guard, place->guard_holds);
    uint32_t number = place->end, before;
    for (;; number = before) {
        if (!wsdbg_definition_before(&trace->definitions, reg, first, number, &before) || may_be_anything(found)) {
            find_anything(found);
            return;
        }
        if (before == number)
            break;
        const struct wsdbg_instruction *instruction = &trace->graph->instructions[before];
        const bool is_same = is_same_guard(trace, place, before);
        if (is_same && instruction->guard_is_negated == place->guard_holds)
            continue; /* not executed on this path */
        find_value(trace, place, wsdbg_trace_key(WSDBG_TRACE_RESULT, before, reg), before, condition, found);
        if (is_same || wsdbg_flow_is_unguarded(instruction) || is_of_elected(trace, place->block, before))
            return;
        const struct condition passed = condition_of(trace, place->block, before, wsdbg_register_of_guard(instruction),
                                                     instruction->guard_is_negated);
        condition = passed.compare == WSDBG_GRAPH_NONE ? condition : passed;
    }
    const bool is_known = place->is_carried && is_unwritten(trace, place->guard, first, place->end);
    const uint64_t entry = is_known ? entry_key(place->block, reg, place->guard, place->guard_holds)
                                    : key_of_entry(trace, place->block, reg);
    find_value(trace, place, entry, WSDBG_GRAPH_NONE, condition, found);
}

static struct place place_before(const struct wsdbg_trace *trace, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    return (struct place){trace->graph->block_of[number], number, wsdbg_register_of_guard(instruction),
                          !instruction->guard_is_negated, true};
}

/* ---- what flows into a node ---- */

static void find_at_return(struct wsdbg_trace *trace, uint32_t procedure, unsigned reg, struct wsdbg_trace_found *found)
{
    for (uint32_t i = 0; i < trace->returning_count; i++) {
        const uint32_t block = trace->returning[i], of = trace->graph->procedure_of[block];
        if (of != procedure && of != WSDBG_PROCEDURE_SEVERAL)
            continue;
        const struct place place = place_at_end(trace, block);
        find_values(trace, &place, reg, found);
    }
}

/* Behind a call: what the callee leaves, where it may have been called at all. */
static void find_leaving(struct wsdbg_trace *trace, uint32_t block, unsigned way, uint64_t key,
                         struct wsdbg_trace_found *found)
{
    const struct wsdbg_block *of = &trace->graph->blocks[block];
    const unsigned reg = wsdbg_trace_register_of(key), known = guard_of_key(key);
    const bool known_holds = key >> 32 & 1;
    struct place place = place_leaving(trace, block, way);
    if (known != WSDBG_REGISTER_NONE && place.guard == known && place.guard_holds != known_holds)
        return; /* threads with this predicate do not come this way */
    if (of->calls && of->callee == WSDBG_GRAPH_NONE) {
        find_anything(found);
        return;
    }
    if (of->calls) {
        const uint32_t procedure = trace->graph->procedure_at[trace->graph->block_of[of->callee]];
        find_value(trace, &place, wsdbg_trace_key(WSDBG_TRACE_RETURNED, procedure, reg), WSDBG_GRAPH_NONE,
                   (struct condition){WSDBG_GRAPH_NONE, false}, found);
        if (wsdbg_flow_is_unguarded(&trace->graph->instructions[of->first + of->count - 1]))
            return;
    } else if (known != WSDBG_REGISTER_NONE) {
        place.guard = known;
        place.guard_holds = known_holds;
        place.is_carried = true;
    }
    find_values(trace, &place, reg, found);
}

static void find_at_entry(struct wsdbg_trace *trace, uint64_t key, struct wsdbg_trace_found *found)
{
    const uint32_t block = (uint32_t)key;
    const struct wsdbg_graph *graph = trace->graph;
    const uint32_t procedure = graph->procedure_at[block];
    if (procedure == 0) {
        find_anything(found); /* what the launch left in it */
        return;
    }
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = graph->predecessors.numbers[i];
        for (unsigned way = 0; way < graph->blocks[from].successor_count; way++)
            if (graph->blocks[from].successor[way] == block)
                find_leaving(trace, from, way, key, found);
    }
    if (procedure == WSDBG_GRAPH_NONE)
        return;
    for (uint32_t i = graph->callers.first[procedure]; i < graph->callers.first[procedure + 1]; i++) {
        const struct place place = place_at_end(trace, graph->callers.numbers[i]);
        find_values(trace, &place, wsdbg_trace_register_of(key), found);
    }
}

void wsdbg_trace_find(struct wsdbg_trace *trace, uint64_t key, struct wsdbg_trace_found *found)
{
    const uint32_t at = (uint32_t)key;
    const struct place place = key >> 56 == WSDBG_TRACE_READ ? place_before(trace, at) : (struct place){0};
    found->count = 0;
    switch (key >> 56) {
    case WSDBG_TRACE_READ:
        find_values(trace, &place, wsdbg_trace_register_of(key), found);
        break;
    case WSDBG_TRACE_ENTRY:
        find_at_entry(trace, key, found);
        break;
    default:
        find_at_return(trace, at, wsdbg_trace_register_of(key), found);
        break;
    }
}

/* The register that names a place in a table of constants; NONE for other sources. */
static struct wsdbg_operand index_of_table(const struct wsdbg_instruction *load, unsigned source)
{
    const struct wsdbg_operand *operand = &load->sources[source];
    const bool adds_only = !(load->words[1] >> 14 & 3); /* else the register also names the bank, or is scaled */
    if (operand->kind != WSDBG_OPERAND_CONSTANT || operand->number == WSDBG_RZ || load->operation != WSDBG_OP_LDC ||
        !adds_only)
        return (struct wsdbg_operand){.kind = WSDBG_OPERAND_NONE};
    return (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER, .number = operand->number, .registers = 1};
}

struct wsdbg_trace_input wsdbg_trace_input_of(struct wsdbg_trace *trace, uint32_t number, unsigned source)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const struct wsdbg_operand index = index_of_table(instruction, source);
    const struct wsdbg_operand *operand = index.kind == WSDBG_OPERAND_NONE ? &instruction->sources[source] : &index;
    const unsigned reg = wsdbg_register_of(operand, 0);
    struct wsdbg_trace_input input = {.node = WSDBG_GRAPH_NONE, .other = WSDBG_GRAPH_NONE};
    if (reg >= WSDBG_REGISTER_PREDICATE)
        return input;
    const uint32_t block = trace->graph->block_of[number];
    const uint64_t only = only_key(trace, block, number, operand);
    input.node = wsdbg_trace_node_of(trace, only ? only : wsdbg_trace_key(WSDBG_TRACE_READ, number, reg));
    bool holds = false;
    const unsigned selector = wsdbg_compute_selector(instruction, source, &holds);
    const struct condition condition = condition_of(trace, block, number, selector, holds);
    const bool is_older = (only >> 56) == WSDBG_TRACE_ENTRY || (uint32_t)only < condition.compare;
    if (only && condition.compare != WSDBG_GRAPH_NONE && is_older && input.node != WSDBG_GRAPH_NONE)
        restrict_input(trace, block, only, condition, &input);
    return input;
}
