/* execute_move.c - mov (also to and from vectors), addresses' conversions, cache policies.
 *
 * A generic address is a shared one plus its window, a local one plus its window, or a global (constant, parameter) one
 * as it is; see warp.h.
 */
#include "hopper/device.h"
#include "hopper/values.h"
#include "hopper/wide.h"

/* d = {a, b, ...}: the first element is the lowest part. */
static enum hopper_outcome pack(struct hopper_step *step, const struct wsdbg_ptx_operand *vector)
{
    const unsigned bits = 8 * step->op->type_bytes / vector->count;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
    HOPPER_LANES_OF (step->lanes) {
        uint64_t value = 0;
        for (unsigned i = 0; i < vector->count; i++)
            value |= (hopper_element(step, 1, i, lane) & mask) << i * bits % 64;
        hopper_result(step, 0, lane, value);
    }
    return HOPPER_NEXT;
}

static enum hopper_outcome unpack(struct hopper_step *step, const struct wsdbg_ptx_operand *vector)
{
    const unsigned bits = 8 * step->op->type_bytes / vector->count;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t value = hopper_source(step, 1, lane);
        for (unsigned i = 0; i < vector->count; i++)
            hopper_result_element(step, 0, i, lane, value >> i * bits % 64 & mask);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mov(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    if (instruction->type == WSDBG_PTX_B128)
        return hopper_wide_mov(step);
    if (instruction->operands[1].kind == WSDBG_PTX_OPERAND_VECTOR)
        return pack(step, &instruction->operands[1]);
    if (instruction->operands[0].kind == WSDBG_PTX_OPERAND_VECTOR)
        return unpack(step, &instruction->operands[0]);
    if (instruction->type == WSDBG_PTX_PRED)
        hopper_store_mask(step, 0, hopper_mask(step, 1));
    else if (step->op->type_bytes == 8)
        hopper_store64(step, 0, hopper_values64(step, 1));
    else
        hopper_store32(step, 0, hopper_values32(step, 1));
    return HOPPER_NEXT;
}

/* What is added to an address of the space to make it generic. */
static uint64_t window_of(const struct hopper_step *step)
{
    switch (step->instruction->space) {
    case WSDBG_PTX_SHARED:
    case WSDBG_PTX_SHARED_CLUSTER:
        return HOPPER_SHARED_WINDOW;
    case WSDBG_PTX_LOCAL:
        return HOPPER_LOCAL_WINDOW;
    case WSDBG_PTX_PARAM:
        return (uint64_t)(uintptr_t)step->warp->cta->grid->parameters;
    default:
        return 0;
    }
}

enum hopper_outcome hopper_do_cvta(struct hopper_step *step)
{
    uint64_t window = window_of(step);
    if (step->instruction->flags & WSDBG_PTX_TO_SHARED)
        window = 0 - window;
    if (step->op->type_bytes == 8)
        HOPPER_UNARY(64, uint64_t, x + window);
    else
        HOPPER_UNARY(32, uint32_t, x + (uint32_t)window);
    return HOPPER_NEXT;
}

static bool is_in_space(const struct hopper_step *step, uint64_t address)
{
    const struct hopper_cta *cta = step->warp->cta;
    const uint64_t shared = address - HOPPER_SHARED_WINDOW;
    const bool is_shared = shared < (uint64_t)HOPPER_CLUSTER_CTAS << HOPPER_RANK_SHIFT;
    const bool is_local = address - HOPPER_LOCAL_WINDOW < 1ull << 32;
    const struct hopper_grid *grid = cta->grid;
    const bool is_const = address - grid->code->const_address < grid->code->program->const_bytes;
    const bool is_parameter = address - (uint64_t)(uintptr_t)grid->parameters < grid->launch.function->parameter_bytes;
    switch (step->instruction->space) {
    case WSDBG_PTX_SHARED:
        return is_shared && shared >> HOPPER_RANK_SHIFT == cta->rank;
    case WSDBG_PTX_SHARED_CLUSTER:
        return is_shared;
    case WSDBG_PTX_LOCAL:
        return is_local;
    case WSDBG_PTX_PARAM:
        return is_parameter;
    case WSDBG_PTX_CONST:
        return is_const;
    default: /* parameters count as global memory, as on an H200 */
        return !is_shared && !is_local && !is_const;
    }
}

enum hopper_outcome hopper_do_isspacep(struct hopper_step *step)
{
    uint32_t mask = 0;
    HOPPER_LANES_OF (step->lanes)
        mask |= (uint32_t)is_in_space(step, hopper_source(step, 1, lane)) << lane;
    hopper_store_mask(step, 0, mask);
    return HOPPER_NEXT;
}

/* There is no cache to have a policy. */
enum hopper_outcome hopper_do_createpolicy(struct hopper_step *step)
{
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, 0);
    return HOPPER_NEXT;
}
