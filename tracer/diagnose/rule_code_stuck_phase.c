/* rule_code_stuck_phase.c - a thread that waits for the same parity in every round, though the barrier's phases go on.
 *
 * Reads: walks.  Adds: PARITY_DRIFT.
 *
 * Waits for one parity alone take every second phase of a barrier.  Where a thread waits about as often as there are
 * phases, from the kernel's start to its end, half of its waits are let through too early.  Who overtakes whom is then
 * a race.  A replay of the walks seldom ends in the picture then, so the rule needs no replay.  Instead it asks that
 * such a thread waits, or that somebody waits for what it does.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

enum { WAITS_LEAST = 4 };

static bool is_wait(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t barrier)
{
    return agent->target[step] == barrier && agent->steps[step].kind == WSDBG_ACCESS_WAIT;
}

/* Whether the step arrives on an mbarrier or copies to it. */
static bool serves(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return agent->target[step] != WSDBG_NONE &&
           (wsdbg_replay_arrivals_of(agent, step) > 0 || agent->steps[step].kind == WSDBG_ACCESS_COPY);
}

/* How many rounds an agent waits for on a barrier.  0 = the waits name both parities, or some two of them have no
 * arrival and no copy between. */
static uint32_t rounds_of_one_parity(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t *parity)
{
    uint32_t rounds = 0;
    bool has_served = true;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        has_served |= serves(agent, k);
        if (!is_wait(agent, k, barrier))
            continue;
        const struct wsdbg_step_row *step = &agent->steps[k];
        if (!step->number_known || !has_served || (rounds > 0 && (step->number & 1) != *parity))
            return 0;
        *parity = step->number & 1;
        rounds++;
        has_served = false;
    }
    return rounds;
}

/* How many phases of a barrier the arrivals of all threads complete.  0 = that is not known. */
static uint32_t phases_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint32_t init[2] = {WSDBG_NONE, WSDBG_NONE};
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (!wsdbg_replay_keeps_count(&replay->agents[i], barrier, init))
            return 0;
        arrivals += wsdbg_replay_arrivals_on(&replay->agents[i], barrier);
    }
    struct wsdbg_barrier_word word;
    const bool is_counted = wsdbg_word_of(replay->c, replay->barriers[barrier].row, &word) && word.expected > 0;
    return is_counted ? (uint32_t)(arrivals / word.expected) : 0;
}

/* The waits that name one parity alone. */
struct stuck_phase {
    uint32_t barrier, rounds, phases, parity;
    struct wsdbg_warp_set warps;
};

/* Finds a thread whose waits name one parity, and notes all warps that wait as it does. */
static bool find_stuck(const struct wsdbg_replay *replay, uint32_t barrier, struct stuck_phase *out)
{
    *out = (struct stuck_phase){.barrier = barrier, .phases = phases_of(replay, barrier)};
    for (uint32_t i = 0; i < replay->agent_count && out->phases; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        uint32_t parity = 0;
        const uint32_t rounds = rounds_of_one_parity(agent, barrier, &parity);
        if (rounds < WAITS_LEAST || rounds > out->phases + 1 || out->phases > rounds + 1 ||
            (out->rounds && (rounds != out->rounds || parity != out->parity)))
            continue;
        out->rounds = rounds;
        out->parity = parity;
        wsdbg_set_add(&out->warps, agent->warp);
    }
    return wsdbg_set_count(&out->warps) > 0;
}

/* Whether these warps wait, or somebody waits for them: on a barrier on which they arrive, or to which they copy. */
static bool holds_up(const struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct stuck_phase *stuck)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (!wsdbg_case_stuck(c, w) || !wsdbg_code_wait(c, w, &word))
            continue;
        if (wsdbg_set_has(&stuck->warps, w))
            return true;
        for (uint32_t i = 0; i < replay->agent_count; i++)
            for (uint32_t k = 0;
                 wsdbg_set_has(&stuck->warps, replay->agents[i].warp) && k < replay->agents[i].step_count; k++)
                if (serves(&replay->agents[i], k) && replay->barriers[replay->agents[i].target[k]].row == word.barrier)
                    return true;
    }
    return false;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct stuck_phase *stuck)
{
    const struct wsdbg_replay_barrier *barrier = &replay->barriers[stuck->barrier];
    const uint32_t first = wsdbg_first_of(&stuck->warps);
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_PARITY_DRIFT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), c->ctas[barrier->cta], barrier->row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s %u times on %s from the kernel's start to its end, each time for parity %u, though the "
                "barrier goes through %u phases, whose parities alternate. So every second wait is let through too "
                "early.",
                wsdbg_say_warps(c, &stuck->warps).text, wsdbg_set_count(&stuck->warps) == 1 ? "s" : "", stuck->rounds,
                wsdbg_say_object(c, barrier->row).text, stuck->parity, stuck->phases);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Flip the phase bit of %s when the stage index wraps, and keep it across tiles.",
                wsdbg_say_family(c, barrier->row).text);
    wsdbg_tell_wait(c, finding, first);
    wsdbg_tell_word(c, finding, barrier->row);
}

void wsdbg_rule_code_stuck_phase(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay = wsdbg_replay_of_still(c);
    for (uint32_t b = 0; replay && b < replay->barrier_count; b++) {
        struct stuck_phase stuck;
        if (replay->barriers[b].row == WSDBG_NONE || !find_stuck(replay, b, &stuck) || !holds_up(c, replay, &stuck))
            continue;
        say(c, replay, &stuck);
        break;
    }
    wsdbg_replay_destroy(replay);
}
