/* rule_code_laps.c - a loop that announces bytes goes round more often than the loop of another warp that copies them.
 *
 * Reads: walks, the picture.  Adds: ROLE_DISAGREE.
 *
 * One barrier that lacks bytes may lack a copy.  But where several of them lack as many whole rounds each, from the
 * kernel's start to its end, where the warp that announces these never copies there, and where every other barrier gets
 * what is announced, the trip counts of two loops differ.
 * A finding is added only if a replay of the walks (replay.h) ends in the picture.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* What is announced on a barrier and copied to it, from the kernel's start to its end. */
struct total {
    int64_t announced, copied;
    int64_t of_round;   /* what each announcement says; 0: they differ */
    uint32_t by, from;  /* warps: who announces, and who copied last; WSDBG_NONE: nobody */
    bool is_of_several; /* several threads announce */
};

static void add_announced(struct total *total, uint32_t warp, int64_t bytes)
{
    total->of_round = total->announced == 0 || total->of_round == bytes ? bytes : 0;
    total->announced += bytes;
    total->by = warp;
}

static struct total total_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct total total = {.by = WSDBG_NONE, .from = WSDBG_NONE};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const int64_t before = total.announced;
        for (uint32_t k = 0; k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (wsdbg_replay_is_copy_to(replay, agent, k, barrier)) {
                const int64_t bytes = step->number_known ? (int64_t)step->number : replay->barriers[barrier].copy_bytes;
                total.copied += bytes * agent->lane_count;
                total.from = agent->warp;
            } else if (agent->target[k] == barrier && wsdbg_replay_announces(step)) {
                add_announced(&total, agent->warp, (int64_t)step->number * agent->lane_count);
            }
        }
        total.is_of_several |= before > 0 && total.announced > before;
    }
    return total;
}

/* Whether one warp announces just whole rounds more than another one copies. */
static bool lacks_whole_rounds(const struct total *total)
{
    return total->copied > 0 && total->copied < total->announced && total->of_round > 0 && !total->is_of_several &&
           total->copied % total->of_round == 0 && total->by != total->from;
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
            lacks_whole_rounds(&total) ? (total.announced - total.copied) / total.of_round : 0;
        if (missing == 0 || (barriers++ > 0 && missing != laps))
            return 0;
        laps = missing;
    }
    return barriers > 1 ? laps : 0;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, uint32_t barrier, uint32_t laps,
                const struct wsdbg_warp_set *waiters)
{
    const struct total total = total_of(replay, barrier);
    const uint32_t row = replay->barriers[barrier].row, rounds = total.announced / total.of_round;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ROLE_DISAGREE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, total.by)->cta, row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, total.by)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s announces the bytes of %u rounds on %s from the kernel's start to its end, but %s copies those of "
                "%u. The loops of the roles have different trip counts.",
                wsdbg_say_warp(c, total.by).text, rounds, wsdbg_say_object(c, row).text,
                wsdbg_say_warp(c, total.from).text, rounds - laps);
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

void wsdbg_rule_code_laps(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = c->still ? wsdbg_replay_standing(c) : NULL;
    const uint32_t laps = replay ? missing_laps(replay) : 0;
    for (uint32_t b = 0; laps && b < replay->barrier_count; b++) {
        struct wsdbg_barrier_word word;
        const struct total total = total_of(replay, b);
        const struct wsdbg_warp_set waiters = waiters_of(replay, b);
        const uint32_t row = replay->barriers[b].row;
        if (total.announced == total.copied || wsdbg_set_count(&waiters) == 0 || row == WSDBG_NONE ||
            !wsdbg_word_of(c, row, &word) || word.pending > 0 || word.bytes <= 0)
            continue;
        say(c, replay, b, laps, &waiters);
        return;
    }
}
