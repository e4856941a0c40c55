/* probe_step.c - which events an instruction is: what probes in the kernel would tell at this place (wsdbg/probe.h).
 *
 * Reads: operands, how the instruction ended.  Writes: events.  Arrivals are told before they are made, so that what
 * they set off is newer; waits when they are found to wait, and when they are over.
 */
#include "hopper/access.h"
#include "hopper/box.h"
#include "hopper/mbarrier.h"
#include "hopper/probe.h"
#include "hopper/values.h"

enum { MBARRIER_BYTES = 8, MAP_BYTES = 128, SITE_LANES_MOST = 63, RANKS_MOST = 8 };

static const struct hopper_probe_stage no_stage = {0, 0, WSDBG_NO_ITERATION};

enum hopper_probe_class hopper_probe_class(uint16_t operation)
{
    switch (operation) {
    case WSDBG_PTX_OP_mbarrier_init:
        return HOPPER_PROBE_INIT;
    case WSDBG_PTX_OP_mbarrier_arrive:
    case WSDBG_PTX_OP_mbarrier_arrive_drop:
    case WSDBG_PTX_OP_mbarrier_arrive_expect_tx:
    case WSDBG_PTX_OP_mbarrier_expect_tx:
    case WSDBG_PTX_OP_cp_async_mbarrier_arrive:
        return HOPPER_PROBE_ARRIVE;
    case WSDBG_PTX_OP_mbarrier_test_wait:
    case WSDBG_PTX_OP_mbarrier_try_wait:
        return HOPPER_PROBE_WAIT;
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_bulk_reduce:
    case WSDBG_PTX_OP_tensor_copy:
    case WSDBG_PTX_OP_tensor_reduce:
        return HOPPER_PROBE_COPY;
    case WSDBG_PTX_OP_bulk_commit_group:
        return HOPPER_PROBE_BULK_COMMIT;
    case WSDBG_PTX_OP_bulk_wait_group:
        return HOPPER_PROBE_BULK_WAIT;
    case WSDBG_PTX_OP_wgmma_mma_async:
        return HOPPER_PROBE_WGMMA;
    case WSDBG_PTX_OP_wgmma_commit_group:
        return HOPPER_PROBE_WGMMA_COMMIT;
    case WSDBG_PTX_OP_wgmma_wait_group:
        return HOPPER_PROBE_WGMMA_WAIT;
    case WSDBG_PTX_OP_setmaxnreg:
        return HOPPER_PROBE_REGISTERS;
    case WSDBG_PTX_OP_bar_arrive:
        return HOPPER_PROBE_NAMED_ARRIVE;
    case WSDBG_PTX_OP_bar_sync:
    case WSDBG_PTX_OP_bar_red:
        return HOPPER_PROBE_NAMED_SYNC;
    case WSDBG_PTX_OP_barrier_cluster_arrive:
        return HOPPER_PROBE_CLUSTER_ARRIVE;
    case WSDBG_PTX_OP_barrier_cluster_wait:
        return HOPPER_PROBE_CLUSTER_WAIT;
    case WSDBG_PTX_OP_griddepcontrol_wait:
        return HOPPER_PROBE_GRID_WAIT;
    default:
        return HOPPER_NO_PROBE;
    }
}

static uint32_t site_of(uint32_t lanes, uint32_t count)
{
    return (uint32_t)__builtin_ctz(lanes) << 16 | count << 21;
}

static void tell(const struct hopper_step *step, enum wsdbg_event_kind kind, uint32_t value)
{
    hopper_probe_event(step, kind, no_stage, 0, value);
}

/* ---- mbarriers ---- */

/* Lanes that mean the same barrier, with the same operand behind it. */
struct use {
    uint32_t lanes;
    struct hopper_cta *cta; /* NULL = the address is none, and will be a fault */
    uint32_t offset;
    uint64_t operand;
};

static unsigned address_number(const struct wsdbg_ptx_instruction *instruction)
{
    unsigned number = 0;
    while (number < instruction->operand_count && instruction->operands[number].kind != WSDBG_PTX_OPERAND_ADDRESS)
        number++;
    return number;
}

static struct use use_of(const struct hopper_step *step, unsigned number, unsigned lane)
{
    struct use use = {.lanes = 1u << lane};
    use.cta = hopper_find_shared(step, (enum wsdbg_ptx_space)step->instruction->space,
                                 hopper_address(step, number, lane), MBARRIER_BYTES, &use.offset);
    if (number + 1 < step->instruction->operand_count)
        use.operand = hopper_source(step, number + 1, lane);
    return use;
}

/* The use of the lowest of `lanes`, with all others that do the same. */
static struct use next_use(const struct hopper_step *step, unsigned number, uint32_t lanes)
{
    struct use use = use_of(step, number, (unsigned)__builtin_ctz(lanes));
    HOPPER_LANES_OF (lanes &(lanes - 1)) {
        const struct use other = use_of(step, number, lane);
        if (other.cta == use.cta && other.offset == use.offset && other.operand == use.operand)
            use.lanes |= other.lanes;
    }
    return use;
}

static enum hopper_outcome probe_init(struct hopper_step *step)
{
    const enum hopper_outcome outcome = step->op->execute(step);
    HOPPER_LANES_OF (outcome == HOPPER_NEXT ? step->lanes : 0) {
        const struct use use = use_of(step, 0, lane);
        if (use.cta == step->warp->cta)
            hopper_probe_note_init(step->warp, use.offset, (uint32_t)use.operand);
    }
    return outcome;
}

static uint32_t target_of(const struct hopper_step *step, const struct hopper_cta *cta)
{
    return cta == step->warp->cta ? 0 : (cta->rank + 1) << 27;
}

static void tell_arrivals(const struct hopper_step *step, const struct use *use, struct hopper_probe_stage stage,
                          uint32_t arrivals)
{
    for (uint32_t count; arrivals; arrivals -= count) {
        count = arrivals < SITE_LANES_MOST ? arrivals : SITE_LANES_MOST;
        hopper_probe_event(step, WSDBG_EVENT_MBARRIER_ARRIVE, stage, 0,
                           site_of(use->lanes, count) | target_of(step, use->cta));
    }
}

static void tell_use(const struct hopper_step *step, const struct use *use)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const uint32_t lanes = (uint32_t)__builtin_popcount(use->lanes);
    const bool is_async = instruction->operation == WSDBG_PTX_OP_cp_async_mbarrier_arrive;
    const bool has_count = !is_async && address_number(instruction) + 1 < instruction->operand_count;
    enum wsdbg_event_kind kind = WSDBG_EVENT_MBARRIER_ARRIVE;
    struct hopper_probe_stage stage;
    /* Without .noinc it adds the arrival that it makes. */
    if (!hopper_probe_find(use->cta, use->offset, &stage) ||
        (is_async && !(instruction->flags & WSDBG_PTX_NO_INCREMENT)))
        return;
    if (instruction->operation == WSDBG_PTX_OP_mbarrier_expect_tx)
        kind = WSDBG_EVENT_MBARRIER_EXPECT_TX;
    else if (instruction->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx ||
             instruction->flags & WSDBG_PTX_EXPECT_TX)
        kind = WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX;
    hopper_probe_number_use(step->warp, kind, &stage);
    if (kind == WSDBG_EVENT_MBARRIER_ARRIVE) {
        const uint32_t each = has_count ? (uint32_t)use->operand & HOPPER_MBARRIER_COUNT_MOST : 1;
        tell_arrivals(step, use, stage, each > HOPPER_CTA_THREADS ? 0 : lanes * each);
        return;
    }
    for (uint32_t i = 0; i < lanes; i++)
        hopper_probe_event(step, kind, stage, 0, (uint32_t)use->operand);
}

static enum hopper_outcome probe_arrive(struct hopper_step *step)
{
    const unsigned number = address_number(step->instruction);
    uint32_t left = step->lanes;
    while (left) {
        const struct use use = next_use(step, number, left);
        left &= ~use.lanes;
        if (use.cta)
            tell_use(step, &use);
    }
    return step->op->execute(step);
}

/* ---- waits at mbarriers ---- */

static struct hopper_probe_wait *find_wait(struct hopper_probe *probe, struct hopper_probe_wait wait)
{
    for (uint32_t i = 0; i < probe->wait_count; i++)
        if (memcmp(&probe->waits[i], &wait, sizeof wait) == 0)
            return &probe->waits[i];
    return NULL;
}

static void end_wait(struct hopper_probe *probe, struct hopper_probe_wait wait)
{
    struct hopper_probe_wait *const found = find_wait(probe, wait);
    if (found)
        *found = probe->waits[--probe->wait_count];
}

/* Lanes that take turns at waiting tell of each wait once. */
static bool begin_wait(struct hopper_probe *probe, struct hopper_probe_wait wait)
{
    const bool is_known = find_wait(probe, wait) != NULL;
    if (is_known && probe->last_kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN)
        return false;
    if (!is_known && probe->wait_count < HOPPER_PROBE_WAITS)
        probe->waits[probe->wait_count++] = wait;
    return true;
}

static void tell_wait(struct hopper_step *step, const struct use *use, bool is_over)
{
    const bool by_parity = step->instruction->flags & WSDBG_PTX_PARITY;
    const uint32_t parity = by_parity ? use->operand & 1 : hopper_mbarrier_phase(use->operand);
    const enum wsdbg_event_kind kind = is_over ? WSDBG_EVENT_MBARRIER_WAIT_END : WSDBG_EVENT_MBARRIER_WAIT_BEGIN;
    struct hopper_probe *const probe = step->warp->probe;
    struct hopper_probe_stage stage;
    if (!hopper_probe_find(use->cta, use->offset, &stage))
        return;
    const struct hopper_probe_wait wait = {stage.id, stage.stage, (uint8_t)parity};
    if (is_over)
        end_wait(probe, wait);
    else if (!begin_wait(probe, wait))
        return;
    hopper_probe_number_wait(step->warp, use->cta, use->offset, parity, is_over, &stage);
    hopper_probe_event(step, kind, stage, parity,
                       site_of(use->lanes, (uint32_t)__builtin_popcount(use->lanes)) | target_of(step, use->cta));
}

static enum hopper_outcome probe_wait(struct hopper_step *step)
{
    const enum hopper_outcome outcome = step->op->execute(step);
    if (outcome == HOPPER_FAULTED)
        return outcome;
    const uint32_t over = outcome == HOPPER_NEXT ? hopper_mask(step, 0) : 0;
    for (uint32_t left = step->lanes; left;) {
        const struct use use = next_use(step, 1, left);
        left &= ~use.lanes;
        if (use.cta)
            tell_wait(step, &use, over & use.lanes);
    }
    return outcome;
}

/* ---- copies ---- */

static uint32_t copy_bytes(const struct hopper_step *step, unsigned lane)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const bool is_tensor =
        instruction->operation == WSDBG_PTX_OP_tensor_copy || instruction->operation == WSDBG_PTX_OP_tensor_reduce;
    if (!is_tensor)
        return (uint32_t)hopper_source(step, 2, lane);
    const uint64_t address = hopper_element(step, instruction->space == WSDBG_PTX_GLOBAL ? 0 : 1, 0, lane);
    const void *const memory = hopper_memory(step, WSDBG_PTX_GENERIC, address, MAP_BYTES, 1, lane, false);
    struct wsdbg_tensor_map map;
    struct hopper_box box;
    static const int32_t at[WSDBG_TENSOR_DIMENSIONS];
    if (!memory)
        return 0;
    memcpy(&map, memory, sizeof map);
    const char *const reason = instruction->flags & WSDBG_PTX_IM2COL
                                   ? hopper_box_of_pixels(&map, instruction->dimensions, at, NULL, &box)
                                   : hopper_box_of_map(&map, instruction->dimensions, at, &box);
    return reason ? 0 : hopper_box_bytes(&box);
}

static void tell_load(struct hopper_step *step, unsigned lane)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const unsigned number = instruction->operation == WSDBG_PTX_OP_tensor_copy ? 2 : 3;
    const struct use use = use_of(step, number, lane);
    struct hopper_probe_stage stage;
    if (!use.cta || !hopper_probe_find(use.cta, use.offset, &stage))
        return;
    uint32_t ranks = use.cta == step->warp->cta ? 0 : 1u << use.cta->rank;
    const unsigned mask_number = number + (instruction->flags & WSDBG_PTX_IM2COL ? 2 : 1); /* behind the offsets */
    if (instruction->flags & WSDBG_PTX_MULTICAST)
        ranks = hopper_source(step, mask_number, lane) & 0xffff;
    if (ranks >> RANKS_MOST)
        return; /* an event has no room for them */
    hopper_probe_number_use(step->warp, WSDBG_EVENT_TMA_ISSUE, &stage);
    hopper_probe_event(step, WSDBG_EVENT_TMA_ISSUE, stage, 0, (copy_bytes(step, lane) & 0xffffff) | ranks << 24);
}

static enum hopper_outcome probe_copy(struct hopper_step *step)
{
    const enum hopper_outcome outcome = step->op->execute(step);
    HOPPER_LANES_OF (outcome == HOPPER_NEXT ? step->lanes : 0) {
        if (step->instruction->space == WSDBG_PTX_GLOBAL)
            tell(step, WSDBG_EVENT_TMA_STORE_ISSUE, copy_bytes(step, lane));
        else
            tell_load(step, lane);
    }
    return outcome;
}

/* ---- what waits and ends ---- */

/* BEGIN when it is found to wait, END when it is over. */
static enum hopper_outcome probe_pair(struct hopper_step *step, enum wsdbg_event_kind begin, uint32_t value)
{
    const enum hopper_outcome outcome = step->op->execute(step);
    const bool waits = outcome == HOPPER_BLOCKED && step->split->wait.kind != HOPPER_WAITS_LANES;
    if (waits && step->warp->probe->last_kind != begin)
        tell(step, begin, value);
    if (outcome == HOPPER_NEXT)
        tell(step, begin + 1, value);
    return outcome;
}

static enum hopper_outcome probe_registers(struct hopper_step *step)
{
    const uint32_t wanted = (uint32_t)hopper_source(step, 0, (unsigned)__builtin_ctz(step->lanes));
    const enum hopper_outcome outcome = step->op->execute(step);
    const bool waits = outcome == HOPPER_BLOCKED && step->split->wait.kind == HOPPER_WAITS_REGISTERS;
    const bool is_request = step->instruction->variant == WSDBG_PTX_V_INC;
    if (is_request && (waits || outcome == HOPPER_NEXT) &&
        step->warp->probe->last_kind != WSDBG_EVENT_REGISTERS_REQUEST)
        tell(step, WSDBG_EVENT_REGISTERS_REQUEST, wanted);
    if (outcome == HOPPER_NEXT)
        tell(step, is_request ? WSDBG_EVENT_REGISTERS_GRANTED : WSDBG_EVENT_REGISTERS_RELEASE, wanted);
    return outcome;
}

/* The barrier's number, and the threads that it counts. */
static uint32_t read_named(const struct hopper_step *step, unsigned number, bool has_count,
                           struct hopper_probe_stage *stage)
{
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    stage->id = (uint8_t)hopper_source(step, number, lane);
    return has_count ? (uint32_t)hopper_source(step, number + 1, lane) : step->warp->cta->warp_count * HOPPER_LANES;
}

static enum hopper_outcome probe_named_sync(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const bool is_red = instruction->operation == WSDBG_PTX_OP_bar_red;
    struct hopper_probe_stage stage = no_stage;
    const uint32_t threads = read_named(step, is_red, instruction->operand_count > (is_red ? 3u : 1u), &stage);
    const bool is_new = step->warp->probe->last_kind != WSDBG_EVENT_NAMED_SYNC_BEGIN;
    if (is_new && step->split->wait.kind != HOPPER_WAITS_NAMED)
        hopper_probe_event(step, WSDBG_EVENT_NAMED_SYNC_BEGIN, stage, 0, threads);
    const enum hopper_outcome outcome = step->op->execute(step);
    if (outcome == HOPPER_NEXT)
        hopper_probe_event(step, WSDBG_EVENT_NAMED_SYNC_END, stage, 0, threads);
    return outcome;
}

static enum hopper_outcome probe_named_arrive(struct hopper_step *step)
{
    struct hopper_probe_stage stage = no_stage;
    const uint32_t threads = read_named(step, 0, true, &stage);
    const enum hopper_outcome outcome = step->op->execute(step);
    if (outcome == HOPPER_NEXT)
        hopper_probe_event(step, WSDBG_EVENT_NAMED_ARRIVE, stage, 0, threads);
    return outcome;
}

static enum hopper_outcome probe_simple(struct hopper_step *step, enum wsdbg_event_kind kind, uint32_t value)
{
    const enum hopper_outcome outcome = step->op->execute(step);
    if (outcome == HOPPER_NEXT)
        tell(step, kind, value);
    return outcome;
}

/* Of a group of matrix operations the first one is told. */
static enum hopper_outcome probe_wgmma(struct hopper_step *step)
{
    struct hopper_probe *const probe = step->warp->probe;
    const bool is_open = probe->wgmma_is_open;
    const enum hopper_outcome outcome = step->op->execute(step);
    if (outcome != HOPPER_NEXT || is_open)
        return outcome;
    probe->wgmma_is_open = true;
    tell(step, WSDBG_EVENT_WGMMA_ISSUE, 0);
    return outcome;
}

enum hopper_outcome hopper_probe_execute(struct hopper_step *step)
{
    const uint32_t site = site_of(step->lanes, (uint32_t)__builtin_popcount(step->lanes));
    switch ((enum hopper_probe_class)step->op->probe) {
    case HOPPER_PROBE_INIT:
        return probe_init(step);
    case HOPPER_PROBE_ARRIVE:
        return probe_arrive(step);
    case HOPPER_PROBE_WAIT:
        return probe_wait(step);
    case HOPPER_PROBE_COPY:
        return probe_copy(step);
    case HOPPER_PROBE_BULK_COMMIT:
        return probe_simple(step, WSDBG_EVENT_BULK_COMMIT, 0);
    case HOPPER_PROBE_BULK_WAIT:
        return probe_pair(step, WSDBG_EVENT_BULK_WAIT_BEGIN, (uint32_t)hopper_source(step, 0, 0));
    case HOPPER_PROBE_WGMMA:
        return probe_wgmma(step);
    case HOPPER_PROBE_WGMMA_COMMIT:
        step->warp->probe->wgmma_is_open = false;
        return probe_simple(step, WSDBG_EVENT_WGMMA_COMMIT, 0);
    case HOPPER_PROBE_WGMMA_WAIT:
        return probe_pair(step, WSDBG_EVENT_WGMMA_WAIT_BEGIN, (uint32_t)hopper_source(step, 0, 0));
    case HOPPER_PROBE_REGISTERS:
        return probe_registers(step);
    case HOPPER_PROBE_NAMED_ARRIVE:
        return probe_named_arrive(step);
    case HOPPER_PROBE_NAMED_SYNC:
        return probe_named_sync(step);
    case HOPPER_PROBE_CLUSTER_ARRIVE:
        return probe_simple(step, WSDBG_EVENT_CLUSTER_ARRIVE, site);
    case HOPPER_PROBE_CLUSTER_WAIT:
        return probe_pair(step, WSDBG_EVENT_CLUSTER_WAIT_BEGIN, site);
    case HOPPER_PROBE_GRID_WAIT:
        return probe_pair(step, WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN, site);
    case HOPPER_NO_PROBE:
        break;
    }
    return step->op->execute(step);
}
