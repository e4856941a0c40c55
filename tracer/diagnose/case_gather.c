/* case_gather.c - gathers the warps of one CTA or cluster, and what is known of all of them.  See case.h.
 *
 * Reads: the snapshot.  Writes: struct wsdbg_case.
 */
#include <stdlib.h>

#include "diagnose/case.h"
#include "diagnose/code_case.h"
#include "diagnose/ledger.h"
#include "diagnose/replay.h"
#include "diagnose/wait_graph.h"

/* A bulk copy takes microseconds, milliseconds at worst when it faults pages in: after this it is not under way. */
#define TRANSFER_EXCLUDED_NS 100000000ull

static bool stood_still(const struct wsdbg_snapshot *snapshot)
{
    /* Without times the caller's word counts: diagnose is asked after a stall. */
    if (snapshot->progress_ns == 0 || snapshot->time_ns == 0)
        return true;
    return snapshot->time_ns >= snapshot->progress_ns + TRANSFER_EXCLUDED_NS;
}

bool wsdbg_grid_is_sound(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    if (grid->cta_first > snapshot->cta_count || grid->cta_count > snapshot->cta_count - grid->cta_first)
        return false;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[grid->cta_first + i];
        if (cta->warp_first > snapshot->warp_count || cta->warp_count > snapshot->warp_count - cta->warp_first)
            return false;
        for (uint32_t k = 0; k < cta->warp_count; k++) {
            const struct wsdbg_warp_row *warp = &snapshot->warps[cta->warp_first + k];
            if (warp->cta != grid->cta_first + i || warp->history_first > snapshot->history_count ||
                warp->history_count > snapshot->history_count - warp->history_first)
                return false;
            if (warp->part_count > 0 &&
                (warp->part_first > snapshot->part_count || warp->part_count > snapshot->part_count - warp->part_first))
                return false;
        }
    }
    return true;
}

static void judge_completeness(struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const struct wsdbg_grid *grid = &snapshot->grids[c->grid];
    const struct wsdbg_cta *first = &snapshot->ctas[c->ctas[0]];
    c->all_seen = c->cta_count >= first->cluster_size;
    for (uint32_t i = 0; i < c->cta_count; i++)
        c->all_seen = c->all_seen && snapshot->ctas[c->ctas[i]].warp_count >= grid->warps_per_cta;
    c->all_whole = c->all_seen;
    for (uint32_t i = 0; i < c->warp_count; i++) {
        const struct wsdbg_warp_row *warp = wsdbg_case_warp(c, i);
        c->all_whole = c->all_whole && warp->history_whole && warp->history_count > 0;
        c->history_any = c->history_any || warp->history_count > 0;
        c->all_seen = c->all_seen && (warp->state != WSDBG_WARP_UNKNOWN || warp->unmoved);
    }
    c->all_whole = c->all_whole && c->all_seen;
}

struct wsdbg_error *wsdbg_case_init(const struct wsdbg_snapshot *snapshot, uint32_t grid, const uint32_t *ctas,
                                    uint32_t cta_count, struct wsdbg_case *out)
{
    struct wsdbg_case c = {.snapshot = snapshot, .grid = grid, .ctas = ctas, .cta_count = cta_count};
    size_t warps = 0;
    for (uint32_t i = 0; i < cta_count; i++)
        warps += snapshot->ctas[ctas[i]].warp_count;
    if (warps == 0 || warps > WSDBG_CASE_WARPS_MAX) {
        *out = c;
        return NULL;
    }
    c.warps = malloc(warps * sizeof *c.warps);
    if (!c.warps)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < cta_count; i++)
        for (uint32_t k = 0; k < snapshot->ctas[ctas[i]].warp_count; k++)
            c.warps[c.warp_count++] = snapshot->ctas[ctas[i]].warp_first + k;
    const uint32_t context = snapshot->grids[grid].context;
    c.faulted = context < snapshot->context_count && snapshot->contexts[context].error != 0;
    c.quiet = c.faulted || stood_still(snapshot);
    judge_completeness(&c);
    c.of_machine = wsdbg_case_is_of_machine(&c);
    const enum wsdbg_motion motion = c.of_machine ? wsdbg_case_motion(&c) : WSDBG_MOTION_UNKNOWN;
    c.still = motion == WSDBG_MOTION_STILL;
    c.moved = motion == WSDBG_MOTION_MOVED;
    *out = c;
    return NULL;
}

void wsdbg_case_deinit(struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->finding_count; i++)
        free(c->findings[i].evidence);
    free(c->findings);
    free(c->warps);
    wsdbg_ledger_destroy(c->ledger);
    wsdbg_wait_graph_destroy(c->graph);
    wsdbg_replay_destroy(c->standing);
    wsdbg_replay_destroy(c->failing);
}
