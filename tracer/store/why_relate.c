/* why_relate.c - which finding concerns an object, and in how many CTAs the same is to be seen.
 *
 * Reads a loaded session.  A finding names one CTA as an example for all that say the same; an object of another one is
 * compared with what stands in its place there.
 */
#include "store/why_internal.h"

#include <string.h>

/* Time and turns differ between CTAs that stand at the same. */
#define SAME_LEVEL 1

static bool same_keys(const struct wsdbg_fold_row *a, const struct wsdbg_fold_row *b, uint32_t ignored)
{
    for (int i = 0; i < WSDBG_FOLD_KEYS; i++)
        if (!(ignored >> i & 1) && a->key[i] != b->key[i])
            return false;
    return true;
}

static bool same_warp(const struct wsdbg_snapshot *s, uint32_t a, uint32_t b)
{
    struct wsdbg_fold_row left, right;
    wsdbg_fold_warp(s, a, &left);
    wsdbg_fold_warp(s, b, &right);
    /* The word polled, the place of a barrier's row: of the CTA, not of its state. */
    return same_keys(&left, &right, wsdbg_fold_warp_levels[SAME_LEVEL] | WSDBG_FOLD_BIT(WSDBG_WARP_KEY_ADDRESS));
}

static bool same_barrier(const struct wsdbg_snapshot *s, uint32_t a, uint32_t b)
{
    struct wsdbg_fold_row left, right;
    wsdbg_fold_barrier(s, a, &left);
    wsdbg_fold_barrier(s, b, &right);
    return same_keys(&left, &right, wsdbg_fold_barrier_levels[SAME_LEVEL]);
}

/* The warp of that number in another CTA; WSDBG_NONE = not seen there. */
static uint32_t warp_in(const struct wsdbg_snapshot *s, uint32_t cta, uint32_t number)
{
    const struct wsdbg_cta *row = &s->ctas[cta];
    for (uint32_t i = row->warp_first; i - row->warp_first < row->warp_count && i < s->warp_count; i++)
        if (s->warps[i].warp == number)
            return i;
    return WSDBG_NONE;
}

static bool is_counterpart(const struct wsdbg_barrier *a, const struct wsdbg_barrier *b)
{
    return a->kind == b->kind && a->id == b->id && a->stage == b->stage;
}

static void count_warps(const struct wsdbg_snapshot *s, struct wsdbg_why_answer *answer, uint32_t cta)
{
    bool same = true;
    for (size_t i = 0; i < answer->group.warp_count; i++) {
        const uint32_t own = answer->group.warps[i];
        const uint32_t other = warp_in(s, cta, s->warps[own].warp);
        if (s->warps[own].cta != answer->cta)
            continue;
        if (other == WSDBG_NONE)
            return;
        same = same && same_warp(s, own, other);
    }
    answer->same_ctas += same;
    answer->other_ctas += !same;
}

static void count_ctas(const struct wsdbg_snapshot *s, struct wsdbg_why_answer *answer)
{
    const uint32_t grid = s->ctas[answer->cta].grid;
    for (uint32_t i = 0; i < s->cta_count && answer->barrier == WSDBG_NONE; i++)
        if (i != answer->cta && s->ctas[i].grid == grid)
            count_warps(s, answer, i);
    for (uint32_t i = 0; i < s->barrier_count && answer->barrier != WSDBG_NONE; i++) {
        const struct wsdbg_barrier *b = &s->barriers[i];
        if (b->cta == answer->cta || b->cta >= s->cta_count || s->ctas[b->cta].grid != grid ||
            !is_counterpart(b, &s->barriers[answer->barrier]))
            continue;
        const bool same = same_barrier(s, i, answer->barrier);
        answer->same_ctas += same;
        answer->other_ctas += !same;
    }
}

static bool of_one_cluster(const struct wsdbg_snapshot *s, uint32_t a, uint32_t b)
{
    const struct wsdbg_cta *left = &s->ctas[a], *right = &s->ctas[b];
    return a == b || (left->grid == right->grid && left->cluster_size > 1 && left->cluster_id == right->cluster_id);
}

/* Where a CTA's place is taken by one of the finding's example: the CTA of the same rank there; WSDBG_NONE = none. */
static uint32_t place_in_example(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, uint32_t cta)
{
    if (f->cta >= s->cta_count || s->ctas[f->cta].grid != s->ctas[cta].grid)
        return WSDBG_NONE;
    if (of_one_cluster(s, f->cta, cta))
        return cta;
    if (f->cta_count < 2)
        return WSDBG_NONE;
    for (uint32_t i = 0; i < s->cta_count; i++)
        if (of_one_cluster(s, f->cta, i) && s->ctas[i].cluster_rank == s->ctas[cta].cluster_rank)
            return i;
    return WSDBG_NONE;
}

/* The example's warp that stands for this one; WSDBG_NONE where it does something else. */
static uint32_t example_warp(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, uint32_t warp)
{
    const uint32_t cta = place_in_example(s, f, s->warps[warp].cta);
    const uint32_t other = cta == WSDBG_NONE ? WSDBG_NONE : warp_in(s, cta, s->warps[warp].warp);
    return other != WSDBG_NONE && (other == warp || same_warp(s, other, warp)) ? other : WSDBG_NONE;
}

static uint32_t example_barrier(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, uint32_t barrier)
{
    const uint32_t cta = place_in_example(s, f, s->barriers[barrier].cta);
    for (uint32_t i = 0; i < s->barrier_count && cta != WSDBG_NONE; i++)
        if (s->barriers[i].cta == cta && is_counterpart(&s->barriers[i], &s->barriers[barrier]))
            return i == barrier || same_barrier(s, i, barrier) ? i : WSDBG_NONE;
    return WSDBG_NONE;
}

/* Whether the finding is about the warp itself: it is evidence, or waits on the finding's barrier. */
static bool speaks_of_warp(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, uint32_t warp)
{
    const bool waits = wsdbg_warp_state_waits(s->warps[warp].state);
    if (waits && f->barrier != WSDBG_NONE && s->warps[warp].barrier == f->barrier)
        return true;
    for (size_t i = 0; i < f->evidence_count; i++)
        if (f->evidence[i].warp == warp)
            return true;
    return false;
}

static bool speaks_of_barrier(const struct wsdbg_finding *f, uint32_t barrier)
{
    if (f->barrier == barrier)
        return true;
    for (size_t i = 0; i < f->evidence_count; i++)
        if (f->evidence[i].barrier == barrier)
            return true;
    return false;
}

static bool leads_to(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, const struct wsdbg_why_hops *hops)
{
    for (uint32_t i = 0; i < s->warp_count; i++) {
        if (!hops->reached[i])
            continue;
        const uint32_t image = example_warp(s, f, i);
        if (image != WSDBG_NONE && speaks_of_warp(s, f, image))
            return true;
    }
    return false;
}

static enum wsdbg_why_relation relation_of(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f,
                                           const struct wsdbg_why_answer *answer)
{
    const bool of_barrier = answer->barrier != WSDBG_NONE;
    const uint32_t image =
        of_barrier ? example_barrier(s, f, answer->barrier) : example_warp(s, f, answer->group.warps[0]);
    if (image == WSDBG_NONE)
        return WSDBG_WHY_UNRELATED;
    if (of_barrier ? speaks_of_barrier(f, image) : speaks_of_warp(s, f, image))
        return WSDBG_WHY_CONCERNS;
    return leads_to(s, f, &answer->hops) ? WSDBG_WHY_LEADS : WSDBG_WHY_NEAR;
}

void wsdbg_why_relate(const struct wsdbg_loaded *loaded, struct wsdbg_why_answer *answer)
{
    const struct wsdbg_diagnosis *d = &loaded->diagnosis;
    count_ctas(&loaded->snapshot, answer);
    for (size_t i = 0; i < d->finding_count; i++) {
        const enum wsdbg_why_relation relation = relation_of(&loaded->snapshot, &d->findings[i], answer);
        if (relation <= answer->relation)
            continue;
        answer->relation = relation;
        answer->finding = (uint32_t)i;
    }
}
