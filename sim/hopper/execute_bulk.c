/* execute_bulk.c - cp.async.bulk, cp.reduce.async.bulk and their tensor forms: checks, and what the engine gets.
 *
 * Reads: operands, tensor maps.  Writes: transfers (transfer.h), the lanes' bulk groups.
 */
#include "hopper/combine.h"
#include "hopper/copy_groups.h"
#include "hopper/device.h"
#include "hopper/execute.h"
#include "hopper/race.h"
#include "hopper/transfer.h"

#include <string.h>

enum { BULK_ALIGNMENT = 16, TENSOR_ALIGNMENT = 128, MBARRIER_BYTES = 8, MAP_BYTES = 128, MAP_ALIGNMENT = 64 };

#define EACH_LANE(step, lane)                            \
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) \
        if ((step)->lanes >> lane & 1)

static bool has_flag(const struct hopper_step *step, uint32_t flag)
{
    return (step->instruction->flags & flag) != 0;
}

/* The [shared address] operand `number`; false after a fault. */
static bool locate(const struct hopper_step *step, unsigned number, enum wsdbg_ptx_space space, uint32_t byte_count,
                   uint32_t alignment, unsigned lane, struct hopper_cta **cta, uint32_t *offset)
{
    const uint64_t address = hopper_address(step, number, lane);
    *cta = hopper_locate(step, space, address, byte_count, alignment, lane, offset);
    return *cta != NULL;
}

/* ---- what is copied ---- */

/* Size operand of the forms without a tensor; false after a fault. */
static bool read_size(const struct hopper_step *step, unsigned number, unsigned lane, uint32_t *byte_count)
{
    *byte_count = (uint32_t)hopper_source(step, number, lane);
    if (*byte_count % BULK_ALIGNMENT == 0)
        return true;
    hopper_fault(step, lane, HOPPER_MISALIGNED_ADDRESS, "bulk copy of %u bytes: the size must be a multiple of 16",
                 *byte_count);
    return false;
}

static bool read_global(const struct hopper_step *step, unsigned number, unsigned lane, uint32_t byte_count,
                        struct hopper_box *box)
{
    const uint64_t address = hopper_address(step, number, lane);
    *box = hopper_box_of_bytes(address, byte_count);
    if (address % BULK_ALIGNMENT == 0)
        return true;
    hopper_fault(step, lane, HOPPER_MISALIGNED_ADDRESS, "bulk copy: global address 0x%llx must be a multiple of 16",
                 (unsigned long long)address);
    return false;
}

/* The operand of im2col offsets; NONE = the copy has none. */
static unsigned offsets_number(const struct hopper_step *step)
{
    const bool is_load =
        step->instruction->operation == WSDBG_PTX_OP_tensor_copy && step->instruction->space != WSDBG_PTX_GLOBAL;
    return is_load && has_flag(step, WSDBG_PTX_IM2COL) ? 3 : WSDBG_PTX_NONE;
}

static const char *find_box(const struct hopper_step *step, const struct wsdbg_tensor_map *map, const int32_t *at,
                            unsigned lane, struct hopper_box *box)
{
    const uint32_t dimensions = step->instruction->dimensions;
    const unsigned number = offsets_number(step);
    uint16_t offsets[WSDBG_TENSOR_DIMENSIONS] = {0};
    if (!has_flag(step, WSDBG_PTX_IM2COL))
        return hopper_box_of_map(map, dimensions, at, box);
    for (uint32_t i = 0; number != WSDBG_PTX_NONE && i + 2 < dimensions; i++)
        offsets[i] = (uint16_t)hopper_element(step, number, i, lane);
    return hopper_box_of_pixels(map, dimensions, at, offsets, box);
}

/* NULL, or what an H200 does not take of coordinates: bytes that begin between two 16s, and stores that begin before
 * the tensor.  (Measured; PTX says neither.) */
static const char *wrong_place(const struct hopper_step *step, const struct wsdbg_tensor_map *map, const int32_t *at)
{
    if (map->is_im2col)
        return NULL;
    if ((int64_t)at[0] * map->element_bytes % 16)
        return "the innermost coordinate is not a multiple of 16 bytes";
    for (uint32_t i = 0; i < map->rank && step->instruction->space == WSDBG_PTX_GLOBAL; i++)
        if (at[i] < 0)
            return "a store at a negative coordinate";
    return NULL;
}

static bool read_tensor(const struct hopper_step *step, unsigned number, unsigned lane, struct hopper_box *box)
{
    const uint32_t dimensions = step->instruction->dimensions;
    const uint64_t address = hopper_element(step, number, 0, lane);
    const void *const memory = hopper_memory(step, WSDBG_PTX_GENERIC, address, MAP_BYTES, MAP_ALIGNMENT, lane, false);
    if (!memory)
        return false;
    if (step->gpu->races)
        hopper_race_map(step, address);
    struct wsdbg_tensor_map map;
    int32_t at[WSDBG_TENSOR_DIMENSIONS] = {0};
    memcpy(&map, memory, sizeof map);
    for (uint32_t i = 0; i < dimensions && i < WSDBG_TENSOR_DIMENSIONS; i++)
        at[i] = (int32_t)hopper_element(step, number, i + 1, lane);
    const char *const reason = find_box(step, &map, at, lane, box);
    const char *const wrong = reason ? NULL : wrong_place(step, &map, at);
    if (wrong)
        hopper_fault(step, lane, HOPPER_ILLEGAL_INSTRUCTION, "tensor copy: %s", wrong);
    if (!reason)
        return !wrong;
    hopper_fault(step, lane, HOPPER_ILLEGAL_INSTRUCTION, "tensor copy: 0x%llx is %s", (unsigned long long)address,
                 reason);
    return false;
}

/* ---- into shared memory ---- */

/* To one CTA, or with `mask` to several at the same offsets. */
static bool start_loads(const struct hopper_step *step, struct hopper_transfer transfer, uint32_t mask, unsigned lane)
{
    const struct hopper_cluster *const cluster = transfer.issuer->cluster;
    if (mask >> cluster->cta_count) {
        hopper_fault(step, lane, HOPPER_ILLEGAL_INSTRUCTION, "multicast to CTAs 0x%x of a cluster of %u", mask,
                     cluster->cta_count);
        return false;
    }
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        if (!(mask >> rank & 1))
            continue;
        transfer.to = transfer.barrier_cta = cluster->ctas[rank];
        if (step->gpu->races)
            hopper_race_transfer(step, &transfer, 0);
        if (!hopper_transfer_load(&transfer))
            return false;
    }
    return true;
}

/* Operands: to, what, {size,} mbarrier, {offsets,} {mask,} {hint}. */
static bool load_lane(const struct hopper_step *step, unsigned lane, bool is_tensor)
{
    const enum wsdbg_ptx_space space = (enum wsdbg_ptx_space)step->instruction->space;
    const unsigned barrier_number = is_tensor ? 2 : 3;
    struct hopper_transfer transfer = {.issuer = step->warp->cta};
    uint32_t byte_count = 0;
    if (is_tensor ? !read_tensor(step, 1, lane, &transfer.box)
                  : !read_size(step, 2, lane, &byte_count) || !read_global(step, 1, lane, byte_count, &transfer.box))
        return false;
    if (!locate(step, 0, space, hopper_box_extent(&transfer.box), is_tensor ? TENSOR_ALIGNMENT : BULK_ALIGNMENT, lane,
                &transfer.to, &transfer.to_offset) ||
        !locate(step, barrier_number, space, MBARRIER_BYTES, MBARRIER_BYTES, lane, &transfer.barrier_cta,
                &transfer.barrier_offset))
        return false;
    const unsigned mask_number = barrier_number + (is_tensor && offsets_number(step) != WSDBG_PTX_NONE ? 2 : 1);
    if (has_flag(step, WSDBG_PTX_MULTICAST))
        return start_loads(step, transfer, hopper_source(step, mask_number, lane) & 0xffff, lane);
    if (step->gpu->races)
        hopper_race_transfer(step, &transfer, 0);
    return hopper_transfer_load(&transfer);
}

/* From the own shared memory to another CTA's: to, from, size, mbarrier. */
static bool send_lane(const struct hopper_step *step, unsigned lane, struct hopper_combination combination)
{
    struct hopper_transfer transfer = {.issuer = step->warp->cta, .combination = combination};
    struct hopper_cta *from;
    uint32_t byte_count;
    if (!read_size(step, 2, lane, &byte_count) ||
        !locate(step, 0, WSDBG_PTX_SHARED_CLUSTER, byte_count, BULK_ALIGNMENT, lane, &transfer.to,
                &transfer.to_offset) ||
        !locate(step, 1, WSDBG_PTX_SHARED, byte_count, BULK_ALIGNMENT, lane, &from, &transfer.from_offset) ||
        !locate(step, 3, WSDBG_PTX_SHARED_CLUSTER, MBARRIER_BYTES, MBARRIER_BYTES, lane, &transfer.barrier_cta,
                &transfer.barrier_offset))
        return false;
    transfer.box = hopper_box_of_bytes(0, byte_count);
    if (step->gpu->races)
        hopper_race_transfer(step, &transfer, 0);
    return hopper_transfer_send(&transfer);
}

/* ---- into global memory ---- */

/* Operands: [to], [from], size, or [map, {coordinates}], [from]. */
static bool store_lane(const struct hopper_step *step, unsigned lane, bool is_tensor,
                       struct hopper_combination combination)
{
    struct hopper_transfer transfer = {
        .issuer = step->warp->cta, .combination = combination, .warp = step->warp, .lane = lane};
    struct hopper_cta *from;
    uint32_t byte_count = 0;
    if (is_tensor ? !read_tensor(step, 0, lane, &transfer.box)
                  : !read_size(step, 2, lane, &byte_count) || !read_global(step, 0, lane, byte_count, &transfer.box))
        return false;
    if (!locate(step, 1, WSDBG_PTX_SHARED, hopper_box_extent(&transfer.box),
                is_tensor ? TENSOR_ALIGNMENT : BULK_ALIGNMENT, lane, &from, &transfer.from_offset))
        return false;
    if (is_tensor && combination.operation != WSDBG_PTX_NO_VARIANT) {
        transfer.combination.type = hopper_tensor_type(transfer.box.data_type);
        if (!hopper_can_combine(transfer.combination)) {
            hopper_fault(step, lane, HOPPER_ILLEGAL_INSTRUCTION,
                         "tensor reduction: the map's data type has no such operation");
            return false;
        }
    }
    transfer.group = hopper_copy_joins(step->warp->bulk, lane);
    if (step->gpu->races)
        hopper_race_transfer(step, &transfer, 0);
    return hopper_transfer_send(&transfer);
}

static enum hopper_outcome copy(struct hopper_step *step, bool is_tensor, struct hopper_combination combination)
{
    if (hopper_engine_is_full(step))
        return HOPPER_BLOCKED;
    const bool to_global = step->instruction->space == WSDBG_PTX_GLOBAL;
    if (to_global && !hopper_copy_groups(&step->warp->bulk))
        return hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for bulk groups");
    step->warp->writes++;
    EACH_LANE (step, lane) {
        bool started;
        if (to_global)
            started = store_lane(step, lane, is_tensor, combination);
        else if (step->instruction->source_space == WSDBG_PTX_GLOBAL)
            started = load_lane(step, lane, is_tensor);
        else
            started = send_lane(step, lane, combination);
        if (!started)
            return HOPPER_FAULTED;
    }
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_bulk_copy(struct hopper_step *step)
{
    return copy(step, false, (struct hopper_combination){0});
}

enum hopper_outcome hopper_do_tensor_copy(struct hopper_step *step)
{
    return copy(step, true, (struct hopper_combination){0});
}

static struct hopper_combination combination_of(const struct hopper_step *step)
{
    return (struct hopper_combination){(enum wsdbg_ptx_variant)step->instruction->variant,
                                       (enum wsdbg_ptx_type)step->instruction->type,
                                       step->instruction->space == WSDBG_PTX_GLOBAL, false};
}

enum hopper_outcome hopper_do_bulk_reduce(struct hopper_step *step)
{
    const struct hopper_combination combination = combination_of(step);
    if (!hopper_can_combine(combination))
        return hopper_fault(step, (unsigned)__builtin_ctz(step->lanes), HOPPER_ILLEGAL_INSTRUCTION,
                            "bulk reduction: this type has no such operation");
    return copy(step, false, combination);
}

enum hopper_outcome hopper_do_tensor_reduce(struct hopper_step *step)
{
    return copy(step, true, combination_of(step));
}

/* Hints to a cache that there is none of. */
enum hopper_outcome hopper_do_bulk_prefetch(struct hopper_step *step)
{
    (void)step;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_tensor_prefetch(struct hopper_step *step)
{
    (void)step;
    return HOPPER_NEXT;
}

/* ---- groups ---- */

enum hopper_outcome hopper_do_bulk_commit_group(struct hopper_step *step)
{
    return hopper_commit_copies(step, &step->warp->bulk);
}

enum hopper_outcome hopper_do_bulk_wait_group(struct hopper_step *step)
{
    const uint32_t keep = (uint32_t)hopper_source(step, 0, 0);
    const bool reads_only = has_flag(step, WSDBG_PTX_READ_ONLY_GROUPS);
    const enum hopper_outcome outcome = hopper_await_copies(step, step->warp->bulk, keep, reads_only);
    if (outcome == HOPPER_NEXT && step->gpu->races)
        hopper_race_bulk_wait(step, keep, reads_only);
    return outcome;
}
