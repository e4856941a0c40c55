/* look_operands.c - what a part of a warp waits for: the operands of its instruction, with the registers it has.
 *
 * Reads: registers, uniform registers, predicates and polled memory of one lane.  Writes: a part's operands, and what
 * was read as excerpts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look_lane.h"
#include "machine/loop_round.h"
#include "sass/follow.h"

static bool is_in_registers(const struct wsdbg_operand *operand)
{
    return (operand->kind == WSDBG_OPERAND_REGISTER && operand->number != WSDBG_RZ) ||
           (operand->kind == WSDBG_OPERAND_UNIFORM && operand->number != WSDBG_URZ) ||
           operand->kind == WSDBG_OPERAND_MEMORY;
}

static const struct wsdbg_instruction *instruction_of(const struct wsdbg_look_part *part, uint32_t number)
{
    return wsdbg_graph_instruction(part->place.function->graph, number);
}

static bool has_registers(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (is_in_registers(&instruction->sources[i]))
            return true;
    return false;
}

static bool has_operands(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_WAIT_MBARRIER || state == WSDBG_WARP_WAIT_REGISTERS || wsdbg_warp_state_polls(state);
}

bool wsdbg_look_needs_registers(const struct wsdbg_look_part *part)
{
    if (!part->place.function || part->wait)
        return false;
    const uint32_t before = part->site.barrier_before;
    if (before != WSDBG_NO_INSTRUCTION) {
        const struct wsdbg_instruction *bar = instruction_of(part, before);
        if (has_registers(bar) || (bar->guard != WSDBG_PT && part->site.guard_holds))
            return true;
    }
    return has_operands(part->site.state) && has_registers(instruction_of(part, part->site.instruction));
}

static void read_request(struct look_lane *lane, const struct wsdbg_instruction *request,
                         struct wsdbg_part_operands *operands, struct wsdbg_part *row)
{
    const struct wsdbg_operand *count = look_lane_source(request, 0);
    uint32_t value;
    if (!count || !look_lane_value(lane, count, &value))
        return;
    row->count = wsdbg_known_u32(value);
    operands->resolved = true;
}

static bool lane_value(void *context, const struct wsdbg_operand *operand, uint32_t *value)
{
    return look_lane_value(context, operand, value);
}

/* The address of a global or generic access: a pair of registers and a displacement. */
static bool global_address(struct look_lane *lane, const struct wsdbg_loop *loop, uint32_t at,
                           const struct wsdbg_operand *operand, uint64_t *address)
{
    struct wsdbg_operand part = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    uint32_t low = 0, high = 0;
    if (operand->number == WSDBG_RZ || !look_lane_kept_value(lane, loop, at, part, 0, &low))
        return false;
    part.number++;
    if (!look_lane_kept_value(lane, loop, at, part, 0, &high))
        return false;
    *address = ((uint64_t)high << 32 | low) + (uint64_t)operand->value;
    return true;
}

/* The address in shared memory, likewise: a register, a uniform one and a displacement. */
static bool shared_address(struct look_lane *lane, const struct wsdbg_loop *loop, uint32_t at,
                           const struct wsdbg_operand *operand, uint32_t *address)
{
    const struct wsdbg_operand parts[] = {{.kind = WSDBG_OPERAND_REGISTER, .number = operand->number},
                                          {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform}};
    uint32_t general_part = 0, uniform_part = 0;
    if ((operand->number != WSDBG_RZ && !look_lane_kept_value(lane, loop, at, parts[0], 0, &general_part)) ||
        (operand->uniform != WSDBG_URZ && !look_lane_kept_value(lane, loop, at, parts[1], 0, &uniform_part)))
        return false;
    *address = general_part + uniform_part + (uint32_t)operand->value;
    return true;
}

struct wsdbg_error *wsdbg_look_loop(struct wsdbg_look_loops *loops, const struct wsdbg_graph *graph,
                                    uint32_t instruction, const struct wsdbg_loop **out)
{
    struct wsdbg_look_loop *kept = &loops->recent[instruction % WSDBG_RECENT_LOOPS];
    if (kept->loop.graph != graph || kept->instruction != instruction) {
        free(kept->loop.body);
        *kept = (struct wsdbg_look_loop){.instruction = instruction};
        struct wsdbg_error *error = wsdbg_loop_around(graph, instruction, &kept->loop, &kept->found);
        if (error || !kept->found)
            kept->loop = (struct wsdbg_loop){0}; /* what it may have left there is no loop's */
        if (error)
            return error;
        kept->loop.graph = graph;
    }
    *out = kept->found ? &kept->loop : NULL;
    return NULL;
}

void wsdbg_look_forget_loops(struct wsdbg_look_loops *loops)
{
    wsdbg_look_spins_destroy(&loops->spins);
    for (size_t i = 0; i < WSDBG_RECENT_LOOPS; i++)
        free(loops->recent[i].loop.body);
}

/* The barrier and the phase that a test names, in the loop around it where there is one. */
static bool test_operands(struct look_lane *lane, const struct wsdbg_look_part *part, uint32_t *address,
                          uint32_t *phase)
{
    const uint32_t at = part->site.instruction;
    const struct wsdbg_instruction *test = instruction_of(part, at);
    const struct wsdbg_operand *memory = wsdbg_memory_operand(test), *parity = look_lane_source(test, 0);
    const struct wsdbg_loop *loop = NULL;
    if (!memory || !parity)
        return false;
    if (!lane->error)
        lane->error = wsdbg_look_loop(lane->loops, part->place.function->graph, at, &loop);
    if (!lane->error && loop && shared_address(lane, loop, at, memory, address) &&
        (parity->kind == WSDBG_OPERAND_IMMEDIATE ? look_lane_value(lane, parity, phase)
                                                 : look_lane_kept_value(lane, loop, at, *parity, 0, phase)))
        return true;
    if (lane->error || !loop || part->site.is_fresh)
        return !lane->error && look_lane_value(lane, memory, address) && look_lane_value(lane, parity, phase);
    const struct wsdbg_lane_values values = {lane, lane_value};
    const struct wsdbg_thread_world world = look_lane_world(lane);
    return !lane->error && part->site.of_several && wsdbg_loop_test_operands(loop, at, &values, &world, address, phase);
}

/* Follows the lane from where it stands to the test, which it makes next. */
static bool followed_operands(struct look_lane *lane, const struct wsdbg_look_part *part, uint32_t *address,
                              uint32_t *phase)
{
    const struct wsdbg_graph *graph = part->place.function->graph;
    const uint32_t at = part->site.instruction;
    const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction_of(part, at)),
                               *parity = look_lane_source(instruction_of(part, at), 0);
    uint64_t *stops = calloc(wsdbg_graph_instruction_count(graph) / 64 + 1, sizeof *stops);
    struct wsdbg_thread_state state;
    struct wsdbg_follow *follow = NULL;
    bool known = false;
    if (stops && memory && parity) {
        stops[at / 64] |= (uint64_t)1 << at % 64;
        look_lane_state(lane, &state);
        const struct wsdbg_follow_start start = {.graph = graph,
                                                 .instruction = part->place.instruction,
                                                 .state = &state,
                                                 .world = look_lane_world(lane),
                                                 .stops = stops};
        struct wsdbg_thread_state there;
        lane->error = wsdbg_follow_create(&start, &follow);
        known = !lane->error && wsdbg_follow_at(follow, at, &there) && look_lane_value_in(&there, memory, address) &&
                look_lane_value_in(&there, parity, phase);
    }
    wsdbg_follow_destroy(follow);
    free(stops);
    return known && !lane->error;
}

/* What the lane comes to look at: a build without optimisation keeps what its waits are made of in the stack frame, and
 * waits in functions that are called. */
static bool reached_target(struct look_lane *lane, const struct wsdbg_look_part *part, struct wsdbg_spin_target *out)
{
    bool known = false;
    if (lane->error || !part->place.function->joined)
        return false;
    lane->error = wsdbg_look_reach(lane->machine, lane->warp, lane->cta_row, &lane->loops->spins, part, out, &known);
    return known && !lane->error;
}

static bool reached_operands(struct look_lane *lane, const struct wsdbg_look_part *part, uint32_t *address,
                             uint32_t *phase)
{
    struct wsdbg_spin_target target;
    if (!reached_target(lane, part, &target) || !target.is_test)
        return false;
    *address = (uint32_t)target.address;
    *phase = target.phase << 31;
    return true;
}

/* The test's phase lies in bit 31 of its register. */
static void read_mbarrier(struct look_lane *lane, const struct wsdbg_look_part *part,
                          struct wsdbg_part_operands *operands, struct wsdbg_part *row)
{
    uint32_t phase = part->spin.phase << 31;
    operands->mbarrier = (uint32_t)part->spin.address;
    const bool known = part->spin.is_read ||
                       (part->site.operands_hold && test_operands(lane, part, &operands->mbarrier, &phase)) ||
                       (!lane->error && !part->site.of_several &&
                        (followed_operands(lane, part, &operands->mbarrier, &phase) ||
                         reached_operands(lane, part, &operands->mbarrier, &phase)));
    if (!known)
        return;
    row->parity = wsdbg_known_u32(phase >> 31);
    operands->resolved = true;
}

static bool polled_address(struct look_lane *lane, const struct wsdbg_look_part *part, bool shared, uint64_t *address)
{
    const struct wsdbg_graph *graph = part->place.function->graph;
    const uint32_t at = part->site.instruction;
    const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction_of(part, at));
    const struct wsdbg_loop *loop = NULL;
    if (!lane->error)
        lane->error = wsdbg_look_loop(lane->loops, graph, at, &loop);
    if (lane->error || !loop)
        return false;
    uint32_t offset = 0;
    const bool known = memory && (shared ? shared_address(lane, loop, at, memory, &offset)
                                         : global_address(lane, loop, at, memory, address));
    struct wsdbg_spin_target target;
    if (shared && known)
        *address = offset & WSDBG_OFFSET_MASK;
    if (known || !reached_target(lane, part, &target) || target.is_test || target.is_shared != shared)
        return known;
    *address = target.address;
    return true;
}

static void read_polled_value(struct look_lane *lane, bool shared, uint64_t address, struct wsdbg_part *row)
{
    struct wsdbg_machine *machine = lane->machine;
    const uint32_t context = machine->grids[machine->ctas[lane->cta].grid].context;
    uint64_t value = 0;
    bool known = false;
    const uint32_t bytes = row->width_bytes.value;
    if (!bytes || bytes > sizeof value || lane->error)
        return;
    lane->error = shared ? machine->ops->shared(machine, lane->cta, (uint32_t)address, &value, bytes, &known)
                         : machine->ops->global(machine, context, address, &value, bytes, &known);
    if (known && !lane->error)
        row->value = wsdbg_known_u64(value);
}

/* Shared memory has addresses among the global ones, where the context says from where on. */
static struct wsdbg_optional_u64 shown_address(const struct look_lane *lane, bool shared, uint64_t address)
{
    const struct wsdbg_machine *machine = lane->machine;
    const uint32_t context = machine->grids[machine->ctas[lane->cta].grid].context;
    const struct wsdbg_optional_u64 window = machine->contexts[context].shared_window;
    if (!shared)
        return wsdbg_known_u64(address);
    return window.known ? wsdbg_known_u64(window.value + address) : (struct wsdbg_optional_u64){0};
}

/* Memory that the evidence does not have may still be known from the register it was loaded into. */
static void read_loaded_value(struct look_lane *lane, const struct wsdbg_instruction *load, uint32_t offset,
                              struct wsdbg_part *row)
{
    const struct wsdbg_operand *filled = wsdbg_loaded_register(load);
    const uint32_t bytes = row->width_bytes.value, number = filled ? filled->number + offset / 4 : 0;
    uint32_t low = 0, high = 0;
    if (!filled || (bytes != 4 && bytes != 8) || !look_lane_general(lane, number, &low) ||
        (bytes == 8 && !look_lane_general(lane, number + 1, &high)))
        return;
    row->value = wsdbg_known_u64((uint64_t)high << 32 | low);
}

/* What a lane polls that was followed round its loop (spin.h). */
static void take_spin(const struct look_lane *lane, const struct wsdbg_look_part *part,
                      struct wsdbg_part_operands *operands, struct wsdbg_part *row)
{
    if (!part->spin.is_read)
        return;
    row->width_bytes = wsdbg_known_u32(part->spin.width_bytes);
    row->address = shown_address(lane, part->site.state == WSDBG_WARP_SPIN_SHARED, part->spin.address);
    row->value = wsdbg_known_u64(part->spin.value);
    operands->resolved = true;
}

static void read_poll(struct look_lane *lane, const struct wsdbg_instruction *load, const struct wsdbg_look_part *part,
                      struct wsdbg_part_operands *operands, struct wsdbg_part *row)
{
    const bool shared = part->site.state == WSDBG_WARP_SPIN_SHARED;
    const bool can_be_reached = part->place.function->joined && !part->spin.is_read;
    uint64_t address;
    if (part->spin.is_found && !can_be_reached) {
        take_spin(lane, part, operands, row);
        return;
    }
    if (load->width_bytes)
        row->width_bytes = wsdbg_known_u32(part->site.word_bytes ? part->site.word_bytes : load->width_bytes);
    if (!polled_address(lane, part, shared, &address))
        return;
    address += part->site.word_offset;
    row->address = shown_address(lane, shared, address);
    operands->resolved = true;
    read_polled_value(lane, shared, address, row);
    if (!row->value.known && part->site.value_holds)
        read_loaded_value(lane, load, part->site.word_offset, row);
}

static struct wsdbg_error *keep(struct wsdbg_look_tables *tables, uint32_t kind, uint32_t warp, uint32_t lane,
                                uint32_t count, const uint32_t words[WSDBG_EXCERPT_WORDS])
{
    struct wsdbg_snapshot *out = tables->out;
    if (count == 0)
        return NULL;
    if (!wsdbg_grow((void **)&out->excerpts, &tables->capacity.excerpts, out->excerpt_count + 1, sizeof *out->excerpts))
        return &wsdbg_error_no_memory;
    struct wsdbg_excerpt *row = &out->excerpts[out->excerpt_count++];
    *row =
        (struct wsdbg_excerpt){.kind = kind, .cta = out->warps[warp].cta, .warp = warp, .lane = lane, .count = count};
    memcpy(row->words, words, count * sizeof *words);
    return NULL;
}

static struct wsdbg_error *read_registers(struct look_lane *lane, uint32_t warp, struct wsdbg_look_tables *tables)
{
    struct wsdbg_machine *machine = lane->machine;
    struct wsdbg_error *error = machine->ops->registers(machine, lane->warp, lane->lane, 0, WSDBG_EXCERPT_WORDS,
                                                        lane->general, &lane->general_count);
    if (!error)
        error = machine->ops->uniform_registers(machine, lane->warp, 0, WSDBG_EXCERPT_WORDS, lane->uniform,
                                                &lane->uniform_count);
    if (!error)
        error = keep(tables, WSDBG_EXCERPT_REGISTERS, warp, lane->lane, lane->general_count, lane->general);
    return error ? error : keep(tables, WSDBG_EXCERPT_UNIFORM, warp, WSDBG_NONE, lane->uniform_count, lane->uniform);
}

static void read_site(struct look_lane *lane, const struct wsdbg_look_part *part, struct wsdbg_part_operands *operands,
                      struct wsdbg_part *row)
{
    const struct wsdbg_instruction *instruction = instruction_of(part, part->site.instruction);
    if (part->site.state == WSDBG_WARP_WAIT_MBARRIER)
        read_mbarrier(lane, part, operands, row);
    else if (part->site.operands_hold && part->site.state == WSDBG_WARP_WAIT_REGISTERS)
        read_request(lane, instruction, operands, row);
    else if (wsdbg_warp_state_polls(part->site.state))
        read_poll(lane, instruction, part, operands, row);
}

/* The source knows them. */
static void take_operands(const struct wsdbg_machine_wait *wait, const struct wsdbg_grid *grid,
                          struct wsdbg_part_operands *operands, struct wsdbg_part *row)
{
    row->seen = operands->resolved = true;
    switch (wait->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        operands->mbarrier = wait->barrier;
        row->parity = wsdbg_known_u32(wait->parity);
        break;
    case WSDBG_WARP_WAIT_NAMED:
        operands->bar_known = true;
        operands->bar_id = wait->barrier;
        operands->bar_threads = wait->count ? wait->count : grid->warps_per_cta * WSDBG_MACHINE_LANES;
        break;
    case WSDBG_WARP_WAIT_REGISTERS:
    case WSDBG_WARP_WAIT_WGMMA:
    case WSDBG_WARP_WAIT_BULK:
        row->count = wsdbg_known_u32(wait->count);
        break;
    case WSDBG_WARP_SPIN_GLOBAL:
    case WSDBG_WARP_SPIN_SHARED:
        row->width_bytes = wait->width_bytes;
        row->address = wait->address;
        row->value = wait->value;
        break;
    default:
        break;
    }
}

struct wsdbg_error *wsdbg_look_part_operands(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                             uint32_t number, struct wsdbg_look_loops *loops,
                                             struct wsdbg_look_tables *tables, struct wsdbg_part_operands *operands)
{
    const struct wsdbg_look_part *part = &seen->parts[number];
    struct wsdbg_part *row = &tables->out->parts[number];
    const uint32_t cta = tables->out->warps[row->warp].cta;
    struct look_lane lane = {.machine = source->machine,
                             .warp = seen->warps[row->warp].machine,
                             .lane = part->lane,
                             .cta = seen->ctas[cta].machine,
                             .rank = tables->out->ctas[cta].cluster_rank,
                             .cta_row = &tables->out->ctas[cta],
                             .loops = loops};
    const bool needs = part->place.function && wsdbg_look_needs_registers(part);
    if (!part->place.function)
        return NULL;
    if (part->wait) {
        take_operands(part->wait, &tables->out->grids[tables->out->ctas[cta].grid], operands, row);
        return NULL;
    }
    if (needs)
        lane.error = read_registers(&lane, row->warp, tables);
    const bool has_none = needs && !lane.general_count && !lane.uniform_count;
    if (!lane.error && part->site.barrier_before != WSDBG_NO_INSTRUCTION)
        look_bar_read(&lane, part, operands);
    if (!lane.error)
        read_site(&lane, part, operands, row);
    row->seen = !lane.error && !has_none;
    return lane.error;
}

/* A pair of registers is an address of 64 bits, and what is added to it a pair of uniform ones. */
static bool pair_address(struct look_lane *lane, const struct wsdbg_operand *operand, uint64_t *address)
{
    uint32_t low = 0, high = 0, uniform_low = 0, uniform_high = 0;
    if (operand->number != WSDBG_RZ &&
        (!look_lane_general(lane, operand->number, &low) || !look_lane_general(lane, operand->number + 1u, &high)))
        return false;
    if (operand->uniform != WSDBG_URZ && (!look_lane_uniform(lane, operand->uniform, &uniform_low) ||
                                          !look_lane_uniform(lane, operand->uniform + 1u, &uniform_high)))
        return false;
    *address = ((uint64_t)high << 32 | low) + ((uint64_t)uniform_high << 32 | uniform_low) + (uint64_t)operand->value;
    return true;
}

struct wsdbg_error *wsdbg_look_address(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane_number,
                                       const struct wsdbg_operand *operand, uint64_t *address, bool *known)
{
    struct look_lane lane = {.machine = machine, .warp = warp, .lane = lane_number};
    uint32_t offset = 0;
    const bool is_pair = operand->kind == WSDBG_OPERAND_MEMORY && operand->registers == 2;
    *known = is_pair ? pair_address(&lane, operand, address) : look_lane_value(&lane, operand, &offset);
    if (!is_pair)
        *address = offset;
    return lane.error;
}
