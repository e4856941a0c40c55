/* rule_code_balance.c - a wait on an mbarrier that gets more arrivals than its phases take.  Either the threads arrive
 * more often from the kernel's start to its end than the waits account for; or a phase takes one arrival of each that
 * arrives, and some make two without waiting between them; or other stages get as many arrivals too few, so that the
 * two sides count stages differently.  Or every phase gets as many arrivals, and they are fewer than it takes.
 *
 * Reads: walks, barrier words.  Adds: DOUBLE_ARRIVE, PARITY_DRIFT, ARRIVE_MISSING, ARRIVE_SHORT.
 *
 * It only counts, and so it needs no order of events.  Of an mbarrier on which a CTA arrives in other CTAs, too, it
 * says nothing: who arrives how often may depend on the rank.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

struct balance {
    struct wsdbg_case *c;
    struct wsdbg_barrier_word word;
    uint32_t cta, warp; /* of the wait */
    uint32_t offset;    /* of the mbarrier */
    uint64_t arrivals;  /* that the CTA's threads make */
    uint64_t most_by;   /* ... the most of one warp */
    uint32_t phases;    /* that the waits take */
    bool waits;         /* the waiting warp has a wait for a phase that arrivals complete */
    bool is_shared;     /* warps of other warpgroups wait, too */
    bool is_cut;        /* some of the waiting warp's lanes that also wait have left the kernel, maybe too early */
    struct wsdbg_warp_set most, by; /* who makes these; who arrives at all */
    uint64_t first_arrivals;        /* one of each lane */
    struct wsdbg_warp_set twice;    /* who arrives twice without waiting for anything between */
    bool at_once;                   /* between two waits each walk arrives as often as a phase takes, or not at all */
    bool is_habit;                  /* some walk does so in several steps, and never arrives otherwise */
    bool skips_waits;               /* some walk arrives several times before it waits for the last of these arrivals */
};

static bool is_of_mbarrier(const struct wsdbg_step_row *step)
{
    return step->kind < 32 && wsdbg_is_mbarrier_access(step->kind);
}

/* The arrivals of one lane in a step; *known = false where the step changes how many a phase takes. */
static uint32_t arrivals_of(const struct wsdbg_step_row *step, bool *known)
{
    *known = *known && step->kind != WSDBG_ACCESS_DROP && (step->kind != WSDBG_ACCESS_ARRIVE || step->number_known);
    if (step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_COPY_ARRIVE)
        return step->number;
    return step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? 1 : 0;
}

/* What a walk has done on the mbarrier so far. */
struct progress {
    const struct wsdbg_step_row *wait; /* the last one */
    uint32_t waits, first_parity;
    bool known, did_something; /* since the last wait */
    bool arrived;
    uint32_t steps_now;           /* that arrive, since the lanes waited for anything */
    uint64_t now;                 /* ... and their arrivals */
    uint32_t steps_since;         /* that arrive, since they waited on the mbarrier */
    bool whole_in_steps, in_part; /* they made all arrivals of a phase in several steps; or not all */
};

static void take_arrival(struct balance *b, const struct wsdbg_walk_row *walk, const struct wsdbg_step_row *step,
                         struct progress *progress, uint64_t *arrivals)
{
    const bool is_own = step->rank == WSDBG_STEP_OWN_RANK || step->rank == b->c->snapshot->ctas[b->cta].cluster_rank;
    const uint64_t all = (uint64_t)arrivals_of(step, &progress->known) * (unsigned)__builtin_popcount(walk->lanes);
    *arrivals += all;
    if (!all)
        return;
    progress->known &= is_own;
    if (!progress->arrived)
        b->first_arrivals += all;
    progress->arrived = true;
    progress->steps_now++;
    progress->steps_since++;
    progress->now += all;
}

/* The walk waits, or ends. */
static void end_arrivals(struct balance *b, const struct wsdbg_walk_row *walk, struct progress *progress)
{
    if (progress->steps_now > 1)
        wsdbg_set_add(&b->twice, wsdbg_case_local_warp(b->c, walk->warp));
    progress->in_part |= progress->steps_now > 0 && progress->now != b->word.expected;
    progress->whole_in_steps |= progress->steps_now > 1 && progress->now == b->word.expected;
    progress->steps_now = 0;
    progress->now = 0;
}

/* A wait whose parity is not known behind an arrival of the same threads waits for the phase of that arrival, which
 * gave them its token. */
static void take_wait(struct balance *b, const struct wsdbg_step_row *step, struct progress *progress)
{
    const uint32_t since = progress->steps_since;
    progress->steps_since = 0;
    if (!step->number_known && since > 0 && !progress->wait) {
        b->skips_waits |= since > 1;
        progress->waits++;
        return;
    }
    const bool is_same = progress->wait && (progress->wait->number & 1) == (step->number & 1);
    progress->known &= step->number_known && !(is_same && progress->did_something);
    progress->first_parity = progress->wait ? progress->first_parity : step->number & 1;
    progress->waits += !is_same;
    progress->wait = step;
    progress->did_something = false;
}

/* Adds what the walk does on the mbarrier.  False: its waits do not tell how many phases they take. */
static bool add_walk(struct balance *b, const struct wsdbg_walk_row *walk, uint64_t *arrivals)
{
    struct progress progress = {.known = wsdbg_walk_is_known(walk)};
    for (uint32_t i = 0; i < walk->step_count; i++) {
        const struct wsdbg_step_row *step = &b->c->snapshot->steps[walk->step_first + i];
        const bool waits = step->kind == WSDBG_ACCESS_WAIT;
        if (waits || step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_CLUSTER_WAIT ||
            step->kind == WSDBG_STEP_POLL)
            end_arrivals(b, walk, &progress);
        progress.did_something |= is_of_mbarrier(step) && !waits && step->kind != WSDBG_ACCESS_INIT;
        if (!is_of_mbarrier(step) || step->address != b->offset)
            continue;
        take_arrival(b, walk, step, &progress, arrivals);
        if (waits && step->rank == WSDBG_STEP_OWN_RANK)
            take_wait(b, step, &progress);
    }
    end_arrivals(b, walk, &progress);
    b->at_once &= !progress.in_part;
    b->is_habit |= progress.whole_in_steps && !progress.in_part;
    const bool waits = progress.waits > 0;
    const uint32_t phases = progress.waits > progress.first_parity ? progress.waits - progress.first_parity : 0;
    b->phases = phases > b->phases ? phases : b->phases;
    b->waits |= phases > 0 && walk->warp == b->c->warps[b->warp];
    b->is_shared |= waits && !wsdbg_case_are_mates(b->c, wsdbg_case_local_warp(b->c, walk->warp), b->warp) &&
                    walk->warp != b->c->warps[b->warp];
    b->is_cut |= waits && walk->warp == b->c->warps[b->warp] && walk->lanes & wsdbg_code_lanes_gone(b->c, b->warp);
    return progress.known;
}

static void add_warp(struct balance *b, uint32_t warp, uint64_t arrivals)
{
    b->arrivals += arrivals;
    if (arrivals)
        wsdbg_set_add(&b->by, warp);
    if (arrivals > b->most_by) {
        b->most_by = arrivals;
        b->most = (struct wsdbg_warp_set){{0}};
    }
    if (arrivals && arrivals == b->most_by)
        wsdbg_set_add(&b->most, warp);
}

/* False where not all of the CTA's threads are known to their end. */
static bool add_up(struct balance *b)
{
    const struct wsdbg_snapshot *s = b->c->snapshot;
    for (uint32_t w = 0; w < b->c->warp_count; w++) {
        uint64_t arrivals = 0;
        bool any = false;
        if (wsdbg_case_warp(b->c, w)->cta != b->cta)
            continue;
        for (size_t i = 0; i < s->walk_count; i++)
            if (s->walks[i].warp == b->c->warps[w]) {
                any = true;
                if (!add_walk(b, &s->walks[i], &arrivals))
                    return false;
            }
        if (!any)
            return false;
        add_warp(b, w, arrivals);
    }
    return true;
}

/* Arrivals for one phase more may be there: the last one need not be waited for.  If several warpgroups wait, each may
 * wait for other phases; and so may a thread that does not wait for each of its arrivals.  If lanes have left, more
 * waits may have been meant. */
static bool are_too_many(const struct balance *b)
{
    const uint64_t needed = (uint64_t)b->phases * b->word.expected;
    return !b->is_shared && !b->is_cut && !b->skips_waits && b->arrivals > needed + b->word.expected;
}

/* Whether the threads are known to have come to this standstill with every wait on the barrier ended by its own phase,
 * and to wait for the phase under way.  Then the arrivals too many are still to come, and end no wait too early. */
static bool are_in_step(const struct balance *b)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(b->c);
    const uint32_t barrier =
        replay ? wsdbg_replay_barrier_at(replay, wsdbg_case_cta(b->c, b->cta), b->offset) : WSDBG_NONE;
    for (uint32_t i = 0; barrier != WSDBG_NONE && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, i, barrier);
        const bool stands = agent->state == WSDBG_AGENT_WAITS && agent->target[agent->at] == barrier;
        if (waits->slipped ||
            (stands && waits->passed + 1 - waits->first_parity != replay->barriers[barrier].phase + 1))
            return false;
    }
    return barrier != WSDBG_NONE;
}

/* Whether a warp has left the kernel that never arrives, though its code may. */
static bool may_lack_an_arriver(const struct balance *b, const struct wsdbg_replay *replay, uint32_t barrier)
{
    const struct wsdbg_case *c = b->c;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED && !wsdbg_set_has(&b->by, w) &&
            wsdbg_code_could(c, w, WSDBG_KINDS_ARRIVAL, b->word.barrier) != WSDBG_CAN_NOT)
            return true;
    return wsdbg_replay_lacks_an_arriver(replay, barrier);
}

/* Whether the threads that arrive do so once for each phase that is waited for, and all together make fewer arrivals
 * than a phase takes; and none has completed. */
static bool are_too_few(const struct balance *b)
{
    const struct wsdbg_replay *replay = b->is_shared || b->is_cut ? NULL : wsdbg_replay_standing(b->c);
    const uint32_t barrier =
        replay ? wsdbg_replay_barrier_at(replay, wsdbg_case_cta(b->c, b->cta), b->offset) : WSDBG_NONE;
    return barrier != WSDBG_NONE && replay->barriers[barrier].phase == 0 && b->phases > 1 && b->first_arrivals > 0 &&
           b->first_arrivals < b->word.expected && b->arrivals == b->first_arrivals * b->phases &&
           !wsdbg_set_count(&b->twice) && !may_lack_an_arriver(b, replay, barrier);
}

/* The stages of a barrier in one CTA: what each gets and what its waits take, in phases. */
struct stages {
    uint32_t count;
    int64_t sum; /* of what all get beyond what the waits take */
    struct {
        uint32_t stage, gets, takes;
    } most, least;               /* those that get the most and the least beyond */
    struct wsdbg_warp_set whose; /* who arrives on the first of these most often */
};

static void add_stage(struct stages *stages, uint32_t stage, const struct balance *b)
{
    const uint32_t gets = (uint32_t)(b->arrivals / b->word.expected), takes = b->phases;
    const int64_t beyond = (int64_t)gets - takes;
    if (!stages->count || beyond > (int64_t)stages->most.gets - stages->most.takes) {
        stages->most.stage = stage;
        stages->most.gets = gets;
        stages->most.takes = takes;
        stages->whose = b->most;
    }
    if (!stages->count || beyond < (int64_t)stages->least.gets - stages->least.takes) {
        stages->least.stage = stage;
        stages->least.gets = gets;
        stages->least.takes = takes;
    }
    stages->sum += beyond;
    stages->count++;
}

/* False: of some stage it is not known, or the waits of several groups do not tell it. */
static bool read_stages(const struct balance *b, struct stages *stages)
{
    const struct wsdbg_barrier *rows = b->c->snapshot->barriers, *own = &rows[b->word.barrier];
    *stages = (struct stages){.count = 0};
    for (uint32_t i = 0; i < b->c->snapshot->barrier_count; i++) {
        struct balance stage = {.c = b->c, .warp = b->warp, .cta = b->cta};
        if (rows[i].cta != own->cta || rows[i].kind != own->kind || rows[i].id != own->id)
            continue;
        stage.offset = (uint32_t)rows[i].shared_offset.value;
        if (!rows[i].shared_offset.known || !wsdbg_word_of(b->c, i, &stage.word) || !stage.word.expected ||
            !add_up(&stage) || stage.is_shared || stage.is_cut || stage.skips_waits || wsdbg_set_count(&stage.twice))
            return false;
        add_stage(stages, rows[i].stage, &stage);
    }
    return true;
}

/* Whether one stage gets what another one lacks.  In a ring each gets just what the waits take or one phase more, which
 * need not be waited for. */
static bool differ_in_stages(const struct stages *stages)
{
    const int64_t most = (int64_t)stages->most.gets - stages->most.takes;
    const int64_t least = (int64_t)stages->least.gets - stages->least.takes;
    return stages->count > 1 && wsdbg_set_count(&stages->whose) && most - least > 1 && stages->sum >= 0 &&
           stages->sum <= stages->count;
}

/* The most that some thread of the warp waits, or arrives, on the mbarrier at an offset of its CTA. */
static uint32_t times_of(const struct balance *b, uint32_t warp, uint32_t offset, bool waits)
{
    const struct wsdbg_snapshot *s = b->c->snapshot;
    uint32_t most = 0;
    for (size_t i = 0; i < s->walk_count; i++) {
        uint32_t times = 0;
        bool known = true;
        for (uint32_t k = 0; k < s->walks[i].step_count && s->walks[i].warp == b->c->warps[warp]; k++) {
            const struct wsdbg_step_row *step = &s->steps[s->walks[i].step_first + k];
            if (is_of_mbarrier(step) && step->address == offset)
                times += waits ? step->kind == WSDBG_ACCESS_WAIT : arrivals_of(step, &known) > 0;
        }
        most = times > most ? times : most;
    }
    return most;
}

static uint32_t stage_of(const struct balance *b, uint32_t id, uint32_t stage)
{
    const struct wsdbg_snapshot *s = b->c->snapshot;
    const struct wsdbg_barrier *own = &s->barriers[b->word.barrier];
    for (uint32_t i = 0; i < s->barrier_count; i++)
        if (s->barriers[i].cta == own->cta && s->barriers[i].kind == own->kind && s->barriers[i].id == id &&
            s->barriers[i].stage == stage)
            return i;
    return WSDBG_NONE;
}

/* Whether the warp waits on each stage of another barrier, `id`, just as often as it arrives on that stage of this one.
 */
static bool is_alike(const struct balance *b, uint32_t warp, uint32_t id)
{
    const struct wsdbg_snapshot *s = b->c->snapshot;
    const struct wsdbg_barrier *own = &s->barriers[b->word.barrier];
    for (uint32_t stage = 0; stage_of(b, own->id, stage) != WSDBG_NONE; stage++) {
        const uint32_t mine = stage_of(b, own->id, stage), its = stage_of(b, id, stage);
        if (its == WSDBG_NONE || times_of(b, warp, (uint32_t)s->barriers[mine].shared_offset.value, false) !=
                                     times_of(b, warp, (uint32_t)s->barriers[its].shared_offset.value, true))
            return false;
    }
    return true;
}

/* Whether who arrives goes through the stages in its own order as a whole: its waits on another barrier have that
 * order, too.  Else only its arrivals go to the wrong stages. */
static bool waits_in_that_order(const struct balance *b, uint32_t warp)
{
    const struct wsdbg_snapshot *s = b->c->snapshot;
    const struct wsdbg_barrier *own = &s->barriers[b->word.barrier];
    for (uint32_t i = 0; i < s->barrier_count; i++)
        if (s->barriers[i].cta == own->cta && s->barriers[i].kind == own->kind && s->barriers[i].id != own->id &&
            is_alike(b, warp, s->barriers[i].id))
            return true;
    return false;
}

/* A warp that makes all arrivals of every fourth round, say, may do so in two steps. */
static bool may_be_whole_rounds(const struct balance *b)
{
    return b->at_once && b->arrivals % b->word.expected == 0 && !are_too_many(b);
}

static struct wsdbg_finding *find(const struct balance *b, enum wsdbg_cause cause, const struct wsdbg_warp_set *whose)
{
    struct wsdbg_case *c = b->c;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), b->cta, b->word.barrier);
    if (!finding)
        return NULL;
    finding->role = wsdbg_common_role(c, whose);
    wsdbg_print(finding->fix, sizeof finding->fix,
                cause == WSDBG_CAUSE_DOUBLE_ARRIVE
                    ? "Arrive once per warp and round on %s: remove one of the arrivals, or wait between them."
                : cause == WSDBG_CAUSE_ARRIVE_SHORT
                    ? "Initialise %s with the number of arrivals that a round makes, or let the missing threads arrive."
                    : "Let both sides of %s go through its stages in the same order, across tiles, too.",
                wsdbg_say_family(c, b->word.barrier).text);
    wsdbg_tell_wait(c, finding, b->warp);
    wsdbg_tell_word(c, finding, b->word.barrier);
    return finding;
}

static void say_too_many(const struct balance *b)
{
    struct wsdbg_case *c = b->c;
    struct wsdbg_finding *finding = find(b, WSDBG_CAUSE_DOUBLE_ARRIVE, &b->most);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s waits on %s%s, which gets more arrivals than its phases take: from the kernel's start to its "
                    "end there are %llu (most by %s), and the waits take %u phase%s of %u. A phase then completes too "
                    "early, and the waits are out of step with the barrier.",
                    wsdbg_say_warp(c, b->warp).text, wsdbg_say_object(c, b->word.barrier).text,
                    wsdbg_say_at(c, b->warp).text, (unsigned long long)b->arrivals, wsdbg_say_warps(c, &b->most).text,
                    b->phases, b->phases == 1 ? "" : "s", b->word.expected);
}

static void say_too_few(const struct balance *b)
{
    struct wsdbg_case *c = b->c;
    struct wsdbg_finding *finding = find(b, WSDBG_CAUSE_ARRIVE_SHORT, &b->by);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s is initialised for %u arrivals, but each of the %u phases that %s waits for%s gets only %llu "
                    "(by %s). So not even the first one completes.",
                    wsdbg_say_object(c, b->word.barrier).text, b->word.expected, b->phases,
                    wsdbg_say_warp(c, b->warp).text, wsdbg_say_at(c, b->warp).text,
                    (unsigned long long)b->first_arrivals, wsdbg_say_warps(c, &b->by).text);
}

static void say_stages(const struct balance *b, const struct stages *stages)
{
    struct wsdbg_case *c = b->c;
    const bool is_order = waits_in_that_order(b, wsdbg_first_of(&stages->whose));
    struct wsdbg_finding *finding =
        find(b, is_order ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_ARRIVE_MISSING, &stages->whose);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s waits on %s%s. All stages of %s together get the arrivals that the waits on them take, but "
                    "stage %u gets %u phases where the waits take %u, and stage %u gets %u where they take %u: %s %s.",
                    wsdbg_say_warp(c, b->warp).text, wsdbg_say_object(c, b->word.barrier).text,
                    wsdbg_say_at(c, b->warp).text, wsdbg_say_family(c, b->word.barrier).text, stages->most.stage,
                    stages->most.gets, stages->most.takes, stages->least.stage, stages->least.gets, stages->least.takes,
                    wsdbg_say_warps(c, &stages->whose).text,
                    is_order                               ? "and those who wait count the stages differently"
                    : wsdbg_set_count(&stages->whose) == 1 ? "arrives on the wrong stages"
                                                           : "arrive on the wrong stages");
}

static void say_twice(const struct balance *b)
{
    struct wsdbg_case *c = b->c;
    struct wsdbg_finding *finding = find(b, WSDBG_CAUSE_DOUBLE_ARRIVE, &b->twice);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s arrive%s twice on %s without waiting between, though a phase takes one arrival of each that "
                    "arrives, %u in all. A phase then completes too early, and %s waits out of step with it%s.",
                    wsdbg_say_warps(c, &b->twice).text, wsdbg_set_count(&b->twice) == 1 ? "s" : "",
                    wsdbg_say_object(c, b->word.barrier).text, b->word.expected, wsdbg_say_warp(c, b->warp).text,
                    wsdbg_say_at(c, b->warp).text);
}

void wsdbg_rule_code_balance(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct balance b = {.c = c, .warp = w, .cta = wsdbg_case_warp(c, w)->cta, .at_once = true};
        if (!wsdbg_case_stuck(c, w) || !wsdbg_code_wait(c, w, &b.word) || !b.word.expected)
            continue;
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b.word.barrier];
        if (row->cta != b.cta || !row->shared_offset.known)
            continue;
        b.offset = row->shared_offset.value;
        if (!add_up(&b) || !b.waits)
            continue;
        struct stages stages;
        if (read_stages(&b, &stages) && differ_in_stages(&stages))
            say_stages(&b, &stages);
        else if (wsdbg_set_count(&b.twice) && b.first_arrivals == b.word.expected && !b.is_habit &&
                 !may_be_whole_rounds(&b))
            say_twice(&b);
        else if (are_too_many(&b) && !are_in_step(&b))
            say_too_many(&b);
        else if (are_too_few(&b))
            say_too_few(&b);
        else
            continue;
        return;
    }
}
