/* repair_named.c - repairs of named barriers: uses that name a wrong number of threads.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A count is tried only if another use of the
 * barrier names it, or as many threads ever come to the barrier.
 */
#include "diagnose/repair_trial.h"

enum { COUNTS_MOST = 8 };

static bool is_use(const struct wsdbg_step_row *step, uint32_t id)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) && step->address == id;
}

static bool is_waited_at(const struct wsdbg_trial *t, uint32_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED && is_use(&t->replay->agents[i].steps[t->at[i]], id))
            return true;
    return false;
}

/* What the uses of a named barrier name, and who comes to it in one CTA. */
struct uses {
    uint32_t counts[COUNTS_MOST], count;
    struct wsdbg_warp_set by[COUNTS_MOST]; /* in all CTAs */
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
                if (is_use(&agent->steps[k], id) && agent->steps[k].number) {
                    wsdbg_set_add(&come, agent->warp);
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
    uint32_t warps = 0;
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        warps = wsdbg_case_warp(t->c, w)->warp >= warps ? wsdbg_case_warp(t->c, w)->warp + 1 : warps;
    return warps * WSDBG_WARP_THREADS;
}

/* A barrier of all threads names the right number: what is wrong is who comes to it. */
static bool try_count(struct wsdbg_trial *t, uint32_t id, const struct uses *uses, uint32_t which, uint32_t count)
{
    const struct wsdbg_repair repair = {
        .kind = WSDBG_REPAIR_NAMED, .named = id, .was = uses->counts[which], .value = count, .warps = uses->by[which]};
    if (count == repair.was || repair.was == threads_of_cta(t))
        return false;
    wsdbg_trial_begin(t);
    t->changes.named_id = id;
    t->changes.named_was = repair.was;
    t->changes.named_count = count;
    if (!wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

void wsdbg_try_named(struct wsdbg_trial *t)
{
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++) {
        if (!is_waited_at(t, id))
            continue;
        const struct uses uses = uses_of(t, id);
        for (uint32_t i = 0; i < uses.count; i++) {
            for (uint32_t k = 0; k < uses.count; k++)
                if (try_count(t, id, &uses, i, uses.counts[k]))
                    return;
            if (try_count(t, id, &uses, i, uses.threads))
                return;
        }
    }
}
