/* rounds.c - see rounds.h.  Follows a register back to what it is a sum of; writes nodes of the trace.
 *
 * A sum is made of the values of nodes, of the numbers of rounds of loops, and of quotients of other sums.  Two
 * registers that grow in the same loop have the same number of rounds, so their sums can be added.  A sum names the
 * newest value of each node.  An older value cannot be in it: where an old and a new value meet, only equal sums are
 * taken for one.
 */
#include "sass/rounds.h"

#include <stdlib.h>

#include "sass/compute.h"
#include "sass/remainder.h"
#include "sass/sums.h"
#include "sass/trace_nodes.h"

enum { EDGES_MOST = 16, QUOTIENTS_MOST = 32, JOINS_MOST = 128, DEPTH_MOST = 64, WORK_MOST = 1 << 12 };
/* Keys of what is no node. */
#define KEY_ROUNDS ((uint64_t)0x10 << 56)
#define KEY_QUOTIENT ((uint64_t)0x11 << 56)

struct quotient {
    struct wsdbg_sum of;
    uint32_t divisor;
};

/* What is known of a place where values meet. */
struct join {
    uint64_t key;
    uint32_t order; /* it is being looked at, as the first, the second, … of those inside each other; 0 = it is known */
    struct wsdbg_sum sum;
};

struct finder {
    struct wsdbg_trace *trace;
    struct quotient quotients[QUOTIENTS_MOST];
    uint32_t quotient_count;
    struct join joins[JOINS_MOST];
    uint32_t join_count;
    uint32_t open_count;
    uint32_t met; /* the first of those being looked at that was met by the one at hand */
    uint32_t work, depth;
};

static struct wsdbg_sum sum_of_key(struct finder *finder, uint64_t key);

static struct wsdbg_sum itself(uint64_t key)
{
    return wsdbg_sum_of(key, 1);
}

/* ---- results of instructions ---- */

static struct wsdbg_sum scaled(const struct wsdbg_sum *sum, uint32_t factor)
{
    const struct wsdbg_sum nothing = wsdbg_sum_constant(0);
    return wsdbg_sum_plus(&nothing, sum, factor);
}

static struct wsdbg_sum sum_of_source(struct finder *finder, uint32_t number, unsigned source)
{
    const struct wsdbg_operand *operand = &finder->trace->graph->instructions[number].sources[source];
    const unsigned reg = wsdbg_register_of(operand, 0);
    struct wsdbg_operand plain = *operand;
    struct wsdbg_sum sum = wsdbg_sum_lost();
    uint32_t constant;
    plain.is_negated = false;
    if (operand->is_inverted)
        return sum;
    if (wsdbg_compute_is_number(&plain, &constant)) {
        sum = wsdbg_sum_constant(constant);
    } else if (reg < WSDBG_REGISTER_PREDICATE) {
        const struct wsdbg_trace_input input = wsdbg_trace_input_of(finder->trace, number, source);
        if (input.node != WSDBG_GRAPH_NONE)
            sum = sum_of_key(finder, wsdbg_trace_node_at(finder->trace, input.node)->key);
    }
    return operand->is_negated ? scaled(&sum, -(uint32_t)1) : sum;
}

static struct wsdbg_sum sum_of_sources(struct finder *finder, uint32_t number, unsigned count)
{
    struct wsdbg_sum sum = wsdbg_sum_constant(0);
    for (unsigned i = 0; i < count && !sum.is_lost; i++) {
        const struct wsdbg_sum more = sum_of_source(finder, number, i);
        sum = wsdbg_sum_plus(&sum, &more, 1);
    }
    return sum;
}

/* One of the factors is a constant. */
static struct wsdbg_sum sum_of_product(struct finder *finder, uint32_t number)
{
    const struct wsdbg_sum a = sum_of_source(finder, number, 0), b = sum_of_source(finder, number, 1);
    if (a.is_lost || b.is_lost || (a.count && b.count))
        return wsdbg_sum_lost();
    const struct wsdbg_sum product = a.count ? scaled(&a, b.constant) : scaled(&b, a.constant);
    const struct wsdbg_sum added = sum_of_source(finder, number, 2);
    return wsdbg_sum_plus(&product, &added, 1);
}

/* Source `from` shifted to the left by source `by`. */
static struct wsdbg_sum sum_of_shifted(struct finder *finder, uint32_t number, unsigned from, unsigned by)
{
    const struct wsdbg_sum sum = sum_of_source(finder, number, from), shift = sum_of_source(finder, number, by);
    return shift.is_lost || shift.count || shift.constant > 31 ? wsdbg_sum_lost()
                                                               : scaled(&sum, (uint32_t)1 << shift.constant);
}

static struct wsdbg_sum sum_of_shift_add(struct finder *finder, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &finder->trace->graph->instructions[number];
    if (instruction->is_high)
        return wsdbg_sum_lost();
    const struct wsdbg_sum shifted = sum_of_shifted(finder, number, 0, instruction->source_count - 1u);
    const struct wsdbg_sum added = sum_of_source(finder, number, 1);
    return wsdbg_sum_plus(&shifted, &added, 1);
}

static struct wsdbg_sum sum_of_shift(struct finder *finder, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &finder->trace->graph->instructions[number];
    uint32_t other;
    if (instruction->is_right_shift || instruction->is_high ||
        !wsdbg_compute_is_number(&instruction->sources[2], &other) || other)
        return wsdbg_sum_lost();
    return sum_of_shifted(finder, number, 0, 1);
}

static struct wsdbg_sum sum_of_operation(struct finder *finder, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &finder->trace->graph->instructions[number];
    switch (instruction->operation) {
    case WSDBG_OP_MOV:
    case WSDBG_OP_UMOV:
    case WSDBG_OP_R2UR:
        return sum_of_sources(finder, number, 1);
    case WSDBG_OP_VIADD:
        return sum_of_sources(finder, number, 2);
    case WSDBG_OP_IADD3:
    case WSDBG_OP_UIADD3:
        return sum_of_sources(finder, number, 3);
    case WSDBG_OP_IMAD:
    case WSDBG_OP_UIMAD:
        return instruction->is_high ? wsdbg_sum_lost() : sum_of_product(finder, number);
    case WSDBG_OP_LEA:
    case WSDBG_OP_ULEA:
        return sum_of_shift_add(finder, number);
    case WSDBG_OP_SHF:
    case WSDBG_OP_USHF:
        return sum_of_shift(finder, number);
    default:
        return wsdbg_sum_lost();
    }
}

/* The same quotients have the same number. */
static struct wsdbg_sum sum_of_quotient(struct finder *finder, const struct wsdbg_quotient *quotient)
{
    const struct wsdbg_sum of = sum_of_source(finder, quotient->at, quotient->source);
    uint32_t i = 0;
    while (i < finder->quotient_count &&
           (finder->quotients[i].divisor != quotient->divisor || !wsdbg_sums_equal(&finder->quotients[i].of, &of)))
        i++;
    if (of.is_lost || i == QUOTIENTS_MOST)
        return wsdbg_sum_lost();
    if (i == finder->quotient_count)
        finder->quotients[finder->quotient_count++] = (struct quotient){of, quotient->divisor};
    return itself(KEY_QUOTIENT | i);
}

static struct wsdbg_sum sum_of_result(struct finder *finder, uint64_t key)
{
    const uint32_t number = (uint32_t)key;
    const unsigned reg = wsdbg_trace_register_of(key);
    const struct wsdbg_instruction *instruction = &finder->trace->graph->instructions[number];
    struct wsdbg_quotient quotient;
    struct wsdbg_sum sum = wsdbg_sum_lost();
    if (wsdbg_quotient_at(&finder->trace->definitions, number, reg, &quotient))
        sum = sum_of_quotient(finder, &quotient);
    else if (wsdbg_compute_follows(instruction) && !wsdbg_compute_part(instruction, reg))
        sum = sum_of_operation(finder, number);
    return sum.is_lost ? itself(key) : sum;
}

/* ---- where values meet ---- */

static struct join *join_at(struct finder *finder, uint64_t key)
{
    for (uint32_t i = 0; i < finder->join_count; i++)
        if (finder->joins[i].key == key)
            return &finder->joins[i];
    return NULL;
}

/* How many edges lead to a block; 0 where it is also entered by calls, or by the launch. */
static uint32_t edges_to(const struct wsdbg_graph *graph, uint32_t block)
{
    uint32_t edges = 0;
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const struct wsdbg_block *from = &graph->blocks[graph->predecessors.numbers[i]];
        for (uint32_t way = 0; way < from->successor_count; way++)
            edges += from->successor[way] == block;
    }
    return graph->procedure_at[block] == WSDBG_GRAPH_NONE ? edges : 0;
}

/* The keys of all that flows in; returns how many, 0 = nobody knows. */
static uint32_t find_inputs(struct finder *finder, uint64_t key, uint64_t *keys)
{
    struct wsdbg_trace *trace = finder->trace;
    wsdbg_trace_find(trace, key, trace->found);
    const uint32_t count = trace->found->count <= EDGES_MOST ? trace->found->count : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (trace->found->inputs[i].node == WSDBG_GRAPH_NONE)
            return 0;
        keys[i] = wsdbg_trace_node_at(trace, trace->found->inputs[i].node)->key;
    }
    return count;
}

/* What flows in is either the value itself plus a step, or the same on all other ways.  If all who come back have made
 * the same step, the value is that of the others and a step for each round. */
static struct wsdbg_sum sum_of_inputs(struct finder *finder, uint64_t key, const uint64_t *keys, uint32_t count)
{
    const struct wsdbg_sum self = itself(key);
    struct wsdbg_sum begin = wsdbg_sum_lost();
    uint32_t step = 0, back = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_sum sum = sum_of_key(finder, keys[i]), moved = wsdbg_sum_plus(&sum, &self, -(uint32_t)1);
        if (moved.is_lost)
            return self;
        const bool comes_back = !moved.count;
        if ((comes_back && back && moved.constant != step) ||
            (!comes_back && !begin.is_lost && !wsdbg_sums_equal(&begin, &sum)))
            return self;
        if (comes_back) {
            step = moved.constant;
            back |= (uint32_t)1 << i;
        } else {
            begin = sum;
        }
    }
    if (begin.is_lost || !step)
        return begin.is_lost ? self : begin;
    const uint32_t block = (uint32_t)key;
    if (key >> 56 != WSDBG_TRACE_ENTRY || edges_to(finder->trace->graph, block) != count)
        return self;
    const struct wsdbg_sum rounds = itself(KEY_ROUNDS | (uint64_t)back << 40 | block);
    return wsdbg_sum_plus(&begin, &rounds, step);
}

/* Looks at what the register holds where the loops around begin: to meet it there first shows how it grows. */
static void look_around(struct finder *finder, uint64_t key)
{
    const struct wsdbg_graph *graph = finder->trace->graph;
    const uint32_t block = (uint32_t)key;
    if (key >> 56 != WSDBG_TRACE_ENTRY)
        return;
    const uint32_t loop = graph->blocks[block].loop, head = loop == block ? graph->loop_around[block] : loop;
    if (head != WSDBG_GRAPH_NONE)
        sum_of_key(finder, wsdbg_trace_key(WSDBG_TRACE_ENTRY, head, wsdbg_trace_register_of(key)));
}

/* A sum that was found while an outer value is looked at, and that met this value, may be found to be more later. */
static struct wsdbg_sum sum_of_new_join(struct finder *finder, uint64_t key)
{
    uint64_t keys[EDGES_MOST];
    const uint32_t place = finder->join_count++, met = finder->met, order = ++finder->open_count;
    const uint32_t count = find_inputs(finder, key, keys);
    finder->joins[place] = (struct join){key, order, {0}};
    finder->met = order;
    struct wsdbg_sum sum = count ? sum_of_inputs(finder, key, keys, count) : itself(key);
    if (sum.is_lost)
        sum = itself(key);
    finder->open_count--;
    finder->joins[place].order = 0;
    finder->joins[place].sum = sum;
    if (finder->met < order)
        finder->joins[place] = finder->joins[--finder->join_count];
    finder->met = finder->met < met ? finder->met : met;
    return sum;
}

static struct wsdbg_sum sum_of_join(struct finder *finder, uint64_t key)
{
    if (!join_at(finder, key))
        look_around(finder, key);
    const struct join *join = join_at(finder, key);
    if (!join)
        return finder->join_count < JOINS_MOST ? sum_of_new_join(finder, key) : itself(key);
    if (!join->order)
        return join->sum;
    finder->met = join->order < finder->met ? join->order : finder->met;
    return itself(key);
}

/* ---- nodes ---- */

static bool is_constant(struct finder *finder, uint64_t key, uint32_t *constant)
{
    const uint32_t node = wsdbg_trace_node_of(finder->trace, key);
    return node != WSDBG_GRAPH_NONE && wsdbg_trace_is_fresh(finder->trace, node) &&
           wsdbg_values_is_one(&wsdbg_trace_node_at(finder->trace, node)->value, constant);
}

static struct wsdbg_sum sum_of_key(struct finder *finder, uint64_t key)
{
    uint32_t constant;
    if (is_constant(finder, key, &constant))
        return wsdbg_sum_constant(constant);
    if (finder->depth == DEPTH_MOST || ++finder->work > WORK_MOST)
        return itself(key);
    finder->depth++;
    const struct wsdbg_sum sum =
        key >> 56 == WSDBG_TRACE_RESULT ? sum_of_result(finder, key) : sum_of_join(finder, key);
    finder->depth--;
    return sum;
}

static struct wsdbg_sum sum_of_register(struct finder *finder, uint32_t instruction, unsigned reg)
{
    return reg == WSDBG_REGISTER_NONE ? wsdbg_sum_constant(0)
                                      : sum_of_key(finder, wsdbg_trace_key(WSDBG_TRACE_READ, instruction, reg));
}

static struct wsdbg_sum sum_of_operand(struct finder *finder, uint32_t instruction, const struct wsdbg_operand *operand,
                                       unsigned part)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    const bool is_register = operand->kind == WSDBG_OPERAND_REGISTER || operand->kind == WSDBG_OPERAND_UNIFORM;
    if ((operand->kind != WSDBG_OPERAND_MEMORY && !is_register) || operand->is_negated || operand->is_inverted)
        return wsdbg_sum_lost();
    if (is_register || part)
        return sum_of_register(finder, instruction, wsdbg_register_of(is_register ? operand : &general, part));
    const struct wsdbg_sum offset = wsdbg_sum_constant((uint32_t)operand->value);
    const struct wsdbg_sum of_general = sum_of_register(finder, instruction, wsdbg_register_of(&general, 0));
    const struct wsdbg_sum of_uniform = sum_of_register(finder, instruction, wsdbg_register_of(&uniform, 0));
    const struct wsdbg_sum sum = wsdbg_sum_plus(&of_general, &of_uniform, 1);
    return wsdbg_sum_plus(&sum, &offset, 1);
}

/* ---- rings ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What divides all steps of a dividend and the divisor: 1 where the dividend may go down, or below 0. */
static uint32_t step_of(const struct quotient *quotient)
{
    uint32_t step = quotient->divisor;
    bool only_grows = quotient->of.constant <= INT32_MAX;
    for (uint32_t i = 0; i < quotient->of.count; i++) {
        step = common_divisor(step, quotient->of.terms[i].factor);
        only_grows = only_grows && quotient->of.terms[i].factor <= INT32_MAX;
    }
    return only_grows ? step : 1;
}

/* Whether the sum has spacing * dividend - spacing * divisor * quotient in it. */
static bool has_dividend(const struct wsdbg_sum *sum, const struct quotient *quotient, uint32_t spacing)
{
    for (uint32_t i = 0; i < quotient->of.count; i++)
        if (wsdbg_sum_factor(sum, quotient->of.terms[i].of) != quotient->of.terms[i].factor * spacing)
            return false;
    return quotient->of.count;
}

/* Takes one remainder out of the sum: its values are put into *out.  False: there is none. */
static bool take_remainder(const struct finder *finder, struct wsdbg_sum *sum, struct wsdbg_values *out)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct wsdbg_sum_term term = sum->terms[i];
        const struct quotient *quotient = &finder->quotients[(uint32_t)term.of % QUOTIENTS_MOST];
        const uint32_t spacing = (term.of & KEY_QUOTIENT) == KEY_QUOTIENT ? -term.factor / quotient->divisor : 0;
        if (!spacing || spacing > INT32_MAX || spacing * quotient->divisor != -term.factor ||
            !has_dividend(sum, quotient, spacing))
            continue;
        const struct wsdbg_sum itself_alone = itself(term.of);
        const uint32_t step = step_of(quotient);
        *sum = wsdbg_sum_plus(sum, &quotient->of, -spacing);
        *sum = wsdbg_sum_plus(sum, &itself_alone, -term.factor);
        *out = wsdbg_values_steps(spacing * (quotient->of.constant % step), spacing * step, quotient->divisor / step);
        return true;
    }
    return false;
}

/* What is left of the sum without remainders. */
static bool add_rest(const struct finder *finder, const struct wsdbg_sum *sum, struct wsdbg_values *values)
{
    const struct wsdbg_values constant = wsdbg_values_one(sum->constant);
    *values = wsdbg_values_sum(values, &constant);
    for (uint32_t i = 0; i < sum->count; i++) {
        const bool is_node = sum->terms[i].of < KEY_ROUNDS;
        const uint32_t node = is_node ? wsdbg_trace_node_of(finder->trace, sum->terms[i].of) : WSDBG_GRAPH_NONE;
        if (node == WSDBG_GRAPH_NONE || !wsdbg_trace_is_fresh(finder->trace, node))
            return false;
        const struct wsdbg_values factor = wsdbg_values_one(sum->terms[i].factor);
        const struct wsdbg_values more =
            wsdbg_values_product(&wsdbg_trace_node_at(finder->trace, node)->value, &factor);
        *values = wsdbg_values_sum(values, &more);
    }
    return true;
}

bool wsdbg_rounds_of(struct wsdbg_trace *trace, uint32_t instruction, const struct wsdbg_operand *operand,
                     unsigned part, struct wsdbg_values *out)
{
    struct finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return false;
    finder->trace = trace;
    struct wsdbg_sum sum = sum_of_operand(finder, instruction, operand, part);
    struct wsdbg_values values = wsdbg_values_one(0), remainder;
    bool is_found = false;
    while (!sum.is_lost && !trace->is_lost && take_remainder(finder, &sum, &remainder)) {
        values = wsdbg_values_sum(&values, &remainder);
        is_found = true;
    }
    is_found = is_found && !sum.is_lost && add_rest(finder, &sum, &values) &&
               (values.kind == WSDBG_VALUES_LISTED || (values.kind == WSDBG_VALUES_STEPS && values.count));
    free(finder);
    if (is_found)
        *out = values;
    return is_found;
}
