/* copy_async.c - cp.async: 4, 8 or 16 bytes a lane from global to shared memory, beside the warp.
 *
 * Global memory is read and shared memory written when a copy completes.  cp.async.mbarrier.arrive arrives when the
 * lane's copies before it are complete.
 * Reads and writes: global memory, the CTA's shared memory and mbarriers, the warp's copy groups.
 */
#include "hopper/copy_async.h"

#include <stdlib.h>
#include <string.h>

#include "hopper/device.h"
#include "hopper/mbarrier.h"
#include "hopper/race.h"

enum { LATENCY_NS = 500, COPY_BYTES_MOST = 16, MBARRIER_BYTES = 8 };
enum { OPERAND_TO, OPERAND_FROM, OPERAND_SIZE, OPERAND_SOURCE_SIZE };

#define EACH_LANE(lanes, lane)                           \
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) \
        if ((lanes) >> lane & 1)

/* An arrival at an mbarrier that waits for copies of its lane. */
struct arrival {
    struct arrival *next;
    uint64_t number; /* in the warp's order of copies and arrivals */
    uint32_t lane, offset, copies_left;
};

struct hopper_copies {
    struct hopper_copy_groups *groups;
    uint64_t issued; /* copies and arrivals so far */
    uint32_t under_way[HOPPER_LANES];
    struct arrival *arrivals;
};

struct work { /* one cp.async of a warp */
    struct hopper_warp *warp;
    uint64_t number;
    uint32_t lanes, byte_count;
    uint32_t groups[HOPPER_LANES], offsets[HOPPER_LANES];
    uint64_t sources[HOPPER_LANES];
    uint8_t source_bytes[HOPPER_LANES]; /* the rest is filled with zeros */
};

static struct hopper_copies *copies_of(const struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    if (!warp->copies)
        warp->copies = calloc(1, sizeof *warp->copies);
    if (warp->copies && hopper_copy_groups(&warp->copies->groups))
        return warp->copies;
    hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for cp.async");
    return NULL;
}

void hopper_copies_free(struct hopper_warp *warp)
{
    if (!warp->copies)
        return;
    while (warp->copies->arrivals) {
        struct arrival *const arrival = warp->copies->arrivals;
        warp->copies->arrivals = arrival->next;
        free(arrival);
    }
    free(warp->copies->groups);
    free(warp->copies);
    warp->copies = NULL;
}

uint32_t hopper_copies_open(const struct hopper_warp *warp, unsigned lane)
{
    return warp->copies->groups->lanes[lane].open;
}

/* ---- arrivals ---- */

static void arrive(struct hopper_warp *warp, uint32_t offset)
{
    struct hopper_grid *const grid = warp->cta->grid;
    const enum hopper_mbarrier_effect effect = hopper_mbarrier_apply(warp->cta, offset, HOPPER_MBARRIER_ARRIVE, 1, 1,
                                                                     (struct hopper_actor){NULL, WSDBG_PTX_NONE}, NULL);
    if (effect >= HOPPER_MBARRIER_SPENT)
        hopper_engine_fault(grid->gpu, grid, HOPPER_LAUNCH_FAILED, "cp.async.mbarrier.arrive: mbarrier 0x%x: %s",
                            offset, hopper_mbarrier_effect_text(effect));
}

/* A copy of these lanes is complete: an arrival that waited for the last one is made. */
static void count_down(struct hopper_warp *warp, const struct work *work)
{
    struct arrival **link = &warp->copies->arrivals;
    while (*link) {
        struct arrival *const arrival = *link;
        const bool is_meant = arrival->number > work->number && work->lanes >> arrival->lane & 1;
        if (!is_meant || --arrival->copies_left) {
            link = &arrival->next;
            continue;
        }
        *link = arrival->next;
        arrive(warp, arrival->offset);
        free(arrival);
    }
}

/* ---- copies ---- */

static bool copy_lane(const struct work *work, unsigned lane)
{
    struct hopper_cta *const cta = work->warp->cta;
    struct wsdbg_gpu *const gpu = cta->grid->gpu;
    const uint32_t count = work->source_bytes[lane];
    unsigned char *const to = cta->shared + work->offsets[lane];
    if (count && !hopper_find_range(gpu, work->sources[lane], count)) {
        hopper_engine_fault(gpu, cta->grid, HOPPER_INVALID_ADDRESS, "cp.async: 0x%llx was given back meanwhile",
                            (unsigned long long)work->sources[lane]);
        return false;
    }
    memset(to, 0, work->byte_count);
    if (count)
        memcpy(to, (const void *)(uintptr_t)work->sources[lane], count);
    return true;
}

static void copies_arrive(struct wsdbg_gpu *gpu, void *context)
{
    struct work *const work = context;
    struct hopper_warp *const warp = work->warp;
    (void)gpu;
    warp->cta->engine_works--;
    EACH_LANE (work->lanes, lane) {
        if (!copy_lane(work, lane))
            break;
        warp->copies->under_way[lane]--;
        hopper_copy_has_read(warp->copies->groups, lane, work->groups[lane]);
        hopper_copy_finished(warp->copies->groups, lane, work->groups[lane]);
    }
    count_down(warp, work);
    hopper_changed_shared(warp->cta);
    hopper_changed_barrier(warp->cta);
    free(work);
}

/* Bytes of global memory that the lane reads: the rest of the copy is zeros. */
static uint32_t source_bytes(const struct hopper_step *step, unsigned lane, uint32_t byte_count)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const unsigned hints = (instruction->flags & WSDBG_PTX_CACHE_HINT) != 0;
    if (instruction->operand_count <= OPERAND_SOURCE_SIZE + hints)
        return byte_count;
    const struct wsdbg_ptx_operand *const operand = &instruction->operands[OPERAND_SOURCE_SIZE];
    const uint64_t value = hopper_source(step, OPERAND_SOURCE_SIZE, lane);
    const uint8_t *const types = step->warp->frame->function->register_types;
    if (operand->kind == WSDBG_PTX_OPERAND_REGISTER && types[operand->number] == WSDBG_PTX_PRED)
        return value ? 0 : byte_count; /* ignore-src */
    return value < byte_count ? (uint32_t)value : byte_count;
}

/* The copies of all lanes; false after a fault. */
static bool take_operands(const struct hopper_step *step, struct work *work)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    work->byte_count = (uint32_t)instruction->operands[OPERAND_SIZE].value;
    if (work->byte_count != 4 && work->byte_count != 8 && work->byte_count != COPY_BYTES_MOST) {
        hopper_fault(step, 0, HOPPER_ILLEGAL_INSTRUCTION, "cp.async of %u bytes", work->byte_count);
        return false;
    }
    EACH_LANE (step->lanes, lane) {
        const uint64_t to = hopper_address(step, OPERAND_TO, lane);
        if (!hopper_locate(step, WSDBG_PTX_SHARED, to, work->byte_count, work->byte_count, lane, &work->offsets[lane]))
            return false;
        work->sources[lane] = hopper_address(step, OPERAND_FROM, lane);
        work->source_bytes[lane] = (uint8_t)source_bytes(step, lane, work->byte_count);
        if (work->source_bytes[lane] && !hopper_memory(step, WSDBG_PTX_GLOBAL, work->sources[lane],
                                                       work->source_bytes[lane], work->byte_count, lane, false))
            return false;
    }
    return true;
}

static enum hopper_outcome start(const struct hopper_step *step, struct hopper_copies *copies, struct work *work)
{
    struct hopper_warp *const warp = step->warp;
    struct wsdbg_error *const error = hopper_engine_add(step->gpu, warp->cta->grid, LATENCY_NS, copies_arrive, work);
    if (error) {
        wsdbg_error_destroy(error);
        free(work);
        return hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for cp.async");
    }
    if (step->gpu->races)
        hopper_race_copies_begin(step);
    EACH_LANE (step->lanes, lane) {
        if (step->gpu->races)
            hopper_race_copy(step, work->offsets[lane], work->byte_count, work->sources[lane],
                             work->source_bytes[lane]);
        copies->under_way[lane]++;
        work->groups[lane] = hopper_copy_joins(copies->groups, lane);
    }
    work->number = copies->issued++;
    warp->cta->engine_works++;
    warp->writes++;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_cp_async(struct hopper_step *step)
{
    if (hopper_engine_is_full(step))
        return HOPPER_BLOCKED;
    struct hopper_copies *const copies = copies_of(step);
    if (!copies)
        return HOPPER_FAULTED;
    struct work *const work = malloc(sizeof *work);
    if (!work)
        return hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for cp.async");
    *work = (struct work){.warp = step->warp, .lanes = step->lanes};
    if (!take_operands(step, work)) {
        free(work);
        return HOPPER_FAULTED;
    }
    return start(step, copies, work);
}

/* ---- waits ---- */

enum hopper_outcome hopper_do_cp_async_commit_group(struct hopper_step *step)
{
    struct hopper_copies *const copies = copies_of(step);
    const enum hopper_outcome outcome = copies ? hopper_commit_copies(step, &copies->groups) : HOPPER_FAULTED;
    if (outcome == HOPPER_NEXT && step->gpu->races)
        hopper_race_copies_commit(step);
    return outcome;
}

enum hopper_outcome hopper_do_cp_async_wait_group(struct hopper_step *step)
{
    const struct hopper_copies *const copies = step->warp->copies;
    const uint32_t keep = (uint32_t)hopper_source(step, 0, 0);
    const enum hopper_outcome outcome = copies ? hopper_await_copies(step, copies->groups, keep, false) : HOPPER_NEXT;
    if (copies && outcome == HOPPER_NEXT && step->gpu->races)
        hopper_race_copies_wait(step, keep, false);
    return outcome;
}

/* The open group is waited for as well. */
enum hopper_outcome hopper_do_cp_async_wait_all(struct hopper_step *step)
{
    const struct hopper_copies *const copies = step->warp->copies;
    bool waits = false;
    EACH_LANE (copies ? step->lanes : 0, lane)
        waits = waits || copies->under_way[lane];
    step->split->wait = (struct hopper_wait){.kind = waits ? HOPPER_WAITS_BULK : HOPPER_RUNS};
    if (copies && !waits && step->gpu->races)
        hopper_race_copies_wait(step, 0, true);
    return waits ? HOPPER_BLOCKED : HOPPER_NEXT;
}

/* One lane's arrival, now or when its copies are complete. */
static enum hopper_outcome arrive_later(struct hopper_step *step, struct hopper_copies *copies, unsigned lane,
                                        uint32_t offset)
{
    if (!copies->under_way[lane]) {
        arrive(step->warp, offset);
        return step->gpu->has_fault ? HOPPER_FAULTED : HOPPER_NEXT;
    }
    struct arrival *const arrival = malloc(sizeof *arrival);
    if (!arrival)
        return hopper_fault(step, lane, HOPPER_OUT_OF_MEMORY, "no memory for an arrival");
    *arrival = (struct arrival){.next = copies->arrivals,
                                .number = copies->issued++,
                                .lane = lane,
                                .offset = offset,
                                .copies_left = copies->under_way[lane]};
    copies->arrivals = arrival;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_cp_async_mbarrier_arrive(struct hopper_step *step)
{
    struct hopper_copies *const copies = copies_of(step);
    if (!copies)
        return HOPPER_FAULTED;
    const bool is_counted = (step->instruction->flags & WSDBG_PTX_NO_INCREMENT) != 0;
    step->warp->writes++;
    EACH_LANE (step->lanes, lane) {
        uint32_t offset;
        struct hopper_cta *const cta =
            hopper_locate(step, (enum wsdbg_ptx_space)step->instruction->space, hopper_address(step, 0, lane),
                          MBARRIER_BYTES, MBARRIER_BYTES, lane, &offset);
        if (!cta)
            return HOPPER_FAULTED;
        if (cta != step->warp->cta)
            return hopper_fault(step, lane, HOPPER_INVALID_ADDRESS_SPACE, "the mbarrier must be of this CTA");
        if (!is_counted)
            hopper_mbarrier_expect_arrival(cta, offset);
        if (step->gpu->races)
            hopper_race_copies_arrive(step, offset);
        if (arrive_later(step, copies, lane, offset) == HOPPER_FAULTED)
            return HOPPER_FAULTED;
    }
    return HOPPER_NEXT;
}
