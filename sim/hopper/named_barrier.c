/* named_barrier.c - bar.sync, bar.arrive, bar.red and their barrier.* forms: the CTA's 16 named barriers.
 *
 * A warp arrives as a whole, as 32 threads, when all its live lanes stand at the barrier, be it at several
 * instructions.  Without a count a barrier is for all threads of the CTA that have not exited.  Each arrival ends the
 * generation when its own count is reached: what hardware does when counts differ is not known, so that is reported.
 * Reads and writes: the CTA's named barriers, the waits of the warp's splits.
 */
#include "hopper/device.h"
#include "hopper/race.h"

enum { ANY_COUNT = 0 };

struct arrival {
    uint32_t id, threads; /* threads: ANY_COUNT = all of the CTA */
};

static bool is_complete(const struct hopper_cta *cta, const struct hopper_named_barrier *barrier, uint32_t threads)
{
    return barrier->arrived >= (threads == ANY_COUNT ? cta->live_warps * HOPPER_LANES : threads);
}

static void end_generation(struct hopper_cta *cta, struct hopper_named_barrier *barrier)
{
    barrier->trues_before = barrier->trues;
    barrier->arrived_before = barrier->arrived;
    barrier->trues = barrier->arrived = 0;
    barrier->generation++;
    hopper_changed_barrier(cta);
}

/* The operands `id_number` and, when the text has one, the count behind it. */
static enum hopper_outcome read_arrival(const struct hopper_step *step, unsigned id_number, bool has_count,
                                        struct arrival *out)
{
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    out->id = (uint32_t)hopper_source(step, id_number, lane);
    out->threads = has_count ? (uint32_t)hopper_source(step, id_number + 1, lane) : ANY_COUNT;
    if (out->id >= HOPPER_NAMED_BARRIERS)
        return hopper_fault(step, lane, HOPPER_LAUNCH_FAILED, "named barrier %u: there are 0 to 15", out->id);
    if (has_count && (out->threads == 0 || out->threads % HOPPER_LANES))
        return hopper_fault(step, lane, HOPPER_LAUNCH_FAILED,
                            "named barrier %u for %u threads: the count must be a multiple of 32, and not 0", out->id,
                            out->threads);
    return HOPPER_NEXT;
}

/* Adds the warp; true when that ends the generation. */
static bool arrive(struct hopper_step *step, struct arrival arrival)
{
    struct hopper_cta *const cta = step->warp->cta;
    struct hopper_named_barrier *const barrier = &cta->named[arrival.id];
    if (step->gpu->races)
        hopper_race_named_arrive(step, arrival.id, barrier->generation);
    step->warp->writes++;
    step->gpu->changes++;
    const uint32_t threads = arrival.threads == ANY_COUNT ? cta->warp_count * HOPPER_LANES : arrival.threads;
    if (!barrier->arrived)
        barrier->threads = threads;
    if (barrier->threads != threads)
        hopper_report(cta, step->warp, WSDBG_GPU_NAMED_COUNTS,
                      (uint32_t)(step->instruction - step->program->instructions), arrival.id);
    barrier->arrived += HOPPER_LANES;
    if (!is_complete(cta, barrier, arrival.threads))
        return false;
    end_generation(cta, barrier);
    return true;
}

static bool waits_at(const struct hopper_split *split, uint32_t id)
{
    return split->wait.kind == HOPPER_WAITS_NAMED && split->wait.id == id && !split->wait.has_arrived;
}

/* Lanes of the warp that stand at the barrier and are not counted yet, the step's among them. */
static uint32_t lanes_at(const struct hopper_step *step, uint32_t id)
{
    uint32_t lanes = step->lanes;
    for (uint32_t i = 0; i < step->warp->split_count; i++)
        if (waits_at(&step->warp->splits[i], id))
            lanes |= step->warp->splits[i].lanes;
    return lanes;
}

static enum hopper_outcome pass(struct hopper_step *step, uint32_t id, uint64_t generation)
{
    if (step->gpu->races)
        hopper_race_named_pass(step, id, generation);
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

/* The split is counted: until the generation is over. */
static enum hopper_outcome await_end(struct hopper_step *step, struct arrival arrival)
{
    struct hopper_cta *const cta = step->warp->cta;
    struct hopper_named_barrier *const barrier = &cta->named[arrival.id];
    if (barrier->generation == step->split->wait.generation && is_complete(cta, barrier, arrival.threads))
        end_generation(cta, barrier); /* the last ones missing exited */
    return barrier->generation == step->split->wait.generation ? HOPPER_BLOCKED
                                                               : pass(step, arrival.id, step->split->wait.generation);
}

static enum hopper_outcome sync(struct hopper_step *step, struct arrival arrival)
{
    struct hopper_warp *const warp = step->warp;
    struct hopper_wait *const wait = &step->split->wait;
    if (wait->kind == HOPPER_WAITS_NAMED && wait->has_arrived)
        return await_end(step, arrival);
    const uint64_t generation = warp->cta->named[arrival.id].generation;
    if (lanes_at(step, arrival.id) != warp->live) {
        *wait = (struct hopper_wait){.kind = HOPPER_WAITS_NAMED, .id = arrival.id, .threads = arrival.threads};
        return HOPPER_BLOCKED;
    }
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (waits_at(&warp->splits[i], arrival.id)) {
            warp->splits[i].wait.has_arrived = true;
            warp->splits[i].wait.generation = generation;
        }
    if (arrive(step, arrival))
        return pass(step, arrival.id, generation);
    *wait = (struct hopper_wait){.kind = HOPPER_WAITS_NAMED,
                                 .id = arrival.id,
                                 .threads = arrival.threads,
                                 .has_arrived = true,
                                 .generation = generation};
    return HOPPER_BLOCKED;
}

enum hopper_outcome hopper_do_bar_sync(struct hopper_step *step)
{
    struct arrival arrival;
    if (read_arrival(step, 0, step->instruction->operand_count > 1, &arrival) == HOPPER_FAULTED)
        return HOPPER_FAULTED;
    return sync(step, arrival);
}

enum hopper_outcome hopper_do_bar_arrive(struct hopper_step *step)
{
    struct arrival arrival;
    if (read_arrival(step, 0, true, &arrival) == HOPPER_FAULTED)
        return HOPPER_FAULTED;
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    arrive(step, arrival);
    return HOPPER_NEXT;
}

static uint32_t true_lanes(const struct hopper_step *step, unsigned number)
{
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1 && hopper_source(step, number, lane))
            lanes |= 1u << lane;
    return lanes;
}

/* Of the generation that just ended. */
static uint32_t reduced(const struct hopper_step *step, const struct hopper_named_barrier *barrier)
{
    switch (step->instruction->variant) {
    case WSDBG_PTX_V_AND:
        return barrier->trues_before == barrier->arrived_before;
    case WSDBG_PTX_V_OR:
        return barrier->trues_before != 0;
    default:
        return barrier->trues_before;
    }
}

/* d, id, {count,} predicate */
enum hopper_outcome hopper_do_bar_red(struct hopper_step *step)
{
    const unsigned operands = step->instruction->operand_count;
    struct arrival arrival;
    if (read_arrival(step, 1, operands > 3, &arrival) == HOPPER_FAULTED)
        return HOPPER_FAULTED;
    struct hopper_named_barrier *const barrier = &step->warp->cta->named[arrival.id];
    if (step->split->wait.kind != HOPPER_WAITS_NAMED) {
        if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
            return HOPPER_BLOCKED;
        const uint32_t lanes = true_lanes(step, operands - 1);
        /* Lanes that exited do not vote against .and. */
        barrier->trues += (uint32_t)__builtin_popcount(lanes);
        if (step->instruction->variant == WSDBG_PTX_V_AND)
            barrier->trues += HOPPER_LANES - (uint32_t)__builtin_popcount(step->lanes);
    }
    const enum hopper_outcome outcome = sync(step, arrival);
    if (outcome != HOPPER_NEXT)
        return outcome;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1)
            hopper_result(step, 0, lane, reduced(step, barrier));
    return HOPPER_NEXT;
}
