/* repair_named_mates.c - repairs of named barriers to which some warps of a warpgroup come, and the others never.  See
 * repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 *
 * An arrival that belongs to a whole warpgroup may be under the guard of one warp or one thread.  The barrier then gets
 * too few threads.  It is tried only if just as many threads as its uses name would come together with those mates.
 */
#include "diagnose/repair_trial.h"

struct meeting {
    uint32_t id, threads; /* that uses of it name */
    uint32_t cta;         /* position in c->ctas */
    struct wsdbg_warp_set comers, missing;
};

/* A warp that comes to the barrier and is of the warp's warpgroup; WSDBG_NONE. */
static uint32_t mate_of(const struct wsdbg_trial *t, const struct meeting *meeting, uint32_t warp)
{
    for (uint32_t mate = 0; mate < t->c->warp_count; mate++)
        if (wsdbg_set_has(&meeting->comers, mate) && wsdbg_case_are_mates(t->c, mate, warp))
            return mate;
    return WSDBG_NONE;
}

static bool is_walked_whole(const struct wsdbg_trial *t, uint32_t warp)
{
    bool any = false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        if (agent->warp == warp && !t->c->snapshot->walks[agent->walk].is_whole)
            return false;
        any |= agent->warp == warp;
    }
    return any;
}

/* Who comes to the barrier in a CTA, and which of their mates never do.  False: they would not make up what is named,
 * or have left the kernel, which may be the mistake. */
static bool read_meeting(const struct wsdbg_trial *t, struct meeting *meeting)
{
    meeting->comers = meeting->missing = (struct wsdbg_warp_set){{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++)
            if (t->replay->agents[i].cta == meeting->cta &&
                wsdbg_replay_is_use(&t->replay->agents[i].steps[k], meeting->id))
                wsdbg_set_add(&meeting->comers, t->replay->agents[i].warp);
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (!wsdbg_set_has(&meeting->comers, w) && mate_of(t, meeting, w) != WSDBG_NONE) {
            wsdbg_set_add(&meeting->missing, w);
            if (!is_walked_whole(t, w) || wsdbg_case_warp(t->c, w)->state == WSDBG_WARP_EXITED)
                return false;
        }
    const uint32_t warps = wsdbg_set_count(&meeting->comers) + wsdbg_set_count(&meeting->missing);
    return wsdbg_set_count(&meeting->missing) && warps * WSDBG_WARP_THREADS == meeting->threads;
}

/* Lets a warp arrive whenever its mate uses the barrier.  False: there are too many edits. */
static bool follow_mate(struct wsdbg_trial *t, const struct meeting *meeting, uint32_t mate)
{
    uint32_t agent = 0;
    while (t->replay->agents[agent].warp != mate) /* the lanes of a warp come together: one agent is enough */
        agent++;
    for (uint32_t k = 0; k < t->replay->agents[agent].step_count; k++)
        if (wsdbg_replay_is_use(&t->replay->agents[agent].steps[k], meeting->id) &&
            !wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent,
                                                                .step = k,
                                                                .barrier = t->replay->barrier_count,
                                                                .arrivals = WSDBG_WARP_THREADS,
                                                                .named_threads = meeting->threads,
                                                                .named = meeting->id}))
            return false;
    return true;
}

/* Whether one of the warps executes the instruction. */
static bool executes(const struct wsdbg_trial *t, const struct wsdbg_warp_set *warps, uint32_t access)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; wsdbg_set_has(warps, agent->warp) && k < agent->step_count; k++)
            if (agent->steps[k].access == access)
                return true;
    }
    return false;
}

/* Whether one of those who come executes the instruction with this id. */
static bool come_with(const struct wsdbg_trial *t, const struct meeting *meeting, uint32_t access, uint32_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; wsdbg_set_has(&meeting->comers, agent->warp) && k < agent->step_count; k++)
            if (agent->steps[k].access == access && wsdbg_replay_is_use(&agent->steps[k], id))
                return true;
    }
    return false;
}

/* Whether a missing warp executes the very instruction by which others come to the barrier, and names an id with it
 * that they never do: then that is the mistake. */
static bool names_another_id(const struct wsdbg_trial *t, const struct meeting *meeting)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; wsdbg_set_has(&meeting->missing, agent->warp) && k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if ((step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) &&
                step->access != WSDBG_NONE && come_with(t, meeting, step->access, meeting->id) &&
                !come_with(t, meeting, step->access, step->address))
                return true;
        }
    }
    return false;
}

/* Whether the missing warps work with those who come: they wait or arrive together at something but a barrier of all
 * threads.  If not, they may be meant to be idle, and the count is wrong. */
static bool work_together(const struct wsdbg_trial *t, const struct meeting *meeting)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; wsdbg_set_has(&meeting->missing, agent->warp) && k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            const bool is_of_some = agent->target[k] != WSDBG_NONE
                                        ? step->kind != WSDBG_ACCESS_INIT
                                        : step->kind == WSDBG_ACCESS_NAMED_SYNC && step->number;
            if (is_of_some && step->access != WSDBG_NONE && executes(t, &meeting->comers, step->access))
                return true;
        }
    }
    return false;
}

/* In all CTAs in which mates are missing. */
static void try_barrier(struct wsdbg_trial *t, uint32_t id, uint32_t threads)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED_MATES, .named = id, .value = threads, .like = WSDBG_NONE};
    struct meeting meeting = {.id = id, .threads = threads};
    wsdbg_trial_begin(t);
    for (; meeting.cta < t->c->cta_count; meeting.cta++) {
        if (!read_meeting(t, &meeting) || names_another_id(t, &meeting))
            continue;
        repair.is_doubtful |= !work_together(t, &meeting);
        for (uint32_t w = 0; w < t->c->warp_count; w++) {
            if (!wsdbg_set_has(&meeting.missing, w))
                continue;
            const uint32_t mate = mate_of(t, &meeting, w);
            if (!follow_mate(t, &meeting, mate))
                return;
            repair.like = repair.like == WSDBG_NONE ? mate : repair.like;
            wsdbg_set_add(&repair.warps, w);
        }
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t) || !t->is_to_end)
        return;
    repair.barrier = 0;
    wsdbg_trial_keep(t, &repair);
}

void wsdbg_try_named_mates(struct wsdbg_trial *t)
{
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++) {
        const uint32_t threads = wsdbg_trial_is_waited_at(t, id) ? wsdbg_trial_threads_named(t, id) : 0;
        if (threads)
            try_barrier(t, id, threads);
    }
}
