/* rule_code_lanes.c - lanes of a warp that wait for each other at different places; or on an mbarrier for a phase that
 * has passed, because the elected lane of their warp ran ahead.
 *
 * Reads: parts, barrier words, reaches, the wait graph.  Adds: LANE_SPLIT.
 *
 * Two kinds of code lead to the second.  In the first the elected lane has waits of its own on the barrier.  They are
 * not on the path of the waiting lanes, and the warp cannot reach them again: so the elected lane, which stands
 * elsewhere, has passed them.  In the second all lanes share one wait, and one lane does the work behind it.  If all
 * lanes but one stand in this wait, that one is taken to have passed it.  In both cases the phase ended before the
 * waiting lanes tested it.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* The part of the warp that stands in the wait by which the warp is shown.  NULL where another part may do what this
 * one waits for. */
static const struct wsdbg_part *waiting_part(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_part *waiting = NULL;
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].state == WSDBG_WARP_WAIT_MBARRIER && parts[i].barrier == row->barrier)
            waiting = &parts[i];
        else if (parts[i].state != WSDBG_WARP_RECONVERGE)
            return NULL; /* what it does may be what the others wait for */
    }
    return waiting;
}

/* Some warp of the case may have reached the access or still can: the access may be meant for that warp alone. */
static bool is_of_a_live_warp(const struct wsdbg_case *c, uint32_t access)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_reach *reach = wsdbg_code_reach(c, w, access);
        if (reach && (reach->after > 0 || !reach->before_known || reach->before_most > 0))
            return true;
    }
    return false;
}

/* A wait on the barrier that one lane executes, and that no warp of the case has on its path or can still reach: the
 * access, or WSDBG_NONE. */
static uint32_t wait_of_elected_lane(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && access->kind == WSDBG_ACCESS_WAIT && access->lanes == WSDBG_LANES_ONE &&
            wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY && !is_of_a_live_warp(c, reaches[i].access))
            return reaches[i].access;
    }
    return WSDBG_NONE;
}

/* The one lane of the warp that does not wait with the others; 0 = there is none, or several. */
static uint32_t lone_lane(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_part *waiting)
{
    const uint32_t others = wsdbg_case_lanes_at_launch(c, warp) & ~waiting->lanes;
    return others & (others - 1) ? 0 : others;
}

/* An access of these kinds on the barrier that the warp can reach after its present wait: the access, or WSDBG_NONE.
 * by_one: one lane executes it; else all do, or the number is not known. */
static uint32_t access_again(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier,
                             bool by_one)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && wsdbg_is_of_kinds(access->kind, kinds) && reaches[i].after > 1 &&
            (access->lanes == WSDBG_LANES_ONE) == by_one &&
            (barrier == WSDBG_NONE || wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY))
            return reaches[i].access;
    }
    return WSDBG_NONE;
}

/* What one lane does behind the wait that all lanes share: the access, or WSDBG_NONE. */
static uint32_t work_of_elected_lane(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    if (access_again(c, warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), barrier, false) == WSDBG_NONE ||
        access_again(c, warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), barrier, true) != WSDBG_NONE)
        return WSDBG_NONE;
    return access_again(c, warp, WSDBG_KINDS_ARRIVAL | WSDBG_KINDS_EXPECT | WSDBG_KINDS_BYTES, WSDBG_NONE, true);
}

/* With arrivals of the phase there, or warps that may make some, it may be one that has not ended yet. */
static bool may_be_to_come(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_barrier_word *word)
{
    struct wsdbg_warp_set able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, word->barrier, WSDBG_CAN_DOUBTFUL);
    wsdbg_set_remove(&able, warp);
    return !word->untouched || wsdbg_set_count(&able) > 0;
}

static void tell_lanes(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        wsdbg_evidence_warp(c, finding, warp, "lanes 0x%08x of %s: %s at %s", parts[i].lanes,
                            wsdbg_say_warp(c, warp).text, wsdbg_warp_state_name(parts[i].state),
                            wsdbg_say_place(c, parts[i].site).text);
}

/* `elected` is an access of the elected lane; `passed` and `means` are parts of the text about that lane and access. */
static void say_behind(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_part *waiting, uint32_t elected,
                       const char *passed, const char *means)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_LANE_SPLIT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The lanes of %s have diverged: %u of them wait on %s%s, while %s. They tested the parity too late: "
                "the phase they wait for has already passed.",
                wsdbg_say_warp(c, warp).text, (unsigned)__builtin_popcount(waiting->lanes),
                wsdbg_say_object(c, row->barrier).text, wsdbg_say_at(c, warp).text, passed);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let one lane wait for the whole warp and then reconverge the warp (__syncwarp), or let all lanes wait "
                "at the same place.");
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_tell_word(c, finding, row->barrier);
    wsdbg_tell_access(c, finding, elected, means);
    tell_lanes(c, finding, warp);
}

/* The elected lane had a wait of its own, or shared this one. */
static void judge_behind(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_part *waiting, uint32_t barrier)
{
    const uint32_t lone = lone_lane(c, warp, waiting);
    const bool apart = wsdbg_case_warp(c, warp)->part_count > 1;
    const uint32_t elected = apart ? wait_of_elected_lane(c, warp, barrier) : WSDBG_NONE;
    const uint32_t work = lone ? work_of_elected_lane(c, warp, barrier) : WSDBG_NONE;
    char passed[96];
    if (elected != WSDBG_NONE) {
        say_behind(c, warp, waiting, elected, "the elected lane has passed its own wait on it",
                   "is the elected lane's wait; the waiting lanes did not pass it");
    } else if (work != WSDBG_NONE) {
        wsdbg_print(passed, sizeof passed, "lane %d has passed this wait and %s", __builtin_ctz(lone),
                    apart ? "left its loop" : "left the kernel");
        say_behind(c, warp, waiting, work, passed, "is executed by one elected lane, after this wait");
    }
}

/* Whether a replay that ends in the picture has the warp's lanes wait for a phase that was never complete: then they
 * did not come too late. */
static bool is_to_come_by_walks(struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t i = 0; replay && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t at = agent->state == WSDBG_AGENT_WAITS ? agent->target[agent->at] : WSDBG_NONE;
        if (agent->warp == warp && at != WSDBG_NONE && replay->barriers[at].row == barrier &&
            replay->barriers[at].phase <= wsdbg_replay_waits_of(replay, i, at)->passed)
            return true;
    }
    return false;
}

/* ---- lanes that wait for each other ---- */

/* Whether all lanes of the warp that have not left wait for others of the warp, and not all at one place: *other is a
 * part that stands elsewhere than the first one. */
static bool wait_for_each_other(const struct wsdbg_case *c, uint32_t warp, uint32_t *other)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    *other = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].state != WSDBG_WARP_RECONVERGE || parts[i].site == WSDBG_NONE)
            return false;
        *other = parts[i].site != parts[0].site && *other == 0 ? i : *other;
    }
    return *other > 0;
}

static void say_apart(struct wsdbg_case *c, uint32_t warp, uint32_t other)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_LANE_SPLIT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, WSDBG_NONE);
    if (!finding)
        return;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The lanes of %s have diverged and wait for each other at different places: %d at %s, %d at %s. None "
                "of them can come to where the others wait.",
                wsdbg_say_warp(c, warp).text, __builtin_popcount(parts[0].lanes),
                wsdbg_say_place(c, parts[0].site).text, __builtin_popcount(parts[other].lanes),
                wsdbg_say_place(c, parts[other].site).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Execute shuffles, votes and __syncwarp with all lanes that their mask names: move them out of the "
                "branch that only some lanes take, or name only those.");
    tell_lanes(c, finding, warp);
}

void wsdbg_rule_code_lanes(struct wsdbg_case *c)
{
    uint32_t other;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_stuck(c, w) && wait_for_each_other(c, w, &other))
            say_apart(c, w, other);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        const struct wsdbg_part *waiting = waiting_part(c, w);
        if (waiting && __builtin_popcount(waiting->lanes) > 1 && wsdbg_case_stuck(c, w) &&
            wsdbg_code_wait(c, w, &word) && !may_be_to_come(c, w, &word) && !is_to_come_by_walks(c, w, word.barrier))
            judge_behind(c, w, waiting, word.barrier);
    }
}
