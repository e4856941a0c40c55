/* rule_code_tokens.c - a wait that names the token of an arrival on another mbarrier.  A token names a phase of the
 * mbarrier that gave it; on another one it ends the wait too early, or never.
 *
 * Reads: walks, the picture.  Adds: PARITY_WRONG; ARRIVE_MISSING where the arrival went to the wrong mbarrier.
 *
 * Whether the wait or the arrival is on the wrong mbarrier, the other rounds tell: if waits by the same instruction
 * name tokens of their own mbarrier there, the arrival went astray.  A finding is added only if a replay of the walks
 * (replay.h) ends in the picture, and some warp stands at such a wait.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

static bool stands_at_foreign(const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_WAITS && wsdbg_replay_is_foreign(agent, agent->at);
}

/* Whether the agent also waits with tokens of the wait's own mbarrier, by the same instruction. */
static bool has_own_tokens(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->steps[k].access == agent->steps[agent->at].access && wsdbg_replay_giver_of(agent, k) != WSDBG_NONE &&
            !wsdbg_replay_is_foreign(agent, k))
            return true;
    return false;
}

/* Where arrivals of the phase under way are there, a token of the mbarrier's own might be one of this phase, and the
 * wait would not end, either. */
static enum wsdbg_confidence confidence_of_wrong_phase(const struct wsdbg_case *c, uint32_t waited)
{
    struct wsdbg_barrier_word word;
    return wsdbg_word_of(c, waited, &word) && word.untouched ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                const struct wsdbg_warp_set *warps)
{
    const uint32_t given = replay->barriers[agent->target[wsdbg_replay_giver_of(agent, agent->at)]].row,
                   waited = replay->barriers[agent->target[agent->at]].row;
    const bool is_astray = has_own_tokens(agent);
    if (given == WSDBG_NONE || waited == WSDBG_NONE)
        return;
    const enum wsdbg_confidence confidence = is_astray ? WSDBG_CONFIDENCE_LIKELY : confidence_of_wrong_phase(c, waited);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, is_astray ? WSDBG_CAUSE_ARRIVE_MISSING : WSDBG_CAUSE_PARITY_WRONG,
                        wsdbg_code_cap(c, confidence), wsdbg_case_warp(c, agent->warp)->cta, waited);
    if (!finding)
        return;
    finding->role = wsdbg_common_role(c, warps);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                is_astray ? "%s wait%s on %s%s with the token of an arrival on %s, though in other rounds it is one on "
                            "the mbarrier that is waited on: in this round the arrival went to the wrong mbarrier."
                          : "%s wait%s on %s%s with the token of an arrival on %s. A token names a phase of the "
                            "mbarrier that gave it, so the wait is for a wrong phase.",
                wsdbg_say_warps(c, warps).text, wsdbg_set_count(warps) == 1 ? "s" : "",
                wsdbg_say_object(c, waited).text, wsdbg_say_at(c, agent->warp).text, wsdbg_say_object(c, given).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive and wait on the same mbarrier: %s or %s.",
                wsdbg_say_object(c, waited).text, wsdbg_say_object(c, given).text);
    wsdbg_tell_waits(c, finding, warps);
    wsdbg_tell_word(c, finding, waited);
    wsdbg_evidence_text(c, finding, "followed from its start, the kernel stops in just this state");
}

void wsdbg_rule_code_tokens(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    const struct wsdbg_replay_agent *first = NULL;
    struct wsdbg_warp_set warps = {{0}};
    for (uint32_t i = 0; replay && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (!stands_at_foreign(agent) ||
            (first && (agent->cta != first->cta || agent->target[agent->at] != first->target[first->at])))
            continue;
        first = first ? first : agent;
        wsdbg_set_add(&warps, agent->warp);
    }
    if (first)
        say(c, replay, first, &warps);
}
