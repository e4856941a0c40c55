/* trace_order.c - what a node needs, and in which order that is solved: see trace_nodes.h.  Gives nodes their inputs,
 * and notes which are functions of the thread's index.  Reads a graph; writes the trace. */
#include "sass/trace_nodes.h"

#include "sass/compute.h"

/* How far the walk to what a node needs has come: `next` counts its inputs, two nodes each. */
struct step {
    uint32_t node, next;
};

/* ---- nodes get their inputs ---- */

/* A node's value depends on the threads asked for, and so do the values of all nodes that use it. */
static void mark_of_threads(struct wsdbg_trace *trace, uint32_t number)
{
    struct wsdbg_trace_list *marked = &trace->path;
    const uint32_t bottom = marked->count;
    for (bool more = true; more;) {
        struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, number);
        for (uint32_t i = node->is_of_threads ? 0 : node->first_user; i; i = wsdbg_trace_user_at(trace, i)->next) {
            struct step *step = wsdbg_trace_append(trace, marked, sizeof *step);
            if (step)
                step->node = wsdbg_trace_user_at(trace, i)->node;
        }
        node->is_of_threads = true;
        more = marked->count > bottom;
        if (more)
            number = ((struct step *)marked->items)[--marked->count].node;
    }
}

static void add_user(struct wsdbg_trace *trace, uint32_t of, uint32_t number)
{
    if (of == WSDBG_GRAPH_NONE)
        return;
    struct wsdbg_trace_user *user = wsdbg_trace_append(trace, &trace->users, sizeof *user);
    if (!user)
        return;
    *user = (struct wsdbg_trace_user){number, wsdbg_trace_node_at(trace, of)->first_user};
    wsdbg_trace_node_at(trace, of)->first_user = trace->users.count - 1;
    if (wsdbg_trace_node_at(trace, of)->is_of_threads)
        mark_of_threads(trace, number);
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

static bool is_index_in_x(const struct wsdbg_instruction *instruction)
{
    unsigned dimension;
    return instruction->source_count && wsdbg_compute_is_thread(&instruction->sources[0], &dimension) && !dimension;
}

/* The value of a register operand as it flows into instruction `number`; a selection's two sides under what selects. */
static void expand_result(struct wsdbg_trace *trace, uint32_t number)
{
    const uint32_t at = (uint32_t)wsdbg_trace_node_at(trace, number)->key;
    const struct wsdbg_instruction *instruction = &trace->graph->instructions[at];
    struct wsdbg_trace_input inputs[WSDBG_SOURCES_MAX];
    if (is_index_in_x(instruction))
        mark_of_threads(trace, number);
    if (!wsdbg_compute_follows(instruction) ||
        wsdbg_trace_register_of(wsdbg_trace_node_at(trace, number)->key) >= WSDBG_REGISTER_PREDICATE)
        return;
    for (unsigned i = 0; i < instruction->source_count; i++)
        inputs[i] = wsdbg_trace_input_of(trace, at, i);
    set_inputs(trace, number, inputs, instruction->source_count);
}

/* Gives a node its inputs, which may be new nodes. */
static void expand(struct wsdbg_trace *trace, uint32_t number)
{
    const uint64_t key = wsdbg_trace_node_at(trace, number)->key;
    wsdbg_trace_node_at(trace, number)->is_expanded = true;
    if (key >> 56 == WSDBG_TRACE_RESULT) {
        expand_result(trace, number);
        return;
    }
    wsdbg_trace_find(trace, key, trace->found);
    set_inputs(trace, number, trace->found->inputs, trace->found->count);
}

/* ---- what has to be solved ---- */

/* Puts a node on the path, without a value. */
static void enter(struct wsdbg_trace *trace, uint32_t number)
{
    if (number == WSDBG_GRAPH_NONE || wsdbg_trace_is_fresh(trace, number))
        return;
    struct step *step = wsdbg_trace_append(trace, &trace->path, sizeof *step);
    if (!step)
        return;
    step->node = number;
    struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, number);
    node->value = wsdbg_values_none();
    node->growth = 0;
    node->turn = trace->turn;
    if (!node->is_expanded)
        expand(trace, number);
}

/* Puts a node that has all that it needs before it in the order, as far as these do not need each other. */
static void leave(struct wsdbg_trace *trace, uint32_t number)
{
    uint32_t *place = wsdbg_trace_append(trace, &trace->order, sizeof *place);
    if (!place)
        return;
    *place = number;
    wsdbg_trace_node_at(trace, number)->rank = trace->order.count - 1;
}

void wsdbg_trace_demand(struct wsdbg_trace *trace, uint32_t number)
{
    trace->order.count = 0;
    enter(trace, number);
    while (trace->path.count && !trace->has_failed) {
        struct step *step = (struct step *)trace->path.items + trace->path.count - 1;
        const struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, step->node);
        if (step->next == 2 * node->input_count) {
            leave(trace, step->node);
            trace->path.count--;
            continue;
        }
        const struct wsdbg_trace_input *input = &wsdbg_trace_inputs_of(trace, node)[step->next / 2];
        const bool is_other = step->next++ % 2;
        if (!is_other)
            enter(trace, input->node);
        else if (input->relations)
            enter(trace, input->other);
    }
    trace->path.count = 0;
}
