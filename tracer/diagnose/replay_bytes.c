/* replay_bytes.c - how many bytes a copy of unknown size is taken to bring.  See replay.h.
 *
 * Reads: the agents' steps.  Writes: copy_bytes of each mbarrier.  A round is what an agent announces, and the copies
 * that it issues until it announces the next one.
 */
#include "diagnose/replay.h"

#include <stdlib.h>

enum { VOTES_MOST = 8 };

/* What rounds of a barrier announce for a copy. */
struct votes {
    int64_t bytes[VOTES_MOST];
    uint32_t count[VOTES_MOST];
    uint32_t values, all;
};

static void vote(struct votes *votes, int64_t bytes, uint32_t rounds)
{
    uint32_t i = 0;
    votes->all += rounds;
    while (i < votes->values && votes->bytes[i] != bytes)
        i++;
    if (i == VOTES_MOST)
        return;
    votes->values += i == votes->values;
    votes->bytes[i] = bytes;
    votes->count[i] += rounds;
}

/* What more than half of at least three rounds announce; 0: there is no such number. */
static int64_t winner_of(const struct votes *votes)
{
    for (uint32_t i = 0; i < votes->values; i++)
        if (2 * votes->count[i] > votes->all && votes->all >= 3)
            return votes->bytes[i];
    return 0;
}

bool wsdbg_replay_is_copy_to(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                             uint32_t barrier)
{
    const struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    const struct wsdbg_step_row *step = &agent->steps[at];
    if (step->kind != WSDBG_ACCESS_COPY)
        return false;
    if (step->mask == 0)
        return agent->target[at] == barrier;
    return step->address == b->offset && wsdbg_replay_copies_to(replay, step, b->cta);
}

/* Bytes announced and copies issued, less the bytes of copies whose size is known. */
struct round {
    int64_t announced, copies;
    uint32_t announcements;
};

static void add_step(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                     uint32_t barrier, struct round *round)
{
    const struct wsdbg_step_row *step = &agent->steps[at];
    const int64_t bytes = (int64_t)step->number * agent->lane_count;
    if (agent->target[at] == barrier && wsdbg_replay_announces(step)) {
        round->announced += bytes;
        round->announcements++;
    } else if (!wsdbg_replay_is_copy_to(replay, agent, at, barrier)) {
        return;
    } else if (step->number_known) {
        round->announced -= bytes;
    } else {
        round->copies += agent->lane_count;
    }
}

static struct round all_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    struct round round = {0};
    for (uint32_t k = 0; k < agent->step_count; k++)
        add_step(replay, agent, k, barrier, &round);
    return round;
}

int64_t wsdbg_replay_bytes_never_copied(const struct wsdbg_replay *replay, uint32_t barrier)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct round round = all_of(replay, &replay->agents[i], barrier);
        bytes += round.announced - round.copies * replay->barriers[barrier].copy_bytes;
    }
    return bytes;
}

static void end_round(struct votes *votes, const struct round *round, int64_t copies_of_others)
{
    const int64_t copies = round->copies + copies_of_others;
    if (round->announced > 0 && copies > 0 && round->announced % copies == 0)
        vote(votes, round->announced / copies, 1);
}

/* The rounds of one agent.  To each of them belongs an equal share of the copies of those who announce nothing. */
static void count_rounds(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier,
                         int64_t copies_of_others, struct votes *votes)
{
    const uint32_t rounds = all_of(replay, agent, barrier).announcements;
    struct round round = {0};
    if (!rounds)
        return;
    const int64_t share = (copies_of_others + rounds / 2) / rounds;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (agent->target[k] == barrier && wsdbg_replay_announces(&agent->steps[k]) && round.copies) {
            end_round(votes, &round, share);
            round = (struct round){0};
        }
        add_step(replay, agent, k, barrier, &round);
    }
    end_round(votes, &round, share);
}

static struct votes votes_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct votes votes = {0};
    int64_t copies_of_others = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct round round = all_of(replay, &replay->agents[i], barrier);
        copies_of_others += round.announcements ? 0 : round.copies;
    }
    for (uint32_t i = 0; i < replay->agent_count; i++)
        count_rounds(replay, &replay->agents[i], barrier, copies_of_others, &votes);
    return votes;
}

static int64_t mean_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct round sum = {0};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct round round = all_of(replay, &replay->agents[i], barrier);
        sum.announced += round.announced;
        sum.copies += round.copies;
    }
    return sum.copies && sum.announced > 0 && sum.announced % sum.copies == 0 ? sum.announced / sum.copies : 0;
}

/* By the rounds of the barrier alone, or, if they do not agree, of its family. */
static int64_t majority_of(const struct wsdbg_replay *replay, uint32_t barrier, const struct votes *votes,
                           bool of_family)
{
    struct votes family = {0};
    if (winner_of(&votes[barrier]) || !of_family)
        return winner_of(&votes[barrier]);
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        for (uint32_t i = 0; i < votes[b].values && wsdbg_replay_is_of_family(replay, barrier, b); i++)
            vote(&family, votes[b].bytes[i], votes[b].count[i]);
    return winner_of(&family);
}

/* NULL where memory is short. */
static struct votes *votes_of_all(const struct wsdbg_replay *replay)
{
    struct votes *votes = calloc(replay->barrier_count + 1, sizeof *votes);
    for (uint32_t b = 0; votes && b < replay->barrier_count; b++)
        if (replay->barriers[b].bytes_unknown)
            votes[b] = votes_of(replay, b);
    return votes;
}

bool wsdbg_replay_share_bytes(struct wsdbg_replay *replay, enum wsdbg_replay_shares shares)
{
    bool any = false;
    struct votes *votes = shares == WSDBG_SHARES_EQUAL ? NULL : votes_of_all(replay);
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        struct wsdbg_replay_barrier *barrier = &replay->barriers[b];
        const int64_t majority =
            barrier->bytes_unknown && votes ? majority_of(replay, b, votes, shares == WSDBG_SHARES_OF_FAMILY) : 0;
        const int64_t bytes = majority ? majority : barrier->bytes_unknown ? mean_of(replay, b) : 0;
        any |= bytes != barrier->copy_bytes;
        barrier->copy_bytes = bytes;
    }
    free(votes);
    replay->shares = shares;
    return any;
}
