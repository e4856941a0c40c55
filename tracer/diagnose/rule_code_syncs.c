/* rule_code_syncs.c - a named barrier that warps stand at, and that the code of its participants does not fit: a warp
 * leaves out what the others of its warpgroup execute, or warps use a barrier of all threads less often than most do.
 *
 * Reads: walks, warp states, barriers.  Adds: ARRIVE_MISSING, WAKER_EXITED.
 *
 * It compares walks with one another and needs no order of events: the order in which such a kernel fails is a race.
 */
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

enum { GROUPS_MOST = 8 }; /* warpgroups of a CTA */

/* A named barrier with warps at it. */
struct syncs {
    struct wsdbg_case *c;
    uint32_t row, cta; /* in snapshot.barriers, snapshot.ctas */
    uint32_t waiter;   /* the first warp that stands at it */
};

/* ---- what a walk does on named barriers ---- */

/* The next use of a named barrier from step *at on, which moves behind it; NULL = there is none. */
static const struct wsdbg_step_row *next_use(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk,
                                             uint32_t *at)
{
    while (walk && *at < walk->step_count) {
        const struct wsdbg_step_row *step = &s->steps[walk->step_first + (*at)++];
        if (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE)
            return step;
    }
    return NULL;
}

static uint32_t id_of(const struct syncs *syncs)
{
    return syncs->c->snapshot->barriers[syncs->row].id;
}

/* How often the walk of a warp of the CTA uses the barrier with this count; with count 0: at all. */
static uint32_t uses_of(const struct syncs *syncs, uint32_t warp, uint32_t count)
{
    if (wsdbg_case_warp(syncs->c, warp)->cta != syncs->cta)
        return 0;
    const struct wsdbg_walk_row *walk = wsdbg_code_walk(syncs->c, warp);
    const struct wsdbg_step_row *use;
    uint32_t uses = 0, at = 0;
    while ((use = next_use(syncs->c->snapshot, walk, &at)))
        uses += use->address == id_of(syncs) && (count == 0 || (use->number_known && use->number == count));
    return uses;
}

/* Whether lanes of some warp of the CTA use the barrier more often than others of the warp: then it is not known how
 * often the warp uses it. */
static bool is_doubtful(const struct syncs *syncs)
{
    const struct wsdbg_snapshot *s = syncs->c->snapshot;
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        const struct wsdbg_step_row *use;
        uint32_t uses = 0, at = 0, warp = 0;
        while (warp < syncs->c->warp_count && syncs->c->warps[warp] != walk->warp)
            warp++;
        if (warp == syncs->c->warp_count || wsdbg_case_warp(syncs->c, warp)->cta != syncs->cta)
            continue;
        while ((use = next_use(s, walk, &at)))
            uses += use->address == id_of(syncs);
        if (uses != uses_of(syncs, warp, 0))
            return true;
    }
    return false;
}

/* Whether the walks of all warps of the CTA are known to the end. */
static bool are_known(const struct syncs *syncs)
{
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        const struct wsdbg_walk_row *walk = wsdbg_code_walk(syncs->c, w);
        if (wsdbg_case_warp(syncs->c, w)->cta == syncs->cta && (!walk || !wsdbg_walk_is_known(walk)))
            return false;
    }
    return true;
}

/* ---- counts ---- */

/* The warps that use the barrier with a count. */
struct users {
    struct wsdbg_warp_set warps;
    uint32_t threads[GROUPS_MOST]; /* by warpgroup */
    bool any_beyond;               /* of a warpgroup that has no place in `threads` */
};

static struct users users_of(const struct syncs *syncs, uint32_t count)
{
    struct users users = {.any_beyond = false};
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        const uint32_t group = wsdbg_case_warp(syncs->c, w)->warp / WSDBG_GROUP_WARPS;
        if (uses_of(syncs, w, count) == 0)
            continue;
        users.any_beyond |= group >= GROUPS_MOST;
        if (group < GROUPS_MOST)
            users.threads[group] += WSDBG_WARP_THREADS;
        wsdbg_set_add(&users.warps, w);
    }
    return users;
}

/* Whether some of the warpgroups have as many threads together. */
static bool can_make_up(const struct users *users, uint32_t count)
{
    for (uint32_t chosen = 0; chosen < 1u << GROUPS_MOST; chosen++) {
        uint32_t threads = 0;
        for (uint32_t g = 0; g < GROUPS_MOST; g++)
            threads += chosen >> g & 1 ? users->threads[g] : 0;
        if (threads == count)
            return true;
    }
    return users->any_beyond;
}

/* ---- a warp unlike its mates ---- */

static bool are_alike(const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    return a->kind == b->kind && a->address == b->address && a->number == b->number &&
           a->number_known == b->number_known;
}

/* Whether two warps use all named barriers alike, but for uses of this one that the first leaves out: how many, and
 * *first is the first of them.  All name one count.  The walks must go on together behind the last one, or be whole. */
static uint32_t left_out(const struct syncs *syncs, uint32_t warp, uint32_t mate, const struct wsdbg_step_row **first)
{
    const struct wsdbg_snapshot *s = syncs->c->snapshot;
    const struct wsdbg_walk_row *mine = wsdbg_code_walk(syncs->c, warp), *other = wsdbg_code_walk(syncs->c, mate);
    const struct wsdbg_step_row *use, *its;
    uint32_t at = 0, its_at = 0, missing = 0, behind = 0;
    *first = NULL;
    if (!mine || !other)
        return 0;
    use = next_use(s, mine, &at);
    while ((its = next_use(s, other, &its_at))) {
        if (use && are_alike(use, its)) {
            use = next_use(s, mine, &at);
            behind++;
        } else if (its->address == id_of(syncs) && (!*first || are_alike(*first, its))) {
            *first = *first ? *first : its;
            missing++;
            behind = 0;
        } else {
            return 0;
        }
    }
    return !use && (behind > 0 || (wsdbg_walk_is_known(mine) && wsdbg_walk_is_known(other))) ? missing : 0;
}

/* The same of a warp that has left the kernel: its uses of all named barriers are the first ones of its mate's.  A walk
 * that is not known to its end always begins as that of a mate. */
static uint32_t broke_off(const struct syncs *syncs, uint32_t warp, uint32_t mate, const struct wsdbg_step_row **first)
{
    const struct wsdbg_snapshot *s = syncs->c->snapshot;
    const struct wsdbg_walk_row *mine = wsdbg_code_walk(syncs->c, warp), *other = wsdbg_code_walk(syncs->c, mate);
    const struct wsdbg_step_row *use, *its;
    uint32_t at = 0, its_at = 0, missing = 0;
    *first = NULL;
    if (wsdbg_case_warp(syncs->c, warp)->state != WSDBG_WARP_EXITED || !mine || !wsdbg_walk_is_known(mine) || !other)
        return 0;
    while ((use = next_use(s, mine, &at)))
        if (!(its = next_use(s, other, &its_at)) || !are_alike(use, its))
            return 0;
    while ((its = next_use(s, other, &its_at))) {
        if (its->address != id_of(syncs))
            continue;
        *first = *first ? *first : its;
        missing++;
    }
    return missing;
}

/* The warps of its warpgroup, all three, of which each has the same uses of the barrier that the warp leaves out; else
 * empty.  *first is one of those uses, if there are any. */
static struct wsdbg_warp_set agreeing_mates(const struct syncs *syncs, uint32_t warp, uint32_t *missing,
                                            const struct wsdbg_step_row **first)
{
    struct wsdbg_warp_set mates = {{0}};
    *missing = 0;
    *first = NULL;
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        if (w == warp || !wsdbg_case_are_mates(syncs->c, w, warp))
            continue;
        const struct wsdbg_step_row *step;
        uint32_t more = left_out(syncs, warp, w, &step);
        more = more ? more : broke_off(syncs, warp, w, &step);
        if (more == 0 || (*missing && (more != *missing || !are_alike(step, *first))) ||
            !wsdbg_code_may_have_taken(syncs->c, w, step))
            return (struct wsdbg_warp_set){{0}};
        *first = step;
        *missing = more;
        wsdbg_set_add(&mates, w);
    }
    return wsdbg_set_count(&mates) == WSDBG_GROUP_WARPS - 1 ? mates : (struct wsdbg_warp_set){{0}};
}

/* Whether the barrier counts the warp in this use of its mates: it has such uses itself, or the count is only made up
 * with it.  A barrier of all threads does not count those that have exited. */
static bool is_counted(const struct syncs *syncs, uint32_t warp, const struct wsdbg_step_row *use)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(syncs->c, warp);
    const uint32_t group = row->warp / WSDBG_GROUP_WARPS;
    if (!use->number_known || group >= GROUPS_MOST)
        return false;
    if (use->number == 0)
        return row->state != WSDBG_WARP_EXITED;
    struct users users = users_of(syncs, use->number);
    if (wsdbg_set_has(&users.warps, warp))
        return true;
    if (can_make_up(&users, use->number))
        return false;
    users.threads[group] += WSDBG_WARP_THREADS;
    return can_make_up(&users, use->number);
}

/* It stands at the barrier as its mates do: it has not left it out yet. */
static bool stands_there(const struct syncs *syncs, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(syncs->c, warp);
    return row->state == WSDBG_WARP_WAIT_NAMED && row->barrier == syncs->row;
}

static void say_left_out(const struct syncs *syncs, uint32_t warp, const struct wsdbg_warp_set *mates, uint32_t missing)
{
    struct wsdbg_case *c = syncs->c;
    const bool exited = wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED;
    const uint32_t mine = uses_of(syncs, warp, 0);
    struct wsdbg_finding *finding = wsdbg_case_find(c, exited ? WSDBG_CAUSE_WAKER_EXITED : WSDBG_CAUSE_ARRIVE_MISSING,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), syncs->cta, syncs->row);
    if (!finding)
        return;
    char absent[160];
    wsdbg_print(absent, sizeof absent, "%s", wsdbg_say_warp(c, warp).text);
    finding->role = wsdbg_case_warp(c, warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on named barrier %u%s, but %s leaves it out: in its code it uses the barrier %u time%s, "
                "against %u time%s in that of each of %s%s.",
                wsdbg_say_warp(c, syncs->waiter).text, id_of(syncs), wsdbg_say_at(c, syncs->waiter).text, absent, mine,
                mine == 1 ? "" : "s", mine + missing, mine + missing == 1 ? "" : "s", wsdbg_say_warps(c, mates).text,
                exited ? ". It has exited" : "");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all warps of the warpgroup come to named barrier %u on every path, or leave %s out of its count.",
                id_of(syncs), absent);
    wsdbg_tell_wait(c, finding, syncs->waiter);
    if (!exited)
        wsdbg_tell_wait(c, finding, warp);
}

static bool some_stand_there(const struct syncs *syncs, const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < syncs->c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && stands_there(syncs, w))
            return true;
    return false;
}

static bool judge_mates(const struct syncs *syncs)
{
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        uint32_t missing;
        const struct wsdbg_step_row *first;
        if (wsdbg_case_warp(syncs->c, w)->cta != syncs->cta || stands_there(syncs, w))
            continue;
        const struct wsdbg_warp_set mates = agreeing_mates(syncs, w, &missing, &first);
        const bool is_waited_for =
            wsdbg_set_count(&mates) && first->kind == WSDBG_ACCESS_NAMED_ARRIVE; /* by others: mates go on */
        if (!wsdbg_set_count(&mates) || (!is_waited_for && !some_stand_there(syncs, &mates)) ||
            !is_counted(syncs, w, first))
            continue;
        say_left_out(syncs, w, &mates, missing);
        return true;
    }
    return false;
}

/* ---- a barrier of all threads ---- */

static bool is_in_cta(const struct syncs *syncs, uint32_t warp)
{
    return wsdbg_case_warp(syncs->c, warp)->cta == syncs->cta;
}

/* Whether every use of the barrier takes all threads of the CTA, and all walks are whole. */
static bool is_of_all(const struct syncs *syncs)
{
    const uint32_t threads = syncs->c->snapshot->ctas[syncs->cta].warp_count * WSDBG_WARP_THREADS;
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        const struct wsdbg_walk_row *walk = is_in_cta(syncs, w) ? wsdbg_code_walk(syncs->c, w) : NULL;
        const struct wsdbg_step_row *use;
        uint32_t at = 0;
        while ((use = next_use(syncs->c->snapshot, walk, &at)))
            if (use->address == id_of(syncs) && (!use->number_known || (use->number && use->number != threads)))
                return false;
    }
    return are_known(syncs);
}

/* How often more than half of the CTA's warps use the barrier; 0 = these do not agree. */
static uint32_t usual_uses(const struct syncs *syncs)
{
    const uint32_t warp_count = syncs->c->snapshot->ctas[syncs->cta].warp_count;
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        const uint32_t uses = uses_of(syncs, w, 0);
        uint32_t agreeing = 0;
        for (uint32_t other = 0; other < syncs->c->warp_count; other++)
            agreeing += is_in_cta(syncs, other) && uses_of(syncs, other, 0) == uses;
        if (is_in_cta(syncs, w) && 2 * agreeing > warp_count)
            return uses;
    }
    return 0;
}

/* Warps that are elsewhere and still come to the barrier, but all in all less often than is usual, and all equally
 * often.  One that does not come any more may be meant to leave before the others meet. */
static struct wsdbg_warp_set those_with_fewer(const struct syncs *syncs, uint32_t usual, uint32_t *uses)
{
    struct wsdbg_warp_set set = {{0}};
    *uses = 0;
    for (uint32_t w = 0; w < syncs->c->warp_count; w++) {
        const uint32_t mine = uses_of(syncs, w, 0);
        if (!is_in_cta(syncs, w) || mine >= usual)
            continue;
        if (stands_there(syncs, w) || (*uses && mine != *uses) ||
            wsdbg_code_can(syncs->c, w, WSDBG_KINDS_NAMED, syncs->row, NULL) == WSDBG_CAN_NOT)
            return (struct wsdbg_warp_set){{0}};
        *uses = mine;
        wsdbg_set_add(&set, w);
    }
    return *uses ? set : (struct wsdbg_warp_set){{0}};
}

static bool judge_all(const struct syncs *syncs)
{
    struct wsdbg_case *c = syncs->c;
    const uint32_t usual = is_of_all(syncs) ? usual_uses(syncs) : 0;
    uint32_t uses;
    const struct wsdbg_warp_set fewer = those_with_fewer(syncs, usual, &uses);
    if (!wsdbg_set_count(&fewer))
        return false;
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_ARRIVE_MISSING,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), syncs->cta, syncs->row);
    if (!finding)
        return true;
    char absent[160];
    wsdbg_print(absent, sizeof absent, "%s", wsdbg_say_warps(c, &fewer).text);
    finding->role = wsdbg_common_role(c, &fewer);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on named barrier %u%s for all threads of the CTA, but %s leave%s it out on the way: from "
                "the kernel's start to its end they use it %u time%s, the other warps %u times.",
                wsdbg_say_warp(c, syncs->waiter).text, id_of(syncs), wsdbg_say_at(c, syncs->waiter).text, absent,
                wsdbg_set_count(&fewer) == 1 ? "s" : "", uses, uses == 1 ? "" : "s", usual);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp come to named barrier %u in every round, or count only those that do.", id_of(syncs));
    wsdbg_tell_wait(c, finding, syncs->waiter);
    wsdbg_tell_waits(c, finding, &fewer);
    return true;
}

/* The warp stands at a named barrier and cannot go on, and no such warp before it in the case stands at the same one.
 */
static bool is_first_waiter(const struct wsdbg_case *c, uint32_t warp)
{
    for (uint32_t w = 0; w <= warp; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state == WSDBG_WARP_WAIT_NAMED && row->barrier == wsdbg_case_warp(c, warp)->barrier &&
            row->barrier < c->snapshot->barrier_count && wsdbg_case_stuck(c, w))
            return w == warp;
    }
    return false;
}

/* The barriers are asked in the order of their first waiters; one finding is enough. */
void wsdbg_rule_code_syncs(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        const struct syncs syncs = {.c = c, .row = row->barrier, .cta = row->cta, .waiter = w};
        if (is_first_waiter(c, w) && !is_doubtful(&syncs) && (judge_mates(&syncs) || judge_all(&syncs)))
            return;
    }
}
