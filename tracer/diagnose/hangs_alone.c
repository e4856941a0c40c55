/* hangs_alone.c - see hangs_alone.h.
 *
 * Reads: states of warps and of their parts.  Writes nothing.
 */
#include "diagnose/hangs_alone.h"

/* Only the warp's own CTA or cluster can end such a wait. */
static bool waits_inside(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_WAIT_MBARRIER || state == WSDBG_WARP_WAIT_NAMED || state == WSDBG_WARP_WAIT_CLUSTER ||
           state == WSDBG_WARP_WAIT_REGISTERS || state == WSDBG_WARP_RECONVERGE || state == WSDBG_WARP_EXITED;
}

static bool warp_waits_inside(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp)
{
    if (!waits_inside(warp->state) || warp->part_first > snapshot->part_count ||
        warp->part_count > snapshot->part_count - warp->part_first)
        return false;
    for (uint32_t p = 0; p < warp->part_count; p++)
        if (!waits_inside(snapshot->parts[warp->part_first + p].state))
            return false;
    return true;
}

/* *lives, if a warp of it does. */
static bool cta_waits_inside(const struct wsdbg_snapshot *snapshot, const struct wsdbg_cta *cta, bool *lives)
{
    if (cta->warp_first > snapshot->warp_count || cta->warp_count > snapshot->warp_count - cta->warp_first)
        return false;
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        const struct wsdbg_warp_row *warp = &snapshot->warps[cta->warp_first + k];
        if (!warp_waits_inside(snapshot, warp))
            return false;
        *lives |= warp->state != WSDBG_WARP_EXITED;
    }
    return true;
}

static bool cluster_waits_inside(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid,
                                 const struct wsdbg_cta *cta)
{
    bool lives = false;
    if (!cta_waits_inside(snapshot, cta, &lives) || !lives)
        return false;
    for (uint32_t i = 0; cta->cluster_size > 1 && i < grid->cta_count; i++) {
        const struct wsdbg_cta *other = &snapshot->ctas[grid->cta_first + i];
        if (other->cluster_id == cta->cluster_id && !cta_waits_inside(snapshot, other, &lives))
            return false;
    }
    return true;
}

bool wsdbg_some_cta_hangs_alone(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    for (uint32_t i = 0; i < row->cta_count; i++)
        if (cluster_waits_inside(snapshot, row, &snapshot->ctas[row->cta_first + i]))
            return true;
    return false;
}
