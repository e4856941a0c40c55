/* flow.c - where the paths of a divergent branch meet: immediate post-dominators of a function's blocks.
 *
 * Reads a function's instructions; fills `reconverge` of its branches.  Lengauer and Tarjan's algorithm on the reversed
 * graph, whose root is the exit, in time that grows almost linearly; all walks are loops.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

struct list {
    uint32_t *first, *others;
};

/* Blocks are numbered in the order of the text; block `count` is the exit. */
struct graph {
    const struct ptx_parser *parser;
    const struct wsdbg_ptx_function *function;
    uint32_t *block_of; /* of an instruction, from function->first */
    uint32_t *first;    /* instruction of a block */
    uint32_t count;
    uint32_t *edge_from, *edge_to; /* of the control flow */
    size_t edge_count, edge_room;
    struct list before, after; /* blocks that lead to a block, and that it leads to */
};

struct tree {                       /* of the reversed graph, by the order of the walk; number 0 is the exit */
    uint32_t *number_of, *block_at; /* NONE = not reached yet */
    uint32_t *parent, *semi, *label, *ancestor, *above, *bucket_first, *bucket_next;
    uint32_t *path, *next_edge; /* of walks */
    uint32_t count;
};

static const struct wsdbg_ptx_instruction *instruction_at(const struct graph *graph, uint32_t index)
{
    return PTX_ITEM(graph->parser->instructions, struct wsdbg_ptx_instruction, index);
}

static bool is_table_branch(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_brx;
}

static bool ends_path(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_ret || instruction->operation == WSDBG_PTX_OP_exit ||
           instruction->operation == WSDBG_PTX_OP_trap;
}

static bool ends_block(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_bra || is_table_branch(instruction) || ends_path(instruction);
}

/* The labels a branch may go to. */
static const uint32_t *targets_of(const struct graph *graph, const struct wsdbg_ptx_instruction *instruction,
                                  uint32_t *count)
{
    if (!is_table_branch(instruction)) {
        *count = instruction->operation == WSDBG_PTX_OP_bra;
        return &instruction->target;
    }
    const uint32_t *table = PTX_ITEM(graph->parser->branch_tables, uint32_t, instruction->target);
    *count = table[0];
    return table + 1;
}

static bool find_blocks(struct graph *graph)
{
    const uint32_t begin = graph->function->first, length = graph->function->end - begin;
    graph->block_of = calloc(length + 1u, sizeof *graph->block_of);
    graph->first = calloc(length + 1u, sizeof *graph->first);
    if (!graph->block_of || !graph->first)
        return false;
    for (uint32_t i = 0; i < length; i++) { /* 1 marks an instruction that begins a block */
        const struct wsdbg_ptx_instruction *instruction = instruction_at(graph, begin + i);
        uint32_t count;
        const uint32_t *targets = targets_of(graph, instruction, &count);
        for (uint32_t target = 0; target < count; target++)
            graph->block_of[targets[target] - begin] = 1;
        if (ends_block(instruction))
            graph->block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < length; i++) {
        if (i == 0 || graph->block_of[i])
            graph->first[graph->count++] = begin + i;
        graph->block_of[i] = graph->count - 1;
    }
    graph->first[graph->count] = graph->function->end;
    return true;
}

static bool add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
    if (graph->edge_count == PTX_EDGES_MAX)
        return false;
    if (graph->edge_count == graph->edge_room) {
        const size_t room = graph->edge_room ? 2 * graph->edge_room : 64;
        uint32_t *larger_from = reallocarray(graph->edge_from, room, sizeof *larger_from);
        if (larger_from)
            graph->edge_from = larger_from;
        uint32_t *larger_to = larger_from ? reallocarray(graph->edge_to, room, sizeof *larger_to) : NULL;
        if (!larger_to)
            return false;
        graph->edge_to = larger_to;
        graph->edge_room = room;
    }
    graph->edge_from[graph->edge_count] = from;
    graph->edge_to[graph->edge_count++] = to;
    return true;
}

static bool find_edges(struct graph *graph)
{
    const uint32_t exit = graph->count, begin = graph->function->first;
    for (uint32_t block = 0; block < graph->count; block++) {
        const struct wsdbg_ptx_instruction *last = instruction_at(graph, graph->first[block + 1] - 1);
        uint32_t count;
        const uint32_t *targets = targets_of(graph, last, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!add_edge(graph, block, graph->block_of[targets[i] - begin]))
                return false;
        if (ends_path(last) && !add_edge(graph, block, exit))
            return false;
        if ((!ends_block(last) || last->guard != WSDBG_PTX_NONE) && !add_edge(graph, block, block + 1))
            return false;
    }
    return true;
}

/* The edges by one of their ends: others[first[b] ... first[b + 1]) are the other ends of block b's. */
static bool make_list(const struct graph *graph, const uint32_t *ends, const uint32_t *other_ends, struct list *list)
{
    list->first = calloc(graph->count + 3u, sizeof *list->first);
    list->others = calloc(graph->edge_count + 1, sizeof *list->others);
    if (!list->first || !list->others)
        return false;
    uint32_t *begins = list->first + 1; /* while it is filled: where the next one of a block goes */
    for (size_t i = 0; i < graph->edge_count; i++)
        begins[ends[i] + 1]++;
    for (uint32_t block = 0; block <= graph->count; block++)
        begins[block + 1] += begins[block];
    for (size_t i = 0; i < graph->edge_count; i++)
        list->others[begins[ends[i]]++] = other_ends[i];
    return true;
}

/* ---- Lengauer and Tarjan ---- */

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
static void walk(const struct graph *graph, struct tree *tree, uint32_t block, uint32_t parent)
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

static void find_semi(const struct graph *graph, struct tree *tree, uint32_t number)
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
static void find_dominators(const struct graph *graph, struct tree *tree)
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
static void number_blocks(const struct graph *graph, struct tree *tree)
{
    walk(graph, tree, graph->count, WSDBG_PTX_NONE);
    for (uint32_t block = graph->count; block-- > 0;)
        if (tree->number_of[block] == WSDBG_PTX_NONE)
            walk(graph, tree, block, 0);
}

static void fill(const struct graph *graph, const struct tree *tree)
{
    for (uint32_t block = 0; block < graph->count; block++) {
        struct wsdbg_ptx_instruction *last =
            PTX_ITEM(graph->parser->instructions, struct wsdbg_ptx_instruction, graph->first[block + 1] - 1);
        const uint32_t meets = tree->block_at[tree->above[tree->number_of[block]]];
        if ((last->operation == WSDBG_PTX_OP_bra || last->operation == WSDBG_PTX_OP_brx) && meets < graph->count)
            last->reconverge = graph->first[meets];
    }
}

static bool find_all(struct graph *graph, struct tree *tree)
{
    if (!find_blocks(graph) || !find_edges(graph) ||
        !make_list(graph, graph->edge_to, graph->edge_from, &graph->before) ||
        !make_list(graph, graph->edge_from, graph->edge_to, &graph->after) || !make_tree(tree, graph->count + 1))
        return false;
    number_blocks(graph, tree);
    find_dominators(graph, tree);
    fill(graph, tree);
    return true;
}

struct wsdbg_error *ptx_find_reconvergence(struct ptx_parser *parser, const struct wsdbg_ptx_function *function)
{
    struct graph graph = {.parser = parser, .function = function};
    struct tree tree = {.count = 0};
    const bool done = find_all(&graph, &tree);
    free_tree(&tree);
    free(graph.block_of);
    free(graph.first);
    free(graph.edge_from);
    free(graph.edge_to);
    free(graph.before.first);
    free(graph.before.others);
    free(graph.after.first);
    free(graph.after.others);
    if (graph.edge_count == PTX_EDGES_MAX)
        return ptx_error(parser,
                         PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, function->first)->text_line,
                         "%s branches to more than %d places", function->name, PTX_EDGES_MAX);
    return done ? NULL : &wsdbg_error_no_memory;
}
