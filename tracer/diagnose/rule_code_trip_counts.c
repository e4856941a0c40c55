/* rule_code_trip_counts.c - roles whose loops over the stages of a ring run a different number of times.
 *
 * Reads: walks, the picture.  Adds: ROLE_DISAGREE.
 *
 * Each phase that arrivals complete must be waited for: by each warpgroup that waits on the ring, or, where warpgroups
 * or single warps take turns, by one of them.  The rule asks that every thread arrives as often as it waits, stage by
 * stage, so that no arrival is what is missing or too many.  And some warp must wait for a round that nobody makes any
 * more: on the ring, or on one that those who wait on the ring serve.  Other rings may be meant to have other counts.
 * A finding is added only if a replay of the walks (replay.h) ends in the picture.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay_drain.h"
#include "diagnose/rules.h"

enum { WARPS_MOST = 32 }; /* of a CTA */

/* One barrier, or all stages of a ring, from the kernel's start to its end. */
struct stage {
    uint32_t barrier;
    uint32_t rounds;    /* phases that all arrivals complete */
    uint32_t most, sum; /* waits of the warpgroup that waits most often, of all of them */
    uint32_t total;     /* waits of all warps */
    uint32_t stages;
    uint32_t free;               /* of these the first ones, which a barrier that is new lets through */
    struct wsdbg_warp_set by;    /* who arrives */
    struct wsdbg_warp_set waits; /* who waits */
};

static bool waits_on(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t barrier)
{
    return agent->target[step] == barrier && agent->steps[step].kind == WSDBG_ACCESS_WAIT && !agent->repeats[step];
}

static uint32_t count_waits_before(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < end; k++)
        count += waits_on(agent, k, barrier);
    return count;
}

static uint32_t count_waits(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    return count_waits_before(agent, barrier, agent->step_count);
}

static bool begins_free(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (waits_on(agent, k, barrier))
            return agent->steps[k].number & 1;
    return false;
}

/* The agent's wait before this one on the same barrier; WSDBG_NONE = there is none.  *round: in between it waits for
 * another stage of the ring, or for its turn. */
static uint32_t wait_before(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                            bool *round)
{
    *round = false;
    for (uint32_t k = at; k-- > 0;) {
        *round |= agent->steps[k].kind == WSDBG_ACCESS_NAMED_SYNC;
        if (agent->target[k] == WSDBG_NONE || agent->steps[k].kind != WSDBG_ACCESS_WAIT)
            continue;
        if (agent->target[k] == agent->target[at])
            return k;
        *round |= wsdbg_replay_is_of_family(replay, agent->target[k], agent->target[at]);
    }
    return WSDBG_NONE;
}

/* Whether an agent does something with mbarriers between two of its steps. */
static bool does_something(const struct wsdbg_replay_agent *agent, uint32_t from, uint32_t to)
{
    for (uint32_t k = from + 1; k < to; k++)
        if (agent->target[k] != WSDBG_NONE)
            return true;
    return false;
}

/* Whether it is known how many rounds an agent waits for on the barrier.  It is not if the agent only waits.  It is not
 * if a wait asks for the phase of the wait before it: what a round brought may serve several.  And it is not if two
 * waits for different phases have nothing between: one looks whether the other one would wait, and is wrong.  A wait
 * that is taken for a repetition, though the agent went round the ring, may be one for another phase: it lost its
 * arrivals. */
static bool are_waits_known(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++) {
        bool round;
        if (agent->target[k] != barrier || agent->steps[k].kind != WSDBG_ACCESS_WAIT)
            continue;
        if (agent->is_idle || !agent->steps[k].number_known)
            return false;
        const uint32_t before = wait_before(replay, agent, k, &round);
        if (agent->repeats[k] && round)
            return false;
        if (agent->repeats[k])
            continue;
        if (before != WSDBG_NONE && !round &&
            (agent->steps[before].number % 2 == agent->steps[k].number % 2 || !does_something(agent, before, k)))
            return false;
    }
    return true;
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
 * it waits, and waits on one.  Waits of its drain do not count. */
static bool is_regular(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    const uint32_t arrivals = count_arrivals(agent, barrier), drain = wsdbg_replay_drain_of(replay, agent);
    bool any = false;
    for (uint32_t b = 0; arrivals && b < replay->barrier_count; b++) {
        const uint32_t waits = is_beside(replay, agent, barrier, b) ? count_waits_before(agent, b, drain) : 0;
        if (waits && waits != arrivals)
            return false;
        any |= waits > 0;
    }
    return any || arrivals == 0;
}

/* Whether an agent that waits on the barrier arrives more often on that stage of another ring: then some rounds do not
 * concern it, and it passes them on without a wait.  The first one may need no wait. */
static bool passes_rounds_on(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                             uint32_t barrier)
{
    const uint32_t waits = count_waits(agent, barrier);
    for (uint32_t b = 0; waits && b < replay->barrier_count; b++)
        if (is_beside(replay, agent, barrier, b) && count_arrivals(agent, b) > waits + 1)
            return true;
    return false;
}

/* The waits of the warps on one barrier. */
struct warp_waits {
    uint32_t counts[WARPS_MOST];
    bool all_free; /* the first wait of each that waits asks for parity 1 */
};

/* False where there are too many warps, or the agent is of another CTA. */
static bool add_waits(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                      struct warp_waits *waits, struct stage *stage)
{
    const uint32_t warp = wsdbg_case_warp(replay->c, agent->warp)->warp;
    const uint32_t count = count_waits(agent, stage->barrier);
    if (count == 0)
        return true;
    if (warp >= WARPS_MOST || agent->cta != replay->barriers[stage->barrier].cta)
        return false;
    waits->counts[warp] = count > waits->counts[warp] ? count : waits->counts[warp];
    waits->all_free &= begins_free(agent, stage->barrier);
    wsdbg_set_add(&stage->waits, agent->warp);
    return true;
}

/* A warpgroup waits as often as that warp of it that waits most. */
static void sum_up(const struct warp_waits *waits, struct stage *stage)
{
    for (uint32_t w = 0; w < WARPS_MOST; w += WSDBG_GROUP_WARPS) {
        uint32_t of_group = 0;
        for (uint32_t i = w; i < w + WSDBG_GROUP_WARPS; i++) {
            of_group = waits->counts[i] > of_group ? waits->counts[i] : of_group;
            stage->total += waits->counts[i];
        }
        stage->most = of_group > stage->most ? of_group : stage->most;
        stage->sum += of_group;
    }
    stage->free = stage->most && waits->all_free;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* False where something about the barrier is not known, or some thread's arrivals are not regular. */
static bool read_stage(const struct wsdbg_replay *replay, struct stage *stage)
{
    const struct wsdbg_replay_barrier *b = &replay->barriers[stage->barrier];
    struct warp_waits waits = {.all_free = true};
    uint32_t init[2] = {WSDBG_NONE, WSDBG_NONE};
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (!wsdbg_walk_is_known(&replay->c->snapshot->walks[agent->walk]) ||
            !are_waits_known(replay, agent, stage->barrier) || !wsdbg_replay_keeps_count(agent, stage->barrier, init) ||
            !is_regular(replay, agent, stage->barrier) || passes_rounds_on(replay, agent, stage->barrier) ||
            !add_waits(replay, agent, &waits, stage))
            return false;
        arrivals += wsdbg_replay_arrivals_on(agent, stage->barrier);
        if (count_arrivals(agent, stage->barrier))
            wsdbg_set_add(&stage->by, agent->warp);
    }
    if (!b->is_initialised || b->expected == 0 || arrivals % b->expected)
        return false;
    stage->rounds = (uint32_t)(arrivals / b->expected);
    sum_up(&waits, stage);
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
        ring->total += stage.total;
        ring->stages++;
        ring->free += stage.free;
        wsdbg_set_join(&ring->by, &stage.by);
        wsdbg_set_join(&ring->waits, &stage.waits);
    }
    return ring->rounds && ring->most && !may_take(ring, ring->most) && !may_take(ring, ring->sum) &&
           !may_take(ring, ring->total);
}

/* ---- who waits for a round that never comes ---- */

/* Whether a phase lacks arrivals, and no thread will make any more. */
static bool no_arrivals_left(const struct wsdbg_replay *replay, uint32_t barrier)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        for (uint32_t k = agent->at; k < agent->step_count; k++)
            if (agent->target[k] == barrier && wsdbg_replay_arrivals_of(agent, k))
                return false;
    }
    return replay->barriers[barrier].pending > 0;
}

/* Whether those who wait on the ring arrive on this barrier, of another ring, about as often as they wait: what is
 * missing there is missing because of their waits.  At the end they may wait once more for each stage. */
static bool is_served_by(const struct wsdbg_replay *replay, const struct stage *ring, uint32_t barrier)
{
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t arrivals = wsdbg_set_has(&ring->waits, agent->warp) ? count_arrivals(agent, barrier) : 0;
        for (uint32_t b = 0; arrivals && b < replay->barrier_count; b++)
            if (wsdbg_replay_is_of_family(replay, ring->barrier, b) && is_beside(replay, agent, barrier, b) &&
                count_waits(agent, b) > arrivals + 1)
                return false;
        any |= arrivals > 0;
    }
    return any;
}

/* Whether the warps are of several warpgroups of a CTA. */
static bool are_of_several_groups(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps)
{
    const uint32_t first = wsdbg_case_warp(c, wsdbg_first_of(warps))->warp / WSDBG_GROUP_WARPS;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && wsdbg_case_warp(c, w)->warp / WSDBG_GROUP_WARPS != first)
            return true;
    return false;
}

/* Whether warpgroups that may take turns are out of step.  Then they may all stand in the middle of their loops: each
 * waits for a round that another one used.  One role may be ahead of the other by a round of each stage. */
static bool are_out_of_step(const struct wsdbg_case *c, const struct stage *ring)
{
    return (are_of_several_groups(c, &ring->waits) || are_of_several_groups(c, &ring->by)) &&
           distance(ring->sum, ring->rounds) > ring->stages;
}

/* Whether the agent comes to the named barrier behind the place where it stands. */
static bool comes_to_named(const struct wsdbg_replay_agent *agent, uint32_t id)
{
    for (uint32_t k = agent->at; k < agent->step_count; k++)
        if ((agent->steps[k].kind == WSDBG_ACCESS_NAMED_SYNC || agent->steps[k].kind == WSDBG_ACCESS_NAMED_ARRIVE) &&
            agent->steps[k].address == id)
            return true;
    return false;
}

/* Whether one who arrives on the ring stands at a named barrier to which those who wait on the ring come, too: both
 * meet there behind each part of their work, say a tile.  It is through with its part, and they are not. */
static bool has_done_its_part(const struct wsdbg_replay *replay, const struct stage *ring)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state != WSDBG_AGENT_NAMED || !wsdbg_set_has(&ring->by, agent->warp))
            continue;
        for (uint32_t w = 0; w < replay->agent_count; w++)
            if (wsdbg_set_has(&ring->waits, replay->agents[w].warp) && replay->agents[w].cta == agent->cta &&
                comes_to_named(&replay->agents[w], agent->steps[agent->at].address))
                return true;
    }
    return false;
}

/* A warp that waits for a round more than there is: on the ring, or on one that those serve who wait on the ring for
 * fewer rounds than there are.  Or one that waits on them because of warpgroups that are out of step, or for a round of
 * a part of the work with which the others are through. */
static uint32_t waiter_of(const struct wsdbg_replay *replay, const struct stage *ring)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state != WSDBG_AGENT_WAITS)
            continue;
        const uint32_t barrier = agent->target[agent->at];
        const bool is_on_ring = wsdbg_replay_is_of_family(replay, ring->barrier, barrier);
        const bool is_short = is_on_ring ? ring->sum > ring->rounds : ring->most < ring->rounds;
        if ((no_arrivals_left(replay, barrier) || (is_on_ring && has_done_its_part(replay, ring))
                 ? is_short
                 : are_out_of_step(replay->c, ring)) &&
            (is_on_ring || is_served_by(replay, ring, barrier)))
            return agent->warp;
    }
    return WSDBG_NONE;
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
        bool leads = true;
        for (uint32_t b = 0; b < f && leads; b++)
            leads = !wsdbg_replay_is_of_family(replay, f, b) || replay->barriers[b].cta != replay->barriers[f].cta;
        const uint32_t waiter = leads && read_ring(replay, f, &ring) ? waiter_of(replay, &ring) : WSDBG_NONE;
        if (waiter == WSDBG_NONE)
            continue;
        say(c, replay, &ring, waiter);
        return;
    }
}
