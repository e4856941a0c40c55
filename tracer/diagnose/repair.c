/* repair.c - tries the repairs of a standstill in their order, and those of counts itself.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Runs the replay again for each.
 */
#include "diagnose/code_case.h"
#include "diagnose/repair_trial.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTS_MOST = 8 };
enum { USE_WAITS = 1, USE_ARRIVES = 2 };

/* ---- counts ---- */

static void add_count(uint32_t *counts, uint32_t *count, uint32_t value, uint32_t was)
{
    for (uint32_t i = 0; i < *count; i++)
        if (counts[i] == value)
            return;
    if (value != 0 && value != was && *count < COUNTS_MOST)
        counts[(*count)++] = value;
}

uint32_t wsdbg_trial_round_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (a->target[k] == barrier && wsdbg_replay_arrivals_of(a, k)) {
                sum += wsdbg_replay_arrivals_of(a, k);
                break;
            }
    }
    return sum;
}

/* Whether some agent stood at the barrier, or it is not known where agents stood. */
static bool may_be_stood_at(const struct wsdbg_trial *t, uint32_t barrier)
{
    bool any = false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (t->state[i] == WSDBG_AGENT_WAITS && t->at[i] < a->step_count && a->target[t->at[i]] == barrier)
            return true;
        any |= t->at[i] < a->step_count;
    }
    return !any;
}

static bool is_arrived_on(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (wsdbg_replay_waits_of(t->replay, i, barrier)->arrived)
            return true;
    return false;
}

bool wsdbg_trial_never_turns(const struct wsdbg_trial *t)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (t->expected[b] && t->replay->barriers[b].is_initialised && t->replay->barriers[b].phase == 0 &&
            may_be_stood_at(t, b) && is_arrived_on(t, b))
            return true;
    return false;
}

/* Which barriers get another count: those of one stage, of a family, all that the same instruction initialised with the
 * same count, or all with this count; in all CTAs. */
enum extent { OF_STAGE, OF_FAMILY, OF_INSTRUCTION, OF_COUNT };

static bool is_counted_with(const struct wsdbg_trial *t, uint32_t barrier, uint32_t b, enum extent extent)
{
    const struct wsdbg_replay_barrier *one = &t->replay->barriers[barrier], *other = &t->replay->barriers[b];
    if (wsdbg_replay_is_of_family(t->replay, barrier, b))
        return extent != OF_STAGE || wsdbg_trial_is_of_stage(t, barrier, b);
    const bool is_of_instruction = one->init_access != WSDBG_NONE && one->init_access == other->init_access;
    return (extent == OF_COUNT || (extent == OF_INSTRUCTION && is_of_instruction)) &&
           t->expected_was[barrier] == t->expected_was[b];
}

/* Whether more barriers are counted with this one than in the narrower extent. */
static bool is_wider(const struct wsdbg_trial *t, uint32_t barrier, enum extent extent, enum extent narrower)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (is_counted_with(t, barrier, b, extent) && !is_counted_with(t, barrier, b, narrower))
            return true;
    return false;
}

/* True where the count repairs the standstill. */
static bool try_count(struct wsdbg_trial *t, uint32_t barrier, enum extent extent, uint32_t value)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_COUNT,
                                  .barrier = barrier,
                                  .value = value,
                                  .is_of_stage = extent == OF_STAGE,
                                  .is_of_instruction = extent == OF_INSTRUCTION,
                                  .is_of_count = extent == OF_COUNT};
    wsdbg_trial_begin(t);
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (is_counted_with(t, barrier, b, extent))
            t->expected[b] = value;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t b = 0; b < t->replay->barrier_count; b++)
            if (t->expected[b] && wsdbg_trial_waits_was(t, i, b)->arrived)
                wsdbg_set_add(&repair.warps, t->replay->agents[i].warp);
    const bool works = wsdbg_trial_works(t) && !wsdbg_trial_never_turns(t);
    if (works)
        wsdbg_trial_keep(t, &repair);
    return works;
}

/* Whether it is the first barrier of its stage with this count: a trial changes the stage in all CTAs. */
static bool leads_stage(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t b = 0; b < barrier; b++)
        if (t->expected_was[b] == t->expected_was[barrier] && wsdbg_replay_is_of_family(t->replay, b, barrier) &&
            wsdbg_trial_is_of_stage(t, b, barrier))
            return false;
    return true;
}

/* What each agent does with each barrier: agent x barrier.  NULL: no memory. */
static uint8_t *uses_of(const struct wsdbg_trial *t)
{
    const size_t agents = t->replay->agent_count, barriers = t->replay->barrier_count;
    uint8_t *uses = calloc(agents * barriers + 1, sizeof *uses);
    for (uint32_t i = 0; i < agents && uses; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (agent->target[k] != WSDBG_NONE)
                uses[i * barriers + agent->target[k]] |= agent->steps[k].kind == WSDBG_ACCESS_WAIT ? USE_WAITS
                                                         : wsdbg_replay_arrivals_of(agent, k)      ? USE_ARRIVES
                                                                                                   : 0;
    }
    return uses;
}

/* Whether the same agents wait on two barriers of a CTA, and the same ones arrive.  Then they are stages of one array,
 * though their counts differ and so make them different families. */
static bool are_used_alike(const struct wsdbg_trial *t, const uint8_t *uses, uint32_t a, uint32_t b)
{
    const size_t barriers = t->replay->barrier_count;
    bool any = false;
    if (t->replay->barriers[a].cta != t->replay->barriers[b].cta)
        return false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        any |= uses[i * barriers + a] != 0;
        if (uses[i * barriers + a] != uses[i * barriers + b])
            return false;
    }
    return any;
}

/* Whether another stage of the barrier's family, in its CTA, has the same count: then no single stage was given a wrong
 * one. */
static bool has_equal_stage(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (b != barrier && t->replay->barriers[b].cta == t->replay->barriers[barrier].cta &&
            t->expected_was[b] == t->expected_was[barrier] && wsdbg_replay_is_of_family(t->replay, barrier, b))
            return true;
    return false;
}

/* Tries for each stage the counts of the family's other stages: a count that differs from theirs is most often a
 * mistake. */
static void try_counts_of_others(struct wsdbg_trial *t)
{
    uint8_t *uses = uses_of(t);
    for (uint32_t b = 0; b < t->replay->barrier_count && uses; b++) {
        uint32_t counts[COUNTS_MOST], count = 0;
        const bool is_tried = t->expected_was[b] && leads_stage(t, b);
        for (uint32_t other = 0; other < t->replay->barrier_count && is_tried; other++)
            if (t->expected_was[other] != t->expected_was[b] &&
                (wsdbg_replay_is_of_family(t->replay, b, other) ||
                 (!has_equal_stage(t, b) && are_used_alike(t, uses, b, other))))
                add_count(counts, &count, t->expected_was[other], t->expected_was[b]);
        for (uint32_t i = 0; i < count; i++)
            try_count(t, b, OF_STAGE, counts[i]);
    }
    free(uses);
}

/* Whether some warp has left its warpgroup: then arrivals are missing that it would have made. */
static bool has_left_its_group(const struct wsdbg_trial *t)
{
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (wsdbg_case_warp(t->c, w)->state == WSDBG_WARP_EXITED && wsdbg_trial_mates_stay(t, w))
            return true;
    return false;
}

static bool arrives(const struct wsdbg_trial *t, uint32_t warp, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->replay->agents[i].warp == warp && wsdbg_replay_arrivals_on(&t->replay->agents[i], barrier))
            return true;
    return false;
}

/* How many lanes have left warps of which others arrive on the barrier. */
static uint32_t lanes_that_left(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t cta = t->c->ctas[t->replay->barriers[barrier].cta];
    uint32_t lanes = 0;
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (wsdbg_case_warp(t->c, w)->state != WSDBG_WARP_EXITED && wsdbg_case_warp(t->c, w)->cta == cta &&
            arrives(t, w, barrier))
            lanes += (uint32_t)__builtin_popcount(wsdbg_code_lanes_gone(t->c, w) & wsdbg_case_lanes_at_launch(t->c, w));
    return lanes;
}

/* How many threads have exited that never arrive on the barrier, though their code may have an arrival on it. */
static uint32_t threads_that_left(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row, cta = t->c->ctas[t->replay->barriers[barrier].cta];
    struct wsdbg_warp_set left = {{0}};
    for (uint32_t w = 0; w < t->c->warp_count && row != WSDBG_NONE; w++)
        if (wsdbg_case_warp(t->c, w)->state == WSDBG_WARP_EXITED && wsdbg_case_warp(t->c, w)->cta == cta &&
            wsdbg_code_could(t->c, w, WSDBG_KINDS_ARRIVAL, row) != WSDBG_CAN_NOT)
            wsdbg_set_add(&left, w);
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (wsdbg_replay_arrivals_on(&t->replay->agents[i], barrier))
            wsdbg_set_remove(&left, t->replay->agents[i].warp);
    return wsdbg_set_count(&left) * WSDBG_WARP_THREADS + lanes_that_left(t, barrier);
}

/* Whether threads may arrive on the barrier that the walks do not show: their walk is not known to its end, has no
 * arrival there, and their code may. */
static bool may_arrive_unseen(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row;
    for (uint32_t i = 0; i < t->replay->agent_count && row != WSDBG_NONE; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (t->state[i] == WSDBG_AGENT_LOST && a->cta == t->replay->barriers[barrier].cta &&
            !wsdbg_replay_arrivals_on(a, barrier) && !arrives(t, a->warp, barrier) &&
            wsdbg_code_could(t->c, a->warp, WSDBG_KINDS_ARRIVAL, row) != WSDBG_CAN_NOT)
            return true;
    }
    return false;
}

/* A count that each round makes is not lowered, even if the kernel would then finish by chance; nor where just as many
 * arrivals are missing as threads have left. */
static void try_counts(struct wsdbg_trial *t)
{
    const bool has_left = has_left_its_group(t);
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        uint32_t counts[COUNTS_MOST], count = 0;
        const uint32_t was = t->expected_was[f];
        if (!wsdbg_trial_leads_family(t, f) || was == 0)
            continue;
        const uint32_t of_round = wsdbg_trial_round_of(t, f);
        add_count(counts, &count, of_round, was);
        add_count(counts, &count, was - 1, was);
        add_count(counts, &count, was + 1, was);
        for (uint32_t i = 0; i < count; i++) {
            const bool may_change =
                counts[i] > was || (!has_left && of_round != was && !wsdbg_replay_lacks_an_arriver(t->replay, f) &&
                                    !may_arrive_unseen(t, f) && threads_that_left(t, f) != was - counts[i]);
            bool works = may_change && try_count(t, f, OF_FAMILY, counts[i]);
            if (may_change && !works && is_wider(t, f, OF_INSTRUCTION, OF_FAMILY))
                works = try_count(t, f, OF_INSTRUCTION, counts[i]);
            if (may_change && !works && is_wider(t, f, OF_COUNT, OF_INSTRUCTION))
                try_count(t, f, OF_COUNT, counts[i]);
        }
    }
}

/* ---- all repairs ---- */

static void remember(struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        t->at[i] = t->replay->overflows ? t->replay->agents[i].step_count : t->replay->agents[i].at;
        t->state[i] = t->replay->agents[i].state;
    }
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        t->expected_was[b] = t->replay->barriers[b].is_initialised ? t->replay->barriers[b].expected : 0;
    memcpy(t->waits, t->replay->waits, (size_t)t->replay->agent_count * t->replay->barrier_count * sizeof *t->waits);
}

/* Arrivals too many: some are left out, or go to another CTA, or the barrier takes more. */
static void try_overflow(struct wsdbg_trial *t)
{
    wsdbg_try_turns(t, WSDBG_REPAIR_DROP);
    wsdbg_try_rings(t, WSDBG_REPAIR_DROP);
    wsdbg_try_move(t);
    try_counts(t);
    wsdbg_try_line(t);
}

/* The order matters: the first one that works becomes the finding (rule_code_rounds.c). */
static void try_standstill(struct wsdbg_trial *t)
{
    wsdbg_try_tokens(t);
    try_counts_of_others(t);
    wsdbg_try_drift(t);
    wsdbg_try_leaps(t);
    wsdbg_try_stay(t);
    wsdbg_try_lanes(t);
    wsdbg_try_unmade(t);
    wsdbg_try_blocks(t);
    wsdbg_try_line(t);
    wsdbg_try_turns(t, WSDBG_REPAIR_ADD);
    wsdbg_try_turns(t, WSDBG_REPAIR_DROP);
    wsdbg_try_rings(t, WSDBG_REPAIR_ADD);
    wsdbg_try_rings(t, WSDBG_REPAIR_DROP);
    wsdbg_try_beginnings(t);
    wsdbg_try_first(t, 0);
    wsdbg_try_named(t);
    wsdbg_try_named_mates(t);
    wsdbg_try_named_ids(t);
    wsdbg_try_early(t);
    wsdbg_try_turns(t, WSDBG_REPAIR_COPY);
    wsdbg_try_fill(t);
    wsdbg_try_move(t);
    try_counts(t);
    wsdbg_try_first(t, 1);
    wsdbg_try_stages(t);
    wsdbg_try_first_of_all(t);
    wsdbg_try_sites(t);
    if (!t->out->count)
        wsdbg_try_named_less(t);
    if (!t->out->count)
        wsdbg_try_named_apart(t);
    if (!t->out->count)
        wsdbg_try_turns_of_one(t);
    if (!t->out->count)
        wsdbg_try_releases(t);
    if (!t->out->count)
        wsdbg_try_begin_all(t);
    if (!t->out->count)
        wsdbg_try_skip(t);
    if (!t->out->count)
        wsdbg_try_swap(t);
    if (!t->out->count)
        wsdbg_try_afresh(t);
    if (!t->out->count)
        wsdbg_try_shifts(t);
    if (!t->out->count)
        wsdbg_try_first_apart(t);
    if (!t->out->count)
        wsdbg_try_astray(t);
}

static void try_rounds(struct wsdbg_trial *t)
{
    if (t->replay->overflows)
        try_overflow(t);
    else
        try_standstill(t);
}

/* An arrival came before its phase had completed.  Where a wait before it was let through, a parity is wrong or another
 * barrier got too many arrivals. */
static void try_fault(struct wsdbg_trial *t)
{
    wsdbg_try_drift(t);
    wsdbg_try_first(t, 0);
    wsdbg_try_first(t, 1);
    try_overflow(t);
}

static void try_copies(struct wsdbg_trial *t)
{
    wsdbg_try_announce(t);
    wsdbg_try_bytes(t);
}

static void stand_again(const struct wsdbg_trial *t)
{
    t->replay->steps_left = WSDBG_REPLAY_STEPS;
    wsdbg_replay_run(t->replay, t->order, NULL);
}

static struct wsdbg_error *find(struct wsdbg_replay *replay, void (*try_all)(struct wsdbg_trial *t),
                                struct wsdbg_repairs *out)
{
    const size_t agents = replay->agent_count, barriers = replay->barrier_count;
    struct wsdbg_trial *t = calloc(1, sizeof *t);
    *out = (struct wsdbg_repairs){.count = 0};
    if (!t)
        return &wsdbg_error_no_memory;
    *t = (struct wsdbg_trial){.replay = replay, .c = replay->c, .order = replay->order, .out = out};
    t->at = calloc(agents + 1, sizeof *t->at);
    t->state = calloc(agents + 1, sizeof *t->state);
    t->waits = calloc(agents * barriers + 1, sizeof *t->waits);
    t->expected_was = calloc(barriers + 1, sizeof *t->expected_was);
    t->expected = calloc(barriers + 1, sizeof *t->expected);
    t->parity_from = calloc(barriers + 1, sizeof *t->parity_from);
    t->doubles = calloc(agents + 1, sizeof *t->doubles);
    t->flip_at = calloc(agents + 1, sizeof *t->flip_at);
    t->free_bytes = calloc(barriers + 1, sizeof *t->free_bytes);
    t->id_to = calloc(agents + 1, sizeof *t->id_to);
    t->beside = calloc(1, sizeof *t->beside + barriers * sizeof *t->beside->of);
    const bool has_room = t->at && t->state && t->waits && t->expected_was && t->expected && t->parity_from &&
                          t->doubles && t->flip_at && t->free_bytes && t->id_to && t->beside;
    if (has_room) {
        remember(t);
        t->replay->steps_left = WSDBG_REPLAY_STEPS;
        try_all(t);
        out->is_partial |= t->replay->steps_left == 0;
        stand_again(t);
    }
    free(t->at);
    free(t->state);
    free(t->waits);
    free(t->expected_was);
    free(t->expected);
    free(t->parity_from);
    free(t->doubles);
    free(t->flip_at);
    free(t->free_bytes);
    free(t->id_to);
    free(t->beside);
    free(t);
    return has_room ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_repairs_find(struct wsdbg_replay *replay, struct wsdbg_repairs *out)
{
    return find(replay, try_rounds, out);
}

struct wsdbg_error *wsdbg_repairs_find_fault(struct wsdbg_replay *replay, struct wsdbg_repairs *out)
{
    return find(replay, try_fault, out);
}

struct wsdbg_error *wsdbg_repairs_find_copies(struct wsdbg_replay *replay, struct wsdbg_repairs *out)
{
    return find(replay, try_copies, out);
}

struct wsdbg_error *wsdbg_repairs_find_named_rounds(struct wsdbg_replay *replay, struct wsdbg_repairs *out)
{
    return find(replay, wsdbg_try_named_rounds, out);
}
