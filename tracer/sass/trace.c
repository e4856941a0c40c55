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
};

struct user {
    uint32_t node, next;
};

struct constant {
    uint32_t offset, value;
    uint16_t bank;
    bool is_known;
};

/* ---- nodes get their inputs ---- */

static struct wsdbg_trace_input *inputs_of(const struct wsdbg_trace *trace, const struct wsdbg_trace_node *node)
{
    return (struct wsdbg_trace_input *)trace->inputs.items + node->first_input;
}

static void add_user(struct wsdbg_trace *trace, uint32_t of, uint32_t number)
{
    if (of == WSDBG_GRAPH_NONE)
        return;
    struct user *user = wsdbg_trace_append(trace, &trace->users, sizeof *user);
    if (!user)
        return;
    *user = (struct user){number, wsdbg_trace_node_at(trace, of)->first_user};
    wsdbg_trace_node_at(trace, of)->first_user = trace->users.count - 1;
}

static void set_inputs(struct wsdbg_trace *trace, uint32_t number, const struct wsdbg_trace_input *inputs,
                       uint32_t count)
{
    wsdbg_trace_node_at(trace, number)->first_input = trace->inputs.count;
    for (uint32_t i = 0; i < count; i++) {
        struct wsdbg_trace_input *input = wsdbg_trace_append(trace, &trace->inputs, sizeof *input);
        if (!input)
            return;
        *input = inputs[i];
        wsdbg_trace_node_at(trace, number)->input_count++;
        add_user(trace, inputs[i].node, number);
        if (inputs[i].relations)
            add_user(trace, inputs[i].other, number);
    }
}

/* The value of a register operand as it flows into instruction `number`; a selection's two sides under what selects. */
static void expand_result(struct wsdbg_trace *trace, uint32_t number)
{
    const uint32_t at = (uint32_t)wsdbg_trace_node_at(trace, number)->key;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[at];
    struct wsdbg_trace_input inputs[WSDBG_SOURCES_MAX];
    if (!wsdbg_compute_follows(instruction) ||
        wsdbg_trace_register_of(wsdbg_trace_node_at(trace, number)->key) >= WSDBG_REGISTER_PREDICATE)
        return;
    for (unsigned i = 0; i < instruction->source_count; i++)
        inputs[i] = wsdbg_trace_input_of(trace, at, i);
    set_inputs(trace, number, inputs, instruction->source_count);
}

static void enqueue(struct wsdbg_trace *trace, uint32_t number)
{
    if (wsdbg_trace_node_at(trace, number)->is_queued)
        return;
    uint32_t *place = wsdbg_trace_append(trace, &trace->queue, sizeof *place);
    if (!place)
        return;
    *place = number;
    wsdbg_trace_node_at(trace, number)->is_queued = true;
}

/* Gives inputs to all nodes that have none, those that come up on the way included. */
static void expand_all(struct wsdbg_trace *trace)
{
    struct wsdbg_trace_found *found = malloc(sizeof *found);
    trace->has_failed |= !found;
    for (; found && trace->expanded < trace->nodes.count; trace->expanded++) {
        const uint64_t key = wsdbg_trace_node_at(trace, trace->expanded)->key;
        if (key >> 56 == WSDBG_TRACE_RESULT) {
            expand_result(trace, trace->expanded);
        } else {
            wsdbg_trace_find(trace, key, found);
            set_inputs(trace, trace->expanded, found->inputs, found->count);
        }
        enqueue(trace, trace->expanded);
    }
    free(found);
}

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
        return wsdbg_values_one(number); /* of a predicate only who wrote it matters */
    if (!wsdbg_compute_follows(instruction) || node->input_count != instruction->source_count)
        return wsdbg_values_any();
    if (instruction->sources[0].kind == WSDBG_OPERAND_SPECIAL)
        return special_at(trace, &instruction->sources[0]);
    const unsigned part = wsdbg_compute_part(instruction, reg);
    for (unsigned i = 0; i < instruction->source_count; i++)
        sources[i] = value_of_source(trace, &instruction->sources[i], &inputs_of(trace, node)[i], part);
    uint32_t divisor, below;
    if (wsdbg_remainder_at(&trace->definitions, number, &divisor))
        return sources[2].kind == WSDBG_VALUES_NONE ? sources[2] : wsdbg_values_steps(0, 1, divisor);
    if (wsdbg_signed_remainder_at(&trace->definitions, number, &divisor, &below) && are_below(&sources[0], below))
        return wsdbg_values_steps(0, 1, divisor);
    return wsdbg_compute(instruction, part, sources);
}

static struct wsdbg_values value_of_node(struct wsdbg_trace *trace, const struct wsdbg_trace_node *node)
{
    if (trace->is_lost)
        return wsdbg_values_any();
    if (node->key >> 56 == WSDBG_TRACE_RESULT)
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
    struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, number);
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
        wsdbg_trace_node_at(trace, number)->is_queued = false;
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
    *trace = (struct wsdbg_trace){.graph = graph, .launch = launch, .threads = threads, .table_size = TABLE_FIRST};
    trace->table = calloc(trace->table_size, sizeof *trace->table);
    struct wsdbg_error *error =
        trace->table ? wsdbg_definitions_create(graph, &trace->definitions) : &wsdbg_error_no_memory;
    if (!error)
        error = find_returning(trace);
    /* User 0 is the end of every list. */
    if (!error && !wsdbg_trace_append(trace, &trace->users, sizeof(struct user)))
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
    const uint32_t node = wsdbg_trace_node_of(trace, wsdbg_trace_key(WSDBG_TRACE_READ, instruction, reg));
    if (node != WSDBG_GRAPH_NONE)
        solve(trace);
    return node == WSDBG_GRAPH_NONE || trace->has_failed ? wsdbg_values_any() : wsdbg_trace_node_at(trace, node)->value;
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
