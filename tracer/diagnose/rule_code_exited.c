/* rule_code_exited.c - no live warp could make the arrivals that a wait still needs.  Either all warps that could have
 * exited, or the live ones have arrived and only exited warps could make the rest.
 *
 * Reads: barrier words, reaches, the wait graph.  Adds: WAKER_EXITED; ARRIVE_MISSING where they went through a round
 * without arriving (open_round.h), or some of their lanes did; ROLE_DISAGREE where the warps that used to arrive
 * are alive but have left their loop; DOUBLE_ARRIVE where the code always arrives twice with no wait between;
 * ARRIVE_SHORT and PARITY_DRIFT where those that exited are not to blame (not_exited.h).
 */
#include "diagnose/arrivals_per_round.h"
#include "diagnose/code_graph.h"
#include "diagnose/code_slot.h"
#include "diagnose/missing_arrivals.h"
#include "diagnose/not_exited.h"
#include "diagnose/open_round.h"
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* That no live warp can arrive is seen.  Why the others exited first is not seen, and a phase that turned once too
 * often leaves the same words behind: so this is never proven.  If the phase has some of its arrivals and no phase was
 * ever complete, or the exited warps may have made all their arrivals, a count that is too high explains it as well:
 * then it is only possible.  So it is where another CTA that may arrive has left, too: nobody knows what that did. */
static enum wsdbg_confidence confidence_of_exited(const struct wsdbg_case *c,
                                                  const struct wsdbg_missing_arrivals *missing)
{
    const bool could_be = missing->made == 0 || (wsdbg_missing_arrivals_ever_completed(c, missing) &&
                                                 !wsdbg_missing_arrivals_are_all_made(c, missing));
    const bool others_left = missing->peers_gone > 0 && wsdbg_missing_arrivals_may_be_remote(c, missing);
    return wsdbg_code_cap(c, could_be && !others_left ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
}

/* A phase takes one arrival of each of these warps, of each of their lanes, or of each of their warpgroups. */
static bool makes_a_phase(const struct wsdbg_missing_arrivals *missing, const struct wsdbg_warp_set *warps)
{
    const uint32_t count = wsdbg_set_count(warps);
    return missing->word.expected == count || missing->word.expected == count * WSDBG_WARP_THREADS ||
           (count % WSDBG_GROUP_WARPS == 0 && missing->word.expected == count / WSDBG_GROUP_WARPS);
}

/* Of warps that may be meant those whose number fits the count, where only these do: all but the waiter's warpgroup, or
 * one warpgroup.  Else all of them. */
static struct wsdbg_warp_set meant_by_count(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                            const struct wsdbg_warp_set *warps)
{
    struct wsdbg_warp_set others = *warps, fits = {{0}};
    uint32_t fitting = 0;
    const uint32_t own = wsdbg_case_warp(c, missing->warp)->warp / WSDBG_GROUP_WARPS;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->warp / WSDBG_GROUP_WARPS == own)
            wsdbg_set_remove(&others, w);
    for (uint32_t first = 0; first < c->warp_count; first++) {
        struct wsdbg_warp_set group = {{0}};
        const uint32_t of = wsdbg_case_warp(c, first)->warp / WSDBG_GROUP_WARPS;
        if (wsdbg_case_warp(c, first)->warp % WSDBG_GROUP_WARPS != 0)
            continue;
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (wsdbg_set_has(warps, w) && wsdbg_case_warp(c, w)->cta == wsdbg_case_warp(c, first)->cta &&
                wsdbg_case_warp(c, w)->warp / WSDBG_GROUP_WARPS == of)
                wsdbg_set_add(&group, w);
        if (!makes_a_phase(missing, &group))
            continue;
        fits = group;
        fitting++;
    }
    return makes_a_phase(missing, &others) ? others : fitting == 1 ? fits : *warps;
}

/* Who of those that left was meant: known where the code of the barrier's arrivals has a role, or all have the same. */
static struct wsdbg_optional_u32 role_of_gone(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                              const struct wsdbg_warp_set *gone)
{
    const struct wsdbg_name *name = c->snapshot->barriers[missing->word.barrier].name;
    const uint32_t first = wsdbg_first_of(gone);
    return name && name->arriving_roles && first != WSDBG_NONE ? wsdbg_case_warp(c, first)->role
                                                               : wsdbg_common_role(c, gone);
}

/* That the warps left is no fault: they went through a round without arriving. */
static bool say_open_round(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                           const struct wsdbg_warp_set *gone, enum wsdbg_confidence confidence)
{
    struct wsdbg_open_round open;
    if (!wsdbg_open_round_find(c, gone, missing->warp, missing->word.barrier, &open))
        return false;
    struct wsdbg_finding *finding = wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_MISSING, confidence);
    if (!finding)
        return true;
    char warps[160];
    wsdbg_print(warps, sizeof warps, "%s", wsdbg_say_warps(c, &open.warps).text);
    finding->role = role_of_gone(c, missing, gone);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s with %u of its %u arrivals. Only %s could make the missing ones. From its start to "
                "its end, %s waits %u times on %s, but arrives on %s only %u times, so it went through a round without "
                "arriving and then left the kernel.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, missing->made, missing->word.expected, warps,
                wsdbg_set_count(&open.warps) == 1 ? "that warp" : "each of these", open.waits,
                wsdbg_say_family(c, open.waited).text, wsdbg_say_family(c, missing->word.barrier).text, open.arrivals);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s arrive on %s behind each wait on %s, also in the last round.", warps,
                wsdbg_say_family(c, missing->word.barrier).text, wsdbg_say_family(c, open.waited).text);
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
    return true;
}

/* Whether each arrival on the barrier may be one of every lane of its warp. */
static bool are_of_all_lanes(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    bool any = false;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || !wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL) ||
            wsdbg_access_match(c, access, missing->word.barrier) == WSDBG_MATCH_NO)
            continue;
        if (access->kind != WSDBG_ACCESS_ARRIVE || access->lanes == WSDBG_LANES_ONE || !access->count.known ||
            access->count.value != 1)
            return false;
        any = true;
    }
    return any;
}

/* A phase takes one arrival of each lane of the warps that left, and some lanes of a warp have arrived and others have
 * not: so the warp came to this round. */
static bool came_in_part(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return missing->exited > 0 && missing->word.expected == missing->exited * WSDBG_WARP_THREADS &&
           missing->made % WSDBG_WARP_THREADS != 0 && are_of_all_lanes(c, missing);
}

static void say_in_part(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    finding->role = role_of_gone(c, missing, &missing->left);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on %s%s with %u of its %u arrivals, one of each lane of %s. Some lanes of a warp have arrived "
        "in this phase and others have not: these went past the arrival.",
        wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
        wsdbg_say_at(c, missing->warp).text, missing->made, missing->word.expected,
        wsdbg_say_warps(c, &missing->left).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every lane arrive on %s in each round, also one that has nothing to do: neither a guard nor an "
                "early return may leave the arrival out.",
                wsdbg_say_family(c, missing->word.barrier).text);
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
}

static void say_exited(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set meant = meant_by_count(c, missing, &c->graph->nodes[missing->warp].wakers),
                                *gone = &meant;
    if (say_open_round(c, missing, gone, confidence_of_exited(c, missing)))
        return;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_WAKER_EXITED, confidence_of_exited(c, missing));
    if (!finding)
        return;
    finding->role = role_of_gone(c, missing, gone);
    char made[64] = "";
    if (missing->made > 0)
        wsdbg_print(made, sizeof made, " with %u of its %u arrivals", missing->made, missing->word.expected);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s%s, but every warp that could arrive has exited: no live warp can reach an "
                "instruction that arrives on it, and %s exited.%s",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, made, wsdbg_say_warps(c, gone).text,
                missing->word.untouched ? " They left too early, or the wait is out of step with their arrivals: one "
                                          "too many or too few, or a wrong parity, does that."
                                        : "");
    struct wsdbg_phrase both;
    if (finding->role.known)
        both = wsdbg_say_both(c, missing->warp, wsdbg_first_of(gone));
    else
        wsdbg_print(both.text, sizeof both.text, "%.80s and the warps that exited",
                    wsdbg_say_role(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "%s: compare how %s compute their tile and iteration counts.",
                missing->made > 0 ? "Let every warp arrive for every round that is waited for, also before it returns"
                                  : "Make both sides run the same number of iterations",
                both.text);
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival; no live warp can reach it");
}

/* An arrival after which its warp cannot but arrive again, where one of them alone completes a phase: the access, or
 * WSDBG_NONE. */
static uint32_t arrival_made_twice(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || !access->arrives_again ||
            wsdbg_access_match(c, access, missing->word.barrier) != WSDBG_MATCH_ONE)
            continue;
        const uint32_t lane = access->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? 1
                              : access->count.known                      ? access->count.value
                                                                         : 0;
        const bool by_lane = access->lanes != WSDBG_LANES_ALL && lane == missing->word.expected;
        const bool by_warp = access->lanes != WSDBG_LANES_ONE && lane * WSDBG_WARP_THREADS == missing->word.expected;
        if (lane > 0 && (by_lane || by_warp))
            return i;
    }
    return WSDBG_NONE;
}

/* By the word nobody has arrived in the phase.  Either no warp reached the two arrivals, or each warp that did
 * completed two phases.  The second is more likely, since such code cannot be right. */
static void say_twice(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing, uint32_t arrival)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_DOUBLE_ARRIVE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    const struct wsdbg_warp_set gone = meant_by_count(c, missing, &c->graph->nodes[missing->warp].wakers);
    finding->role = role_of_gone(c, missing, &gone);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on %s%s for a phase that no warp can complete any more: the code arrives on it twice with no wait "
        "between. One such arrival completes a phase, so the parity flipped back before any warp tested it.",
        wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
        wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Arrive once per round on %s: remove one of the arrivals, wait between them, or give each its own barrier.",
        wsdbg_say_family(c, missing->word.barrier).text);
    wsdbg_tell_access(c, finding, arrival, "is always followed by another, with no wait");
}

/* Whether a replay shows that none of these warps has arrived on the barrier or another one of its family. */
static bool never_arrived(struct wsdbg_case *c, const struct wsdbg_warp_set *warps, uint32_t barrier)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    for (uint32_t i = 0; replay && i < replay->agent_count; i++)
        for (uint32_t b = 0; b < replay->barrier_count && wsdbg_set_has(warps, replay->agents[i].warp); b++)
            if (replay->barriers[b].row != WSDBG_NONE && rows[replay->barriers[b].row].id == rows[barrier].id &&
                wsdbg_replay_waits_of(replay, i, b)->arrived)
                return false;
    return replay;
}

/* Whether all of them wait for the same phase: then they agree on the number of rounds. */
static bool wait_together(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                          const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_set_has(warps, w) && (!wsdbg_code_wait(c, w, &word) || word.barrier != missing->word.barrier))
            return false;
    }
    return true;
}

/* No more than possible: those that left the loop may also have gone through a round without their arrival. */
static void say_disagree(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    if (never_arrived(c, &missing->done, missing->word.barrier) || wait_together(c, missing, &missing->done))
        return;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ROLE_DISAGREE, WSDBG_CONFIDENCE_POSSIBLE);
    if (!finding)
        return;
    const struct wsdbg_warp_set done = meant_by_count(c, missing, &missing->done);
    const uint32_t first = wsdbg_first_of(&done);
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for another round, but %s, which arrived in earlier rounds, left the loop and cannot "
                "return to it: the roles disagree on the number of rounds.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, wsdbg_say_warps(c, &done).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Compute the tile schedule in one place for all roles.");
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival; no live warp can reach it");
    wsdbg_tell_waits(c, finding, &done);
}

/* ---- some live, the others have exited ---- */

/* Live warps that can arrive again, the waiting one included. */
static struct wsdbg_warp_set those_there(const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_warp_set there = missing->able;
    if (missing->itself == WSDBG_CAN)
        wsdbg_set_add(&there, missing->warp);
    return there;
}

/* The arrivals made are one of each warp of one set, and the missing ones are one of each of the other. */
static bool are_made_by(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                        const struct wsdbg_warp_set *made_by, const struct wsdbg_warp_set *left_out_by)
{
    const uint32_t barrier = missing->word.barrier;
    const struct wsdbg_arrivals_per_round made = wsdbg_arrivals_per_round_of(c, made_by, barrier),
                                          left_out = wsdbg_arrivals_per_round_of(c, left_out_by, barrier);
    unsigned lanes;
    return wsdbg_arrivals_per_round_fit(&made, missing->made, &lanes) && made.bounded && left_out.bounded &&
           left_out.by_lanes[lanes] == missing->word.pending;
}

/* The numbers fit: each live warp that arrives has arrived, and the arrivals of the exited ones are missing. */
static bool lacks_those_that_left(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set there = those_there(missing);
    return missing->exited > 0 && missing->left_known && are_made_by(c, missing, &there, &missing->left);
}

/* The warp has come to an arrival on the barrier. */
static bool has_arrived(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL) && reaches[i].before_known &&
            reaches[i].before_least > 0 && wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* Each of them waits for the phase itself, behind an arrival: so it has rather arrived than left that out. */
static bool arrive_and_wait(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                            const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_set_has(warps, w) && (!wsdbg_code_wait(c, w, &word) || word.barrier != missing->word.barrier ||
                                        !has_arrived(c, w, missing->word.barrier)))
            return false;
    }
    return true;
}

/* The waiting warp would fill a slot, and each of them waits until it is filled: they are through with what was in it.
 */
static bool wait_for_slot(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                          const struct wsdbg_warp_set *warps)
{
    struct wsdbg_code_slot slot;
    if (!wsdbg_code_slot_read(c, missing->warp, &slot) || !slot.waited || !slot.full.untouched)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && !wsdbg_set_has(&slot.releasers, w))
            return false;
    return true;
}

/* The numbers may also fit the other way round: those that exited have arrived, and the live ones have left out theirs.
 */
static enum wsdbg_confidence confidence_of_some_exited(const struct wsdbg_case *c,
                                                       const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set there = those_there(missing);
    const bool either = are_made_by(c, missing, &missing->left, &there) && !arrive_and_wait(c, missing, &there) &&
                        !wait_for_slot(c, missing, &there);
    return wsdbg_code_cap(c, either ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY);
}

static void say_some_exited(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set there = those_there(missing);
    if (say_open_round(c, missing, &missing->left, confidence_of_some_exited(c, missing)))
        return;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_WAKER_EXITED, confidence_of_some_exited(c, missing));
    if (!finding)
        return;
    finding->role = role_of_gone(c, missing, &missing->left);
    char gone[160];
    wsdbg_print(gone, sizeof gone, "%s", wsdbg_say_warps(c, &missing->left).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on %s%s with %u of its %u arrivals, which %s made. Only %s could make the missing one%s, and %s "
        "exited.",
        wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
        wsdbg_say_at(c, missing->warp).text, missing->made, missing->word.expected, wsdbg_say_warps(c, &there).text,
        gone, missing->word.expected - missing->made == 1 ? "" : "s",
        missing->exited == 1 ? "that warp has" : "these have");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s arrive for every round that the others wait for, also before returning, or drop out of the "
                "barrier (mbarrier.arrive_drop).",
                gone);
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
    wsdbg_tell_waits(c, finding, &there);
}

/* No live warp can arrive any more. */
static void judge_gone(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const uint32_t twice = missing->word.untouched ? arrival_made_twice(c, missing) : WSDBG_NONE;
    if (twice != WSDBG_NONE)
        say_twice(c, missing, twice);
    else if (wsdbg_missing_arrivals_is_of_round_too_many(missing))
        say_disagree(c, missing);
    else if (came_in_part(c, missing))
        say_in_part(c, missing);
    else if (missing->exited > 0 && !wsdbg_not_exited_count(c, missing) && !wsdbg_not_exited_drift(c, missing))
        say_exited(c, missing);
}

void wsdbg_rule_code_exited(struct wsdbg_case *c)
{
    struct wsdbg_missing_arrivals missing;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_missing_arrivals_read(c, w, &missing) || missing.in_code < WSDBG_MATCH_MAY ||
            wsdbg_missing_arrivals_is_in_parts(c, &missing))
            continue;
        if (wsdbg_set_count(&missing.able) == 0 && missing.itself != WSDBG_CAN)
            judge_gone(c, &missing);
        else if (lacks_those_that_left(c, &missing))
            say_some_exited(c, &missing);
    }
}
