/* snapshot_drop.c - see snapshot_drop.h.  Each table is moved together in place; the next one's references follow. */
#include "evidence/snapshot_drop.h"

#include <stdlib.h>

/* New numbers of the rows of a table, WSDBG_NONE = removed. */
struct numbers {
    uint32_t *grids, *ctas, *barriers;
};

static bool make_numbers(const struct wsdbg_snapshot *snapshot, struct numbers *out)
{
    out->grids = calloc(snapshot->grid_count + 1, sizeof *out->grids);
    out->ctas = calloc(snapshot->cta_count + 1, sizeof *out->ctas);
    out->barriers = calloc(snapshot->barrier_count + 1, sizeof *out->barriers);
    return out->grids && out->ctas && out->barriers;
}

static bool is_of_process(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const void *process_id)
{
    return grid->context < snapshot->context_count &&
           snapshot->contexts[grid->context].process_id == *(const uint32_t *)process_id;
}

static void keep_grids(struct wsdbg_snapshot *snapshot, wsdbg_grid_choice *is_dropped, const void *user,
                       uint32_t *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->grid_count; i++) {
        const bool dropped = is_dropped(snapshot, &snapshot->grids[i], user);
        numbers[i] = dropped ? WSDBG_NONE : (uint32_t)kept;
        if (!dropped)
            snapshot->grids[kept++] = snapshot->grids[i];
    }
    snapshot->grid_count = kept;
}

static void keep_ctas(struct wsdbg_snapshot *snapshot, const uint32_t *grids, uint32_t *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->cta_count; i++) {
        struct wsdbg_cta cta = snapshot->ctas[i];
        cta.grid = grids[cta.grid];
        numbers[i] = cta.grid == WSDBG_NONE ? WSDBG_NONE : (uint32_t)kept;
        if (cta.grid != WSDBG_NONE)
            snapshot->ctas[kept++] = cta;
    }
    snapshot->cta_count = kept;
}

static void keep_barriers(struct wsdbg_snapshot *snapshot, const uint32_t *ctas, uint32_t *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->barrier_count; i++) {
        struct wsdbg_barrier barrier = snapshot->barriers[i];
        barrier.cta = ctas[barrier.cta];
        numbers[i] = barrier.cta == WSDBG_NONE ? WSDBG_NONE : (uint32_t)kept;
        if (barrier.cta != WSDBG_NONE)
            snapshot->barriers[kept++] = barrier;
    }
    snapshot->barrier_count = kept;
}

static void keep_warps(struct wsdbg_snapshot *snapshot, const struct numbers *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->warp_count; i++) {
        struct wsdbg_warp_row warp = snapshot->warps[i];
        warp.cta = numbers->ctas[warp.cta];
        if (warp.cta == WSDBG_NONE)
            continue;
        if (warp.barrier != WSDBG_NONE)
            warp.barrier = numbers->barriers[warp.barrier];
        snapshot->warps[kept++] = warp;
    }
    snapshot->warp_count = kept;
}

/* Where the rows that are left begin now; a grid's CTAs and a CTA's warps are neighbours as before. */
static void find_ranges(struct wsdbg_snapshot *snapshot)
{
    for (size_t i = snapshot->cta_count; i-- > 0;)
        snapshot->grids[snapshot->ctas[i].grid].cta_first = (uint32_t)i;
    for (size_t i = snapshot->warp_count; i-- > 0;)
        snapshot->ctas[snapshot->warps[i].cta].warp_first = (uint32_t)i;
}

struct wsdbg_error *wsdbg_snapshot_drop_grids(struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    return wsdbg_snapshot_drop_chosen_grids(snapshot, is_of_process, &process_id);
}

struct wsdbg_error *wsdbg_snapshot_drop_chosen_grids(struct wsdbg_snapshot *snapshot, wsdbg_grid_choice *is_dropped,
                                                     const void *user)
{
    struct numbers numbers;
    const bool made = make_numbers(snapshot, &numbers);
    if (made) {
        keep_grids(snapshot, is_dropped, user, numbers.grids);
        keep_ctas(snapshot, numbers.grids, numbers.ctas);
        keep_barriers(snapshot, numbers.ctas, numbers.barriers);
        keep_warps(snapshot, &numbers);
        find_ranges(snapshot);
    }
    free(numbers.grids);
    free(numbers.ctas);
    free(numbers.barriers);
    return made ? NULL : &wsdbg_error_no_memory;
}
