/* repair_ring.c - repairs of arrivals by the order of stages.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A thread that goes round a ring of barriers
 * arrives on one stage after the other.  Where it leaves one stage out it may have forgotten to arrive; where it
 * arrives on one twice in a row, it may have arrived once too often.  This needs no waits of the thread: other warps of
 * its role may wait for it, and let it go on by a named barrier.
 */
#include "diagnose/repair_trial.h"

struct ring {
    uint32_t family;             /* a barrier of it */
    uint32_t cta;                /* whose barriers */
    uint32_t stages;             /* how many it has */
    uint32_t begins;             /* on which stage its phases begin */
    enum wsdbg_repair_kind kind; /* ADD, DROP */
};

static bool stage_of(const struct wsdbg_trial *t, const struct ring *ring, uint32_t barrier, uint32_t *stage)
{
    if (barrier == WSDBG_NONE || t->replay->barriers[barrier].cta != ring->cta ||
        t->replay->barriers[barrier].row == WSDBG_NONE || !wsdbg_replay_is_of_family(t->replay, ring->family, barrier))
        return false;
    *stage = t->c->snapshot->barriers[t->replay->barriers[barrier].row].stage;
    return true;
}

static uint32_t barrier_at_stage(const struct wsdbg_trial *t, const struct ring *ring, uint32_t stage)
{
    uint32_t own;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (stage_of(t, ring, b, &own) && own == stage)
            return b;
    return WSDBG_NONE;
}

static uint32_t count_stages(const struct wsdbg_trial *t, const struct ring *ring)
{
    uint32_t count = 0, stage;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        count += stage_of(t, ring, b, &stage);
    return count;
}

/* The stage of the first wait on the ring. */
static uint32_t first_waited(const struct wsdbg_trial *t, const struct ring *ring)
{
    uint32_t stage;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (a->steps[k].kind == WSDBG_ACCESS_WAIT && stage_of(t, ring, a->target[k], &stage))
                return stage;
    }
    return 0;
}

/* Corrects an arrival on `stage` where `next` was to come.  False: this is no mistake of the ring's kind. */
static bool correct(struct wsdbg_trial *t, const struct ring *ring, uint32_t agent, uint32_t step, uint32_t stage,
                    uint32_t next)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const bool is_ahead = stage == (next + 1) % ring->stages, is_again = (stage + 1) % ring->stages == next;
    if (ring->kind == WSDBG_REPAIR_DROP && is_again)
        return wsdbg_trial_add_edit(
            t, (struct wsdbg_replay_edit){.agent = agent, .step = step, .barrier = a->target[step]});
    if (ring->kind != WSDBG_REPAIR_ADD || !is_ahead)
        return false;
    const uint32_t barrier = barrier_at_stage(t, ring, next);
    const int64_t bytes =
        a->steps[step].kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)a->steps[step].number * a->lane_count : 0;
    return barrier != WSDBG_NONE &&
           wsdbg_trial_add_edit(t,
                                wsdbg_replay_edit_of(agent, step, barrier, wsdbg_replay_arrivals_of(a, step), bytes));
}

/* Corrects an agent's arrivals on the ring; false where they are in no order that a mistake explains. */
static bool correct_agent(struct wsdbg_trial *t, const struct ring *ring, uint32_t agent)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t next = ring->begins, stage;
    for (uint32_t k = 0; k < a->step_count; k++) {
        if (wsdbg_replay_arrivals_of(a, k) == 0 || !stage_of(t, ring, a->target[k], &stage))
            continue;
        if (stage != next && !correct(t, ring, agent, k, stage, next))
            return false;
        next = (stage + 1) % ring->stages;
    }
    return true;
}

static bool add_ring(struct wsdbg_trial *t, const struct ring *ring, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const uint32_t before = t->changes.edit_count;
        if (!correct_agent(t, ring, i))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return true;
}

/* Corrects the ring in the CTAs from ring.cta up to the one before `end`; true if that works. */
static bool try_ring(struct wsdbg_trial *t, struct ring ring, uint32_t end)
{
    struct wsdbg_repair repair = {.kind = ring.kind};
    wsdbg_trial_begin(t);
    for (; ring.cta < end; ring.cta++) {
        ring.stages = count_stages(t, &ring);
        ring.begins = first_waited(t, &ring);
        if (ring.stages < 2 || !add_ring(t, &ring, &repair))
            return false;
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

void wsdbg_try_rings(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        bool works = false;
        if (!wsdbg_trial_leads_family(t, f))
            continue;
        for (uint32_t cta = 0; cta < t->c->cta_count; cta++)
            works |= try_ring(t, (struct ring){.family = f, .cta = cta, .kind = kind}, cta + 1);
        if (!works && t->c->cta_count > 1)
            try_ring(t, (struct ring){.family = f, .kind = kind}, t->c->cta_count);
    }
}
