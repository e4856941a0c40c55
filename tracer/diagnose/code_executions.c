/* code_executions.c - see code_executions.h.
 *
 * Reads: accesses and reaches of the snapshot.  Writes: nothing.
 *
 * How often a warp has executed an instruction is known where its way there leaves no choice: outside of loops, on
 * branches that the index of its threads decides.  Elsewhere the bounds are wide, and little follows from them.
 */
#include "diagnose/code_executions.h"

#include "diagnose/code_case.h"
#include "diagnose/phrase.h"

static const struct wsdbg_access_row *visited(const struct wsdbg_case *c, const struct wsdbg_reach *reach,
                                              uint32_t barrier)
{
    const struct wsdbg_access_row *access = wsdbg_code_access(c, reach);
    const bool may = access && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) &&
                     (!reach->before_known || reach->before_most > 0);
    return may && wsdbg_access_match(c, access, barrier) > WSDBG_MATCH_NO ? access : NULL;
}

static uint32_t add_up(uint32_t a, uint32_t b)
{
    return a + b < WSDBG_MANY ? a + b : WSDBG_MANY;
}

/* It names no count, but means all threads of the CTA. */
static bool is_block_wide(const struct wsdbg_access_row *access)
{
    return access->count.known && access->count.value == 0;
}

struct wsdbg_barrier_executions wsdbg_code_executions(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier,
                                                      bool but_block_wide)
{
    uint32_t count, places = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    struct wsdbg_barrier_executions executions = {
        .known = count > 0, .most = count ? 0 : WSDBG_MANY, .group = WSDBG_NONE, .place = WSDBG_NONE};
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = visited(c, &reaches[i], barrier);
        if (!access || (but_block_wide && is_block_wide(access)))
            continue;
        executions.known = executions.known && reaches[i].before_known;
        const bool certain = reaches[i].before_known && wsdbg_access_match(c, access, barrier) == WSDBG_MATCH_ONE;
        executions.least = add_up(executions.least, certain ? reaches[i].before_least : 0);
        executions.most = add_up(executions.most, reaches[i].before_known ? reaches[i].before_most : WSDBG_MANY);
        executions.arrives |= access->kind == WSDBG_ACCESS_NAMED_ARRIVE;
        executions.place = places++ ? WSDBG_NONE : access->site;
    }
    return executions;
}

static bool comes_to(const struct wsdbg_case *c, uint32_t warp, uint32_t access, uint32_t barrier)
{
    const struct wsdbg_reach *reach = wsdbg_code_reach(c, warp, access);
    return reach && visited(c, reach, barrier);
}

/* `other` reached every instruction on the barrier that `warp` reached. */
static bool follows(const struct wsdbg_case *c, uint32_t warp, uint32_t other, uint32_t barrier)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (visited(c, &reaches[i], barrier) && !comes_to(c, other, reaches[i].access, barrier))
            return false;
    return true;
}

/* Every instruction on the barrier that the warp reached names this count.  If the instruction takes its count from a
 * register, the first waiting warp must have reached it, too. */
static bool names_count(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_barrier_participation *r)
{
    const uint32_t cta_threads = c->snapshot->grids[c->grid].warps_per_cta * WSDBG_WARP_THREADS;
    const uint32_t waiter = wsdbg_first_of(&r->waiting);
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = visited(c, &reaches[i], r->barrier);
        if (!access)
            continue;
        const uint32_t named = access->count.value ? access->count.value : cta_threads;
        if (access->count.known ? named != r->count : !comes_to(c, waiter, reaches[i].access, r->barrier))
            return false;
    }
    return true;
}

bool wsdbg_code_barrier_participation(const struct wsdbg_case *c, uint32_t barrier, uint32_t count,
                                      const struct wsdbg_warp_set *waiting, struct wsdbg_barrier_participation *out)
{
    const struct wsdbg_barrier *row = &c->snapshot->barriers[barrier];
    *out = (struct wsdbg_barrier_participation){
        .cta = row->cta, .barrier = barrier, .id = row->id, .count = count, .waiting = *waiting};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_case_warp(c, w)->cta != row->cta)
            continue;
        out->executions[w] = wsdbg_code_executions(c, w, barrier, false);
        if (out->executions[w].most == 0)
            continue;
        if (!names_count(c, w, out))
            return false;
        /* Warps that reach the same instructions are one group.  Its number is that of its first warp. */
        out->executions[w].group = w;
        for (uint32_t v = 0; v < w && out->executions[w].group == w; v++)
            if (out->executions[v].most > 0 && follows(c, w, v, barrier) && follows(c, v, w, barrier))
                out->executions[w].group = out->executions[v].group;
    }
    return true;
}
