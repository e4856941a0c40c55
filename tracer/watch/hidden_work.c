/* hidden_work.c - see hidden_work.h.  Reads: snapshots and looks.  Writes: its own struct. */
#include "watch/hidden_work.h"

#include <stdlib.h>

void wsdbg_hidden_init(struct wsdbg_hidden *hidden, uint64_t stall_ns)
{
    *hidden = (struct wsdbg_hidden){0};
    wsdbg_stall_init(&hidden->stall, stall_ns);
}

static void forget(struct wsdbg_hidden *hidden)
{
    free(hidden->grids);
    hidden->grids = NULL;
    hidden->grid_count = 0;
}

void wsdbg_hidden_deinit(struct wsdbg_hidden *hidden)
{
    forget(hidden);
}

/* What is known to be unfinished is watched for that. */
static struct wsdbg_watched watched(const struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_watched out = {.progress_ns = UINT64_MAX};
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (!context->alive || context->error != 0 || context->unfinished_ns.known || !context->hidden_ns.known)
            continue;
        out.running = true;
        if (context->hidden_ns.value < out.progress_ns)
            out.progress_ns = context->hidden_ns.value;
    }
    return out;
}

bool wsdbg_hidden_is_due(struct wsdbg_hidden *hidden, const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    const struct wsdbg_watched now = watched(snapshot);
    if (!now.running)
        forget(hidden);
    return wsdbg_stall_is_due(&hidden->stall, now, now_ns);
}

static struct wsdbg_hidden_grid key_of(const struct wsdbg_snapshot *look, const struct wsdbg_grid *grid)
{
    if (grid->context >= look->context_count)
        return (struct wsdbg_hidden_grid){.grid_id = grid->grid_id};
    const struct wsdbg_context *context = &look->contexts[grid->context];
    return (struct wsdbg_hidden_grid){context->process_id, context->handle, grid->grid_id};
}

static bool has(const struct wsdbg_hidden *hidden, struct wsdbg_hidden_grid grid)
{
    for (size_t i = 0; i < hidden->grid_count; i++) {
        const struct wsdbg_hidden_grid *before = &hidden->grids[i];
        if (before->process_id == grid.process_id && before->context == grid.context && before->grid_id == grid.grid_id)
            return true;
    }
    return false;
}

bool wsdbg_hidden_seen_twice(struct wsdbg_hidden *hidden, struct wsdbg_snapshot *look, uint64_t now_ns)
{
    struct wsdbg_hidden_grid *grids = calloc(look->grid_count + 1, sizeof *grids);
    size_t count = 0;
    bool twice = false;
    for (size_t i = 0; grids && look->look_count > 0 && i < look->grid_count; i++) {
        if (!look->grids[i].running)
            continue;
        grids[count] = key_of(look, &look->grids[i]);
        look->grids[i].moves |= !has(hidden, grids[count]);
        twice |= !look->grids[i].moves;
        count++;
    }
    forget(hidden);
    hidden->grids = grids;
    hidden->grid_count = count;
    hidden->between_ns = now_ns - hidden->looked_ns;
    hidden->looked_ns = now_ns;
    return twice;
}
