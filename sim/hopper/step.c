/* step.c - executes instructions of one warp: the interpreter's loop.
 *
 * Reads: the module's prepared code.  Writes: the warp.  It goes on until the scheduler's quantum is spent, every split
 * waits, the warp is over or an instruction faults.
 */
#include "hopper/probe.h"
#include "hopper/split.h"
#include "hopper/values.h"

/* Lanes whose guard is true. */
static uint32_t guarded(const struct hopper_warp *warp, const struct hopper_op *op,
                        const struct wsdbg_ptx_instruction *instruction, uint32_t lanes)
{
    if (op->guard == WSDBG_PTX_NONE)
        return lanes;
    const uint32_t mask = *(const uint32_t *)(const void *)(warp->registers + op->guard);
    return lanes & (instruction->guard_negated ? ~mask : mask);
}

static void go_on(struct hopper_step *step)
{
    struct hopper_split *split = step->split;
    split->wait.kind = HOPPER_RUNS;
    if (step->op->is_last)
        hopper_return(step, split->lanes);
    else
        split->pc++;
}

/* A split's instruction has to wait.  A loop that only sleeps between its looks spins all the same. */
static void block(struct hopper_step *step)
{
    const uint64_t limit = step->split->wait.time_limit_ns;
    step->warp->waits++;
    if (step->split->wait.kind != HOPPER_SLEEPS)
        step->split->loop = (struct hopper_loop){0};
    if (limit && limit < step->gpu->next_limit_ns)
        step->gpu->next_limit_ns = limit;
}

/* One instruction of step->split; false when the warp cannot go on. */
static bool execute(struct hopper_step *step, const struct hopper_code *code)
{
    struct hopper_split *split = step->split;
    const struct hopper_op *op = &code->ops[split->pc];
    step->op = op;
    step->instruction = &code->program->instructions[split->pc];
    step->warp->frame = op->frame;
    split->again = false;
    step->lanes = guarded(step->warp, op, step->instruction, split->lanes);
    enum hopper_outcome outcome = HOPPER_NEXT;
    if (step->lanes) {
        if (step->warp->wgmma_pending)
            hopper_wgmma_before(step);
        outcome = op->probe && step->warp->probe ? hopper_probe_execute(step) : op->execute(step);
    }
    switch (outcome) {
    case HOPPER_NEXT:
        go_on(step);
        break;
    case HOPPER_JUMPED:
        break;
    case HOPPER_BLOCKED:
        block(step);
        break;
    case HOPPER_FAULTED:
        return false;
    }
    return step->warp->live != 0;
}

uint32_t hopper_run_warp(struct wsdbg_gpu *gpu, struct hopper_warp *warp, uint32_t most)
{
    const struct hopper_code *code = warp->cta->grid->code;
    struct hopper_step step = {
        .gpu = gpu,
        .warp = warp,
        .program = code->program,
        .bases = {warp->registers, code->constants, (unsigned char *)gpu->scratch, (unsigned char *)gpu->scratch},
    };
    uint32_t count = 0;
    const struct hopper_split *last = &warp->splits[0];
    while (count < most) {
        step.split = hopper_split_choose(warp);
        if (!step.split) {
            hopper_not_ready(gpu, warp);
            break;
        }
        count++;
        last = step.split;
        if (!execute(&step, code))
            break;
        if (warp->split_count > 1)
            hopper_split_merge(warp);
    }
    warp->instructions += count;
    warp->stands = last->pc;
    return count;
}
