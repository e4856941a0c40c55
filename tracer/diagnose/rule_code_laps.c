/* rule_code_laps.c - a loop that announces bytes goes round more or less often than the loop of another warp that
 * copies them.
 *
 * Reads: walks, the picture.  Adds: ROLE_DISAGREE.
 *
 * One barrier that lacks bytes may lack a copy.  Several barriers may each lack the same number of whole rounds, from
 * the kernel's start to its end.  Then the trip counts of two loops differ, if one warp announces, another one copies,
 * and every other barrier gets what is announced.
 * Or one warp announces and copies a part, and another warp copies the rest.  If the first one leaves out whole rounds
 * for which the second one copies, their trip counts differ, too.
 * A finding is added only if a replay of the walks (replay.h) ends in the picture.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* What is announced on a barrier and copied to it, from the kernel's start to its end. */
struct total {
    int64_t announced, copied;
    int64_t copied_along; /* by agents that announce there, too */
    int64_t of_round;     /* what each announcement says; 0: they differ */
    uint32_t by, from;    /* warps: who announces, and who else copies; WSDBG_NONE: nobody */
    /* Several threads announce, or several other warps copy, or the walk of one of them is not known to its end. */
    bool is_unclear;
};

static void add_announced(struct total *total, uint32_t warp, int64_t bytes)
{
    total->of_round = total->announced == 0 || total->of_round == bytes ? bytes : 0;
    total->announced += bytes;
    total->by = warp;
}

static void add_agent(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier,
                      struct total *total)
{
    int64_t announced = 0, copied = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const struct wsdbg_step_row *step = &agent->steps[k];
        if (wsdbg_replay_is_copy_to(replay, agent, k, barrier)) {
            const int64_t bytes = step->number_known ? (int64_t)step->number : replay->barriers[barrier].copy_bytes;
            copied += bytes * agent->lane_count;
        } else if (agent->target[k] == barrier && wsdbg_replay_announces(step)) {
            announced += (int64_t)step->number * agent->lane_count;
            add_announced(total, agent->warp, (int64_t)step->number * agent->lane_count);
        }
    }
    total->is_unclear |= announced > 0 && announced < total->announced;
    total->is_unclear |= announced + copied > 0 && !wsdbg_walk_is_known(&replay->c->snapshot->walks[agent->walk]);
    total->copied += copied;
    total->copied_along += announced ? copied : 0;
    if (!copied || announced)
        return;
    /* The same warp of each CTA of a cluster may copy a part. */
    total->is_unclear |= total->from != WSDBG_NONE &&
                         wsdbg_case_warp(replay->c, total->from)->warp != wsdbg_case_warp(replay->c, agent->warp)->warp;
    total->from = agent->warp;
}

static struct total total_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct total total = {.by = WSDBG_NONE, .from = WSDBG_NONE};
    for (uint32_t i = 0; i < replay->agent_count; i++)
        add_agent(replay, &replay->agents[i], barrier, &total);
    return total;
}

/* ---- more is announced than copied ---- */

/* Whether one warp announces, and another one copies. */
static bool is_of_two(const struct total *total)
{
    return total->by != WSDBG_NONE && total->from != WSDBG_NONE && total->by != total->from;
}

/* Whether these are of one CTA.  A round that several CTAs copy together may look whole though one copy is missing. */
static bool are_of_one_cta(const struct wsdbg_case *c, const struct total *total)
{
    return is_of_two(total) && wsdbg_case_warp(c, total->from)->cta == wsdbg_case_warp(c, total->by)->cta;
}

/* Whether one warp announces just whole rounds more than another one copies. */
static bool lacks_whole_rounds(const struct wsdbg_case *c, const struct total *total)
{
    return total->copied > 0 && total->copied_along == 0 && total->copied < total->announced && total->of_round > 0 &&
           !total->is_unclear && total->copied % total->of_round == 0 && are_of_one_cta(c, total);
}

/* How many rounds are missing, as many on each of several barriers, and nothing else.  0 = it is not so. */
static uint32_t missing_laps(const struct wsdbg_replay *replay)
{
    uint32_t barriers = 0, laps = 0;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        const struct total total = total_of(replay, b);
        if (total.announced == total.copied)
            continue;
        const uint32_t missing =
            lacks_whole_rounds(replay->c, &total) ? (total.announced - total.copied) / total.of_round : 0;
        if (missing == 0 || (barriers++ > 0 && missing != laps))
            return 0;
        laps = missing;
    }
    return barriers > 1 ? laps : 0;
}

/* ---- more is copied than announced ---- */

/* What a round of a ring is made of. */
struct ring_round {
    int64_t announced, along; /* bytes that its announcement says, and of these what who announces copies itself */
    uint32_t by, from;        /* warps */
};

/* Learns it from a barrier of the ring that gets what is announced.  False: the rounds differ. */
static bool learn(const struct total *total, struct ring_round *round)
{
    const int64_t rounds = total->of_round ? total->announced / total->of_round : 0;
    if (rounds == 0 || total->is_unclear || !is_of_two(total) || total->copied_along % rounds)
        return false;
    const struct ring_round own = {total->of_round, total->copied_along / rounds, total->by, total->from};
    if (round->announced == 0)
        *round = own;
    return own.announced == round->announced && own.along == round->along && own.by == round->by &&
           own.from == round->from;
}

/* How many rounds of the barrier have only the copies of the one that does not announce; 0: it is not so. */
static uint32_t rounds_unannounced(const struct total *total, const struct ring_round *round)
{
    const int64_t other = total->copied - total->copied_along, of_other = round->announced - round->along;
    const int64_t rounds = total->announced / round->announced;
    const bool is_whole = total->announced % round->announced == 0 && total->copied_along == rounds * round->along &&
                          of_other > 0 && other % of_other == 0 && total->from == round->from;
    return is_whole && !total->is_unclear && other / of_other > rounds ? (uint32_t)(other / of_other - rounds) : 0;
}

/* How many rounds who announces leaves out altogether, on all stages of a barrier's ring in its CTA. */
static uint32_t rounds_left_out(const struct wsdbg_replay *replay, uint32_t barrier, struct ring_round *round)
{
    uint32_t sum = 0;
    *round = (struct ring_round){0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t b = 0; b < replay->barrier_count; b++) {
            if (replay->barriers[b].cta != replay->barriers[barrier].cta ||
                !wsdbg_replay_is_of_family(replay, b, barrier))
                continue;
            const struct total total = total_of(replay, b);
            const bool is_balanced = total.announced == total.copied;
            if (total.copied + total.announced == 0 || is_balanced != (pass == 0))
                continue;
            if (pass == 0 && !learn(&total, round))
                return 0;
            const uint32_t missing = pass && round->along ? rounds_unannounced(&total, round) : 0;
            if (pass && missing == 0)
                return 0;
            sum += missing;
        }
    return sum;
}

/* ---- both ---- */

/* The warps, and the rounds that each of them makes. */
struct laps {
    uint32_t announcer, copier;
    uint32_t announced, copied;
};

static void say(struct wsdbg_case *c, const struct laps *laps, uint32_t row, const struct wsdbg_phrase *object,
                const struct wsdbg_warp_set *waiters)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ROLE_DISAGREE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, laps->announcer)->cta, row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, laps->announcer)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s announces the bytes of %u rounds on %s from the kernel's start to its end, but %s copies those of "
                "%u. The loops of the roles have different trip counts.",
                wsdbg_say_warp(c, laps->announcer).text, laps->announced, object->text,
                wsdbg_say_warp(c, laps->copier).text, laps->copied);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the trip count once and use the same value in every role, the last and a partial tile "
                "included.");
    wsdbg_tell_waits(c, finding, waiters);
    wsdbg_tell_word(c, finding, row);
}

static struct wsdbg_warp_set waiters_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state == WSDBG_AGENT_WAITS && agent->target[agent->at] == barrier)
            wsdbg_set_add(&set, agent->warp);
    }
    return set;
}

/* A barrier that somebody waits on, with all arrivals, that lacks bytes. */
static bool judge_more(struct wsdbg_case *c, const struct wsdbg_replay *replay, uint32_t barrier,
                       const struct wsdbg_barrier_word *word, const struct wsdbg_warp_set *waiters)
{
    if (word->pending > 0 || word->bytes <= 0)
        return false;
    const struct total total = total_of(replay, barrier);
    const uint32_t laps = total.announced > total.copied ? missing_laps(replay) : 0;
    if (laps == 0)
        return false;
    const uint32_t rounds = total.announced / total.of_round, row = replay->barriers[barrier].row;
    const struct wsdbg_phrase object = wsdbg_say_object(c, row);
    say(c, &(struct laps){total.by, total.from, rounds, rounds - laps}, row, &object, waiters);
    return true;
}

/* The same, without its arrivals, that got bytes nobody announced. */
static bool judge_less(struct wsdbg_case *c, const struct wsdbg_replay *replay, uint32_t barrier,
                       const struct wsdbg_barrier_word *word, const struct wsdbg_warp_set *waiters)
{
    struct ring_round round;
    const uint32_t missing = word->pending > 0 && word->bytes < 0 ? rounds_left_out(replay, barrier, &round) : 0;
    if (missing == 0)
        return false;
    uint32_t announced = 0;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(replay, b, barrier) && replay->barriers[b].cta == replay->barriers[barrier].cta)
            announced += (uint32_t)(total_of(replay, b).announced / round.announced);
    const uint32_t row = replay->barriers[barrier].row;
    const struct wsdbg_phrase object = wsdbg_say_family(c, row);
    say(c, &(struct laps){round.by, round.from, announced, announced + missing}, row, &object, waiters);
    return true;
}

void wsdbg_rule_code_laps(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = c->still ? wsdbg_replay_standing(c) : NULL;
    for (uint32_t b = 0; replay && b < replay->barrier_count; b++) {
        struct wsdbg_barrier_word word;
        const struct wsdbg_warp_set waiters = waiters_of(replay, b);
        const uint32_t row = replay->barriers[b].row;
        if (wsdbg_set_count(&waiters) && row != WSDBG_NONE && wsdbg_word_of(c, row, &word) &&
            (judge_more(c, replay, b, &word, &waiters) || judge_less(c, replay, b, &word, &waiters)))
            return;
    }
}
