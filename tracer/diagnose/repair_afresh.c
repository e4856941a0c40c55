/* repair_afresh.c - repairs where a thread goes back to the position on a ring with which it began, as in each tile,
 * though it should go on.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  Such a thread keeps the stage and the phase in
 * variables that begin afresh.  So its waits on the ring are moved: each one names the stage behind that of the wait
 * before it, and the parity of that lap.  What it brings to rings of as many stages, behind a wait, moves with it.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/repair_trial.h"

struct afresh {
    struct wsdbg_trial *t;
    uint32_t family, stages; /* the ring, by its first barrier */
    uint32_t *targets;       /* by step of all agents: as the replay has it without changes */
    bool *flips;             /* by step of all agents: the wait names the other parity */
    bool *is_moved;          /* by barrier: the agent at hand brings something to its ring, and never waits there */
    size_t step_count;
};

/* Where an agent is on its way round the ring. */
struct position {
    uint32_t stage, parity;
};

static bool waits_on_ring(const struct afresh *f, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    return agent->steps[k].kind == WSDBG_ACCESS_WAIT && agent->steps[k].number_known &&
           agent->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(f->t->replay, agent->target[k], f->family);
}

/* The barrier of a ring that has the stage, in a CTA; WSDBG_NONE. */
static uint32_t at_stage(const struct afresh *f, uint32_t barrier, uint32_t stage)
{
    const struct wsdbg_replay *replay = f->t->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (replay->barriers[b].cta == replay->barriers[barrier].cta && wsdbg_trial_stage_of(f->t, b) == stage &&
            wsdbg_replay_is_of_family(replay, b, barrier))
            return b;
    return WSDBG_NONE;
}

static struct position position_of(const struct afresh *f, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    return (struct position){wsdbg_trial_stage_of(f->t, agent->target[k]), agent->steps[k].number & 1};
}

static struct position next_of(const struct afresh *f, struct position at)
{
    const uint32_t stage = (at.stage + 1) % f->stages;
    return (struct position){stage, at.parity ^ (stage == 0)};
}

static bool are_equal(struct position a, struct position b)
{
    return a.stage == b.stage && a.parity == b.parity;
}

/* Whether the agent's waits go round the ring stage by stage, but for times when it goes back to where it began.  *any:
 * there are such times. */
static bool goes_back(const struct afresh *f, const struct wsdbg_replay_agent *agent, bool *any)
{
    struct position first = {WSDBG_NONE, 0}, last = first;
    *any = false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (!waits_on_ring(f, agent, k) || agent->repeats[k])
            continue;
        const struct position at = position_of(f, agent, k);
        if (at.stage >= f->stages)
            return false;
        const bool is_next = last.stage == WSDBG_NONE || are_equal(at, next_of(f, last));
        first = last.stage == WSDBG_NONE ? at : first;
        if (!is_next && !are_equal(at, first))
            return false;
        *any |= !is_next;
        last = at;
    }
    return true;
}

/* Finds the rings to which the agent brings something and on which it never waits. */
static void find_moved(struct afresh *f, const struct wsdbg_replay_agent *agent)
{
    const struct wsdbg_replay *replay = f->t->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        bool waits = replay->barriers[b].stages != f->stages || wsdbg_replay_is_of_family(replay, b, f->family);
        for (uint32_t k = 0; k < agent->step_count && !waits; k++)
            waits = agent->steps[k].kind == WSDBG_ACCESS_WAIT && agent->target[k] != WSDBG_NONE &&
                    wsdbg_replay_is_of_family(replay, agent->target[k], b);
        f->is_moved[b] = !waits;
    }
}

/* Moves a step by so many stages.  False: it goes to several CTAs at once, or there is no such barrier. */
static bool move_step(const struct afresh *f, struct wsdbg_replay_agent *agent, uint32_t k, uint32_t by)
{
    const uint32_t was = agent->target[k];
    if (by == 0)
        return true;
    if (agent->steps[k].mask || wsdbg_trial_stage_of(f->t, was) == WSDBG_NONE)
        return false;
    agent->target[k] = at_stage(f, was, (wsdbg_trial_stage_of(f->t, was) + by) % f->stages);
    return agent->target[k] != WSDBG_NONE;
}

static void note_moved(const struct afresh *f, struct wsdbg_repair_wait wait, uint32_t was, struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *agent = &f->t->replay->agents[wait.agent];
    const size_t base = (size_t)(agent->target - f->t->replay->targets);
    if (wsdbg_set_count(&repair->warps) == 0) {
        repair->wait = wait;
        repair->barrier = was;
        repair->moved_to = agent->target[wait.step];
        repair->moved_parity = (agent->steps[wait.step].number & 1) ^ f->flips[base + wait.step];
    }
    wsdbg_set_add(&repair->warps, agent->warp);
}

/* Lets an agent go on where it goes back. */
static bool move_agent(struct afresh *f, uint32_t number, struct wsdbg_repair *repair)
{
    struct wsdbg_replay_agent *agent = &f->t->replay->agents[number];
    const size_t base = (size_t)(agent->target - f->t->replay->targets);
    struct position right = {WSDBG_NONE, 0};
    uint32_t by = 0;
    find_moved(f, agent);
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t was = agent->target[k];
        if (was == WSDBG_NONE || agent->steps[k].kind == WSDBG_ACCESS_INIT)
            continue;
        if (!waits_on_ring(f, agent, k)) {
            if (f->is_moved[was] && !move_step(f, agent, k, by))
                return false;
            continue;
        }
        const struct position at = position_of(f, agent, k);
        if (!agent->repeats[k])
            right = right.stage == WSDBG_NONE ? at : next_of(f, right);
        by = (right.stage + f->stages - at.stage) % f->stages;
        f->flips[base + k] = at.parity != right.parity;
        if (!move_step(f, agent, k, by))
            return false;
        if (!are_equal(at, right))
            note_moved(f, (struct wsdbg_repair_wait){.agent = number, .step = k}, was, repair);
    }
    return true;
}

static void move_back(struct afresh *f)
{
    memcpy(f->t->replay->targets, f->targets, f->step_count * sizeof *f->targets);
    memset(f->flips, 0, f->step_count * sizeof *f->flips);
}

static bool works(struct afresh *f, struct wsdbg_repair *repair)
{
    struct wsdbg_trial *t = f->t;
    bool are_moved = true;
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_AFRESH};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count && are_moved; i++) {
        bool any;
        wsdbg_replay_spend(t->replay, t->replay->agents[i].step_count);
        if (goes_back(f, &t->replay->agents[i], &any) && any)
            are_moved = move_agent(f, i, repair);
    }
    t->changes.flips = WSDBG_FLIPS_STEPS;
    t->changes.flip_steps = f->flips;
    const bool works = are_moved && wsdbg_set_count(&repair->warps) && t->replay->steps_left && wsdbg_trial_works(t) &&
                       t->is_to_end && wsdbg_trial_gets_all_phases(t, f->family);
    move_back(f);
    return works;
}

/* With more than one ring that would do, nobody knows which one is meant. */
static void try_all(struct afresh *f)
{
    struct wsdbg_trial *t = f->t;
    struct wsdbg_repair found = {.kind = WSDBG_REPAIR_AFRESH}, other;
    uint32_t count = 0;
    memcpy(f->targets, t->replay->targets, f->step_count * sizeof *f->targets);
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (!wsdbg_trial_leads_family(t, b) || t->replay->barriers[b].stages < 2)
            continue;
        f->family = b;
        f->stages = t->replay->barriers[b].stages;
        count += works(f, count ? &other : &found);
    }
    if (count == 1 && t->replay->steps_left)
        wsdbg_trial_keep_found(t, &found, true);
}

void wsdbg_try_afresh(struct wsdbg_trial *t)
{
    struct afresh f = {.t = t};
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        f.step_count += t->replay->agents[i].step_count;
    f.targets = calloc(f.step_count + 1, sizeof *f.targets);
    f.flips = calloc(f.step_count + 1, sizeof *f.flips);
    f.is_moved = calloc(t->replay->barrier_count + 1, sizeof *f.is_moved);
    if (f.targets && f.flips && f.is_moved)
        try_all(&f);
    else
        t->out->is_partial = true;
    free(f.targets);
    free(f.flips);
    free(f.is_moved);
}
