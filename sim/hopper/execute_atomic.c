/* execute_atomic.c - atom and red: read, change and write memory, lane after lane.
 *
 * One instruction of one warp is executed at a time, so every access is atomic.  A compare-and-swap that fails, or
 * anything that writes what was there already, changes nothing: spinning warps stay parked.
 */
#include "hopper/access.h"
#include "hopper/combine.h"
#include "hopper/found.h"
#include "hopper/race.h"
#include "hopper/values.h"
#include "hopper/wide.h"

/* What memory holds afterwards. */
static uint64_t change(const struct wsdbg_ptx_instruction *instruction, bool is_global, uint64_t old, uint64_t by,
                       uint64_t value)
{
    const struct hopper_combination combination = {instruction->variant, instruction->type, is_global, true};
    if (combination.operation == WSDBG_PTX_V_CAS)
        return old == by ? value : old;
    return combination.operation == WSDBG_PTX_V_EXCH ? by : hopper_combined(combination, old, by);
}

/* One element of every lane; true when memory is not as it was. */
static bool change_element(const struct hopper_step *step, const struct hopper_places *places, unsigned first,
                           unsigned element)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = step->op->type_bytes;
    const uint64_t mask = byte_count == 8 ? UINT64_MAX : (1ull << 8 * byte_count) - 1;
    const bool is_vector = instruction->operands[first + 1].kind == WSDBG_PTX_OPERAND_VECTOR;
    const bool is_compare = instruction->variant == WSDBG_PTX_V_CAS;
    const bool is_global = places->space == WSDBG_PTX_GLOBAL;
    const bool is_kept = is_global && first && !is_vector && instruction->operands[0].kind != WSDBG_PTX_OPERAND_SINK;
    bool has_changed = false;
    HOPPER_LANES_OF (step->lanes) {
        unsigned char *at = hopper_place_of(places, lane) + element * byte_count;
        uint64_t old = 0;
        memcpy(&old, at, byte_count);
        const uint64_t by =
            is_vector ? hopper_element(step, first + 1, element, lane) : hopper_source(step, first + 1, lane);
        const uint64_t value = is_compare ? hopper_source(step, first + 2, lane) & mask : 0;
        const uint64_t now = change(instruction, is_global, old, by & mask, value) & mask;
        memcpy(at, &now, byte_count);
        has_changed |= now != old;
        if (first && is_vector)
            hopper_result_element(step, 0, element, lane, old);
        else if (first)
            hopper_result(step, 0, lane, old);
        if (is_kept)
            hopper_found_add(step->warp, lane, step->split->pc, old);
    }
    return has_changed;
}

/* `first`: the ADDRESS operand; the result, if there is one, is operand 0. */
static enum hopper_outcome execute(struct hopper_step *step, unsigned first)
{
    const struct wsdbg_ptx_operand *by = &step->instruction->operands[first + 1];
    const unsigned byte_count = step->op->type_bytes;
    const unsigned count = by->kind == WSDBG_PTX_OPERAND_VECTOR ? by->count : 1;
    struct hopper_places places;
    bool has_changed = false;
    if (!hopper_resolve(step, first, byte_count * count, byte_count * count, true, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, byte_count * count);
    if (step->gpu->races)
        hopper_race_places(step, &places, byte_count * count, true, true);
    for (unsigned element = 0; element < count; element++)
        has_changed |= change_element(step, &places, first, element);
    if (has_changed)
        hopper_wrote(step, &places, byte_count * count);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_atom(struct hopper_step *step)
{
    if (step->instruction->type == WSDBG_PTX_B128)
        return hopper_wide_atom(step);
    return execute(step, 1);
}

enum hopper_outcome hopper_do_red(struct hopper_step *step)
{
    return execute(step, 0);
}
