/* step.c - executes instructions of one warp: the interpreter's loop.
 *
 * Reads: the module's prepared code.  Writes: the warp.  It goes on until the scheduler's quantum is spent, every split
 * waits, the warp is over or an instruction faults.
 */
#include "hopper/exit.h"
#include "hopper/probe.h"
#include "hopper/race.h"
#include "hopper/split.h"
#include "hopper/values.h"

/* Lanes whose guard is true. */
static inline uint32_t guarded(const struct hopper_warp *warp, const struct hopper_op *op, uint32_t lanes)
{
    if (op->guard == WSDBG_PTX_NONE)
        return lanes;
    const uint32_t mask = *(const uint32_t *)(const void *)(warp->registers + op->guard);
    return lanes & (mask ^ op->guard_flips);
}

/* The lanes whose guard is false do not wait for the others, who may need them: they go on. */
static void part_unguarded(const struct hopper_step *step)
{
    struct hopper_split *const split = step->split;
    const uint32_t rest = split->lanes & ~step->lanes;
    const enum hopper_wait_kind kind = split->wait.kind;
    if (!rest || step->op->is_last ||
        (kind != HOPPER_WAITS_LANES && kind != HOPPER_WAITS_NAMED && kind != HOPPER_WAITS_CLUSTER))
        return;
    hopper_split_add(step->warp, split, rest, split->pc + 1);
    split->lanes = step->lanes;
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

/* What it does next may be another thing each time it comes here: that it did the same before proves nothing. */
static void let_clock_decide(const struct hopper_step *step)
{
    step->warp->writes++;
    step->split->expired_hash = 0;
}

/* One instruction of step->split. */
static inline enum hopper_outcome execute(struct hopper_step *step, const struct hopper_op *op)
{
    struct hopper_warp *warp = step->warp;
    step->op = op;
    step->instruction = op->instruction;
    warp->frame = op->frame;
    step->split->again = false;
    if (op->clock_matters)
        let_clock_decide(step);
    step->lanes = guarded(warp, op, step->split->lanes);
    if (!step->lanes)
        return HOPPER_NEXT;
    if (warp->wgmma_pending | warp->watches_registers) {
        if (warp->watches_registers)
            hopper_race_registers(step);
        if (warp->wgmma_pending)
            hopper_wgmma_before(step);
    }
    return op->probe && warp->probe ? hopper_probe_execute(step) : op->execute(step);
}

/* An instruction that did not simply lead to the next one; false when the warp cannot go on. */
static bool conclude(struct hopper_step *step, enum hopper_outcome outcome)
{
    if (outcome == HOPPER_FAULTED)
        return false;
    if (outcome == HOPPER_BLOCKED)
        block(step);
    if (outcome == HOPPER_BLOCKED)
        part_unguarded(step);
    if (outcome == HOPPER_NEXT) { /* the function's last */
        step->split->wait.kind = HOPPER_RUNS;
        hopper_return(step, step->split->lanes);
    }
    return step->warp->live != 0;
}

/* What its next instructions use first, as far as it can be told: they may branch. */
void hopper_fetch_registers(const struct hopper_warp *warp)
{
    enum { INSTRUCTIONS = 12, OPERANDS = 3, LINE_BYTES = 64 };
    const struct hopper_op *op = &warp->cta->grid->code->ops[warp->splits[0].pc];
    for (unsigned i = 0; i < INSTRUCTIONS && !op->is_last; i++, op++)
        for (unsigned number = 0; number < OPERANDS; number++) {
            const uint32_t place = op->places[number];
            const unsigned bytes = place & HOPPER_PLACE_WIDE ? HOPPER_BYTES_64 : HOPPER_BYTES_32;
            const unsigned char *const at = warp->registers + (place & HOPPER_OFFSET_MASK);
            for (unsigned k = 0; place >> HOPPER_BASE_SHIFT == HOPPER_OF_WARP && k < bytes; k += LINE_BYTES)
                __builtin_prefetch(at + k);
        }
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
    const struct hopper_op *const ops = code->ops;
    uint32_t count = 0;
    const struct hopper_split *last = &warp->splits[0];
    bool is_chosen = false;
    while (count < most) {
        if (!is_chosen)
            step.split = hopper_split_choose(warp);
        if (!step.split) {
            hopper_not_ready(gpu, warp);
            if (warp->probe)
                hopper_probe_blocked(warp);
            break;
        }
        count++;
        last = step.split;
        const struct hopper_op *op = &ops[step.split->pc];
        const enum hopper_outcome outcome = execute(&step, op);
        if (outcome == HOPPER_NEXT && !op->is_last) {
            step.split->wait.kind = HOPPER_RUNS;
            step.split->pc++;
        } else if (!conclude(&step, outcome)) {
            break;
        }
        if (warp->split_count > 1) {
            is_chosen = outcome == HOPPER_NEXT && op->is_plain && !warp->wgmma_pending &&
                        ops[step.split->pc].is_plain && hopper_split_goes_on(warp, step.split);
            if (!is_chosen)
                hopper_split_merge(warp);
        } else {
            is_chosen = false;
        }
    }
    warp->instructions += count;
    warp->stands = last->pc;
    return count;
}
