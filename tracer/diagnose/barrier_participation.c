/* barrier_participation.c - see barrier_participation.h.
 *
 * Four arguments.  The barrier takes C warps, P warps have reached it, and a waiting warp has reached it U times:
 *
 *   DOUBLE_ARRIVE    P = C, and each of the others has come U times or more: that is round U, and yet it is not
 *                    complete for the one that waits.  So some warp counted twice in one round, and only bar.arrive
 *                    lets a warp do that.
 *   NAMED_ID_SHARED  P > C, and the warps fall into groups of C that come equally often, each of which would be a
 *                    barrier of its own.  None of them could leave a warp behind; warps of two groups met.
 *   NAMED_COUNT      P > C, and all that are done came equally often, none of them too seldom: they are one group, and
 *                    the count is not theirs.
 *   WAKER_EXITED     P = C, and those that have come fewer than U times have all left the kernel.  Warps of the
 *                    waiters' role that left without coming count among the P.
 */
#include "diagnose/barrier_participation.h"

#include "diagnose/code_say.h"
#include "diagnose/rules.h"

/* What the executions add up to. */
struct sum {
    uint32_t group_warps;                 /* that complete a round */
    struct wsdbg_warp_set visitors, done; /* came; came and is not there now */
    uint32_t arrivals;                    /* of all, where `exact` */
    bool exact;
};

static struct sum sum_of(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r)
{
    struct sum sum = {.group_warps = r->count / WSDBG_WARP_THREADS, .exact = true};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_barrier_executions *executions = &r->executions[w];
        sum.exact = sum.exact && executions->least == executions->most;
        sum.arrivals += executions->least;
        if (executions->most == 0)
            continue;
        wsdbg_set_add(&sum.visitors, w);
        if (!wsdbg_set_has(&r->waiting, w))
            wsdbg_set_add(&sum.done, w);
    }
    return sum;
}

/* What the barrier still holds by the executions is what stands there: then they are all, and it counts as is believed.
 */
static bool adds_up(const struct wsdbg_barrier_participation *r, const struct sum *sum)
{
    return sum->exact && sum->arrivals % sum->group_warps >= wsdbg_set_count(&r->waiting);
}

/* ---- DOUBLE_ARRIVE ---- */

/* A waiting warp whose round each other one has arrived for; WSDBG_NONE = there is none. */
static uint32_t left_behind(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                            const struct sum *sum)
{
    for (uint32_t waiter = 0; waiter < c->warp_count; waiter++) {
        bool complete = wsdbg_set_has(&r->waiting, waiter);
        for (uint32_t w = 0; w < c->warp_count && complete; w++)
            complete = !wsdbg_set_has(&sum->visitors, w) || w == waiter ||
                       r->executions[w].least >= r->executions[waiter].most;
        if (complete)
            return waiter;
    }
    return WSDBG_NONE;
}

/* Those that came without waiting, and oftener than the waiting one. */
static struct wsdbg_warp_set ahead_of(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                                      uint32_t waiter)
{
    struct wsdbg_warp_set ahead = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (r->executions[w].arrives && r->executions[w].least > r->executions[waiter].most)
            wsdbg_set_add(&ahead, w);
    return ahead;
}

/* "once", "twice", "5 times" */
static struct wsdbg_phrase say_times(uint32_t times)
{
    struct wsdbg_phrase phrase;
    if (times == 1 || times == 2)
        wsdbg_print(phrase.text, sizeof phrase.text, times == 1 ? "once" : "twice");
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "%u times", times);
    return phrase;
}

static struct wsdbg_phrase say_place(const struct wsdbg_case *c, const struct wsdbg_barrier_executions *executions)
{
    return executions->place == WSDBG_NONE ? (struct wsdbg_phrase){""} : wsdbg_say_at_site(c, executions->place);
}

/* The role that most of them have, the first one of several. */
static struct wsdbg_optional_u32 role_of_most(const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    struct wsdbg_optional_u32 role = {0};
    uint32_t most = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_optional_u32 mine = wsdbg_case_warp(c, w)->role;
        uint32_t alike = 0;
        for (uint32_t v = 0; v < c->warp_count && wsdbg_set_has(set, w) && mine.known; v++)
            alike += wsdbg_set_has(set, v) && wsdbg_case_warp(c, v)->role.known &&
                     wsdbg_case_warp(c, v)->role.value == mine.value;
        if (alike > most) {
            most = alike;
            role = mine;
        }
    }
    return role;
}

/* The finding, with how often each warp came. */
static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                                   enum wsdbg_cause cause, enum wsdbg_confidence confidence,
                                   const struct wsdbg_warp_set *at_fault)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, r->cta, r->barrier);
    if (!finding)
        return NULL;
    finding->role = role_of_most(c, at_fault);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_barrier_executions *executions = &r->executions[w];
        if (executions->most == 0)
            continue;
        wsdbg_evidence_warp(c, finding, w, "%s reached named barrier %u %s%s%s%s", wsdbg_say_warp(c, w).text, r->id,
                            executions->least == executions->most ? "" : "at least ", say_times(executions->least).text,
                            say_place(c, executions).text, wsdbg_set_has(&r->waiting, w) ? " and waits there" : "");
    }
    return finding;
}

static bool judge_double(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum,
                         enum wsdbg_confidence cap)
{
    const uint32_t waiter = left_behind(c, r, sum);
    if (waiter == WSDBG_NONE)
        return false;
    const struct wsdbg_warp_set ahead = ahead_of(c, r, waiter);
    const uint32_t first = wsdbg_first_of(&ahead);
    if (first == WSDBG_NONE)
        return false;
    struct wsdbg_finding *finding = begin(c, r, WSDBG_CAUSE_DOUBLE_ARRIVE, cap, &ahead);
    if (!finding)
        return true;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on named barrier %u %s%s before %s reached it%s. Some of its %u threads counted twice in "
                "one round, and that round completed without the others.",
                wsdbg_say_warps(c, &ahead).text, r->id,
                r->executions[first].least == r->executions[first].most ? "" : "at least ",
                say_times(r->executions[first].least).text, wsdbg_say_warps(c, &r->waiting).text,
                r->executions[waiter].most == 1 ? "" : " as often", r->count);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the arriving warps wait for the other side before they arrive again, or alternate between two "
                "barrier ids.");
    return true;
}

/* ---- WAKER_EXITED ---- */

/* Of the role that the waiting warps have, and gone. */
static bool is_lost_mate(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_warp_row *waiter = wsdbg_case_warp(c, wsdbg_first_of(&r->waiting));
    return row->cta == r->cta && row->state == WSDBG_WARP_EXITED && r->executions[warp].most == 0 && row->role.known &&
           waiter->role.known && row->role.value == waiter->role.value;
}

/* The warps that the round of the waiting warps still needs.  Empty unless all of them have exited. */
static struct wsdbg_warp_set left_early(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                                        const struct sum *sum)
{
    const uint32_t round = r->executions[wsdbg_first_of(&r->waiting)].least;
    struct wsdbg_warp_set gone = {{0}};
    uint32_t members = wsdbg_set_count(&sum->visitors);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_barrier_executions *executions = &r->executions[w];
        const bool mate = is_lost_mate(c, r, w);
        members += mate;
        if (wsdbg_set_has(&r->waiting, w) ? executions->least != round || executions->most != round
                                          : wsdbg_set_has(&sum->visitors, w) && !executions->known)
            return (struct wsdbg_warp_set){{0}};
        if (mate || (wsdbg_set_has(&sum->done, w) && executions->least < round))
            wsdbg_set_add(&gone, w);
    }
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&gone, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            return (struct wsdbg_warp_set){{0}};
    return members == sum->group_warps ? gone : (struct wsdbg_warp_set){{0}};
}

static bool judge_left(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum,
                       enum wsdbg_confidence cap)
{
    const struct wsdbg_warp_set gone = left_early(c, r, sum);
    const bool one = wsdbg_set_count(&gone) == 1;
    if (r->more_to_come || wsdbg_set_count(&gone) == 0)
        return false;
    struct wsdbg_finding *finding = begin(c, r, WSDBG_CAUSE_WAKER_EXITED, cap, &gone);
    if (!finding)
        return true;
    char who[160];
    wsdbg_print(who, sizeof who, "%s", wsdbg_say_warps(c, &r->waiting).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s wait%s on named barrier %u for %u threads, but %s, which %s part of the group, exited before this round.",
        who, wsdbg_set_count(&r->waiting) == 1 ? "s" : "", r->id, r->count, wsdbg_say_warps(c, &gone).text,
        one ? "is" : "are");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp of the group reach the barrier on every path, even when it has no work.");
    return true;
}

/* ---- one group or several ---- */

/* Those that are done came equally often, and nobody that waits has come oftener. */
static bool is_balanced(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum,
                        uint32_t group)
{
    uint32_t rounds = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&sum->done, w) || (group != WSDBG_NONE && r->executions[w].group != group))
            continue;
        if (rounds > 0 && r->executions[w].least != rounds)
            return false;
        rounds = r->executions[w].least;
    }
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&r->waiting, w) && (group == WSDBG_NONE || r->executions[w].group == group) && rounds > 0 &&
            r->executions[w].least > rounds)
            return false;
    return true;
}

/* The warps say themselves which of them belong together, and each group is as large as the count. */
static bool groups_fit(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t size = 0;
        if (!wsdbg_set_has(&sum->visitors, w))
            continue;
        for (uint32_t v = 0; v < c->warp_count; v++)
            size += wsdbg_set_has(&sum->visitors, v) && r->executions[v].group == r->executions[w].group;
        if (r->executions[w].group == WSDBG_NONE || size != sum->group_warps ||
            !is_balanced(c, r, sum, r->executions[w].group))
            return false;
    }
    return true;
}

/* Warps that came equally often, filled up with those that wait and have not come oftener, make groups of the right
 * size; a group is all done where there are enough of them. */
static bool visits_make_groups(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                               const struct sum *sum)
{
    uint32_t waits_most = 0, seats = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&r->waiting, w) && r->executions[w].least > waits_most)
            waits_most = r->executions[w].least;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t alike = 0, before = 0;
        for (uint32_t v = 0; v < c->warp_count && wsdbg_set_has(&sum->done, w); v++) {
            const bool same = wsdbg_set_has(&sum->done, v) && r->executions[v].least == r->executions[w].least;
            alike += same;
            before += same && v < w;
        }
        if (alike == 0 || before > 0 || alike % sum->group_warps == 0)
            continue;
        if (r->executions[w].least < waits_most)
            return false;
        seats += sum->group_warps - alike % sum->group_warps;
    }
    return seats == wsdbg_set_count(&r->waiting);
}

static void say_shared(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum,
                       enum wsdbg_confidence cap)
{
    struct wsdbg_finding *finding = begin(c, r, WSDBG_CAUSE_NAMED_ID_SHARED, cap, &r->waiting);
    if (!finding)
        return;
    char users[160];
    wsdbg_print(users, sizeof users, "%s", wsdbg_say_warps(c, &sum->visitors).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Unrelated groups of %u threads share named barrier %u (%s). Warps of two groups completed a round "
                "together, and %s wait%s for a warp that has already passed.",
                r->count, r->id, users, wsdbg_say_warps(c, &r->waiting).text,
                wsdbg_set_count(&r->waiting) == 1 ? "s" : "");
    wsdbg_print(finding->fix, sizeof finding->fix, "Give each group its own barrier id; a CTA has 16.");
}

static void say_count(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r, const struct sum *sum,
                      enum wsdbg_confidence cap)
{
    struct wsdbg_finding *finding = begin(c, r, WSDBG_CAUSE_NAMED_COUNT, cap, &sum->visitors);
    const uint32_t warps = wsdbg_set_count(&sum->visitors), waiting = wsdbg_set_count(&r->waiting);
    if (!finding)
        return;
    char users[160];
    wsdbg_print(users, sizeof users, "%s", wsdbg_say_warps(c, &sum->visitors).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%u warps, %u threads, use named barrier %u (%s), which counts %u. The last round has only %u of them, "
                "%s, and no other warp will arrive.",
                warps, warps * WSDBG_WARP_THREADS, r->id, users, r->count, waiting * WSDBG_WARP_THREADS,
                wsdbg_say_warps(c, &r->waiting).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Set the count to the number of threads that arrive and wait, here %u; or give each group of %u its "
                "own barrier id.",
                warps * WSDBG_WARP_THREADS, r->count);
}

/* Used if the counts are not known.  Every warp has reached the same instruction, and the warps cannot be divided into
 * groups of the barrier's size. */
static bool cannot_be_grouped(const struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                              const struct sum *sum)
{
    const uint32_t first = wsdbg_first_of(&sum->visitors);
    if (wsdbg_set_count(&sum->visitors) % sum->group_warps == 0 || r->executions[first].group == WSDBG_NONE)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&sum->visitors, w) && (r->executions[w].least == 0 || r->executions[w].place == WSDBG_NONE ||
                                                 r->executions[w].place != r->executions[first].place))
            return false;
    return true;
}

bool wsdbg_judge_barrier_participation(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                                       enum wsdbg_confidence cap)
{
    if (r->count == 0 || r->count % WSDBG_WARP_THREADS != 0)
        return false;
    const struct sum sum = sum_of(c, r);
    const uint32_t visitors = wsdbg_set_count(&sum.visitors);
    cap = wsdbg_weaker(cap, WSDBG_CONFIDENCE_LIKELY);
    if (visitors <= sum.group_warps)
        return (visitors == sum.group_warps && judge_double(c, r, &sum, cap)) || judge_left(c, r, &sum, cap);
    if (r->more_to_come)
        return false;
    if (!adds_up(r, &sum)) {
        if (sum.exact || !cannot_be_grouped(c, r, &sum))
            return false;
        say_count(c, r, &sum, cap);
        return true;
    }
    const bool one_group = is_balanced(c, r, &sum, WSDBG_NONE);
    if (groups_fit(c, r, &sum) || (!one_group && visits_make_groups(c, r, &sum)))
        say_shared(c, r, &sum, cap);
    else if (one_group)
        say_count(c, r, &sum, cap);
    else
        return false;
    return true;
}
