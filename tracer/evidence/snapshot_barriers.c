/* snapshot_barriers.c - every barrier object that an event of a listed CTA names.
 *
 * Reads: warps' last events and histories.  Writes: snapshot.barriers (by CTA, kind, id, stage) with their
 * names, expected arrivals and waiters, and warp.barrier.
 *
 * A barrier is named by (CTA, kind, id, stage).  Objects without an author's id get the smallest unit they
 * belong to: wgmma groups the warpgroup (warp / 4), bulk groups the warp, the others 0.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/builder.h"
#include "base/grow.h"

/* cta << 32 | kind << 24 | id << 8 | stage: sorts as the barriers do. */
typedef uint64_t barrier_key;

#define NO_KEY UINT64_MAX
#define RECENT_KEYS 64u

struct keys {
    barrier_key *items;
    size_t count, capacity;
    barrier_key recent[RECENT_KEYS]; /* most events repeat a few barriers: do not store each again */
};

static barrier_key make_key(uint32_t cta, enum wsdbg_barrier_kind kind, uint32_t id, uint32_t stage)
{
    return (uint64_t)cta << 32 | (uint32_t)kind << 24 | id << 8 | stage;
}

static barrier_key event_key(uint32_t cta, uint32_t warp, const struct wsdbg_history_event *event)
{
    switch (event->kind) {
    case WSDBG_EVENT_MBARRIER_INIT:
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_MBARRIER_WAIT_END:
    case WSDBG_EVENT_MBARRIER_ARRIVE:
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
    case WSDBG_EVENT_MBARRIER_EXPECT_TX:
    case WSDBG_EVENT_TMA_ISSUE:
        return make_key(cta, WSDBG_BARRIER_MBARRIER, event->barrier, event->stage);
    case WSDBG_EVENT_NAMED_ARRIVE:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
    case WSDBG_EVENT_NAMED_SYNC_END:
        return make_key(cta, WSDBG_BARRIER_NAMED, event->barrier, 0);
    case WSDBG_EVENT_CLUSTER_ARRIVE:
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
    case WSDBG_EVENT_CLUSTER_WAIT_END:
        return make_key(cta, WSDBG_BARRIER_CLUSTER, 0, 0);
    case WSDBG_EVENT_REGISTERS_REQUEST:
    case WSDBG_EVENT_REGISTERS_GRANTED:
    case WSDBG_EVENT_REGISTERS_RELEASE:
        return make_key(cta, WSDBG_BARRIER_REGISTERS, 0, 0);
    case WSDBG_EVENT_WGMMA_ISSUE:
    case WSDBG_EVENT_WGMMA_COMMIT:
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
    case WSDBG_EVENT_WGMMA_WAIT_END:
        return make_key(cta, WSDBG_BARRIER_WGMMA, warp / 4, 0);
    case WSDBG_EVENT_TMA_STORE_ISSUE:
    case WSDBG_EVENT_BULK_COMMIT:
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
    case WSDBG_EVENT_BULK_WAIT_END:
        return make_key(cta, WSDBG_BARRIER_BULK, warp, 0);
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END:
        return make_key(cta, WSDBG_BARRIER_GRID_DEPENDENCY, 0, 0);
    case WSDBG_EVENT_POLL_BEGIN:
    case WSDBG_EVENT_POLL_END:
        return make_key(cta, WSDBG_BARRIER_GLOBAL_FLAG, event->barrier, 0);
    default:
        return NO_KEY;
    }
}

static bool add_key(struct keys *keys, barrier_key key)
{
    barrier_key *recent = &keys->recent[(key ^ key >> 8 ^ key >> 24) % RECENT_KEYS];
    if (key == NO_KEY || *recent == key)
        return true;
    if (!wsdbg_grow((void **)&keys->items, &keys->capacity, keys->count + 1, sizeof *keys->items))
        return false;
    keys->items[keys->count++] = *recent = key;
    return true;
}

uint32_t wsdbg_cluster_peer(const struct wsdbg_snapshot *snapshot, uint32_t cta, uint32_t rank)
{
    const struct wsdbg_cta *self = &snapshot->ctas[cta];
    if (rank == self->cluster_rank)
        return cta;
    const struct wsdbg_grid *grid = &snapshot->grids[self->grid];
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (snapshot->ctas[i].cluster_id == self->cluster_id && snapshot->ctas[i].cluster_rank == rank)
            return i;
    return WSDBG_NONE;
}

/* Adds the barriers an event touches: in its own CTA, or in the CTAs of the cluster it reaches. */
static bool add_event_keys(struct keys *keys, const struct wsdbg_snapshot *out, uint32_t cta, uint32_t warp,
                           const struct wsdbg_history_event *event)
{
    const uint32_t target = event->kind == WSDBG_EVENT_MBARRIER_ARRIVE ? WSDBG_SITE_TARGET(event->value) : 0;
    if (target) {
        const uint32_t peer = wsdbg_cluster_peer(out, cta, target - 1);
        return peer == WSDBG_NONE || add_key(keys, event_key(peer, warp, event));
    }
    const uint32_t mask = event->kind == WSDBG_EVENT_TMA_ISSUE ? WSDBG_TMA_MULTICAST(event->value) : 0;
    if (mask == 0)
        return add_key(keys, event_key(cta, warp, event));
    for (uint32_t rank = 0; rank < 8; rank++) {
        const uint32_t peer = mask >> rank & 1 ? wsdbg_cluster_peer(out, cta, rank) : WSDBG_NONE;
        if (peer != WSDBG_NONE && !add_key(keys, event_key(peer, warp, event)))
            return false;
    }
    return true;
}

static bool add_warp_keys(struct keys *keys, const struct wsdbg_snapshot *out, const struct wsdbg_warp_row *warp)
{
    if (!add_event_keys(keys, out, warp->cta, warp->warp, &warp->last))
        return false;
    for (uint32_t i = 0; i < warp->history_count; i++)
        if (!add_event_keys(keys, out, warp->cta, warp->warp, &out->history[warp->history_first + i]))
            return false;
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    const barrier_key a = *(const barrier_key *)left, b = *(const barrier_key *)right;
    return (a > b) - (a < b);
}

static struct wsdbg_barrier from_key(const struct wsdbg_snapshot *out, barrier_key key)
{
    struct wsdbg_barrier barrier = {
        .cta = (uint32_t)(key >> 32),
        .kind = (enum wsdbg_barrier_kind)(key >> 24 & 0xff),
        .id = key >> 8 & 0xffff,
        .stage = key & 0xff,
    };
    const uint32_t module = out->grids[out->ctas[barrier.cta].grid].module;
    if (barrier.kind == WSDBG_BARRIER_MBARRIER)
        barrier.name = wsdbg_snapshot_name(out, module, WSDBG_NAME_MBARRIER, barrier.id);
    else if (barrier.kind == WSDBG_BARRIER_NAMED)
        barrier.name = wsdbg_snapshot_name(out, module, WSDBG_NAME_NAMED_BARRIER, barrier.id);
    return barrier;
}

static struct wsdbg_error *make_barriers(struct wsdbg_snapshot *out, struct keys *keys)
{
    if (keys->count)
        qsort(keys->items, keys->count, sizeof *keys->items, compare_keys);
    out->barriers = malloc((keys->count + 1) * sizeof *out->barriers);
    if (!out->barriers)
        return &wsdbg_error_no_memory;
    size_t unique = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (i == 0 || keys->items[i] != keys->items[i - 1]) {
            keys->items[unique++] = keys->items[i];
            out->barriers[out->barrier_count++] = from_key(out, keys->items[i]);
        }
    keys->count = unique;
    return NULL;
}

static struct wsdbg_barrier *find_barrier(struct wsdbg_snapshot *out, const struct keys *keys, barrier_key key)
{
    const barrier_key *found =
        key == NO_KEY || !keys->count ? NULL : bsearch(&key, keys->items, keys->count, sizeof key, compare_keys);
    return found ? &out->barriers[found - keys->items] : NULL;
}

/* The count that all warps agree on which said one.  `disputed` stays true once two differ. */
static void agree_on(struct wsdbg_optional_u32 *value, bool *disputed, uint32_t said)
{
    if (value->known && value->value != said)
        *disputed = true;
    *value = *disputed ? (struct wsdbg_optional_u32){0} : wsdbg_known_u32(said);
}

static void note_expectation(struct wsdbg_snapshot *out, const struct keys *keys, bool *disputed,
                             const struct wsdbg_warp_row *warp, const struct wsdbg_history_event *event)
{
    const bool says_count = event->kind == WSDBG_EVENT_MBARRIER_INIT || event->kind == WSDBG_EVENT_NAMED_ARRIVE ||
                            event->kind == WSDBG_EVENT_NAMED_SYNC_BEGIN;
    struct wsdbg_barrier *barrier =
        says_count ? find_barrier(out, keys, event_key(warp->cta, warp->warp, event)) : NULL;
    if (barrier)
        agree_on(&barrier->expected_arrivals, &disputed[barrier - out->barriers], event->value);
}

static void link_warps(struct wsdbg_snapshot *out, const struct keys *keys, bool *disputed)
{
    for (size_t i = 0; i < out->warp_count; i++) {
        struct wsdbg_warp_row *warp = &out->warps[i];
        if (warp->history_count == 0)
            note_expectation(out, keys, disputed, warp, &warp->last);
        for (uint32_t h = 0; h < warp->history_count; h++)
            note_expectation(out, keys, disputed, warp, &out->history[warp->history_first + h]);
        if (!wsdbg_warp_state_waits(warp->state))
            continue;
        struct wsdbg_barrier *barrier = find_barrier(out, keys, event_key(warp->cta, warp->warp, &warp->last));
        if (!barrier)
            continue;
        warp->barrier = (uint32_t)(barrier - out->barriers);
        barrier->waiters++;
    }
}

struct wsdbg_error *wsdbg_build_barriers(struct wsdbg_builder *builder)
{
    struct wsdbg_snapshot *out = builder->out;
    struct keys keys = {0};
    memset(keys.recent, 0xff, sizeof keys.recent);
    bool whole = true;
    for (size_t i = 0; whole && i < out->warp_count; i++)
        whole = add_warp_keys(&keys, out, &out->warps[i]);
    struct wsdbg_error *error = whole ? make_barriers(out, &keys) : &wsdbg_error_no_memory;
    bool *disputed = error ? NULL : calloc(out->barrier_count + 1, sizeof *disputed);
    if (!error && !disputed)
        error = &wsdbg_error_no_memory;
    if (!error)
        link_warps(out, &keys, disputed);
    free(disputed);
    free(keys.items);
    return error;
}
