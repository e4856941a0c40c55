/* why.c - see why.h: loads the session, finds the object, and puts together what there is to say of it.
 *
 * Reads a session database; of the histories only those of the object's cluster.
 */
#include "store/why_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wsdbg_report_barriers wsdbg_why_barrier_words(const struct wsdbg_snapshot *s, uint32_t barrier)
{
    struct wsdbg_fold_row row;
    struct wsdbg_report_barriers words;
    wsdbg_fold_barrier(s, barrier, &row);
    const struct wsdbg_fold_group group = wsdbg_fold_single(&row);
    wsdbg_fold_barriers_row(s, &group, &words);
    return words;
}

/* Gives the snapshot the stored histories of these CTAs. */
static struct wsdbg_error *load_histories(struct wsdbg_store *store, struct wsdbg_loaded *loaded, const uint32_t *ctas,
                                          uint32_t cta_count)
{
    struct wsdbg_snapshot *s = &loaded->snapshot;
    struct wsdbg_error *error = NULL;
    size_t events = 0;
    for (uint32_t c = 0; c < cta_count; c++)
        for (uint32_t i = 0; i < s->ctas[ctas[c]].warp_count; i++)
            events += loaded->events[s->ctas[ctas[c]].warp_first + i].count;
    free(s->history);
    s->history_count = 0;
    s->history = calloc(events + 1, sizeof *s->history);
    if (!s->history || events >= UINT32_MAX)
        return &wsdbg_error_no_memory;
    for (uint32_t c = 0; c < cta_count; c++) {
        for (uint32_t i = 0; i < s->ctas[ctas[c]].warp_count && !error; i++) {
            const uint32_t warp = s->ctas[ctas[c]].warp_first + i;
            uint32_t got = 0;
            error = wsdbg_store_events(store, loaded, warp, 0, loaded->events[warp].count,
                                       s->history + s->history_count, &got);
            s->warps[warp].history_first = (uint32_t)s->history_count;
            s->warps[warp].history_count = got;
            s->history_count += got;
        }
    }
    return error;
}

static void drop_histories(struct wsdbg_snapshot *s)
{
    for (size_t i = 0; i < s->warp_count; i++)
        s->warps[i].history_first = s->warps[i].history_count = 0;
}

/* A warp of which only some threads arrived is a part of its own. */
static bool is_torn(const struct wsdbg_account_row *row)
{
    return row->threads > 0;
}

/* Warps with these shares, as groups of the answer's parts; `torn`: NULL, or the one warp of which some threads came.
 */
static struct wsdbg_error *add_parts(const struct wsdbg_snapshot *s, unsigned shares,
                                     const struct wsdbg_account_row *torn, struct wsdbg_why_answer *answer)
{
    const struct wsdbg_account *account = &answer->account;
    uint32_t *warps = malloc((account->row_count + 1) * sizeof *warps);
    size_t warp_count = 0, group_count = 0;
    struct wsdbg_why_group *groups = NULL;
    struct wsdbg_history_event deed = {0};
    if (!warps)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < account->row_count; i++) {
        const struct wsdbg_account_row *row = &account->rows[i];
        if (row->shares != shares || (torn ? row != torn : is_torn(row)))
            continue;
        const bool differs = row->last_deed.kind != deed.kind || row->last_deed.iteration != deed.iteration;
        if (warp_count == 0)
            deed = row->last_deed;
        else if (differs)
            deed = (struct wsdbg_history_event){0};
        warps[warp_count++] = row->warp;
    }
    struct wsdbg_error *error = wsdbg_why_groups(s, warps, warp_count, &groups, &group_count);
    free(warps);
    struct wsdbg_why_part *grown =
        error ? NULL : realloc(answer->parts, (answer->part_count + group_count + 1) * sizeof *grown);
    if (!error && !grown)
        error = &wsdbg_error_no_memory;
    if (grown)
        answer->parts = grown;
    for (size_t i = 0; i < group_count && !error; i++) {
        answer->parts[answer->part_count++] = (struct wsdbg_why_part){.group = groups[i],
                                                                      .shares = shares,
                                                                      .arrived = torn ? torn->arrived : 0,
                                                                      .threads = torn ? torn->threads : 0,
                                                                      .last_deed = deed};
        groups[i] = (struct wsdbg_why_group){0};
    }
    wsdbg_why_groups_destroy(groups, group_count);
    return error;
}

static struct wsdbg_error *fill_parts(const struct wsdbg_snapshot *s, struct wsdbg_why_answer *answer)
{
    struct wsdbg_error *error = NULL;
    for (unsigned shares = 0; shares < 2 * WSDBG_SHARE_LEFT && !error; shares++)
        error = add_parts(s, shares, NULL, answer);
    for (size_t i = 0; i < answer->account.row_count && !error; i++)
        if (is_torn(&answer->account.rows[i]))
            error = add_parts(s, answer->account.rows[i].shares, &answer->account.rows[i], answer);
    return error;
}

/* The ways out of a barrier begin with those who could still come. */
static struct wsdbg_error *walk_from_barrier(const struct wsdbg_loaded *loaded, struct wsdbg_why_answer *answer)
{
    uint32_t *warps = malloc((answer->account.row_count + 1) * sizeof *warps);
    size_t count = 0;
    if (!warps)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < answer->account.row_count; i++)
        if (answer->account.rows[i].shares & WSDBG_SHARE_TO_COME)
            warps[count++] = answer->account.rows[i].warp;
    struct wsdbg_error *error = wsdbg_why_walk(loaded, warps, count, &answer->hops);
    free(warps);
    return error;
}

static struct wsdbg_error *answer_barrier(struct wsdbg_store *store, struct wsdbg_loaded *loaded, uint32_t barrier,
                                          struct wsdbg_why_answer *answer)
{
    struct wsdbg_snapshot *s = &loaded->snapshot;
    uint32_t *ctas, cta_count;
    *answer = (struct wsdbg_why_answer){.cta = s->barriers[barrier].cta, .barrier = barrier, .finding = WSDBG_NONE};
    struct wsdbg_error *error = wsdbg_account_ctas(s, answer->cta, &ctas, &cta_count);
    if (!error)
        error = load_histories(store, loaded, ctas, cta_count);
    free(ctas);
    if (!error)
        error = wsdbg_account(s, barrier, &answer->account);
    drop_histories(s);
    if (!error)
        error = fill_parts(s, answer);
    return error ? error : walk_from_barrier(loaded, answer);
}

static struct wsdbg_error *answer_warps(const struct wsdbg_loaded *loaded, struct wsdbg_why_group *group,
                                        struct wsdbg_why_answer *answer)
{
    *answer = (struct wsdbg_why_answer){.cta = loaded->snapshot.warps[group->warps[0]].cta,
                                        .barrier = WSDBG_NONE,
                                        .group = *group,
                                        .finding = WSDBG_NONE};
    *group = (struct wsdbg_why_group){0};
    return wsdbg_why_walk(loaded, answer->group.warps, answer->group.warp_count, &answer->hops);
}

static struct wsdbg_why_group *group_with(struct wsdbg_why_group *groups, size_t count, uint32_t warp)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < groups[i].warp_count; k++)
            if (groups[i].warps[k] == warp)
                return &groups[i];
    return NULL;
}

static bool is_told(const struct wsdbg_why *why, uint32_t warp)
{
    for (size_t i = 0; i < why->answer_count; i++)
        if (why->answers[i].hops.reached[warp])
            return true;
    return false;
}

/* An answer for each group of the warps, in their order; only_new: that does not stand in the hops of an earlier one.
 */
static struct wsdbg_error *add_warps(struct wsdbg_why *why, const uint32_t *warps, size_t count, bool only_new)
{
    struct wsdbg_why_group *groups;
    size_t group_count;
    struct wsdbg_error *error = wsdbg_why_groups(&why->loaded.snapshot, warps, count, &groups, &group_count);
    if (error)
        return error;
    for (size_t i = 0; i < count && why->answer_count + 1 < WSDBG_WHY_ANSWERS && !error; i++) {
        struct wsdbg_why_group *group = group_with(groups, group_count, warps[i]);
        if (group && !(only_new && is_told(why, warps[i])))
            error = answer_warps(&why->loaded, group, &why->answers[why->answer_count++]);
    }
    wsdbg_why_groups_destroy(groups, group_count);
    return error;
}

static struct wsdbg_error *add_barrier(struct wsdbg_store *store, struct wsdbg_why *why, uint32_t barrier)
{
    return answer_barrier(store, &why->loaded, barrier, &why->answers[why->answer_count++]);
}

static struct wsdbg_error *answer_found(struct wsdbg_store *store, struct wsdbg_why *why,
                                        const struct wsdbg_why_found *found)
{
    const struct wsdbg_snapshot *s = &why->loaded.snapshot;
    const struct wsdbg_cta *cta = &s->ctas[found->cta];
    uint32_t warps[256];
    size_t count = 0;
    snprintf(why->others, sizeof why->others, "%s", found->others);
    if (found->barrier != WSDBG_NONE)
        return add_barrier(store, why, found->barrier);
    for (uint32_t i = cta->warp_first; i - cta->warp_first < cta->warp_count && i < s->warp_count && count < 256; i++)
        if (s->warps[i].warp < 256 && (found->warps.bits[s->warps[i].warp / 64] >> s->warps[i].warp % 64 & 1))
            warps[count++] = i;
    return add_warps(why, warps, count, false);
}

/* The first finding's waiting warps, and its barrier, or else the one that they wait on. */
static struct wsdbg_error *answer_finding(struct wsdbg_store *store, struct wsdbg_why *why)
{
    const struct wsdbg_snapshot *s = &why->loaded.snapshot;
    if (why->loaded.diagnosis.finding_count == 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                  "this session has no finding; name a warp or a barrier to ask about");
    const struct wsdbg_finding *f = &why->loaded.diagnosis.findings[0];
    uint32_t *warps = malloc((f->evidence_count + 1) * sizeof *warps), barrier = f->barrier;
    size_t count = 0;
    if (!warps)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < f->evidence_count; i++) {
        const uint32_t warp = f->evidence[i].warp;
        bool again = warp >= s->warp_count || !wsdbg_warp_state_waits(s->warps[warp].state);
        for (size_t k = 0; k < count && !again; k++)
            again = warps[k] == warp;
        if (again)
            continue;
        barrier = barrier == WSDBG_NONE ? s->warps[warp].barrier : barrier;
        warps[count++] = warp;
    }
    why->of_finding = true;
    struct wsdbg_error *error = add_warps(why, warps, count, true);
    free(warps);
    return error || barrier >= s->barrier_count ? error : add_barrier(store, why, barrier);
}

static struct wsdbg_error *ask(struct wsdbg_store *store, const struct wsdbg_why_question *q, struct wsdbg_why *why)
{
    struct wsdbg_why_found found;
    struct wsdbg_error *error = wsdbg_store_load(store, false, &why->loaded);
    struct wsdbg_loaded *l = &why->loaded;
    if (error)
        return error;
    if (!l->has_snapshot || l->snapshot.warp_count == 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "this session shows no warp");
    error = wsdbg_report_gather(&l->info, &l->snapshot, l->diagnosed ? &l->diagnosis : NULL, l->ended ? &l->end : NULL,
                                &why->report);
    if (!error && q->object)
        error = wsdbg_why_find(l, q, &found);
    if (!error)
        error = q->object ? answer_found(store, why, &found) : answer_finding(store, why);
    for (size_t i = 0; i < why->answer_count && !error; i++)
        wsdbg_why_relate(l, &why->answers[i]);
    return error;
}

struct wsdbg_error *wsdbg_why_ask(struct wsdbg_store *store, const struct wsdbg_why_question *question,
                                  struct wsdbg_why **out)
{
    struct wsdbg_why *why = calloc(1, sizeof *why);
    if (!why)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = ask(store, question, why);
    if (error)
        wsdbg_why_destroy(why);
    else
        *out = why;
    return error;
}

void wsdbg_why_destroy(struct wsdbg_why *why)
{
    for (size_t i = 0; i < why->answer_count; i++) {
        struct wsdbg_why_answer *answer = &why->answers[i];
        for (size_t k = 0; k < answer->part_count; k++)
            free(answer->parts[k].group.warps);
        free(answer->parts);
        free(answer->group.warps);
        wsdbg_account_deinit(&answer->account);
        wsdbg_why_hops_deinit(&answer->hops);
    }
    wsdbg_report_deinit(&why->report);
    wsdbg_loaded_deinit(&why->loaded);
    free(why);
}
