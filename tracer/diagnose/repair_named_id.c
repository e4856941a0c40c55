/* repair_named_id.c - repairs of named barriers: an instruction that names another barrier than the one it is meant
 * for. See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Another id is tried only if other uses name it
 * with the same number of threads, and if no warp uses one of the two barriers less often than its three mates do.
 * Warpgroups that run the same instruction may each be meant to name an id of their own.  So each of them changes
 * alone, then all that name one id; then each of these gets an id of its own.
 */
#include "diagnose/repair_trial.h"

#include <string.h>

enum { SITES_MOST = 32, GROUPS_MOST = 8, IDS_MOST = 8, TOGETHER_MOST = 4, ASSIGNMENTS_MOST = 64 };

/* The uses of named barriers by one instruction with one number of threads. */
struct site {
    uint32_t access, threads;
    uint8_t id[GROUPS_MOST]; /* by warpgroup: which it names; WSDBG_NAMED_UNCHANGED = none, or several */
    bool many[GROUPS_MOST];
    uint8_t others[IDS_MOST]; /* ids that some use names with as many threads */
    uint32_t other_count;
    bool only_alone; /* only mistakes of this instruction alone are tried (is_alone) */
};

static uint32_t group_of(const struct wsdbg_trial *t, uint32_t agent)
{
    return wsdbg_case_warp(t->c, t->replay->agents[agent].warp)->warp / WSDBG_GROUP_WARPS;
}

static bool is_use(const struct wsdbg_step_row *step)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) && step->number_known &&
           step->number > 0 && step->access != WSDBG_NONE && step->address < WSDBG_NAMED_BARRIERS;
}

static void add_use(struct site *site, uint32_t group, uint8_t id)
{
    if (group >= GROUPS_MOST)
        return;
    site->many[group] |= site->id[group] != WSDBG_NAMED_UNCHANGED && site->id[group] != id;
    site->id[group] = id;
}

static void add_other(struct site *site, uint8_t id)
{
    for (uint32_t i = 0; i < site->other_count; i++)
        if (site->others[i] == id)
            return;
    if (site->other_count < IDS_MOST)
        site->others[site->other_count++] = id;
}

/* How often a warp uses the barrier: its lanes that use it most. */
static uint32_t uses_of(const struct wsdbg_trial *t, uint32_t warp, uint32_t id)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        uint32_t uses = 0;
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++)
            uses += wsdbg_replay_is_use(&agent->steps[k], id);
        most = uses > most ? uses : most;
    }
    return most;
}

/* Whether some agent of a warp uses the barrier with so many threads. */
static bool names(const struct wsdbg_trial *t, uint32_t warp, uint32_t id, uint32_t threads)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++)
            if (is_use(&agent->steps[k]) && agent->steps[k].address == id && agent->steps[k].number == threads)
                return true;
    }
    return false;
}

/* Whether the warp uses another barrier with as many threads as its mate names at this one, and the mate does not: then
 * it may have meant this one. */
static bool may_have_meant(const struct wsdbg_trial *t, uint32_t warp, uint32_t mate, uint32_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (is_use(step) && step->address != id && names(t, mate, id, step->number) &&
                !names(t, mate, step->address, step->number))
                return true;
        }
    }
    return false;
}

/* Whether the three others of the warp's warpgroup use the barrier equally often, and the warp less often. */
static bool leaves_out(const struct wsdbg_trial *t, uint32_t warp, uint32_t id)
{
    uint32_t mates = 0, uses = 0;
    for (uint32_t mate = 0; mate < t->c->warp_count; mate++) {
        if (mate == warp || !wsdbg_case_are_mates(t->c, mate, warp))
            continue;
        const uint32_t its = uses_of(t, mate, id);
        if (its == 0 || (mates && its != uses) || may_have_meant(t, warp, mate, id))
            return false;
        uses = its;
        mates++;
    }
    return mates == WSDBG_GROUP_WARPS - 1 && uses_of(t, warp, id) < uses;
}

/* The barriers whose uses some warp leaves out.  Another id may then bring as many threads together by chance. */
static uint16_t torn_ids(const struct wsdbg_trial *t)
{
    uint16_t torn = 0;
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++)
        for (uint32_t w = 0; w < t->c->warp_count && !(torn >> id & 1); w++)
            torn |= (uint16_t)(leaves_out(t, w, id) << id);
    return torn;
}

/* torn: a bit for each id that is left alone. */
static struct site read_site(const struct wsdbg_trial *t, uint32_t access, uint32_t threads, uint16_t torn)
{
    struct site site = {.access = access, .threads = threads};
    memset(site.id, WSDBG_NAMED_UNCHANGED, sizeof site.id);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (!is_use(step) || step->number != threads || torn >> step->address & 1)
                continue;
            add_other(&site, (uint8_t)step->address);
            if (step->access == access)
                add_use(&site, group_of(t, i), (uint8_t)step->address);
        }
    }
    for (uint32_t g = 0; g < GROUPS_MOST; g++)
        if (site.many[g])
            site.id[g] = WSDBG_NAMED_UNCHANGED;
    return site;
}

/* Lets the warpgroup's uses by the instruction name another id, in all CTAs. */
static void change(struct wsdbg_trial *t, uint32_t group, uint8_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (group_of(t, i) == group)
            t->id_to[i] = id;
}

static void begin(struct wsdbg_trial *t, const struct site *site)
{
    wsdbg_trial_begin(t);
    memset(t->id_to, WSDBG_NAMED_UNCHANGED, t->replay->agent_count);
    t->changes.id_to = t->id_to;
    t->changes.id_access = site->access;
    t->changes.id_threads = site->threads;
}

static bool is_of_site(const struct site *site, const struct wsdbg_step_row *step)
{
    return is_use(step) && step->access == site->access && step->number == site->threads;
}

/* Whether others come to the barrier: by another instruction, or by this one where it stays as it is. */
static bool is_shared(const struct wsdbg_trial *t, const struct site *site, uint8_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (wsdbg_replay_is_use(&agent->steps[k], id) &&
                (t->id_to[i] == WSDBG_NAMED_UNCHANGED || !is_of_site(site, &agent->steps[k])))
                return true;
    }
    return false;
}

/* Whether the agent does by another instruction what it would then do by this one. */
static bool does_so_elsewhere(const struct wsdbg_replay_agent *agent, const struct site *site, uint8_t id)
{
    uint32_t kinds = 0, others = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const struct wsdbg_step_row *step = &agent->steps[k];
        if (is_of_site(site, step))
            kinds |= (uint32_t)1 << step->kind;
        else if (wsdbg_replay_is_use(step, id) && step->number == site->threads)
            others |= (uint32_t)1 << step->kind;
    }
    return (kinds & ~others) == 0;
}

/* Whether the id is a mistake of this instruction alone: nobody else comes to it, and the same threads do the same by
 * another instruction with the other id. */
static bool is_alone(const struct wsdbg_trial *t, const struct site *site, bool is_shared_id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->id_to[i] != WSDBG_NAMED_UNCHANGED && !does_so_elsewhere(&t->replay->agents[i], site, t->id_to[i]))
            return false;
    return !is_shared_id;
}

/* How often a warp waits or arrives on the mbarrier: its lanes that do so most. */
static uint32_t rounds_on(const struct wsdbg_trial *t, uint32_t warp, uint32_t barrier, bool by_waits)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        uint32_t rounds = 0;
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++)
            rounds += agent->target[k] == barrier &&
                      (by_waits ? agent->steps[k].kind == WSDBG_ACCESS_WAIT : wsdbg_replay_arrivals_of(agent, k) > 0);
        most = rounds > most ? rounds : most;
    }
    return most;
}

/* Whether a warp has left the kernel before rounds that the warp at the same place of another warpgroup still goes
 * through: both wait or arrive on one mbarrier, but the one that stays does so more often. */
static bool left_before(const struct wsdbg_trial *t, uint32_t leaver, uint32_t stays)
{
    const struct wsdbg_warp_row *a = wsdbg_case_warp(t->c, leaver), *b = wsdbg_case_warp(t->c, stays);
    if (a->state != WSDBG_WARP_EXITED || b->state == WSDBG_WARP_EXITED || a->cta != b->cta ||
        a->warp % WSDBG_GROUP_WARPS != b->warp % WSDBG_GROUP_WARPS)
        return false;
    for (uint32_t barrier = 0; barrier < t->replay->barrier_count; barrier++)
        for (uint32_t by_waits = 0; by_waits < 2; by_waits++) {
            const uint32_t rounds = rounds_on(t, leaver, barrier, by_waits);
            if (rounds && rounds < rounds_on(t, stays, barrier, by_waits))
                return true;
        }
    return false;
}

/* Whether a warp that uses named barriers with so many threads has left before its rounds were over.  Its uses are then
 * missing, and other ids may make up for them. */
static bool has_broken_off(const struct wsdbg_trial *t, const struct site *site)
{
    for (uint32_t w = 0; w < t->c->warp_count; w++) {
        bool comes = false;
        for (uint32_t i = 0; i < site->other_count && !comes; i++)
            comes = names(t, w, site->others[i], site->threads);
        for (uint32_t v = 0; comes && v < t->c->warp_count; v++)
            if (left_before(t, w, v))
                return true;
    }
    return false;
}

static bool is_executed(const struct wsdbg_trial *t, uint32_t access)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agents[i].step_count; k++)
            if (t->replay->agents[i].steps[k].access == access)
                return true;
    return false;
}

/* Whether code to which no thread comes names the barrier, too.  Then it may be meant, and be left out by mistake. */
static bool is_named_by_code_left_out(const struct wsdbg_trial *t, uint8_t id)
{
    const struct wsdbg_snapshot *s = t->c->snapshot;
    for (uint32_t i = 0; i < s->access_count; i++) {
        const struct wsdbg_access_row *access = &s->accesses[i];
        if (access->grid == t->c->grid && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) && access->address.known &&
            access->address.value == id && !is_executed(t, i))
            return true;
    }
    return false;
}

/* Keeps the repair if it works.  `named`, `value`: what some of its warps name, and should;
 * of_several: several warpgroups name it that need an id each. */
static bool keep_if_works(struct wsdbg_trial *t, const struct site *site, uint8_t named, uint8_t value, bool of_several)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED_ID, .named = named, .value = value};
    repair.of_each = of_several;
    repair.is_shared = of_several || is_shared(t, site, named);
    repair.is_doubtful = repair.is_shared ? has_broken_off(t, site) : is_named_by_code_left_out(t, named);
    if ((site->only_alone && !is_alone(t, site, repair.is_shared)) || t->replay->steps_left == 0 ||
        !wsdbg_trial_works(t))
        return false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; t->id_to[i] != WSDBG_NAMED_UNCHANGED && k < agent->step_count; k++) {
            if (!is_of_site(site, &agent->steps[k]) || agent->steps[k].address == t->id_to[i])
                continue;
            if (wsdbg_set_count(&repair.warps) == 0)
                repair.wait = (struct wsdbg_repair_wait){i, k, 0};
            wsdbg_set_add(&repair.warps, agent->warp);
        }
    }
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* ---- one id for one warpgroup, or for all ---- */

/* Whether some agent stands at one of the two barriers, so that the change may let it go on. */
static bool may_help(const struct wsdbg_trial *t, uint8_t id, uint8_t other)
{
    return id != other && (wsdbg_trial_is_waited_at(t, id) || wsdbg_trial_is_waited_at(t, other));
}

/* group: GROUPS_MOST = all that name this id. */
static bool try_id(struct wsdbg_trial *t, const struct site *site, uint32_t group, uint8_t id)
{
    for (uint32_t i = 0; i < site->other_count; i++) {
        if (!may_help(t, id, site->others[i]))
            continue;
        begin(t, site);
        for (uint32_t g = 0; g < GROUPS_MOST; g++)
            if (site->id[g] == id && (g == group || group == GROUPS_MOST))
                change(t, g, site->others[i]);
        if (keep_if_works(t, site, id, site->others[i], false))
            return true;
    }
    return false;
}

static bool try_ids(struct wsdbg_trial *t, const struct site *site)
{
    for (uint32_t g = 0; g < GROUPS_MOST; g++)
        if (site->id[g] != WSDBG_NAMED_UNCHANGED && try_id(t, site, g, site->id[g]))
            return true;
    for (uint32_t g = 0; g < GROUPS_MOST; g++)
        if (site->id[g] != WSDBG_NAMED_UNCHANGED && try_id(t, site, GROUPS_MOST, site->id[g]))
            return true;
    return false;
}

/* ---- an id for each of several ---- */

/* Warpgroups that all name one id, and the ids that are tried for them, each for one. */
struct together {
    uint32_t groups[TOGETHER_MOST], count;
    uint8_t ids[TOGETHER_MOST];
    uint32_t tried; /* assignments */
};

static struct together read_together(const struct site *site)
{
    struct together together = {.count = 0};
    for (uint32_t g = 0; g < GROUPS_MOST; g++) {
        if (site->id[g] == WSDBG_NAMED_UNCHANGED)
            continue;
        if (together.count == TOGETHER_MOST || (together.count && site->id[g] != site->id[together.groups[0]]))
            return (struct together){.count = 0};
        together.groups[together.count++] = g;
    }
    return together;
}

static bool is_taken(const struct together *together, uint32_t count, uint8_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (together->ids[i] == id)
            return true;
    return false;
}

/* Whether some agent stands at one of the barriers. */
static bool may_assigning_help(const struct wsdbg_trial *t, uint8_t named, const struct together *together)
{
    bool may = false;
    for (uint32_t i = 0; i < together->count && !may; i++)
        may = may_help(t, named, together->ids[i]);
    return may;
}

static bool try_assignment(struct wsdbg_trial *t, const struct site *site, struct together *together)
{
    const uint8_t named = site->id[together->groups[0]];
    uint8_t value = named;
    if (!may_assigning_help(t, named, together))
        return false;
    if (together->tried++ == ASSIGNMENTS_MOST)
        t->out->is_partial = true;
    if (together->tried > ASSIGNMENTS_MOST)
        return false;
    begin(t, site);
    for (uint32_t i = 0; i < together->count; i++) {
        change(t, together->groups[i], together->ids[i]);
        value = value == named ? together->ids[i] : value;
    }
    return keep_if_works(t, site, named, value, true);
}

/* Tries all ways to give the warpgroups from number `at` on an id each. */
static bool assign(struct wsdbg_trial *t, const struct site *site, struct together *together, uint32_t at)
{
    if (at == together->count || at == TOGETHER_MOST)
        return try_assignment(t, site, together);
    for (uint32_t i = 0; i < site->other_count; i++) {
        if (is_taken(together, at, site->others[i]))
            continue;
        together->ids[at] = site->others[i];
        if (assign(t, site, together, at + 1))
            return true;
    }
    return false;
}

/* ---- all instructions ---- */

static bool try_site(struct wsdbg_trial *t, uint32_t access, uint32_t threads, uint16_t torn, bool only_alone)
{
    struct site site = read_site(t, access, threads, torn);
    site.only_alone = only_alone;
    if (try_ids(t, &site))
        return true;
    if (only_alone)
        return false;
    struct together together = read_together(&site);
    return together.count > 1 && together.count <= site.other_count && assign(t, &site, &together, 0);
}

static bool stands_at_named(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED)
            return true;
    return false;
}

/* Notes an instruction with its number of threads; false where it is noted already, or there is no room. */
static bool note(struct wsdbg_trial *t, uint32_t sites[SITES_MOST][2], uint32_t *count,
                 const struct wsdbg_step_row *step)
{
    for (uint32_t i = 0; i < *count; i++)
        if (sites[i][0] == step->access && sites[i][1] == step->number)
            return false;
    if (*count == SITES_MOST) {
        t->out->is_partial = true;
        return false;
    }
    sites[*count][0] = step->access;
    sites[(*count)++][1] = step->number;
    return true;
}

/* True if one of the instructions has a repair. */
static bool try_sites(struct wsdbg_trial *t, uint16_t torn, bool only_alone)
{
    uint32_t sites[SITES_MOST][2], count = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (is_use(&agent->steps[k]) && note(t, sites, &count, &agent->steps[k]) &&
                try_site(t, agent->steps[k].access, agent->steps[k].number, torn, only_alone))
                return true;
    }
    return false;
}

/* An id that the same threads name otherwise elsewhere, and to which nobody else comes, is the likelier mistake. */
void wsdbg_try_named_ids(struct wsdbg_trial *t)
{
    if (!stands_at_named(t))
        return;
    const uint16_t torn = torn_ids(t);
    if (!try_sites(t, torn, true))
        try_sites(t, torn, false);
}
