/* repair_parity_apart.c - first parities of mbarriers that lie in one array as far as the code tells, but that
 * different threads use.  Code that is not optimised computes every address, so that a pipeline's "full" and "empty"
 * barriers, which lie behind one another, seem to be stages of one ring.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/repair_trial.h"

/* Which warps wait on a barrier, and which arrive on it. */
struct users {
    struct wsdbg_warp_set waiting, arriving;
};

/* By barrier; the caller frees them.  NULL: no memory. */
static struct users *find_users(const struct wsdbg_trial *t)
{
    struct users *users = calloc((size_t)t->replay->barrier_count + 1, sizeof *users);
    for (uint32_t i = 0; users && i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (a->target[k] == WSDBG_NONE)
                continue;
            if (a->steps[k].kind == WSDBG_ACCESS_WAIT)
                wsdbg_set_add(&users[a->target[k]].waiting, a->warp);
            if (wsdbg_replay_arrivals_of(a, k))
                wsdbg_set_add(&users[a->target[k]].arriving, a->warp);
        }
    }
    return users;
}

/* Whether two barriers of one family are taken to be stages of one ring: the same one in two CTAs, or the same warps
 * wait and arrive on both. */
static bool are_together(const struct wsdbg_trial *t, const struct users *users, uint32_t one, uint32_t other)
{
    const struct wsdbg_replay_barrier *a = &t->replay->barriers[one], *b = &t->replay->barriers[other];
    return wsdbg_replay_is_of_family(t->replay, one, other) &&
           (a->cta == b->cta ? !memcmp(&users[one], &users[other], sizeof *users) : a->offset == b->offset);
}

/* Parts of families: of each barrier the first one that it is together with.  Whether some family has several. */
static bool find_parts(const struct wsdbg_trial *t, uint32_t *parts)
{
    struct users *users = find_users(t);
    bool any = false;
    for (uint32_t b = 0; users && b < t->replay->barrier_count; b++) {
        uint32_t first = 0;
        while (first < b && !are_together(t, users, first, b))
            first++;
        parts[b] = first < b ? parts[first] : b;
        any |= first == b && !wsdbg_trial_leads_family(t, b);
    }
    free(users);
    return any;
}

/* Each part is a family for the time of the trial. */
static void exchange_families(struct wsdbg_trial *t, uint32_t *parts)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        const uint32_t family = t->replay->barriers[b].family;
        t->replay->barriers[b].family = parts[b];
        parts[b] = family;
    }
}

void wsdbg_try_first_apart(struct wsdbg_trial *t)
{
    uint32_t *parts = calloc((size_t)t->replay->barrier_count + 1, sizeof *parts);
    const uint32_t kept = t->out->count;
    if (parts && wsdbg_replay_is_known(t->replay) && find_parts(t, parts)) {
        exchange_families(t, parts);
        wsdbg_try_first(t, 1);
        exchange_families(t, parts);
    }
    for (uint32_t i = kept; i < t->out->count; i++)
        t->out->rows[i].is_of_part = true;
    free(parts);
}
