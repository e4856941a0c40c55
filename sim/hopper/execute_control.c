/* execute_control.c - branches, calls, exits, sleeping; and what has no effect on results: fences, prefetches, hints.
 *
 * Memory is sequentially consistent here, so a fence orders nothing that is not in order already.
 */
#include "hopper/device.h"
#include "hopper/exit.h"
#include "hopper/race.h"
#include "hopper/split.h"
#include "hopper/system_calls.h"
#include "hopper/values.h"

/* Sends lanes of the split elsewhere; the others go on behind the instruction. */
static enum hopper_outcome go_to(struct hopper_step *step, uint32_t lanes, uint32_t target)
{
    struct hopper_split *split = step->split;
    const uint32_t from = split->pc, rest = split->lanes & ~lanes;
    if (rest)
        hopper_split_part(step->warp, split, rest, from + 1, step->instruction->reconverge);
    split->wait.kind = HOPPER_RUNS;
    split->pc = target;
    if (target <= from)
        hopper_came_round(step, split, target);
    return HOPPER_JUMPED;
}

enum hopper_outcome hopper_do_bra(struct hopper_step *step)
{
    return go_to(step, step->lanes, step->instruction->target);
}

/* Each target's lanes go their own way. */
enum hopper_outcome hopper_do_brx(struct hopper_step *step)
{
    const uint32_t *table = &step->program->branch_tables[step->instruction->target];
    const uint32_t *indices = hopper_values32(step, 0);
    HOPPER_LANES_OF (step->lanes) {
        if (indices[lane] >= table[0])
            return hopper_fault(step, lane, HOPPER_INVALID_PC, "index %u: the table has %u labels", indices[lane],
                                table[0]);
    }
    uint32_t left = step->lanes;
    for (;;) {
        const uint32_t index = indices[__builtin_ctz(left)];
        uint32_t group = 0;
        HOPPER_LANES_OF (left)
            group |= (uint32_t)(indices[lane] == index) << lane;
        left &= ~group;
        if (!left)
            return go_to(step, group, table[1 + index]);
        hopper_split_part(step->warp, step->split, group, table[1 + index], step->instruction->reconverge);
    }
}

enum hopper_outcome hopper_do_call(struct hopper_step *step)
{
    const uint32_t target = step->instruction->target;
    struct hopper_split *split = step->split;
    if (step->instruction->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER)
        return hopper_fault(step, (unsigned)__builtin_ctz(step->lanes), HOPPER_ILLEGAL_INSTRUCTION,
                            "the simulator calls no function through its address");
    if (target == WSDBG_PTX_NONE)
        return hopper_call_system(step, &step->program->functions[step->instruction->operands[0].value]);
    if (split->depth == HOPPER_CALLS)
        return hopper_fault(step, (unsigned)__builtin_ctz(step->lanes), HOPPER_LAUNCH_FAILED, "more than %d calls deep",
                            HOPPER_CALLS);
    const uint32_t rest = split->lanes & ~step->lanes;
    if (rest)
        hopper_split_add(step->warp, split, rest, split->pc + 1);
    split->lanes = step->lanes;
    split->returns[split->depth++] = split->pc + 1;
    split->pc = target;
    return HOPPER_JUMPED;
}

enum hopper_outcome hopper_do_ret(struct hopper_step *step)
{
    hopper_return(step, step->lanes);
    return HOPPER_JUMPED;
}

enum hopper_outcome hopper_do_exit(struct hopper_step *step)
{
    struct hopper_split *split = step->split;
    const uint32_t rest = split->lanes & ~step->lanes;
    if (rest)
        split->pc++;
    hopper_exit_lanes(step->gpu, step->warp, split, step->lanes);
    return HOPPER_JUMPED;
}

enum hopper_outcome hopper_do_trap(struct hopper_step *step)
{
    return hopper_fault(step, (unsigned)__builtin_ctz(step->lanes), HOPPER_LAUNCH_FAILED, "trap");
}

enum hopper_outcome hopper_do_brkpt(struct hopper_step *step)
{
    (void)step;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_nanosleep(struct hopper_step *step)
{
    struct hopper_wait *wait = &step->split->wait;
    const uint64_t now = hopper_time_ns(step->gpu);
    if (wait->kind == HOPPER_SLEEPS)
        return wait->time_limit_ns <= now ? HOPPER_NEXT : HOPPER_BLOCKED;
    uint32_t longest = 0;
    const uint32_t *times = hopper_values32(step, 0);
    HOPPER_LANES_OF (step->lanes)
        if (times[lane] > longest)
            longest = times[lane];
    if (longest == 0)
        return HOPPER_NEXT;
    *wait = (struct hopper_wait){.kind = HOPPER_SLEEPS, .time_limit_ns = now + (longest > 1000000 ? 1000000 : longest)};
    return HOPPER_BLOCKED;
}

#define NO_EFFECT(id)                                            \
    enum hopper_outcome hopper_do_##id(struct hopper_step *step) \
    {                                                            \
        (void)step;                                              \
        return HOPPER_NEXT;                                      \
    }

enum hopper_outcome hopper_do_fence(struct hopper_step *step)
{
    if (step->gpu->races)
        hopper_race_fence(step);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_membar(struct hopper_step *step)
{
    return hopper_do_fence(step);
}

NO_EFFECT(pmevent)
NO_EFFECT(prefetch)
NO_EFFECT(prefetchu)
NO_EFFECT(prefetch_tensormap)
NO_EFFECT(discard)
NO_EFFECT(applypriority)
