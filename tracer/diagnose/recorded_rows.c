/* recorded_rows.c - see recorded_rows.h.  CTAs by their places, warps by number, barriers by kind, id and stage: the
 * evidence gave the state's barriers the record's ids (tracer/evidence/barrier_ties.h).
 */
#include "diagnose/recorded_rows.h"

#include <stdlib.h>

static uint32_t *no_rows(size_t count)
{
    uint32_t *rows = malloc((count + 1) * sizeof *rows);
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = WSDBG_NONE;
    return rows;
}

static void map_warps(struct wsdbg_recorded *recorded, uint32_t cta)
{
    const struct wsdbg_snapshot *then = &recorded->then, *now = recorded->now;
    const struct wsdbg_cta *was = &then->ctas[cta], *is = &now->ctas[recorded->ctas[cta]];
    for (uint32_t i = 0; i < was->warp_count && was->warp_first + i < then->warp_count; i++)
        for (uint32_t k = 0; k < is->warp_count && is->warp_first + k < now->warp_count; k++)
            if (now->warps[is->warp_first + k].warp == then->warps[was->warp_first + i].warp)
                recorded->warps[was->warp_first + i] = is->warp_first + k;
}

/* The snapshot's barriers of each CTA as lists. */
static bool map_barriers(struct wsdbg_recorded *recorded)
{
    const struct wsdbg_snapshot *then = &recorded->then, *now = recorded->now;
    uint32_t *head = no_rows(now->cta_count), *next = no_rows(now->barrier_count);
    for (uint32_t i = 0; head && next && i < now->barrier_count; i++)
        if (now->barriers[i].cta < now->cta_count) {
            next[i] = head[now->barriers[i].cta];
            head[now->barriers[i].cta] = i;
        }
    for (uint32_t i = 0; head && next && i < then->barrier_count; i++) {
        const struct wsdbg_barrier *was = &then->barriers[i];
        uint32_t row = was->cta < then->cta_count && recorded->ctas[was->cta] != WSDBG_NONE
                           ? head[recorded->ctas[was->cta]]
                           : WSDBG_NONE;
        while (row != WSDBG_NONE && (now->barriers[row].kind != was->kind || now->barriers[row].id != was->id ||
                                     now->barriers[row].stage != was->stage))
            row = next[row];
        recorded->barriers[i] = row;
    }
    const bool made = head && next;
    free(head);
    free(next);
    return made;
}

struct wsdbg_error *wsdbg_recorded_rows(struct wsdbg_recorded *recorded)
{
    const struct wsdbg_snapshot *then = &recorded->then, *now = recorded->now;
    recorded->grids = no_rows(then->grid_count);
    recorded->ctas = no_rows(then->cta_count);
    recorded->warps = no_rows(then->warp_count);
    recorded->barriers = no_rows(then->barrier_count);
    if (!recorded->grids || !recorded->ctas || !recorded->warps || !recorded->barriers)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < then->grid_count; i++)
        recorded->grids[i] = wsdbg_snapshot_same_grid(then, i, now);
    for (uint32_t i = 0; i < then->cta_count; i++) {
        const uint32_t grid = then->ctas[i].grid < then->grid_count ? recorded->grids[then->ctas[i].grid] : WSDBG_NONE;
        if (grid == WSDBG_NONE)
            continue;
        recorded->ctas[i] = wsdbg_snapshot_same_cta(then, i, now, grid);
        if (recorded->ctas[i] != WSDBG_NONE)
            map_warps(recorded, i);
    }
    return map_barriers(recorded) ? NULL : &wsdbg_error_no_memory;
}

void wsdbg_recorded_rows_free(struct wsdbg_recorded *recorded)
{
    free(recorded->grids);
    free(recorded->ctas);
    free(recorded->warps);
    free(recorded->barriers);
}
