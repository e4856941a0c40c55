/* reconverge.c - where the paths of a divergent branch meet: immediate post-dominators of a function's blocks.
 *
 * Reads the graph; fills `reconverge` of the branches.  Lengauer and Tarjan's algorithm on the reversed graph, whose
 * root is the exit, in time that grows almost linearly; all walks are loops.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/graph.h"

struct tree {                       /* of the reversed graph, by the order of the walk; number 0 is the exit */
    uint32_t *number_of, *block_at; /* NONE = not reached yet */
    uint32_t *parent, *semi, *label, *ancestor, *above, *bucket_first, *bucket_next;
    uint32_t *path, *next_edge; /* of walks */
    uint32_t count;
};

static bool make_tree(struct tree *tree, uint32_t blocks)
{
    uint32_t **const arrays[] = {&tree->number_of,   &tree->block_at, &tree->parent,   &tree->semi,
                                 &tree->label,       &tree->ancestor, &tree->above,    &tree->bucket_first,
                                 &tree->bucket_next, &tree->path,     &tree->next_edge};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = malloc((blocks + 1u) * sizeof **arrays[i]);
        if (!*arrays[i])
            return false;
        memset(*arrays[i], 0xff, (blocks + 1u) * sizeof **arrays[i]);
    }
    return true;
}

static void free_tree(struct tree *tree)
{
    uint32_t *const arrays[] = {tree->number_of,   tree->block_at, tree->parent,   tree->semi,
                                tree->label,       tree->ancestor, tree->above,    tree->bucket_first,
                                tree->bucket_next, tree->path,     tree->next_edge};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void number_block(struct tree *tree, uint32_t block, uint32_t parent)
{
    const uint32_t number = tree->count++;
    tree->number_of[block] = number;
    tree->block_at[number] = block;
    tree->parent[number] = parent;
    tree->semi[number] = tree->label[number] = number;
}

/* Walks against the flow from `block`, numbering what is new. */
static void walk(const struct ptx_graph *graph, struct tree *tree, uint32_t block, uint32_t parent)
{
    uint32_t depth = 0;
    number_block(tree, block, parent);
    tree->next_edge[block] = graph->before.first[block];
    tree->path[depth++] = block;
    while (depth) {
        const uint32_t top = tree->path[depth - 1];
        if (tree->next_edge[top] == graph->before.first[top + 1]) {
            depth--;
            continue;
        }
        const uint32_t next = graph->before.others[tree->next_edge[top]++];
        if (tree->number_of[next] != WSDBG_PTX_NONE)
            continue;
        number_block(tree, next, tree->number_of[top]);
        tree->next_edge[next] = graph->before.first[next];
        tree->path[depth++] = next;
    }
}

/* The number with the least semi-dominator on the way up, which is shortened. */
static uint32_t evaluate(struct tree *tree, uint32_t number)
{
    uint32_t depth = 0;
    if (tree->ancestor[number] == WSDBG_PTX_NONE)
        return number;
    for (uint32_t at = number; tree->ancestor[tree->ancestor[at]] != WSDBG_PTX_NONE; at = tree->ancestor[at])
        tree->path[depth++] = at;
    while (depth) {
        const uint32_t at = tree->path[--depth], higher = tree->ancestor[at];
        if (tree->semi[tree->label[higher]] < tree->semi[tree->label[at]])
            tree->label[at] = tree->label[higher];
        tree->ancestor[at] = tree->ancestor[higher];
    }
    return tree->label[number];
}

static void find_semi(const struct ptx_graph *graph, struct tree *tree, uint32_t number)
{
    const uint32_t block = tree->block_at[number];
    for (uint32_t i = graph->after.first[block]; i < graph->after.first[block + 1]; i++) {
        const uint32_t least = tree->semi[evaluate(tree, tree->number_of[graph->after.others[i]])];
        if (least < tree->semi[number])
            tree->semi[number] = least;
    }
    if (tree->parent[number] == 0)
        tree->semi[number] = 0; /* also of endless loops, which no edge leaves */
}

/* above[] of every number: that of its block's immediate post-dominator. */
static void find_dominators(const struct ptx_graph *graph, struct tree *tree)
{
    for (uint32_t number = tree->count; number-- > 1;) {
        const uint32_t parent = tree->parent[number];
        find_semi(graph, tree, number);
        tree->bucket_next[number] = tree->bucket_first[tree->semi[number]];
        tree->bucket_first[tree->semi[number]] = number;
        tree->ancestor[number] = parent;
        for (uint32_t at = tree->bucket_first[parent]; at != WSDBG_PTX_NONE; at = tree->bucket_next[at]) {
            const uint32_t least = evaluate(tree, at);
            tree->above[at] = tree->semi[least] < tree->semi[at] ? least : parent;
        }
        tree->bucket_first[parent] = WSDBG_PTX_NONE;
    }
    for (uint32_t number = 1; number < tree->count; number++)
        if (tree->above[number] != tree->semi[number])
            tree->above[number] = tree->above[tree->above[number]];
}

/* Blocks that never come to the exit are joined to it at their last one in the text, which closes the loop. */
static void number_blocks(const struct ptx_graph *graph, struct tree *tree)
{
    walk(graph, tree, graph->count, WSDBG_PTX_NONE);
    for (uint32_t block = graph->count; block-- > 0;)
        if (tree->number_of[block] == WSDBG_PTX_NONE)
            walk(graph, tree, block, 0);
}

static void fill(const struct ptx_graph *graph, const struct tree *tree)
{
    for (uint32_t block = 0; block < graph->count; block++) {
        struct wsdbg_ptx_instruction *last =
            PTX_ITEM(graph->parser->instructions, struct wsdbg_ptx_instruction, graph->first[block + 1] - 1);
        const uint32_t meets = tree->block_at[tree->above[tree->number_of[block]]];
        if ((last->operation == WSDBG_PTX_OP_bra || last->operation == WSDBG_PTX_OP_brx) && meets < graph->count)
            last->reconverge = graph->first[meets];
    }
}

struct wsdbg_error *ptx_find_reconvergence(const struct ptx_graph *graph)
{
    struct tree tree = {.count = 0};
    const bool done = make_tree(&tree, graph->count + 1);
    if (done) {
        number_blocks(graph, &tree);
        find_dominators(graph, &tree);
        fill(graph, &tree);
    }
    free_tree(&tree);
    return done ? NULL : &wsdbg_error_no_memory;
}
