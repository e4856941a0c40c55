/* grid_barrier.c - see grid_barrier.h.
 *
 * Reads: the polling parts of all CTAs of a grid, its launch.  Writes: nothing.
 *
 * A barrier over a grid is a counter in memory that each CTA raises and then polls.  Code that raises it is not
 * followed; that the counter has just as many as there are CTAs, and not those that are missing, says the same.  Where
 * none is missing such a barrier would open: the number is that of something else, as of a request that a kernel which
 * stays on the GPU waits for.
 */
#include "diagnose/grid_barrier.h"

#include "diagnose/code_graph.h"
#include "diagnose/host_waits.h"
#include "wsdbg/session.h"

enum { CTAS_LEAST = 4 }; /* fewer are a small number that many a flag holds */

/* What all CTAs poll. */
struct polled {
    struct wsdbg_optional_u64 address, value;
    uint32_t ctas; /* that do */
};

static const struct wsdbg_part *poll_of_cta(const struct wsdbg_snapshot *s, const struct wsdbg_cta *cta)
{
    for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count && w < s->warp_count; w++)
        for (uint32_t i = s->warps[w].part_first; i < s->warps[w].part_first + s->warps[w].part_count; i++)
            if (s->parts[i].state == WSDBG_WARP_SPIN_GLOBAL)
                return &s->parts[i];
    return NULL;
}

/* False: some CTA that is there does not poll, or another word. */
static bool all_poll_one(const struct wsdbg_snapshot *s, const struct wsdbg_grid *grid, struct polled *out)
{
    *out = (struct polled){0};
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && i < s->cta_count; i++) {
        if (wsdbg_snapshot_cta_has_left(s, i))
            continue;
        const struct wsdbg_part *part = poll_of_cta(s, &s->ctas[i]);
        if (!part || !part->address.known || (out->address.known && out->address.value != part->address.value))
            return false;
        out->address = part->address;
        if (part->value.known)
            out->value = part->value;
        out->ctas++;
    }
    return out->ctas > 1;
}

/* Counters that go up or down by one a CTA, also round after round; and that of cooperative groups, in which one CTA
 * adds what makes a round of all of them 2^31. */
static bool counts_ctas(uint32_t value, uint32_t there, uint32_t total)
{
    const uint32_t round = 0x7fffffffu;
    const uint32_t missing = total > there ? total - there : 0;
    if (there < CTAS_LEAST || missing == 0)
        return false;
    return (value == there || (value & round) == there || value == missing || value % total == there ||
            (value & round) == ((0u - missing) & round));
}

struct wsdbg_grid_barrier wsdbg_grid_barrier_of(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    const struct wsdbg_launch *launch = wsdbg_launch_of(c->snapshot, c->grid);
    struct wsdbg_grid_barrier barrier = {0};
    struct polled polled;
    if (!c->of_machine || !all_poll_one(c->snapshot, grid, &polled))
        return barrier;
    barrier.counted = polled.value.known && polled.value.value <= UINT32_MAX &&
                      counts_ctas((uint32_t)polled.value.value, polled.ctas, grid->cta_total);
    barrier.launched = launch && launch->flags & WSDBG_LAUNCH_COOPERATIVE;
    if (barrier.launched)
        barrier.gone = wsdbg_code_ctas_unseen(c);
    return barrier;
}
