/* rule_code_steps.c - a wait that asks for a later phase than the other waits of its thread do.
 *
 * Reads: walks, the picture, a replay that ends in it.  Adds: PARITY_WRONG, PARITY_DRIFT.
 *
 * A thread that goes round a ring of stages waits on one barrier of a stage, and serves another one: a producer waits
 * until the slot is empty, and arrives or copies on "full".  In round n of each stage it waits for the same phase, n
 * for a producer and n + 1 for a consumer, and has served n times.  Where it asks for a later phase at one wait, though
 * it has served as often as at the others, nobody is meant to complete this phase yet: the wait's parity is wrong.
 * Threads that leave the kernel too early, rounds that differ between roles and arrivals that are missing do not change
 * what a thread asks for.
 */
#include <stdlib.h>

#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

enum { DISTANCES_MOST = 16, WAITS_LEAST = 2 };

/* What an agent has done with one barrier so far. */
struct use {
    uint32_t beside;     /* the barrier at the distance; WSDBG_NONE = there is none */
    uint32_t phases;     /* that it has waited for.  A first wait for parity 1 ends at once */
    uint32_t rounds;     /* waits */
    uint32_t served;     /* times.  All that it does there between two of its waits is once */
    uint32_t waits_then; /* all its waits, when it served last */
    bool parity;         /* of the last wait; at first 1 */
    bool is_served;      /* in its whole walk */
    bool is_waited;      /* ... the agent waits on it */
};

/* The wait at which an agent stands, and its waits before. */
struct out_of_step {
    const struct wsdbg_replay *replay;
    const struct wsdbg_replay_agent *agent;
    struct use *uses; /* by barrier */
    int64_t distance; /* from the barrier that it waits on to the one that it serves; bytes */
    uint32_t beside;  /* the barrier that it would serve; of the replay */
    uint32_t phases;  /* that it has waited for, this wait included */
    uint32_t served;  /* times */
    int32_t ahead;    /* phases less rounds at its waits on other stages */
    int32_t serves;   /* times less rounds there */
    uint32_t waits;   /* how many these are */
};

static const struct wsdbg_replay_barrier *barrier_of(const struct out_of_step *o, uint32_t step)
{
    return &o->replay->barriers[o->agent->target[step]];
}

static bool is_wait(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return agent->steps[step].kind == WSDBG_ACCESS_WAIT && agent->target[step] != WSDBG_NONE && !agent->repeats[step];
}

static bool serves(const struct out_of_step *o, uint32_t step)
{
    const uint8_t kind = o->agent->steps[step].kind;
    return o->agent->target[step] != WSDBG_NONE && barrier_of(o, step)->cta == o->agent->cta &&
           (wsdbg_replay_arrivals_of(o->agent, step) > 0 || kind == WSDBG_ACCESS_COPY || kind == WSDBG_ACCESS_EXPECT);
}

/* ---- the distance ---- */

struct distance {
    int64_t bytes;
    uint32_t barrier, times; /* how many waits have it, one of them on this barrier */
    bool of_two;             /* ... and another one on another barrier */
};

/* The row of a distance, or a new one; NULL = there is no room. */
static struct distance *row_of(struct distance *rows, uint32_t *count, int64_t bytes, uint32_t barrier)
{
    for (uint32_t i = 0; i < *count; i++)
        if (rows[i].bytes == bytes)
            return &rows[i];
    if (*count == DISTANCES_MOST)
        return NULL;
    rows[*count] = (struct distance){.bytes = bytes, .barrier = barrier};
    return &rows[(*count)++];
}

/* The distance that most waits have to what is served next; false: none has two of them, on different barriers. */
static bool find_distance(struct out_of_step *o)
{
    struct distance rows[DISTANCES_MOST];
    const struct distance *best = NULL;
    uint32_t count = 0, served = WSDBG_NONE;
    for (uint32_t k = o->agent->at; k-- > 0;) {
        if (serves(o, k))
            served = k;
        if (!is_wait(o->agent, k) || served == WSDBG_NONE || o->agent->target[k] == o->agent->target[served])
            continue;
        const int64_t bytes = (int64_t)barrier_of(o, served)->offset - barrier_of(o, k)->offset;
        struct distance *row = row_of(rows, &count, bytes, o->agent->target[k]);
        if (!row)
            continue;
        row->times++;
        row->of_two |= row->barrier != o->agent->target[k];
        if (row->of_two && (!best || row->times > best->times))
            best = row;
    }
    o->distance = best ? best->bytes : 0;
    return best != NULL;
}

/* ---- the agent's waits ---- */

static void begin_uses(struct out_of_step *o)
{
    const struct wsdbg_replay *replay = o->replay;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        const int64_t offset = replay->barriers[b].offset + o->distance;
        o->uses[b] = (struct use){.beside = WSDBG_NONE, .parity = true, .waits_then = WSDBG_NONE};
        if (replay->barriers[b].cta == o->agent->cta && offset >= 0 && offset <= UINT32_MAX)
            o->uses[b].beside = wsdbg_replay_barrier_at(replay, o->agent->cta, (uint32_t)offset);
    }
    for (uint32_t k = 0; k < o->agent->step_count; k++)
        if (o->agent->target[k] != WSDBG_NONE) {
            o->uses[o->agent->target[k]].is_served |= serves(o, k);
            o->uses[o->agent->target[k]].is_waited |= is_wait(o->agent, k);
        }
}

static bool takes_as_many(const struct out_of_step *o, uint32_t a, uint32_t b)
{
    return a != WSDBG_NONE && b != WSDBG_NONE && o->replay->barriers[a].expected == o->replay->barriers[b].expected;
}

/* Whether another barrier may be a stage of the ring that the agent stands in: it takes as many arrivals, and so does
 * the one beside it.  Names do not tell that: a mistake may part the stages. */
static bool is_alike(const struct out_of_step *o, uint32_t barrier)
{
    const uint32_t at = o->agent->target[o->agent->at];
    return barrier != at && takes_as_many(o, barrier, at) && takes_as_many(o, o->uses[barrier].beside, o->beside);
}

/* Takes a wait on another stage; false where it differs from those before. */
static bool take_other(struct out_of_step *o, const struct use *use)
{
    const struct use *other = use->beside == WSDBG_NONE ? NULL : &o->uses[use->beside];
    if (!other || !other->is_served)
        return true;
    const int32_t ahead = (int32_t)use->phases - (int32_t)use->rounds,
                  serves = (int32_t)other->served - (int32_t)use->rounds;
    if (o->waits++ > 0 && (ahead != o->ahead || serves != o->serves))
        return false;
    o->ahead = ahead;
    o->serves = serves;
    return true;
}

static void serve(struct use *use, uint32_t waits)
{
    use->served += use->waits_then != waits;
    use->waits_then = waits;
}

/* Counts what the agent does up to its standstill.  False: some parity is not known, or its waits on other stages
 * differ from each other. */
static bool follow(struct out_of_step *o)
{
    const struct wsdbg_replay_agent *agent = o->agent;
    uint32_t waits = 0;
    for (uint32_t k = 0; k <= agent->at; k++) {
        struct use *use = agent->target[k] == WSDBG_NONE ? NULL : &o->uses[agent->target[k]];
        if (use && agent->steps[k].kind == WSDBG_ACCESS_WAIT) {
            const bool parity = agent->steps[k].number & 1;
            if (!agent->steps[k].number_known && (use->beside != WSDBG_NONE || k == agent->at))
                return false;
            use->phases += parity != use->parity;
            use->parity = parity;
        }
        if (use && is_wait(agent, k)) {
            if (is_alike(o, agent->target[k]) && !take_other(o, use))
                return false;
            use->rounds += k < agent->at;
            waits++;
        }
        if (use && k < agent->at && serves(o, k))
            serve(use, waits);
    }
    return o->waits >= WAITS_LEAST;
}

static bool is_out_of_step(struct out_of_step *o)
{
    const struct wsdbg_replay_agent *agent = o->agent;
    if (agent->state != WSDBG_AGENT_WAITS || agent->is_idle || barrier_of(o, agent->at)->cta != agent->cta ||
        !find_distance(o))
        return false;
    begin_uses(o);
    const struct use *use = &o->uses[agent->target[agent->at]];
    o->beside = use->beside;
    if (o->beside == WSDBG_NONE || o->uses[o->beside].is_waited || !follow(o))
        return false;
    o->phases = use->phases;
    o->served = o->uses[o->beside].served;
    return (int32_t)o->phases - (int32_t)use->rounds > o->ahead &&
           (int32_t)o->served - (int32_t)use->rounds == o->serves;
}

static struct wsdbg_phrase say_beside(const struct wsdbg_case *c, const struct out_of_step *o)
{
    const uint32_t row = o->replay->barriers[o->beside].row;
    struct wsdbg_phrase phrase = {"the barrier that it serves in turn"};
    return row == WSDBG_NONE ? phrase : wsdbg_say_object(c, row);
}

static void say(struct wsdbg_case *c, const struct out_of_step *o)
{
    const uint32_t warp = o->agent->warp, row = barrier_of(o, o->agent->at)->row;
    const uint32_t cta = c->ctas[o->agent->cta];
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, o->phases > 1 ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG,
                        wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), cta, row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for phase %u, and has arrived or copied %u time%s on %s. At all its %u waits on "
                "other stages it asks for phase %d when it has done that as often. So this wait asks for the wrong "
                "parity.",
                wsdbg_say_warp(c, warp).text, wsdbg_say_object(c, row).text, wsdbg_say_at(c, warp).text, o->phases,
                o->served, o->served == 1 ? "" : "s", say_beside(c, o).text, o->waits,
                (int32_t)o->served - o->serves + o->ahead);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Take the parity of every wait on %s from the same phase bit, which changes when the ring of stages "
                "begins anew.",
                wsdbg_say_family(c, row).text);
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_tell_word(c, finding, row);
}

/* Whether a barrier is of the ring on which the agent waits, or of the one that it serves. */
static bool is_of_rings(const struct out_of_step *o, uint32_t row)
{
    for (uint32_t b = 0; b < o->replay->barrier_count; b++)
        if (o->replay->barriers[b].row == row)
            return wsdbg_replay_is_of_family(o->replay, b, o->agent->target[o->agent->at]) ||
                   wsdbg_replay_is_of_family(o->replay, b, o->beside);
    return false;
}

/* Whether some wait on these rings is for a phase under way that has all its arrivals and lacks bytes, for good.  No
 * parity explains that. */
static bool lacks_only_bytes(const struct wsdbg_case *c, const struct out_of_step *o)
{
    struct wsdbg_barrier_word word;
    for (uint32_t w = 0; w < c->warp_count && c->still; w++)
        if (wsdbg_code_wait(c, w, &word) && word.pending == 0 && word.bytes > 0 && is_of_rings(o, word.barrier))
            return true;
    return false;
}

void wsdbg_rule_code_steps(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    struct use *uses = replay ? calloc((size_t)replay->barrier_count + 1, sizeof *uses) : NULL;
    c->no_memory |= replay && !uses;
    for (uint32_t i = 0; uses && i < replay->agent_count; i++) {
        struct out_of_step o = {.replay = replay, .agent = &replay->agents[i], .uses = uses};
        if (!is_out_of_step(&o) || barrier_of(&o, o.agent->at)->row == WSDBG_NONE || lacks_only_bytes(c, &o))
            continue;
        say(c, &o);
        break;
    }
    free(uses);
}
