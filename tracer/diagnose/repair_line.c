/* repair_line.c - repairs of counts where the CTAs of a cluster form a line: each arrives on barriers of its neighbours
 * alone, and the two at the ends have one neighbour.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  The barriers of an end then get another number of
 * arrivals in a round than those between, so their counts depend on the rank.  Both ends are given what their rounds
 * bring.
 */
#include "diagnose/repair_trial.h"

static uint32_t rank_of(const struct wsdbg_trial *t, uint32_t cta)
{
    return t->c->snapshot->ctas[t->c->ctas[cta]].cluster_rank;
}

static bool is_end(const struct wsdbg_trial *t, uint32_t cta)
{
    const uint32_t rank = rank_of(t, cta);
    return rank == 0 || rank + 1 == t->c->cta_count;
}

/* How many CTAs further the agent's arrival goes; negative: to a lower rank. */
static int64_t distance_of(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *agent, uint32_t step)
{
    const uint32_t to = t->replay->barriers[agent->target[step]].cta;
    return (int64_t)rank_of(t, to) - (int64_t)rank_of(t, agent->cta);
}

static bool arrives_on(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *agent, uint32_t step,
                       uint32_t family)
{
    return agent->target[step] != WSDBG_NONE && wsdbg_replay_arrivals_of(agent, step) > 0 &&
           wsdbg_replay_is_of_family(t->replay, agent->target[step], family);
}

/* Which ways arrivals on a family go: bits. */
enum { UP = 1, DOWN = 2, AROUND_UP = 4, AROUND_DOWN = 8, OFF_LINE = 16 };

static uint32_t way_of(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *agent, uint32_t step)
{
    const int64_t distance = distance_of(t, agent, step);
    const uint32_t steps = (uint32_t)(distance < 0 ? -distance : distance);
    if (steps == 0)
        return 0;
    if (steps == 1)
        return distance > 0 ? UP : DOWN;
    if (steps + 1 < t->c->cta_count)
        return OFF_LINE;
    return distance > 0 ? AROUND_UP : AROUND_DOWN;
}

/* The ways of all arrivals on the family; OFF_LINE, too, if some CTA gets none from a neighbour, or no steps are left
 * to ask all threads. */
static uint32_t ways_on(const struct wsdbg_trial *t, uint32_t family)
{
    struct wsdbg_warp_set served = {{0}}; /* CTAs */
    uint32_t ways = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        if (t->replay->steps_left == 0)
            return OFF_LINE;
        wsdbg_replay_spend(t->replay, agent->step_count);
        for (uint32_t k = 0; k < agent->step_count; k++) {
            if (!arrives_on(t, agent, k, family))
                continue;
            const uint32_t way = way_of(t, agent, k);
            if (way & (UP | DOWN))
                wsdbg_set_add(&served, t->replay->barriers[agent->target[k]].cta);
            ways |= way;
        }
    }
    return ways | (wsdbg_set_count(&served) < t->c->cta_count ? OFF_LINE : 0);
}

/* Whether the CTAs are a line for the family: arrivals go to neighbours in both directions, and around at one end at
 * most.  In a cluster of two a neighbour is all others. */
static bool are_line(const struct wsdbg_trial *t, uint32_t family)
{
    const uint32_t ways = t->c->cta_count > 2 ? ways_on(t, family) : 0;
    const uint32_t around = ways & (AROUND_UP | AROUND_DOWN);
    return (ways & UP) && (ways & DOWN) && !(ways & OFF_LINE) && around != (AROUND_UP | AROUND_DOWN);
}

/* Gives each barrier of the family at the ends the count of its round.  False: the barriers between need another count,
 * too, or none changes. */
static bool set_counts(struct wsdbg_trial *t, uint32_t family, struct wsdbg_repair *repair)
{
    bool any = false;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        const uint32_t was = t->expected_was[b];
        const uint32_t of_round =
            was && wsdbg_replay_is_of_family(t->replay, b, family) ? wsdbg_trial_round_of(t, b) : was;
        if (of_round == was || of_round == 0)
            continue;
        if (!is_end(t, t->replay->barriers[b].cta))
            return false;
        if (!any) {
            repair->barrier = b;
            repair->value = of_round;
        }
        any = true;
        t->expected[b] = of_round;
    }
    return any;
}

static void note_arrivers(const struct wsdbg_trial *t, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (wsdbg_trial_waits_was(t, i, repair->barrier)->arrived)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
}

void wsdbg_try_line(struct wsdbg_trial *t)
{
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_COUNT, .is_of_ends = true};
        if (!wsdbg_trial_leads_family(t, f) || !are_line(t, f))
            continue;
        wsdbg_trial_begin(t);
        if (!set_counts(t, f, &repair) || !wsdbg_trial_works(t) || wsdbg_trial_never_turns(t))
            continue;
        note_arrivers(t, &repair);
        wsdbg_trial_keep(t, &repair);
    }
}
