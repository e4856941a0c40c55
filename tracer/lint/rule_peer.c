/* rule_peer.c - arrivals in another CTA of the cluster that may have left the kernel.
 *
 * Reads: a survey.  Adds PEER_EXITED, as a warning: shared memory is gone with the last warp of its CTA, and here
 * nothing keeps one: no cluster barrier behind the arrival, and nobody who waits for it.
 */
#include <stdlib.h>

#include "lint/barrier_rules.h"
#include "sass/flow.h"

static bool is_waited_for(const struct wsdbg_barrier_survey *survey, const struct wsdbg_access *arrival)
{
    for (size_t i = 0; i < survey->count; i++)
        if (survey->accesses[i].kind == WSDBG_ACCESS_WAIT &&
            wsdbg_survey_may_meet(&survey->accesses[i].address, &arrival->address))
            return true;
    return false;
}

/* Whether the thread may leave, or never reaches a cluster barrier, after `from`. */
static struct wsdbg_error *may_leave(const struct wsdbg_barrier_survey *survey, uint32_t from, bool *out)
{
    uint64_t *set = wsdbg_survey_set_create(survey);
    if (!set)
        return &wsdbg_error_no_memory;
    *out = false;
    for (size_t i = 0; i < survey->count; i++)
        if (survey->accesses[i].kind == WSDBG_ACCESS_CLUSTER_WAIT)
            wsdbg_survey_set_add(set, survey->accesses[i].instruction);
    for (size_t i = 0; i < survey->count && !*out; i++)
        *out = survey->accesses[i].kind == WSDBG_ACCESS_EXIT &&
               wsdbg_graph_reaches(survey->graph, from + 1, survey->accesses[i].instruction, set) == WSDBG_REACHES_YES;
    free(set);
    return NULL;
}

/* A cluster of one CTA has no peers. */
static bool has_peers(const struct wsdbg_lint_launch *launch)
{
    return !launch->cluster[0] || launch->cluster[0] * launch->cluster[1] * launch->cluster[2] != 1;
}

struct wsdbg_error *wsdbg_barrier_rule_peer(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *out)
{
    struct wsdbg_error *error = NULL;
    unsigned tries = 0;
    for (size_t i = 0; i < survey->count && has_peers(&survey->kernel->launch) && !error; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        bool leaves;
        if (!survey->warps[i] || !wsdbg_survey_arrives(access) || !access->is_any_rank || !access->address.known ||
            is_waited_for(survey, access) || tries++ >= WSDBG_SURVEY_TRIES_MOST)
            continue;
        error = may_leave(survey, access->instruction, &leaves);
        if (error || !leaves)
            continue;
        struct wsdbg_lint_finding *finding =
            wsdbg_lint_add(out, WSDBG_LINT_PEER_EXITED, WSDBG_LINT_WARNING,
                           wsdbg_lint_place_of_code(survey->kernel, access->instruction),
                           "an arrival in another CTA of the cluster, which may have left: no cluster barrier follows, "
                           "and nobody waits for "
                           "the arrival");
        wsdbg_lint_fix(out, finding, "end the kernel with a cluster barrier");
        return NULL;
    }
    return error;
}
