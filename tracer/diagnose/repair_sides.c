/* repair_sides.c - repairs of first parities that need a look at several families of mbarriers: a role that begins with
 * the wrong parity on all of its families, and two sides that each wait for the other one first.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Both are tried only if nothing else works.
 */
#include "diagnose/repair_trial.h"

#include <stdlib.h>

#define SET_FACTOR 0x9e3779b97f4a7c15u /* odd, and its bits are mixed: 2^64 divided by the golden ratio */

/* With which parity each agent begins to wait on each family, in its whole walk. */
enum { NEVER, WITH_0, WITH_1, BY_TOKEN };
struct beginnings {
    uint8_t *with;  /* agent x barrier, of which those that lead a family count */
    uint64_t *sets; /* by agent: a hash of the families on which it waits */
};

static uint64_t mix(uint32_t family)
{
    const uint64_t mixed = ((uint64_t)family + 1) * SET_FACTOR;
    return (mixed ^ mixed >> 32) * SET_FACTOR;
}

static void read_beginnings(const struct wsdbg_trial *t, uint32_t agent, struct beginnings *beginnings)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint8_t *with = beginnings->with + (size_t)agent * t->replay->barrier_count;
    for (uint32_t k = 0; k < a->step_count; k++) {
        const uint32_t family = a->target[k] == WSDBG_NONE ? WSDBG_NONE : t->replay->barriers[a->target[k]].family;
        if (family == WSDBG_NONE || a->steps[k].kind != WSDBG_ACCESS_WAIT || with[family] != NEVER)
            continue;
        with[family] = a->steps[k].number_known ? WITH_0 + (a->steps[k].number & 1) : BY_TOKEN;
        beginnings->sets[agent] ^= mix(family);
    }
}

/* ---- a role that begins all of its families with the wrong parity ---- */

/* Whether the agent is the first one of its role, which waits on the same families, and no other role waits on one of
 * these. */
static bool leads_role(const struct wsdbg_trial *t, const struct beginnings *beginnings, uint32_t agent)
{
    const size_t barriers = t->replay->barrier_count;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const bool is_of_role = beginnings->sets[i] == beginnings->sets[agent];
        if (is_of_role && i < agent)
            return false;
        for (size_t f = 0; f < barriers && !is_of_role; f++)
            if (beginnings->with[i * barriers + f] && beginnings->with[agent * barriers + f])
                return false;
    }
    return true;
}

/* Whether the families of the changed waits that now begin with parity 1 get all phases that are waited for. */
static bool get_all_phases(const struct wsdbg_trial *t)
{
    for (uint32_t f = 0; f < t->replay->barrier_count; f++)
        if (wsdbg_trial_leads_family(t, f) && t->parity_from[f] == 2 && !wsdbg_trial_gets_all_phases(t, f))
            return false;
    return true;
}

/* Whether somebody had come to a wait on the family. */
static bool is_reached(const struct wsdbg_trial *t, uint32_t family)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++)
            if (wsdbg_trial_waits_was(t, i, b)->any)
                return true;
    return false;
}

static void set_unreached(struct wsdbg_trial *t, uint32_t family, uint32_t value)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(t->replay, family, b))
            t->parity_from[b] = (uint8_t)(1 + value);
}

/* One variable may hold the phases of all families on which a role waits.  Those to which it has not come yet change,
 * too.  On some family the role was let through at once, though it should have waited: a role that waits too often on
 * all of them shows no mistake of its own, as going ahead by a phase helps against many others. */
static void try_role(struct wsdbg_trial *t, const uint8_t *with)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_FIRST, .is_of_role = true};
    uint32_t families = 0;
    bool is_let_through = false;
    wsdbg_trial_begin(t);
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        struct wsdbg_repair of_family = {.value = with[f] == WITH_0};
        if (with[f] == NEVER)
            continue;
        if (with[f] == BY_TOKEN)
            return;
        families++;
        if (!is_reached(t, f)) {
            set_unreached(t, f, of_family.value);
            continue;
        }
        if (!wsdbg_trial_set_first(t, f, &of_family))
            return;
        repair.barrier = of_family.value == 0 ? of_family.barrier : repair.barrier;
        is_let_through |= of_family.value == 0;
        wsdbg_set_join(&repair.warps, &of_family.warps);
    }
    if (families > 1 && is_let_through && wsdbg_trial_works(t) && get_all_phases(t))
        wsdbg_trial_keep(t, &repair);
}

/* ---- two sides that each wait for the other one first ---- */

/* Whether some agent begins to wait on another family with parity 1: so the kernel lets one side of a ring go first. */
static bool others_begin_free(const struct wsdbg_trial *t, const struct beginnings *beginnings, uint32_t family)
{
    const size_t barriers = t->replay->barrier_count;
    for (size_t cell = 0; cell < t->replay->agent_count * barriers; cell++)
        if (beginnings->with[cell] == WITH_1 && cell % barriers != family)
            return true;
    return false;
}

/* Whether some agent arrives on an mbarrier before it waits on any: so the kernel has slots that are given away at its
 * beginning.  Then such an arrival may be missing. */
static bool some_arrive_first(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        uint32_t k = 0;
        bool waits = false;
        while (k < a->step_count && (a->target[k] == WSDBG_NONE || a->steps[k].kind == WSDBG_ACCESS_INIT))
            k++;
        for (uint32_t next = k; next < a->step_count; next++)
            waits |= a->steps[next].kind == WSDBG_ACCESS_WAIT;
        if (waits && wsdbg_replay_arrivals_of(a, k))
            return true;
    }
    return false;
}

static bool try_side(struct wsdbg_trial *t, const struct beginnings *beginnings, uint32_t family,
                     struct wsdbg_repair *repair)
{
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_PARITY_FIRST, .value = 1};
    wsdbg_trial_begin(t);
    return wsdbg_trial_leads_family(t, family) && others_begin_free(t, beginnings, family) &&
           wsdbg_trial_set_first(t, family, repair) && wsdbg_trial_works(t) && wsdbg_trial_gets_all_phases(t, family);
}

/* If either side could go first, it is not known which one was meant to: the repair names both. */
static void try_sides(struct wsdbg_trial *t, const struct beginnings *beginnings)
{
    struct wsdbg_repair repair, found = {.value = 0};
    uint32_t sides = 0;
    bool is_to_end = true;
    if (some_arrive_first(t))
        return;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        if (!try_side(t, beginnings, f, &repair))
            continue;
        is_to_end &= t->is_to_end && !t->assumes_idle;
        if (sides++ == 0) {
            found = repair;
            continue;
        }
        found.is_of_either = true;
        found.other_barrier = repair.barrier;
        found.others = repair.warps;
    }
    if (sides == 0)
        return;
    wsdbg_trial_keep_found(t, &found, is_to_end);
}

static void try_all(struct wsdbg_trial *t, struct beginnings *beginnings)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        read_beginnings(t, i, beginnings);
    for (uint32_t i = 0; i < t->replay->agent_count && !t->out->count; i++)
        if (leads_role(t, beginnings, i))
            try_role(t, beginnings->with + (size_t)i * t->replay->barrier_count);
    if (!t->out->count)
        try_sides(t, beginnings);
}

void wsdbg_try_sides(struct wsdbg_trial *t)
{
    const size_t agents = t->replay->agent_count, barriers = t->replay->barrier_count;
    struct beginnings beginnings = {.with = calloc(agents * barriers + 1, sizeof *beginnings.with),
                                    .sets = calloc(agents + 1, sizeof *beginnings.sets)};
    if (beginnings.with && beginnings.sets)
        try_all(t, &beginnings);
    free(beginnings.with);
    free(beginnings.sets);
}
