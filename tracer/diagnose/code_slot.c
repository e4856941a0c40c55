/* code_slot.c - the slot of a ring that a warp waits to fill.  See code_slot.h.
 *
 * Reads: barrier words, reaches, the wait graph.
 */
#include "diagnose/code_slot.h"

#include "diagnose/wait_graph.h"

/* Whether all who release the slot wait on this barrier, each on that of its own CTA. */
static bool all_wait_on(const struct wsdbg_case *c, const struct wsdbg_warp_set *releasers,
                        const struct wsdbg_barrier *barrier)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (!wsdbg_set_has(releasers, w))
            continue;
        if (row->state != WSDBG_WARP_WAIT_MBARRIER || row->barrier >= c->snapshot->barrier_count)
            return false;
        const struct wsdbg_barrier *waited = &c->snapshot->barriers[row->barrier];
        if (waited->id != barrier->id || waited->stage != barrier->stage || waited->cta != row->cta)
            return false;
    }
    return wsdbg_set_count(releasers) > 0;
}

/* The other barrier of the slot: it has the same stage, and the warp can reach an instruction that fills it.  If
 * several barriers fit, it is the one that all releasers of the slot wait on. */
static bool find_full(const struct wsdbg_case *c, struct wsdbg_code_slot *slot)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[slot->empty.barrier];
    uint32_t found = 0;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        struct wsdbg_barrier_word word;
        if (row->cta != mine->cta || row->kind != WSDBG_BARRIER_MBARRIER || row->id == mine->id ||
            row->stage != mine->stage || !wsdbg_word_of(c, b, &word) ||
            wsdbg_code_can(c, slot->filler, WSDBG_KINDS_EXPECT | WSDBG_KINDS_BYTES, b, NULL) != WSDBG_CAN)
            continue;
        slot->full = word;
        slot->waited = all_wait_on(c, &slot->releasers, row);
        if (slot->waited)
            return true;
        found++;
    }
    return found == 1;
}

bool wsdbg_code_slot_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_code_slot *slot)
{
    *slot = (struct wsdbg_code_slot){.filler = warp, .handed_known = true};
    if (!wsdbg_case_stuck(c, warp) || !wsdbg_code_wait(c, warp, &slot->empty))
        return false;
    slot->releasers = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, slot->empty.barrier, WSDBG_CAN);
    wsdbg_set_remove(&slot->releasers, warp);
    if (!find_full(c, slot))
        return false;
    bool first = true;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&slot->releasers, w))
            continue;
        const uint32_t handed = wsdbg_code_behind(c, w, WSDBG_KINDS_ARRIVAL, slot->empty.barrier, NULL);
        const bool of_rounds =
            handed > 0 && wsdbg_code_behind(c, w, WSDBG_KIND(WSDBG_ACCESS_WAIT), slot->full.barrier, NULL);
        slot->handed_known = slot->handed_known && !of_rounds && (first || handed == slot->handed);
        slot->handed = handed;
        first = false;
    }
    return true;
}

bool wsdbg_code_slot_balance(const struct wsdbg_code_slot *slot, struct wsdbg_code_balance *out)
{
    const uint64_t each = slot->empty.expected;
    if (!slot->waited || !slot->handed_known || !slot->full.untouched || each == 0 || slot->empty.pending > each)
        return false;
    const uint64_t owed = ((slot->full.phase + slot->handed) & 1) * each;
    const uint64_t made = slot->empty.phase * each + each - slot->empty.pending;
    out->missing = (uint32_t)((owed + 2 * each - made) % (2 * each));
    out->surplus = out->missing ? (uint32_t)(2 * each) - out->missing : 0;
    return true;
}
