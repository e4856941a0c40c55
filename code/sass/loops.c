/* loops.c - which procedure a block belongs to, which blocks dominate it, and the loops: a loop is a head and all that
 * leads back to it without passing it again, where the head dominates the block that jumps back.
 *
 * Reads a graph's blocks and predecessors; writes its procedure_of, dominator and loop_around and the blocks' loop. */
#include "sass/flow.h"

#include <stdlib.h>

#include "flow/dominators.h"

/* Blocks by their number in `tree`, whose imagined root leads to every procedure's entry. */
struct walk {
    const struct wsdbg_graph *graph;
    struct wsdbg_dominators tree;
    uint32_t *memory;          /* of all arrays */
    uint32_t *position, *size; /* of the dominator tree, in preorder */
    uint32_t *around;          /* the head of a loop around a block or an inner head, 0 = none found */
    uint32_t *stack;           /* twice as long for what finds procedures */
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

/* Along the edges within a procedure; the successors of all blocks stand one behind the other. */
static struct wsdbg_error *find_dominators(struct walk *walk)
{
    const struct wsdbg_graph *graph = walk->graph;
    struct wsdbg_lists after = {.first = calloc((size_t)graph->block_count + 1, sizeof *after.first),
                                .numbers = graph->successors};
    if (!after.first)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++)
        after.first[block + 1] = after.first[block] + graph->blocks[block].successor_count;
    const struct wsdbg_rooted_graph rooted = {.node_count = graph->block_count,
                                              .after = &after,
                                              .before = &graph->predecessors,
                                              .roots = graph->procedure_entry,
                                              .root_count = graph->procedure_count};
    struct wsdbg_error *error = wsdbg_dominators_find(&rooted, &walk->tree);
    free(after.first);
    return error;
}

/* Preorder positions in the dominator tree, so that a subtree is a range. */
static void place_dominators(struct walk *walk)
{
    uint32_t *next = walk->stack;
    for (uint32_t i = 0; i < walk->tree.count; i++)
        walk->size[i] = 1;
    for (uint32_t i = walk->tree.count; i-- > 1;)
        walk->size[walk->tree.above[i]] += walk->size[i];
    walk->position[0] = 0;
    next[0] = 1;
    for (uint32_t i = 1; i < walk->tree.count; i++) {
        walk->position[i] = next[walk->tree.above[i]];
        next[walk->tree.above[i]] += walk->size[i];
        next[i] = walk->position[i] + 1;
    }
}

static bool dominates(const struct walk *walk, uint32_t above, uint32_t number)
{
    return walk->position[number] - walk->position[above] < walk->size[above];
}

/* ---- loops ---- */

/* The head of the outermost loop found so far that `number` is in, or itself.  `around` leads there, 0 = no further.
 */
static uint32_t outermost(struct walk *walk, uint32_t number)
{
    while (walk->around[number]) {
        const uint32_t up = walk->around[number];
        if (walk->around[up])
            walk->around[number] = walk->around[up];
        number = up;
    }
    return number;
}

/* Puts on the stack what leads to the block and belongs to no loop of `head` yet. */
static uint32_t push_predecessors(struct walk *walk, uint32_t block, uint32_t head, bool only_back, uint32_t depth)
{
    const struct wsdbg_graph *graph = walk->graph;
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = walk->tree.number[graph->predecessors.numbers[i]];
        if (!from || (only_back && !dominates(walk, head, from)))
            continue;
        const uint32_t inside = outermost(walk, from);
        if (inside == head)
            continue;
        walk->around[inside] = head;
        walk->stack[depth++] = inside;
    }
    return depth;
}

static bool is_head(const struct walk *walk, uint32_t number)
{
    const struct wsdbg_graph *graph = walk->graph;
    const uint32_t block = walk->tree.node[number];
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t from = walk->tree.number[graph->predecessors.numbers[i]];
        if (from && dominates(walk, number, from))
            return true;
    }
    return false;
}

/* Inner heads have higher numbers than those around them, so inner loops come first. */
static void find_loops(struct walk *walk, struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < walk->tree.count; i++)
        walk->around[i] = 0;
    for (uint32_t block = 0; block < graph->block_count; block++)
        graph->loop_around[block] = WSDBG_GRAPH_NONE;
    for (uint32_t head = walk->tree.count; head-- > 1;) {
        if (!is_head(walk, head))
            continue;
        const uint32_t block = walk->tree.node[head];
        graph->blocks[block].loop = block;
        uint32_t depth = push_predecessors(walk, block, head, true, 0);
        while (depth) {
            const uint32_t inside = walk->stack[--depth];
            struct wsdbg_block *body = &graph->blocks[walk->tree.node[inside]];
            if (body->loop == WSDBG_GRAPH_NONE)
                body->loop = block;
            else
                graph->loop_around[walk->tree.node[inside]] = block;
            depth = push_predecessors(walk, walk->tree.node[inside], head, false, depth);
        }
    }
}

uint32_t wsdbg_graph_loop_around(const struct wsdbg_graph *graph, uint32_t head)
{
    return graph->loop_around[head];
}

void wsdbg_graph_loop_blocks(const struct wsdbg_graph *graph, uint32_t head, uint64_t *out)
{
    for (uint32_t block = 0; block < graph->block_count; block++) {
        uint32_t loop = graph->blocks[block].loop;
        while (loop != WSDBG_GRAPH_NONE && loop != head)
            loop = graph->loop_around[loop];
        if (loop == head)
            out[block / 64] |= (uint64_t)1 << block % 64;
    }
}

static void note_dominators(const struct walk *walk, struct wsdbg_graph *graph)
{
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t number = walk->tree.number[block];
        const uint32_t above = walk->tree.above[number];
        graph->dominator[block] = number ? (above ? walk->tree.node[above] : block) : WSDBG_GRAPH_NONE;
    }
}

static bool allocate(struct walk *walk)
{
    const size_t count = (size_t)walk->graph->block_count + 1;
    uint32_t **const arrays[] = {&walk->position, &walk->size, &walk->around, &walk->stack};
    walk->memory = calloc(count * 5, sizeof *walk->memory);
    for (size_t i = 0; walk->memory && i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = walk->memory + i * count;
    return walk->memory;
}

struct wsdbg_error *wsdbg_flow_find_loops(struct wsdbg_graph *graph)
{
    struct walk walk = {.graph = graph};
    graph->procedure_of = calloc((size_t)graph->block_count + 1, sizeof *graph->procedure_of);
    graph->dominator = calloc((size_t)graph->block_count + 1, sizeof *graph->dominator);
    graph->loop_around = calloc((size_t)graph->block_count + 1, sizeof *graph->loop_around);
    const bool has_room = graph->procedure_of && graph->dominator && graph->loop_around && allocate(&walk);
    struct wsdbg_error *error = has_room ? find_dominators(&walk) : &wsdbg_error_no_memory;
    if (!error) {
        find_procedure_of(graph, walk.stack);
        place_dominators(&walk);
        find_loops(&walk, graph);
        note_dominators(&walk, graph);
        wsdbg_dominators_destroy(&walk.tree);
    }
    free(walk.memory);
    return error;
}
