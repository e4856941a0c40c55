/* loops.c - which procedure a block belongs to, which blocks dominate it, and the loops: a loop is a head and all that
 * leads back to it without passing it again, where the head dominates the block that jumps back.
 *
 * Dominators are found as Lengauer and Tarjan do, with path compression, so that no code takes longer than about its
 * size.  Reads a graph's blocks and predecessors; writes its procedure_of and dominator and the blocks' loop. */
#include "sass/flow.h"

#include <stdlib.h>

/* Blocks by the number under which a depth-first walk from an imagined root, which leads to every procedure's entry,
 * comes to them; the root has 0. */
struct walk {
    const struct wsdbg_graph *graph;
    uint32_t count;   /* the root among them */
    uint32_t *memory; /* of all arrays */
    uint32_t *block;  /* by number */
    uint32_t *number; /* by block, 0 = not come to */
    uint32_t *parent, *semi, *dominator, *ancestor, *label, *bucket, *next_in_bucket, *stack;
    uint32_t *position, *size; /* of the dominator tree, in preorder */
};

/* ---- procedures ---- */

/* What `block` belongs to, now that it is also reached from what belongs to `procedure`. */
static uint32_t merged(const struct wsdbg_graph *graph, uint32_t block, uint32_t procedure)
{
    const uint32_t known = graph->procedure_of[block];
    return known == WSDBG_GRAPH_NONE || known == procedure ? procedure : WSDBG_PROCEDURE_SEVERAL;
}

/* Puts the block on the stack if it now belongs to more than before; each is put there at most twice. */
static uint32_t spread(struct wsdbg_graph *graph, uint32_t block, uint32_t procedure, uint32_t *stack, uint32_t depth)
{
    const uint32_t belongs = merged(graph, block, procedure);
    if (belongs != graph->procedure_of[block]) {
        graph->procedure_of[block] = belongs;
        stack[depth++] = block;
    }
    return depth;
}

static void find_procedure_of(struct wsdbg_graph *graph, uint32_t *stack)
{
    uint32_t depth = 0;
    for (uint32_t block = 0; block < graph->block_count; block++)
        graph->procedure_of[block] = WSDBG_GRAPH_NONE;
    for (uint32_t procedure = 0; procedure < graph->procedure_count; procedure++) {
        depth = spread(graph, graph->procedure_entry[procedure], procedure, stack, depth);
        while (depth) {
            const uint32_t block = stack[--depth];
            for (uint32_t way = 0; way < graph->blocks[block].successor_count; way++)
                if (graph->blocks[block].successor[way] != WSDBG_GRAPH_NONE)
                    depth =
                        spread(graph, graph->blocks[block].successor[way], graph->procedure_of[block], stack, depth);
        }
    }
}

/* ---- dominators ---- */

static bool allocate(struct walk *walk)
{
    const size_t count = (size_t)walk->graph->block_count + 1;
    uint32_t **const arrays[] = {&walk->block,     &walk->number,   &walk->parent, &walk->semi,
                                 &walk->dominator, &walk->ancestor, &walk->label,  &walk->bucket,
                                 &walk->stack,     &walk->position, &walk->size,   NULL};
    walk->memory = calloc(count * 13, sizeof *walk->memory);
    if (!walk->memory)
        return false;
    uint32_t *rest = walk->memory;
    for (size_t i = 0; arrays[i]; i++, rest += count)
        *arrays[i] = rest;
    walk->next_in_bucket = rest; /* and twice as long a stack for what finds procedures */
    return true;
}

static void visit(struct walk *walk, uint32_t block, uint32_t parent)
{
    const uint32_t number = walk->count++;
    walk->block[number] = block;
    walk->number[block] = number;
    walk->parent[number] = parent;
}

/* Numbers what can be reached, depth first.  `position` serves as the next way to try from each number. */
static void number_blocks(struct walk *walk)
{
    const struct wsdbg_graph *graph = walk->graph;
    walk->count = 1;
    for (uint32_t procedure = 0; procedure < graph->procedure_count; procedure++) {
        const uint32_t entry = graph->procedure_entry[procedure];
        if (walk->number[entry])
            continue;
        visit(walk, entry, 0);
        for (uint32_t at = walk->number[entry]; at;) {
            const struct wsdbg_block *block = &graph->blocks[walk->block[at]];
            if (walk->position[at] == block->successor_count) {
                at = walk->parent[at];
                continue;
            }
            const uint32_t next = block->successor[walk->position[at]++];
            if (next == WSDBG_GRAPH_NONE || walk->number[next])
                continue;
            visit(walk, next, at);
            at = walk->number[next];
        }
    }
}

/* The number with the least semidominator on the way from `at` up the forest built so far; shortens that way. */
static uint32_t evaluate(struct walk *walk, uint32_t at)
{
    uint32_t depth = 0;
    if (walk->ancestor[at] == WSDBG_GRAPH_NONE)
        return walk->label[at];
    for (uint32_t up = at; walk->ancestor[walk->ancestor[up]] != WSDBG_GRAPH_NONE; up = walk->ancestor[up])
        walk->stack[depth++] = up;
    while (depth) {
        const uint32_t number = walk->stack[--depth], up = walk->ancestor[number];
        if (walk->semi[walk->label[up]] < walk->semi[walk->label[number]])
            walk->label[number] = walk->label[up];
        walk->ancestor[number] = walk->ancestor[up];
    }
    return walk->label[at];
}

static uint32_t semidominator(struct walk *walk, uint32_t number)
{
    const struct wsdbg_graph *graph = walk->graph;
    const uint32_t block = walk->block[number];
    uint32_t least = graph->procedure_at[block] == WSDBG_GRAPH_NONE ? number : 0;
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = walk->number[graph->predecessors.numbers[i]];
        const uint32_t semi = from ? walk->semi[evaluate(walk, from)] : least;
        least = semi < least ? semi : least;
    }
    return least;
}

static void find_dominators(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        walk->semi[i] = walk->label[i] = i;
        walk->ancestor[i] = WSDBG_GRAPH_NONE;
    }
    for (uint32_t i = walk->count; i-- > 1;) {
        walk->semi[i] = semidominator(walk, i);
        walk->next_in_bucket[i] = walk->bucket[walk->semi[i]];
        walk->bucket[walk->semi[i]] = i;
        const uint32_t parent = walk->parent[i];
        walk->ancestor[i] = parent;
        for (uint32_t waiting = walk->bucket[parent]; waiting; waiting = walk->next_in_bucket[waiting]) {
            const uint32_t least = evaluate(walk, waiting);
            walk->dominator[waiting] = walk->semi[least] < walk->semi[waiting] ? least : parent;
        }
        walk->bucket[parent] = 0;
    }
    for (uint32_t i = 1; i < walk->count; i++)
        if (walk->dominator[i] != walk->semi[i])
            walk->dominator[i] = walk->dominator[walk->dominator[i]];
}

/* Preorder positions in the dominator tree, so that a subtree is a range. */
static void place_dominators(struct walk *walk)
{
    uint32_t *next = walk->stack;
    for (uint32_t i = 0; i < walk->count; i++)
        walk->size[i] = 1;
    for (uint32_t i = walk->count; i-- > 1;)
        walk->size[walk->dominator[i]] += walk->size[i];
    walk->position[0] = 0;
    next[0] = 1;
    for (uint32_t i = 1; i < walk->count; i++) {
        walk->position[i] = next[walk->dominator[i]];
        next[walk->dominator[i]] += walk->size[i];
        next[i] = walk->position[i] + 1;
    }
}

static bool dominates(const struct walk *walk, uint32_t above, uint32_t number)
{
    return walk->position[number] - walk->position[above] < walk->size[above];
}

/* ---- loops ---- */

/* The head of the outermost loop found so far that `number` is in, or itself.  `ancestor` leads there, 0 = no further.
 */
static uint32_t outermost(struct walk *walk, uint32_t number)
{
    while (walk->ancestor[number]) {
        const uint32_t up = walk->ancestor[number];
        if (walk->ancestor[up])
            walk->ancestor[number] = walk->ancestor[up];
        number = up;
    }
    return number;
}

/* Puts on the stack what leads to the block and belongs to no loop of `head` yet. */
static uint32_t push_predecessors(struct walk *walk, uint32_t block, uint32_t head, bool only_back, uint32_t depth)
{
    const struct wsdbg_graph *graph = walk->graph;
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = walk->number[graph->predecessors.numbers[i]];
        if (!from || (only_back && !dominates(walk, head, from)))
            continue;
        const uint32_t inside = outermost(walk, from);
        if (inside == head)
            continue;
        walk->ancestor[inside] = head;
        walk->stack[depth++] = inside;
    }
    return depth;
}

static bool is_head(const struct walk *walk, uint32_t number)
{
    const struct wsdbg_graph *graph = walk->graph;
    const uint32_t block = walk->block[number];
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = walk->number[graph->predecessors.numbers[i]];
        if (from && dominates(walk, number, from))
            return true;
    }
    return false;
}

/* Inner heads have higher numbers than those around them, so inner loops come first. */
static void find_loops(struct walk *walk, struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < walk->count; i++)
        walk->ancestor[i] = 0;
    for (uint32_t head = walk->count; head-- > 1;) {
        if (!is_head(walk, head))
            continue;
        const uint32_t block = walk->block[head];
        graph->blocks[block].loop = block;
        uint32_t depth = push_predecessors(walk, block, head, true, 0);
        while (depth) {
            const uint32_t inside = walk->stack[--depth];
            struct wsdbg_block *body = &graph->blocks[walk->block[inside]];
            if (body->loop == WSDBG_GRAPH_NONE)
                body->loop = block;
            depth = push_predecessors(walk, walk->block[inside], head, false, depth);
        }
    }
}

static void note_dominators(const struct walk *walk, struct wsdbg_graph *graph)
{
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t number = walk->number[block];
        const uint32_t above = walk->dominator[number];
        graph->dominator[block] = number ? (above ? walk->block[above] : block) : WSDBG_GRAPH_NONE;
    }
}

struct wsdbg_error *wsdbg_flow_find_loops(struct wsdbg_graph *graph)
{
    struct walk walk = {.graph = graph};
    graph->procedure_of = calloc((size_t)graph->block_count + 1, sizeof *graph->procedure_of);
    graph->dominator = calloc((size_t)graph->block_count + 1, sizeof *graph->dominator);
    if (!graph->procedure_of || !graph->dominator || !allocate(&walk))
        return &wsdbg_error_no_memory;
    find_procedure_of(graph, walk.next_in_bucket);
    for (uint32_t block = 0; block <= graph->block_count; block++)
        walk.next_in_bucket[block] = 0;
    number_blocks(&walk);
    find_dominators(&walk);
    place_dominators(&walk);
    find_loops(&walk, graph);
    note_dominators(&walk, graph);
    free(walk.memory);
    return NULL;
}
