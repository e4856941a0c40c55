/* gathering.c - see gathering.h.  Reads: parts, accesses, reaches, walks, sites. */
#include "diagnose/gathering.h"

#include <string.h>

#include "diagnose/code_case.h"
#include "diagnose/code_executions.h"
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

#define INLINED_MOST 64u /* calls inlined into one another; more is not looked at */

uint32_t wsdbg_gathering_named_count(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state == WSDBG_WARP_WAIT_NAMED && parts[i].barrier == wsdbg_case_warp(c, warp)->barrier &&
            parts[i].count.known)
            return parts[i].count.value;
    return 0;
}

/* Whether some walk of the warp's CTA was guessed: then others of the CTA may have loaded what it stored. */
static bool is_guessed_beside(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (size_t i = 0; i < s->walk_count; i++)
        if (s->walks[i].is_guessed && s->warps[s->walks[i].warp].cta == wsdbg_case_warp(c, warp)->cta)
            return true;
    return false;
}

/* Whether all walks of a warp, known from the kernel's start to its end by what cannot change, leave out the named
 * barrier. */
static bool never_comes(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    bool any = false;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (s->walks[i].warp != c->warps[warp])
            continue;
        if (!wsdbg_walk_is_known(&s->walks[i]) || s->walks[i].has_loaded)
            return false;
        any = true;
        for (uint32_t k = 0; k < s->walks[i].step_count; k++)
            if (wsdbg_replay_is_use(&s->steps[s->walks[i].step_first + k], id))
                return false;
    }
    return any && !is_guessed_beside(c, warp);
}

static void add_warp(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_gathering *g)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->state == WSDBG_WARP_EXITED) {
        const struct wsdbg_barrier_executions executions =
            wsdbg_code_executions(c, warp, g->barrier, !wsdbg_gathering_is_block_wide(g));
        if (executions.most > 0)
            wsdbg_set_add(&g->exited, warp);
        if (executions.least > 0)
            wsdbg_set_add(&g->partners, warp);
    } else if (row->state == WSDBG_WARP_WAIT_NAMED && row->barrier == g->barrier) {
        const uint32_t named = wsdbg_gathering_named_count(c, warp), count = named ? named : g->cta_threads;
        wsdbg_set_add(count == g->count ? &g->waiting : &g->others, warp);
        if (count != g->count)
            g->other_count = count;
    } else if (never_comes(c, warp, g->id)) {
        return;
    } else if (wsdbg_code_can(c, warp, WSDBG_KINDS_NAMED, g->barrier, NULL) > WSDBG_CAN_NOT) {
        wsdbg_set_add(&g->to_come, warp);
    } else if (wsdbg_code_behind(c, warp, WSDBG_KINDS_NAMED, g->barrier, NULL) > 0) {
        g->others_behind++;
        g->others_arrive |= wsdbg_code_behind(c, warp, WSDBG_KIND(WSDBG_ACCESS_NAMED_ARRIVE), g->barrier, NULL) > 0;
    }
}

struct wsdbg_gathering wsdbg_gathering_of(const struct wsdbg_case *c, uint32_t waiter)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, waiter);
    struct wsdbg_gathering g = {.barrier = self->barrier, .id = c->snapshot->barriers[self->barrier].id};
    g.cta_threads = c->snapshot->grids[c->grid].warps_per_cta * WSDBG_WARP_THREADS;
    g.count = wsdbg_gathering_named_count(c, waiter) ? wsdbg_gathering_named_count(c, waiter) : g.cta_threads;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == self->cta)
            add_warp(c, w, &g);
    return g;
}

struct wsdbg_finding *wsdbg_gathering_find(struct wsdbg_case *c, const struct wsdbg_gathering *g,
                                           enum wsdbg_cause cause, enum wsdbg_confidence confidence)
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

struct wsdbg_warp_set wsdbg_gathering_absent(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && !wsdbg_set_has(&g->waiting, w) &&
            wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            wsdbg_set_add(&set, w);
    return set;
}

struct wsdbg_warp_set wsdbg_gathering_others(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && !wsdbg_set_has(&g->waiting, w))
            wsdbg_set_add(&set, w);
    return set;
}

/* ---- barriers for all threads ---- */

bool wsdbg_gathering_is_block_wide(const struct wsdbg_gathering *g)
{
    return g->id == 0 && g->count == g->cta_threads;
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
        if (!s->walks[i].is_whole || s->walks[i].is_guessed || s->walks[i].has_loaded ||
            comes_here(c, &s->walks[i], waiter))
            return false;
        any = true;
    }
    return any && wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED;
}

enum wsdbg_confidence wsdbg_gathering_is_in_a_branch(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent,
                                                     uint32_t waiter)
{
    bool is_unlike_those_that_left = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_set_has(absent, w) && !can_come_here(c, w, waiter))
            return WSDBG_CONFIDENCE_LIKELY;
        is_unlike_those_that_left |=
            wsdbg_case_warp(c, w)->cta == wsdbg_case_warp(c, waiter)->cta && never_came_here(c, w, waiter);
    }
    return is_unlike_those_that_left ? WSDBG_CONFIDENCE_POSSIBLE : 0;
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

static struct comers comers_of(const struct wsdbg_case *c, const struct wsdbg_gathering *g, uint32_t access)
{
    struct comers comers = {0};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta && ever_comes_to(c, w, access))
            *(wsdbg_set_has(&g->waiting, w) ? &comers.waiting : &comers.others) += 1;
    return comers;
}

/* The instruction waits at this barrier for all threads of the CTA. */
static bool is_block_sync(const struct wsdbg_case *c, const struct wsdbg_access_row *access,
                          const struct wsdbg_gathering *g)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC && access->count.known &&
           (access->count.value == 0 || access->count.value == g->cta_threads) &&
           wsdbg_access_match(c, access, g->barrier) == WSDBG_MATCH_ONE;
}

/* All waiting warps may have come through the access, or stand at it. */
static bool is_behind_the_waiting(const struct wsdbg_case *c, const struct wsdbg_gathering *g, uint32_t access)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_reach *reach = wsdbg_set_has(&g->waiting, w) ? wsdbg_code_reach(c, w, access) : NULL;
        if (wsdbg_set_has(&g->waiting, w) && (!reach || !reach->before_known || reach->before_most == 0))
            return false;
    }
    return true;
}

uint32_t wsdbg_gathering_sync_of_role(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    uint32_t found = WSDBG_NONE;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || !wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) ||
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

bool wsdbg_gathering_is_of_role(const struct wsdbg_case *c, const struct wsdbg_gathering *g,
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
