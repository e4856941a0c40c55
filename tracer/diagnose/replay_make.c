/* replay_make.c - makes a replay from the walks of a case.  See replay.h.
 *
 * Reads: walks, steps, barriers.  Writes: the agents and the mbarriers that they name.
 */
#include "diagnose/replay.h"

#include <stdlib.h>

enum { AGENTS_MOST = 2048 };
#define CELLS_MOST ((size_t)1 << 20) /* agents x barriers */
#define STEPS_MOST ((size_t)1 << 22) /* of all agents */

/* ---- agents and barriers ---- */

static uint32_t cta_of_step(const struct wsdbg_case *c, uint32_t cta, const struct wsdbg_step_row *step)
{
    if (step->rank == WSDBG_STEP_OWN_RANK)
        return cta;
    for (uint32_t i = 0; i < c->cta_count; i++)
        if (c->snapshot->ctas[c->ctas[i]].cluster_rank == step->rank)
            return i;
    return WSDBG_NONE;
}

uint32_t wsdbg_replay_barrier_at(const struct wsdbg_replay *replay, uint32_t cta, uint32_t offset)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (replay->barriers[b].cta == cta && replay->barriers[b].offset == offset)
            return b;
    return WSDBG_NONE;
}

/* The first barrier of the family of the barrier with this row; the number of barriers = there is none yet. */
static uint32_t family_of(const struct wsdbg_replay *replay, uint32_t row)
{
    const struct wsdbg_barrier *rows = replay->c->snapshot->barriers;
    uint32_t b = 0;
    while (b < replay->barrier_count && (row == WSDBG_NONE || replay->barriers[b].row == WSDBG_NONE ||
                                         rows[replay->barriers[b].row].id != rows[row].id))
        b++;
    return b;
}

/* As wsdbg_replay_barrier_at, but adds a new one.  WSDBG_NONE: its CTA was not seen, or there are too many. */
static uint32_t barrier_at(struct wsdbg_replay *replay, uint32_t cta, uint32_t offset)
{
    const uint32_t known = cta == WSDBG_NONE ? WSDBG_NONE : wsdbg_replay_barrier_at(replay, cta, offset);
    if (known != WSDBG_NONE || cta == WSDBG_NONE || replay->barrier_count == WSDBG_REPLAY_BARRIERS_MOST)
        return known;
    const uint32_t row = wsdbg_case_mbarrier_at(replay->c, replay->c->ctas[cta], offset);
    replay->barriers[replay->barrier_count] =
        (struct wsdbg_replay_barrier){.cta = cta, .offset = offset, .row = row, .family = family_of(replay, row)};
    return replay->barrier_count++;
}

static bool mark_unknown_bytes(struct wsdbg_replay *replay, const struct wsdbg_step_row *step, uint32_t target)
{
    if (step->kind != WSDBG_ACCESS_COPY || step->number_known)
        return true;
    replay->barriers[target].bytes_unknown = true;
    for (uint32_t i = 0; i < replay->c->cta_count; i++)
        if (wsdbg_replay_copies_to(replay, step, i)) {
            const uint32_t other = barrier_at(replay, i, step->address);
            if (other == WSDBG_NONE)
                return false;
            replay->barriers[other].bytes_unknown = true;
        }
    return true;
}

/* False: some step names an mbarrier that cannot be added. */
static bool find_targets(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < agent->step_count; i++) {
        const struct wsdbg_step_row *step = &agent->steps[i];
        agent->target[i] = WSDBG_NONE;
        if (!wsdbg_is_mbarrier_access(step->kind))
            continue;
        agent->target[i] = barrier_at(replay, cta_of_step(replay->c, agent->cta, step), step->address);
        if (agent->target[i] == WSDBG_NONE || !mark_unknown_bytes(replay, step, agent->target[i]))
            return false;
    }
    return true;
}

/* ---- the replay ---- */

/* Counts the agents and steps of the case; false: some warp has no walk, or there are too many. */
static bool count_agents(const struct wsdbg_case *c, size_t *agents, size_t *steps)
{
    struct wsdbg_warp_set walked = {{0}};
    *agents = *steps = 0;
    for (size_t i = 0; i < c->snapshot->walk_count; i++) {
        const uint32_t warp = wsdbg_case_local_warp(c, c->snapshot->walks[i].warp);
        if (warp == WSDBG_NONE)
            continue;
        wsdbg_set_add(&walked, warp);
        *agents += 1;
        *steps += c->snapshot->walks[i].step_count;
    }
    return wsdbg_set_count(&walked) == c->warp_count && *agents <= AGENTS_MOST && *steps <= STEPS_MOST;
}

static bool polls(const struct wsdbg_snapshot *s, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < agent->step_count; i++)
        if (agent->steps[i].access < s->access_count && s->accesses[agent->steps[i].access].is_poll)
            return true;
    return false;
}

static bool add_agents(struct wsdbg_replay *replay)
{
    const struct wsdbg_case *c = replay->c;
    uint32_t *target = replay->targets;
    bool *repeats = replay->repeats, *is_taken = replay->is_taken;
    for (size_t i = 0; i < c->snapshot->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &c->snapshot->walks[i];
        const uint32_t warp = wsdbg_case_local_warp(c, walk->warp);
        if (warp == WSDBG_NONE)
            continue;
        struct wsdbg_replay_agent *agent = &replay->agents[replay->agent_count++];
        *agent = (struct wsdbg_replay_agent){.walk = (uint32_t)i,
                                             .warp = warp,
                                             .cta = wsdbg_case_cta(c, wsdbg_case_warp(c, warp)->cta),
                                             .lanes = walk->lanes,
                                             .lane_count = (uint32_t)__builtin_popcount(walk->lanes),
                                             .steps = c->snapshot->steps + walk->step_first,
                                             .step_count = walk->step_count,
                                             .stale_wait = WSDBG_NONE,
                                             .target = target,
                                             .repeats = repeats,
                                             .is_taken = is_taken};
        agent->polls = polls(c->snapshot, agent);
        target += walk->step_count;
        repeats += walk->step_count;
        is_taken += walk->step_count;
        if (!find_targets(replay, agent))
            return false;
    }
    return true;
}

struct wsdbg_error *wsdbg_replay_create(const struct wsdbg_case *c, struct wsdbg_replay **out)
{
    size_t agents, steps;
    *out = NULL;
    if (!c->all_seen || !count_agents(c, &agents, &steps))
        return NULL;
    struct wsdbg_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return &wsdbg_error_no_memory;
    replay->c = c;
    replay->steps_left = WSDBG_REPLAY_STEPS;
    replay->held_poll = WSDBG_NONE;
    replay->agents = calloc(agents + 1, sizeof *replay->agents);
    replay->targets = calloc(steps + 1, sizeof *replay->targets);
    replay->repeats = calloc(steps + 1, sizeof *replay->repeats);
    replay->is_taken = calloc(steps + 1, sizeof *replay->is_taken);
    replay->tokens = calloc(steps + 1, sizeof *replay->tokens);
    replay->step_count = steps;
    replay->barriers = calloc(WSDBG_REPLAY_BARRIERS_MOST, sizeof *replay->barriers);
    replay->named = calloc((size_t)c->cta_count * WSDBG_NAMED_BARRIERS + 1, sizeof *replay->named);
    bool fits = false;
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (replay->agents && replay->targets && replay->repeats && replay->is_taken && replay->tokens &&
        replay->barriers && replay->named) {
        fits = add_agents(replay) && agents * replay->barrier_count <= CELLS_MOST;
        if (fits)
            wsdbg_replay_share_bytes(replay, WSDBG_SHARES_EQUAL);
        if (fits)
            replay->waits = calloc(agents * replay->barrier_count + 1, sizeof *replay->waits);
        error = !fits || (replay->waits && wsdbg_replay_find_repeats(replay)) ? NULL : &wsdbg_error_no_memory;
    }
    if (error || !fits)
        wsdbg_replay_destroy(replay);
    else
        *out = replay;
    return error;
}

void wsdbg_replay_destroy(struct wsdbg_replay *replay)
{
    if (!replay)
        return;
    free(replay->agents);
    free(replay->targets);
    free(replay->repeats);
    free(replay->is_taken);
    free(replay->tokens);
    free(replay->has_partner);
    free(replay->barriers);
    free(replay->named);
    free(replay->waits);
    free(replay);
}

/* ---- what is known of all steps ---- */

bool wsdbg_replay_is_known(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (!wsdbg_walk_is_known(&replay->c->snapshot->walks[replay->agents[i].walk]))
            return false;
    return true;
}

struct wsdbg_replay *wsdbg_replay_of_still(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay = NULL;
    if (!c->still)
        return NULL;
    if (wsdbg_replay_create(c, &replay))
        c->no_memory = true;
    if (!replay || wsdbg_replay_is_known(replay))
        return replay;
    wsdbg_replay_destroy(replay);
    return NULL;
}

bool wsdbg_replay_keeps_count(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t init[2])
{
    bool is_initialised = false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const struct wsdbg_step_row *step = &agent->steps[k];
        if (agent->target[k] != barrier || step->kind == WSDBG_ACCESS_WAIT)
            continue;
        if (step->kind == WSDBG_ACCESS_DROP || step->kind == WSDBG_ACCESS_INVALIDATE)
            return false;
        if (step->kind != WSDBG_ACCESS_INIT)
            continue;
        if (is_initialised || (init[0] != WSDBG_NONE && (init[0] != agent->warp || init[1] != step->access)))
            return false;
        is_initialised = true;
        init[0] = agent->warp;
        init[1] = step->access;
    }
    return true;
}
