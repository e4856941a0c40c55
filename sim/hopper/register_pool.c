/* register_pool.c - setmaxnreg: registers that warps of a CTA pass to each other through its four register files.
 *
 * As measured on an H200: each warp asks and is served on its own; warps whose numbers are equal modulo 4 share a
 * file; only what warps of the CTA released is there to be had.
 */
#include "hopper/execute.h"

/* The table marks .inc and .dec by their variants. */
static bool is_increase(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->variant == WSDBG_PTX_V_INC;
}

enum hopper_outcome hopper_do_setmaxnreg(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    if (hopper_gather(step, warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    if (warp->cta->grid->launch.keeps_registers)
        return HOPPER_NEXT;
    const uint32_t wanted = (uint32_t)hopper_source(step, 0, (unsigned)__builtin_ctz(step->lanes));
    uint32_t *const pool = &warp->cta->register_pool[warp->index % HOPPER_REGISTER_FILES];
    const bool increase = is_increase(step->instruction);
    if (increase && wanted > warp->registers_held + *pool) {
        step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_REGISTERS, .registers = wanted};
        return HOPPER_BLOCKED;
    }
    if (increase ? wanted > warp->registers_held : wanted < warp->registers_held) {
        *pool += warp->registers_held - wanted;
        warp->registers_held = wanted;
        warp->writes++;
        hopper_changed_barrier(warp->cta);
    }
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}
