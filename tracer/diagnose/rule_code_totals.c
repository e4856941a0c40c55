/* rule_code_totals.c - a wait for a phase that cannot complete: all arrivals that the threads make up to the kernel's
 * end are too few for it.
 *
 * Reads: walks, the picture.  Adds: ARRIVE_MISSING, ARRIVE_SHORT, TX_NO_ARRIVE, ROLE_DISAGREE; WAKER_EXITED where warps
 * that arrived, or could have, have left the kernel.
 *
 * A walk lists what its threads do up to the kernel's end if every wait ends.  A finding is added only if a replay of
 * the walks (replay.h) ends in the picture, and the wait is for the phase under way.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay_drain.h"
#include "diagnose/replay_likes.h"
#include "diagnose/replay_tokens.h"
#include "diagnose/rules.h"
#include "diagnose/totals.h"

/* False where the step begins the barrier's phases anew, or names another count than the initialisation before. */
static bool add_init(struct wsdbg_totals *totals, const struct wsdbg_step_row *step, bool is_used)
{
    const bool is_same = totals->inits == 0 || step->number == totals->initial;
    totals->inits++;
    totals->initial = step->number;
    return is_same && !is_used;
}

/* is_late: the agent waits on the barrier itself, before the step. */
static void add_step(struct wsdbg_totals *totals, const struct wsdbg_replay_agent *agent, uint32_t k, bool is_late)
{
    const struct wsdbg_step_row *step = &agent->steps[k];
    totals->in_walks += wsdbg_replay_arrivals_of(agent, k);
    totals->arrivals += is_late ? 0 : wsdbg_replay_arrivals_of(agent, k);
    totals->has_bytes |= step->kind == WSDBG_ACCESS_EXPECT;
    if (wsdbg_replay_arrivals_of(agent, k))
        wsdbg_set_add(&totals->by, agent->warp);
    else if (step->kind == WSDBG_ACCESS_EXPECT || step->kind == WSDBG_ACCESS_COPY)
        wsdbg_set_add(&totals->beside, agent->warp);
}

/* False where some walk is not known to its end, or some step changes the barrier's count or begins its phases anew.
 * Several warps may initialise it before it is used. */
static bool add_up(struct wsdbg_totals *totals)
{
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        const bool waits_itself = agent->state == WSDBG_AGENT_WAITS && agent->target[agent->at] == totals->barrier;
        bool is_used = false;
        if (!totals->c->snapshot->walks[agent->walk].is_whole)
            return false;
        totals->is_guessed |= totals->c->snapshot->walks[agent->walk].is_guessed;
        for (uint32_t k = 0; k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (agent->target[k] != totals->barrier)
                continue;
            if (step->kind == WSDBG_ACCESS_DROP ||
                (step->kind == WSDBG_ACCESS_INIT && !add_init(totals, step, is_used)))
                return false;
            add_step(totals, agent, k, waits_itself && k >= agent->at);
            is_used = true;
        }
    }
    return totals->inits > 0;
}

/* Whether the wait is for the phase under way, and the agent's waits before it were for the phases before. */
static bool is_in_step(const struct wsdbg_totals *totals)
{
    const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(totals->replay, totals->agent, totals->barrier);
    return !waits->slipped && waits->alternates && waits->passed + 1 - waits->first_parity == totals->phase + 1;
}

/* Reads an agent's wait; true if it can never end. */
static bool read_totals(struct wsdbg_case *c, const struct wsdbg_replay *replay, uint32_t number,
                        struct wsdbg_totals *totals)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    if (agent->state != WSDBG_AGENT_WAITS)
        return false;
    const uint32_t barrier = agent->target[agent->at];
    *totals = (struct wsdbg_totals){.c = c,
                                    .replay = replay,
                                    .agent = number,
                                    .barrier = barrier,
                                    .warp = agent->warp,
                                    .row = replay->barriers[barrier].row,
                                    .expected = replay->barriers[barrier].expected,
                                    .phase = replay->barriers[barrier].phase};
    return totals->row != WSDBG_NONE && is_in_step(totals) && add_up(totals) &&
           totals->arrivals < (uint64_t)totals->expected * (totals->phase + 1);
}

/* A cp.async.mbarrier.arrive that adds the arrival which it makes, on the barrier; NULL = there is none. */
static const struct wsdbg_access_row *arrival_of_its_own(const struct wsdbg_totals *totals)
{
    const struct wsdbg_case *c = totals->c;
    for (size_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid == c->grid && access->kind == WSDBG_ACCESS_COPY_ARRIVE && !access->count.known &&
            wsdbg_access_match(c, access, totals->row) >= WSDBG_MATCH_MAY)
            return access;
    }
    return NULL;
}

/* The code has an arrival that looks as if it was meant. */
static void say_not_counted(const struct wsdbg_totals *totals, const struct wsdbg_access_row *access,
                            struct wsdbg_finding *finding)
{
    struct wsdbg_case *c = totals->c;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No arrival on %s counts: cp.async.mbarrier.arrive without .noinc at %.80s adds one to what the phase "
                "takes before it arrives. A phase takes %u arrivals, so %s waits forever%s.",
                wsdbg_say_object(c, totals->row).text, wsdbg_say_place(c, access->site).text, totals->expected,
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_at(c, totals->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use cp.async.mbarrier.arrive.noinc: its arrival is one of those that %s is initialised for.",
                wsdbg_say_family(c, totals->row).text);
}

static void say_never(const struct wsdbg_totals *totals)
{
    struct wsdbg_case *c = totals->c;
    const bool none = totals->arrivals == 0;
    const struct wsdbg_warp_set *whose = none ? &totals->beside : &totals->by;
    struct wsdbg_finding *finding = wsdbg_totals_find(totals,
                                                      !none               ? WSDBG_CAUSE_ARRIVE_SHORT
                                                      : totals->has_bytes ? WSDBG_CAUSE_TX_NO_ARRIVE
                                                                          : WSDBG_CAUSE_ARRIVE_MISSING,
                                                      whose);
    if (!finding)
        return;
    const struct wsdbg_access_row *own = none ? arrival_of_its_own(totals) : NULL;
    if (own) {
        say_not_counted(totals, own, finding);
        return;
    }
    char who[200] = "";
    if (wsdbg_set_count(whose))
        wsdbg_print(who, sizeof who, none ? " (its bytes are announced or copied by %.150s)" : " (by %.150s)",
                    wsdbg_say_warps(c, whose).text);
    if (none)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "No thread arrives on %s anywhere in the kernel%s. A phase takes %u arrivals, so %s waits "
                    "forever%s.",
                    wsdbg_say_object(c, totals->row).text, who, totals->expected, wsdbg_say_warp(c, totals->warp).text,
                    wsdbg_say_at(c, totals->warp).text);
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s is initialised for %u arrivals, but all threads together make only %llu from the kernel's "
                    "start to its end%s, so %s waits forever%s.",
                    wsdbg_say_object(c, totals->row).text, totals->expected, (unsigned long long)totals->arrivals, who,
                    wsdbg_say_warp(c, totals->warp).text, wsdbg_say_at(c, totals->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s on every path that its waits rely on, or initialise it for the number of arrivals "
                "actually made.",
                wsdbg_say_family(c, totals->row).text);
}

/* Those who arrive, without those who have arrived in the phase under way and wait for the others. */
static struct wsdbg_warp_set others_of(const struct wsdbg_totals *totals)
{
    struct wsdbg_warp_set others = totals->by;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++)
        if (wsdbg_replay_waits_by_token(&totals->replay->agents[i], totals->barrier))
            wsdbg_set_remove(&others, totals->replay->agents[i].warp);
    return wsdbg_set_count(&others) ? others : totals->by;
}

/* A finding of warps that do not come: of this cause, or of what explains it if they have exited. */
static struct wsdbg_finding *find_of(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *warps,
                                     enum wsdbg_cause cause)
{
    struct wsdbg_case *c = totals->c;
    const bool exited = wsdbg_case_have_exited(c, warps);
    return wsdbg_totals_find(
        totals, exited ? wsdbg_case_cause_of_exit(c, warps, wsdbg_case_warp(c, totals->warp)->cta) : cause, warps);
}

/* Whether each agent that arrives on the barrier waits there as often: then it is a meeting of equals, which have no
 * roles.  *absent: the warps that come to no round behind those that have completed; no agent may wait elsewhere in a
 * later one. */
static bool is_meeting(const struct wsdbg_totals *totals, struct wsdbg_warp_set *absent)
{
    bool any = false;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        uint32_t arrivals = 0, waits = 0;
        for (uint32_t k = 0; k < agent->step_count; k++) {
            if (agent->target[k] != totals->barrier)
                continue;
            arrivals += wsdbg_replay_arrivals_of(agent, k) != 0;
            waits += agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k];
        }
        if (arrivals != waits)
            return false;
        any |= arrivals > totals->phase;
        if (arrivals && arrivals <= totals->phase)
            wsdbg_set_add(absent, agent->warp);
    }
    return any && wsdbg_set_count(absent);
}

/* Some come to a round of a meeting to which the others never come. */
static void say_meeting(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *absent)
{
    struct wsdbg_case *c = totals->c;
    const bool exited = wsdbg_case_have_exited(c, absent);
    struct wsdbg_finding *finding = find_of(totals, absent, WSDBG_CAUSE_ARRIVE_MISSING);
    if (!finding)
        return;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits for round %u of %s%s, at which all that arrive also wait. It takes %u arrivals, but %s, which "
        "came to earlier rounds, %s.",
        wsdbg_say_warp(c, totals->warp).text, totals->phase + 1, wsdbg_say_object(c, totals->row).text,
        wsdbg_say_at(c, totals->warp).text, totals->expected, wsdbg_say_warps(c, absent).text,
        exited ? "left the kernel without coming to this one" : "never come to this one");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all threads that %s counts come to each of its rounds, or give those that meet alone a barrier "
                "of their own.",
                wsdbg_say_family(c, totals->row).text);
}

static void say_trips(const struct wsdbg_totals *totals)
{
    struct wsdbg_case *c = totals->c;
    const struct wsdbg_warp_set others = others_of(totals);
    const bool exited = wsdbg_case_have_exited(c, &others);
    struct wsdbg_finding *finding = find_of(totals, &others, WSDBG_CAUSE_ROLE_DISAGREE);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits for one more round of %s%s than the kernel has arrivals for: from its start to its end there "
                "are arrivals for %u round%s, by %s%s. The loops of the roles have different trip counts.",
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_object(c, totals->row).text,
                wsdbg_say_at(c, totals->warp).text, totals->phase, totals->phase == 1 ? "" : "s",
                wsdbg_say_warps(c, &others).text,
                exited ? wsdbg_set_count(&others) == 1 ? ", which has exited" : ", which have exited" : "");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the trip count once and use the same value in every role, the last and a partial tile "
                "included.");
}

/* Whether a barrier has the same stage number as the one waited on, and is of another family. */
static bool is_of_stage(const struct wsdbg_totals *totals, uint32_t barrier)
{
    const struct wsdbg_barrier *rows = totals->c->snapshot->barriers;
    const struct wsdbg_replay_barrier *b = &totals->replay->barriers[barrier];
    return b->row != WSDBG_NONE && rows[b->row].stage == rows[totals->row].stage &&
           rows[b->row].id != rows[totals->row].id;
}

/* Whether an agent announces or copies bytes to the barrier behind its last arrival there: then it left out an arrival,
 * and its loop is not what is short. */
static bool has_bytes_left_over(const struct wsdbg_totals *totals)
{
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        bool arrives = false, is_behind = false;
        for (uint32_t k = 0; k < agent->step_count; k++) {
            if (agent->target[k] != totals->barrier)
                continue;
            if (wsdbg_replay_arrivals_of(agent, k)) {
                arrives = true;
                is_behind = false;
            } else if (agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k]) {
                is_behind = arrives;
            } else if (is_behind &&
                       (agent->steps[k].kind == WSDBG_ACCESS_COPY || agent->steps[k].kind == WSDBG_ACCESS_EXPECT)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether each agent that arrives does so at least as often as it waits on the barrier itself, and on that stage of
 * other barriers: then it left out no arrival.  Waits of its drain are for arrivals that it made before. */
static bool are_regular(const struct wsdbg_totals *totals)
{
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        const uint32_t drain = wsdbg_replay_drain_of(totals->replay, agent);
        uint32_t arrivals = 0, waits = 0, waits_itself = 0;
        for (uint32_t k = 0; k < drain; k++) {
            const bool is_wait = agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k];
            arrivals += agent->target[k] == totals->barrier && wsdbg_replay_arrivals_of(agent, k);
            waits += is_wait && is_of_stage(totals, agent->target[k]);
            waits_itself += is_wait && agent->target[k] == totals->barrier;
        }
        if (arrivals && (waits > arrivals || waits_itself > arrivals))
            return false;
    }
    return true;
}

/* Whether the kernel has arrivals that may be on the barrier, and nobody knows of one that it is. */
static bool is_arrival_open(const struct wsdbg_totals *totals)
{
    return wsdbg_code_has(totals->c, WSDBG_KINDS_ARRIVAL, totals->row, NULL) == WSDBG_MATCH_OPEN;
}

uint32_t wsdbg_totals_first_arrivals(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] == barrier && wsdbg_replay_arrivals_of(agent, k))
            return wsdbg_replay_arrivals_of(agent, k);
    return 0;
}

/* Warps that arrive on another stage of the barrier, and never on this one, whose arrivals of a round are just those
 * that this one lacks.  Warps that arrive on this one must arrive on the other one, too. */
static struct wsdbg_warp_set absent_arrivers(const struct wsdbg_totals *totals)
{
    const struct wsdbg_replay *replay = totals->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        struct wsdbg_warp_set absent = {{0}};
        uint64_t in_round = 0, lacking = 0;
        bool is_shared = false;
        if (b == totals->barrier || replay->barriers[b].cta != replay->barriers[totals->barrier].cta ||
            replay->barriers[b].expected != totals->expected || !wsdbg_replay_is_of_family(replay, b, totals->barrier))
            continue;
        for (uint32_t i = 0; i < replay->agent_count; i++) {
            const uint32_t arrivals = wsdbg_totals_first_arrivals(&replay->agents[i], b);
            in_round += wsdbg_totals_first_arrivals(&replay->agents[i], totals->barrier);
            const bool is_here = wsdbg_set_has(&totals->by, replay->agents[i].warp);
            is_shared |= arrivals && is_here;
            if (!arrivals || is_here)
                continue;
            lacking += arrivals;
            wsdbg_set_add(&absent, replay->agents[i].warp);
        }
        if (is_shared && in_round + lacking == totals->expected)
            return absent;
    }
    return (struct wsdbg_warp_set){{0}};
}

static void say_absent(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *absent)
{
    struct wsdbg_case *c = totals->c;
    const bool exited = wsdbg_case_have_exited(c, absent);
    struct wsdbg_finding *finding = find_of(totals, absent, WSDBG_CAUSE_ARRIVE_MISSING);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, which takes %u arrivals, but gets no more than %llu: %s never arrived on it, though "
                "on other stages%s.",
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_object(c, totals->row).text,
                wsdbg_say_at(c, totals->warp).text, totals->expected, (unsigned long long)totals->arrivals,
                wsdbg_say_warps(c, absent).text, exited ? ", and left the kernel" : "");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all warps that arrive on %s do so on every stage that is waited for%s.",
                wsdbg_say_family(c, totals->row).text, exited ? ", also before they return" : "");
}

/* The arrivals of all threads are too few for one phase.  False: nothing is said, of a warp that never arrives as
 * others do, of lanes that left, or of threads that arrive too late.  Another rule says more. */
static bool say_too_few(const struct wsdbg_totals *totals)
{
    const struct wsdbg_warp_set left = wsdbg_totals_left_arrivers(totals);
    if (!totals->arrivals && wsdbg_replay_have_lanes_left(totals->replay))
        return false;
    if (wsdbg_totals_say_threads_left(totals))
        return true;
    if (totals->arrivals && wsdbg_replay_lacks_an_arriver(totals->replay, totals->barrier))
        return false;
    const struct wsdbg_warp_set absent = absent_arrivers(totals);
    if (totals->arrivals && wsdbg_set_count(&absent)) {
        say_absent(totals, &absent);
        return true;
    }
    if (totals->in_walks >= totals->expected)
        return false;
    struct wsdbg_totals doubtful = *totals;
    doubtful.is_guessed |= wsdbg_set_count(&left) && is_arrival_open(totals); /* they may have left too early, or not */
    if (totals->arrivals || !wsdbg_set_count(&left) || !wsdbg_totals_have_left_at_bytes(totals, &left) ||
        is_arrival_open(totals))
        say_never(&doubtful);
    else
        wsdbg_totals_say_left(totals, &left);
    return true;
}

/* The arrivals of all threads are just enough for the phases that have completed, and for those who wait for the next
 * one by token and so have arrived in it. */
static bool is_over(const struct wsdbg_totals *totals)
{
    return totals->in_walks == (uint64_t)totals->expected * totals->phase +
                                   wsdbg_replay_arrivals_of_waiters(totals->replay, totals->barrier);
}

/* The only agent that arrives on the barrier, if it waits there itself in more rounds than it arrives: so it left out
 * an arrival.  WSDBG_NONE: there is none, or others arrive, too. */
static uint32_t lone_arriver(const struct wsdbg_totals *totals, uint32_t *arrivals, uint32_t *waits)
{
    uint32_t found = WSDBG_NONE;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        uint32_t arrives = 0, waits_itself = 0;
        for (uint32_t k = 0; k < agent->step_count; k++) {
            arrives += agent->target[k] == totals->barrier && wsdbg_replay_arrivals_of(agent, k);
            waits_itself +=
                agent->target[k] == totals->barrier && agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k];
        }
        if (!arrives)
            continue;
        if (found != WSDBG_NONE || waits_itself <= arrives)
            return WSDBG_NONE;
        found = i;
        *arrivals = arrives;
        *waits = waits_itself;
    }
    return found;
}

static void say_lone(const struct wsdbg_totals *totals, uint32_t agent, uint32_t arrivals, uint32_t waits)
{
    struct wsdbg_case *c = totals->c;
    struct wsdbg_warp_set whose = {{0}};
    wsdbg_set_add(&whose, totals->replay->agents[agent].warp);
    struct wsdbg_finding *finding = wsdbg_totals_find(totals, WSDBG_CAUSE_ARRIVE_MISSING, &whose);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s alone arrives on %s, %u time%s from the kernel's start to its end, but waits for it %u times "
                "itself. So the wait%s never ends: a round lacks its arrival.",
                wsdbg_say_warp(c, totals->replay->agents[agent].warp).text, wsdbg_say_object(c, totals->row).text,
                arrivals, arrivals == 1 ? "" : "s", waits, wsdbg_say_at(c, totals->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s once for each round that is waited for, the first and the last one included.",
                wsdbg_say_family(c, totals->row).text);
}

/* All arrivals have been made, and the phase lacks some. */
static bool are_all_made(const struct wsdbg_totals *totals)
{
    return totals->in_walks ==
           (uint64_t)totals->expected * (totals->phase + 1) - totals->replay->barriers[totals->barrier].pending;
}

/* Adds a finding where the arrivals are not enough for another phase. */
static bool say_of_trips(const struct wsdbg_totals *totals)
{
    struct wsdbg_warp_set absent = {{0}};
    uint32_t gone, arrivals, waits;
    if (totals->in_walks < totals->expected || has_bytes_left_over(totals) ||
        wsdbg_totals_lanes_that_left(totals, &gone))
        return false;
    const bool is_met = are_all_made(totals) && is_meeting(totals, &absent);
    const uint32_t lone = is_over(totals) ? lone_arriver(totals, &arrivals, &waits) : WSDBG_NONE;
    if (is_met)
        say_meeting(totals, &absent);
    else if (lone != WSDBG_NONE)
        say_lone(totals, lone, arrivals, waits);
    else if (is_over(totals) && are_regular(totals))
        say_trips(totals);
    else
        return false;
    return true;
}

/* Adds a finding where all arrivals are too few for one phase; or, `of_trips`, just enough for the phases that have
 * completed. */
static void judge(struct wsdbg_case *c, bool of_trips)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    struct wsdbg_totals totals;
    for (uint32_t i = 0; replay && i < replay->agent_count; i++) {
        if (!read_totals(c, replay, i, &totals) ||
            wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, totals.row, NULL) == WSDBG_MATCH_NO)
            continue;
        if (of_trips ? !say_of_trips(&totals) : totals.arrivals >= totals.expected || !say_too_few(&totals))
            continue;
        break;
    }
}

void wsdbg_rule_code_never(struct wsdbg_case *c)
{
    judge(c, false);
}

void wsdbg_rule_code_trips(struct wsdbg_case *c)
{
    judge(c, true);
}
