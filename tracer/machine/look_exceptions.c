/* look_exceptions.c - errors that the GPU reported of warps: which instruction it was, and what that was to work on.
 *
 * Reads: lanes' exceptions, error PCs, and registers of the lanes they were reported of.  Writes: snapshot.exceptions,
 * what ended each context, and what was read as excerpts.
 *
 * Most errors are a warp's: a core dump reports them of all its lanes, the debug interface may report them of one.
 * Either way that tells nothing of a thread; those that were at the instruction are the active lanes whose guard holds.
 * A simulated device tells the thread and what it accessed.
 * A warp may go on for a few instructions before it is stopped: an operand, or a guard, is known only where none of
 * those between the instruction and the lane's counter (passed_way.h) wrote a register of it.  Registers are
 * read for so long as those of warps that only add to a state are: where the GPU stands still for it, an error of all
 * its warps must not use up the look.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"
#include "machine/passed_way.h"
#include "sass/flow.h"

/* CUDBGException_t: of a thread are those, all others of its warp or of more. */
enum { LANE_MISALIGNED = 11, WARP_MISALIGNED = 6, COPIES_MOST = 256 };
#define OF_A_LANE (1u << 1 | 1u << 2 | 1u << LANE_MISALIGNED | 1u << 13 | 1u << 15 | 1u << 16)

struct exceptions {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    struct wsdbg_machine *machine;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    uint64_t until_ns; /* registers are read; the clock is wsdbg_look_now_ns() */
};

static bool is_of_lane(uint32_t code)
{
    return code < 32 && OF_A_LANE >> code & 1;
}

/* What ends a context is known also where its warps have no rows. */
static void end_contexts(const struct wsdbg_machine *machine, struct wsdbg_snapshot *out)
{
    for (size_t i = 0; i < machine->warp_count; i++) {
        const struct wsdbg_machine_warp *warp = &machine->warps[i];
        const uint32_t grid = warp->cta < machine->cta_count ? machine->ctas[warp->cta].grid : WSDBG_NONE;
        const uint32_t context = grid < machine->grid_count ? machine->grids[grid].context : WSDBG_NONE;
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES && context < out->context_count; lane++) {
            struct wsdbg_context *row = &out->contexts[context];
            if (row->error == 0 && wsdbg_machine_exception(warp, lane)) {
                row->error = -(int32_t)wsdbg_machine_exception(warp, lane);
                row->alive = false;
            }
        }
    }
}

/* Whether the lane executed the instruction, as far as its guard tells. */
static struct wsdbg_error *is_guard_open(struct wsdbg_machine *machine, uint32_t machine_warp, uint32_t lane,
                                         const struct wsdbg_code_place *place, const struct passed_way *way, bool *open,
                                         bool *known)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(place->function->graph, place->instruction);
    const struct wsdbg_operand guard = {.kind = WSDBG_OPERAND_PREDICATE, .number = instruction->guard, .registers = 1};
    uint32_t mask = 0;
    *open = *known = instruction->guard == WSDBG_PT;
    if (*known || instruction->guard_is_uniform || !passed_way_keeps(place, way, &guard))
        return NULL;
    struct wsdbg_error *error = machine->ops->predicates(machine, machine_warp, lane, &mask, known);
    *open = !error && *known && (mask >> instruction->guard & 1) != instruction->guard_is_negated;
    return error;
}

/* Of the lanes that the error was reported of, those that were at the instruction; 0 = not known. */
static struct wsdbg_error *find_lanes(struct wsdbg_machine *machine, const struct wsdbg_code_place *place,
                                      uint32_t machine_warp, uint32_t reported, uint32_t *lanes)
{
    const struct wsdbg_machine_warp *warp = &machine->warps[machine_warp];
    struct wsdbg_error *error = NULL;
    bool all_known = true;
    *lanes = 0;
    for (uint32_t lane = 0; !error && all_known && lane < WSDBG_MACHINE_LANES; lane++) {
        struct passed_way way;
        bool open = false;
        if (!(reported & warp->active_lanes & warp->valid_lanes & UINT32_C(1) << lane))
            continue;
        all_known = passed_way_find(place, warp->lanes[lane].pc, &way);
        if (all_known)
            error = is_guard_open(machine, machine_warp, lane, place, &way, &open, &all_known);
        *lanes |= (uint32_t)open << lane;
    }
    *lanes = all_known ? *lanes : 0;
    return error;
}

static const struct wsdbg_access *access_at(const struct wsdbg_look_grid *grid, const struct wsdbg_code_place *place)
{
    for (size_t i = 0; grid->kernel && grid->kernel->function == place->function && i < grid->kernel->access_count; i++)
        if (grid->kernel->accesses[i].instruction == place->instruction)
            return &grid->kernel->accesses[i];
    return NULL;
}

static uint32_t barrier_at(const struct wsdbg_snapshot *out, uint32_t cta, uint32_t offset)
{
    for (uint32_t i = 0; i < out->barrier_count; i++)
        if (out->barriers[i].cta == cta && out->barriers[i].kind == WSDBG_BARRIER_MBARRIER &&
            out->barriers[i].shared_offset.known && out->barriers[i].shared_offset.value == offset)
            return i;
    return WSDBG_NONE;
}

static bool names_memory(const struct wsdbg_instruction *instruction, bool *in_shared)
{
    *in_shared = wsdbg_operation_is_memory(instruction->operation) &&
                 wsdbg_operation_space(instruction->operation) == WSDBG_SPACE_SHARED;
    return *in_shared || wsdbg_operation_is_global_access(instruction->operation);
}

/* What the operand names in the lanes that were at the instruction. */
struct addresses {
    bool known; /* of all of them */
    uint64_t lowest, highest, odd;
    uint32_t odd_lane; /* the first whose address, `odd`, is no multiple of the width; WSDBG_MACHINE_LANES = none */
};

static void add_address(struct addresses *addresses, uint32_t lane, uint64_t address, uint32_t width_bytes)
{
    if (address < addresses->lowest)
        addresses->lowest = address;
    if (address > addresses->highest)
        addresses->highest = address;
    if (addresses->odd_lane < WSDBG_MACHINE_LANES || width_bytes == 0 || address % width_bytes == 0)
        return;
    addresses->odd_lane = lane;
    addresses->odd = address;
}

static struct wsdbg_error *find_addresses(struct wsdbg_machine *machine, uint32_t machine_warp,
                                          const struct wsdbg_code_place *place, uint32_t lanes, struct addresses *out)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(place->function->graph, place->instruction);
    const struct wsdbg_operand *operand = wsdbg_memory_operand(instruction);
    const struct wsdbg_machine_warp *warp = &machine->warps[machine_warp];
    struct wsdbg_error *error = NULL;
    *out = (struct addresses){.known = operand && lanes, .lowest = UINT64_MAX, .odd_lane = WSDBG_MACHINE_LANES};
    for (uint32_t left = lanes; !error && out->known && left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t address = 0;
        struct passed_way way;
        out->known = passed_way_find(place, warp->lanes[lane].pc, &way) && passed_way_keeps(place, &way, operand);
        if (out->known)
            error = wsdbg_look_address(machine, machine_warp, lane, operand, &address, &out->known);
        if (out->known)
            add_address(out, lane, address, instruction->width_bytes);
    }
    return error;
}

/* The mbarrier at a place of a CTA; or the place itself, where none is known there and the CTA is the warp's own. */
static void set_place(const struct wsdbg_snapshot *out, uint32_t cta, uint32_t offset, struct wsdbg_exception *row)
{
    row->barrier = barrier_at(out, cta, offset);
    row->in_shared = row->barrier == WSDBG_NONE && cta == out->warps[row->warp].cta;
    if (!row->in_shared)
        return;
    row->address = wsdbg_known_u64(offset);
    row->last_address = offset;
}

/* The mbarrier by the lanes' registers, or by the code alone where that names one. */
static void find_barrier(const struct wsdbg_snapshot *out, const struct wsdbg_access *access,
                         struct wsdbg_optional_u64 address, struct wsdbg_exception *row)
{
    const uint32_t cta = out->warps[row->warp].cta;
    if (address.known) {
        const uint32_t target = wsdbg_look_target(out, cta, (uint32_t)address.value);
        if (target != WSDBG_NONE && !wsdbg_snapshot_cta_has_left(out, target))
            set_place(out, target, (uint32_t)address.value & WSDBG_OFFSET_MASK, row);
        else if ((uint32_t)address.value >> WSDBG_RANK_SHIFT < out->ctas[cta].cluster_size)
            row->remote = true;
        else
            row->access = 0; /* it names no CTA that there ever was */
    } else if (access->address.known && access->address.count == 1 && !access->is_any_rank) {
        row->barrier = barrier_at(out, cta, (uint32_t)access->address.base & WSDBG_OFFSET_MASK);
    }
}

static void set_thread(struct wsdbg_exception *row, const struct wsdbg_machine_warp *warp, uint32_t lane)
{
    memcpy(row->thread, warp->lanes[lane].thread, sizeof row->thread);
    row->thread_known = true;
}

/* Of a misaligned address: the thread and the address that are at fault, where registers show them. */
static void set_addresses(struct wsdbg_exception *row, const struct addresses *addresses,
                          const struct wsdbg_machine_warp *warp, const struct wsdbg_instruction *instruction)
{
    const bool misaligned = row->code == WARP_MISALIGNED || row->code == LANE_MISALIGNED;
    if (!addresses->known)
        return;
    row->address = wsdbg_known_u64(addresses->lowest);
    row->last_address = addresses->highest;
    if (!misaligned || addresses->odd_lane == WSDBG_MACHINE_LANES)
        return;
    row->address = wsdbg_known_u64(addresses->odd);
    row->last_address = addresses->odd;
    row->misaligned_bytes = instruction->width_bytes;
    set_thread(row, warp, addresses->odd_lane);
}

/* Which lanes were at the instruction, and what they accessed. */
static struct wsdbg_error *find_operands(const struct exceptions *exceptions, const struct wsdbg_code_place *place,
                                         uint32_t machine_warp, struct wsdbg_exception *row, struct addresses *out)
{
    struct wsdbg_machine *machine = exceptions->machine;
    const struct wsdbg_machine_warp *warp = &machine->warps[machine_warp];
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(place->function->graph, place->instruction);
    *out = (struct addresses){.lowest = UINT64_MAX, .odd_lane = WSDBG_MACHINE_LANES};
    if (warp->error_lanes) {
        row->at_lanes = warp->error_lanes;
        out->known = warp->error_address.known;
        if (out->known)
            add_address(out, (uint32_t)__builtin_ctz(warp->error_lanes), warp->error_address.value,
                        instruction->width_bytes);
        return NULL;
    }
    if (wsdbg_look_now_ns() >= exceptions->until_ns)
        return NULL;
    struct wsdbg_error *error = find_lanes(machine, place, machine_warp, row->lanes, &row->at_lanes);
    return error ? error : find_addresses(machine, machine_warp, place, row->at_lanes, out);
}

/* What the instruction at an exact place was to work on, and which lanes were there. */
static struct wsdbg_error *find_object(const struct exceptions *exceptions, const struct wsdbg_code_place *place,
                                       struct wsdbg_exception *row)
{
    struct wsdbg_machine *machine = exceptions->machine;
    const struct wsdbg_snapshot *out = exceptions->out;
    const uint32_t machine_warp = exceptions->seen->warps[row->warp].machine;
    const struct wsdbg_machine_warp *warp = &machine->warps[machine_warp];
    const struct wsdbg_look_grid *grid = &exceptions->seen->grids[out->ctas[out->warps[row->warp].cta].grid];
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(place->function->graph, place->instruction);
    const struct wsdbg_access *access = access_at(grid, place);
    struct addresses addresses = {0};
    struct wsdbg_error *error = find_operands(exceptions, place, machine_warp, row, &addresses);
    if (error)
        return error;
    row->trapped = wsdbg_flow_is_trap(instruction);
    if (row->at_lanes && !(row->at_lanes & (row->at_lanes - 1)))
        set_thread(row, warp, (uint32_t)__builtin_ctz(row->at_lanes));
    if (access && wsdbg_is_mbarrier_access(access->kind)) {
        const bool alike = addresses.known && addresses.lowest == addresses.highest;
        row->access = access->kind;
        find_barrier(out, access, (struct wsdbg_optional_u64){.known = alike, .value = addresses.lowest}, row);
    } else if (access && (access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_NAMED_ARRIVE)) {
        row->access = access->kind;
    } else if (names_memory(instruction, &row->in_shared)) {
        set_addresses(row, &addresses, warp, instruction);
    }
    return NULL;
}

/* The copy of a function in which the instruction was, if the warp still stands in the function and it is known in
 * which copy of it. */
static void find_copy(const struct exceptions *exceptions, uint32_t warp, const struct wsdbg_code_function *kernel,
                      struct wsdbg_look_part *at)
{
    const struct wsdbg_warp_row *row = &exceptions->out->warps[warp];
    struct wsdbg_joined_place places[COPIES_MOST];
    uint32_t number, copy = WSDBG_GRAPH_NONE;
    const struct wsdbg_cubin_function *function = wsdbg_code_origin(&at->own, &number);
    const size_t count = wsdbg_joined_places(kernel->joined, function, number, places, COPIES_MOST);
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++) {
        const struct wsdbg_look_part *part = &exceptions->seen->parts[i];
        if (part->copies != 1 || part->own.function != at->own.function)
            continue;
        if (copy != WSDBG_GRAPH_NONE && copy != part->copy)
            return;
        copy = part->copy;
    }
    for (size_t i = 0; i < count && i < COPIES_MOST; i++)
        if (places[i].copy == copy) {
            at->place.instruction = places[i].instruction;
            at->copies = 1;
        }
}

static struct wsdbg_error *add(const struct exceptions *exceptions, uint32_t warp, uint32_t lane, uint32_t lanes)
{
    struct wsdbg_snapshot *out = exceptions->out;
    const struct wsdbg_machine_warp *machine_warp = &exceptions->machine->warps[exceptions->seen->warps[warp].machine];
    const struct wsdbg_machine_lane *thread = &machine_warp->lanes[lane];
    const struct wsdbg_grid *grid = &out->grids[out->ctas[out->warps[warp].cta].grid];
    struct wsdbg_code_place place;
    if (!wsdbg_grow((void **)&out->exceptions, &exceptions->tables->capacity.exceptions, out->exception_count + 1,
                    sizeof *out->exceptions))
        return &wsdbg_error_no_memory;
    struct wsdbg_exception *row = &out->exceptions[out->exception_count++];
    *row = (struct wsdbg_exception){.warp = warp,
                                    .code = thread->exception,
                                    .lanes = lanes,
                                    .thread_known = !(lanes & (lanes - 1)),
                                    .thread = {thread->thread[0], thread->thread[1], thread->thread[2]},
                                    .pc = machine_warp->error_pc.known ? machine_warp->error_pc.value : thread->pc,
                                    .exact = machine_warp->error_pc.known,
                                    .site = WSDBG_NONE,
                                    .barrier = WSDBG_NONE};
    struct wsdbg_error *error = wsdbg_code_locate(exceptions->source->code, exceptions->machine,
                                                  exceptions->seen->grids[grid - out->grids].machine, row->pc, &place);
    if (error || !place.function)
        return error;
    struct wsdbg_look_part part = {.place = place, .named = place};
    if (wsdbg_code_is_decoded(&place))
        error = wsdbg_look_first_copy(exceptions->seen->grids[grid - out->grids].kernel, &part);
    if (!error && part.copies > 1)
        find_copy(exceptions, warp, part.place.function, &part);
    if (!error) /* of several copies each does the same, but which calls led there is not known */
        error = wsdbg_look_site(exceptions->tables, part.copies == 1 ? &part.place : &place, grid->module, &row->site);
    return error || !row->exact || !wsdbg_code_is_decoded(&place) ? error : find_object(exceptions, &part.place, row);
}

/* One row for the lanes of a warp with the same number; where that is the warp's, for all its lanes. */
static struct wsdbg_error *add_warp(const struct exceptions *exceptions, uint32_t warp)
{
    const struct wsdbg_machine_warp *machine_warp = &exceptions->machine->warps[exceptions->seen->warps[warp].machine];
    struct wsdbg_error *error = NULL;
    uint32_t done = 0;
    for (uint32_t lane = 0; !error && lane < WSDBG_MACHINE_LANES; lane++) {
        uint32_t lanes = 0;
        const uint32_t code = done >> lane & 1 ? 0 : wsdbg_machine_exception(machine_warp, lane);
        for (uint32_t other = lane; code && other < WSDBG_MACHINE_LANES; other++)
            if (wsdbg_machine_exception(machine_warp, other) == code)
                lanes |= 1u << other;
        done |= lanes;
        if (code)
            error = add(exceptions, warp, lane,
                        is_of_lane(code) || machine_warp->error_lanes ? lanes : machine_warp->valid_lanes);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_exceptions(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                          struct wsdbg_look_tables *tables)
{
    const struct exceptions exceptions = {.source = source,
                                          .seen = seen,
                                          .machine = source->machine,
                                          .tables = tables,
                                          .out = tables->out,
                                          .until_ns = wsdbg_look_now_ns() + source->budget.rest_ns};
    struct wsdbg_error *error = NULL;
    end_contexts(source->machine, tables->out);
    for (uint32_t i = 0; !error && i < tables->out->warp_count; i++)
        if (seen->warps[i].machine != WSDBG_NONE)
            error = add_warp(&exceptions, i);
    return error;
}
