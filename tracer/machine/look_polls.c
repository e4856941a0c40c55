/* look_polls.c - which accesses lie in a loop that tests several mbarriers in turn and acts when a test succeeds.
 *
 * Reads: accesses and control flow.  Writes: poll_loop and is_poll of rows in snapshot.accesses.
 *
 * A warp in such a loop takes up whatever is ready.  In which order it does so is not in its code.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"
#include "machine/wait_site.h"

enum { POLLS_MOST = 256 }; /* waits of a kernel that are looked at */

static uint32_t block_of(const struct wsdbg_code_kernel *kernel, size_t access)
{
    return wsdbg_graph_block_of(kernel->function->graph, kernel->accesses[access].instruction);
}

/* The first block of the loop in which the wait is a poll; WSDBG_GRAPH_NONE = it is none. */
static struct wsdbg_error *find_loop(const struct wsdbg_code_kernel *kernel, size_t wait, uint32_t *head)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    struct wsdbg_wait_site site;
    struct wsdbg_error *error = wsdbg_wait_site_find(graph, kernel->accesses[wait].instruction, &site);
    const bool polls = !error && site.state == WSDBG_WARP_WAIT_MBARRIER && site.of_several;
    *head = polls ? wsdbg_graph_block_of(graph, site.home) : WSDBG_GRAPH_NONE;
    return error;
}

/* Marks the wait, and all accesses in its loop. */
static void mark(const struct wsdbg_code_kernel *kernel, size_t wait, uint32_t head, uint64_t *blocks,
                 struct wsdbg_access_row *rows)
{
    rows[wait].is_poll = true;
    if (rows[wait].poll_loop == head + 1)
        return;
    memset(blocks, 0, (wsdbg_graph_block_count(kernel->function->graph) / 64 + 1) * sizeof *blocks);
    wsdbg_graph_loop_blocks(kernel->function->graph, head, blocks);
    for (size_t i = 0; i < kernel->access_count; i++) {
        const uint32_t block = block_of(kernel, i);
        if (blocks[block / 64] >> block % 64 & 1)
            rows[i].poll_loop = head + 1;
    }
}

static struct wsdbg_error *judge_kernel(const struct wsdbg_code_kernel *kernel, struct wsdbg_access_row *rows)
{
    const size_t words = wsdbg_graph_block_count(kernel->function->graph) / 64 + 1;
    uint64_t *blocks = calloc(words, sizeof *blocks);
    struct wsdbg_error *error = blocks ? NULL : &wsdbg_error_no_memory;
    uint32_t left = POLLS_MOST;
    for (size_t i = 0; !error && left && i < kernel->access_count; i++) {
        uint32_t head;
        if (kernel->accesses[i].kind != WSDBG_ACCESS_WAIT)
            continue;
        left--;
        error = find_loop(kernel, i, &head);
        if (!error && head != WSDBG_GRAPH_NONE)
            mark(kernel, i, head, blocks, rows);
    }
    free(blocks);
    return error;
}

struct wsdbg_error *wsdbg_look_polls(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                     struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < out->grid_count; grid++)
        if (seen->grids[grid].kernel && seen->grids[grid].kernel->access_count)
            error = judge_kernel(seen->grids[grid].kernel, &out->accesses[access_first[grid]]);
    return error;
}
