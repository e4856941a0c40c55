/* rule_code_trip_counts.c - roles whose loops over the stages of a ring run a different number of times.
 *
 * Reads: walks, the picture.  Adds: ROLE_DISAGREE.
 *
 * Each phase that arrivals complete must be waited for: by each warpgroup that waits on the ring, or, where warpgroups
 * take turns, by one of them.  The rule asks that every thread arrives as often as it waits, stage by stage, so that no
 * arrival is what is missing or too many.  A finding is added only if a replay of the walks (replay.h) ends in the
 * picture.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

enum { GROUPS_MOST = 8 }; /* warpgroups of a CTA */

/* One barrier, or all stages of a ring, from the kernel's start to its end. */
struct stage {
    uint32_t barrier;
    uint32_t rounds;             /* phases that all arrivals complete */
    uint32_t most, sum;          /* waits of the warpgroup that waits most often, of all of them */
    uint32_t free;               /* of these the first ones, which a barrier that is new lets through */
    struct wsdbg_warp_set by;    /* who arrives */
    struct wsdbg_warp_set waits; /* who waits */
};

static bool waits_on(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t barrier)
{
    return agent->target[step] == barrier && agent->steps[step].kind == WSDBG_ACCESS_WAIT && !agent->repeats[step];
}

static uint32_t count_waits(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < agent->step_count; k++)
        count += waits_on(agent, k, barrier);
    return count;
}

static bool begins_free(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (waits_on(agent, k, barrier))
            return agent->steps[k].number & 1;
    return false;
}

static uint32_t count_arrivals(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < agent->step_count; k++)
        count += agent->target[k] == barrier && wsdbg_replay_arrivals_of(agent, k) > 0;
    return count;
}

/* Whether `other` is of the same stage of another ring, in the agent's CTA. */
static bool is_beside(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier,
                      uint32_t other)
{
    const struct wsdbg_replay_barrier *one = &replay->barriers[barrier], *two = &replay->barriers[other];
    const struct wsdbg_barrier *rows = replay->c->snapshot->barriers;
    return one->row != WSDBG_NONE && two->row != WSDBG_NONE && two->cta == agent->cta &&
           rows[one->row].stage == rows[two->row].stage && !wsdbg_replay_is_of_family(replay, barrier, other);
}

/* Whether an agent that arrives on the barrier does so as often as it waits on that stage of each other ring on which
 * it waits, and waits on one. */
static bool is_regular(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    const uint32_t arrivals = count_arrivals(agent, barrier);
    bool any = false;
    for (uint32_t b = 0; arrivals && b < replay->barrier_count; b++) {
        const uint32_t waits = is_beside(replay, agent, barrier, b) ? count_waits(agent, b) : 0;
        if (waits && waits != arrivals)
            return false;
        any |= waits > 0;
    }
    return any || arrivals == 0;
}

/* The waits of the warpgroups on one barrier. */
struct group_waits {
    uint32_t counts[GROUPS_MOST];
    bool all_free; /* the first wait of each that waits asks for parity 1 */
};

/* False where there are too many warpgroups, or the agent is of another CTA. */
static bool add_waits(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                      struct group_waits *groups, struct stage *stage)
{
    const uint32_t group = wsdbg_case_warp(replay->c, agent->warp)->warp / WSDBG_GROUP_WARPS;
    const uint32_t count = count_waits(agent, stage->barrier);
    if (count == 0)
        return true;
    if (group >= GROUPS_MOST || agent->cta != replay->barriers[stage->barrier].cta)
        return false;
    groups->counts[group] = count > groups->counts[group] ? count : groups->counts[group];
    groups->all_free &= begins_free(agent, stage->barrier);
    wsdbg_set_add(&stage->waits, agent->warp);
    return true;
}

/* False where something about the barrier is not known, or some thread's arrivals are not regular. */
static bool read_stage(const struct wsdbg_replay *replay, struct stage *stage)
{
    const struct wsdbg_replay_barrier *b = &replay->barriers[stage->barrier];
    struct group_waits groups = {.all_free = true};
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (!wsdbg_walk_is_known(&replay->c->snapshot->walks[agent->walk]) ||
            !is_regular(replay, agent, stage->barrier) || !add_waits(replay, agent, &groups, stage))
            return false;
        arrivals += wsdbg_replay_arrivals_on(agent, stage->barrier);
        if (count_arrivals(agent, stage->barrier))
            wsdbg_set_add(&stage->by, agent->warp);
    }
    if (!b->is_initialised || b->expected == 0 || arrivals % b->expected)
        return false;
    stage->rounds = (uint32_t)(arrivals / b->expected);
    for (uint32_t g = 0; g < GROUPS_MOST; g++) {
        stage->most = groups.counts[g] > stage->most ? groups.counts[g] : stage->most;
        stage->sum += groups.counts[g];
    }
    stage->free = stage->most && groups.all_free;
    return true;
}

/* Whether so many waits take these rounds.  A first wait that is let through takes none, and then the last round need
 * not be waited for: the first role may wait for the other one to have done with all stages, or not.  One more or less
 * may be a wait that repeats another. */
static bool may_take(const struct stage *ring, uint32_t waits)
{
    return ring->rounds <= waits + 1 && ring->rounds + ring->free + 1 >= waits;
}

/* Adds up all stages of the family in one CTA.  False where they are not known, or the rounds agree. */
static bool read_ring(const struct wsdbg_replay *replay, uint32_t family, struct stage *ring)
{
    *ring = (struct stage){.barrier = family};
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        struct stage stage = {.barrier = b};
        if (replay->barriers[b].cta != replay->barriers[family].cta || !wsdbg_replay_is_of_family(replay, family, b))
            continue;
        if (!read_stage(replay, &stage))
            return false;
        ring->rounds += stage.rounds;
        ring->most += stage.most;
        ring->sum += stage.sum;
        ring->free += stage.free;
        wsdbg_set_join(&ring->by, &stage.by);
        wsdbg_set_join(&ring->waits, &stage.waits);
    }
    return ring->rounds && ring->most && !may_take(ring, ring->most) && !may_take(ring, ring->sum);
}

/* A warp of the case that waits, best one on this barrier's ring. */
static uint32_t waiter_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint32_t waiter = WSDBG_NONE;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state != WSDBG_AGENT_WAITS)
            continue;
        if (wsdbg_replay_is_of_family(replay, barrier, agent->target[agent->at]))
            return agent->warp;
        waiter = waiter == WSDBG_NONE ? agent->warp : waiter;
    }
    return waiter;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct stage *ring, uint32_t waiter)
{
    const uint32_t row = replay->barriers[ring->barrier].row, waits = ring->most == ring->sum ? ring->most : 0;
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_ROLE_DISAGREE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), wsdbg_case_warp(c, waiter)->cta, row);
    if (!finding)
        return;
    char by[160], in_turn[64] = "";
    wsdbg_print(by, sizeof by, "%s", wsdbg_say_warps(c, &ring->by).text);
    if (!waits)
        wsdbg_print(in_turn, sizeof in_turn, " each, or %u if they take turns", ring->sum);
    finding->role = wsdbg_common_role(c, &ring->waits);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrive%s on %s for %u rounds from the kernel's start to its end, but %s wait%s for %u%s. The loops "
                "of the roles have different trip counts.",
                by, wsdbg_set_count(&ring->by) == 1 ? "s" : "", wsdbg_say_family(c, row).text, ring->rounds,
                wsdbg_say_warps(c, &ring->waits).text, wsdbg_set_count(&ring->waits) == 1 ? "s" : "", ring->most,
                in_turn);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the trip count once and use the same value in every role, the last and a partial tile "
                "included.");
    wsdbg_tell_wait(c, finding, waiter);
    wsdbg_tell_word(c, finding, row);
}

void wsdbg_rule_code_trip_counts(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_case_explained(c) ? NULL : wsdbg_replay_standing(c);
    for (uint32_t f = 0; replay && f < replay->barrier_count; f++) {
        struct stage ring;
        const uint32_t waiter = waiter_of(replay, f);
        bool leads = true;
        for (uint32_t b = 0; b < f && leads; b++)
            leads = !wsdbg_replay_is_of_family(replay, f, b) || replay->barriers[b].cta != replay->barriers[f].cta;
        if (!leads || waiter == WSDBG_NONE || !read_ring(replay, f, &ring))
            continue;
        say(c, replay, &ring, waiter);
        return;
    }
}
