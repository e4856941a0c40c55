/* rule_barriers.c - the rules about mbarriers, named barriers and those of a cluster: makes the survey that they share.
 * Reads a kernel; adds findings. */
#include "lint/barrier_rules.h"
#include "lint/rules.h"

static wsdbg_barrier_rule *const rules[] = {
    wsdbg_barrier_rule_waits,     wsdbg_barrier_rule_init, wsdbg_barrier_rule_named,
    wsdbg_barrier_rule_role_sync, wsdbg_barrier_rule_peer,
};

struct wsdbg_error *wsdbg_lint_rule_barriers(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const unsigned interests = WSDBG_INTEREST_MBARRIERS | WSDBG_INTEREST_NAMED | WSDBG_INTEREST_CLUSTER;
    struct wsdbg_barrier_survey *survey = NULL;
    if (!kernel->function || !(kernel->code_interests & interests))
        return NULL;
    struct wsdbg_error *error = wsdbg_barrier_survey_create(kernel, &survey);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && survey && !error; i++)
        error = rules[i](survey, out);
    wsdbg_barrier_survey_destroy(survey);
    return error;
}
