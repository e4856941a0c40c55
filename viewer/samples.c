/* samples.c - see samples.h.  A warp has a slot with its present state; every change of state goes into one ring that
 * all warps share, each change chained to the warp's one before it.  A chain ends where the ring has gone round. */
#include "viewer/samples.h"

#include <stdlib.h>
#include <string.h>

/* The warp was in `state` from `since_ns` until what came next. */
struct change {
    uint64_t since_ns;
    uint64_t before; /* number of the change before; NONE = none */
    enum wsdbg_warp_state state;
};

#define NONE UINT64_MAX

struct slot {
    uint64_t grid_id, key; /* CTA << 32 | warp */
    uint64_t since_ns, seen_ns;
    uint64_t before;
    enum wsdbg_warp_state state;
    bool used;
};

struct viewer_samples {
    struct slot *slots;
    size_t slot_count, slots_used; /* the count is a power of two */
    struct change *ring;
    uint64_t ring_count, next; /* next: number of changes ever */
    uint64_t first_ns, last_ns;
};

static size_t power_of_two_below(size_t value)
{
    size_t power = 1;
    while (power * 2 <= value)
        power *= 2;
    return power;
}

struct viewer_samples *viewer_samples_create(size_t bytes)
{
    struct viewer_samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        return NULL;
    samples->slot_count = power_of_two_below(bytes / 2 / sizeof *samples->slots);
    samples->ring_count = bytes / 2 / sizeof *samples->ring + 1;
    samples->slots = calloc(samples->slot_count, sizeof *samples->slots);
    samples->ring = calloc(samples->ring_count, sizeof *samples->ring);
    if (!samples->slots || !samples->ring) {
        viewer_samples_destroy(samples);
        return NULL;
    }
    return samples;
}

void viewer_samples_destroy(struct viewer_samples *samples)
{
    if (!samples)
        return;
    free(samples->slots);
    free(samples->ring);
    free(samples);
}

static uint64_t key_of(uint32_t cta, uint32_t warp)
{
    return (uint64_t)cta << 32 | warp;
}

/* The warp's slot, or the free one where it belongs; NULL when all are taken. */
static struct slot *find(const struct viewer_samples *samples, uint64_t grid_id, uint64_t key)
{
    size_t at = (size_t)((grid_id * 31 + key) * 0x9e3779b97f4a7c15u >> 20);
    for (size_t i = 0; i < samples->slot_count; i++, at++) {
        struct slot *slot = &samples->slots[at & (samples->slot_count - 1)];
        if (!slot->used || (slot->grid_id == grid_id && slot->key == key))
            return slot;
    }
    return NULL;
}

/* Forgets the warps that the newest sample did not have: their grids have ended. */
static void drop_gone(struct viewer_samples *samples)
{
    struct slot *old = samples->slots;
    struct slot *fresh = calloc(samples->slot_count, sizeof *fresh);
    if (!fresh)
        return;
    samples->slots = fresh;
    samples->slots_used = 0;
    for (size_t i = 0; i < samples->slot_count; i++)
        if (old[i].used && old[i].seen_ns >= samples->last_ns) {
            *find(samples, old[i].grid_id, old[i].key) = old[i];
            samples->slots_used++;
        }
    free(old);
}

static struct slot *find_or_add(struct viewer_samples *samples, uint64_t grid_id, uint64_t key)
{
    struct slot *slot = find(samples, grid_id, key);
    if (slot && slot->used)
        return slot;
    if (samples->slots_used * 4 >= samples->slot_count * 3)
        return NULL;
    *slot = (struct slot){.grid_id = grid_id, .key = key, .before = NONE, .used = true};
    samples->slots_used++;
    return slot;
}

static void add_change(struct viewer_samples *samples, struct slot *slot, enum wsdbg_warp_state state, uint64_t now_ns)
{
    if (slot->seen_ns) {
        samples->ring[samples->next % samples->ring_count] = (struct change){slot->since_ns, slot->before, slot->state};
        slot->before = samples->next++;
    }
    slot->state = state;
    slot->since_ns = now_ns;
}

uint32_t viewer_samples_cta(const struct wsdbg_snapshot *snapshot, uint32_t cta)
{
    const struct wsdbg_cta *c = &snapshot->ctas[cta];
    const uint32_t launch = snapshot->grids[c->grid].launch;
    if (launch >= snapshot->launch_count)
        return c->x + (c->y << 12) + (c->z << 22);
    const uint32_t *grid = snapshot->launches[launch].grid;
    return c->x + grid[0] * (c->y + grid[1] * c->z);
}

void viewer_samples_add(struct viewer_samples *samples, const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    if (now_ns <= samples->last_ns)
        return;
    if (samples->slots_used * 4 >= samples->slot_count * 3)
        drop_gone(samples);
    for (size_t i = 0; i < snapshot->warp_count; i++) {
        const struct wsdbg_warp_row *warp = &snapshot->warps[i];
        const uint64_t grid_id = snapshot->grids[snapshot->ctas[warp->cta].grid].grid_id;
        struct slot *slot = find_or_add(samples, grid_id, key_of(viewer_samples_cta(snapshot, warp->cta), warp->warp));
        if (!slot)
            continue;
        if (!slot->seen_ns || slot->state != warp->state)
            add_change(samples, slot, warp->state, now_ns);
        slot->seen_ns = now_ns;
    }
    samples->last_ns = now_ns;
    if (!samples->first_ns)
        samples->first_ns = now_ns;
}

bool viewer_samples_span(const struct viewer_samples *samples, uint64_t *first_ns, uint64_t *last_ns)
{
    *first_ns = samples->first_ns;
    *last_ns = samples->last_ns;
    return samples->first_ns != 0;
}

enum wsdbg_warp_state viewer_samples_state(const struct viewer_samples *samples, uint64_t grid_id, uint32_t cta,
                                           uint32_t warp, uint64_t time_ns)
{
    const struct slot *slot = find(samples, grid_id, key_of(cta, warp));
    if (!slot || !slot->used || time_ns > slot->seen_ns)
        return WSDBG_WARP_UNKNOWN;
    if (time_ns >= slot->since_ns)
        return slot->state;
    for (uint64_t number = slot->before; number != NONE && samples->next - number <= samples->ring_count;) {
        const struct change *change = &samples->ring[number % samples->ring_count];
        if (time_ns >= change->since_ns)
            return change->state;
        number = change->before;
    }
    return WSDBG_WARP_UNKNOWN;
}
