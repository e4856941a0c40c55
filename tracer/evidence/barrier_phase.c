/* barrier_phase.c - phase and pending arrivals of mbarriers, only where they can be counted exactly.
 *
 * Reads: whole histories.  Writes: completed_phases, phase, pending_arrivals of mbarriers.
 *
 * Every warp that can arrive must be seen from its BEGIN: all warps of the CTA and of its cluster.  The
 * barrier must have been initialised once, and no bytes may be counted on it: when a TMA load completes is
 * not in the events, so such a barrier's phase is not known from here.
 */
#include <stdlib.h>

#include "evidence/builder.h"

/* What the events say about one barrier. */
struct tally {
    uint64_t arrivals;
    uint32_t inits;
    bool uses_bytes;
};

static bool cta_is_whole(const struct wsdbg_snapshot *out, uint32_t cta)
{
    const struct wsdbg_cta *row = &out->ctas[cta];
    if (row->warp_count != out->grids[row->grid].warps_per_cta)
        return false;
    for (uint32_t i = row->warp_first; i < row->warp_first + row->warp_count; i++)
        if (!out->warps[i].history_whole)
            return false;
    return true;
}

static bool cluster_is_whole(const struct wsdbg_snapshot *out, const bool *whole, uint32_t cta)
{
    for (uint32_t rank = 0; rank < out->ctas[cta].cluster_size; rank++) {
        const uint32_t peer = wsdbg_cluster_peer(out, cta, rank);
        if (peer == WSDBG_NONE || !whole[peer])
            return false;
    }
    return true;
}

/* Barriers are sorted by CTA, kind, id, stage. */
static uint32_t find_mbarrier(const struct wsdbg_snapshot *out, uint32_t cta, uint32_t id, uint32_t stage)
{
    size_t low = 0, high = out->barrier_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct wsdbg_barrier *b = &out->barriers[middle];
        const bool before = b->cta != cta                       ? b->cta < cta
                            : b->kind != WSDBG_BARRIER_MBARRIER ? b->kind < WSDBG_BARRIER_MBARRIER
                            : b->id != id                       ? b->id < id
                                                                : b->stage < stage;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == out->barrier_count)
        return WSDBG_NONE;
    const struct wsdbg_barrier *b = &out->barriers[low];
    const bool found = b->cta == cta && b->kind == WSDBG_BARRIER_MBARRIER && b->id == id && b->stage == stage;
    return found ? (uint32_t)low : WSDBG_NONE;
}

static void tally_bytes(const struct wsdbg_snapshot *out, struct tally *tallies, uint32_t cta,
                        const struct wsdbg_history_event *event)
{
    const uint32_t mask = event->kind == WSDBG_EVENT_TMA_ISSUE ? WSDBG_TMA_MULTICAST(event->value) : 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        if (mask ? !(mask >> rank & 1) : rank != 0)
            continue;
        const uint32_t target = mask ? wsdbg_cluster_peer(out, cta, rank) : cta;
        const uint32_t barrier =
            target == WSDBG_NONE ? WSDBG_NONE : find_mbarrier(out, target, event->barrier, event->stage);
        if (barrier != WSDBG_NONE)
            tallies[barrier].uses_bytes = true;
    }
}

static void tally_event(const struct wsdbg_snapshot *out, struct tally *tallies, uint32_t cta,
                        const struct wsdbg_history_event *event)
{
    uint32_t target = cta;
    switch (event->kind) {
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
    case WSDBG_EVENT_MBARRIER_EXPECT_TX:
    case WSDBG_EVENT_TMA_ISSUE:
        tally_bytes(out, tallies, cta, event);
        return;
    case WSDBG_EVENT_MBARRIER_ARRIVE:
        if (WSDBG_SITE_TARGET(event->value))
            target = wsdbg_cluster_peer(out, cta, WSDBG_SITE_TARGET(event->value) - 1);
        break;
    case WSDBG_EVENT_MBARRIER_INIT:
        break;
    default:
        return;
    }
    const uint32_t barrier =
        target == WSDBG_NONE ? WSDBG_NONE : find_mbarrier(out, target, event->barrier, event->stage);
    if (barrier == WSDBG_NONE)
        return;
    if (event->kind == WSDBG_EVENT_MBARRIER_INIT)
        tallies[barrier].inits++;
    else
        tallies[barrier].arrivals += WSDBG_SITE_LANES(event->value);
}

static void conclude(struct wsdbg_barrier *barrier, const struct tally *tally)
{
    const uint32_t expected = barrier->expected_arrivals.value;
    if (tally->inits != 1 || tally->uses_bytes || !barrier->expected_arrivals.known || expected == 0)
        return;
    const uint64_t completed = tally->arrivals / expected;
    barrier->completed_phases = wsdbg_known_u32((uint32_t)completed);
    barrier->phase = wsdbg_known_u32(completed & 1);
    barrier->pending_arrivals = wsdbg_known_u32(expected - (uint32_t)(tally->arrivals % expected));
    barrier->pending_tx_bytes = wsdbg_known_u64(0);
}

struct wsdbg_error *wsdbg_build_phases(struct wsdbg_builder *builder)
{
    struct wsdbg_snapshot *out = builder->out;
    bool *whole = calloc(out->cta_count + 1, sizeof *whole);
    struct tally *tallies = calloc(out->barrier_count + 1, sizeof *tallies);
    if (!whole || !tallies) {
        free(whole);
        free(tallies);
        return &wsdbg_error_no_memory;
    }
    for (uint32_t i = 0; i < out->cta_count; i++)
        whole[i] = cta_is_whole(out, i);
    for (size_t i = 0; i < out->warp_count; i++)
        for (uint32_t h = 0; h < out->warps[i].history_count; h++)
            tally_event(out, tallies, out->warps[i].cta, &out->history[out->warps[i].history_first + h]);
    for (size_t i = 0; i < out->barrier_count; i++)
        if (out->barriers[i].kind == WSDBG_BARRIER_MBARRIER && cluster_is_whole(out, whole, out->barriers[i].cta))
            conclude(&out->barriers[i], &tallies[i]);
    free(whole);
    free(tallies);
    return NULL;
}
