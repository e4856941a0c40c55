/* rule_code_behind_polls.c - warps that wait for more rounds than there are, in a CTA that would hang even if its polls
 * of memory ended.
 *
 * Reads: a replay that ends in the picture with its polls held.  Adds: ROLE_DISAGREE.
 *
 * Some warps of a CTA poll memory that other CTAs may change, and the rest waits for them.  That looks like a word that
 * nobody writes.  But walks of this CTA do not come to their end even if the polls do.  Where warps stand at a ring on
 * which they wait more often, from the kernel's start to its end, than there are rounds, that is a reason.
 */
#include "diagnose/code_case.h"
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* A ring on which some warps wait for a round too many. */
struct surplus {
    uint32_t barrier; /* of the replay, at which they stand; WSDBG_NONE: there is none */
    uint32_t waits, rounds;
    struct wsdbg_warp_set waiters, arrivers;
};

static bool is_of_ring(const struct wsdbg_replay *replay, uint32_t ring, uint32_t barrier)
{
    return replay->barriers[ring].cta == replay->barriers[barrier].cta &&
           wsdbg_replay_is_of_family(replay, ring, barrier);
}

/* How many phases the arrivals of all walks complete on a ring. */
static uint32_t rounds_of(const struct wsdbg_replay *replay, uint32_t ring)
{
    uint64_t rounds = 0;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        uint64_t arrivals = 0;
        for (uint32_t i = 0; i < replay->agent_count && is_of_ring(replay, ring, b); i++)
            arrivals += wsdbg_replay_arrivals_on(&replay->agents[i], b);
        rounds += replay->barriers[b].expected ? arrivals / replay->barriers[b].expected : 0;
    }
    return (uint32_t)rounds;
}

/* How often an agent waits on a ring for a phase to complete.  A first wait for parity 1 ends at once. */
static uint32_t waits_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t ring)
{
    uint32_t waits = 0;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        uint32_t k = 0;
        if (!is_of_ring(replay, ring, b))
            continue;
        while (k < agent->step_count && (agent->target[k] != b || agent->steps[k].kind != WSDBG_ACCESS_WAIT))
            k++;
        waits += wsdbg_replay_waits_on(agent, b);
        waits -= k < agent->step_count && (agent->steps[k].number & 1);
    }
    return waits;
}

/* The ring of a barrier at which some agent stands, and for more rounds of which it waits than there are. */
static struct surplus find_surplus(const struct wsdbg_replay *replay)
{
    struct surplus surplus = {.barrier = WSDBG_NONE};
    for (uint32_t i = 0; i < replay->agent_count && surplus.barrier == WSDBG_NONE; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state != WSDBG_AGENT_WAITS || replay->barriers[agent->target[agent->at]].row == WSDBG_NONE)
            continue;
        surplus.rounds = rounds_of(replay, agent->target[agent->at]);
        surplus.waits = waits_of(replay, agent, agent->target[agent->at]);
        if (surplus.rounds > 0 && surplus.waits > surplus.rounds)
            surplus.barrier = agent->target[agent->at];
    }
    for (uint32_t i = 0; i < replay->agent_count && surplus.barrier != WSDBG_NONE; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state == WSDBG_AGENT_WAITS && is_of_ring(replay, surplus.barrier, agent->target[agent->at]))
            wsdbg_set_add(&surplus.waiters, agent->warp);
        for (uint32_t b = 0; b < replay->barrier_count; b++)
            if (is_of_ring(replay, surplus.barrier, b) && wsdbg_replay_arrivals_on(agent, b))
                wsdbg_set_add(&surplus.arrivers, agent->warp);
    }
    return surplus;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct surplus *surplus)
{
    const uint32_t row = replay->barriers[surplus->barrier].row, first = wsdbg_first_of(&surplus->waiters);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ROLE_DISAGREE, WSDBG_CONFIDENCE_POSSIBLE, wsdbg_case_warp(c, first)->cta, row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Even if all polls of memory end, %s wait%s for %u rounds of %s up to the kernel's end, and there are "
                "arrivals for %u, by %s. The loops of the roles have different trip counts, or leave out different "
                "rounds.",
                wsdbg_say_warps(c, &surplus->waiters).text, wsdbg_set_count(&surplus->waiters) == 1 ? "s" : "",
                surplus->waits, wsdbg_say_family(c, row).text, surplus->rounds,
                wsdbg_say_warps(c, &surplus->arrivers).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the trip count, and which rounds are left out, once, and use the same in every role.");
    wsdbg_evidence_text(c, finding,
                        "followed from its start, with its polls held, the CTA stops in just this state; followed with "
                        "all polls ended, it comes to its end in no order of its warps");
}

static bool are_walks_whole(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (!replay->c->snapshot->walks[replay->agents[i].walk].is_whole)
            return false;
    return true;
}

void wsdbg_rule_code_behind_polls(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    if (!replay || !wsdbg_replay_stands_at_polls(c) || !are_walks_whole(replay))
        return;
    const struct surplus surplus = find_surplus(replay);
    if (surplus.barrier != WSDBG_NONE)
        say(c, replay, &surplus);
}
