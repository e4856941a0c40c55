/* repair_flow.c - which of two sides that wait for each other brings data through shared memory.
 *
 * Side A waits on X and then arrives on Y, the others wait on Y and then arrive on X.  If A brings the data, X says
 * that there is room: A writes between its wait and its arrival, and the others read between theirs.  If the others do,
 * they write and A reads.  Only if one of these is possible and the other one is not, the code tells the side.
 *
 * Reads: walks.  Writes: nothing.
 */
#include <stdlib.h>

#include "diagnose/repair_trial.h"

struct sides {
    const struct wsdbg_trial *t;
    uint32_t family;                    /* X */
    const struct wsdbg_warp_set *first; /* A */
    struct wsdbg_warp_set others;
    bool *answers;             /* by barrier: Y */
    uint8_t traffic, answered; /* of A, and of the others: sets of enum wsdbg_traffic */
};

static bool is_of_x(const struct sides *sides, const struct wsdbg_replay_agent *a, uint32_t step)
{
    return a->target[step] != WSDBG_NONE && wsdbg_replay_is_of_family(sides->t->replay, sides->family, a->target[step]);
}

static bool is_of_y(const struct sides *sides, const struct wsdbg_replay_agent *a, uint32_t step)
{
    return a->target[step] != WSDBG_NONE && sides->answers[a->target[step]];
}

static bool arrives(const struct wsdbg_replay_agent *a, uint32_t step)
{
    return a->target[step] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, step);
}

static bool waits(const struct wsdbg_replay_agent *a, uint32_t step)
{
    return a->target[step] != WSDBG_NONE && a->steps[step].kind == WSDBG_ACCESS_WAIT;
}

static void find_others(struct sides *sides)
{
    for (uint32_t i = 0; i < sides->t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &sides->t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (is_of_x(sides, a, k) && arrives(a, k))
                wsdbg_set_add(&sides->others, a->warp);
    }
}

/* Whether agents of the warps have a step at the barrier that passes the test. */
static bool any_does(const struct sides *sides, const struct wsdbg_warp_set *warps, uint32_t barrier,
                     bool (*does)(const struct wsdbg_replay_agent *a, uint32_t step))
{
    for (uint32_t i = 0; i < sides->t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &sides->t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count && wsdbg_set_has(warps, a->warp); k++)
            if (a->target[k] == barrier && does(a, k))
                return true;
    }
    return false;
}

static void find_answers(struct sides *sides)
{
    for (uint32_t b = 0; b < sides->t->replay->barrier_count; b++)
        sides->answers[b] = !wsdbg_replay_is_of_family(sides->t->replay, sides->family, b) &&
                            any_does(sides, sides->first, b, arrives) && any_does(sides, &sides->others, b, waits);
}

/* Whether only these warps, of all in the agent's CTA, use the named barrier at its step. */
static bool meets_only(const struct sides *sides, const struct wsdbg_replay_agent *agent, uint32_t step,
                       const struct wsdbg_warp_set *warps)
{
    for (uint32_t i = 0; i < sides->t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &sides->t->replay->agents[i];
        if (a->cta != agent->cta || wsdbg_set_has(warps, a->warp))
            continue;
        for (uint32_t k = 0; k < a->step_count; k++)
            if (wsdbg_replay_is_use(&a->steps[k], agent->steps[step].address))
                return false;
    }
    return true;
}

/* What a step of a side and the code before it may read and write: anything, where other warps may do it for them. */
static uint8_t traffic_at(const struct sides *sides, const struct wsdbg_replay_agent *a, uint32_t step,
                          const struct wsdbg_warp_set *warps)
{
    const uint8_t kind = a->steps[step].kind;
    const bool is_named = kind == WSDBG_ACCESS_NAMED_SYNC || kind == WSDBG_ACCESS_NAMED_ARRIVE;
    const bool is_of_cluster = kind == WSDBG_ACCESS_CLUSTER_ARRIVE || kind == WSDBG_ACCESS_CLUSTER_WAIT;
    return is_of_cluster || (is_named && !meets_only(sides, a, step, warps)) ? WSDBG_TRAFFIC_ALL
                                                                             : a->steps[step].traffic;
}

/* From a wait on X to the arrival on Y.  A round that comes to no arrival tells nothing. */
static void add_of_first(struct sides *sides, const struct wsdbg_replay_agent *a, uint32_t wait)
{
    uint8_t traffic = 0;
    for (uint32_t k = wait + 1; k < a->step_count && !(is_of_x(sides, a, k) && waits(a, k)); k++) {
        traffic |= traffic_at(sides, a, k, sides->first);
        if (is_of_y(sides, a, k) && arrives(a, k)) {
            sides->traffic |= traffic;
            return;
        }
    }
}

/* From a wait on Y to the arrival on X; to the next wait for lanes that do not arrive. */
static void add_of_others(struct sides *sides, const struct wsdbg_replay_agent *a, uint32_t wait)
{
    for (uint32_t k = wait + 1; k < a->step_count && !(is_of_y(sides, a, k) && waits(a, k)); k++) {
        sides->answered |= traffic_at(sides, a, k, &sides->others);
        if (is_of_x(sides, a, k) && arrives(a, k))
            return;
    }
}

static void add_traffic(struct sides *sides)
{
    for (uint32_t i = 0; i < sides->t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &sides->t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (wsdbg_set_has(sides->first, a->warp) && is_of_x(sides, a, k) && waits(a, k))
                add_of_first(sides, a, k);
            if (wsdbg_set_has(&sides->others, a->warp) && is_of_y(sides, a, k) && waits(a, k))
                add_of_others(sides, a, k);
        }
    }
}

/* Whether one side may read what the other one writes. */
static bool may_flow(uint8_t from, uint8_t to)
{
    return (from & WSDBG_WRITES_SHARED && to & WSDBG_READS_SHARED) ||
           (from & WSDBG_WRITES_GLOBAL && to & WSDBG_READS_GLOBAL);
}

/* Through shared memory, and not back through any. */
static bool flows_only(uint8_t from, uint8_t to)
{
    return from & WSDBG_WRITES_SHARED && to & WSDBG_READS_SHARED && !may_flow(to, from);
}

enum wsdbg_flow wsdbg_trial_flow(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps)
{
    struct sides sides = {.t = t, .family = family, .first = warps};
    sides.answers = calloc((size_t)t->replay->barrier_count + 1, sizeof *sides.answers);
    if (!sides.answers)
        return WSDBG_FLOW_UNKNOWN;
    find_others(&sides);
    find_answers(&sides);
    if (!wsdbg_set_meets(warps, &sides.others))
        add_traffic(&sides);
    free(sides.answers);
    return flows_only(sides.traffic, sides.answered)   ? WSDBG_FLOW_FROM
           : flows_only(sides.answered, sides.traffic) ? WSDBG_FLOW_TO
                                                       : WSDBG_FLOW_UNKNOWN;
}
