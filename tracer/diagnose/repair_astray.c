/* repair_astray.c - repairs where waits by one instruction are on another stage of their ring than the one that the
 * same threads then release.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  A thread that waits for a slot and then releases
 * it names the same stage twice.  If it keeps two positions, as of the keys and the values of attention, a wait may
 * name the wrong one of them.  So all waits by the instruction are moved to the stage of the release behind them, and
 * their parities alternate there.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/repair_trial.h"

struct astray {
    struct wsdbg_trial *t;
    uint32_t access, family; /* the wait; its ring, by the first barrier */
    uint32_t released;       /* the ring of as many stages that is released behind it, by its first barrier */
    uint32_t *targets;       /* by step of all agents: as the replay has it without changes */
    bool *flips;             /* by step of all agents: the wait names the other parity */
    uint8_t *passed; /* by barrier: parity of the next wait of the agent at hand, plus 1; 0 = it has not waited */
    size_t step_count;
};

static bool is_of(const struct astray *a, uint32_t barrier, uint32_t family)
{
    return barrier != WSDBG_NONE && wsdbg_replay_is_of_family(a->t->replay, barrier, family);
}

static bool waits_on_ring(const struct astray *a, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    return agent->steps[k].kind == WSDBG_ACCESS_WAIT && agent->steps[k].number_known &&
           is_of(a, agent->target[k], a->family);
}

/* Whether it is one of those that are moved. */
static bool is_wait(const struct astray *a, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    return waits_on_ring(a, agent, k) && agent->steps[k].access == a->access;
}

/* The barrier that the agent releases behind the wait at step k and before its next such wait; WSDBG_NONE = none. */
static uint32_t release_behind(const struct astray *a, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    for (uint32_t i = k + 1; i < agent->step_count && !is_wait(a, agent, i); i++) {
        wsdbg_replay_spend(a->t->replay, 1);
        if (is_of(a, agent->target[i], a->released) && wsdbg_replay_arrivals_of(agent, i))
            return agent->target[i];
    }
    return WSDBG_NONE;
}

/* The parity for which the agent waits on a barrier, after its waits so far there: they alternate. */
static uint32_t next_parity(struct astray *a, uint32_t barrier, uint32_t first_parity)
{
    const uint32_t parity = a->passed[barrier] ? a->passed[barrier] - 1u : first_parity;
    a->passed[barrier] = (uint8_t)((parity ^ 1) + 1);
    return parity;
}

static void note_moved(const struct astray *a, struct wsdbg_repair_wait wait, uint32_t to, uint32_t behind,
                       struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *agent = &a->t->replay->agents[wait.agent];
    if (wsdbg_set_count(&repair->warps) == 0) {
        repair->wait = wait;
        repair->barrier = agent->target[wait.step];
        repair->moved_to = to;
        repair->released = behind;
    }
    wsdbg_set_add(&repair->warps, agent->warp);
}

/* Moves the waits of an agent by the instruction.  False: nothing is released behind some wait that it passed, or no
 * barrier has that stage. */
static bool move_agent(struct astray *a, uint32_t number, struct wsdbg_repair *repair)
{
    struct wsdbg_replay_agent *agent = &a->t->replay->agents[number];
    const size_t base = (size_t)(agent->target - a->t->replay->targets);
    uint32_t first_parity = WSDBG_NONE;
    memset(a->passed, 0, a->t->replay->barrier_count * sizeof *a->passed);
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (!waits_on_ring(a, agent, k))
            continue;
        const uint32_t was = agent->target[k], parity_was = agent->steps[k].number & 1;
        const uint32_t behind = is_wait(a, agent, k) ? release_behind(a, agent, k) : WSDBG_NONE;
        uint32_t to = was;
        if (behind != WSDBG_NONE)
            to = wsdbg_trial_stage_beside(a->t, a->family, a->t->replay->barriers[was].cta, behind);
        else if (is_wait(a, agent, k) && k < a->t->at[number])
            return false;
        if (to == WSDBG_NONE)
            return false;
        if (to != was)
            note_moved(a, (struct wsdbg_repair_wait){.agent = number, .step = k}, to, behind, repair);
        first_parity = first_parity == WSDBG_NONE ? parity_was : first_parity;
        agent->target[k] = to;
        a->flips[base + k] = next_parity(a, to, first_parity) != parity_was;
    }
    return true;
}

static void move_back(struct astray *a)
{
    memcpy(a->t->replay->targets, a->targets, a->step_count * sizeof *a->targets);
    memset(a->flips, 0, a->step_count * sizeof *a->flips);
}

static bool works(struct astray *a, struct wsdbg_repair *repair)
{
    struct wsdbg_trial *t = a->t;
    bool are_moved = true;
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_ASTRAY};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count && are_moved; i++)
        are_moved = move_agent(a, i, repair);
    t->changes.flips = WSDBG_FLIPS_STEPS;
    t->changes.flip_steps = a->flips;
    const bool works = are_moved && wsdbg_set_count(&repair->warps) && t->replay->steps_left && wsdbg_trial_works(t) &&
                       t->is_to_end && wsdbg_trial_gets_all_phases(t, a->family);
    move_back(a);
    return works;
}

/* Whether an agent that stood at a wait by the instruction comes before this one in their order. */
static bool was_tried(const struct wsdbg_trial *t, uint32_t agent)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < agent; i++) {
        const struct wsdbg_replay_agent *other = &t->replay->agents[i];
        if (t->state[i] == WSDBG_AGENT_WAITS && other->steps[t->at[i]].access == a->steps[t->at[agent]].access)
            return true;
    }
    return false;
}

/* Tries the waits by the instruction at which the agent stood with each ring of as many stages.  With more than one of
 * these that would do, nobody knows which stage is meant. */
static bool try_wait_of(struct astray *a, uint32_t agent, struct wsdbg_repair *found)
{
    const struct wsdbg_replay *replay = a->t->replay;
    const struct wsdbg_replay_agent *stood = &replay->agents[agent];
    const uint32_t at = a->t->at[agent], on = stood->target[at];
    struct wsdbg_repair repair;
    uint32_t count = 0;
    a->access = stood->steps[at].access;
    a->family = replay->barriers[on].family;
    for (uint32_t f = 0; f < replay->barrier_count; f++) {
        if (!wsdbg_trial_leads_family(a->t, f) || is_of(a, f, a->family) ||
            replay->barriers[f].stages != replay->barriers[on].stages)
            continue;
        a->released = f;
        if (works(a, &repair)) {
            *found = repair;
            count++;
        }
    }
    return count == 1;
}

static void try_all(struct astray *a)
{
    struct wsdbg_trial *t = a->t;
    struct wsdbg_repair found = {.kind = WSDBG_REPAIR_ASTRAY}, other;
    uint32_t count = 0;
    memcpy(a->targets, t->replay->targets, a->step_count * sizeof *a->targets);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        if (t->state[i] != WSDBG_AGENT_WAITS || t->at[i] >= agent->step_count ||
            agent->target[t->at[i]] == WSDBG_NONE || t->replay->barriers[agent->target[t->at[i]]].stages < 2 ||
            was_tried(t, i))
            continue;
        count += try_wait_of(a, i, count ? &other : &found);
    }
    if (count == 1 && t->replay->steps_left)
        wsdbg_trial_keep_found(t, &found, true);
}

void wsdbg_try_astray(struct wsdbg_trial *t)
{
    struct astray a = {.t = t};
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        a.step_count += t->replay->agents[i].step_count;
    a.targets = calloc(a.step_count + 1, sizeof *a.targets);
    a.flips = calloc(a.step_count + 1, sizeof *a.flips);
    a.passed = calloc(t->replay->barrier_count + 1, sizeof *a.passed);
    if (a.targets && a.flips && a.passed)
        try_all(&a);
    else
        t->out->is_partial = true;
    free(a.targets);
    free(a.flips);
    free(a.passed);
}
