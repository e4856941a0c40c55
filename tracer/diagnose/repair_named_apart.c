/* repair_named_apart.c - repairs of a named barrier at which two meetings are held that are not meant for each other:
 * one of them gets a barrier that nobody uses.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 *
 * An id that is made of several numbers, such as a kind and a warpgroup, may be one that others make, too.  So those
 * who wait at the barrier, and those who arrive there, are divided into two meetings.  A division is tried only if in
 * each of them some warp waits, and as many threads come as they name.
 */
#include "diagnose/repair_trial.h"

enum { PARTIES_MOST = 8 };

/* Warps of one warpgroup that do the same at the barrier. */
struct party {
    uint8_t kind;
    uint32_t threads; /* that they name */
    uint32_t warps;   /* of the CTA; a bit each */
};

struct parties {
    struct party rows[PARTIES_MOST];
    uint32_t count;
    bool is_whole; /* of no use the threads are unknown, and there are not too many parties */
};

static uint32_t warp_of(const struct wsdbg_trial *t, uint32_t agent)
{
    return wsdbg_case_warp(t->c, t->replay->agents[agent].warp)->warp;
}

static bool may_join(const struct party *party, const struct wsdbg_step_row *step, uint32_t warp)
{
    return party->kind == step->kind && party->threads == step->number &&
           (uint32_t)__builtin_ctz(party->warps) / WSDBG_GROUP_WARPS == warp / WSDBG_GROUP_WARPS;
}

static void add_use(struct parties *parties, const struct wsdbg_step_row *step, uint32_t warp)
{
    uint32_t i = 0;
    while (i < parties->count && !may_join(&parties->rows[i], step, warp))
        i++;
    if (i == PARTIES_MOST || !step->number_known || step->number == 0 || warp >= WSDBG_APART_WARPS) {
        parties->is_whole = false;
        return;
    }
    if (i == parties->count)
        parties->rows[parties->count++] = (struct party){.kind = step->kind, .threads = step->number};
    parties->rows[i].warps |= (uint32_t)1 << warp;
}

/* Those who use the barrier in a CTA. */
static struct parties read_parties(const struct wsdbg_trial *t, uint32_t cta, uint32_t id)
{
    struct parties parties = {.is_whole = true};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; agent->cta == cta && k < agent->step_count; k++)
            if (wsdbg_replay_is_use(&agent->steps[k], id))
                add_use(&parties, &agent->steps[k], warp_of(t, i));
    }
    return parties;
}

/* Whether these parties meet: all name the same number of threads, as many come, and some warp waits. */
static bool is_meeting(const struct parties *parties, uint32_t members)
{
    uint32_t threads = 0, warps = 0;
    bool waits = false;
    for (uint32_t i = 0; i < parties->count; i++) {
        const struct party *party = &parties->rows[i];
        if (!(members >> i & 1))
            continue;
        if (threads && party->threads != threads)
            return false;
        threads = party->threads;
        warps |= party->warps;
        waits |= party->kind == WSDBG_ACCESS_NAMED_SYNC;
    }
    return waits && (uint32_t)__builtin_popcount(warps) * WSDBG_WARP_THREADS == threads;
}

/* A barrier that no step uses; WSDBG_NAMED_BARRIERS: there is none. */
static uint32_t free_id(const struct wsdbg_trial *t)
{
    uint32_t used = 1, id = 0; /* 0 is that of __syncthreads */
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++)
            for (uint32_t any = 1; any < WSDBG_NAMED_BARRIERS; any++)
                used |= (uint32_t)wsdbg_replay_is_use(&t->replay->agents[i].steps[k], any) << any;
    while (id < WSDBG_NAMED_BARRIERS && used >> id & 1)
        id++;
    return id;
}

/* Notes who moves, and the first of their uses. */
static void note_movers(const struct wsdbg_trial *t, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++) {
            if (!wsdbg_replay_is_apart(&t->changes, &agent->steps[k], warp_of(t, i)))
                continue;
            if (wsdbg_set_count(&repair->warps) == 0)
                repair->wait = (struct wsdbg_repair_wait){i, k, 0};
            wsdbg_set_add(&repair->warps, agent->warp);
        }
    }
}

/* Lets the parties use another barrier, in every CTA; true if that works. */
static bool try_to_move(struct wsdbg_trial *t, const struct parties *parties, uint32_t members, uint32_t id,
                        uint32_t to)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED_APART, .named = id, .value = to, .is_shared = true};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < parties->count; i++)
        if (members >> i & 1)
            *(parties->rows[i].kind == WSDBG_ACCESS_NAMED_SYNC ? &t->changes.apart_waits : &t->changes.apart_arrives) |=
                parties->rows[i].warps;
    t->changes.apart_from = id;
    t->changes.apart_to = to;
    if (!wsdbg_trial_works(t) || !t->is_to_end)
        return false;
    note_movers(t, &repair);
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* Each division once: the first party stays. */
static bool try_divisions(struct wsdbg_trial *t, const struct parties *parties, uint32_t id, uint32_t to)
{
    const uint32_t all = ((uint32_t)1 << parties->count) - 1;
    for (uint32_t members = 2; members < all && t->replay->steps_left; members += 2)
        if (is_meeting(parties, members) && is_meeting(parties, all & ~members) &&
            try_to_move(t, parties, members, id, to))
            return true;
    return false;
}

void wsdbg_try_named_apart(struct wsdbg_trial *t)
{
    const uint32_t to = free_id(t);
    for (uint32_t id = 1; id < WSDBG_NAMED_BARRIERS && to < WSDBG_NAMED_BARRIERS; id++)
        for (uint32_t cta = 0; cta < t->c->cta_count; cta++) {
            const struct parties parties = read_parties(t, cta, id);
            if (parties.count < 2)
                continue;
            if (parties.is_whole && try_divisions(t, &parties, id, to))
                return;
            break; /* other CTAs use it alike */
        }
}
