/* later_ctas.c - see later_ctas.h.
 *
 * Reads: CTAs of all grids and where they are, the launch.  Writes nothing.
 */
#include "diagnose/later_ctas.h"

#include <stdlib.h>

#include "diagnose/code_graph.h"
#include "diagnose/grid_barrier.h"
#include "diagnose/host_waits.h"

/* Multiprocessors of a GPC of a GH100: 18, of which some are switched off.  CTAs of a cluster share a GPC. */
enum { MULTIPROCESSORS_OF_GPC_LEAST = 16 };

static bool is_of_device(const struct wsdbg_snapshot *snapshot, const struct wsdbg_cta *cta, uint32_t device)
{
    const uint32_t context =
        cta->grid < snapshot->grid_count ? snapshot->grids[cta->grid].context : snapshot->context_count;
    return context >= snapshot->context_count || snapshot->contexts[context].device_ordinal == device;
}

/* Multiprocessors without a CTA; 0 where it is not known of every CTA where it is. */
static uint32_t count_empty(const struct wsdbg_snapshot *snapshot, uint32_t device, uint32_t multiprocessors)
{
    uint32_t empty = multiprocessors;
    bool *is_used = calloc((size_t)multiprocessors + 1, sizeof *is_used);
    for (size_t i = 0; i < snapshot->cta_count && empty; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[i];
        if (!is_used || !cta->sm.known || cta->sm.value >= multiprocessors) {
            empty = 0;
        } else if (is_of_device(snapshot, cta, device) && !is_used[cta->sm.value]) {
            is_used[cta->sm.value] = true;
            empty--;
        }
    }
    if (!is_used)
        return 0;
    free(is_used);
    return empty;
}

/* A CTA fits on any multiprocessor that is empty, and a cluster on as many of one GPC. */
static bool is_room(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t context = snapshot->grids[c->grid].context, size = snapshot->ctas[c->ctas[0]].cluster_size;
    if (context >= snapshot->context_count || !snapshot->contexts[context].sm_count.known)
        return false;
    const uint32_t multiprocessors = snapshot->contexts[context].sm_count.value;
    const uint32_t gpcs = (multiprocessors + MULTIPROCESSORS_OF_GPC_LEAST - 1) / MULTIPROCESSORS_OF_GPC_LEAST;
    return count_empty(snapshot, snapshot->contexts[context].device_ordinal, multiprocessors) > gpcs * (size - 1);
}

bool wsdbg_later_ctas_wait(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    const uint32_t line[3] = {grid->cta_total, 1, 1};
    const uint32_t *size = grid->launch < c->snapshot->launch_count ? c->snapshot->launches[grid->launch].grid : line;
    if (wsdbg_code_ctas_unseen(c) == 0 || wsdbg_grid_barrier_of(c).gone) /* of a cooperative launch all began at once */
        return false;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        const struct wsdbg_cta *cta = &c->snapshot->ctas[grid->cta_first + i];
        const uint64_t number = ((uint64_t)cta->z * size[1] + cta->y) * size[0] + cta->x;
        if (number >= grid->cta_count || wsdbg_snapshot_cta_has_left(c->snapshot, grid->cta_first + i))
            return false;
    }
    return !is_room(c);
}
