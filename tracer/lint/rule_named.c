/* rule_named.c - named barriers whose count is not that of the warps that come, and ids that two groups of warps use.
 *
 * Reads: a survey, in which every named barrier's id and count is known for each warp; else nothing is said.  Adds
 * NAMED_COUNT and NAMED_ID_SHARED.  `bar.sync` counts a warp once and holds it, so that of warps which only sync none
 * comes twice in a round; `bar.arrive` does not hold.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lint/barrier_rules.h"
#include "sass/flow.h"

enum { WARP_THREADS = 32, IDS = 16, SITES_MOST = 64 };

/* An instruction that names the barrier, with the warps for which it does. */
struct site {
    size_t access;
    uint32_t warps;
    int count;
    bool syncs;
};

/* All of one id. */
struct named {
    const struct wsdbg_barrier_survey *survey;
    struct wsdbg_lint_findings *out;
    unsigned id;
    struct site sites[SITES_MOST];
    size_t site_count;
    uint32_t warps, syncing;
    bool has_arrivals, has_two_counts;
    int count;
    unsigned tries; /* pairs of sites whose ways were followed */
};

/* Adds one warp's part of a site; sites are by access and count. */
static bool add_site(struct named *named, size_t access, uint32_t warp, int count)
{
    struct site *site = NULL;
    for (size_t i = 0; i < named->site_count && !site; i++)
        if (named->sites[i].access == access && named->sites[i].count == count)
            site = &named->sites[i];
    if (!site && named->site_count == SITES_MOST)
        return false;
    if (!site) {
        site = &named->sites[named->site_count++];
        *site = (struct site){access, 0, count, named->survey->accesses[access].kind == WSDBG_ACCESS_NAMED_SYNC};
    }
    site->warps |= 1u << warp;
    return true;
}

static bool gather(struct named *named)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    for (size_t i = 0; i < survey->count; i++)
        for (uint32_t warp = 0; warp < survey->warp_count; warp++) {
            const struct wsdbg_survey_name *name = &survey->names[warp * survey->count + i];
            if (!wsdbg_survey_is_named(&survey->accesses[i]) || !(survey->warps[i] >> warp & 1) ||
                name->id != (int)named->id)
                continue;
            if (!add_site(named, i, warp, name->count))
                return false;
        }
    for (size_t i = 0; i < named->site_count; i++) {
        const struct site *site = &named->sites[i];
        named->warps |= site->warps;
        named->syncing |= site->syncs ? site->warps : 0;
        named->has_arrivals |= !site->syncs;
        named->has_two_counts |= site->count != named->sites[0].count;
    }
    named->count = named->site_count ? named->sites[0].count : 0;
    return named->site_count > 0;
}

static struct wsdbg_lint_place place_of(const struct named *named, const struct site *site)
{
    return wsdbg_lint_place_of_code(named->survey->kernel, named->survey->accesses[site->access].instruction);
}

static void note_sites(const struct named *named, struct wsdbg_lint_finding *finding)
{
    char warps[WSDBG_SURVEY_WARPS_BYTES], text[WSDBG_SURVEY_WARPS_BYTES + 64];
    for (size_t i = 0; i < named->site_count; i++) {
        const struct site *site = &named->sites[i];
        snprintf(text, sizeof text, "bar.%s %u, %d by %s", site->syncs ? "sync" : "arrive", named->id, site->count,
                 wsdbg_survey_warps_text(site->warps, warps));
        wsdbg_survey_note(named->survey, named->out, finding, named->survey->accesses[site->access].instruction, text);
    }
}

/* ---- too few ---- */

/* The threads that can be counted before somebody is held: each warp once for the sync it stands in, and once for each
 * arrival; `again`: an arrival may come again. */
static uint32_t threads_at_most(const struct named *named, bool *again)
{
    uint32_t warps = wsdbg_survey_warp_count(named->syncing);
    *again = false;
    for (size_t i = 0; i < named->site_count; i++) {
        const struct site *site = &named->sites[i];
        if (site->syncs)
            continue;
        warps += wsdbg_survey_warp_count(site->warps);
        *again |= wsdbg_survey_again(named->survey, site->access) != WSDBG_SURVEY_NEVER_AGAIN;
    }
    return warps * WARP_THREADS;
}

static struct wsdbg_error *must_sync(const struct named *named, bool *out)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    uint64_t *set = wsdbg_survey_set_create(survey);
    if (!set)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < named->site_count; i++) {
        const uint32_t instruction = survey->accesses[named->sites[i].access].instruction;
        if (named->sites[i].syncs)
            wsdbg_survey_set_add(set, instruction);
    }
    struct wsdbg_error *error = wsdbg_survey_must_execute(survey, set, named->syncing, out);
    free(set);
    return error;
}

/* Of a barrier for the whole block those that have left the kernel are not missed. */
static bool may_be_whole_block(const struct named *named)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    const uint32_t required = survey->kernel->launch.threads_required, count = (uint32_t)named->count;
    return required ? count == required : count <= survey->threads_most;
}

static struct wsdbg_error *judge_too_few(const struct named *named, bool *is_said)
{
    bool again, must = false;
    const uint32_t threads = threads_at_most(named, &again);
    if (named->count <= 0 || threads >= (uint32_t)named->count || !named->syncing)
        return NULL;
    struct wsdbg_error *error = again || may_be_whole_block(named) ? NULL : must_sync(named, &must);
    if (error)
        return error;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        named->out, WSDBG_LINT_NAMED_COUNT, must ? WSDBG_LINT_ERROR : WSDBG_LINT_WARNING,
        place_of(named, &named->sites[0]), "named barrier %u counts %d threads, and at most %u can reach it%s",
        named->id, named->count, threads,
        again  ? " unless one arrives again before the round is over"
        : must ? ": it never completes"
               : ": whoever syncs here stays");
    note_sites(named, finding);
    wsdbg_lint_fix(named->out, finding, "the count is that of all threads that arrive and sync, whole warps");
    *is_said = true;
    return NULL;
}

/* ---- too many ---- */

/* How often a thread of this warp syncs there in all; false where that is not the same on all its ways. */
static struct wsdbg_error *count_executions(const struct named *named, uint32_t warp, uint64_t *set, bool *is_known,
                                            uint32_t *executions)
{
    const struct wsdbg_graph *graph;
    struct wsdbg_error *error = wsdbg_survey_graph_of_warp(named->survey, warp, &graph);
    if (error)
        return error;
    bool is_first = true;
    for (uint32_t i = 0; i < graph->instruction_count && *is_known; i++) {
        uint8_t least, most;
        if (graph->instructions[i].operation != WSDBG_OP_EXIT || wsdbg_flow_never_executes(&graph->instructions[i]) ||
            !wsdbg_graph_passes(graph, 0, i, set, &least, &most))
            continue;
        *is_known = least == most && most < UINT8_MAX && (is_first || *executions == most);
        *executions = most;
        is_first = false;
    }
    *is_known &= !is_first;
    return NULL;
}

/* All that ever comes, where every warp comes equally often in whatever way it goes. */
static struct wsdbg_error *sum_executions(const struct named *named, bool *is_known, uint64_t *threads)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    uint64_t *set = wsdbg_survey_set_create(survey);
    struct wsdbg_error *error = set ? NULL : &wsdbg_error_no_memory;
    for (size_t i = 0; i < named->site_count && !error; i++) {
        const uint32_t instruction = survey->accesses[named->sites[i].access].instruction;
        wsdbg_survey_set_add(set, instruction);
    }
    *threads = 0;
    *is_known = !error;
    for (uint32_t warp = 0; warp < survey->warp_count && *is_known && !error; warp++) {
        uint32_t executions = 0;
        if (named->warps >> warp & 1)
            error = count_executions(named, warp, set, is_known, &executions);
        *threads += (uint64_t)executions * WARP_THREADS;
    }
    free(set);
    return error;
}

/* Whether it is known how many warps come, however many are launched. */
static bool is_bounded(const struct named *named)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    return survey->kernel->launch.threads_required || !(named->warps >> (survey->warp_count - 1) & 1);
}

/* Warps that only sync and whose sum is no multiple of the count: the last of them stay. */
static struct wsdbg_error *judge_remainder(const struct named *named, bool *is_said)
{
    bool is_known;
    uint64_t threads;
    char warps[WSDBG_SURVEY_WARPS_BYTES];
    if (named->count <= 0 || named->has_arrivals || !is_bounded(named) ||
        wsdbg_survey_warp_count(named->warps) * WARP_THREADS % (uint32_t)named->count == 0)
        return NULL;
    struct wsdbg_error *error = sum_executions(named, &is_known, &threads);
    if (error || !is_known || threads % (uint64_t)named->count == 0)
        return error;
    const bool is_proven = named->survey->kernel->launch.threads_required != 0;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        named->out, WSDBG_LINT_NAMED_COUNT, is_proven ? WSDBG_LINT_ERROR : WSDBG_LINT_WARNING,
        place_of(named, &named->sites[0]),
        "%s, %u threads, sync on named barrier %u, which counts %d: the last %u stay%s",
        wsdbg_survey_warps_text(named->warps, warps), wsdbg_survey_warp_count(named->warps) * WARP_THREADS, named->id,
        named->count, (unsigned)(threads % (uint64_t)named->count), is_proven ? "" : ", if that many are launched");
    note_sites(named, finding);
    wsdbg_lint_fix(named->out, finding,
                   "the count is that of all threads that take part, or each group needs an id of its own");
    *is_said = true;
    return NULL;
}

/* ---- two groups ---- */

/* Whether something that holds the whole block stands between all ways to one instruction and all to the other. */
static bool are_apart_in_time(struct named *named, const struct site *first, const struct site *second)
{
    const struct wsdbg_barrier_survey *survey = named->survey;
    const uint32_t a = survey->accesses[first->access].instruction, b = survey->accesses[second->access].instruction;
    uint8_t least[2], most[2];
    bool is_known = true;
    uint64_t *set = wsdbg_survey_set_create(survey);
    if (!set || named->tries++ >= WSDBG_SURVEY_TRIES_MOST) {
        free(set);
        return true;
    }
    for (size_t i = 0; i < survey->count; i++) {
        const uint32_t instruction = survey->accesses[i].instruction;
        if (survey->accesses[i].kind == WSDBG_ACCESS_CLUSTER_WAIT || wsdbg_survey_is_block_sync(survey, i))
            wsdbg_survey_set_add(set, instruction);
    }
    is_known = wsdbg_graph_passes(survey->graph, 0, a, set, &least[0], &most[0]) &&
               wsdbg_graph_passes(survey->graph, 0, b, set, &least[1], &most[1]);
    free(set);
    return !is_known || most[0] < least[1] || most[1] < least[0];
}

/* Two syncs by different warps, each group as large as the count: they may be counted for each other. */
static void judge_groups(struct named *named)
{
    char warps[2][WSDBG_SURVEY_WARPS_BYTES];
    for (size_t i = 0; i < named->site_count; i++)
        for (size_t k = i + 1; k < named->site_count; k++) {
            const struct site *a = &named->sites[i], *b = &named->sites[k];
            if (!a->syncs || !b->syncs || a->count <= 0 || b->count <= 0 || (a->warps & b->warps) ||
                wsdbg_survey_warp_count(a->warps) * WARP_THREADS != (uint32_t)a->count ||
                wsdbg_survey_warp_count(b->warps) * WARP_THREADS != (uint32_t)b->count ||
                are_apart_in_time(named, a, b))
                continue;
            struct wsdbg_lint_finding *finding = wsdbg_lint_add(
                named->out, WSDBG_LINT_NAMED_ID_SHARED, WSDBG_LINT_WARNING, place_of(named, a),
                "%s sync on named barrier %u, and so do %s: where both groups are at it at a time, warps of one are "
                "counted "
                "for the other",
                wsdbg_survey_warps_text(a->warps, warps[0]), named->id, wsdbg_survey_warps_text(b->warps, warps[1]));
            note_sites(named, finding);
            wsdbg_lint_fix(named->out, finding, "an id of its own for each group");
            return;
        }
}

/* One id with two counts, by warps that are not the same: if they meet there, neither count holds. */
static void judge_two_counts(struct named *named)
{
    for (size_t i = 0; i < named->site_count; i++)
        for (size_t k = i + 1; k < named->site_count; k++) {
            const struct site *a = &named->sites[i], *b = &named->sites[k];
            if (a->count <= 0 || b->count <= 0 || a->count == b->count || (a->warps & b->warps) ||
                are_apart_in_time(named, a, b))
                continue;
            struct wsdbg_lint_finding *finding =
                wsdbg_lint_add(named->out, WSDBG_LINT_NAMED_COUNT, WSDBG_LINT_WARNING, place_of(named, a),
                               "named barrier %u is used with a count of %d and, by other warps, with one of %d: a "
                               "round that both take "
                               "part in has no defined end",
                               named->id, a->count, b->count);
            note_sites(named, finding);
            wsdbg_lint_fix(named->out, finding, "one count for all that take part, or an id of its own for each group");
            return;
        }
}

static struct wsdbg_error *judge(const struct wsdbg_barrier_survey *survey, unsigned id,
                                 struct wsdbg_lint_findings *out)
{
    struct named named = {.survey = survey, .out = out, .id = id};
    bool is_said = false;
    if (!gather(&named))
        return NULL;
    if (named.has_two_counts) {
        judge_two_counts(&named);
        return NULL;
    }
    struct wsdbg_error *error = judge_too_few(&named, &is_said);
    if (!error && !is_said)
        error = judge_remainder(&named, &is_said);
    if (!error && !is_said)
        judge_groups(&named);
    return error;
}

struct wsdbg_error *wsdbg_barrier_rule_named(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *out)
{
    struct wsdbg_error *error = NULL;
    const bool can_tell = survey->is_in_x && survey->are_names_known;
    for (unsigned id = 0; id < IDS && can_tell && !error; id++)
        error = judge(survey, id, out);
    return error;
}
