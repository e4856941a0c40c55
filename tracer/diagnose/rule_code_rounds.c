/* rule_code_rounds.c - the cause of a standstill, from a replay of the whole kernel (replay.h): the one change with
 * which the kernel would go on (repair.h).
 *
 * Reads: walks, the picture.  Adds: PARITY_DRIFT, PARITY_WRONG, ARRIVE_MISSING, WAKER_EXITED, DOUBLE_ARRIVE,
 * ARRIVE_SHORT, NAMED_COUNT; TX_NO_ARRIVE and TX_MISMATCH where rules before it did not say more of the bytes.
 *
 * It adds a finding only if the replay of the unchanged kernel ends in the picture, or fails in every order as
 * wsdbg_replay_failing says; and some repair works.
 */
#include "diagnose/code_say.h"
#include "diagnose/repair.h"
#include "diagnose/rules.h"

struct rounds {
    struct wsdbg_case *c;
    struct wsdbg_replay *replay;
    struct wsdbg_repairs repairs;
};

static uint32_t row_of(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return rounds->replay->barriers[repair->barrier].row;
}

static const struct wsdbg_replay_agent *agent_of(const struct rounds *rounds, uint32_t number)
{
    return &rounds->replay->agents[number];
}

/* " at gemm.cu:132": where a step is. */
static struct wsdbg_phrase say_at_step(const struct rounds *rounds, uint32_t agent, uint32_t step)
{
    const struct wsdbg_replay_agent *a = agent_of(rounds, agent);
    const struct wsdbg_snapshot *s = rounds->c->snapshot;
    const uint32_t access = step < a->step_count ? a->steps[step].access : WSDBG_NONE;
    return wsdbg_say_at_site(rounds->c, access < s->access_count ? s->accesses[access].site : WSDBG_NONE);
}

/* How often its agent arrives on the barrier before a step. */
static uint32_t arrivals_before(const struct rounds *rounds, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *a = agent_of(rounds, edit->agent);
    uint32_t count = 0;
    for (uint32_t i = 0; i < edit->step; i++)
        count += a->target[i] == edit->barrier && wsdbg_replay_arrivals_of(a, i) > 0;
    return count;
}

static bool is_one(const struct wsdbg_repair *repair)
{
    return wsdbg_set_count(&repair->warps) == 1;
}

/* The barrier of a repair, or all its stages. */
static struct wsdbg_phrase say_subject(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return repair->is_of_stage ? wsdbg_say_object(rounds->c, row_of(rounds, repair))
                               : wsdbg_say_family(rounds->c, row_of(rounds, repair));
}

static enum wsdbg_cause cause_of(const struct wsdbg_repair *repair)
{
    switch (repair->kind) {
    case WSDBG_REPAIR_PARITY_DRIFT:
        return WSDBG_CAUSE_PARITY_DRIFT;
    case WSDBG_REPAIR_PARITY_LIKE:
        return repair->wait.turn ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_PARITY_FIRST:
        return repair->is_mixed ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    case WSDBG_REPAIR_STAY:
        return WSDBG_CAUSE_WAKER_EXITED;
    case WSDBG_REPAIR_DROP:
        return WSDBG_CAUSE_DOUBLE_ARRIVE;
    case WSDBG_REPAIR_NAMED:
        return WSDBG_CAUSE_NAMED_COUNT;
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

/* Whether a repair needs no comparison with others.  A round, a wait or a stage that is unlike all others is taken to
 * be wrong, even if another repair works, too.  A first parity and a count are not: changing either one may make up for
 * a mistake in the other.  Bytes and threads that seem to be missing may come from those whose walks are not known. */
static bool is_certain_of_itself(const struct wsdbg_repair *repair)
{
    switch (repair->kind) {
    case WSDBG_REPAIR_PARITY_FIRST:
    case WSDBG_REPAIR_COUNT:
        return repair->is_of_stage;
    case WSDBG_REPAIR_NAMED:
    case WSDBG_REPAIR_ANNOUNCE:
    case WSDBG_REPAIR_BYTES:
        return repair->is_to_end;
    default:
        return true;
    }
}

/* Another repair that works, with another cause.  NULL = there is none, or the first one needs no comparison. */
static const struct wsdbg_repair *find_rival(const struct rounds *rounds)
{
    const struct wsdbg_repair *first = &rounds->repairs.rows[0];
    for (uint32_t i = 1; i < rounds->repairs.count && !is_certain_of_itself(first); i++)
        if (cause_of(&rounds->repairs.rows[i]) != cause_of(first))
            return &rounds->repairs.rows[i];
    return NULL;
}

/* How sure a finding of the repair may be. */
static enum wsdbg_confidence confidence_of(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const bool may_have_rival = find_rival(rounds) || (rounds->repairs.is_partial && !is_certain_of_itself(repair));
    const bool is_likely = (repair->is_to_end || is_certain_of_itself(repair)) && !may_have_rival;
    return wsdbg_code_cap(rounds->c, is_likely ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
}

static struct wsdbg_finding *find(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const uint32_t first = wsdbg_first_of(&repair->warps);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause_of(repair), confidence_of(rounds, repair),
                        c->ctas[rounds->replay->barriers[repair->barrier].cta], row_of(rounds, repair));
    if (finding && first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    return finding;
}

/* What the kernel does with the change. */
static const char *say_outcome(const struct wsdbg_repair *repair)
{
    return repair->is_to_end ? "the kernel would finish" : "all that is stuck would go on";
}

static void say_drift(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    const uint32_t parity = agent_of(rounds, wait->agent)->steps[wait->step].number & 1;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waited on %s%s with parities that do not alternate: wait number %u asked for parity %u, as the "
                "wait before it. Each phase has the other parity, so from there on the waits are out of step with "
                "the barrier.",
                wsdbg_say_warps(c, &repair->warps).text, wsdbg_say_object(c, row_of(rounds, repair)).text,
                say_at_step(rounds, wait->agent, wait->step).text, wait->turn + 1, parity);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Keep the phase of %s across tiles: flip it when the stage index wraps, and only then.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
}

static void say_like(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    const uint32_t parity = agent_of(rounds, wait->agent)->steps[wait->step].number & 1;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s asked for parity %u in wait number %u on %s%s, where %s asks for parity %u. With its parities %s.",
                wsdbg_say_warps(c, &repair->warps).text, parity, wait->turn + 1,
                wsdbg_say_object(c, row_of(rounds, repair)).text, say_at_step(rounds, wait->agent, wait->step).text,
                wsdbg_say_warp(c, agent_of(rounds, repair->like)->warp).text, parity ^ 1, say_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every CTA count the phases of %s alike: flip the phase when the stage index wraps, and only then.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
}

static void say_first(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s begin%s with parity %u to wait on %s, and so all these waits ask for the wrong phase: with parity "
                "%u first%s %s.",
                wsdbg_say_warps(c, &repair->warps).text, is_one(repair) ? "s" : "", repair->value ^ 1,
                repair->is_mixed ? wsdbg_say_object(c, row_of(rounds, repair)).text
                                 : wsdbg_say_family(c, row_of(rounds, repair)).text,
                repair->value, repair->is_mixed ? ", as on other stages," : "", say_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Start the phase of %s at %u, and flip it when the stage index wraps.",
                wsdbg_say_family(c, row_of(rounds, repair)).text, repair->value);
}

/* Adds the instruction with which the edit's agent arrives on the barrier in other rounds. */
static void tell_arrival(struct rounds *rounds, struct wsdbg_finding *finding, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *a = agent_of(rounds, edit->agent);
    for (uint32_t i = 0; i < a->step_count; i++)
        if (a->target[i] == edit->barrier && wsdbg_replay_arrivals_of(a, i)) {
            wsdbg_tell_access(rounds->c, finding, a->steps[i].access, "is the arrival of other rounds");
            return;
        }
}

static void say_missing(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    const uint32_t by = agent_of(rounds, repair->edit.agent)->warp;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s went through a round without arriving on %s, as it does in other rounds (%u before this one). So the "
        "waits for that phase never end.",
        wsdbg_say_warp(c, by).text, wsdbg_say_object(c, row_of(rounds, repair)).text,
        arrivals_before(rounds, &repair->edit));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s on every path through the iteration, including skipped iterations and the last one of a "
                "tile.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
    tell_arrival(rounds, finding, &repair->edit);
    wsdbg_evidence_text(c, finding, "rounds without the arrival: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

static void say_twice(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    const uint32_t before = arrivals_before(rounds, &repair->edit);
    const uint32_t by = agent_of(rounds, repair->edit.agent)->warp;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s once more%s in a round than in its other rounds, after %u arrival%s. A phase then "
                "completes too early, and the waits are out of step with the barrier.",
                wsdbg_say_warp(c, by).text, wsdbg_say_object(c, row_of(rounds, repair)).text,
                say_at_step(rounds, repair->edit.agent, repair->edit.step).text, before, before == 1 ? "" : "s");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive once per warp and round on %s: remove one of the arrivals, or wait between them.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
    wsdbg_evidence_text(c, finding, "rounds with an arrival more: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

static void say_copy(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s never arrive%s on %s, while warps that wait for the same barriers do. It takes %u arrivals, so "
                "the waits on it never end.",
                wsdbg_say_warps(c, &repair->warps).text, is_one(repair) ? "s" : "",
                wsdbg_say_family(c, row_of(rounds, repair)).text, repair->was);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let these warps arrive on %s, too, or initialise it for fewer arrivals if they are not meant to.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
}

static void say_announce(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s copies or announces bytes to %s%s, but does not arrive there in that round, and %s. So the phase "
                "never completes.",
                wsdbg_say_warp(c, agent_of(rounds, repair->edit.agent)->warp).text,
                wsdbg_say_object(c, row_of(rounds, repair)).text,
                say_at_step(rounds, repair->edit.agent, repair->edit.step).text,
                repair->is_to_end ? "neither does any other thread" : "no other thread is known to");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx with the bytes of all copies of the round on %s.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
    wsdbg_evidence_text(c, finding, "rounds without the arrival: %u, by %s", repair->edit_count,
                        wsdbg_say_warps(c, &repair->warps).text);
}

static void say_bytes(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_barrier_word word;
    struct wsdbg_finding *finding = wsdbg_word_of(c, row_of(rounds, repair), &word) ? find(rounds, repair) : NULL;
    if (!finding)
        return;
    const bool is_short = word.bytes > 0;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s were made, but its copies bring %lld bytes %s than were announced, and no other "
                "copy is %son its way.",
                wsdbg_say_object(c, row_of(rounds, repair)).text, (long long)(is_short ? word.bytes : -word.bytes),
                is_short ? "less" : "more", repair->is_to_end ? "" : "known to be ");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Announce on %s exactly the bytes that the copies of the round bring, and issue each of these copies "
                "on every path.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
}

static void say_stay(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = find(rounds, repair);
    if (!finding)
        return;
    char lanes[64] = "";
    if (repair->lanes)
        wsdbg_print(lanes, sizeof lanes, "%.50s of ", wsdbg_say_lanes(repair->lanes).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s%s left the kernel, while %s, which did the same up to there, goes on and arrives on %s. Had %s "
                "stayed, %s.",
                lanes, wsdbg_say_warps(c, &repair->warps).text, wsdbg_say_warp(c, repair->like).text,
                wsdbg_say_family(c, row_of(rounds, repair)).text, is_one(repair) ? "it" : "they", say_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp of a role stay until its last arrival on %s: leave the loop by the same condition as "
                "the others, and do not return from inside of it.",
                wsdbg_say_family(c, row_of(rounds, repair)).text);
}

static struct wsdbg_finding *find_named(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state != WSDBG_WARP_WAIT_NAMED || row->barrier >= c->snapshot->barrier_count ||
            c->snapshot->barriers[row->barrier].id != repair->named)
            continue;
        struct wsdbg_finding *finding =
            wsdbg_case_find(c, cause_of(repair), confidence_of(rounds, repair), row->cta, row->barrier);
        if (finding && wsdbg_set_count(&repair->warps))
            finding->role = wsdbg_case_warp(c, wsdbg_first_of(&repair->warps))->role;
        return finding;
    }
    return NULL;
}

static void say_early(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s arrive at named barrier %u only behind waits that others end after they passed it. Had they arrived "
        "once before, %s.",
        wsdbg_say_warps(rounds->c, &repair->warps).text, repair->named, say_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let these warps arrive at named barrier %u once before their loop, or let the others leave out its "
                "first round.",
                repair->named);
}

static void say_named(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s name %u threads at named barrier %u. With %u threads there, as many as %s, %s.",
                wsdbg_say_warps(rounds->c, &repair->warps).text, repair->was, repair->named, repair->value,
                repair->is_of_comers ? "come to it" : "other uses name", say_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Name the same number of threads (%u) in every bar.sync and bar.arrive of named barrier %u.",
                repair->value, repair->named);
}

static void say_count(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const bool is_short = cause_of(repair) == WSDBG_CAUSE_ARRIVE_SHORT;
    struct wsdbg_finding *finding = find(rounds, repair);
    char by[200] = "";
    if (!finding)
        return;
    if (wsdbg_set_count(&repair->warps))
        wsdbg_print(by, sizeof by, " (by %.150s)", wsdbg_say_warps(rounds->c, &repair->warps).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s is initialised for %u arrivals, but a round brings %s %u%s: %s.", say_subject(rounds, repair).text,
                repair->was, is_short ? "only" : "as many as", repair->value, by,
                is_short ? "so its phases complete too late or never"
                         : "so its phases complete before all have arrived, and the waits fall out of step");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with the number of arrivals actually made (%u), or let %s.",
                say_subject(rounds, repair).text, repair->value,
                is_short ? "the missing threads arrive" : "fewer threads arrive");
}

/* Adds how the unchanged kernel ends, where a replay of it does not end in the picture. */
static void tell_failure(struct rounds *rounds, struct wsdbg_finding *finding)
{
    const unsigned orders = WSDBG_REPLAY_ORDERS;
    if (rounds->replay->overflows)
        wsdbg_evidence_text(rounds->c, finding,
                            "followed from its start, the kernel arrives on the barrier more often than a phase takes, "
                            "in %u of %u orders of its warps",
                            rounds->replay->overflow_runs, orders);
    else
        wsdbg_evidence_text(rounds->c, finding,
                            "followed from its start, the kernel finishes in %u of %u orders of its warps; in one of "
                            "the others it stops much as it was seen",
                            rounds->replay->ended_runs, orders);
}

/* Adds who waits, the barrier's word, and how the replay went. */
static void tell_account(struct rounds *rounds, struct wsdbg_finding *finding, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_warp_set waiters = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_MBARRIER)
            wsdbg_set_add(&waiters, w);
    wsdbg_tell_waits(c, finding, &waiters);
    wsdbg_tell_word(c, finding, finding->barrier);
    if (!c->standing)
        tell_failure(rounds, finding);
    wsdbg_evidence_text(c, finding, "%swith this change %s",
                        c->standing ? "followed from its start, the kernel stops in just this state; " : "",
                        repair->is_to_end
                            ? "it would finish"
                            : "all that is stuck would go on; how the kernel goes on after that is not known");
}

/* What else would let the kernel go on. */
static struct wsdbg_phrase say_rival(const struct rounds *rounds, const struct wsdbg_repair *rival)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &rival->warps),
                              subject = rival->kind == WSDBG_REPAIR_EARLY || rival->kind == WSDBG_REPAIR_NAMED
                                            ? phrase
                                            : say_subject(rounds, rival);
    if (rival->kind == WSDBG_REPAIR_COUNT)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.100s were initialised for %u arrivals", subject.text,
                    rival->value);
    else if (rival->kind == WSDBG_REPAIR_PARITY_FIRST)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s began with parity %u to wait on %.60s", warps.text,
                    rival->value, subject.text);
    else if (rival->kind == WSDBG_REPAIR_EARLY)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived once before at named barrier %u", warps.text,
                    rival->named);
    else if (rival->kind == WSDBG_REPAIR_NAMED)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s named %u threads at named barrier %u", warps.text,
                    rival->value, rival->named);
    else if (rival->kind == WSDBG_REPAIR_STAY)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s stayed in the kernel", warps.text);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived on %.60s", warps.text, subject.text);
    return phrase;
}

/* Adds the other repair that works, if there is one. */
static void tell_rival(struct rounds *rounds, struct wsdbg_finding *finding)
{
    const struct wsdbg_repair *rival = find_rival(rounds);
    if (rival)
        wsdbg_evidence_text(rounds->c, finding,
                            "it would also %s if %s; which of the two is wrong depends on what the author meant",
                            rival->is_to_end ? "finish" : "go on", say_rival(rounds, rival).text);
}

static void say(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    typedef void say_fn(struct rounds * rounds, const struct wsdbg_repair *repair);
    static say_fn *const says[WSDBG_REPAIR_KINDS] = {
        [WSDBG_REPAIR_PARITY_LIKE] = say_like,   [WSDBG_REPAIR_PARITY_DRIFT] = say_drift,
        [WSDBG_REPAIR_PARITY_FIRST] = say_first, [WSDBG_REPAIR_ADD] = say_missing,
        [WSDBG_REPAIR_DROP] = say_twice,         [WSDBG_REPAIR_COPY] = say_copy,
        [WSDBG_REPAIR_STAY] = say_stay,          [WSDBG_REPAIR_EARLY] = say_early,
        [WSDBG_REPAIR_ANNOUNCE] = say_announce,  [WSDBG_REPAIR_BYTES] = say_bytes,
        [WSDBG_REPAIR_NAMED] = say_named,        [WSDBG_REPAIR_COUNT] = say_count,
    };
    const size_t before = rounds->c->finding_count;
    says[repair->kind](rounds, repair);
    if (rounds->c->finding_count == before)
        return;
    tell_account(rounds, &rounds->c->findings[before], repair);
    tell_rival(rounds, &rounds->c->findings[before]);
}

void wsdbg_rule_code_rounds(struct wsdbg_case *c)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_standing(c)};
    if (!rounds.replay)
        rounds.replay = wsdbg_replay_failing(c);
    if (rounds.replay && wsdbg_repairs_find(rounds.replay, &rounds.repairs))
        c->no_memory = true;
    else if (rounds.repairs.count)
        say(&rounds, &rounds.repairs.rows[0]);
}

/* Whether another rule has told what is wrong with bytes, however sure it is of that. */
static bool are_bytes_told(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->finding_count; i++) {
        const enum wsdbg_cause cause = c->findings[i].cause;
        if (cause == WSDBG_CAUSE_TX_MISMATCH || cause == WSDBG_CAUSE_TMA_NEVER_COMPLETED ||
            cause == WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY)
            return true;
    }
    return false;
}

/* Copies that are under way at the only look may still come. */
void wsdbg_rule_code_copies(struct wsdbg_case *c)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_standing(c)};
    if (!rounds.replay || !c->still || are_bytes_told(c))
        return;
    if (wsdbg_repairs_find_copies(rounds.replay, &rounds.repairs))
        c->no_memory = true;
    else if (rounds.repairs.count)
        say(&rounds, &rounds.repairs.rows[0]);
}
