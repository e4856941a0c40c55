/* look_bar.c - finds the id and the thread count that a BAR names, where a part's program counter is behind that BAR.
 *
 * Reads: registers and predicates of one lane, code.  Writes: a part's operands.
 */
#include "machine/look_lane.h"

/* Where the registers of a stretch of code are written last. */
struct last_writes {
    uint32_t at[WSDBG_REGISTER_COUNT]; /* WSDBG_NO_INSTRUCTION = nowhere */
};

static void find_last_writes(const struct wsdbg_graph *graph, uint32_t first, uint32_t end, struct last_writes *out)
{
    for (size_t reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        out->at[reg] = WSDBG_NO_INSTRUCTION;
    for (uint32_t i = first; i < end; i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, i);
        for (unsigned d = 0; d < instruction->destination_count; d++)
            for (unsigned part = 0; part == 0 || part < instruction->destinations[d].registers; part++) {
                const unsigned reg = wsdbg_register_of(&instruction->destinations[d], part);
                if (reg < WSDBG_REGISTER_COUNT)
                    out->at[reg] = i;
            }
    }
}

/* What the instruction has written, and nothing since, is there now. */
static void take_present(const struct wsdbg_instruction *instruction, uint32_t number, const struct last_writes *writes,
                         const struct wsdbg_thread_state *now, struct wsdbg_thread_state *state)
{
    for (unsigned d = 0; d < instruction->destination_count; d++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[d].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[d], part);
            if (reg >= WSDBG_REGISTER_COUNT || writes->at[reg] != number || !now->known[reg])
                continue;
            wsdbg_thread_forget(state, reg);
            wsdbg_thread_set_bits(state, reg, now->value[reg], UINT32_MAX);
        }
}

static bool writes_needed(const struct wsdbg_instruction *instruction, const bool *needed)
{
    for (unsigned d = 0; d < instruction->destination_count; d++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[d].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[d], part);
            if (reg < WSDBG_REGISTER_COUNT && needed[reg])
                return true;
        }
    return false;
}

static void need_sources(const struct wsdbg_instruction *instruction, bool *needed)
{
    for (unsigned s = 0; s < instruction->source_count; s++)
        for (unsigned part = 0; part == 0 || part < instruction->sources[s].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->sources[s], part);
            if (reg < WSDBG_REGISTER_COUNT)
                needed[reg] = true;
        }
}

/* A look has read only the first registers of a lane.  Reads the others that the operands of the BAR depend on, from
 * the begin of its block, and that nothing writes up to the counter. */
static void read_others(struct look_lane *lane, const struct wsdbg_graph *graph, uint32_t first, uint32_t bar,
                        const struct last_writes *writes, struct wsdbg_thread_state *now)
{
    bool needed[WSDBG_REGISTER_COUNT] = {false};
    need_sources(wsdbg_graph_instruction(graph, bar), needed);
    for (uint32_t i = bar; i-- > first;)
        if (writes_needed(wsdbg_graph_instruction(graph, i), needed))
            need_sources(wsdbg_graph_instruction(graph, i), needed);
    for (uint32_t reg = lane->general_count; reg < WSDBG_RZ; reg++)
        if (needed[reg] && writes->at[reg] == WSDBG_NO_INSTRUCTION)
            now->known[reg] = look_lane_general(lane, reg, &now->value[reg]);
}

/* What registers held at a BAR that the lane has passed: calculated from the begin of its block, of registers that were
 * not written since. */
static void find_state_at(struct look_lane *lane, const struct wsdbg_look_part *part, uint32_t bar,
                          const struct wsdbg_thread_world *world, struct wsdbg_thread_state *state)
{
    const struct wsdbg_graph *graph = part->place.function->graph;
    const uint32_t first = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, bar))->first;
    struct wsdbg_thread_state now;
    struct last_writes writes;
    look_lane_state(lane, &now);
    find_last_writes(graph, first, part->place.instruction, &writes);
    read_others(lane, graph, first, bar, &writes, &now);
    *state = now;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (writes.at[reg] != WSDBG_NO_INSTRUCTION)
            wsdbg_thread_forget(state, reg);
    for (uint32_t i = first; i < bar; i++) {
        wsdbg_thread_step(wsdbg_graph_instruction(graph, i), world, state);
        take_present(wsdbg_graph_instruction(graph, i), i, &writes, &now, state);
    }
}

/* What a register held at the BAR: its present value or, if it was written since, a calculated one. */
static bool bar_value(struct look_lane *lane, const struct wsdbg_look_part *part, const struct wsdbg_operand *operand,
                      uint32_t *value)
{
    const struct wsdbg_thread_world world = look_lane_world(lane);
    struct wsdbg_thread_state state;
    if (part->site.bar_holds || operand->kind == WSDBG_OPERAND_IMMEDIATE)
        return look_lane_value(lane, operand, value);
    find_state_at(lane, part, part->site.barrier_before, &world, &state);
    return !lane->error && look_lane_value_in(&state, operand, value);
}

/* One register with `threads << 16 | id`, or id and threads of their own. */
void look_bar_read(struct look_lane *lane, const struct wsdbg_look_part *part, struct wsdbg_part_operands *operands)
{
    const struct wsdbg_instruction *bar =
        wsdbg_graph_instruction(part->place.function->graph, part->site.barrier_before);
    const bool guard_holds = part->site.guard_holds;
    const struct wsdbg_operand *id = look_lane_source(bar, 0), *threads = look_lane_source(bar, 1);
    uint32_t mask = 0;
    bool known = false;
    struct wsdbg_machine *machine = lane->machine;
    if (bar->guard != WSDBG_PT && !bar->guard_is_uniform && guard_holds) {
        if (!lane->error)
            lane->error = machine->ops->predicates(machine, lane->warp, lane->lane, &mask, &known);
        operands->bar_skipped = known && (mask >> bar->guard & 1) == bar->guard_is_negated;
    }
    operands->bar_threads = 0;
    if (!id || !bar_value(lane, part, id, &operands->bar_id) ||
        (threads && !bar_value(lane, part, threads, &operands->bar_threads)))
        return;
    const bool packed = threads && id->kind == WSDBG_OPERAND_REGISTER && threads->kind == WSDBG_OPERAND_REGISTER &&
                        id->number == threads->number;
    if (packed)
        operands->bar_threads >>= 16;
    operands->bar_id &= 15;
    operands->bar_known = true;
}
