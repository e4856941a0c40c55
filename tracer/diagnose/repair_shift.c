/* repair_shift.c - repairs where several warpgroups take turns at the rounds of one ring, and one of them comes to
 * rounds of another one.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Such a group passes over the rounds of the
 * others. One that begins with the wrong round, or passes over too few rounds each time, waits and arrives on the wrong
 * stages. So all its waits and arrivals on the ring are moved along it by the same number of rounds, or by that number
 * more each time that it passes over some.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/repair_trial.h"

enum { PLACES_MOST = 16 };

struct shift {
    struct wsdbg_trial *t;
    uint32_t ring;  /* a barrier of the replay; all of its family are meant */
    uint32_t group; /* WSDBG_NONE = all that wait on the ring */
    uint32_t places;
    uint32_t *next;    /* by barrier: the one of the next stage in its CTA */
    uint32_t *targets; /* by step of all agents: as the replay has it without changes */
    bool *flips;       /* by step of all agents: the wait names the other parity */
    bool *is_moved;    /* by barrier */
    size_t step_count;
};

static bool is_of_group(const struct shift *s, uint32_t agent)
{
    return s->group == WSDBG_NONE || wsdbg_replay_group_of(s->t->replay, agent) == s->group;
}

static bool are_of_one_ring(const struct wsdbg_trial *t, uint32_t a, uint32_t b)
{
    return wsdbg_replay_is_of_family(t->replay, a, b) && t->replay->barriers[a].cta == t->replay->barriers[b].cta &&
           wsdbg_trial_stage_of(t, a) != WSDBG_NONE && wsdbg_trial_stage_of(t, b) != WSDBG_NONE;
}

/* How many stages the ring of a barrier has. */
static uint32_t places_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        count += are_of_one_ring(t, barrier, b);
    return count;
}

/* The barrier of the next stage in the same CTA: behind the last one comes the first one. */
static uint32_t find_next(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint32_t next = WSDBG_NONE, first = WSDBG_NONE;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (!are_of_one_ring(t, barrier, b))
            continue;
        if (first == WSDBG_NONE || wsdbg_trial_stage_of(t, b) < wsdbg_trial_stage_of(t, first))
            first = b;
        if (wsdbg_trial_stage_of(t, b) > wsdbg_trial_stage_of(t, barrier) &&
            (next == WSDBG_NONE || wsdbg_trial_stage_of(t, b) < wsdbg_trial_stage_of(t, next)))
            next = b;
    }
    return next == WSDBG_NONE ? first : next;
}

/* What the group, and what others, do with the family of a barrier. */
enum use { WAITS = 1, WAITS_BY_TOKEN = 2, ARRIVES = 4 };
static unsigned uses_of(const struct shift *s, uint32_t family, bool of_group)
{
    const struct wsdbg_replay *replay = s->t->replay;
    unsigned uses = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        for (uint32_t k = 0; k < replay->agents[i].step_count && is_of_group(s, i) == of_group; k++) {
            const uint32_t target = replay->agents[i].target[k];
            if (target == WSDBG_NONE || !wsdbg_replay_is_of_family(replay, target, family))
                continue;
            const struct wsdbg_step_row *step = &replay->agents[i].steps[k];
            if (step->kind == WSDBG_ACCESS_WAIT)
                uses |= step->number_known ? WAITS : WAITS_BY_TOKEN;
            else if (wsdbg_replay_arrivals_of(&replay->agents[i], k))
                uses |= ARRIVES;
        }
    return uses;
}

/* Finds the families that move: the ring, and those of as many stages on which the group, and others too, only arrive.
 */
static bool find_moved(struct shift *s)
{
    const struct wsdbg_trial *t = s->t;
    const bool are_all = s->group == WSDBG_NONE;
    memset(s->is_moved, 0, t->replay->barrier_count * sizeof *s->is_moved);
    if ((uses_of(s, s->ring, true) & ~ARRIVES) != WAITS || !(are_all || uses_of(s, s->ring, false) & WAITS))
        return false;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        if (!wsdbg_trial_leads_family(t, f) || places_of(t, f) != s->places)
            continue;
        const bool is_released = !are_all && uses_of(s, f, true) == ARRIVES && uses_of(s, f, false) & ARRIVES;
        for (uint32_t b = 0; b < t->replay->barrier_count && (f == s->ring || is_released || are_all); b++)
            s->is_moved[b] |= wsdbg_replay_is_of_family(t->replay, f, b);
    }
    return true;
}

/* The barrier so many rounds further on; *wraps: whether the phase is another one there. */
static uint32_t move(const struct shift *s, uint32_t barrier, uint32_t rounds, bool *wraps)
{
    *wraps = false;
    for (; rounds; rounds--) {
        const uint32_t next = s->next[barrier];
        *wraps ^= wsdbg_trial_stage_of(s->t, next) <= wsdbg_trial_stage_of(s->t, barrier);
        barrier = next;
    }
    return barrier;
}

/* Moves what an agent does with the ring.  Returns how often it passes over rounds. */
static uint32_t move_agent(struct shift *s, uint32_t number, uint32_t rounds, bool each_time,
                           struct wsdbg_repair *repair)
{
    struct wsdbg_replay_agent *agent = &s->t->replay->agents[number];
    const size_t base = (size_t)(agent->target - s->t->replay->targets);
    uint32_t passes = 0, last = WSDBG_NONE;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t was = s->targets[base + k];
        if (was == WSDBG_NONE || !s->is_moved[was] || agent->steps[k].kind == WSDBG_ACCESS_INIT)
            continue;
        if (agent->steps[k].kind == WSDBG_ACCESS_WAIT && wsdbg_replay_is_of_family(s->t->replay, was, s->ring)) {
            passes += last != WSDBG_NONE && was != last && was != s->next[last];
            last = was;
        }
        const uint32_t by = (each_time ? rounds * passes : rounds) % (2 * s->places);
        agent->target[k] = move(s, was, by, &s->flips[base + k]);
        if (by == 0 || agent->steps[k].kind != WSDBG_ACCESS_WAIT)
            continue;
        if (wsdbg_set_count(&repair->warps) == 0) {
            repair->wait = (struct wsdbg_repair_wait){.agent = number, .step = k};
            repair->barrier = was;
            repair->moved_to = agent->target[k];
            repair->moved_parity = (agent->steps[k].number & 1) ^ s->flips[base + k];
        }
        wsdbg_set_add(&repair->warps, agent->warp);
    }
    return passes;
}

static void move_back(struct shift *s)
{
    memcpy(s->t->replay->targets, s->targets, s->step_count * sizeof *s->targets);
    memset(s->flips, 0, s->step_count * sizeof *s->flips);
}

/* Whether each phase of the ring belonged to one warpgroup in the last run.  If not, the shift only makes up for rounds
 * that somebody leaves out, or makes too often. */
static bool do_groups_take_turns(const struct shift *s)
{
    const struct wsdbg_replay *replay = s->t->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(replay, s->ring, b) && !wsdbg_replay_groups_take_turns(replay, b))
            return false;
    return true;
}

static bool works(struct shift *s, uint32_t rounds, bool each_time, struct wsdbg_repair *repair)
{
    struct wsdbg_trial *t = s->t;
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_SHIFT, .value = rounds, .is_each_time = each_time};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (is_of_group(s, i))
            move_agent(s, i, rounds, each_time, repair);
    t->changes.flips = WSDBG_FLIPS_STEPS;
    t->changes.flip_steps = s->flips;
    const bool works = wsdbg_set_count(&repair->warps) && t->replay->steps_left && wsdbg_trial_works(t) &&
                       t->is_to_end && wsdbg_trial_gets_all_phases(t, s->ring) && do_groups_take_turns(s);
    move_back(s);
    return works;
}

/* How many warpgroups wait on the ring. */
static uint32_t wait_groups(struct shift *s)
{
    const struct wsdbg_replay *replay = s->t->replay;
    uint64_t groups = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        for (uint32_t k = 0; k < replay->agents[i].step_count; k++)
            if (replay->agents[i].steps[k].kind == WSDBG_ACCESS_WAIT && replay->agents[i].target[k] != WSDBG_NONE &&
                wsdbg_replay_is_of_family(replay, replay->agents[i].target[k], s->ring))
                groups |= (uint64_t)1 << wsdbg_replay_group_of(replay, i) % 64;
    return (uint32_t)__builtin_popcountll(groups);
}

/* Where more than one number of rounds would do, none is told: the ring does not say which rounds are the group's. */
static bool try_rounds(struct shift *s, bool each_time, struct wsdbg_repair *found)
{
    struct wsdbg_repair repair;
    uint32_t count = 0;
    for (uint32_t rounds = 1; rounds < 2 * s->places && count < 2; rounds++)
        if (works(s, rounds, each_time, &repair)) {
            *found = repair;
            count++;
        }
    found->is_alone = s->group == WSDBG_NONE && wait_groups(s) == 1;
    return count == 1 && s->t->replay->steps_left;
}

/* Where moving either of two warpgroups would do, none is told. */
static void try_each_group(struct shift *s, uint32_t groups, bool each_time)
{
    struct wsdbg_repair found = {.kind = WSDBG_REPAIR_SHIFT}, other = found;
    uint32_t count = 0;
    for (s->group = 0; s->group < groups; s->group++)
        if (find_moved(s) && try_rounds(s, each_time, count ? &other : &found))
            count++;
    if (count == 1 && s->t->replay->steps_left)
        wsdbg_trial_keep_found(s->t, &found, true);
}

static void try_all_groups(struct shift *s)
{
    struct wsdbg_repair found = {.kind = WSDBG_REPAIR_SHIFT};
    s->group = WSDBG_NONE;
    if (find_moved(s) && try_rounds(s, true, &found))
        wsdbg_trial_keep_found(s->t, &found, true);
}

/* Whether some stage of the ring is waited on by nobody. */
static bool leaves_a_stage_out(const struct shift *s)
{
    const struct wsdbg_replay *replay = s->t->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        bool is_waited_on = !wsdbg_replay_is_of_family(replay, s->ring, b);
        for (uint32_t i = 0; i < replay->agent_count && !is_waited_on; i++)
            for (uint32_t k = 0; k < replay->agents[i].step_count && !is_waited_on; k++)
                is_waited_on = replay->agents[i].target[k] == b && replay->agents[i].steps[k].kind == WSDBG_ACCESS_WAIT;
        if (!is_waited_on)
            return true;
    }
    return false;
}

static void try_all(struct shift *s)
{
    const struct wsdbg_replay *replay = s->t->replay;
    const uint32_t groups = (wsdbg_trial_warps_of_cta(s->t) + WSDBG_GROUP_WARPS - 1) / WSDBG_GROUP_WARPS;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        s->next[b] = find_next(s->t, b);
    memcpy(s->targets, replay->targets, s->step_count * sizeof *s->targets);
    for (uint32_t f = 0; f < replay->barrier_count; f++) {
        s->ring = f;
        s->places = places_of(s->t, f);
        if (!wsdbg_trial_leads_family(s->t, f) || s->places < 2 || s->places > PLACES_MOST)
            continue;
        try_each_group(s, groups, false);
        if (!s->t->out->count)
            try_each_group(s, groups, true);
        if (!s->t->out->count && !leaves_a_stage_out(s))
            try_all_groups(s);
    }
}

void wsdbg_try_shifts(struct wsdbg_trial *t)
{
    struct shift s = {.t = t};
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        s.step_count += t->replay->agents[i].step_count;
    s.next = calloc(t->replay->barrier_count + 1, sizeof *s.next);
    s.is_moved = calloc(t->replay->barrier_count + 1, sizeof *s.is_moved);
    s.targets = calloc(s.step_count + 1, sizeof *s.targets);
    s.flips = calloc(s.step_count + 1, sizeof *s.flips);
    if (s.next && s.is_moved && s.targets && s.flips)
        try_all(&s);
    else
        t->out->is_partial = true;
    free(s.next);
    free(s.is_moved);
    free(s.targets);
    free(s.flips);
}
