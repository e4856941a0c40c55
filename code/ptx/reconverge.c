/* reconverge.c - where the paths of a divergent branch meet: immediate post-dominators of a function's blocks.
 *
 * Reads the graph; fills `reconverge` of the branches.  Post-dominators are dominators of the reversed graph, whose
 * root is the exit.  Blocks that never reach the exit form a loop: its last block in the text, which closes it, counts
 * as a block before the exit.
 */
#include "flow/dominators.h"
#include "ptx/function.h"

static void fill(struct ptx_parser *parser, const struct wsdbg_ptx_graph *graph, const struct wsdbg_dominators *after)
{
    for (uint32_t block = 0; block < graph->count; block++) {
        struct wsdbg_ptx_instruction *last =
            PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, graph->first[block + 1] - 1);
        const uint32_t meets = after->above[after->number[block]];
        const bool is_branch = last->operation == WSDBG_PTX_OP_bra || last->operation == WSDBG_PTX_OP_brx;
        if (is_branch && meets && after->node[meets] < graph->count)
            last->reconverge = graph->first[after->node[meets]];
    }
}

struct wsdbg_error *ptx_find_reconvergence(struct ptx_parser *parser, const struct wsdbg_ptx_graph *graph)
{
    struct wsdbg_dominators dominators;
    const uint32_t exit = graph->count;
    const struct wsdbg_rooted_graph reversed = {.node_count = graph->count + 1,
                                                .after = &graph->before,
                                                .before = &graph->after,
                                                .roots = &exit,
                                                .root_count = 1,
                                                .takes_rest = true};
    PTX_TRY(wsdbg_dominators_find(&reversed, &dominators));
    fill(parser, graph, &dominators);
    wsdbg_dominators_destroy(&dominators);
    return NULL;
}
