/* recorded_case.c - see recorded_case.h: the record put right.  Reads: a snapshot and its record.  Writes: copies of
 * the record's warps, and which row of the one is which of the other.
 */
#include "diagnose/recorded_case.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/recorded_rows.h"
#include "diagnose/wait_graph.h"

/* Some lanes of it stand in such a wait. */
static bool stands_in(const struct wsdbg_snapshot *now, const struct wsdbg_warp_row *warp, enum wsdbg_warp_state state)
{
    bool stands = warp->state == state;
    for (uint32_t i = 0; i < warp->part_count && !stands; i++)
        stands = warp->part_first + i < now->part_count && now->parts[warp->part_first + i].state == state;
    return stands;
}

/* What the record's newest event says of now, where the state shows that it is not so.  A warp that stands in a wait
 * which it did not record may do so because some lanes did, or the wait has no probe: what it does next is not known.
 */
static enum wsdbg_warp_state put_right(const struct wsdbg_snapshot *now, const struct wsdbg_warp_row *shown,
                                       enum wsdbg_warp_state recorded)
{
    /* Whether it runs does not matter here: it is outside of any known wait. */
    const enum wsdbg_warp_state state = shown->unmoved ? WSDBG_WARP_RUNNING : shown->state;
    if (state == WSDBG_WARP_EXITED)
        return WSDBG_WARP_EXITED;
    if (recorded == WSDBG_WARP_EXITED)
        return state == WSDBG_WARP_UNKNOWN ? WSDBG_WARP_UNKNOWN : WSDBG_WARP_RUNNING;
    if (!wsdbg_warp_state_waits(recorded) || state == WSDBG_WARP_UNKNOWN || stands_in(now, shown, recorded))
        return recorded;
    return state == WSDBG_WARP_RUNNING ? WSDBG_WARP_RUNNING : WSDBG_WARP_UNKNOWN;
}

static void put_warps_right(struct wsdbg_recorded *recorded)
{
    for (uint32_t i = 0; i < recorded->then.warp_count; i++) {
        struct wsdbg_warp_row *warp = &recorded->then.warps[i];
        const bool shown = warp->cta < recorded->then.cta_count && recorded->then.ctas[warp->cta].grid != WSDBG_NONE &&
                           recorded->grids[recorded->then.ctas[warp->cta].grid] != WSDBG_NONE;
        if (recorded->warps[i] != WSDBG_NONE)
            warp->state = put_right(recorded->now, &recorded->now->warps[recorded->warps[i]], warp->state);
        else if (shown)
            warp->state = WSDBG_WARP_EXITED; /* its CTA has left the kernel */
        if (!wsdbg_warp_state_waits(warp->state))
            warp->barrier = WSDBG_NONE;
    }
}

struct wsdbg_error *wsdbg_recorded_create(const struct wsdbg_snapshot *snapshot, struct wsdbg_recorded **out)
{
    *out = NULL;
    if (!snapshot->record)
        return NULL;
    struct wsdbg_recorded *recorded = calloc(1, sizeof *recorded);
    if (!recorded)
        return &wsdbg_error_no_memory;
    recorded->now = snapshot;
    recorded->then = *snapshot->record;
    recorded->then.warps = malloc((recorded->then.warp_count + 1) * sizeof *recorded->then.warps);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (recorded->then.warps) {
        const size_t bytes = recorded->then.warp_count * sizeof *recorded->then.warps;
        memcpy(recorded->then.warps, snapshot->record->warps, bytes);
        error = wsdbg_recorded_rows(recorded);
    }
    if (error) {
        wsdbg_recorded_destroy(recorded);
        return error;
    }
    put_warps_right(recorded);
    *out = recorded;
    return NULL;
}

void wsdbg_recorded_destroy(struct wsdbg_recorded *recorded)
{
    if (!recorded)
        return;
    free(recorded->then.warps);
    wsdbg_recorded_rows_free(recorded);
    free(recorded);
}

static bool is_listed(const uint32_t *ctas, uint32_t count, uint32_t cta)
{
    for (uint32_t i = 0; i < count; i++)
        if (ctas[i] == cta)
            return true;
    return false;
}

/* The same CTAs, and those of the cluster that have left the kernel. */
static uint32_t gather_ctas(const struct wsdbg_recorded *recorded, const struct wsdbg_case *c, uint32_t grid,
                            uint32_t *ctas)
{
    const struct wsdbg_snapshot *then = &recorded->then;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->cta_count; i++) {
        const uint32_t cta = wsdbg_snapshot_same_cta(recorded->now, c->ctas[i], then, grid);
        if (cta != WSDBG_NONE)
            ctas[count++] = cta;
    }
    const uint32_t seen = count;
    const struct wsdbg_grid *row = &then->grids[grid];
    for (uint32_t i = row->cta_first; seen && i < row->cta_first + row->cta_count; i++)
        if (then->ctas[i].cluster_size > 1 && then->ctas[i].cluster_id == then->ctas[ctas[0]].cluster_id &&
            recorded->ctas[i] == WSDBG_NONE && !is_listed(ctas, count, i))
            ctas[count++] = i;
    return count;
}

static void note_stuck(const struct wsdbg_recorded *recorded, const struct wsdbg_case *c, struct wsdbg_case *record)
{
    for (uint32_t i = 0; i < record->warp_count; i++)
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (recorded->warps[record->warps[i]] == c->warps[w] && wsdbg_case_stuck(c, w))
                wsdbg_set_add(&record->stuck, i);
}

/* Nobody's probes: what the device shows of itself says as much. */
static bool is_written_by_the_device(const struct wsdbg_snapshot *then, const struct wsdbg_grid *grid)
{
    return grid->module < then->module_count && then->modules[grid->module].unnamed;
}

struct wsdbg_error *wsdbg_recorded_case(const struct wsdbg_recorded *recorded, const struct wsdbg_case *c,
                                        uint32_t **ctas, struct wsdbg_case *out)
{
    const uint32_t grid = wsdbg_snapshot_same_grid(recorded->now, c->grid, &recorded->then);
    *out = (struct wsdbg_case){0};
    *ctas = NULL;
    if (grid == WSDBG_NONE || !wsdbg_grid_is_sound(&recorded->then, &recorded->then.grids[grid]) ||
        is_written_by_the_device(&recorded->then, &recorded->then.grids[grid]))
        return NULL;
    *ctas = calloc(recorded->then.grids[grid].cta_count + 1, sizeof **ctas);
    if (!*ctas)
        return &wsdbg_error_no_memory;
    const uint32_t count = gather_ctas(recorded, c, grid, *ctas);
    struct wsdbg_error *error = count ? wsdbg_case_init(&recorded->then, grid, *ctas, count, out) : NULL;
    if (error)
        return error;
    out->shown = recorded->now;
    out->shown_warps = recorded->warps;
    out->quiet = !c->moved && (out->quiet || c->still);
    if (!c->moved)
        note_stuck(recorded, c, out);
    return NULL;
}
