/* execute_store_async.c - st.async and red.async: values that go to shared memory of the cluster on their own, and then
 * count as bytes of an mbarrier.
 *
 * Reads: operands.  Writes: transfers (transfer.h).
 */
#include "hopper/copy_groups.h"
#include "hopper/device.h"
#include "hopper/execute.h"
#include "hopper/race.h"
#include "hopper/transfer.h"
#include "hopper/values.h"

enum { OPERAND_TO, OPERAND_VALUES, OPERAND_MBARRIER, MBARRIER_BYTES = 8, BYTES_MOST = 16 };

static struct hopper_cta *locate(const struct hopper_step *step, unsigned number, uint32_t byte_count, unsigned lane,
                                 uint32_t *offset)
{
    return hopper_locate(step, (enum wsdbg_ptx_space)step->instruction->space, hopper_address(step, number, lane),
                         byte_count, byte_count, lane, offset);
}

/* The lane's values, one behind the other; how many bytes. */
static uint32_t read_values(const struct hopper_step *step, unsigned lane, unsigned char bytes[BYTES_MOST])
{
    const struct wsdbg_ptx_operand *const operand = &step->instruction->operands[OPERAND_VALUES];
    const bool is_vector = operand->kind == WSDBG_PTX_OPERAND_VECTOR;
    const uint32_t count = is_vector ? operand->count : 1, each = step->op->type_bytes;
    for (uint32_t i = 0; i < count && (i + 1) * each <= BYTES_MOST; i++) {
        const uint64_t value =
            is_vector ? hopper_element(step, OPERAND_VALUES, i, lane) : hopper_source(step, OPERAND_VALUES, lane);
        memcpy(bytes + i * each, &value, each);
    }
    return count * each;
}

static enum hopper_outcome send(struct hopper_step *step, struct hopper_combination combination)
{
    if (hopper_engine_is_full(step))
        return HOPPER_BLOCKED;
    step->warp->writes++;
    HOPPER_LANES_OF (step->lanes) {
        struct hopper_transfer transfer = {.issuer = step->warp->cta, .combination = combination};
        unsigned char bytes[BYTES_MOST];
        const uint32_t byte_count = read_values(step, lane, bytes);
        transfer.to = locate(step, OPERAND_TO, byte_count, lane, &transfer.to_offset);
        if (!transfer.to)
            return HOPPER_FAULTED;
        transfer.barrier_cta = locate(step, OPERAND_MBARRIER, MBARRIER_BYTES, lane, &transfer.barrier_offset);
        if (transfer.barrier_cta && step->gpu->races)
            hopper_race_transfer(step, &transfer, byte_count);
        if (!transfer.barrier_cta || !hopper_transfer_bytes(&transfer, bytes, byte_count))
            return HOPPER_FAULTED;
    }
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_st_async(struct hopper_step *step)
{
    return send(step, (struct hopper_combination){0});
}

enum hopper_outcome hopper_do_red_async(struct hopper_step *step)
{
    return send(step, (struct hopper_combination){(enum wsdbg_ptx_variant)step->instruction->variant,
                                                  (enum wsdbg_ptx_type)step->instruction->type, false, false});
}
