/* lane.c - see lane.h.
 *
 * Reads: registers, predicates, constants and the place of one lane.  Writes: the state of a thread to follow.
 */
#include "machine/lane.h"

#include "machine/code.h"

enum { SPECIAL_LANE = 0, SPECIAL_THREAD_X = 33, SPECIAL_CTA_X = 37 };

static bool read_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    struct wsdbg_lane *lane = context;
    struct wsdbg_machine *machine = lane->machine;
    bool known = false;
    if (!lane->error)
        lane->error = wsdbg_code_constant(machine, machine->ctas[machine->warps[lane->warp].cta].grid, bank,
                                          offset_bytes, value, &known);
    return known && !lane->error;
}

static bool read_special(void *context, uint32_t number, uint32_t *value)
{
    const struct wsdbg_lane *lane = context;
    const struct wsdbg_machine_warp *warp = &lane->machine->warps[lane->warp];
    const struct wsdbg_machine_cta *cta = &lane->machine->ctas[warp->cta];
    const uint32_t ctas[] = {cta->x, cta->y, cta->z};
    if (number == SPECIAL_LANE)
        *value = lane->lane;
    else if (number - SPECIAL_THREAD_X < 3)
        *value = warp->lanes[lane->lane].thread[number - SPECIAL_THREAD_X];
    else if (number - SPECIAL_CTA_X < 3)
        *value = ctas[number - SPECIAL_CTA_X];
    else
        return false;
    return true;
}

struct wsdbg_thread_world wsdbg_lane_world(struct wsdbg_lane *lane)
{
    return (struct wsdbg_thread_world){.context = lane, .constant = read_constant, .special = read_special};
}

struct wsdbg_error *wsdbg_lane_read_uniform(struct wsdbg_machine *machine, uint32_t warp,
                                            struct wsdbg_thread_state *shared)
{
    uint32_t count = 0;
    struct wsdbg_error *error =
        machine->ops->uniform_registers(machine, warp, 0, WSDBG_URZ, shared->value + WSDBG_REGISTER_UNIFORM, &count);
    for (uint32_t i = 0; i < count; i++)
        shared->known[WSDBG_REGISTER_UNIFORM + i] = true;
    return error;
}

bool wsdbg_lane_read_registers(struct wsdbg_lane *lane, const struct wsdbg_thread_state *shared,
                               struct wsdbg_thread_state *state)
{
    struct wsdbg_machine *machine = lane->machine;
    uint32_t general = 0, mask = 0;
    bool has_predicates = false;
    *state = *shared;
    lane->error = machine->ops->registers(machine, lane->warp, lane->lane, 0, WSDBG_RZ, state->value, &general);
    if (!lane->error)
        lane->error = machine->ops->predicates(machine, lane->warp, lane->lane, &mask, &has_predicates);
    for (uint32_t i = 0; i < general; i++)
        state->known[i] = true;
    for (uint32_t i = 0; has_predicates && i < WSDBG_PT; i++) {
        state->value[WSDBG_REGISTER_PREDICATE + i] = mask >> i & 1;
        state->known[WSDBG_REGISTER_PREDICATE + i] = true;
    }
    return !lane->error && general > 0;
}
