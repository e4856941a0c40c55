/* trace.c - see trace.h.  Reads a graph; writes memory of its own. */
#include "sass/trace.h"

#include "sass/compute.h"

#include <stdlib.h>
#include <string.h>

enum {
    NODES_MOST = 1 << 17,
    WORK_MOST = 1 << 24,
    INPUTS_MOST = 256,  /* of one node: more, and it may be anything */
    GROWTH_LISTED = 20, /* how often a value grows before it is widened … */
    GROWTH_MOST = 40,   /* … and before it may be anything */
    TABLE_FIRST = 1 << 10,
    CONSTANTS_MOST = 512,
};

/* What a node stands for. */
enum kind {
    RESULT,   /* what instruction `at` writes to the register */
    READ,     /* what the register holds before instruction `at` executes */
    ENTRY,    /* what it holds where block `at` begins */
    RETURNED, /* what it holds when procedure `at` returns */
};

/* A value that flows into a node: all of another node's, or those that stand in `relations` to the values of `other`.
 */
struct input {
    uint32_t node;  /* WSDBG_GRAPH_NONE = may be anything */
    uint32_t other; /* WSDBG_GRAPH_NONE = `number` */
    uint32_t number;
    uint8_t relations; /* 0 = no condition */
    bool is_signed;
};

struct node {
    uint64_t key;
    uint32_t first_input, input_count;
    uint32_t first_user; /* in users, 0 = none */
    uint16_t growth;
    bool is_queued;
    struct wsdbg_values value;
};

struct user {
    uint32_t node, next;
};

struct constant {
    uint32_t offset, value;
    uint16_t bank;
    bool is_known;
};

/* A condition that is known to hold: the comparison of instruction `compare` came out as `holds`. */
struct condition {
    uint32_t compare; /* WSDBG_GRAPH_NONE = none */
    bool holds;
};

struct growing {
    void *items;
    uint32_t count, room;
};

struct wsdbg_trace {
    const struct wsdbg_graph *graph;
    const struct wsdbg_launch_values *launch;
    struct wsdbg_thread_range threads;
    struct wsdbg_definitions definitions;
    bool is_lost;    /* a branch nobody can follow is reachable, so any register may hold anything anywhere */
    bool has_failed; /* out of memory, or it took too long */
    uint32_t work;   /* values looked at */
    struct growing nodes, inputs, users, queue;
    struct growing constants;             /* those asked for so far */
    uint32_t expanded;                    /* nodes that have their inputs */
    uint32_t *table, table_size;          /* node + 1 by hash of its key */
    uint32_t *returning, returning_count; /* blocks that end in RET */
};

/* Where a register is looked for: in a block, before instruction `end`. */
struct place {
    uint32_t block, end;
    unsigned guard; /* predicate known to be `guard_holds` at `end`; WSDBG_REGISTER_NONE */
    bool guard_holds;
    bool is_carried; /* also to the blocks before, until it is written */
};

/* ---- memory ---- */

static void *append(struct wsdbg_trace *trace, struct growing *growing, size_t size)
{
    if (growing->count == growing->room) {
        const uint32_t room = growing->room ? growing->room * 2 : 256;
        void *items = realloc(growing->items, room * size);
        if (!items) {
            trace->has_failed = true;
            return NULL;
        }
        growing->items = items;
        growing->room = room;
    }
    void *item = (char *)growing->items + growing->count++ * size;
    memset(item, 0, size);
    return item;
}

static struct node *node_at(const struct wsdbg_trace *trace, uint32_t number)
{
    return (struct node *)trace->nodes.items + number;
}

static struct input *inputs_of(const struct wsdbg_trace *trace, const struct node *node)
{
    return (struct input *)trace->inputs.items + node->first_input;
}

/* ---- nodes by key ---- */

static uint64_t key_of(enum kind kind, uint32_t at, unsigned reg)
{
    return (uint64_t)kind << 56 | (uint64_t)reg << 40 | at;
}

/* An ENTRY may also be what the register holds there for who comes with a predicate that is known. */
static uint64_t entry_key(uint32_t block, unsigned reg, unsigned guard, bool guard_holds)
{
    const uint64_t known = guard == WSDBG_REGISTER_NONE ? 0 : guard - WSDBG_REGISTER_PREDICATE + 1u;
    return key_of(ENTRY, block, reg) | known << 33 | (uint64_t)guard_holds << 32;
}

static unsigned register_of_key(uint64_t key)
{
    return key >> 40 & 0xffff;
}

static unsigned guard_of_key(uint64_t key)
{
    const unsigned known = key >> 33 & 0x7f;
    return known ? WSDBG_REGISTER_PREDICATE + known - 1 : WSDBG_REGISTER_NONE;
}

static uint32_t *slot_of(const struct wsdbg_trace *trace, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    for (hash ^= hash >> 32;; hash++) {
        uint32_t *slot = &trace->table[hash & (trace->table_size - 1)];
        if (!*slot || node_at(trace, *slot - 1)->key == key)
            return slot;
    }
}

static bool has_room_in_table(struct wsdbg_trace *trace)
{
    if (trace->nodes.count * 2 < trace->table_size)
        return true;
    uint32_t *old = trace->table;
    trace->table = calloc((size_t)trace->table_size * 2, sizeof *trace->table);
    if (!trace->table) {
        trace->table = old;
        trace->has_failed = true;
        return false;
    }
    trace->table_size *= 2;
    for (uint32_t i = 0; i < trace->nodes.count; i++)
        *slot_of(trace, node_at(trace, i)->key) = i + 1;
    free(old);
    return true;
}

/* The node of a key, a new one where there is none yet; WSDBG_GRAPH_NONE where there can be no more. */
static uint32_t node_of(struct wsdbg_trace *trace, uint64_t key)
{
    uint32_t *slot = slot_of(trace, key);
    if (*slot)
        return *slot - 1;
    if (trace->nodes.count == NODES_MOST || !has_room_in_table(trace))
        return WSDBG_GRAPH_NONE;
    struct node *node = append(trace, &trace->nodes, sizeof *node);
    if (!node)
        return WSDBG_GRAPH_NONE;
    node->key = key;
    *slot_of(trace, key) = trace->nodes.count;
    return trace->nodes.count - 1;
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
        return key_of(ENTRY, block, reg);
    return wsdbg_flow_is_unguarded(&trace->graph->instructions[found]) ? key_of(RESULT, found, reg) : 0;
}

/* Adds to an input that `key`'s value flows in only while the condition holds, where that is about this value. */
static void restrict_input(struct wsdbg_trace *trace, uint32_t block, uint64_t key, struct condition condition,
                           struct input *input)
{
    const struct wsdbg_instruction *compare = &trace->graph->instructions[condition.compare];
    for (unsigned side = 0; side < 2; side++) {
        const struct wsdbg_operand *other = &compare->sources[1 - side];
        if (only_key(trace, block, condition.compare, &compare->sources[side]) != key)
            continue;
        const uint64_t other_key = only_key(trace, block, condition.compare, other);
        input->other = other_key ? node_of(trace, other_key) : WSDBG_GRAPH_NONE;
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

struct found {
    struct input inputs[INPUTS_MOST];
    uint32_t count;
};

static void find_anything(struct found *found)
{
    found->count = 1;
    found->inputs[0] = (struct input){.node = WSDBG_GRAPH_NONE, .other = WSDBG_GRAPH_NONE};
}

static bool may_be_anything(const struct found *found)
{
    return found->count && found->inputs[0].node == WSDBG_GRAPH_NONE;
}

/* Adds a value that flows in from instruction `at`, or from the block's start where that is WSDBG_GRAPH_NONE. */
static void find_value(struct wsdbg_trace *trace, const struct place *place, uint64_t key, uint32_t at,
                       struct condition condition, struct found *found)
{
    if (may_be_anything(found))
        return;
    const uint32_t node = found->count < INPUTS_MOST ? node_of(trace, key) : WSDBG_GRAPH_NONE;
    if (node == WSDBG_GRAPH_NONE) {
        find_anything(found);
        return;
    }
    struct input input = {.node = node, .other = WSDBG_GRAPH_NONE};
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

/* Whether the guard of `number` is the predicate known at the place, and not written since. */
static bool is_same_guard(const struct wsdbg_trace *trace, const struct place *place, uint32_t number)
{
    const unsigned guard = wsdbg_register_of_guard(&trace->graph->instructions[number]);
    return guard == place->guard && is_unwritten(trace, guard, number, place->end);
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
static void find_values(struct wsdbg_trace *trace, const struct place *place, unsigned reg, struct found *found)
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
        find_value(trace, place, key_of(RESULT, before, reg), before, condition, found);
        if (is_same || wsdbg_flow_is_unguarded(instruction) || is_of_elected(trace, place->block, before))
            return;
        const struct condition passed = condition_of(trace, place->block, before, wsdbg_register_of_guard(instruction),
                                                     instruction->guard_is_negated);
        condition = passed.compare == WSDBG_GRAPH_NONE ? condition : passed;
    }
    const bool is_known = place->is_carried && is_unwritten(trace, place->guard, first, place->end);
    const uint64_t entry =
        is_known ? entry_key(place->block, reg, place->guard, place->guard_holds) : key_of(ENTRY, place->block, reg);
    find_value(trace, place, entry, WSDBG_GRAPH_NONE, condition, found);
}

static struct place place_before(const struct wsdbg_trace *trace, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    return (struct place){trace->graph->block_of[number], number, wsdbg_register_of_guard(instruction),
                          !instruction->guard_is_negated, true};
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

/* ---- what flows into a node ---- */

static void find_at_return(struct wsdbg_trace *trace, uint32_t procedure, unsigned reg, struct found *found)
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
static void find_leaving(struct wsdbg_trace *trace, uint32_t block, unsigned way, uint64_t key, struct found *found)
{
    const struct wsdbg_block *of = &trace->graph->blocks[block];
    const unsigned reg = register_of_key(key), known = guard_of_key(key);
    const bool known_holds = key >> 32 & 1;
    struct place place = place_leaving(trace, block, way);
    if (known != WSDBG_REGISTER_NONE && place.guard == known && place.guard_holds != known_holds)
        return; /* who comes with this predicate does not come this way */
    if (of->calls && of->callee == WSDBG_GRAPH_NONE) {
        find_anything(found);
        return;
    }
    if (of->calls) {
        const uint32_t procedure = trace->graph->procedure_at[trace->graph->block_of[of->callee]];
        find_value(trace, &place, key_of(RETURNED, procedure, reg), WSDBG_GRAPH_NONE,
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

static void find_at_entry(struct wsdbg_trace *trace, uint64_t key, struct found *found)
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
        for (unsigned way = 0; way < 2; way++)
            if (graph->blocks[from].successor[way] == block)
                find_leaving(trace, from, way, key, found);
    }
    if (procedure == WSDBG_GRAPH_NONE)
        return;
    for (uint32_t i = graph->callers.first[procedure]; i < graph->callers.first[procedure + 1]; i++) {
        const struct place place = place_at_end(trace, graph->callers.numbers[i]);
        find_values(trace, &place, register_of_key(key), found);
    }
}

static void find_for(struct wsdbg_trace *trace, uint64_t key, struct found *found)
{
    const uint32_t at = (uint32_t)key;
    const struct place place = key >> 56 == READ ? place_before(trace, at) : (struct place){0};
    found->count = 0;
    switch (key >> 56) {
    case READ:
        find_values(trace, &place, register_of_key(key), found);
        break;
    case ENTRY:
        find_at_entry(trace, key, found);
        break;
    default:
        find_at_return(trace, at, register_of_key(key), found);
        break;
    }
}

/* ---- nodes get their inputs ---- */

static void add_user(struct wsdbg_trace *trace, uint32_t of, uint32_t number)
{
    if (of == WSDBG_GRAPH_NONE)
        return;
    struct user *user = append(trace, &trace->users, sizeof *user);
    if (!user)
        return;
    *user = (struct user){number, node_at(trace, of)->first_user};
    node_at(trace, of)->first_user = trace->users.count - 1;
}

static void set_inputs(struct wsdbg_trace *trace, uint32_t number, const struct input *inputs, uint32_t count)
{
    node_at(trace, number)->first_input = trace->inputs.count;
    for (uint32_t i = 0; i < count; i++) {
        struct input *input = append(trace, &trace->inputs, sizeof *input);
        if (!input)
            return;
        *input = inputs[i];
        node_at(trace, number)->input_count++;
        add_user(trace, inputs[i].node, number);
        if (inputs[i].relations)
            add_user(trace, inputs[i].other, number);
    }
}

/* The value of a register operand as it flows into instruction `number`; a selection's two sides under what selects. */
static struct input input_of(struct wsdbg_trace *trace, uint32_t number, unsigned source)
{
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const struct wsdbg_operand *operand = &instruction->sources[source];
    const unsigned reg = wsdbg_register_of(operand, 0);
    struct input input = {.node = WSDBG_GRAPH_NONE, .other = WSDBG_GRAPH_NONE};
    if (reg >= WSDBG_REGISTER_PREDICATE)
        return input;
    const uint32_t block = trace->graph->block_of[number];
    const uint64_t only = only_key(trace, block, number, operand);
    input.node = node_of(trace, only ? only : key_of(READ, number, reg));
    bool holds = false;
    const unsigned selector = wsdbg_compute_selector(instruction, source, &holds);
    const struct condition condition = condition_of(trace, block, number, selector, holds);
    const bool is_older = (only >> 56) == ENTRY || (uint32_t)only < condition.compare;
    if (only && condition.compare != WSDBG_GRAPH_NONE && is_older && input.node != WSDBG_GRAPH_NONE)
        restrict_input(trace, block, only, condition, &input);
    return input;
}

static void expand_result(struct wsdbg_trace *trace, uint32_t number)
{
    const uint32_t at = (uint32_t)node_at(trace, number)->key;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[at];
    struct input inputs[WSDBG_SOURCES_MAX];
    if (!wsdbg_compute_follows(instruction) || register_of_key(node_at(trace, number)->key) >= WSDBG_REGISTER_PREDICATE)
        return;
    for (unsigned i = 0; i < instruction->source_count; i++)
        inputs[i] = input_of(trace, at, i);
    set_inputs(trace, number, inputs, instruction->source_count);
}

static void enqueue(struct wsdbg_trace *trace, uint32_t number)
{
    if (node_at(trace, number)->is_queued)
        return;
    uint32_t *place = append(trace, &trace->queue, sizeof *place);
    if (!place)
        return;
    *place = number;
    node_at(trace, number)->is_queued = true;
}

/* Gives inputs to all nodes that have none, those that come up on the way included. */
static void expand_all(struct wsdbg_trace *trace)
{
    struct found *found = malloc(sizeof *found);
    trace->has_failed |= !found;
    for (; found && trace->expanded < trace->nodes.count; trace->expanded++) {
        const uint64_t key = node_at(trace, trace->expanded)->key;
        if (key >> 56 == RESULT) {
            expand_result(trace, trace->expanded);
        } else {
            find_for(trace, key, found);
            set_inputs(trace, trace->expanded, found->inputs, found->count);
        }
        enqueue(trace, trace->expanded);
    }
    free(found);
}

/* ---- solving ---- */

static struct wsdbg_values value_of_input(const struct wsdbg_trace *trace, const struct input *input)
{
    if (input->node == WSDBG_GRAPH_NONE)
        return wsdbg_values_any();
    const struct wsdbg_values *value = &node_at(trace, input->node)->value;
    if (!input->relations)
        return *value;
    const struct wsdbg_values number = wsdbg_values_one(input->number);
    return wsdbg_values_filtered(value, input->relations, input->is_signed,
                                 input->other == WSDBG_GRAPH_NONE ? &number : &node_at(trace, input->other)->value);
}

/* Asks the launch once for each. */
static struct wsdbg_values constant_at(struct wsdbg_trace *trace, unsigned bank, int64_t offset)
{
    const struct wsdbg_launch_values *launch = trace->launch;
    const struct constant *known = trace->constants.items;
    if (offset < 0 || offset > UINT32_MAX || !launch || !launch->constant)
        return wsdbg_values_any();
    for (uint32_t i = 0; i < trace->constants.count; i++)
        if (known[i].bank == bank && known[i].offset == offset)
            return known[i].is_known ? wsdbg_values_one(known[i].value) : wsdbg_values_any();
    struct constant *constant =
        trace->constants.count < CONSTANTS_MOST ? append(trace, &trace->constants, sizeof *constant) : NULL;
    if (!constant)
        return wsdbg_values_any();
    *constant = (struct constant){.offset = (uint32_t)offset, .bank = (uint16_t)bank};
    constant->is_known = launch->constant(launch->context, bank, constant->offset, &constant->value);
    return constant->is_known ? wsdbg_values_one(constant->value) : wsdbg_values_any();
}

/* A special register: of the threads asked for, or of all. */
static struct wsdbg_values special_at(struct wsdbg_trace *trace, const struct wsdbg_operand *operand)
{
    const uint32_t dimension_bytes = 4;
    unsigned dimension;
    if (!wsdbg_compute_is_thread(operand, &dimension))
        return wsdbg_compute_special(operand);
    const struct wsdbg_values threads = constant_at(trace, 0, (int64_t)dimension * dimension_bytes);
    return wsdbg_compute_thread(dimension, &threads, trace->threads.first, dimension ? 0 : trace->threads.count);
}

/* The low 32 bits of a source, for `part` of the result. */
static struct wsdbg_values value_of_source(struct wsdbg_trace *trace, const struct wsdbg_operand *operand,
                                           const struct input *input, unsigned part)
{
    const unsigned reg = wsdbg_register_of(operand, 0);
    struct wsdbg_values value = wsdbg_values_any();
    if (reg < WSDBG_REGISTER_PREDICATE)
        value = value_of_input(trace, input);
    else if (operand->kind == WSDBG_OPERAND_REGISTER || operand->kind == WSDBG_OPERAND_UNIFORM)
        value = wsdbg_values_one(0);
    else if (operand->kind == WSDBG_OPERAND_IMMEDIATE)
        value = wsdbg_values_one((uint32_t)operand->value);
    else if (operand->kind == WSDBG_OPERAND_CONSTANT && operand->number == WSDBG_RZ)
        value = constant_at(trace, operand->bank, operand->value + 4 * (int64_t)part);
    return wsdbg_compute_modified(operand, &value);
}

static struct wsdbg_values value_of_result(struct wsdbg_trace *trace, const struct node *node)
{
    const uint32_t number = (uint32_t)node->key;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const unsigned reg = register_of_key(node->key);
    struct wsdbg_values sources[WSDBG_SOURCES_MAX];
    if (reg >= WSDBG_REGISTER_PREDICATE)
        return wsdbg_values_one(number); /* of a predicate only who wrote it matters */
    if (!wsdbg_compute_follows(instruction) || node->input_count != instruction->source_count)
        return wsdbg_values_any();
    if (instruction->sources[0].kind == WSDBG_OPERAND_SPECIAL)
        return special_at(trace, &instruction->sources[0]);
    const unsigned part = wsdbg_compute_part(instruction, reg);
    for (unsigned i = 0; i < instruction->source_count; i++)
        sources[i] = value_of_source(trace, &instruction->sources[i], &inputs_of(trace, node)[i], part);
    return wsdbg_compute(instruction, part, sources);
}

static struct wsdbg_values value_of_node(struct wsdbg_trace *trace, const struct node *node)
{
    if (trace->is_lost)
        return wsdbg_values_any();
    if (node->key >> 56 == RESULT)
        return value_of_result(trace, node);
    struct wsdbg_values value = wsdbg_values_none();
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct wsdbg_values more = value_of_input(trace, &inputs_of(trace, node)[i]);
        value = wsdbg_values_union(&value, &more);
    }
    return value;
}

/* Lets a node grow to what flows into it now; those that use it come next. */
static void settle(struct wsdbg_trace *trace, uint32_t number)
{
    struct node *node = node_at(trace, number);
    trace->work += node->input_count + 1;
    trace->has_failed |= trace->work > WORK_MOST;
    const struct wsdbg_values now = value_of_node(trace, node);
    struct wsdbg_values grown = wsdbg_values_union(&node->value, &now);
    if (wsdbg_values_equal(&grown, &node->value))
        return;
    if (++node->growth > GROWTH_LISTED)
        grown = node->growth > GROWTH_MOST ? wsdbg_values_any() : wsdbg_values_widened(&grown);
    node->value = grown;
    for (uint32_t i = node->first_user; i; i = ((struct user *)trace->users.items)[i].next)
        enqueue(trace, ((struct user *)trace->users.items)[i].node);
}

static void solve(struct wsdbg_trace *trace)
{
    expand_all(trace);
    for (uint32_t next = 0; next < trace->queue.count && !trace->has_failed; next++) {
        const uint32_t number = ((uint32_t *)trace->queue.items)[next];
        node_at(trace, number)->is_queued = false;
        settle(trace, number);
        if (next >= 1 << 16) { /* what is done gives its room back */
            trace->queue.count -= next + 1;
            memmove(trace->queue.items, (uint32_t *)trace->queue.items + next + 1, trace->queue.count * sizeof next);
            next = UINT32_MAX;
        }
    }
    trace->queue.count = 0;
}

/* ---- the whole ---- */

static struct wsdbg_error *find_returning(struct wsdbg_trace *trace)
{
    const struct wsdbg_graph *graph = trace->graph;
    trace->returning = calloc((size_t)graph->block_count + 1, sizeof *trace->returning);
    if (!trace->returning)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const bool is_reached = graph->procedure_of[block] != WSDBG_GRAPH_NONE;
        if (graph->blocks[block].returns)
            trace->returning[trace->returning_count++] = block;
        trace->is_lost |= is_reached && graph->blocks[block].is_indirect;
    }
    return NULL;
}

struct wsdbg_error *wsdbg_trace_create(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                       struct wsdbg_thread_range threads, struct wsdbg_trace **out)
{
    struct wsdbg_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return &wsdbg_error_no_memory;
    *trace = (struct wsdbg_trace){.graph = graph, .launch = launch, .threads = threads, .table_size = TABLE_FIRST};
    trace->table = calloc(trace->table_size, sizeof *trace->table);
    struct wsdbg_error *error =
        trace->table ? wsdbg_definitions_create(graph, &trace->definitions) : &wsdbg_error_no_memory;
    if (!error)
        error = find_returning(trace);
    /* User 0 is the end of every list. */
    if (!error && !append(trace, &trace->users, sizeof(struct user)))
        error = &wsdbg_error_no_memory;
    if (error) {
        wsdbg_trace_destroy(trace);
        return error;
    }
    *out = trace;
    return NULL;
}

void wsdbg_trace_destroy(struct wsdbg_trace *trace)
{
    if (!trace)
        return;
    wsdbg_definitions_destroy(&trace->definitions);
    free(trace->nodes.items);
    free(trace->inputs.items);
    free(trace->users.items);
    free(trace->queue.items);
    free(trace->constants.items);
    free(trace->table);
    free(trace->returning);
    free(trace);
}

static struct wsdbg_values value_of_register(struct wsdbg_trace *trace, uint32_t instruction, unsigned reg)
{
    if (reg == WSDBG_REGISTER_NONE)
        return wsdbg_values_one(0);
    const uint32_t node = node_of(trace, key_of(READ, instruction, reg));
    if (node != WSDBG_GRAPH_NONE)
        solve(trace);
    return node == WSDBG_GRAPH_NONE || trace->has_failed ? wsdbg_values_any() : node_at(trace, node)->value;
}

static struct wsdbg_values value_of_address(struct wsdbg_trace *trace, uint32_t instruction,
                                            const struct wsdbg_operand *operand)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    const struct wsdbg_values offset = wsdbg_values_one((uint32_t)operand->value);
    const struct wsdbg_values of_general = value_of_register(trace, instruction, wsdbg_register_of(&general, 0));
    const struct wsdbg_values of_uniform = value_of_register(trace, instruction, wsdbg_register_of(&uniform, 0));
    const struct wsdbg_values sum = wsdbg_values_sum(&of_general, &of_uniform);
    return wsdbg_values_sum(&sum, &offset);
}

struct wsdbg_values wsdbg_trace_operand(struct wsdbg_trace *trace, uint32_t instruction,
                                        const struct wsdbg_operand *operand, unsigned part)
{
    struct wsdbg_values value;
    switch (operand->kind) {
    case WSDBG_OPERAND_MEMORY:
        return value_of_address(trace, instruction, operand);
    case WSDBG_OPERAND_REGISTER:
    case WSDBG_OPERAND_UNIFORM:
        value = value_of_register(trace, instruction, wsdbg_register_of(operand, part));
        return wsdbg_compute_modified(operand, &value);
    default:
        return value_of_source(trace, operand, NULL, part);
    }
}

bool wsdbg_trace_written(struct wsdbg_trace *trace, uint32_t instruction, unsigned reg, uint32_t *out)
{
    if (reg < WSDBG_REGISTER_PREDICATE || reg == WSDBG_REGISTER_NONE)
        return false;
    const struct wsdbg_values writers = value_of_register(trace, instruction, reg);
    return wsdbg_values_is_one(&writers, out);
}
