/* rule_role_sync.c - a barrier of the whole block, or of the cluster, that only one role reaches while the others wait
 * for what comes after it.
 *
 * Reads: a survey.  Adds BLOCK_SYNC_IN_ROLE and CLUSTER_MISSING, as warnings.  All who can arrive where the others wait
 * pass more such barriers before their first arrival than the others pass before they wait.  Warps that leave the
 * kernel are not missed at these barriers; but those that wait do not leave.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lint/barrier_rules.h"
#include "sass/flow.h"

/* A kind of barrier that everybody must reach. */
struct gathering {
    const struct wsdbg_barrier_survey *survey;
    bool is_cluster;
    uint64_t *set;  /* its instructions */
    unsigned tries; /* waits whose ways were followed */
};

static bool is_of_gathering(const struct gathering *gathering, size_t number)
{
    const struct wsdbg_barrier_survey *survey = gathering->survey;
    return gathering->is_cluster ? survey->accesses[number].kind == WSDBG_ACCESS_CLUSTER_WAIT
                                 : wsdbg_survey_is_block_sync(survey, number);
}

/* How many of the gathering's barriers lie on the ways from the kernel's start to an instruction. */
static bool count_before(const struct gathering *gathering, uint32_t instruction, uint8_t *least, uint8_t *most)
{
    return wsdbg_graph_passes(gathering->survey->graph, 0, instruction, gathering->set, least, most) &&
           *most < UINT8_MAX;
}

static bool may_end(const struct wsdbg_barrier_survey *survey, size_t arrival, size_t wait)
{
    return survey->warps[arrival] && wsdbg_survey_arrives(&survey->accesses[arrival]) &&
           wsdbg_survey_may_meet(&survey->accesses[arrival].address, &survey->accesses[wait].address);
}

/* The warps that may arrive where access `wait` waits. */
static uint32_t arrivers(const struct wsdbg_barrier_survey *survey, size_t wait)
{
    uint32_t warps = 0;
    for (size_t i = 0; i < survey->count; i++)
        warps |= may_end(survey, i, wait) ? survey->warps[i] : 0;
    return warps;
}

/* Whether each of them has passed more than `passed` of the gathering's barriers when it arrives for the first time. */
static bool come_later(const struct gathering *gathering, size_t wait, uint8_t passed)
{
    const struct wsdbg_barrier_survey *survey = gathering->survey;
    for (size_t i = 0; i < survey->count; i++) {
        uint8_t least, most;
        if (may_end(survey, i, wait) &&
            !(wsdbg_graph_passes(survey->graph, 0, survey->accesses[i].instruction, gathering->set, &least, &most) &&
              least > passed))
            return false;
    }
    return true;
}

/* The first barrier of the gathering, of those that the waiting warps do not reach. */
static bool find_barrier(const struct gathering *gathering, uint32_t waiting, size_t *out)
{
    for (size_t i = 0; i < gathering->survey->count; i++)
        if (is_of_gathering(gathering, i) && gathering->survey->warps[i] && !(gathering->survey->warps[i] & waiting)) {
            *out = i;
            return true;
        }
    return false;
}

static void say(const struct gathering *gathering, size_t barrier, size_t wait, struct wsdbg_lint_findings *out)
{
    char coming[WSDBG_SURVEY_WARPS_BYTES], waiting[WSDBG_SURVEY_WARPS_BYTES];
    const struct wsdbg_barrier_survey *survey = gathering->survey;
    wsdbg_survey_warps_text(survey->warps[barrier], coming);
    wsdbg_survey_warps_text(survey->warps[wait], waiting);
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, gathering->is_cluster ? WSDBG_LINT_CLUSTER_MISSING : WSDBG_LINT_BLOCK_SYNC_IN_ROLE, WSDBG_LINT_WARNING,
        wsdbg_lint_place_of_code(survey->kernel, survey->accesses[barrier].instruction),
        "%s reach this barrier of the whole %s and %s do not: they may wait for arrivals that only come after it",
        coming, gathering->is_cluster ? "cluster" : "block", waiting);
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_code(survey->kernel, survey->accesses[wait].instruction),
                    "%s wait here for the mbarrier at shared address 0x%" PRIx64, waiting,
                    survey->accesses[wait].address.base);
    wsdbg_lint_fix(out, finding,
                   gathering->is_cluster ? "put the cluster barrier where every warp reaches it"
                                         : "a named barrier with the count of those that come");
}

/* Whether the access waits for arrivals that only come after a barrier at which its own warps are missed. */
static bool judge_wait(struct gathering *gathering, size_t wait, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_barrier_survey *survey = gathering->survey;
    const struct wsdbg_access *access = &survey->accesses[wait];
    uint8_t least, most;
    size_t barrier;
    if (access->kind != WSDBG_ACCESS_WAIT || !survey->warps[wait] || !access->address.known ||
        !find_barrier(gathering, survey->warps[wait], &barrier))
        return false;
    const uint32_t arriving = arrivers(survey, wait);
    if (!arriving || (arriving & survey->warps[wait]) || !count_before(gathering, access->instruction, &least, &most) ||
        !come_later(gathering, wait, most))
        return false;
    const struct wsdbg_value_set parity = wsdbg_survey_parity(survey, wait);
    if (wsdbg_survey_is_one(&parity, 1)) /* is over at once */
        return false;
    say(gathering, barrier, wait, out);
    return true;
}

static struct wsdbg_error *judge(const struct wsdbg_barrier_survey *survey, bool is_cluster,
                                 struct wsdbg_lint_findings *out)
{
    struct gathering gathering = {.survey = survey, .is_cluster = is_cluster};
    gathering.set = wsdbg_survey_set_create(survey);
    if (!gathering.set)
        return &wsdbg_error_no_memory;
    bool is_of_some = false, is_said = false; /* some warps reach one and others do not */
    uint32_t all = 0;
    for (size_t i = 0; i < survey->count; i++)
        all |= survey->warps[i];
    for (size_t i = 0; i < survey->count; i++) {
        const uint32_t instruction = survey->accesses[i].instruction;
        if (is_of_gathering(&gathering, i))
            wsdbg_survey_set_add(gathering.set, instruction);
        is_of_some |= is_of_gathering(&gathering, i) && survey->warps[i] && survey->warps[i] != all;
    }
    for (size_t i = 0; i < survey->count && is_of_some && !is_said; i++)
        is_said = judge_wait(&gathering, i, out);
    free(gathering.set);
    return NULL;
}

struct wsdbg_error *wsdbg_barrier_rule_role_sync(const struct wsdbg_barrier_survey *survey,
                                                 struct wsdbg_lint_findings *out)
{
    if (!survey->is_in_x)
        return NULL;
    struct wsdbg_error *error = judge(survey, false, out);
    return error ? error : judge(survey, true, out);
}
