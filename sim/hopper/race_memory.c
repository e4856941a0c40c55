/* race_memory.c - accesses of warps, copies and matrix work, as the race checker sees them; see race.h.
 *
 * Asynchronous work counts when it is issued, whatever the schedule makes of it: it may touch its memory at any time
 * from then on until somebody has waited for it.
 */
#include <stdlib.h>
#include <string.h>

#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/race_state.h"
#include "hopper/values.h"

/* An access under way: of shared memory of the warp's cluster or of global memory. */
struct look {
    struct hopper_race_context context;
    struct race_find find;
    struct race_access access;
    struct race_visit visit;
    bool is_ready;
};

static struct race_access access_of(const struct hopper_step *step, const struct hopper_race_warp *agent,
                                    uint32_t flags)
{
    return (struct race_access){.component = agent->component,
                                .time = race_clock_time(&agent->now.ways[RACE_SEEN], agent->component),
                                .site = hopper_race_site(step),
                                .agent = agent->agent,
                                .flags = flags};
}

static void look_begin(struct look *look, const struct hopper_step *step, const struct hopper_race_warp *agent,
                       bool is_shared, bool is_write, struct race_access access)
{
    const struct hopper_cta *const cta = step->warp->cta;
    struct race_shadow *const shadow = is_shared ? hopper_race_shared(cta->cluster) : hopper_race_global(cta->grid);
    look->context = (struct hopper_race_context){cta->grid, is_shared ? cta->cluster : NULL};
    look->find = (struct race_find){hopper_race_found, &look->context};
    look->access = access;
    look->is_ready = shadow != NULL;
    if (shadow)
        race_visit_begin(&look->visit, shadow, &look->access, is_write, &agent->now, &look->find);
}

static inline void look_at(struct look *look, uint64_t address, uint32_t byte_count)
{
    if (look->is_ready)
        race_visit_range(&look->visit, address, byte_count);
}

/* Looks at adjacent bytes of several lanes as one range, and at bytes that several lanes touch only once. */
static void look_at_lanes(struct look *look, uint64_t base, const uint64_t addresses[HOPPER_LANES], uint32_t lanes,
                          uint32_t byte_count)
{
    uint64_t begin = 0, end = 0;
    HOPPER_LANES_OF (lanes) {
        const uint64_t address = base + addresses[lane];
        if (address >= begin && address + byte_count <= end)
            continue;
        if (address == end) {
            end += byte_count;
            continue;
        }
        look_at(look, begin, (uint32_t)(end - begin));
        begin = address;
        end = address + byte_count;
    }
    look_at(look, begin, (uint32_t)(end - begin));
}

static bool is_strong(const struct hopper_step *step)
{
    const uint16_t operation = step->instruction->operation;
    return operation == WSDBG_PTX_OP_atom || operation == WSDBG_PTX_OP_red ||
           step->instruction->flags & (WSDBG_PTX_VOLATILE | WSDBG_PTX_RELAXED | WSDBG_PTX_ACQUIRE | WSDBG_PTX_RELEASE);
}

/* ---- warps ---- */

static void look_at_places(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                           bool reads, bool writes, uint32_t flags)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const bool is_shared = places->space == WSDBG_PTX_SHARED;
    if (!agent || (!is_shared && places->space != WSDBG_PTX_GLOBAL))
        return;
    const bool strong = is_strong(step);
    struct hopper_cta *const cta = is_shared ? places->cta : NULL;
    const uint64_t base = cta ? (uint64_t)(uintptr_t)cta->shared : 0;
    const uint64_t key = cta ? hopper_race_key(cta, 0) : 0;
    const uint32_t lanes = places->is_uniform ? step->lanes & -step->lanes : step->lanes;
    struct look look;
    if (strong && reads) /* what it acquires is known to what it writes */
        HOPPER_LANES_OF (lanes)
            hopper_race_strong(step, cta, key + places->base + places->addresses[lane] - base, true, false);
    look_begin(&look, step, agent, is_shared, writes, access_of(step, agent, strong ? RACE_STRONG : flags));
    look_at_lanes(&look, key + places->base - base, places->addresses, lanes, byte_count);
    if (strong && writes)
        HOPPER_LANES_OF (lanes)
            hopper_race_strong(step, cta, key + places->base + places->addresses[lane] - base, false, true);
}

void hopper_race_places(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        bool reads, bool writes)
{
    look_at_places(step, places, byte_count, reads, writes, 0);
}

static void look_at_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count,
                          bool writes, uint32_t flags)
{
    struct hopper_places places = {
        .base = (uint64_t)(uintptr_t)block->memory, .space = block->space, .cta = block->cta};
    if (is_strong(step)) {
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            places.addresses[lane] = (uint64_t)lane * byte_count;
        hopper_race_places(step, &places, byte_count, !writes, writes);
        return;
    }
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const bool is_shared = block->space == WSDBG_PTX_SHARED;
    struct look look;
    if (!agent)
        return;
    look_begin(&look, step, agent, is_shared, writes, access_of(step, agent, flags));
    look_at(&look,
            is_shared ? hopper_race_key(block->cta, (uint32_t)(block->memory - block->cta->shared)) : places.base,
            byte_count * HOPPER_LANES);
}

void hopper_race_loaded_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count)
{
    look_at_block(step, block, byte_count, false, 0);
}

void hopper_race_before(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        struct hopper_race_before *before)
{
    HOPPER_LANES_OF (step->lanes)
        memcpy(before->bytes + lane * HOPPER_RACE_LANE_BYTES, hopper_place_of(places, lane), byte_count);
}

void hopper_race_stored(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        const struct hopper_race_before *before)
{
    bool is_same = true;
    HOPPER_LANES_OF (step->lanes)
        is_same &= !memcmp(before->bytes + lane * HOPPER_RACE_LANE_BYTES, hopper_place_of(places, lane), byte_count);
    look_at_places(step, places, byte_count, false, true, byte_count * RACE_WIDTH | (is_same ? RACE_SAME : 0));
}

void hopper_race_before_block(const struct hopper_block *block, uint32_t byte_count, struct hopper_race_before *before)
{
    memcpy(before->bytes, block->memory, byte_count * HOPPER_LANES);
}

void hopper_race_stored_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count,
                              const struct hopper_race_before *before)
{
    const bool is_same = !memcmp(before->bytes, block->memory, byte_count * HOPPER_LANES);
    look_at_block(step, block, byte_count, true, byte_count * RACE_WIDTH | (is_same ? RACE_SAME : 0));
}

void hopper_race_lane(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address, uint32_t byte_count,
                      bool writes, uint32_t flags)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const struct hopper_target target = hopper_target_of(step, space, address);
    const bool is_shared = target.space == WSDBG_PTX_SHARED;
    struct look look;
    if (!agent || (is_shared ? !target.cta : target.space != WSDBG_PTX_GLOBAL))
        return;
    look_begin(&look, step, agent, is_shared, writes, access_of(step, agent, flags));
    look_at(&look, is_shared ? hopper_race_key(target.cta, (uint32_t)target.address) : target.address, byte_count);
}

/* ---- bulk copies ---- */

void hopper_race_map(const struct hopper_step *step, uint64_t address)
{
    enum { MAP_BYTES = 128 };
    const struct race_shadow *const shadow = hopper_race_global(step->warp->cta->grid);
    if (shadow && race_shadow_written(shadow, address))
        hopper_race_lane(step, WSDBG_PTX_GENERIC, address, MAP_BYTES, false, RACE_MAP);
}

struct copy {
    struct look shared, global;
    uint64_t rank_key;
};

static bool look_at_run(void *context, const struct hopper_run *run)
{
    struct copy *const copy = context;
    if (copy->shared.visit.is_write || run->is_inside)
        look_at(&copy->shared, copy->rank_key + run->offset, run->byte_count);
    if (run->is_inside)
        look_at(&copy->global, run->address, run->byte_count);
    return true;
}

/* The copy engine counts bytes there: the initialisation must be known to it, by any synchronisation. */
static void use_barrier(const struct hopper_step *step, const struct hopper_race_warp *agent,
                        const struct hopper_transfer *transfer)
{
    struct race_shadow *const shadow = hopper_race_shared(transfer->barrier_cta->cluster);
    const uint64_t key = hopper_race_key(transfer->barrier_cta, transfer->barrier_offset);
    const struct race_access *const made = shadow ? race_shadow_written(shadow, key) : NULL;
    if (!made || !(made->flags & RACE_INIT) ||
        made->time <= race_clock_time(&agent->now.ways[RACE_SEEN], made->component) ||
        made->time <= race_clock_time(&agent->now.ways[RACE_SEEN_INIT], made->component))
        return;
    const struct race_access access = access_of(step, agent, RACE_ASYNC);
    struct hopper_race_context context = {step->warp->cta->grid, step->warp->cta->cluster};
    const bool is_remote = transfer->barrier_cta != step->warp->cta;
    hopper_race_found(&context, is_remote ? RACE_FENCE_INIT : RACE_USE_BEFORE_INIT, key, made, true, &access, false);
}

/* Into shared memory, counted at an mbarrier. */
static void race_load(const struct hopper_step *step, const struct hopper_race_warp *agent,
                      struct hopper_transfer *transfer, uint32_t byte_count)
{
    const bool is_load = !byte_count && step->instruction->source_space == WSDBG_PTX_GLOBAL;
    const uint32_t bytes = byte_count ? byte_count : hopper_box_bytes(&transfer->box);
    struct race_access access = access_of(step, agent, byte_count ? 0 : RACE_ASYNC);
    struct copy copy = {.rank_key = hopper_race_key(transfer->to, 0)};
    if (!byte_count)
        use_barrier(step, agent, transfer);
    access.time = hopper_race_mbarrier_copy(transfer->barrier_cta, transfer->barrier_offset, bytes, &access.component);
    transfer->race = access.time;
    if (!access.time)
        return;
    struct race_access source = access;
    if (byte_count) /* st.async and red.async are relaxed operations */
        access.flags |= RACE_STRONG;
    look_begin(&copy.shared, step, agent, true, true, access);
    look_begin(&copy.global, step, agent, !is_load, false, source);
    if (is_load) {
        hopper_box_walk(&transfer->box, transfer->to_offset, 0, hopper_box_rows(&transfer->box), look_at_run, &copy);
        return;
    }
    look_at(&copy.shared, copy.rank_key + transfer->to_offset, bytes);
    if (!byte_count)
        look_at(&copy.global, hopper_race_key(transfer->issuer, transfer->from_offset), bytes);
}

static uint32_t component_of(const struct hopper_step *step, uint32_t *component)
{
    if (!*component)
        *component = hopper_race_component(step->warp->cta->cluster, true);
    return *component;
}

/* Whether the first lane issues the same store.  All lanes of a warp may store the same bytes to the same place. */
static bool is_repeated(const struct hopper_step *step, struct hopper_race_warp *agent,
                        const struct hopper_transfer *transfer)
{
    const struct hopper_box *const box = &transfer->box, *const first = &agent->first_store.box;
    if (transfer->lane == (uint32_t)__builtin_ctz(step->lanes)) {
        agent->first_store = *transfer;
        return false;
    }
    return transfer->from_offset == agent->first_store.from_offset && box->address == first->address &&
           box->rank == first->rank && memcmp(box->at, first->at, sizeof box->at) == 0 &&
           memcmp(box->counts, first->counts, sizeof box->counts) == 0 &&
           memcmp(box->strides, first->strides, sizeof box->strides) == 0;
}

void hopper_race_transfer(const struct hopper_step *step, struct hopper_transfer *transfer, uint32_t byte_count)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (!agent)
        return;
    if (transfer->to) {
        race_load(step, agent, transfer, byte_count);
        return;
    }
    struct copy copy = {.rank_key = hopper_race_key(transfer->issuer, 0)};
    struct race_access read = access_of(step, agent, RACE_ASYNC), write = read;
    read.component = component_of(step, &agent->bulk_reads[transfer->lane]);
    write.component = component_of(step, &agent->bulk_writes[transfer->lane]);
    read.time = write.time = transfer->group + 1;
    if (transfer->combination.operation != WSDBG_PTX_NO_VARIANT)
        write.flags |= RACE_STRONG;
    look_begin(&copy.shared, step, agent, true, false, read);
    look_begin(&copy.global, step, agent, false, true, write);
    copy.global.is_ready &= !is_repeated(step, agent, transfer);
    hopper_box_walk(&transfer->box, transfer->from_offset, 0, hopper_box_rows(&transfer->box), look_at_run, &copy);
}

/* ---- cp.async ---- */

void hopper_race_copies_begin(const struct hopper_step *step)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (agent && component_of(step, &agent->copies))
        agent->copies_issued++;
}

void hopper_race_copy(const struct hopper_step *step, uint32_t offset, uint32_t byte_count, uint64_t source,
                      uint32_t source_bytes)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    struct look look;
    if (!agent)
        return;
    struct race_access access = access_of(step, agent, 0);
    access.component = agent->copies;
    access.time = agent->copies_issued;
    look_begin(&look, step, agent, true, true, access);
    look_at(&look, hopper_race_key(step->warp->cta, offset), byte_count);
    if (!source_bytes)
        return;
    look_begin(&look, step, agent, false, false, access);
    look_at(&look, source, source_bytes);
}

/* ---- wgmma ---- */

static void look_at_matrix(struct look *look, uint64_t key, const struct wgmma_descriptor *matrix, bool is_mn,
                           uint32_t first, uint32_t rows, uint32_t k, uint32_t element_bytes)
{
    enum { CORE_ROWS = 8 };
    const uint32_t elements = WGMMA_CHUNK_BYTES / element_bytes;
    for (uint32_t row = 0; !is_mn && row < rows; row++)
        for (uint32_t chunk = 0; chunk < k / elements; chunk++)
            look_at(look, key + wgmma_chunk_of_k(matrix, first + row, chunk), WGMMA_CHUNK_BYTES);
    for (uint32_t column = 0; is_mn && column < k; column++)
        for (uint32_t chunk = 0; chunk < rows / CORE_ROWS; chunk++)
            look_at(look, key + wgmma_chunk_of_mn(matrix, first / CORE_ROWS + chunk, column), WGMMA_CHUNK_BYTES);
}

static void mark_accumulators(struct hopper_step *step, struct hopper_race_warp *agent,
                              const struct wgmma_operation *operation, uint32_t group)
{
    if (!agent->busy) {
        agent->busy_count = step->warp->frame->byte_count / HOPPER_BYTES_32 + 1;
        agent->busy = calloc(agent->busy_count, sizeof *agent->busy);
    }
    for (uint32_t i = 0; agent->busy && i < wgmma_d_registers(operation); i++) {
        const size_t number = operation->d[i] / HOPPER_BYTES_32;
        if (number < agent->busy_count)
            agent->busy[number] = (struct hopper_race_busy){group, hopper_race_site(step)};
    }
    step->warp->watches_registers = agent->busy != NULL;
}

void hopper_race_wgmma(struct hopper_step *step, const struct wgmma_operation *operation, uint32_t group)
{
    enum { WARPS_OF_GROUP = 4 };
    struct hopper_warp *const warp = step->warp;
    struct hopper_race_warp *const agent = hopper_race_warp(warp);
    const uint64_t key = hopper_race_key(warp->cta, 0);
    struct look look;
    if (!agent)
        return;
    struct race_access access = access_of(step, agent, RACE_ASYNC);
    struct hopper_race_context context = {warp->cta->grid, NULL};
    if (!agent->has_wgmma_fence)
        hopper_race_found(&context, RACE_NO_WGMMA_FENCE, 0, &access, true, &access, false);
    access.component = component_of(step, &agent->wgmma);
    access.time = group;
    look_begin(&look, step, agent, true, false, access);
    if (!operation->a_in_registers)
        look_at_matrix(&look, key, &operation->a, operation->a_is_mn, warp->index % WARPS_OF_GROUP * WGMMA_ROWS,
                       WGMMA_ROWS, operation->k, wsdbg_ptx_type_bytes(operation->a_type));
    look_at_matrix(&look, key, &operation->b, operation->b_is_mn, 0, operation->n, operation->k,
                   wsdbg_ptx_type_bytes(operation->b_type));
    mark_accumulators(step, agent, operation, group);
}

static const struct hopper_race_busy *busy_of(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    const struct hopper_race_warp *const agent = step->warp->race;
    const bool is_register = operand->kind == WSDBG_PTX_OPERAND_REGISTER &&
                             step->warp->frame->function->register_types[operand->number] != WSDBG_PTX_PRED;
    const size_t number = is_register ? step->warp->frame->offsets[operand->number] / HOPPER_BYTES_32 : 0;
    return is_register && number < agent->busy_count && agent->busy[number].group ? &agent->busy[number] : NULL;
}

static const struct hopper_race_busy *busy_in(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    if (operand->kind != WSDBG_PTX_OPERAND_VECTOR)
        return busy_of(step, operand);
    const struct hopper_race_busy *busy = NULL;
    for (uint32_t i = 0; i < operand->count && !busy; i++)
        busy = busy_of(step, &step->program->vectors[operand->number + i]);
    return busy;
}

/* Moves are left to the assembler, which needs none of them. */
void hopper_race_registers(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const bool is_wgmma = instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
    const struct hopper_race_warp *const agent = step->warp->race;
    struct hopper_race_context context = {step->warp->cta->grid, NULL};
    if (instruction->operation == WSDBG_PTX_OP_mov)
        return;
    for (unsigned i = is_wgmma; i < instruction->operand_count; i++) {
        const struct hopper_race_busy *const busy = busy_in(step, &instruction->operands[i]);
        if (!busy)
            continue;
        const struct race_access later = access_of(step, agent, 0);
        struct race_access earlier = later;
        earlier.site = busy->site;
        earlier.flags = RACE_ASYNC;
        hopper_race_found(&context, RACE_ACCUMULATOR, 0, &earlier, true, &later, instruction->operands[i].is_written);
        return;
    }
}
