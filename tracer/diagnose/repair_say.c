/* repair_say.c - the cause of each kind of repair, and the sentence and the fix of those of arrivals, bytes and counts.
 * See repair_say.h.
 *
 * Reads: a repair that works, the replay.  Writes: a finding.
 */
#include "diagnose/repair_say.h"

#include "diagnose/code_say.h"

struct wsdbg_phrase wsdbg_repair_at_step(const struct rounds *rounds, uint32_t agent, uint32_t step)
{
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, agent);
    const struct wsdbg_snapshot *s = rounds->c->snapshot;
    const uint32_t access = step < a->step_count ? a->steps[step].access : WSDBG_NONE;
    return wsdbg_say_at_site(rounds->c, access < s->access_count ? s->accesses[access].site : WSDBG_NONE);
}

/* How often its agent arrives on the barrier before a step. */
static uint32_t arrivals_before(const struct rounds *rounds, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, edit->agent);
    uint32_t count = 0;
    for (uint32_t i = 0; i < edit->step; i++)
        count += a->target[i] == edit->barrier && wsdbg_replay_arrivals_of(a, i) > 0;
    return count;
}

struct wsdbg_phrase wsdbg_repair_subject(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return repair->is_of_stage || repair->is_of_part ? wsdbg_say_object(rounds->c, wsdbg_repair_row(rounds, repair))
                                                     : wsdbg_say_family(rounds->c, wsdbg_repair_row(rounds, repair));
}

enum wsdbg_cause wsdbg_repair_cause(const struct wsdbg_repair *repair)
{
    switch (repair->kind) {
    case WSDBG_REPAIR_PARITY_DRIFT:
    case WSDBG_REPAIR_ASTRAY:
    case WSDBG_REPAIR_AFRESH:
        return WSDBG_CAUSE_PARITY_DRIFT;
    case WSDBG_REPAIR_PARITY_SITE:
        return repair->value == WSDBG_FLIPS_ALTERNATE || (repair->value == WSDBG_FLIPS_ONE && repair->wait.turn)
                   ? WSDBG_CAUSE_PARITY_DRIFT
                   : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_SHIFT:
        return repair->is_each_time ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_TOKEN:
        return repair->wait.turn ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_PARITY_FIRST:
        return repair->is_mixed && !repair->is_of_own_waits ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_STAY:
        return WSDBG_CAUSE_WAKER_EXITED;
    case WSDBG_REPAIR_UNMADE:
        return repair->lanes ? WSDBG_CAUSE_WAKER_EXITED : WSDBG_CAUSE_ARRIVE_MISSING;
    case WSDBG_REPAIR_DROP:
    case WSDBG_REPAIR_NAMED_LESS:
    case WSDBG_REPAIR_BEGIN_LESS:
        return WSDBG_CAUSE_DOUBLE_ARRIVE;
    case WSDBG_REPAIR_BLOCK:
        return WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE;
    case WSDBG_REPAIR_NAMED:
        return WSDBG_CAUSE_NAMED_COUNT;
    case WSDBG_REPAIR_NAMED_APART:
        return WSDBG_CAUSE_NAMED_ID_SHARED;
    case WSDBG_REPAIR_NAMED_ID:
        return repair->is_shared ? WSDBG_CAUSE_NAMED_ID_SHARED : WSDBG_CAUSE_NAMED_COUNT;
    case WSDBG_REPAIR_ADD:
        return repair->is_announced ? WSDBG_CAUSE_TX_NO_ARRIVE : WSDBG_CAUSE_ARRIVE_MISSING;
    case WSDBG_REPAIR_ANNOUNCE:
        return WSDBG_CAUSE_TX_NO_ARRIVE;
    case WSDBG_REPAIR_BYTES:
        return WSDBG_CAUSE_TX_MISMATCH;
    case WSDBG_REPAIR_COUNT:
        return repair->value > repair->was ? WSDBG_CAUSE_DOUBLE_ARRIVE : WSDBG_CAUSE_ARRIVE_SHORT;
    default:
        return WSDBG_CAUSE_ARRIVE_MISSING;
    }
}

struct wsdbg_finding *wsdbg_repair_find(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const uint32_t first = wsdbg_first_of(&repair->warps);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, wsdbg_repair_cause(repair), rounds->confidence,
                        c->ctas[rounds->replay->barriers[repair->barrier].cta], wsdbg_repair_row(rounds, repair));
    if (finding && first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    return finding;
}

const char *wsdbg_repair_outcome(const struct wsdbg_repair *repair)
{
    return repair->is_to_end ? "the kernel would finish" : "all that is stuck would go on";
}

/* Adds the instruction with which the edit's agent arrives on the barrier in other rounds. */
static void tell_arrival(struct rounds *rounds, struct wsdbg_finding *finding, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, edit->agent);
    for (uint32_t i = 0; i < a->step_count; i++)
        if (a->target[i] == edit->barrier && wsdbg_replay_arrivals_of(a, i)) {
            wsdbg_tell_access(rounds->c, finding, a->steps[i].access, "is the arrival of other rounds");
            return;
        }
}

/* Whether the edit's agent arrives on the family only before its first wait for a phase. */
static bool arrives_only_at_first(const struct rounds *rounds, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, edit->agent);
    bool has_waited = false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        has_waited |= a->steps[i].kind == WSDBG_ACCESS_WAIT;
        if (has_waited && wsdbg_replay_arrivals_of(a, i) &&
            wsdbg_replay_is_of_family(rounds->replay, edit->barrier, a->target[i]))
            return false;
    }
    return has_waited;
}

/* Whether the repair changes one arrival alone, before the thread's first wait: it adds the first one on a barrier, or
 * drops one of several. */
static bool is_before_first_wait(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, repair->edit.agent);
    uint32_t wait = 0, arrivals = 0;
    for (; wait < a->step_count && a->steps[wait].kind != WSDBG_ACCESS_WAIT; wait++)
        arrivals += a->target[wait] == repair->edit.barrier && wsdbg_replay_arrivals_of(a, wait) > 0;
    return repair->edit_count == 1 && wait < a->step_count && repair->edit.step <= wait &&
           (repair->kind == WSDBG_REPAIR_DROP ? arrivals > 1 : arrivals == 0);
}

/* Says what threads do before their first wait. */
static void say_begin(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const bool is_less = repair->kind == WSDBG_REPAIR_BEGIN_LESS || repair->kind == WSDBG_REPAIR_DROP;
    const struct wsdbg_phrase object = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)),
                              family = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)),
                              warps = wsdbg_say_warps(c, &repair->warps);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                is_less ? "Before the first wait, %s arrive%s more often on %s than on other stages of %s. Without "
                          "that arrival %s."
                        : "Before the first wait, %s do%s not arrive on %s, but on other stages of %s. With that "
                          "arrival %s.",
                warps.text,
                !wsdbg_repair_is_one(repair) ? ""
                : is_less                    ? "s"
                                             : "es",
                object.text, family.text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive on each stage of %s just once before the first round.",
                family.text);
    if (is_less)
        tell_arrival(rounds, finding, &repair->edit);
}

static void say_announce(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s copies or announces bytes to %s%s, but does not arrive there in that round, and %s. So the phase "
                "never completes.",
                wsdbg_say_warp(c, wsdbg_repair_agent(rounds, repair->edit.agent)->warp).text,
                wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text,
                wsdbg_repair_at_step(rounds, repair->edit.agent,
                                     repair->is_announced ? repair->announced_at : repair->edit.step)
                    .text,
                repair->is_to_end ? "neither does any other thread" : "no other thread is known to");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx with the bytes of all copies of the round on %s.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
    wsdbg_evidence_text(c, finding, "rounds without the arrival: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

static void say_missing(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    if (is_before_first_wait(rounds, repair)) {
        say_begin(rounds, repair);
        return;
    }
    if (repair->is_announced) {
        say_announce(rounds, repair);
        return;
    }
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const uint32_t before = arrivals_before(rounds, &repair->edit);
    const struct wsdbg_phrase by = wsdbg_say_warp(c, wsdbg_repair_agent(rounds, repair->edit.agent)->warp);
    const struct wsdbg_phrase object = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair));
    char earlier[112] = "";
    if (before > 0 && wsdbg_repair_is_one(repair))
        wsdbg_print(earlier, sizeof earlier, " (%u before this one)", before);
    else if (before > 0)
        wsdbg_print(earlier, sizeof earlier, " (%u before the first one of %.64s)", before, by.text);
    if (!arrives_only_at_first(rounds, &repair->edit) && !wsdbg_repair_is_one(repair))
        wsdbg_print(
            finding->sentence, sizeof finding->sentence,
            "%s went through a round without arriving on %s, as they do in other rounds%s. So the waits for those "
            "phases never end.",
            wsdbg_say_warps(c, &repair->warps).text, object.text, earlier);
    else if (!arrives_only_at_first(rounds, &repair->edit))
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s went through a round without arriving on %s, as it does in other rounds%s. So the waits for "
                    "that phase never end.",
                    by.text, object.text, earlier);
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s arrived on %s before its first wait, but in no round behind it. With an arrival in each round "
                    "%s.",
                    by.text, object.text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s on every path through the iteration, including skipped iterations and the last one of a "
                "tile.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
    tell_arrival(rounds, finding, &repair->edit);
    wsdbg_evidence_text(c, finding, "arrivals left out: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

/* The arrivals that are there in the round in which the repair's first edit is. */
static uint32_t arrivals_there(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return rounds->replay->barriers[repair->edit.barrier].expected - repair->edit.arrivals;
}

static void say_fill(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase object = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair));
    const uint32_t needed = rounds->replay->barriers[repair->edit.barrier].expected;
    const uint32_t there = arrivals_there(rounds, repair);
    char all[32] = "the arrival";
    if (needed > 1)
        wsdbg_print(all, sizeof all, "all %u arrivals", needed);
    if (there == 0)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "No thread arrives on %s in a round in which %s should. In other rounds one thread makes %s, and "
                    "warps may take turns. With %s %s.",
                    object.text, wsdbg_say_warp(c, wsdbg_repair_agent(rounds, repair->edit.agent)->warp).text, all,
                    needed > 1 ? "these arrivals" : "it", wsdbg_repair_outcome(repair));
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s makes only %u of the %u arrivals on %s in a round. In other rounds one thread makes all of "
                    "them. With the missing ones %s.",
                    wsdbg_say_warp(c, wsdbg_repair_agent(rounds, repair->edit.agent)->warp).text, there, needed,
                    object.text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Make %s on %s in every round, also behind another branch of the loop.", all,
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
    wsdbg_evidence_text(c, finding, "rounds that lack arrivals: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

/* Says that nobody arrives first. */
static void say_release(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase object = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair));
    const uint32_t arrivals = repair->edit.arrivals;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Nobody has arrived on %s yet, and all who would arrive wait for something else first. With %u "
                "arrival%s before the first wait %s.",
                object.text, arrivals, arrivals == 1 ? "" : "s", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the thread that initialises %s also arrive on it, so that the first wait ends at once.",
                object.text);
}

/* Says that threads had to arrive before they waited. */
static void say_begin_all(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase family = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)),
                              warps = wsdbg_say_warps(c, &repair->warps);
    char of_cta[40] = "";
    if (repair->is_of_cta)
        wsdbg_print(of_cta, sizeof of_cta, " of cluster rank %u",
                    c->snapshot->ctas[c->ctas[rounds->replay->barriers[repair->barrier].cta]].cluster_rank);
    const char *they = wsdbg_repair_is_one(repair) ? "it" : "they";
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s arrive%s on %s%s only behind waits that others end after they passed it. Had %s arrived once on each "
        "stage before, %s.",
        warps.text, wsdbg_repair_is_one(repair) ? "s" : "", family.text, of_cta, they, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix, "Let %s arrive once on each stage of %s%s before the loop.",
                wsdbg_repair_is_one(repair) ? "this warp" : "these warps", family.text, of_cta);
    tell_arrival(rounds, finding, &repair->edit);
}

static void say_twice(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    if (is_before_first_wait(rounds, repair)) {
        say_begin(rounds, repair);
        return;
    }
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const uint32_t before = arrivals_before(rounds, &repair->edit);
    const uint32_t by = wsdbg_repair_agent(rounds, repair->edit.agent)->warp;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s once more%s in a round than in its other rounds, after %u arrival%s. A phase then "
                "completes too early, and the waits are out of step with the barrier.",
                wsdbg_say_warp(c, by).text, wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text,
                wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step).text, before,
                before == 1 ? "" : "s");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive once per warp and round on %s: remove one of the arrivals, or wait between them.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
    wsdbg_evidence_text(c, finding, "rounds with an arrival more: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

static void say_copy(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s never arrive%s on %s, while warps that wait for the same barriers do. It takes %u arrivals, so "
                "the waits on it never end.",
                wsdbg_say_warps(c, &repair->warps).text, wsdbg_repair_is_one(repair) ? "s" : "",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text, repair->was);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let these warps arrive on %s, too, or initialise it for fewer arrivals if they are not meant to.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

/* "4 arrivals" */
static struct wsdbg_phrase say_arrivals(uint32_t count)
{
    struct wsdbg_phrase phrase;
    wsdbg_print(phrase.text, sizeof phrase.text, "%u arrival%s", count, count == 1 ? "" : "s");
    return phrase;
}

/* Says that rounds are left out. */
static void say_skip(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps), like = wsdbg_say_warp(c, repair->like),
                              family = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair));
    const bool is_single = wsdbg_repair_is_one(repair);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s do%s the same as %s, but leave%s out rounds of it: %llu wait%s, and the arrivals on %s behind them. "
        "With these arrivals %s.",
        warps.text, is_single ? "es" : "", like.text, is_single ? "s" : "", (unsigned long long)repair->added,
        repair->added == 1 ? "" : "s", family.text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s arrive on %s in every round, also in rounds that have no work for %s.", warps.text, family.text,
                is_single ? "it" : "them");
    tell_arrival(rounds, finding, &repair->edit);
}

/* Says that arrivals go to the wrong one of two barriers. */
static void say_swap(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_replay_agent *a = wsdbg_repair_agent(rounds, repair->edit.agent);
    const struct wsdbg_replay_barrier *from = &rounds->replay->barriers[a->target[repair->edit.step]],
                                      *to = &rounds->replay->barriers[repair->edit.barrier];
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrive%s on the wrong mbarrier%s: first on %s, and nobody arrives on %s. With these arrivals %s.",
                warps.text, wsdbg_repair_is_one(repair) ? "s" : "",
                wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step).text,
                wsdbg_say_object(c, from->row).text, wsdbg_say_object(c, to->row).text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Check the index with which %s choose%s the mbarrier: the arrival must go to the one on which the "
                "others wait.",
                warps.text, wsdbg_repair_is_one(repair) ? "s" : "");
}

static void say_move(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    if (repair->value == WSDBG_MOVES_SWAP) {
        say_swap(rounds, repair);
        return;
    }
    const struct wsdbg_replay *replay = rounds->replay;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const uint32_t to = replay->barriers[repair->edit.barrier].cta;
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps),
                              family = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair));
    char where[64];
    if (repair->value == 0)
        wsdbg_print(where, sizeof where, "once in each CTA of the cluster");
    else
        wsdbg_print(where, sizeof where, "in another CTA of the cluster, the first in rank %u",
                    c->snapshot->ctas[c->ctas[to]].cluster_rank);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence, "%s arrive%s on %s in the wrong CTA%s. Had they arrived %s, %s.",
        warps.text, wsdbg_repair_is_one(repair) ? "s" : "", family.text,
        wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step).text, where, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Check the rank with which %s map%s the address of %s: every CTA's barrier must get the arrivals that "
                "it is initialised for.",
                warps.text, wsdbg_repair_is_one(repair) ? "s" : "", family.text);
}

static void say_bytes(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_barrier_word word;
    struct wsdbg_finding *finding =
        wsdbg_word_of(c, wsdbg_repair_row(rounds, repair), &word) ? wsdbg_repair_find(rounds, repair) : NULL;
    if (!finding)
        return;
    const bool is_short = word.bytes > 0;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s were made, but its copies bring %lld bytes %s than were announced, and no other "
                "copy is %son its way.",
                wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text,
                (long long)(is_short ? word.bytes : -word.bytes), is_short ? "less" : "more",
                repair->is_to_end ? "" : "known to be ");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Announce on %s exactly the bytes that the copies of the round bring, and issue each of these copies "
                "on every path.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

static void say_leap(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const bool is_one = wsdbg_repair_is_one(repair);
    const uint32_t waited = wsdbg_repair_agent(rounds, repair->wait.agent)->target[repair->wait.step];
    const struct wsdbg_phrase waits = wsdbg_say_family(c, rounds->replay->barriers[waited].row),
                              freed = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair));
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s leap%s over a round of %s: %s for it nor arrive%s on %s for it, and go%s on with the next one%s. "
                "With %s %s.",
                wsdbg_say_warps(c, &repair->warps).text, is_one ? "s" : "", waits.text,
                is_one ? "it neither waits" : "they neither wait", is_one ? "s" : "", freed.text, is_one ? "es" : "",
                wsdbg_repair_at_step(rounds, repair->wait.agent, repair->wait.step).text,
                repair->edit_count == 1 ? "that arrival" : "these arrivals", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s also in a round that is skipped, or do not let the other side go through that round.",
                freed.text);
}

static void say_count(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const bool is_short = wsdbg_repair_cause(repair) == WSDBG_CAUSE_ARRIVE_SHORT;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    const char *others = repair->is_of_instruction ? " and the other mbarriers of its initialisation"
                         : repair->is_of_count     ? " and the other mbarriers with this count"
                                                   : "";
    char by[200] = "";
    if (!finding)
        return;
    if (wsdbg_set_count(&repair->warps))
        wsdbg_print(by, sizeof by, " (by %.150s)", wsdbg_say_warps(rounds->c, &repair->warps).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s is initialised for %s%s, but a round brings %s %u%s: %s.",
                wsdbg_repair_subject(rounds, repair).text, say_arrivals(repair->was).text,
                repair->is_of_instruction ? ", by the instruction that initialises other mbarriers, too"
                : repair->is_of_count     ? ", as other mbarriers are"
                : repair->is_of_ends      ? " at an end of the cluster's line of CTAs"
                                          : "",
                is_short ? "only" : "as many as", repair->value, by,
                is_short ? "so its phases complete too late or never"
                         : "so its phases complete before all have arrived, and the waits fall out of step");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s%s with the number of arrivals actually made (%u), or let %s.",
                wsdbg_repair_subject(rounds, repair).text, others, repair->value,
                is_short ? "the missing threads arrive" : "fewer threads arrive");
}

void wsdbg_repair_say(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    typedef void say_fn(struct rounds * rounds, const struct wsdbg_repair *repair);
    static say_fn *const says[WSDBG_REPAIR_KINDS] = {
        [WSDBG_REPAIR_PARITY_DRIFT] = wsdbg_repair_say_drift,
        [WSDBG_REPAIR_PARITY_FIRST] = wsdbg_repair_say_first,
        [WSDBG_REPAIR_PARITY_SITE] = wsdbg_repair_say_site,
        [WSDBG_REPAIR_SHIFT] = wsdbg_repair_say_shift,
        [WSDBG_REPAIR_AFRESH] = wsdbg_repair_say_afresh,
        [WSDBG_REPAIR_ASTRAY] = wsdbg_repair_say_astray,
        [WSDBG_REPAIR_TOKEN] = wsdbg_repair_say_token,
        [WSDBG_REPAIR_ADD] = say_missing,
        [WSDBG_REPAIR_FILL] = say_fill,
        [WSDBG_REPAIR_BLOCK] = wsdbg_repair_say_block,
        [WSDBG_REPAIR_RELEASE] = say_release,
        [WSDBG_REPAIR_BEGIN] = say_begin,
        [WSDBG_REPAIR_BEGIN_LESS] = say_begin,
        [WSDBG_REPAIR_DROP] = say_twice,
        [WSDBG_REPAIR_MOVE] = say_move,
        [WSDBG_REPAIR_COPY] = say_copy,
        [WSDBG_REPAIR_BEGIN_ALL] = say_begin_all,
        [WSDBG_REPAIR_LEAP] = say_leap,
        [WSDBG_REPAIR_SKIP] = say_skip,
        [WSDBG_REPAIR_STAY] = wsdbg_repair_say_stay,
        [WSDBG_REPAIR_UNMADE] = wsdbg_repair_say_unmade,
        [WSDBG_REPAIR_EARLY] = wsdbg_repair_say_early,
        [WSDBG_REPAIR_NAMED_APART] = wsdbg_repair_say_named_apart,
        [WSDBG_REPAIR_NAMED_LESS] = wsdbg_repair_say_named_less,
        [WSDBG_REPAIR_NAMED_MATES] = wsdbg_repair_say_named_mates,
        [WSDBG_REPAIR_NAMED_ROUND] = wsdbg_repair_say_named_round,
        [WSDBG_REPAIR_ANNOUNCE] = say_announce,
        [WSDBG_REPAIR_BYTES] = say_bytes,
        [WSDBG_REPAIR_NAMED] = wsdbg_repair_say_named,
        [WSDBG_REPAIR_NAMED_ID] = wsdbg_repair_say_named_id,
        [WSDBG_REPAIR_COUNT] = say_count,
    };
    says[repair->kind](rounds, repair);
}
