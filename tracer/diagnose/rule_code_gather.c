/* rule_code_gather.c - named barriers whose participants do not add up, and lanes of one warp in different waits.
 *
 * Reads: parts, barriers, reaches, the wait graph.  Adds: NAMED_COUNT, BLOCK_SYNC_IN_ROLE, WAKER_EXITED, LANE_SPLIT,
 * and what barrier_participation.c finds.
 */
#include <string.h>

#include "diagnose/code_say.h"
#include "diagnose/code_executions.h"
#include "diagnose/outstanding.h"
#include "diagnose/rules.h"

#define INLINED_MOST 64u /* calls inlined into one another; more is not looked at */

/* Who stands at one named barrier. */
struct gathering {
    uint32_t barrier;                /* row */
    uint32_t id, count, other_count; /* threads named; a second value where they differ */
    uint32_t cta_threads;
    struct wsdbg_warp_set waiting, others;
    struct wsdbg_warp_set to_come;  /* live warps that may still reach it */
    uint32_t others_behind;         /* warps that are not there and may have come through it before */
    bool others_arrive;             /* ... without waiting */
    struct wsdbg_warp_set exited;   /* and may have come too, or nobody knows */
    struct wsdbg_warp_set partners; /* of those who came for sure */
};

/* Threads that a waiting warp names; 0 = the whole CTA, or not known. */
static uint32_t named_count(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state == WSDBG_WARP_WAIT_NAMED && parts[i].barrier == wsdbg_case_warp(c, warp)->barrier &&
            parts[i].count.known)
            return parts[i].count.value;
    return 0;
}

static void add_warp(const struct wsdbg_case *c, uint32_t warp, struct gathering *g)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->state == WSDBG_WARP_EXITED) {
        const struct wsdbg_barrier_executions executions = wsdbg_code_executions(c, warp, g->barrier);
        if (executions.most > 0)
            wsdbg_set_add(&g->exited, warp);
        if (executions.least > 0)
            wsdbg_set_add(&g->partners, warp);
    } else if (row->state == WSDBG_WARP_WAIT_NAMED && row->barrier == g->barrier) {
        const uint32_t named = named_count(c, warp), count = named ? named : g->cta_threads;
        wsdbg_set_add(count == g->count ? &g->waiting : &g->others, warp);
        if (count != g->count)
            g->other_count = count;
    } else if (wsdbg_code_can(c, warp, WSDBG_KINDS_NAMED, g->barrier, NULL) > WSDBG_CAN_NOT) {
        wsdbg_set_add(&g->to_come, warp);
    } else if (wsdbg_code_behind(c, warp, WSDBG_KINDS_NAMED, g->barrier, NULL) > 0) {
        g->others_behind++;
        g->others_arrive |= wsdbg_code_behind(c, warp, WSDBG_KIND(WSDBG_ACCESS_NAMED_ARRIVE), g->barrier, NULL) > 0;
    }
}

static struct gathering gather(const struct wsdbg_case *c, uint32_t waiter)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, waiter);
    struct gathering g = {.barrier = self->barrier, .id = c->snapshot->barriers[self->barrier].id};
    g.cta_threads = c->snapshot->grids[c->grid].warps_per_cta * WSDBG_WARP_THREADS;
    g.count = named_count(c, waiter) ? named_count(c, waiter) : g.cta_threads;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == self->cta)
            add_warp(c, w, &g);
    return g;
}

/* The waiting warps are at the barrier for the first time. */
static bool is_first_round(const struct wsdbg_case *c, const struct gathering *g)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count, most = 0;
        const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_set_has(&g->waiting, w); i++) {
            const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
            if (access && WSDBG_KINDS_NAMED >> access->kind & 1 &&
                wsdbg_access_match(c, access, g->barrier) > WSDBG_MATCH_NO)
                most += reaches[i].before_known ? reaches[i].before_most : 2;
        }
        if (most > 1)
            return false;
    }
    return true;
}

/* Warps that are not there were at the barrier in a round before: without those that wait for the first time they must
 * have been enough.  Those that arrived without waiting may have come in this round: then all together must be. */
static bool others_took_part(const struct wsdbg_case *c, const struct gathering *g)
{
    if (g->others_arrive)
        return (wsdbg_set_count(&g->waiting) + g->others_behind) * WSDBG_WARP_THREADS >= g->count;
    return g->others_behind > 0 && !(is_first_round(c, g) && g->others_behind * WSDBG_WARP_THREADS < g->count);
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct gathering *g, enum wsdbg_cause cause,
                                   enum wsdbg_confidence confidence)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, wsdbg_first_of(&g->waiting));
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, wsdbg_code_cap(c, confidence), row->cta, g->barrier);
    if (!finding)
        return NULL;
    finding->role = row->role;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&g->waiting, w) || wsdbg_set_has(&g->others, w))
            wsdbg_evidence_warp(c, finding, w, "%s waits on named barrier %u for %u threads%s",
                                wsdbg_say_warp(c, w).text, g->id,
                                wsdbg_set_has(&g->waiting, w) ? g->count : g->other_count, wsdbg_say_at(c, w).text);
    return finding;
}

/* Never proven: two groups, each with its own total, may use one id by mistake. */
static void say_counts_differ(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s on named barrier %u for %u threads while %s wait%s on it for %u: all participants must use "
                "the same thread count.",
                wsdbg_say_warps(c, &g->waiting).text, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->id, g->count,
                wsdbg_say_warps(c, &g->others).text, wsdbg_set_count(&g->others) == 1 ? "s" : "", g->other_count);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Give every bar.sync and bar.arrive of the group the total number of threads that arrive and wait. "
                "Give unrelated groups different barrier ids.");
}

static void say_too_few(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Named barrier %u expects %u threads%s, but only %u wait on it (%s) and no other warp can reach an "
                "instruction that uses it.",
                g->id, g->count, wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text,
                wsdbg_set_count(&g->waiting) * WSDBG_WARP_THREADS, wsdbg_say_warps(c, &g->waiting).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Use the number of threads that actually arrive and wait.");
}

static void say_block_sync(struct wsdbg_case *c, const struct gathering *g, const struct wsdbg_warp_set *absent)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s at a block-wide barrier%s that %s cannot reach%s.", wsdbg_say_warps(c, &g->waiting).text,
                wsdbg_set_count(&g->waiting) == 1 ? "s" : "", wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text,
                wsdbg_say_warps(c, absent).text,
                !wsdbg_set_count(&g->to_come)  ? ""
                : wsdbg_set_count(absent) == 1 ? ": it waits for something that happens only after the barrier"
                                               : ": they wait for something that happens only after the barrier");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "A block-wide barrier in the branch of one role never completes: use a named barrier with the role's "
                "thread count.");
    wsdbg_tell_waits(c, finding, absent);
}

/* Those that are gone took part before, and are just as many as are missing: nobody else can have been meant. */
static bool partners_left(const struct gathering *g, uint32_t missing)
{
    return missing > 0 && g->others_behind == 0 && wsdbg_set_count(&g->exited) == wsdbg_set_count(&g->partners) &&
           wsdbg_set_count(&g->partners) * WSDBG_WARP_THREADS == missing;
}

/* The exited warps of the warpgroups that wait. */
static struct wsdbg_warp_set exited_mates(const struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_warp_set mates = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count && wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED; v++)
            if (wsdbg_set_has(&g->waiting, v) && wsdbg_case_are_mates(c, w, v))
                wsdbg_set_add(&mates, w);
    return mates;
}

/* One warp is missing, has left, and the rest of its warpgroup is there; no live warp is known to reach the barrier,
 * and no other exited one is known to have come.  Of two or more missing ones some may have come through a round that
 * was not theirs, as a wrong count lets them. */
static bool one_mate_left(const struct wsdbg_case *c, const struct gathering *g, uint32_t missing)
{
    const struct wsdbg_warp_set mates = exited_mates(c, g);
    const uint32_t first = wsdbg_first_of(&mates);
    uint32_t there = 0;
    if (missing != WSDBG_WARP_THREADS || wsdbg_set_count(&mates) != 1 || g->others_behind > 0 ||
        named_count(c, wsdbg_first_of(&g->waiting)) == 0)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        there += wsdbg_set_has(&g->waiting, w) && wsdbg_case_are_mates(c, w, first);
        if ((wsdbg_set_has(&g->to_come, w) && wsdbg_code_can(c, w, WSDBG_KINDS_NAMED, g->barrier, NULL) == WSDBG_CAN) ||
            (wsdbg_set_has(&g->partners, w) && w != first))
            return false;
    }
    return there == WSDBG_GROUP_WARPS - 1;
}

/* Likely if no live warp can come; else it is only possible. */
static void say_exited(struct wsdbg_case *c, const struct gathering *g, const struct wsdbg_warp_set *gone,
                       const char *which)
{
    const bool nobody = wsdbg_set_count(&g->to_come) == 0;
    struct wsdbg_finding *finding =
        begin(c, g, WSDBG_CAUSE_WAKER_EXITED, nobody ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Named barrier %u expects %u threads%s: %u wait on it (%s), and %s%s ha%s exited. No live warp %s the "
                "missing arrivals.",
                g->id, g->count, wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text,
                wsdbg_set_count(&g->waiting) * WSDBG_WARP_THREADS, wsdbg_say_warps(c, &g->waiting).text,
                wsdbg_say_warps(c, gone).text, which, wsdbg_set_count(gone) == 1 ? "s" : "ve",
                nobody ? "can make" : "is known to make");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Make both sides reach barrier %u the same number of times: compare their last rounds and the barrier "
                "ids they use.",
                g->id);
}

static void say_sync_of_role(struct wsdbg_case *c, const struct gathering *g, const struct wsdbg_warp_set *others,
                             uint32_t sync, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE, confidence);
    if (!finding)
        return;
    const struct wsdbg_phrase at = wsdbg_say_at_site(c, c->snapshot->accesses[sync].site);
    char waiting[160];
    wsdbg_print(waiting, sizeof waiting, "%s", wsdbg_say_warps(c, &g->waiting).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s reach%s a block-wide barrier%s that %s never reach%s, and now wait%s at one%s for all %u threads.",
                waiting, wsdbg_set_count(&g->waiting) == 1 ? "es" : "", at.text, wsdbg_say_warps(c, others).text,
                wsdbg_set_count(others) == 1 ? "es" : "", wsdbg_set_count(&g->waiting) == 1 ? "s" : "",
                wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text, g->count);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "A block-wide barrier in the branch of one role never completes: use a named barrier with the role's "
                "thread count.");
    wsdbg_tell_access(c, finding, sync, "is reached by these warps alone");
}

/* Another thread count, named by an instruction on the barrier that some warp has executed; 0 = there is none. */
static uint32_t other_count_in_code(const struct wsdbg_case *c, const struct gathering *g)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta; i++) {
            const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
            if (!access || !(WSDBG_KINDS_NAMED >> access->kind & 1) || !access->count.known ||
                !reaches[i].before_known || reaches[i].before_least == 0 ||
                wsdbg_access_match(c, access, g->barrier) != WSDBG_MATCH_ONE)
                continue;
            const uint32_t named = access->count.value ? access->count.value : g->cta_threads;
            if (named != g->count)
                return named;
        }
    }
    return 0;
}

static void say_counts_changed(struct wsdbg_case *c, const struct gathering *g, uint32_t other)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s on named barrier %u for %u threads%s, and another instruction on it that was executed names "
                "%u: a round that counts fewer threads completes without the others.",
                wsdbg_say_warps(c, &g->waiting).text, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->id, g->count,
                wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text, other);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Give every bar.sync and bar.arrive on barrier %u the number of threads that arrive and wait, or use "
                "another barrier id for the other group.",
                g->id);
}

/* Live warps of the CTA that are not there. */
static struct wsdbg_warp_set absent_warps(const struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && !wsdbg_set_has(&g->waiting, w) &&
            wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            wsdbg_set_add(&set, w);
    return set;
}

static bool is_same_line(const struct wsdbg_site *a, const struct wsdbg_site *b)
{
    return a && b && a->line.known && b->line.known && a->line.value == b->line.value && a->file[0] &&
           strcmp(a->file, b->file) == 0;
}

/* One line, inlined through the same calls. */
static bool is_same_statement(const struct wsdbg_case *c, uint32_t a, uint32_t b)
{
    for (uint32_t depth = 0; a != b && depth < INLINED_MOST; depth++) {
        const struct wsdbg_site *one = wsdbg_snapshot_site(c->snapshot, a),
                                *other = wsdbg_snapshot_site(c->snapshot, b);
        if (!is_same_line(one, other))
            return false;
        a = one->inlined_at;
        b = other->inlined_at;
    }
    return true;
}

/* The warp can still reach the instruction that a waiting warp stands at, or another one of the same statement.  True
 * where its way on is not known. */
static bool can_come_here(const struct wsdbg_case *c, uint32_t warp, uint32_t waiter)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    if (count == 0)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && access->kind == WSDBG_ACCESS_NAMED_SYNC && reaches[i].after > 0 &&
            is_same_statement(c, access->site, wsdbg_case_warp(c, waiter)->site))
            return true;
    }
    return false;
}

/* Also true where it is not known by which instruction the walk comes to some barrier. */
static bool comes_here(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t waiter)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (uint32_t k = walk->step_first; k < walk->step_first + walk->step_count; k++)
        if (s->steps[k].kind == WSDBG_ACCESS_NAMED_SYNC &&
            (s->steps[k].access >= s->access_count ||
             is_same_statement(c, s->accesses[s->steps[k].access].site, wsdbg_case_warp(c, waiter)->site)))
            return true;
    return false;
}

/* The warp has left the kernel, and walks show its whole way: it does not come to this place. */
static bool never_came_here(const struct wsdbg_case *c, uint32_t warp, uint32_t waiter)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    bool any = false;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (s->walks[i].warp != c->warps[warp])
            continue;
        if (!s->walks[i].is_whole || s->walks[i].is_guessed || comes_here(c, &s->walks[i], waiter))
            return false;
        any = true;
    }
    return any && wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED;
}

/* Some warp of the CTA never reaches this place: the barrier stands in the branch of one role.  A barrier that all
 * warps can reach is not at fault.  What keeps the absent warps from it is. */
static bool is_in_a_branch(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent, uint32_t waiter)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_set_has(absent, w) && !can_come_here(c, w, waiter))
            return true;
        if (wsdbg_case_warp(c, w)->cta == wsdbg_case_warp(c, waiter)->cta && never_came_here(c, w, waiter))
            return true;
    }
    return false;
}

/* Whether the warp may have reached the access or still can; true where that is not known. */
static bool ever_comes_to(const struct wsdbg_case *c, uint32_t warp, uint32_t access)
{
    const struct wsdbg_reach *reach = wsdbg_code_reach(c, warp, access);
    return !reach || !reach->before_known || reach->before_most > 0 || reach->after > 0;
}

/* How many of the waiting warps, and how many others of the CTA, may ever reach an access. */
struct comers {
    uint32_t waiting, others;
};

static struct comers comers_of(const struct wsdbg_case *c, const struct gathering *g, uint32_t access)
{
    struct comers comers = {0};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && ever_comes_to(c, w, access))
            *(wsdbg_set_has(&g->waiting, w) ? &comers.waiting : &comers.others) += 1;
    return comers;
}

/* The instruction waits at this barrier for all threads of the CTA. */
static bool is_block_sync(const struct wsdbg_case *c, const struct wsdbg_access_row *access, const struct gathering *g)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC && access->count.known &&
           (access->count.value == 0 || access->count.value == g->cta_threads) &&
           wsdbg_access_match(c, access, g->barrier) == WSDBG_MATCH_ONE;
}

/* All waiting warps may have come through the access, or stand at it. */
static bool is_behind_the_waiting(const struct wsdbg_case *c, const struct gathering *g, uint32_t access)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_reach *reach = wsdbg_set_has(&g->waiting, w) ? wsdbg_code_reach(c, w, access) : NULL;
        if (wsdbg_set_has(&g->waiting, w) && (!reach || !reach->before_known || reach->before_most == 0))
            return false;
    }
    return true;
}

/* A block-wide barrier that all waiting warps may have reached and no other warp of the CTA can.  WSDBG_NONE: there is
 * none, or the other warps have an access of their own instead. */
static uint32_t sync_of_one_role(const struct wsdbg_case *c, const struct gathering *g)
{
    uint32_t found = WSDBG_NONE;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || access->kind > 31 || !(WSDBG_KINDS_NAMED >> access->kind & 1) ||
            wsdbg_access_match(c, access, g->barrier) == WSDBG_MATCH_NO)
            continue;
        const struct comers comers = comers_of(c, g, i);
        if (comers.waiting == 0 && comers.others > 0)
            return WSDBG_NONE;
        if (comers.others == 0 && is_block_sync(c, access, g) && is_behind_the_waiting(c, g, i))
            found = i;
    }
    return found;
}

static struct wsdbg_warp_set others_of_cta(const struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && !wsdbg_set_has(&g->waiting, w))
            wsdbg_set_add(&set, w);
    return set;
}

/* None of them has a waiting warp's role.  Four warps in a row have one role where it is not known that they have two:
 * a sync that only some of them reach stands in no role's branch.  Rather one of them passed it by. */
static bool are_of_other_roles(const struct wsdbg_case *c, const struct gathering *g,
                               const struct wsdbg_warp_set *others)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count && wsdbg_set_has(others, w); v++) {
            const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w), *mate = wsdbg_case_warp(c, v);
            const bool differ = row->role.known && mate->role.known && row->role.value != mate->role.value;
            if (wsdbg_set_has(&g->waiting, v) && row->warp / WSDBG_GROUP_WARPS == mate->warp / WSDBG_GROUP_WARPS &&
                !differ)
                return false;
        }
    return true;
}

static bool is_block_wide(const struct gathering *g)
{
    return g->id == 0 && g->count == g->cta_threads;
}

static void judge_who_came(struct wsdbg_case *c, uint32_t waiter, const struct gathering *g)
{
    struct wsdbg_barrier_participation r;
    if (wsdbg_code_barrier_participation(c, g->barrier, g->count, &g->waiting, &r)) {
        r.more_to_come = wsdbg_set_count(&g->to_come) > 0;
        if (wsdbg_judge_barrier_participation(c, &r, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY)))
            return;
    }
    const struct wsdbg_warp_set absent = absent_warps(c, g);
    struct wsdbg_warp_set outstanding;
    const bool nobody = wsdbg_set_count(&g->to_come) == 0;
    const uint32_t present = wsdbg_set_count(&g->waiting) * WSDBG_WARP_THREADS;
    const uint32_t missing = g->count > present ? g->count - present : 0;
    if (is_block_wide(g) && wsdbg_set_count(&absent) > 0) {
        if (is_in_a_branch(c, &absent, waiter) && (nobody || wsdbg_all_wait_for(c, &absent, &g->waiting, &outstanding)))
            say_block_sync(c, g, &absent);
    } else if (nobody && !others_took_part(c, g) && missing > wsdbg_set_count(&g->exited) * WSDBG_WARP_THREADS &&
               !one_mate_left(c, g, missing)) {
        say_too_few(c, g);
    } else if (nobody && partners_left(g, missing)) {
        const uint32_t other = other_count_in_code(c, g);
        if (other)
            say_counts_changed(c, g, other);
        else
            say_exited(c, g, &g->partners, ", which took part before,");
    } else if ((nobody || wsdbg_all_wait_for(c, &g->to_come, &g->waiting, &outstanding)) &&
               one_mate_left(c, g, missing)) {
        const struct wsdbg_warp_set mates = exited_mates(c, g);
        say_exited(c, g, &mates, " of the same warpgroup");
    }
}

static void judge_named(struct wsdbg_case *c, uint32_t waiter)
{
    const struct gathering g = gather(c, waiter);
    if (!wsdbg_case_stuck(c, waiter) || wsdbg_first_of(&g.waiting) != waiter)
        return;
    if (wsdbg_set_count(&g.others) > 0) {
        if (waiter < wsdbg_first_of(&g.others))
            say_counts_differ(c, &g);
        return;
    }
    const struct wsdbg_warp_set others = others_of_cta(c, &g);
    const uint32_t sync = is_block_wide(&g) && wsdbg_set_count(&g.to_come) == 0 && wsdbg_set_count(&others) > 0
                              ? sync_of_one_role(c, &g)
                              : WSDBG_NONE;
    const bool of_role = sync != WSDBG_NONE && are_of_other_roles(c, &g, &others);
    const size_t before = c->finding_count;
    if (!of_role)
        judge_who_came(c, waiter, &g);
    if (sync != WSDBG_NONE && c->finding_count == before)
        say_sync_of_role(c, &g, &others, sync, of_role ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
}

/* ---- lanes ---- */

/* Two parts of the warp wait on one mbarrier for different phases. */
static void judge_lanes(struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_part *part = &parts[i];
        if (part->state != WSDBG_WARP_WAIT_MBARRIER || part->barrier != row->barrier || !part->parity.known ||
            !row->parity.known || part->parity.value == row->parity.value || part->barrier == WSDBG_NONE)
            continue;
        struct wsdbg_finding *finding = wsdbg_case_find(
            c, WSDBG_CAUSE_LANE_SPLIT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
        if (!finding)
            return;
        finding->role = row->role;
        wsdbg_print(
            finding->sentence, sizeof finding->sentence,
            "The lanes of %s have diverged: some wait on %s for parity %u%s, lanes 0x%08x wait for parity %u at %s.",
            wsdbg_say_warp(c, warp).text, wsdbg_say_object(c, row->barrier).text, row->parity.value,
            wsdbg_say_at(c, warp).text, part->lanes, part->parity.value, wsdbg_say_place(c, part->site).text);
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Reconverge the warp (__syncwarp) after the elected lane's work, before any lane waits again.");
        wsdbg_tell_wait(c, finding, warp);
        wsdbg_tell_word(c, finding, row->barrier);
        return;
    }
}

void wsdbg_rule_code_gather(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state == WSDBG_WARP_WAIT_NAMED && row->barrier < c->snapshot->barrier_count)
            judge_named(c, w);
        else if (row->state == WSDBG_WARP_WAIT_MBARRIER && wsdbg_case_stuck(c, w))
            judge_lanes(c, w);
    }
}
