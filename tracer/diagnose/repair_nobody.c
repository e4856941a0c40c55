/* repair_nobody.c - tries the repair NOBODY: waits on barriers on which no thread ever arrives.
 *
 * Reads: the trial.  Writes: its repairs.  With the arrivals that are missing, whoever would make them, such waits end.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/code_case.h"

static bool is_copied_to(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *agent, uint32_t family)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(t->replay, family, agent->target[k]) &&
            wsdbg_replay_is_copy_to(t->replay, agent, k, agent->target[k]))
            return true;
    return false;
}

/* Whether no step of any walk arrives on the family, announces bytes on it or copies to it. */
static bool is_left_alone(const struct wsdbg_trial *t, uint32_t family)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t b = 0; b < t->replay->barrier_count; b++)
            if (wsdbg_replay_is_of_family(t->replay, family, b) && wsdbg_replay_arrivals_on(agent, b))
                return false;
        if (is_copied_to(t, agent, family))
            return false;
    }
    return true;
}

/* The warps that stand at the family. */
static struct wsdbg_warp_set standing_at(const struct wsdbg_trial *t, uint32_t family)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        if (t->state[i] == WSDBG_AGENT_WAITS && t->at[i] < agent->step_count &&
            wsdbg_replay_is_of_family(t->replay, family, agent->target[t->at[i]]))
            wsdbg_set_add(&set, agent->warp);
    }
    return set;
}

/* Whether the agent is known for more than one round of some loop: it waits twice on some barrier. */
static bool goes_round(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        for (uint32_t before = 0; before < k && agent->steps[k].kind == WSDBG_ACCESS_WAIT; before++)
            if (agent->steps[before].kind == WSDBG_ACCESS_WAIT && agent->target[before] == agent->target[k])
                return true;
    return false;
}

/* An arrival that a thread makes only behind the end of its walk would be one of its first round, too. */
static bool is_known_for_a_round(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (!t->c->snapshot->walks[t->replay->agents[i].walk].is_whole && !goes_round(&t->replay->agents[i]))
            return false;
    return true;
}

static void free_family(struct wsdbg_trial *t, uint32_t family)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        t->free_waits[b] |= wsdbg_replay_is_of_family(t->replay, family, b);
}

static void begin(struct wsdbg_trial *t)
{
    wsdbg_trial_begin(t);
    t->changes.free_waits = t->free_waits;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        t->free_waits[b] = false;
}

static bool has_worked(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (wsdbg_is_mbarrier_access(agent->steps[k].kind) && agent->steps[k].kind != WSDBG_ACCESS_INIT)
            return true;
    return false;
}

/* Whether the code of an exited warp has such an arrival; of a warp of another CTA, whether it may have one. */
static bool could_arrive(const struct wsdbg_trial *t, uint32_t w, uint32_t row)
{
    const struct wsdbg_warp_row *warp = wsdbg_case_warp(t->c, w);
    if (warp->state != WSDBG_WARP_EXITED)
        return false;
    const enum wsdbg_can could = wsdbg_code_could(t->c, w, WSDBG_KINDS_ARRIVAL, row);
    return could == WSDBG_CAN || (could != WSDBG_CAN_NOT && warp->cta != t->c->snapshot->barriers[row].cta);
}

/* Whether lanes have left the kernel that may be those which would have arrived: they had waited, arrived or copied
 * before, or their code may have such an arrival. */
static bool have_workers_left(const struct wsdbg_trial *t, uint32_t family)
{
    const uint32_t row = t->replay->barriers[family].row;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        const bool could = row != WSDBG_NONE && could_arrive(t, agent->warp, row);
        if (t->state[i] == WSDBG_AGENT_ENDED && (could || has_worked(agent)))
            return true;
    }
    return false;
}

/* Where the code has no instruction at all that arrives there, the rule of arrivals says so. */
static bool has_code(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row;
    return row == WSDBG_NONE || wsdbg_code_has(t->c, WSDBG_KINDS_ARRIVAL, row, NULL) != WSDBG_MATCH_NO;
}

static bool is_asked_for(const struct wsdbg_trial *t, uint32_t barrier)
{
    return wsdbg_trial_leads_family(t, barrier) && t->expected_was[barrier] && is_left_alone(t, barrier) &&
           !have_workers_left(t, barrier) && has_code(t, barrier);
}

static void keep(struct wsdbg_trial *t, uint32_t family)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NOBODY, .barrier = family, .warps = standing_at(t, family)};
    wsdbg_trial_keep(t, &repair);
}

/* One instruction may be meant to arrive on several: if no family does alone, all are tried together. */
static void try_together(struct wsdbg_trial *t)
{
    uint32_t first = WSDBG_NONE;
    begin(t);
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        if (!is_asked_for(t, f))
            continue;
        const struct wsdbg_warp_set set = standing_at(t, f);
        free_family(t, f);
        if (first == WSDBG_NONE && wsdbg_set_count(&set))
            first = f;
    }
    if (first != WSDBG_NONE && wsdbg_trial_works(t))
        keep(t, first);
}

void wsdbg_try_nobody(struct wsdbg_trial *t)
{
    const uint32_t before = t->out->count;
    if (!is_known_for_a_round(t))
        return;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        const struct wsdbg_warp_set set = standing_at(t, f);
        if (!wsdbg_set_count(&set) || !is_asked_for(t, f))
            continue;
        begin(t);
        free_family(t, f);
        if (wsdbg_trial_works(t))
            keep(t, f);
    }
    if (t->out->count == before)
        try_together(t);
}
