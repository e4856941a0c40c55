/* wake.c - something changed: which of the warps that wait or spin are to look again.
 *
 * Reads: the waits of splits, the list of warps that spin on global memory.  Writes: who is ready.
 */
#include "base/grow.h"
#include "hopper/device.h"
#include "hopper/mbarrier.h"

/* Whether the split may go on, now that something changed: its wait is for something outside of its warp. */
static bool may_be_over(const struct hopper_warp *warp, const struct hopper_split *split)
{
    switch (split->wait.kind) {
    case HOPPER_RUNS:
    case HOPPER_WAITS_LANES:
    case HOPPER_SLEEPS:
        return false;
    case HOPPER_WAITS_MBARRIER:
        return !hopper_mbarrier_waits(warp, &split->wait);
    default:
        return true;
    }
}

/* Splits whose wait may be over, or only those that spin. */
static void wake(struct wsdbg_gpu *gpu, struct hopper_warp *warp, bool only_spins)
{
    bool can_run = false;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct hopper_split *split = &warp->splits[i];
        if (only_spins ? split->wait.kind == HOPPER_SPINS : may_be_over(warp, split))
            split->again = can_run = true;
    }
    if (can_run)
        hopper_make_ready(gpu, warp);
}

static void wake_cluster(struct wsdbg_gpu *gpu, struct hopper_cluster *cluster, bool only_spins)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t k = 0; k < cluster->ctas[i]->warp_count; k++)
            wake(gpu, &cluster->ctas[i]->warps[k], only_spins);
}

static void wake_all(struct wsdbg_gpu *gpu, bool only_spins)
{
    for (struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        for (struct hopper_cluster *cluster = run->grid.clusters; cluster; cluster = cluster->next)
            wake_cluster(gpu, cluster, only_spins);
}

void hopper_changed_barrier(struct hopper_cta *cta)
{
    cta->grid->gpu->changes++;
    wake_cluster(cta->grid->gpu, cta->cluster, false);
}

void hopper_changed_shared(struct hopper_cta *cta)
{
    cta->grid->gpu->changes++;
    if (!cta->cluster->spinning_warps)
        return;
    cta->cluster->spinning_warps = 0;
    wake_cluster(cta->grid->gpu, cta->cluster, true);
}

/* ---- global memory ---- */

/* Warps whose loops read global memory are listed with the addresses they read: most stores are nobody's business. */
bool hopper_list_spin(struct wsdbg_gpu *gpu, struct hopper_warp *warp)
{
    struct hopper_spins *spins = &gpu->spins;
    if (warp->spin_at == WSDBG_PTX_NONE) {
        if (!wsdbg_grow((void **)&spins->rows, &spins->capacity, spins->count + 1, sizeof *spins->rows))
            return false;
        warp->spin_at = (uint32_t)spins->count;
        spins->rows[spins->count++] = (struct hopper_spin){.warp = warp, .first = UINT64_MAX};
    }
    struct hopper_spin *spin = &spins->rows[warp->spin_at];
    if (warp->read.first < spin->first)
        spin->first = warp->read.first;
    if (warp->read.end > spin->end)
        spin->end = warp->read.end;
    return true;
}

void hopper_unlist_spin(struct wsdbg_gpu *gpu, struct hopper_warp *warp)
{
    if (warp->spin_at == WSDBG_PTX_NONE)
        return;
    const struct hopper_spin last = gpu->spins.rows[--gpu->spins.count];
    gpu->spins.rows[warp->spin_at] = last;
    last.warp->spin_at = warp->spin_at;
    warp->spin_at = WSDBG_PTX_NONE;
}

void hopper_changed_range(struct wsdbg_gpu *gpu, uint64_t first, uint64_t end)
{
    gpu->changes++;
    for (size_t i = gpu->spins.count; i-- > 0;) {
        const struct hopper_spin spin = gpu->spins.rows[i];
        if (first >= spin.end || end <= spin.first)
            continue;
        hopper_unlist_spin(gpu, spin.warp);
        wake(gpu, spin.warp, true);
    }
}

void hopper_changed_global(struct wsdbg_gpu *gpu)
{
    hopper_changed_range(gpu, 0, UINT64_MAX);
}

void hopper_changed(struct wsdbg_gpu *gpu)
{
    gpu->changes++;
    wake_all(gpu, false);
}
