/* repair_leap.c - repairs of threads that leap over rounds of a ring.  They neither wait for such a round nor release
 * it, and go on with the next one.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 *
 * A wait names a stage and a parity, which together say which round it is for, but for whole turns of the ring.  Where
 * a phase is flipped too seldom or too often, stages follow one another and only parities are wrong.  Where a round is
 * left out, both show it.  The other side goes through that round: so it has just as many rounds more.
 */
#include "diagnose/repair_trial.h"

enum { FAMILIES_MOST = 4, ASKED_MOST = 16 };

/* A ring as one agent goes through it. */
struct leaps {
    uint32_t agent, family;  /* a barrier of the ring */
    uint32_t stages;         /* of the ring, in the agent's CTA */
    uint32_t waits, skipped; /* of the whole walk; rounds that were left out */
    /* What the round at hand releases: barriers of its stage, and how many arrivals they get. */
    uint32_t released[FAMILIES_MOST], arrivals[FAMILIES_MOST], release_count;
    /* Of which rings it is known whether each round releases them: a barrier of each. */
    uint32_t asked[ASKED_MOST], asked_count;
    bool answers[ASKED_MOST];
};

static bool is_of_ring(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    return barrier != WSDBG_NONE && wsdbg_replay_is_of_family(t->replay, leaps->family, barrier) &&
           t->replay->barriers[barrier].cta == a->cta;
}

static uint32_t stage_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row;
    return row < t->c->snapshot->barrier_count ? t->c->snapshot->barriers[row].stage : WSDBG_NONE;
}

/* The barrier of the ring with this stage; WSDBG_NONE. */
static uint32_t barrier_with(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t stage)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (is_of_ring(t, leaps, b) && stage_of(t, b) == stage)
            return b;
    return WSDBG_NONE;
}

/* How many stages the ring has, numbered from 0; 0: that is not known. */
static uint32_t count_stages(const struct wsdbg_trial *t, const struct leaps *leaps)
{
    uint32_t stages = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        stages += is_of_ring(t, leaps, b);
    for (uint32_t stage = 0; stage < stages; stage++)
        if (barrier_with(t, leaps, stage) == WSDBG_NONE)
            return 0;
    return stages;
}

static uint32_t next_wait(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t at)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    while (at < a->step_count &&
           !(is_of_ring(t, leaps, a->target[at]) && a->steps[at].kind == WSDBG_ACCESS_WAIT && !a->repeats[at]))
        at++;
    return at;
}

/* Which round it is, modulo two turns of the ring; the first parity does not matter. */
static uint32_t round_of(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t wait)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    return stage_of(t, a->target[wait]) + (a->steps[wait].number & 1) * leaps->stages;
}

/* How many rounds are left out between two waits, modulo two turns of the ring.  WSDBG_NONE: both waits are for the
 * same round. */
static uint32_t left_out(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t from, uint32_t to)
{
    const uint32_t turns = 2 * leaps->stages;
    const uint32_t step = (round_of(t, leaps, to) + turns - round_of(t, leaps, from)) % turns;
    return step ? step - 1 : WSDBG_NONE;
}

/* Counts the waits and the rounds that are left out.  False: none is, or the waits do not show that. */
static bool count_waits(const struct wsdbg_trial *t, struct leaps *leaps)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    uint32_t last = WSDBG_NONE;
    for (uint32_t k = next_wait(t, leaps, 0); k < a->step_count; k = next_wait(t, leaps, k + 1)) {
        const uint32_t rounds = last == WSDBG_NONE ? 0 : left_out(t, leaps, last, k);
        if (!a->steps[k].number_known || rounds == WSDBG_NONE)
            return false;
        leaps->waits++;
        leaps->skipped += rounds;
        last = k;
    }
    return leaps->skipped > 0;
}

/* Whether the other side goes through all rounds, those that are left out, too. */
static bool are_rounds_there(const struct wsdbg_trial *t, const struct leaps *leaps)
{
    uint64_t rounds = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        rounds += is_of_ring(t, leaps, b) ? wsdbg_trial_rounds_of(t, b) : 0;
    return rounds == (uint64_t)leaps->waits + leaps->skipped;
}

static bool read_leaps(const struct wsdbg_trial *t, uint32_t agent, uint32_t family, struct leaps *leaps)
{
    *leaps = (struct leaps){.agent = agent, .family = family};
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    wsdbg_replay_spend(t->replay, a->step_count);
    if (a->is_idle || !t->c->snapshot->walks[a->walk].is_whole)
        return false;
    leaps->stages = count_stages(t, leaps);
    return leaps->stages > 1 && count_waits(t, leaps) && are_rounds_there(t, leaps);
}

bool wsdbg_trial_leaps(const struct wsdbg_trial *t, uint32_t agent, uint32_t family)
{
    struct leaps leaps;
    return read_leaps(t, agent, family, &leaps);
}

/* ---- the repair ---- */

/* Whether the agent arrives on a barrier's ring as often as it goes through a round. */
static bool has_all_releases(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    uint32_t steps = 0;
    for (uint32_t k = 0; k < a->step_count; k++)
        steps += a->target[k] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, k) &&
                 wsdbg_replay_is_of_family(t->replay, a->target[k], barrier);
    return steps == leaps->waits && !is_of_ring(t, leaps, barrier);
}

/* The same, found out once for each ring.  False also where there are too many of them. */
static bool is_released(const struct wsdbg_trial *t, struct leaps *leaps, uint32_t barrier)
{
    for (uint32_t i = 0; i < leaps->asked_count; i++)
        if (t->replay->barriers[leaps->asked[i]].cta == t->replay->barriers[barrier].cta &&
            wsdbg_replay_is_of_family(t->replay, leaps->asked[i], barrier))
            return leaps->answers[i];
    if (leaps->asked_count == ASKED_MOST)
        return false;
    leaps->asked[leaps->asked_count] = barrier;
    leaps->answers[leaps->asked_count] = has_all_releases(t, leaps, barrier);
    wsdbg_replay_spend(t->replay, t->replay->agents[leaps->agent].step_count);
    return leaps->answers[leaps->asked_count++];
}

/* What the round that begins at a wait releases: arrivals on barriers of its stage, of other rings. */
static void read_release(const struct wsdbg_trial *t, struct leaps *leaps, uint32_t wait, uint32_t end)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    leaps->release_count = 0;
    for (uint32_t k = wait + 1; k < end && leaps->release_count < FAMILIES_MOST; k++) {
        const uint32_t target = a->target[k];
        if (target == WSDBG_NONE || !wsdbg_replay_arrivals_of(a, k) || !is_released(t, leaps, target) ||
            !wsdbg_trial_is_of_stage(t, target, a->target[wait]))
            continue;
        leaps->released[leaps->release_count] = target;
        leaps->arrivals[leaps->release_count++] = wsdbg_replay_arrivals_of(a, k);
    }
}

/* Where the agent makes up for the rounds that it leaves out: at once before its next wait on the ring, or each behind
 * a wait on another ring.  A thread that leaves out a round of one ring may go through that of another one. */
enum place { BEFORE_NEXT_WAIT, BEHIND_OTHER_WAITS, PLACES };

/* The step before which it does so for the next left-out round: `at` or later, `to` at the latest. */
static uint32_t place_behind(const struct wsdbg_trial *t, const struct leaps *leaps, uint32_t at, uint32_t to)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    while (at < to && (a->steps[at].kind != WSDBG_ACCESS_WAIT || a->target[at] == WSDBG_NONE || a->repeats[at]))
        at++;
    return at < to ? at + 1 : to;
}

/* Lets the agent make the arrivals of the rounds that it leaves out between its waits `from` and `to`. */
static bool release_rounds(struct wsdbg_trial *t, const struct leaps *leaps, enum place place, uint32_t from,
                           uint32_t rounds, uint32_t to)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    uint32_t at = place == BEFORE_NEXT_WAIT ? to : from + 1;
    for (uint32_t i = 1; i <= rounds; i++) {
        at = place_behind(t, leaps, at, to);
        for (uint32_t r = 0; r < leaps->release_count; r++) {
            const uint32_t stage = (stage_of(t, a->target[from]) + i) % leaps->stages;
            const uint32_t barrier = wsdbg_trial_find_beside(
                t, leaps->released[r], t->replay->barriers[leaps->released[r]].cta, barrier_with(t, leaps, stage));
            if (!wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(leaps->agent, at, barrier, leaps->arrivals[r], 0)))
                return false;
        }
    }
    return true;
}

static bool release_all(struct wsdbg_trial *t, struct leaps *leaps, enum place place, struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[leaps->agent];
    uint32_t last = next_wait(t, leaps, 0);
    for (uint32_t k = next_wait(t, leaps, last + 1); k < a->step_count; k = next_wait(t, leaps, k + 1)) {
        const uint32_t rounds = left_out(t, leaps, last, k), from = last;
        last = k;
        if (rounds == 0)
            continue;
        read_release(t, leaps, from, k);
        if (!release_rounds(t, leaps, place, from, rounds, k))
            return false;
        if (wsdbg_set_count(&repair->warps) == 0)
            repair->wait = (struct wsdbg_repair_wait){leaps->agent, k, 0};
        wsdbg_set_add(&repair->warps, a->warp);
    }
    return true;
}

static bool try_family(struct wsdbg_trial *t, uint32_t family, enum place place)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_LEAP};
    bool fits = true;
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; fits && i < t->replay->agent_count; i++) {
        struct leaps leaps;
        fits =
            t->replay->steps_left > 0 && (!read_leaps(t, i, family, &leaps) || release_all(t, &leaps, place, &repair));
    }
    t->changes.has_leapt = true;
    t->changes.leapt = family;
    if (!fits || !wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t) || !t->is_to_end ||
        !wsdbg_trial_are_phases_whole(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

void wsdbg_try_leaps(struct wsdbg_trial *t)
{
    for (uint32_t f = 0; f < t->replay->barrier_count; f++)
        for (enum place place = 0; wsdbg_trial_leads_family(t, f) && place < PLACES; place++)
            if (try_family(t, f, place))
                return;
}
