/* cta_rounds.c - see cta_rounds.h.
 *
 * Reads: walks.
 */
#include "diagnose/cta_rounds.h"

static bool are_alike(const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    return a->kind == b->kind && a->access == b->access;
}

/* How many steps from the beginning, or from the end, are alike. */
static uint32_t common(const struct wsdbg_replay_agent *a, const struct wsdbg_replay_agent *b, bool from_end)
{
    uint32_t count = 0;
    while (count < a->step_count && count < b->step_count &&
           (from_end ? are_alike(&a->steps[a->step_count - 1 - count], &b->steps[b->step_count - 1 - count])
                     : are_alike(&a->steps[count], &b->steps[count])))
        count++;
    return count;
}

/* How often a walk goes through the steps from `first` on of the longer walk, by the rarest one of them. */
static uint32_t rounds_of(const struct wsdbg_replay_agent *walk, const struct wsdbg_replay_agent *longer,
                          uint32_t first, uint32_t length)
{
    uint32_t rounds = UINT32_MAX;
    for (uint32_t k = first; k < first + length; k++) {
        uint32_t in_round = 0, in_all = 0;
        for (uint32_t i = first; i < first + length; i++)
            in_round += are_alike(&longer->steps[i], &longer->steps[k]);
        for (uint32_t i = 0; i < walk->step_count; i++)
            in_all += are_alike(&walk->steps[i], &longer->steps[k]);
        rounds = in_all / in_round < rounds ? in_all / in_round : rounds;
    }
    return rounds;
}

/* Whether the steps are those of a round: they repeat the ones before them, wait for an mbarrier, and do something with
 * one. */
static bool is_round(const struct wsdbg_replay_agent *a, uint32_t first, uint32_t length)
{
    bool waits = false, does = false;
    for (uint32_t k = first; first >= length && k < first + length; k++) {
        if (!are_alike(&a->steps[k], &a->steps[k - length]))
            return false;
        waits |= a->steps[k].kind == WSDBG_ACCESS_WAIT;
        does |= wsdbg_uses_mbarrier(&a->steps[k]) && a->steps[k].kind != WSDBG_ACCESS_WAIT;
    }
    return waits && does;
}

enum comparison { DIFFERENT, EQUAL, LACKS_ROUNDS };

/* Compares a walk of the CTA with the same thread's walk in another one. */
static enum comparison compare(struct wsdbg_cta_rounds *rounds, const struct wsdbg_replay_agent *own,
                               const struct wsdbg_replay_agent *other)
{
    const uint32_t begin = common(own, other, false), end = common(own, other, true);
    if (own->step_count == other->step_count)
        return begin == own->step_count ? EQUAL : DIFFERENT;
    const uint32_t length = other->step_count - own->step_count;
    if (own->step_count > other->step_count || begin + end < own->step_count || !is_round(other, begin, length))
        return DIFFERENT;
    if (rounds->others == 0) {
        rounds->own = rounds_of(own, other, begin, length);
        rounds->others = rounds_of(other, other, begin, length);
    }
    return LACKS_ROUNDS;
}

/* The agent of the same lanes in another CTA; NULL. */
static const struct wsdbg_replay_agent *like_in(const struct wsdbg_cta_rounds *rounds,
                                                const struct wsdbg_replay_agent *agent, uint32_t cta)
{
    const struct wsdbg_case *c = rounds->replay->c;
    for (uint32_t i = 0; i < rounds->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &rounds->replay->agents[i];
        if (a->cta == cta && a->lanes == agent->lanes &&
            wsdbg_case_warp(c, a->warp)->warp == wsdbg_case_warp(c, agent->warp)->warp)
            return a;
    }
    return NULL;
}

static bool waits_on_mbarriers(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_ACCESS_WAIT)
            return true;
    return false;
}

/* Whether the CTA's threads lack rounds that those of all other CTAs have: each one that waits for mbarriers. */
static bool lacks_rounds(struct wsdbg_cta_rounds *rounds)
{
    bool any = false;
    for (uint32_t i = 0; i < rounds->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &rounds->replay->agents[i];
        for (uint32_t cta = 0; a->cta == rounds->cta && cta < rounds->replay->c->cta_count; cta++) {
            const struct wsdbg_replay_agent *other = cta == rounds->cta ? NULL : like_in(rounds, a, cta);
            if (cta == rounds->cta)
                continue;
            if (!other || compare(rounds, a, other) != (waits_on_mbarriers(a) ? LACKS_ROUNDS : EQUAL))
                return false;
            any |= waits_on_mbarriers(a);
        }
    }
    return any;
}

bool wsdbg_rounds_differ(const struct wsdbg_replay *replay)
{
    struct wsdbg_cta_rounds rounds = {.replay = replay};
    for (uint32_t i = 0; i < replay->agent_count; i++)
        for (uint32_t cta = 0; cta < replay->c->cta_count; cta++) {
            const struct wsdbg_replay_agent *a = &replay->agents[i],
                                            *other = cta == a->cta ? NULL : like_in(&rounds, a, cta);
            if (other && compare(&rounds, a, other) == LACKS_ROUNDS)
                return true;
        }
    return false;
}

bool wsdbg_find_short_cta(const struct wsdbg_replay *replay, struct wsdbg_cta_rounds *out)
{
    if (!wsdbg_replay_is_known(replay))
        return false;
    for (uint32_t cta = 0; replay->c->cta_count > 1 && cta < replay->c->cta_count; cta++) {
        *out = (struct wsdbg_cta_rounds){.replay = replay, .cta = cta};
        if (lacks_rounds(out))
            return true;
    }
    return false;
}
