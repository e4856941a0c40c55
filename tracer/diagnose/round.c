/* round.c - rounds of an mbarrier stage: what a wait needs and who contributed.  See round.h.
 *
 * Reads: the ledger and the histories of a case.  Writes nothing but its results.
 */
#include "diagnose/round.h"

#include <stdlib.h>

static bool same_family(const struct wsdbg_stage *a, const struct wsdbg_stage *b)
{
    return a->cta == b->cta && a->id == b->id;
}

/* Compares a warp's newest ended wait of a stage with the arrivals tagged alike. */
static void compare_newest_wait(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                                const struct wsdbg_use *end, uint32_t *before, uint32_t *after)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (!wsdbg_event_is_arrival(uses[i].event) || uses[i].round != end->round)
            continue;
        if (uses[i].event->gpu_time_ns > end->event->gpu_time_ns + WSDBG_TIME_SLACK_NS)
            ++*after;
        else
            ++*before;
    }
}

/* Nothing waited for has ended yet: on a named barrier with whole records the arrivals themselves are all there is. */
static bool first_round_counts(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    if (!c->all_whole || !stage->name)
        return false;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (wsdbg_event_is_arrival(uses[i].event) && uses[i].round == WSDBG_NONE)
            return false;
    return true;
}

/* 0: a wait needs the arrivals of its own round; 1: of the round before.  False = assumed, nothing shows it. */
static bool find_lag(const struct wsdbg_case *c, const struct wsdbg_stage *waited, uint32_t *lag)
{
    *lag = 0;
    if (waited->name && waited->name->first_free) {
        *lag = 1;
        return true;
    }
    uint32_t before = 0, after = 0;
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        if (!same_family(stage, waited))
            continue;
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage), *newest = NULL;
        for (uint32_t i = 0; i < stage->use_count; i++) {
            if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && uses[i].round != WSDBG_NONE)
                newest = &uses[i];
            if (newest && (i + 1 == stage->use_count || uses[i + 1].warp != uses[i].warp)) {
                compare_newest_wait(c, stage, newest, &before, &after);
                newest = NULL;
            }
        }
    }
    *lag = after > 0 && before == 0;
    if (after == 0 && before == 0)
        return first_round_counts(c, waited);
    return (after > 0) != (before > 0);
}

static void sum_round(const struct wsdbg_case *c, const struct wsdbg_stage *stage, struct wsdbg_round *round)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++) {
        const struct wsdbg_history_event *event = uses[i].event;
        if (uses[i].round == WSDBG_NONE)
            continue;
        if (uses[i].round > round->tag)
            round->later_arrivals += wsdbg_event_arrivals(event);
        if (uses[i].round != round->tag)
            continue;
        if (wsdbg_event_is_arrival(event)) {
            round->arrivals += wsdbg_event_arrivals(event);
            wsdbg_set_add(&round->arrived, uses[i].warp);
        }
        if (wsdbg_event_is_expect(event)) {
            round->expected_bytes += event->value;
            wsdbg_set_add(&round->expected, uses[i].warp);
        }
        if (event->kind == WSDBG_EVENT_TMA_ISSUE)
            round->issued_bytes += WSDBG_TMA_BYTES(event->value);
    }
}

/* A wait has ended although its round has too few arrivals by this count: some warp makes several in one round. */
static bool counting_is_wrong(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t lag)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count && !stage->tagged && stage->init.known; i++) {
        struct wsdbg_round ended = {.tag = uses[i].round - lag};
        if (uses[i].event->kind != WSDBG_EVENT_MBARRIER_WAIT_END || uses[i].round == WSDBG_NONE || uses[i].round < lag)
            continue;
        sum_round(c, stage, &ended);
        if (ended.arrivals < stage->init.value)
            return true;
    }
    return false;
}

static struct wsdbg_round work_out(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    struct wsdbg_round round = {.iteration = WSDBG_NO_ITERATION};
    if (wait->round == WSDBG_NONE)
        return round;
    round.known = true;
    round.round = wait->round;
    uint32_t lag;
    round.certain = find_lag(c, wait->stage, &lag);
    if (wait->round < lag) {
        round.passes_by_design = wait->stage->name && wait->stage->name->first_free;
        return round;
    }
    if (counting_is_wrong(c, wait->stage, lag))
        return round;
    round.needs_known = true;
    round.tag = wait->round - lag;
    round.of_its_parity = (round.tag & 1) == wait->event->parity;
    if (wait->stage->tagged)
        round.iteration = round.tag * wait->stage->stages + wait->stage->stage;
    round.covered = wsdbg_case_covers(c, wait->stage, round.iteration);
    sum_round(c, wait->stage, &round);
    return round;
}

struct wsdbg_error *wsdbg_rounds_create(struct wsdbg_case *c)
{
    struct wsdbg_ledger *ledger = c->ledger;
    ledger->rounds = malloc((ledger->wait_count + 1) * sizeof *ledger->rounds);
    if (!ledger->rounds)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &ledger->waits[i];
        uint32_t same = 0;
        while (same < i && (ledger->waits[same].stage != wait->stage || ledger->waits[same].round != wait->round))
            same++;
        ledger->rounds[i] = same < i ? ledger->rounds[same] : work_out(c, wait);
    }
    return NULL;
}

struct wsdbg_round wsdbg_round_of(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    return c->ledger->rounds[wait - c->ledger->waits];
}

/* The rule that this warp kept in its earlier waits on the barrier. */
static bool parity_as_before(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t *parity)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        if (!same_family(stage, wait->stage))
            continue;
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        for (uint32_t i = 0; i < stage->use_count; i++) {
            if (uses[i].warp != wait->warp || uses[i].round == WSDBG_NONE ||
                uses[i].event->kind != WSDBG_EVENT_MBARRIER_WAIT_END)
                continue;
            *parity = (wait->round + uses[i].round + uses[i].event->parity) & 1;
            return true;
        }
    }
    return false;
}

bool wsdbg_right_parity(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t *parity, bool *declared)
{
    *declared = wait->stage->name && !c->snapshot->names_inferred;
    /* What is inferred of a barrier counts less than what the warp itself came through. */
    if (!*declared && parity_as_before(c, wait, parity))
        return true;
    if (!wait->stage->name)
        return false;
    *parity = (wait->round + (wait->stage->name->first_free ? 1 : 0)) & 1;
    return true;
}

static bool role_in(uint32_t roles, const struct wsdbg_warp_row *row)
{
    return row->role.known && row->role.value < 32 && (roles >> row->role.value & 1);
}

static bool warp_covers(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp, uint32_t iteration)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->history_count == 0)
        return false;
    if (row->history_whole)
        return true;
    if (stage->name && stage->name->arriving_roles && stage->name->waiting_roles && row->role.known &&
        !role_in(stage->name->arriving_roles | stage->name->waiting_roles, row))
        return true;
    /* Other barriers may count something else (tiles): only this barrier's own uses date the record. */
    for (uint32_t i = 0; i < row->history_count; i++) {
        const struct wsdbg_history_event *event = &c->snapshot->history[row->history_first + i];
        if (event->kind >= WSDBG_EVENT_MBARRIER_WAIT_BEGIN && event->kind <= WSDBG_EVENT_TMA_ISSUE &&
            event->barrier == stage->id && event->iteration != WSDBG_NO_ITERATION)
            return event->iteration < iteration;
    }
    return false;
}

bool wsdbg_case_covers(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t iteration)
{
    if (c->all_whole)
        return true;
    if (!c->all_seen || iteration == WSDBG_NO_ITERATION)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (!warp_covers(c, stage, w, iteration))
            return false;
    return true;
}

/* Completed rounds of one stage: those followed by arrivals of a later round.  False where they disagree. */
static bool agree_on_arrivals(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t *needed,
                              uint32_t *rounds)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint32_t newest = 0, oldest = WSDBG_NONE;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (!wsdbg_event_is_arrival(uses[i].event) || uses[i].round == WSDBG_NONE)
            continue;
        newest = uses[i].round > newest ? uses[i].round : newest;
        oldest = uses[i].round < oldest ? uses[i].round : oldest;
    }
    for (uint32_t tag = oldest; tag < newest && newest - oldest <= WSDBG_HISTORY_DEPTH_MAX; tag++) {
        uint32_t sum = 0;
        if (!wsdbg_case_covers(c, stage, tag * stage->stages + stage->stage))
            continue;
        for (uint32_t i = 0; i < stage->use_count; i++)
            sum += uses[i].round == tag ? wsdbg_event_arrivals(uses[i].event) : 0;
        if (sum == 0 || (*rounds > 0 && sum != *needed))
            return false;
        *needed = sum;
        ++*rounds;
    }
    return true;
}

static void infer_family(struct wsdbg_case *c, uint32_t first)
{
    const struct wsdbg_stage *stage = &c->ledger->stages[first];
    uint32_t needed = 0, rounds = 0;
    for (uint32_t k = 0; k < c->ledger->stage_count; k++)
        if (same_family(&c->ledger->stages[k], stage) && !agree_on_arrivals(c, &c->ledger->stages[k], &needed, &rounds))
            return;
    if (rounds < 3)
        return;
    for (uint32_t k = first; k < c->ledger->stage_count; k++) {
        struct wsdbg_stage *other = &c->ledger->stages[k];
        if (!same_family(other, stage) || other->init.known || !other->tagged)
            continue;
        other->init = wsdbg_known_u32(needed);
        other->init_inferred = true;
    }
}

void wsdbg_infer_inits(struct wsdbg_case *c)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        bool first = !c->ledger->stages[s].init.known && c->ledger->stages[s].tagged;
        for (uint32_t k = 0; k < s && first; k++)
            first = !same_family(&c->ledger->stages[k], &c->ledger->stages[s]) || c->ledger->stages[k].init.known;
        if (first)
            infer_family(c, s);
    }
}

bool wsdbg_stage_comes_out_even(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    return c->all_whole && stage->init.value > 0 && stage->arrivals % stage->init.value == 0;
}

bool wsdbg_others_arrive_unseen(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage), *last = NULL;
    uint64_t passed = 0;
    for (uint32_t i = 0; i < stage->use_count && stage->tagged; i++) {
        if (uses[i].warp != wait->warp || uses[i].event->kind != WSDBG_EVENT_MBARRIER_WAIT_END)
            continue;
        passed += !last || uses[i].round > last->round;
        last = &uses[i];
    }
    return c->all_whole && passed > 1 && (passed - 1) * stage->init.value > stage->arrivals;
}

/* How far a role's waits on other barriers run ahead of its arrivals on this one.  Two counts that run
 * side by side keep a fixed distance; where it varies they count different things. */
struct distance {
    uint32_t samples;
    int64_t least, most;
};

struct advance {
    bool any_wait;
    uint32_t newest_wait; /* highest iteration of a wait on another barrier */
    bool any_arrival;
    uint32_t newest_arrival; /* highest iteration of an arrival on this one */
};

static struct advance follow_warp(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp,
                                  struct distance *distance)
{
    struct advance advance = {0};
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_history_event *event = &events[i];
        if (event->iteration == WSDBG_NO_ITERATION)
            continue;
        /* A wait that passed at once may have no begin. */
        const bool wait =
            event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || event->kind == WSDBG_EVENT_MBARRIER_WAIT_END;
        if (wait && event->barrier != stage->id) {
            if (!advance.any_wait || event->iteration > advance.newest_wait)
                advance.newest_wait = event->iteration;
            advance.any_wait = true;
        }
        if (!wsdbg_event_is_arrival(event) || event->barrier != stage->id)
            continue;
        advance.any_arrival = true;
        advance.newest_arrival = event->iteration;
        if (!advance.any_wait)
            continue;
        const int64_t ahead = (int64_t)advance.newest_wait - event->iteration;
        distance->least = distance->samples && distance->least < ahead ? distance->least : ahead;
        distance->most = distance->samples && distance->most > ahead ? distance->most : ahead;
        distance->samples++;
    }
    return advance;
}

static bool same_role(const struct wsdbg_warp_row *a, const struct wsdbg_warp_row *b)
{
    return a->cta == b->cta && a->role.known && b->role.known && a->role.value == b->role.value;
}

static struct advance follow_role(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp,
                                  struct distance *distance)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (w != warp && same_role(wsdbg_case_warp(c, w), row))
            follow_warp(c, stage, w, distance);
    return follow_warp(c, stage, warp, distance);
}

/* Two samples at one distance or three within one step: a release that lags behind by one still counts alike.  A
 * wait that is recorded after the arrival of its iteration, or not always, says nothing about the next arrival. */
static bool runs_alongside(const struct distance *distance)
{
    if (distance->least < 0)
        return false;
    const int64_t spread = distance->most - distance->least;
    return (distance->samples >= 2 && spread == 0) || (distance->samples >= 3 && spread == 1);
}

enum wsdbg_contribution wsdbg_contribution(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                           const struct wsdbg_round *round, uint32_t warp)
{
    if (wsdbg_set_has(&round->arrived, warp))
        return WSDBG_ARRIVED;
    const bool exited = wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED;
    struct distance distance = {0};
    /* Of another CTA, and never seen to arrive here: it may have a share, when is not known. */
    const struct wsdbg_warp_set arrivers = wsdbg_family_arrivers(c, wait->stage->cta, wait->stage->id);
    if (wsdbg_case_warp(c, warp)->cta != wait->stage->cta && !wsdbg_set_has(&arrivers, warp))
        return exited ? WSDBG_NEVER_ARRIVES : WSDBG_TO_COME;
    const struct advance advance = follow_role(c, wait->stage, warp, &distance);
    const bool alongside = runs_alongside(&distance);
    if (round->iteration == WSDBG_NO_ITERATION)
        return exited ? WSDBG_EXITED_BEFORE : WSDBG_TO_COME;
    if (advance.any_arrival && advance.newest_arrival > round->iteration)
        return WSDBG_SKIPPED;
    if (alongside && advance.any_wait && (int64_t)advance.newest_wait > round->iteration + distance.most)
        return WSDBG_SKIPPED;
    if (exited && alongside && advance.any_wait && (int64_t)advance.newest_wait - distance.least >= round->iteration)
        return WSDBG_SKIPPED;
    if (!advance.any_arrival && !advance.any_wait)
        return WSDBG_NEVER_ARRIVES;
    return exited ? WSDBG_EXITED_BEFORE : WSDBG_TO_COME;
}

struct wsdbg_warp_set wsdbg_arrivers(const struct wsdbg_case *c, const struct wsdbg_stage *stage, bool *declared)
{
    struct wsdbg_warp_set set = wsdbg_family_arrivers(c, stage->cta, stage->id);
    *declared = stage->name && stage->name->arriving_roles != 0;
    const bool peers = *declared && wsdbg_peers_may_arrive(c, stage->id);
    for (uint32_t w = 0; w < c->warp_count && *declared; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if ((peers || row->cta == stage->cta) && role_in(stage->name->arriving_roles, row))
            wsdbg_set_add(&set, w);
    }
    return set;
}

uint32_t wsdbg_usual_arrivals(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (wsdbg_event_is_arrival(&events[i]) && events[i].barrier == stage->id)
            return wsdbg_event_arrivals(&events[i]);
    return 0;
}

static uint32_t arrivals_of(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                            const struct wsdbg_round *round, uint32_t warp)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < stage->use_count; i++)
        sum += uses[i].warp == warp && uses[i].round == round->tag ? wsdbg_event_arrivals(uses[i].event) : 0;
    return sum;
}

struct wsdbg_torn wsdbg_round_torn(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                                   const struct wsdbg_round *round, uint32_t missing)
{
    const struct wsdbg_torn none = {WSDBG_NONE, 0, 0};
    struct wsdbg_torn torn = none;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&round->arrived, w))
            continue;
        const uint32_t lanes = wsdbg_case_lanes_at_launch(c, w);
        const uint32_t threads = lanes ? (uint32_t)__builtin_popcount(lanes) : WSDBG_WARP_THREADS;
        const uint32_t arrived = arrivals_of(c, stage, round, w);
        if (arrived == threads)
            continue;
        if (torn.warp != WSDBG_NONE || arrived > threads || threads - arrived != missing)
            return none;
        torn = (struct wsdbg_torn){w, arrived, threads};
    }
    return wsdbg_set_count(&round->arrived) > 1 ? torn : none;
}
