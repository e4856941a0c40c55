/* trace.c - see trace.h.  Gives nodes their inputs and lets their values grow until nothing changes.  Reads a graph;
 * writes memory of its own. */
#include "sass/trace_nodes.h"

#include "sass/compute.h"
#include "sass/remainder.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARP_THREADS = 32,
    WORK_MOST = 1 << 24,
    GROWTH_LISTED = 20, /* how often a value grows before it is widened … */
    GROWTH_MOST = 40,   /* … and before it may be anything */
    TABLE_FIRST = 1 << 10,
    CONSTANTS_MOST = 512,
    QUEUE_BITS = 64,
};

struct constant {
    uint32_t offset, value;
    uint16_t bank;
    bool is_known;
};

/* ---- solving ---- */

static struct wsdbg_values value_of_input(const struct wsdbg_trace *trace, const struct wsdbg_trace_input *input)
{
    if (input->node == WSDBG_GRAPH_NONE)
        return wsdbg_values_any();
    const struct wsdbg_values *value = &wsdbg_trace_node_at(trace, input->node)->value;
    if (!input->relations)
        return *value;
    const struct wsdbg_values number = wsdbg_values_one(input->number);
    return wsdbg_values_filtered(value, input->relations, input->is_signed,
                                 input->other == WSDBG_GRAPH_NONE ? &number
                                                                  : &wsdbg_trace_node_at(trace, input->other)->value);
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
        trace->constants.count < CONSTANTS_MOST ? wsdbg_trace_append(trace, &trace->constants, sizeof *constant) : NULL;
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
    const struct wsdbg_values value =
        wsdbg_compute_thread(dimension, &threads, trace->threads.first, dimension ? 0 : trace->threads.count);
    return !dimension && trace->launch && trace->launch->is_in_x ? wsdbg_values_with_form(&value, WSDBG_FORM_THREAD_X)
                                                                 : value;
}

/* What a table of constants holds at the places that the register may name. */
static struct wsdbg_values value_of_table(struct wsdbg_trace *trace, const struct wsdbg_operand *operand,
                                          const struct wsdbg_trace_input *input, unsigned part)
{
    const struct wsdbg_values index = value_of_input(trace, input);
    struct wsdbg_values value = wsdbg_values_none();
    if (index.kind != WSDBG_VALUES_NONE && (index.kind != WSDBG_VALUES_LISTED || index.rank != WSDBG_RANK_NONE))
        return wsdbg_values_any();
    for (uint32_t i = 0; i < index.count && index.kind == WSDBG_VALUES_LISTED; i++) {
        const struct wsdbg_values more =
            constant_at(trace, operand->bank, operand->value + index.number[i] + 4 * (int64_t)part);
        value = wsdbg_values_union(&value, &more);
    }
    return value;
}

/* The low 32 bits of a source, for `part` of the result. */
static struct wsdbg_values value_of_source(struct wsdbg_trace *trace, const struct wsdbg_operand *operand,
                                           const struct wsdbg_trace_input *input, unsigned part)
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
    else if (operand->kind == WSDBG_OPERAND_CONSTANT && input)
        value = value_of_table(trace, operand, input, part);
    return wsdbg_compute_modified(operand, &value);
}

/* A counter that goes up from 0 or more and whose end nobody knows does not wrap: it would no longer count. */
static bool are_below(const struct wsdbg_values *values, uint32_t below)
{
    if (values->kind == WSDBG_VALUES_STEPS)
        return values->number[0] < below &&
               (values->count == 0 || values->number[0] + (values->count - 1) * (uint64_t)values->number[1] < below);
    for (uint32_t i = 0; i < values->count && values->kind == WSDBG_VALUES_LISTED; i++)
        if (values->number[i] >= below)
            return false;
    return values->kind == WSDBG_VALUES_LISTED;
}

static struct wsdbg_values value_of_result(struct wsdbg_trace *trace, const struct wsdbg_trace_node *node)
{
    const uint32_t number = (uint32_t)node->key;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[number];
    const unsigned reg = wsdbg_trace_register_of(node->key);
    struct wsdbg_values sources[WSDBG_SOURCES_MAX];
    if (reg >= WSDBG_REGISTER_PREDICATE)
        return wsdbg_values_one(number); /* of a predicate only the instruction that wrote it matters */
    if (!wsdbg_compute_follows(instruction) || node->input_count != instruction->source_count)
        return wsdbg_values_any();
    if (instruction->sources[0].kind == WSDBG_OPERAND_SPECIAL)
        return special_at(trace, &instruction->sources[0]);
    const unsigned part = wsdbg_compute_part(instruction, reg);
    for (unsigned i = 0; i < instruction->source_count; i++)
        sources[i] = value_of_source(trace, &instruction->sources[i], &wsdbg_trace_inputs_of(trace, node)[i], part);
    uint32_t divisor, below;
    if (wsdbg_remainder_at(&trace->definitions, number, &divisor))
        return sources[2].kind == WSDBG_VALUES_NONE ? sources[2] : wsdbg_values_steps(0, 1, divisor);
    if (wsdbg_signed_remainder_at(&trace->definitions, number, &divisor, &below) && are_below(&sources[0], below))
        return wsdbg_values_steps(0, 1, divisor);
    return wsdbg_compute(instruction, part, sources);
}

/* Puts what flows into a node now into its value; true where that is more than before. */
static bool grow(struct wsdbg_trace *trace, struct wsdbg_trace_node *node)
{
    bool has_grown = false;
    if (trace->is_lost || node->key >> 56 == WSDBG_TRACE_RESULT) {
        const struct wsdbg_values now = trace->is_lost ? wsdbg_values_any() : value_of_result(trace, node);
        return wsdbg_values_add(&node->value, &now);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct wsdbg_trace_input *input = &wsdbg_trace_inputs_of(trace, node)[i];
        if (input->node != WSDBG_GRAPH_NONE && !input->relations) {
            has_grown |= wsdbg_values_add(&node->value, &wsdbg_trace_node_at(trace, input->node)->value);
            continue;
        }
        const struct wsdbg_values more = value_of_input(trace, input);
        has_grown |= wsdbg_values_add(&node->value, &more);
    }
    return has_grown;
}

/* Lets a node grow to what flows into it now; those that use it are looked at again.  Returns the first place in the
 * order that has to be, the node's own where none before it has. */
static uint32_t settle(struct wsdbg_trace *trace, uint32_t number)
{
    struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, number);
    uint32_t first = node->rank;
    trace->work += node->input_count + 1;
    trace->has_failed |= trace->work > WORK_MOST;
    if (!grow(trace, node))
        return first;
    if (++node->growth > GROWTH_LISTED)
        node->value = node->growth > GROWTH_MOST ? wsdbg_values_any() : wsdbg_values_widened(&node->value);
    for (uint32_t i = node->first_user; i; i = wsdbg_trace_user_at(trace, i)->next) {
        const struct wsdbg_trace_node *user = wsdbg_trace_node_at(trace, wsdbg_trace_user_at(trace, i)->node);
        if (!wsdbg_trace_is_fresh(trace, wsdbg_trace_user_at(trace, i)->node))
            continue; /* is solved when somebody asks for it */
        ((uint64_t *)trace->queued.items)[user->rank / QUEUE_BITS] |= (uint64_t)1 << user->rank % QUEUE_BITS;
        first = user->rank < first ? user->rank : first;
    }
    return first;
}

static void queue_all(struct wsdbg_trace *trace)
{
    trace->queued.count = 0;
    for (uint32_t first = 0; first < trace->order.count; first += QUEUE_BITS) {
        const uint32_t left = trace->order.count - first;
        uint64_t *word = wsdbg_trace_append(trace, &trace->queued, sizeof *word);
        if (word)
            *word = left < QUEUE_BITS ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
    }
}

/* Always looks at the first in the order that has to be: what goes round a loop is whole before it flows on. */
static void solve(struct wsdbg_trace *trace)
{
    queue_all(trace);
    for (uint32_t word = 0; word < trace->queued.count && !trace->has_failed;) {
        uint64_t *bits = (uint64_t *)trace->queued.items + word;
        if (!*bits) {
            word++;
            continue;
        }
        const uint32_t place = word * QUEUE_BITS + (uint32_t)__builtin_ctzll(*bits);
        *bits &= *bits - 1;
        word = settle(trace, ((uint32_t *)trace->order.items)[place]) / QUEUE_BITS;
    }
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

void wsdbg_trace_turn_to(struct wsdbg_trace *trace, struct wsdbg_thread_range threads)
{
    if (threads.first == trace->threads.first && threads.count == trace->threads.count)
        return;
    trace->threads = threads;
    trace->turn++;
    trace->work = 0;
}

const struct wsdbg_graph *wsdbg_trace_graph(const struct wsdbg_trace *trace)
{
    return trace->graph;
}

const struct wsdbg_launch_values *wsdbg_trace_launch(const struct wsdbg_trace *trace)
{
    return trace->launch;
}

bool wsdbg_trace_is_of_warps(const struct wsdbg_trace *trace)
{
    return trace->threads.first % WARP_THREADS == 0 && trace->threads.count % WARP_THREADS == 0;
}

struct wsdbg_error *wsdbg_trace_create(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                       struct wsdbg_thread_range threads, struct wsdbg_trace **out)
{
    struct wsdbg_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return &wsdbg_error_no_memory;
    *trace = (struct wsdbg_trace){
        .graph = graph, .launch = launch, .threads = threads, .turn = 1, .table_size = TABLE_FIRST};
    trace->table = calloc(trace->table_size, sizeof *trace->table);
    trace->found = malloc(sizeof *trace->found);
    struct wsdbg_error *error =
        trace->table && trace->found ? wsdbg_definitions_create(graph, &trace->definitions) : &wsdbg_error_no_memory;
    if (!error)
        error = find_returning(trace);
    /* User 0 is the end of every list. */
    if (!error && !wsdbg_trace_append(trace, &trace->users, sizeof(struct wsdbg_trace_user)))
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
    free(trace->order.items);
    free(trace->queued.items);
    free(trace->constants.items);
    free(trace->path.items);
    free(trace->found);
    free(trace->table);
    free(trace->returning);
    free(trace);
}

static struct wsdbg_values value_of_register(struct wsdbg_trace *trace, uint32_t instruction, unsigned reg)
{
    if (reg == WSDBG_REGISTER_NONE)
        return wsdbg_values_one(0);
    const uint32_t node = wsdbg_trace_node_of(trace, wsdbg_trace_key(WSDBG_TRACE_READ, instruction, reg));
    if (node != WSDBG_GRAPH_NONE && !wsdbg_trace_is_fresh(trace, node)) {
        wsdbg_trace_demand(trace, node);
        solve(trace);
    }
    if (node == WSDBG_GRAPH_NONE || trace->has_failed)
        return wsdbg_values_any();
    return wsdbg_trace_node_at(trace, node)->value;
}

/* The second register of a pair has an address of its own, without the offsets of the first. */
static struct wsdbg_values value_of_address(struct wsdbg_trace *trace, uint32_t instruction,
                                            const struct wsdbg_operand *operand, unsigned part)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    if (part)
        return value_of_register(trace, instruction, wsdbg_register_of(&general, part));
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
        return value_of_address(trace, instruction, operand, part);
    case WSDBG_OPERAND_REGISTER:
    case WSDBG_OPERAND_UNIFORM:
        value = value_of_register(trace, instruction, wsdbg_register_of(operand, part));
        return wsdbg_compute_modified(operand, &value);
    default:
        return value_of_source(trace, operand, NULL, part);
    }
}

static bool written_in_block(const struct wsdbg_trace *trace, uint32_t instruction, unsigned reg, uint32_t *out)
{
    const struct wsdbg_block *block = &trace->graph->blocks[trace->graph->block_of[instruction]];
    return wsdbg_definition_before(&trace->definitions, reg, block->first, instruction, out) && *out != instruction &&
           wsdbg_flow_is_unguarded(&trace->graph->instructions[*out]);
}

bool wsdbg_trace_written(struct wsdbg_trace *trace, uint32_t instruction, unsigned reg, uint32_t *out)
{
    if (reg == WSDBG_REGISTER_NONE)
        return false;
    if (reg < WSDBG_REGISTER_PREDICATE)
        return written_in_block(trace, instruction, reg, out);
    const struct wsdbg_values writers = value_of_register(trace, instruction, reg);
    return wsdbg_values_is_one(&writers, out);
}
