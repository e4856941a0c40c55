/* repair_named.c - repairs of named barriers: uses that name a wrong number of threads.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A count is tried only if another use of the
 * barrier names it, or as many threads ever come to the barrier.
 */
#include "diagnose/code_case.h"
#include "diagnose/repair_trial.h"

enum { COUNTS_MOST = 8 };

/* What the uses of a named barrier name, and who comes to it in one CTA. */
struct uses {
    uint32_t counts[COUNTS_MOST], count;
    struct wsdbg_warp_set by[COUNTS_MOST]; /* in all CTAs */
    struct wsdbg_warp_set comers;          /* likewise: by any count */
    uint32_t threads;                      /* the most of any CTA */
};

static void add_use(struct uses *uses, uint32_t threads, uint32_t warp)
{
    uint32_t i = 0;
    while (i < uses->count && uses->counts[i] != threads)
        i++;
    if (i == COUNTS_MOST)
        return;
    uses->count += i == uses->count;
    uses->counts[i] = threads;
    wsdbg_set_add(&uses->by[i], warp);
}

static struct uses uses_of(const struct wsdbg_trial *t, uint32_t id)
{
    struct uses uses = {0};
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++) {
        struct wsdbg_warp_set come = {{0}};
        for (uint32_t i = 0; i < t->replay->agent_count; i++) {
            const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
            for (uint32_t k = 0; k < agent->step_count && agent->cta == cta; k++)
                if (wsdbg_replay_is_use(&agent->steps[k], id) && agent->steps[k].number) {
                    wsdbg_set_add(&come, agent->warp);
                    wsdbg_set_add(&uses.comers, agent->warp);
                    add_use(&uses, agent->steps[k].number, agent->warp);
                }
        }
        const uint32_t threads = wsdbg_set_count(&come) * WSDBG_WARP_THREADS;
        uses.threads = threads > uses.threads ? threads : uses.threads;
    }
    return uses;
}

/* The most of any CTA. */
static uint32_t threads_of_cta(const struct wsdbg_trial *t)
{
    return wsdbg_trial_warps_of_cta(t) * WSDBG_WARP_THREADS;
}

static bool is_named_use(const struct wsdbg_step_row *step)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) &&
           step->access != WSDBG_NONE;
}

/* Whether some warp comes to the barrier by this instruction. */
static bool is_instruction_of(const struct wsdbg_trial *t, uint32_t id, uint32_t access)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++)
            if (is_named_use(&t->replay->agents[i].steps[k]) && t->replay->agents[i].steps[k].access == access &&
                t->replay->agents[i].steps[k].address == id)
                return true;
    return false;
}

/* Whether a warp comes to another barrier, with as many warps, by an instruction by which others come to this one: it
 * is of another team. */
static bool is_of_another_team(const struct wsdbg_trial *t, uint32_t id, const struct uses *uses, uint32_t warp)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (!is_named_use(step) || step->address == id || !is_instruction_of(t, id, step->access))
                continue;
            const struct uses others = uses_of(t, step->address);
            if (wsdbg_set_count(&others.comers) == wsdbg_set_count(&uses->comers))
                return true;
        }
    }
    return false;
}

uint32_t wsdbg_trial_threads_named(const struct wsdbg_trial *t, uint32_t id)
{
    uint32_t threads = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++) {
            const struct wsdbg_step_row *step = &t->replay->agents[i].steps[k];
            if (!wsdbg_replay_is_use(step, id))
                continue;
            if (!step->number || (threads && threads != step->number))
                return 0;
            threads = step->number;
        }
    return threads;
}

/* Whether the warp's code can still use the barrier. */
static bool can_use(const struct wsdbg_trial *t, uint32_t warp, uint32_t id)
{
    const struct wsdbg_snapshot *s = t->c->snapshot;
    bool can = false;
    for (uint32_t b = 0; b < s->barrier_count && !can; b++)
        can = s->barriers[b].kind == WSDBG_BARRIER_NAMED && s->barriers[b].id == id &&
              s->barriers[b].cta == wsdbg_case_warp(t->c, warp)->cta &&
              wsdbg_code_can(t->c, warp, WSDBG_KINDS_NAMED, b, NULL) > WSDBG_CAN_NOT;
    return can;
}

/* Whether warps of which nobody knows all that they do may come to the barrier, too, or have come there before they
 * left. */
static bool may_others_come(const struct wsdbg_trial *t, uint32_t id, const struct uses *uses)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (!t->c->snapshot->walks[a->walk].is_whole && !wsdbg_set_has(&uses->comers, a->warp) &&
            (wsdbg_case_warp(t->c, a->warp)->state == WSDBG_WARP_EXITED || can_use(t, a->warp, id)))
            return true;
    }
    return false;
}

/* Whether a warp never comes, and the three others of its warpgroup do: then it should, too. */
static bool lacks_a_mate(const struct wsdbg_trial *t, uint32_t id, const struct uses *uses)
{
    for (uint32_t w = 0; w < t->c->warp_count; w++) {
        uint32_t mates = 0;
        for (uint32_t mate = 0; mate < t->c->warp_count && !wsdbg_set_has(&uses->comers, w); mate++)
            mates += wsdbg_set_has(&uses->comers, mate) && wsdbg_case_are_mates(t->c, w, mate);
        if (mates == WSDBG_GROUP_WARPS - 1 && !is_of_another_team(t, id, uses, w))
            return true;
    }
    return false;
}

static bool is_use_of(const struct wsdbg_step_row *step, uint32_t threads)
{
    return is_named_use(step) && step->number == threads;
}

/* An instruction that names the barrier with this number of threads; WSDBG_NONE. */
static uint32_t access_of_use(const struct wsdbg_trial *t, uint32_t id, uint32_t threads)
{
    uint32_t access = WSDBG_NONE;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (is_use_of(&agent->steps[k], threads) && agent->steps[k].address == id)
                access = agent->steps[k].access;
    }
    return access;
}

/* The barriers, a bit each, that an instruction names beside this one, if it names this one with this number of
 * threads, and those with the same. */
static uint32_t others_of_instruction(const struct wsdbg_trial *t, uint32_t id, uint32_t threads)
{
    const uint32_t access = access_of_use(t, id, threads);
    uint32_t others = 0;
    for (uint32_t i = 0; i < t->replay->agent_count && access != WSDBG_NONE; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (is_use_of(step, threads) && step->access == access && step->address != id &&
                step->address < WSDBG_NAMED_BARRIERS)
                others |= 1u << step->address;
        }
    }
    return others;
}

/* Whether just as many threads as the instruction names come to another barrier that it names.  It names one number for
 * all of them: so the number is right, and what is wrong is who comes. */
static bool is_right_elsewhere(const struct wsdbg_trial *t, uint32_t others, uint32_t threads)
{
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++)
        if (others >> id & 1 && uses_of(t, id).threads == threads)
            return true;
    return false;
}

/* Where all uses name all threads of the CTA, the number is right: what is wrong is who comes. */
static bool try_count(struct wsdbg_trial *t, uint32_t id, const struct uses *uses, uint32_t which, uint32_t count,
                      bool of_any)
{
    const struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED,
                                        .named = id,
                                        .was = uses->counts[which],
                                        .value = count,
                                        .is_of_comers = count == uses->threads,
                                        .is_of_any = of_any,
                                        .warps = uses->by[which]};
    const bool is_of_all = repair.was == threads_of_cta(t) && uses->count == 1;
    const uint32_t others = others_of_instruction(t, id, repair.was);
    if (count == repair.was || is_of_all || is_right_elsewhere(t, others, repair.was) ||
        (count < repair.was && (lacks_a_mate(t, id, uses) || may_others_come(t, id, uses))) || (of_any && !others))
        return false;
    wsdbg_trial_begin(t);
    t->changes.named_id = of_any ? WSDBG_NONE : id;
    t->changes.named_was = repair.was;
    t->changes.named_count = count;
    if (!wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* The number that come is tried first. */
static bool try_counts(struct wsdbg_trial *t, uint32_t id, const struct uses *uses, bool of_any)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (try_count(t, id, uses, i, uses->threads, of_any))
            return true;
    for (uint32_t i = 0; i < uses->count; i++)
        for (uint32_t k = 0; k < uses->count; k++)
            if (try_count(t, id, uses, i, uses->counts[k], of_any))
                return true;
    return false;
}

static bool try_ids(struct wsdbg_trial *t, bool of_any)
{
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++) {
        if (!wsdbg_trial_is_waited_at(t, id))
            continue;
        const struct uses uses = uses_of(t, id);
        if (try_counts(t, id, &uses, of_any))
            return true;
    }
    return false;
}

/* One barrier, else all that name the number: an instruction that takes its barrier from a register has a wrong count
 * for each of them. */
void wsdbg_try_named(struct wsdbg_trial *t)
{
    if (!try_ids(t, false))
        try_ids(t, true);
}
