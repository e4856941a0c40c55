/* look_compare.c - what moved between two looks: warps that stand elsewhere or wait for something else, barriers with
 * another word.  A warp that stands where the code shows no wait, or one that the hardware ends, may have come round a
 * loop: it is known to stand only where its registers are the same too (look_standing.c).
 *
 * Reads: two looks of one process.  Writes: the later one's row; states of warps in a snapshot.
 */
#include <stdlib.h>

#include "machine/look_compare.h"

/* Grids by context and id, CTAs by place: found again in the other look by what they are, not by their rows. */
static bool same_grid(const struct wsdbg_snapshot *a, const struct wsdbg_grid *x, const struct wsdbg_snapshot *b,
                      const struct wsdbg_grid *y)
{
    return x->grid_id == y->grid_id && a->contexts[x->context].handle == b->contexts[y->context].handle;
}

static const struct wsdbg_grid *find_grid(const struct wsdbg_snapshot *in, const struct wsdbg_snapshot *of,
                                          const struct wsdbg_grid *grid)
{
    for (size_t i = 0; i < in->grid_count; i++)
        if (same_grid(of, grid, in, &in->grids[i]))
            return &in->grids[i];
    return NULL;
}

static int compare_places(const struct wsdbg_cta *a, const struct wsdbg_cta *b)
{
    if (a->z != b->z)
        return a->z < b->z ? -1 : 1;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

static const struct wsdbg_cta *find_cta(const struct wsdbg_snapshot *in, const struct wsdbg_grid *grid,
                                        const struct wsdbg_cta *cta)
{
    uint32_t low = grid->cta_first, high = grid->cta_first + grid->cta_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = compare_places(&in->ctas[middle], cta);
        if (order == 0)
            return &in->ctas[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The same warp in the look before; WSDBG_NONE = it was not there. */
static uint32_t warp_before(const struct wsdbg_look *before, const struct wsdbg_look *now, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &now->found.warps[warp];
    const struct wsdbg_cta *cta = &now->found.ctas[row->cta];
    const struct wsdbg_grid *grid = find_grid(&before->found, &now->found, &now->found.grids[cta->grid]);
    const struct wsdbg_cta *was = grid ? find_cta(&before->found, grid, cta) : NULL;
    return was && row->warp < was->warp_count ? was->warp_first + row->warp : WSDBG_NONE;
}

enum registers { REGISTERS_NOT_READ, REGISTERS_SAME, REGISTERS_DIFFER };

/* Of the sample that stands for the warp: the same one in both looks. */
static enum registers compare_registers(const struct wsdbg_look *before, uint32_t was, const struct wsdbg_look *now,
                                        uint32_t warp)
{
    const uint32_t sample = now->warps[warp].sample;
    if (sample == WSDBG_NONE)
        return REGISTERS_NOT_READ;
    const uint32_t sample_was = sample == warp ? was : warp_before(before, now, sample);
    if (sample_was == WSDBG_NONE || before->warps[was].sample != sample_was ||
        !before->warps[sample_was].registers_known || !now->warps[sample].registers_known)
        return REGISTERS_NOT_READ;
    return before->warps[sample_was].registers == now->warps[sample].registers ? REGISTERS_SAME : REGISTERS_DIFFER;
}

static bool may_be_at(const struct wsdbg_look_standing *standing, uint64_t places)
{
    bool may_be = standing->places == places;
    for (uint32_t i = 0; i < standing->may_be_count && !may_be; i++)
        may_be = standing->may_be[i] == places;
    return may_be;
}

/* Whether a warp stands elsewhere than before.  Who called the function in which it stands may not be known of one of
 * the looks: the time to read return addresses is short.  If that may be the loop in which the warp was seen in the
 * other one, it is not known to have moved. */
static bool stands_elsewhere(const struct wsdbg_look_standing *then, const struct wsdbg_look_standing *is)
{
    if (!then->is_copy_open && !is->is_copy_open)
        return then->stands != is->stands;
    return !may_be_at(then, is->places) && !may_be_at(is, then->places);
}

/* An operand that is not known in a wait that the code names still leaves the wait; one whose phase is over is about to
 * go on, and may have come back. */
static struct wsdbg_look_motion motion_of(const struct wsdbg_look *before, uint32_t was, const struct wsdbg_look *now,
                                          uint32_t warp)
{
    if (was == WSDBG_NONE)
        return (struct wsdbg_look_motion){.moved = true};
    const struct wsdbg_look_standing *then = &before->warps[was], *is = &now->warps[warp];
    const enum wsdbg_warp_state state = now->found.warps[warp].state;
    if (stands_elsewhere(then, is) || (then->wants_known && is->wants_known && then->wants != is->wants))
        return (struct wsdbg_look_motion){.moved = true};
    if (is->explained)
        return (struct wsdbg_look_motion){.stands = state != WSDBG_WARP_RUNNING ? wsdbg_mix(1, is->stands) | 1 : 0};
    const enum registers registers = compare_registers(before, was, now, warp);
    /* Another warp's registers tell that this one may have moved, no more. */
    return (struct wsdbg_look_motion){
        .moved = registers == REGISTERS_DIFFER && is->sample == warp,
        .stands = registers == REGISTERS_SAME ? wsdbg_mix(now->warps[is->sample].registers, is->stands) | 1 : 0};
}

static size_t first_barrier(const struct wsdbg_snapshot *in, uint32_t cta)
{
    size_t low = 0, high = in->barrier_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (in->barriers[middle].cta < cta)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Mbarriers of a CTA whose word is known in both looks and differs. */
static uint32_t changed_words(const struct wsdbg_snapshot *before, uint32_t cta_before,
                              const struct wsdbg_snapshot *now, uint32_t cta_now)
{
    uint32_t changed = 0;
    const size_t first = first_barrier(before, cta_before);
    for (size_t i = first_barrier(now, cta_now); i < now->barrier_count && now->barriers[i].cta == cta_now; i++) {
        const struct wsdbg_barrier *is = &now->barriers[i];
        for (size_t k = first; is->word.known && k < before->barrier_count && before->barriers[k].cta == cta_before;
             k++)
            changed += before->barriers[k].word.known &&
                       before->barriers[k].shared_offset.value == is->shared_offset.value &&
                       before->barriers[k].word.value != is->word.value;
    }
    return changed;
}

/* Warps of grids and CTAs that are gone went on too. */
static uint32_t count_gone(const struct wsdbg_look *before, const struct wsdbg_look *now)
{
    uint32_t gone = 0;
    for (size_t i = 0; i < before->found.cta_count; i++) {
        const struct wsdbg_cta *cta = &before->found.ctas[i];
        const struct wsdbg_grid *grid = find_grid(&now->found, &before->found, &before->found.grids[cta->grid]);
        if (!grid || !find_cta(&now->found, grid, cta))
            gone += cta->warp_count;
    }
    return gone;
}

void wsdbg_look_compare(const struct wsdbg_look *before, struct wsdbg_look *now, struct wsdbg_look_motion *motion)
{
    const struct wsdbg_snapshot *found = &now->found;
    uint32_t count = count_gone(before, now), changed = 0;
    for (size_t i = 0; i < found->cta_count; i++) {
        const struct wsdbg_cta *cta = &found->ctas[i];
        const struct wsdbg_grid *grid = find_grid(&before->found, found, &found->grids[cta->grid]);
        const struct wsdbg_cta *was = grid ? find_cta(&before->found, grid, cta) : NULL;
        for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count; w++) {
            const uint32_t index = found->warps[w].warp;
            const struct wsdbg_look_motion seen =
                motion_of(before, was && index < was->warp_count ? was->warp_first + index : WSDBG_NONE, now, w);
            count += seen.moved;
            if (motion)
                motion[w] = seen;
        }
        if (was)
            changed += changed_words(&before->found, (uint32_t)(was - before->found.ctas), found, (uint32_t)i);
    }
    now->row.moved = count;
    now->row.barriers_changed = wsdbg_known_u32(changed);
}

/* ---- in the snapshot ---- */

/* A warp that stands elsewhere than at the look before waits for nothing that lasts. */
static void show_moved(struct wsdbg_snapshot *to, struct wsdbg_warp_row *warp)
{
    if (warp->barrier != WSDBG_NONE)
        to->barriers[warp->barrier].waiters--;
    warp->state = WSDBG_WARP_RUNNING;
    warp->barrier = WSDBG_NONE;
    warp->parity = warp->registers_asked = (struct wsdbg_optional_u32){0};
}

static void call_unknown(struct wsdbg_snapshot *in, struct wsdbg_warp_row *warp)
{
    if (warp->state == WSDBG_WARP_RUNNING)
        warp->state = WSDBG_WARP_UNKNOWN;
    for (uint32_t i = warp->part_first; i < warp->part_first + warp->part_count; i++)
        if (in->parts[i].state == WSDBG_WARP_RUNNING)
            in->parts[i].state = WSDBG_WARP_UNKNOWN;
}

/* The same warp of the look before, whose state alone would not tell the two apart. */
static struct wsdbg_warp_row *row_before(const struct wsdbg_snapshot *to, const struct wsdbg_warp_row *warp)
{
    const uint32_t grid = wsdbg_snapshot_same_grid(to, to->ctas[warp->cta].grid, to->before);
    const uint32_t cta = grid == WSDBG_NONE ? grid : wsdbg_snapshot_same_cta(to, warp->cta, to->before, grid);
    if (cta == WSDBG_NONE || warp->warp >= to->before->ctas[cta].warp_count)
        return NULL;
    return &to->before->warps[to->before->ctas[cta].warp_first + warp->warp];
}

/* A warp that is where it was, and in no wait that lasts, cannot be said to run. */
static void show_unmoved(struct wsdbg_snapshot *to, struct wsdbg_warp_row *warp)
{
    struct wsdbg_warp_row *before = to->before ? row_before(to, warp) : NULL;
    warp->unmoved = warp->state == WSDBG_WARP_RUNNING;
    call_unknown(to, warp);
    if (before)
        call_unknown(to->before, before);
}

void wsdbg_look_show_motion(struct wsdbg_snapshot *to, size_t first_warp, size_t count,
                            const struct wsdbg_look_motion *motion)
{
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_warp_row *warp = &to->warps[first_warp + i];
        warp->stands = motion[i].stands;
        if (motion[i].moved && warp->state != WSDBG_WARP_EXITED)
            show_moved(to, warp);
        else if (warp->state == WSDBG_WARP_RUNNING || warp->state == WSDBG_WARP_UNKNOWN)
            show_unmoved(to, warp);
    }
}
