/* rule_code_gather.c - named barriers whose participants do not add up, and lanes of one warp in different waits.
 *
 * Reads: parts, barriers, reaches, the wait graph.  Adds: NAMED_COUNT, BLOCK_SYNC_IN_ROLE, WAKER_EXITED, LANE_SPLIT,
 * and what barrier_participation.c finds.
 */
#include "diagnose/code_executions.h"
#include "diagnose/code_say.h"
#include "diagnose/gathering.h"
#include "diagnose/outstanding.h"
#include "diagnose/rules.h"

/* The waiting warps are at the barrier for the first time. */
static bool is_first_round(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count, most = 0;
        const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_set_has(&g->waiting, w); i++) {
            const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
            if (access && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) &&
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
static bool others_took_part(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    if (g->others_arrive)
        return (wsdbg_set_count(&g->waiting) + g->others_behind) * WSDBG_WARP_THREADS >= g->count;
    return g->others_behind > 0 && !(is_first_round(c, g) && g->others_behind * WSDBG_WARP_THREADS < g->count);
}

/* Never proven: two groups, each with its own total, may use one id by mistake. */
static void say_counts_differ(struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
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

static void say_too_few(struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Named barrier %u expects %u threads%s, but only %u wait on it (%s) and no other warp can reach an "
                "instruction that uses it.",
                g->id, g->count, wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text,
                wsdbg_set_count(&g->waiting) * WSDBG_WARP_THREADS, wsdbg_say_warps(c, &g->waiting).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Use the number of threads that actually arrive and wait.");
}

static void say_block_sync(struct wsdbg_case *c, const struct wsdbg_gathering *g, const struct wsdbg_warp_set *absent,
                           enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE, confidence);
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
static bool partners_left(const struct wsdbg_gathering *g, uint32_t missing)
{
    return missing > 0 && g->others_behind == 0 && wsdbg_set_count(&g->exited) == wsdbg_set_count(&g->partners) &&
           wsdbg_set_count(&g->partners) * WSDBG_WARP_THREADS == missing;
}

/* The exited warps of the warpgroups that wait. */
static struct wsdbg_warp_set exited_mates(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_warp_set mates = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count && wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED; v++)
            if (wsdbg_set_has(&g->waiting, v) && wsdbg_case_are_mates(c, w, v))
                wsdbg_set_add(&mates, w);
    return mates;
}

/* Whether a live warp may be the one that is meant to come.  A whole warpgroup that the barrier counts is not: it meets
 * there by itself, in another round. */
static bool may_be_meant(const struct wsdbg_case *c, const struct wsdbg_gathering *g, uint32_t warp)
{
    uint32_t mates = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        mates += wsdbg_case_are_mates(c, w, warp) && wsdbg_set_has(&g->to_come, w);
    return wsdbg_set_has(&g->to_come, warp) &&
           wsdbg_code_can(c, warp, WSDBG_KINDS_NAMED, g->barrier, NULL) == WSDBG_CAN &&
           !(mates == WSDBG_GROUP_WARPS && g->count == WSDBG_GROUP_WARPS * WSDBG_WARP_THREADS);
}

/* One warp is missing, has left, and the rest of its warpgroup is there; no live warp is known that may be meant,
 * and no other exited one is known to have come.  Of two or more missing ones some may have come through a round that
 * was not theirs, as a wrong count lets them. */
static bool one_mate_left(const struct wsdbg_case *c, const struct wsdbg_gathering *g, uint32_t missing)
{
    const struct wsdbg_warp_set mates = exited_mates(c, g);
    const uint32_t first = wsdbg_first_of(&mates);
    uint32_t there = 0;
    if (missing != WSDBG_WARP_THREADS || wsdbg_set_count(&mates) != 1 || g->others_behind > 0 ||
        wsdbg_gathering_named_count(c, wsdbg_first_of(&g->waiting)) == 0)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        there += wsdbg_set_has(&g->waiting, w) && wsdbg_case_are_mates(c, w, first);
        if (may_be_meant(c, g, w) || (wsdbg_set_has(&g->partners, w) && w != first))
            return false;
    }
    return there == WSDBG_GROUP_WARPS - 1;
}

/* Just as many threads are missing as there are in warps that have left and whose code may come to the barrier, and no
 * other warp is known to have come. */
static bool are_missing_ones(const struct wsdbg_gathering *g, uint32_t missing)
{
    return missing > 0 && g->others_behind == 0 && wsdbg_set_count(&g->partners) == 0 &&
           wsdbg_set_count(&g->exited) * WSDBG_WARP_THREADS == missing;
}

static bool are_whole_groups(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count && wsdbg_set_has(warps, w); v++)
            if (wsdbg_case_are_mates(c, w, v) && !wsdbg_set_has(warps, v))
                return false;
    return true;
}

/* Only possible if some live warp can come. */
static void say_exited(struct wsdbg_case *c, const struct wsdbg_gathering *g, const struct wsdbg_warp_set *gone,
                       const char *which, enum wsdbg_confidence most)
{
    const bool nobody = wsdbg_set_count(&g->to_come) == 0;
    struct wsdbg_finding *finding =
        wsdbg_gathering_find(c, g, WSDBG_CAUSE_WAKER_EXITED, nobody ? most : WSDBG_CONFIDENCE_POSSIBLE);
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

static void say_sync_of_role(struct wsdbg_case *c, const struct wsdbg_gathering *g, const struct wsdbg_warp_set *others,
                             uint32_t sync, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE, confidence);
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
static uint32_t other_count_in_code(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[g->barrier].cta; i++) {
            const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
            if (!access || !wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) || !access->count.known ||
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

static void say_counts_changed(struct wsdbg_case *c, const struct wsdbg_gathering *g, uint32_t other)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
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

static void judge_who_came(struct wsdbg_case *c, uint32_t waiter, const struct wsdbg_gathering *g)
{
    struct wsdbg_barrier_participation r;
    if (wsdbg_code_barrier_participation(c, g->barrier, g->count, &g->waiting, &r)) {
        r.more_to_come = wsdbg_set_count(&g->to_come) > 0;
        if (wsdbg_judge_barrier_participation(c, &r, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY)))
            return;
    }
    const struct wsdbg_warp_set absent = wsdbg_gathering_absent(c, g);
    struct wsdbg_warp_set outstanding;
    const bool nobody = wsdbg_set_count(&g->to_come) == 0;
    const uint32_t present = wsdbg_set_count(&g->waiting) * WSDBG_WARP_THREADS;
    const uint32_t missing = g->count > present ? g->count - present : 0;
    if (wsdbg_gathering_is_block_wide(g) && wsdbg_set_count(&absent) > 0) {
        const enum wsdbg_confidence confidence = wsdbg_gathering_is_in_a_branch(c, &absent, waiter);
        if (confidence && (nobody || wsdbg_all_wait_for(c, &absent, &g->waiting, &outstanding)))
            say_block_sync(c, g, &absent, confidence);
    } else if (nobody && !others_took_part(c, g) && missing > wsdbg_set_count(&g->exited) * WSDBG_WARP_THREADS &&
               !one_mate_left(c, g, missing)) {
        say_too_few(c, g);
    } else if (nobody && partners_left(g, missing)) {
        const uint32_t other = other_count_in_code(c, g);
        if (other)
            say_counts_changed(c, g, other);
        else
            say_exited(c, g, &g->partners, ", which took part before,", WSDBG_CONFIDENCE_LIKELY);
    } else if ((nobody || wsdbg_all_wait_for(c, &g->to_come, &g->waiting, &outstanding)) &&
               one_mate_left(c, g, missing)) {
        const struct wsdbg_warp_set mates = exited_mates(c, g);
        say_exited(c, g, &mates, " of the same warpgroup", WSDBG_CONFIDENCE_LIKELY);
    }
}

static void judge_named(struct wsdbg_case *c, uint32_t waiter)
{
    const struct wsdbg_gathering g = wsdbg_gathering_of(c, waiter);
    if (!wsdbg_case_stuck(c, waiter) || wsdbg_first_of(&g.waiting) != waiter)
        return;
    if (wsdbg_set_count(&g.others) > 0) {
        if (waiter < wsdbg_first_of(&g.others))
            say_counts_differ(c, &g);
        return;
    }
    const struct wsdbg_warp_set others = wsdbg_gathering_others(c, &g);
    const uint32_t sync =
        wsdbg_gathering_is_block_wide(&g) && wsdbg_set_count(&g.to_come) == 0 && wsdbg_set_count(&others) > 0
            ? wsdbg_gathering_sync_of_role(c, &g)
            : WSDBG_NONE;
    const bool of_role = sync != WSDBG_NONE && wsdbg_gathering_is_of_role(c, &g, &others);
    const size_t before = c->finding_count;
    if (!of_role)
        judge_who_came(c, waiter, &g);
    if (sync != WSDBG_NONE && c->finding_count == before)
        say_sync_of_role(c, &g, &others, sync, of_role ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
}

/* Whether a warp stands at a named barrier to which no live warp can come, and is the first one there. */
static bool is_deserted(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_gathering *g)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->state != WSDBG_WARP_WAIT_NAMED || row->barrier >= c->snapshot->barrier_count || !wsdbg_case_stuck(c, warp))
        return false;
    *g = wsdbg_gathering_of(c, warp);
    return wsdbg_first_of(&g->waiting) == warp && !wsdbg_set_count(&g->others) && !wsdbg_set_count(&g->to_come);
}

void wsdbg_rule_code_group_left(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count && !wsdbg_case_explained(c); w++) {
        struct wsdbg_gathering g;
        if (!is_deserted(c, w, &g))
            continue;
        const uint32_t present = wsdbg_set_count(&g.waiting) * WSDBG_WARP_THREADS;
        const uint32_t missing = g.count > present ? g.count - present : 0;
        if (are_missing_ones(&g, missing))
            say_exited(c, &g, &g.exited, ", whose code comes to it, too,",
                       are_whole_groups(c, &g.exited) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
    }
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
