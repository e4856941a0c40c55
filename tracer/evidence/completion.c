/* completion.c - see completion.h.
 *
 * Reads: the ring's rows that were set aside.  Writes: rows that looks added, and barriers that only the record names.
 *
 * If a simulated device wrote the record, each barrier that a look saw has the device's name for it (event_arrays.h).
 * Which mbarrier of another record is which word in memory is told by the warps: one that recorded a wait and stands in
 * a wait ties the two together, and with them all stages of both (see barrier_ties.h).
 */
#include "evidence/completion.h"

#include <stdlib.h>

#include "evidence/barrier_ties.h"
#include "evidence/event_arrays.h"
#include "evidence/snapshot_drop.h"
#include "model/rows.h"

struct wsdbg_error *wsdbg_completion_begin(const struct wsdbg_snapshot *ring, struct wsdbg_snapshot **record)
{
    struct wsdbg_snapshot only = *ring;
    *record = NULL;
    if (ring->grid_count == 0)
        return NULL;
    wsdbg_rows_borrow(ring, WSDBG_TABLES_SHARED | WSDBG_TABLES_PICTURE, &only);
    struct wsdbg_snapshot *copy = calloc(1, sizeof *copy);
    struct wsdbg_error *error = copy ? wsdbg_snapshot_copy(&only, copy) : &wsdbg_error_no_memory;
    if (error)
        free(copy);
    else
        *record = copy;
    return error;
}

static void destroy(struct wsdbg_snapshot *record)
{
    if (record)
        wsdbg_snapshot_deinit(record);
    free(record);
}

static const struct wsdbg_warp_row *find_warp(const struct wsdbg_snapshot *record, const struct wsdbg_cta *cta,
                                              uint32_t warp)
{
    for (uint32_t i = cta->warp_first; i < cta->warp_first + cta->warp_count; i++)
        if (record->warps[i].warp == warp)
            return &record->warps[i];
    return NULL;
}

/* A role that an author named is the warp's; one that is inferred on either side is the state's. */
static void add_history(const struct wsdbg_warp_row *was, bool named, struct wsdbg_warp_row *warp)
{
    warp->last = was->last;
    warp->line = warp->line.known ? warp->line : was->line;
    warp->changed_ns = was->changed_ns;
    warp->history_first = was->history_first;
    warp->history_count = was->history_count;
    warp->history_whole = was->history_whole;
    if (named && was->role.known)
        warp->role = was->role;
}

/* A simulated device writes the record of kernels without probes from what it shows anyway, and nobody named anything:
 * there the state is judged alone. */
static bool has_author(const struct wsdbg_snapshot *record, const struct wsdbg_grid *grid)
{
    return grid->module >= record->module_count || !record->modules[grid->module].unnamed;
}

/* True where some history of probes was read. */
static bool add_histories(struct wsdbg_snapshot *snapshot, struct wsdbg_grid *grid, const struct wsdbg_snapshot *record,
                          uint32_t grid_was)
{
    const struct wsdbg_grid *was = &record->grids[grid_was];
    const bool named = has_author(record, was);
    bool any = false;
    grid->progress_ns = was->progress_ns;
    grid->launch = grid->launch == WSDBG_NONE ? was->launch : grid->launch;
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[i];
        const uint32_t cta_was = wsdbg_snapshot_same_cta(snapshot, i, record, grid_was);
        for (uint32_t w = cta->warp_first; cta_was != WSDBG_NONE && w < cta->warp_first + cta->warp_count; w++) {
            const struct wsdbg_warp_row *warp = find_warp(record, &record->ctas[cta_was], snapshot->warps[w].warp);
            if (warp)
                add_history(warp, named, &snapshot->warps[w]);
            any = any || (named && warp && warp->history_count > 0);
        }
    }
    return any;
}

struct wsdbg_error *wsdbg_completion_end(struct wsdbg_error *so_far, struct wsdbg_snapshot *snapshot, size_t first,
                                         struct wsdbg_snapshot *record)
{
    struct wsdbg_error *error = so_far;
    bool any = false;
    for (size_t i = first; record && !error && i < snapshot->grid_count; i++) {
        const uint32_t was = wsdbg_snapshot_same_grid(snapshot, (uint32_t)i, record);
        if (was == WSDBG_NONE)
            continue;
        const bool has_histories = add_histories(snapshot, &snapshot->grids[i], record, was);
        if (!has_author(record, &record->grids[was]))
            error = wsdbg_events_take_arrays(snapshot, (uint32_t)i);
        if (error || !has_histories)
            continue;
        any = true;
        error = wsdbg_tie_barriers(snapshot, (uint32_t)i, record, was);
    }
    if (error || !any)
        destroy(record);
    else
        snapshot->record = record;
    return error;
}

struct wsdbg_error *wsdbg_complete_process(struct wsdbg_look *const *looks, size_t count, uint32_t process_id,
                                           struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_snapshot *record;
    struct wsdbg_error *error = wsdbg_completion_begin(snapshot, &record);
    for (size_t i = 0; i < count; i++)
        wsdbg_look_set_process(looks[i], process_id);
    if (!error)
        error = wsdbg_snapshot_drop_grids(snapshot, process_id);
    const size_t first = snapshot->grid_count;
    if (!error)
        error = wsdbg_look_snapshot(looks, count, snapshot);
    return wsdbg_completion_end(error, snapshot, first, record);
}
