/* repair_named_less.c - repairs of arrivals at named barriers that are too many: warps make them only once, or not at
 * all.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 *
 * Whoever passes a turn on at the end of each round gives the first one before its rounds.  If it does so in a loop
 * around them, each further time is one too many.  The same holds for one of two arrivals that a round makes.  Arrivals
 * at several barriers, one instruction for each, are one mistake if they always come together.
 */
#include "diagnose/repair_trial.h"

enum { SITES_MOST = 32, TOGETHER_MOST = 8 };

/* Instructions that arrive at named barriers. */
struct arrivals {
    uint32_t access[SITES_MOST], count;
};

static bool is_arrival(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_ARRIVE && step->access != WSDBG_NONE &&
           step->address < WSDBG_NAMED_BARRIERS;
}

static bool has(const struct arrivals *arrivals, uint32_t access)
{
    for (uint32_t i = 0; i < arrivals->count; i++)
        if (arrivals->access[i] == access)
            return true;
    return false;
}

static bool is_of(const struct arrivals *arrivals, const struct wsdbg_step_row *step)
{
    return is_arrival(step) && has(arrivals, step->access);
}

/* Whether the agent arrives on the barrier by other instructions, too. */
static bool arrives_otherwise(const struct wsdbg_replay_agent *agent, const struct arrivals *arrivals, uint32_t id)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (is_arrival(&agent->steps[k]) && !has(arrivals, agent->steps[k].access) && agent->steps[k].address == id)
            return true;
    return false;
}

/* The instruction that arrives right behind each use of this one, and nowhere else; WSDBG_NONE. */
static uint32_t always_next(const struct wsdbg_trial *t, uint32_t access)
{
    uint32_t next = WSDBG_NONE, uses = 0, uses_of_next = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (!is_arrival(&a->steps[k]) || a->steps[k].access != access)
                continue;
            const uint32_t behind =
                k + 1 < a->step_count && is_arrival(&a->steps[k + 1]) ? a->steps[k + 1].access : WSDBG_NONE;
            if (behind == access || behind == WSDBG_NONE || (uses++ && behind != next))
                return WSDBG_NONE;
            next = behind;
        }
    }
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++)
            uses_of_next += is_arrival(&t->replay->agents[i].steps[k]) && t->replay->agents[i].steps[k].access == next;
    return uses == uses_of_next ? next : WSDBG_NONE;
}

/* Leaves out the agent's arrivals by these instructions.  The first `kept` at each barrier stay.  False: the agent
 * makes no other arrivals there, or there are too many edits. */
static bool leave_out(struct wsdbg_trial *t, uint32_t agent, const struct arrivals *arrivals, uint32_t kept,
                      struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t made[WSDBG_NAMED_BARRIERS] = {0};
    for (uint32_t k = 0; k < a->step_count; k++) {
        const struct wsdbg_step_row *step = &a->steps[k];
        if (!is_of(arrivals, step) || made[step->address]++ < kept)
            continue;
        if (!arrives_otherwise(a, arrivals, step->address) ||
            !wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = k}))
            return false;
        wsdbg_set_add(&repair->warps, a->warp);
        repair->value |= (uint32_t)1 << step->address;
    }
    return true;
}

static bool try_less(struct wsdbg_trial *t, const struct arrivals *arrivals, uint32_t kept)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED_LESS, .is_each_time = kept > 0};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (!leave_out(t, i, arrivals, kept, &repair))
            return false;
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t) || !t->is_to_end)
        return false;
    repair.named = t->replay->agents[repair.edit.agent].steps[repair.edit.step].address;
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* The instruction alone, and then with those that always follow it. */
static bool try_from(struct wsdbg_trial *t, uint32_t access, uint32_t kept)
{
    struct arrivals arrivals = {.access = {access}, .count = 1};
    while (!try_less(t, &arrivals, kept)) {
        const uint32_t next = always_next(t, arrivals.access[arrivals.count - 1]);
        if (next == WSDBG_NONE || arrivals.count == TOGETHER_MOST || has(&arrivals, next) || !t->replay->steps_left)
            return false;
        arrivals.access[arrivals.count++] = next;
    }
    return true;
}

/* Notes an instruction; false where it is noted already, or there is no room. */
static bool note(struct wsdbg_trial *t, struct arrivals *noted, uint32_t access)
{
    if (has(noted, access))
        return false;
    if (noted->count == SITES_MOST) {
        t->out->is_partial = true;
        return false;
    }
    noted->access[noted->count++] = access;
    return true;
}

void wsdbg_try_named_less(struct wsdbg_trial *t)
{
    struct arrivals noted = {.count = 0};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (is_arrival(&agent->steps[k]) && note(t, &noted, agent->steps[k].access) &&
                (try_from(t, agent->steps[k].access, 1) || try_from(t, agent->steps[k].access, 0)))
                return;
    }
}
