/* snapshot_warps.c - CTAs and warps of the grids that run, with their histories and registers.
 *
 * Reads: slot entries, history mirrors, function rows.  Writes: snapshot.ctas (by grid, z, y, x), snapshot.warps
 * (by CTA, warp) and snapshot.history.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/builder.h"
#include "base/grow.h"
#include "evidence/history.h"
#include "evidence/slot_reader.h"

static int order_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_ctas(const struct wsdbg_slot_entry *a, const struct wsdbg_slot_entry *b)
{
    const struct wsdbg_slot *x = &a->tracked->slot, *y = &b->tracked->slot;
    int order = order_u32(a->grid, b->grid);
    if (order == 0)
        order = order_u32(x->cta_z, y->cta_z);
    if (order == 0)
        order = order_u32(x->cta_y, y->cta_y);
    return order ? order : order_u32(x->cta_x, y->cta_x);
}

/* The newest of two slots that claim to be the same warp comes first. */
static int compare_entries(const void *left, const void *right)
{
    const struct wsdbg_slot_entry *a = left, *b = right;
    int order = compare_ctas(a, b);
    if (order == 0)
        order = order_u32(wsdbg_slot_warp(&a->tracked->slot), wsdbg_slot_warp(&b->tracked->slot));
    if (order == 0)
        order =
            (a->tracked->gpu_time_ns < b->tracked->gpu_time_ns) - (a->tracked->gpu_time_ns > b->tracked->gpu_time_ns);
    return order ? order : order_u32(a->slot, b->slot);
}

static void keep_listed_entries(struct wsdbg_builder *builder)
{
    size_t kept = 0;
    for (size_t i = 0; i < builder->entry_count; i++)
        if (builder->grids[builder->entries[i].grid].listed)
            builder->entries[kept++] = builder->entries[i];
    builder->entry_count = kept;
    /* Slots come in the order of SMs, which for a persistent grid is often that of its CTAs already. */
    for (size_t i = 1; i < kept; i++)
        if (compare_entries(&builder->entries[i - 1], &builder->entries[i]) > 0) {
            qsort(builder->entries, kept, sizeof *builder->entries, compare_entries);
            return;
        }
}

static const struct wsdbg_tracked_context *context_of(const struct wsdbg_builder *builder, uint32_t grid)
{
    const uint32_t process = builder->grids[grid].process;
    const uint32_t context = builder->out->grids[grid].context - builder->bases[process].context;
    return &builder->request->processes[process]->contexts[context];
}

static bool has_site(uint8_t kind)
{
    switch (kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_MBARRIER_WAIT_END:
    case WSDBG_EVENT_MBARRIER_ARRIVE:
    case WSDBG_EVENT_CLUSTER_ARRIVE:
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
    case WSDBG_EVENT_CLUSTER_WAIT_END:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END:
    case WSDBG_EVENT_POLL_BEGIN:
    case WSDBG_EVENT_POLL_END:
        return true;
    default:
        return false;
    }
}

static void read_site(struct wsdbg_warp_row *warp)
{
    if (!has_site(warp->last.kind))
        return;
    if (WSDBG_SITE_LINE(warp->last.value))
        warp->line = wsdbg_known_u32(WSDBG_SITE_LINE(warp->last.value));
    if (WSDBG_SITE_LANES(warp->last.value))
        warp->lanes = wsdbg_known_u32(WSDBG_SITE_LANES(warp->last.value));
}

/* What the warp holds: its last grant or release; what the launch gave if it cannot have had one. */
static struct wsdbg_optional_u32 registers_held(const struct wsdbg_history_walk *walk,
                                                struct wsdbg_optional_u32 at_launch)
{
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->events[i].kind == WSDBG_EVENT_REGISTERS_GRANTED ||
            walk->events[i].kind == WSDBG_EVENT_REGISTERS_RELEASE)
            return wsdbg_known_u32(walk->events[i].value);
    const bool nothing_before = walk->count == 0 || walk->whole;
    return nothing_before ? at_launch : (struct wsdbg_optional_u32){0};
}

static struct wsdbg_error *add_history(struct wsdbg_builder *builder, const struct wsdbg_history_walk *walk,
                                       struct wsdbg_warp_row *warp)
{
    struct wsdbg_snapshot *out = builder->out;
    if (!wsdbg_grow((void **)&out->history, &builder->capacity.history, out->history_count + walk->count,
                    sizeof *out->history))
        return &wsdbg_error_no_memory;
    warp->history_first = (uint32_t)out->history_count;
    warp->history_count = walk->count;
    warp->history_whole = walk->whole;
    for (uint32_t i = walk->count; i-- > 0;)
        out->history[out->history_count++] = walk->events[i];
    out->torn_events += walk->torn;
    return NULL;
}

/* A slot alone shows that a wait began, not that it still goes on, unless its end is a milestone too.  A look
 * that asked for the histories is to be judged: there such a wait is not known. */
static enum wsdbg_warp_state state_of(const struct wsdbg_builder *builder, const struct wsdbg_tracked_context *context,
                                      const struct wsdbg_history_walk *walk)
{
    const enum wsdbg_warp_state state = wsdbg_event_state(walk->last.kind);
    /* Torn at its newest end, a history says no more than the slot. */
    const bool nothing_newer = !context->mirror || (walk->torn && walk->count <= 1);
    const bool lost = builder->request->histories && context->row.history_depth && nothing_newer;
    return lost && wsdbg_warp_state_waits(state) && state != WSDBG_WARP_WAIT_REGISTERS ? WSDBG_WARP_UNKNOWN : state;
}

static struct wsdbg_error *add_warp(struct wsdbg_builder *builder, const struct wsdbg_slot_entry *entry)
{
    const struct wsdbg_tracked_slot *tracked = entry->tracked;
    const struct wsdbg_tracked_context *context = context_of(builder, entry->grid);
    const struct wsdbg_grid *grid = &builder->out->grids[entry->grid];
    struct wsdbg_history_source source = wsdbg_tracked_history(context, entry->slot, builder->request->now_ns);
    struct wsdbg_history_walk walk;
    if (!builder->request->histories)
        source.mirror = NULL;
    wsdbg_history_walk_back(&source, &walk);

    struct wsdbg_warp_row *warp = &builder->out->warps[builder->out->warp_count++];
    *warp = (struct wsdbg_warp_row){
        .cta = (uint32_t)builder->out->cta_count - 1,
        .warp = wsdbg_slot_warp(&tracked->slot),
        .state = state_of(builder, context, &walk),
        .role = {.value = tracked->slot.role ? tracked->slot.role - 1 : 0, .known = tracked->slot.role != 0},
        .last = walk.count ? walk.events[0] : wsdbg_history_decode(&walk.last, tracked->gpu_time_ns),
        .barrier = WSDBG_NONE,
        .site = WSDBG_NONE,
        .changed_ns = tracked->changed_ns,
    };
    read_site(warp);
    const bool function_known = grid->function != WSDBG_NONE;
    warp->registers_held = registers_held(&walk, function_known ? builder->out->functions[grid->function].registers
                                                                : (struct wsdbg_optional_u32){0});
    if (warp->state == WSDBG_WARP_WAIT_REGISTERS)
        warp->registers_asked = wsdbg_known_u32(warp->last.value);
    return source.mirror ? add_history(builder, &walk, warp) : NULL;
}

static void add_cta(struct wsdbg_builder *builder, const struct wsdbg_slot_entry *entry)
{
    struct wsdbg_snapshot *out = builder->out;
    const struct wsdbg_slot *slot = &entry->tracked->slot;
    struct wsdbg_grid *grid = &out->grids[entry->grid];
    if (grid->cta_count++ == 0)
        grid->cta_first = (uint32_t)out->cta_count;
    out->ctas[out->cta_count++] = (struct wsdbg_cta){
        .grid = entry->grid,
        .x = slot->cta_x,
        .y = slot->cta_y,
        .z = slot->cta_z,
        .cluster_id = slot->cluster_id,
        .cluster_rank = wsdbg_slot_cluster_rank(slot),
        .cluster_size = wsdbg_slot_cluster_size(slot),
        .sm = wsdbg_known_u32(slot->placement & 0xffffu),
        .warp_first = (uint32_t)out->warp_count,
    };
}

struct wsdbg_error *wsdbg_build_warps(struct wsdbg_builder *builder)
{
    struct wsdbg_snapshot *out = builder->out;
    keep_listed_entries(builder);
    out->ctas = malloc((builder->entry_count + 1) * sizeof *out->ctas);
    out->warps = malloc((builder->entry_count + 1) * sizeof *out->warps);
    if (!out->ctas || !out->warps)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < builder->entry_count; i++) {
        const struct wsdbg_slot_entry *entry = &builder->entries[i], *before = i ? entry - 1 : NULL;
        const bool same_cta = before && compare_ctas(before, entry) == 0;
        if (same_cta && wsdbg_slot_warp(&before->tracked->slot) == wsdbg_slot_warp(&entry->tracked->slot)) {
            out->foreign_slots++;
            continue;
        }
        if (!same_cta)
            add_cta(builder, entry);
        struct wsdbg_error *error = add_warp(builder, entry);
        if (error)
            return error;
        out->ctas[out->cta_count - 1].warp_count++;
    }
    return NULL;
}
