/* rule_mbarrier_init.c - mbarriers that a warp may reach before another one has initialised them.
 *
 * Reads: a survey.  Adds BARRIER_NOT_INIT, as a warning: a path of the warp from the kernel's start to its first use
 * passes nothing that could hold it until the other warp is through.  Words polled in memory are not seen.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lint/barrier_rules.h"
#include "sass/flow.h"

static bool is_use(const struct wsdbg_barrier_survey *survey, size_t number)
{
    const struct wsdbg_access *access = &survey->accesses[number];
    return (access->kind == WSDBG_ACCESS_WAIT || wsdbg_survey_arrives(access)) && !access->is_any_rank &&
           access->address.known && access->address.count && access->address.count <= WSDBG_SURVEY_PLACES_MOST;
}

/* The warps that may initialise what the use names; the first such init in *init. */
static uint32_t initialising(const struct wsdbg_barrier_survey *survey, size_t use, size_t *init)
{
    uint32_t warps = 0;
    for (size_t i = survey->count; i-- > 0;)
        if (survey->accesses[i].kind == WSDBG_ACCESS_INIT && survey->warps[i] &&
            wsdbg_survey_may_meet(&survey->accesses[i].address, &survey->accesses[use].address)) {
            warps |= survey->warps[i];
            *init = i;
        }
    return warps;
}

static bool is_sync(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_CLUSTER_WAIT;
}

/* What may hold a warp until another one is through: all syncs, and waits for other mbarriers. */
static void find_holds(const struct wsdbg_barrier_survey *survey, size_t use, uint64_t *set)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        if (is_sync(access) || (access->kind == WSDBG_ACCESS_WAIT &&
                                !wsdbg_survey_may_meet(&access->address, &survey->accesses[use].address)))
            wsdbg_survey_set_add(set, access->instruction);
    }
}

/* The instructions that some path from the kernel's start leads to without a sync: others need not be looked at. */
static uint64_t *before_syncs(const struct wsdbg_barrier_survey *survey)
{
    uint64_t *syncs = wsdbg_survey_set_create(survey), *reached = wsdbg_survey_set_create(survey);
    for (size_t i = 0; syncs && i < survey->count; i++)
        if (is_sync(&survey->accesses[i]))
            wsdbg_survey_set_add(syncs, survey->accesses[i].instruction);
    if (syncs && reached)
        wsdbg_graph_reach_set(survey->graph, 0, syncs, reached);
    if (!syncs) {
        free(reached);
        reached = NULL;
    }
    free(syncs);
    return reached;
}

/* A sync whose guard is open stops no path, though it may hold this warp.  `decided`: guards that may still be decided;
 * NULL = none. */
static bool has_open_hold(const struct wsdbg_graph *graph, const uint64_t *set, const uint64_t *decided)
{
    const uint32_t count = graph->instruction_count;
    for (uint32_t i = wsdbg_flow_next(set, 0, count); i < count; i = wsdbg_flow_next(set, i + 1, count))
        if (!wsdbg_flow_is_unguarded(&graph->instructions[i]) && !wsdbg_flow_never_executes(&graph->instructions[i]) &&
            !wsdbg_flow_contains(decided, i))
            return true;
    return false;
}

static struct wsdbg_error *comes_unheld(const struct wsdbg_barrier_survey *survey, size_t use, uint32_t warp,
                                        unsigned *tries, bool *out)
{
    const struct wsdbg_graph *graph = NULL;
    const uint32_t at = survey->accesses[use].instruction;
    uint64_t *set = wsdbg_survey_set_create(survey);
    if (!set)
        return &wsdbg_error_no_memory;
    find_holds(survey, use, set);
    struct wsdbg_error *error = NULL;
    if (!has_open_hold(survey->graph, set, survey->guards) &&
        wsdbg_graph_reaches(survey->graph, 0, at, set) == WSDBG_REACHES_YES && (*tries)++ < WSDBG_SURVEY_TRIES_MOST)
        error = wsdbg_survey_graph_of_warp(survey, warp, &graph);
    *out = graph && !has_open_hold(graph, set, NULL) && wsdbg_graph_reaches(graph, 0, at, set) == WSDBG_REACHES_YES;
    free(set);
    return error;
}

static void say(const struct wsdbg_barrier_survey *survey, size_t use, size_t init, uint32_t warp,
                struct wsdbg_lint_findings *out)
{
    char warps[WSDBG_SURVEY_WARPS_BYTES];
    const struct wsdbg_access *access = &survey->accesses[use];
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(out, WSDBG_LINT_BARRIER_NOT_INIT, WSDBG_LINT_WARNING,
                       wsdbg_lint_place_of_code(survey->kernel, access->instruction),
                       "warp %u may come here before the mbarrier at shared address 0x%" PRIx64
                       " is initialised: nothing holds it until %s is through",
                       warp, access->address.base, wsdbg_survey_warps_text(survey->warps[init], warps));
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_code(survey->kernel, survey->accesses[init].instruction),
                    "initialised here");
    wsdbg_lint_fix(out, finding,
                   "fence.mbarrier_init and a __syncthreads (of a cluster: a cluster barrier) behind the "
                   "initialisation");
}

struct wsdbg_error *wsdbg_barrier_rule_init(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *out)
{
    uint64_t *early = survey->is_in_x ? before_syncs(survey) : NULL;
    struct wsdbg_error *error = survey->is_in_x && !early ? &wsdbg_error_no_memory : NULL;
    bool is_early = false;
    unsigned tries = 0;
    for (size_t i = 0; i < survey->count && early && !is_early && !error; i++) {
        size_t init = 0;
        if (!is_use(survey, i) || !survey->warps[i] || !wsdbg_flow_contains(early, survey->accesses[i].instruction))
            continue;
        const uint32_t initialisers = initialising(survey, i, &init);
        const uint32_t others = survey->warps[i] & ~initialisers;
        if (!initialisers || !others)
            continue;
        const uint32_t warp = (uint32_t)__builtin_ctz(others);
        error = comes_unheld(survey, i, warp, &tries, &is_early);
        if (is_early)
            say(survey, i, init, warp, out);
    }
    free(early);
    return error;
}
