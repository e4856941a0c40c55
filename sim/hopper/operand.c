/* operand.c - operands as one lane sees them: registers, immediates, variables' addresses, special registers.
 *
 * Reads: the warp's registers and place.  Writes: results, and the step's scratch.  The fast paths of the executors go
 * through values.h and come here only for what is a lane's own.
 */
#include "hopper/operand.h"

#include <string.h>

#include "hopper/device.h"
#include "hopper/values.h"

#define BITS(n) 1u << n, 2u << n, 4u << n, 8u << n
const uint32_t hopper_lane_bits[HOPPER_LANES] = {BITS(0),  BITS(4),  BITS(8),  BITS(12),
                                                 BITS(16), BITS(20), BITS(24), BITS(28)};

uint32_t *hopper_register32(const struct hopper_warp *warp, uint32_t number)
{
    return (uint32_t *)(void *)(warp->registers + warp->frame->offsets[number]);
}

uint64_t *hopper_register64(const struct hopper_warp *warp, uint32_t number)
{
    return (uint64_t *)(void *)(warp->registers + warp->frame->offsets[number]);
}

uint32_t *hopper_predicate(const struct hopper_warp *warp, uint32_t number)
{
    return hopper_register32(warp, number);
}

bool hopper_is_64(const struct hopper_warp *warp, uint32_t number)
{
    return wsdbg_ptx_type_bytes(warp->frame->function->register_types[number]) >= 8;
}

static bool is_predicate(const struct hopper_warp *warp, uint32_t number)
{
    return warp->frame->function->register_types[number] == WSDBG_PTX_PRED;
}

uint64_t hopper_variable_address(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    const struct hopper_cta *cta = step->warp->cta;
    const struct hopper_code *code = cta->grid->code;
    const uint64_t value = (uint64_t)operand->value;
    switch (operand->space) {
    case WSDBG_PTX_GLOBAL:
        return code->global_address + value;
    case WSDBG_PTX_CONST:
        return code->const_address + value;
    case WSDBG_PTX_SHARED:
    case WSDBG_PTX_SHARED_CLUSTER: {
        const uint64_t address = ((uint64_t)cta->rank << HOPPER_RANK_SHIFT) + HOPPER_SHARED_START + value;
        return operand->from_generic ? HOPPER_SHARED_WINDOW + address : address;
    }
    case WSDBG_PTX_LOCAL:
        return operand->from_generic ? HOPPER_LOCAL_WINDOW + value : value;
    default:
        return value;
    }
}

static uint64_t register_value(const struct hopper_warp *warp, uint32_t number, unsigned lane)
{
    return hopper_is_64(warp, number) ? hopper_register64(warp, number)[lane] : hopper_register32(warp, number)[lane];
}

static uint64_t address_of(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand, unsigned lane)
{
    const uint64_t base = operand->number == WSDBG_PTX_NONE ? 0 : register_value(step->warp, operand->number, lane);
    return base + hopper_displacement(step, operand);
}

uint64_t hopper_address(const struct hopper_step *step, unsigned number, unsigned lane)
{
    return address_of(step, &step->instruction->operands[number], lane);
}

static uint64_t source(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand, unsigned lane)
{
    const struct hopper_warp *warp = step->warp;
    switch (operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        if (is_predicate(warp, operand->number))
            return (*hopper_predicate(warp, operand->number) >> lane & 1) ^ (operand->negated ? 1 : 0);
        return register_value(warp, operand->number, lane);
    case WSDBG_PTX_OPERAND_IMMEDIATE:
        return (uint64_t)operand->value;
    case WSDBG_PTX_OPERAND_SPECIAL:
        return hopper_special(step, operand->number, lane);
    case WSDBG_PTX_OPERAND_ADDRESS:
        return address_of(step, operand, lane);
    default:
        return 0;
    }
}

uint64_t hopper_source(const struct hopper_step *step, unsigned number, unsigned lane)
{
    return source(step, &step->instruction->operands[number], lane);
}

uint64_t hopper_element(const struct hopper_step *step, unsigned number, unsigned element, unsigned lane)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    return source(step, &step->program->vectors[operand->number + element], lane);
}

static void result(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand, unsigned lane,
                   uint64_t value)
{
    const struct hopper_warp *warp = step->warp;
    if (operand->kind != WSDBG_PTX_OPERAND_REGISTER)
        return;
    if (is_predicate(warp, operand->number)) {
        uint32_t *mask = hopper_predicate(warp, operand->number);
        *mask = (*mask & ~(1u << lane)) | (value ? 1u << lane : 0);
    } else if (hopper_is_64(warp, operand->number)) {
        hopper_register64(warp, operand->number)[lane] = value;
    } else {
        hopper_register32(warp, operand->number)[lane] = (uint32_t)value;
    }
}

void hopper_result(const struct hopper_step *step, unsigned number, unsigned lane, uint64_t value)
{
    result(step, &step->instruction->operands[number], lane, value);
}

void hopper_result_element(const struct hopper_step *step, unsigned number, unsigned element, unsigned lane,
                           uint64_t value)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    result(step, &step->program->vectors[operand->number + element], lane, value);
}

void hopper_fill_scratch(struct hopper_step *step)
{
    for (unsigned number = 0; number < step->instruction->operand_count; number++) {
        const uint32_t place = step->op->places[number];
        if (place == WSDBG_PTX_NONE || place >> HOPPER_BASE_SHIFT != HOPPER_OF_STEP)
            continue;
        uint64_t *wide = (uint64_t *)(void *)hopper_place64(step, place);
        uint32_t *narrow = (uint32_t *)(void *)hopper_place32(step, place);
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            wide[lane] = hopper_source(step, number, lane);
            narrow[lane] = (uint32_t)wide[lane];
        }
    }
}

/* ---- special registers ---- */

static uint32_t thread_index(const struct hopper_step *step, unsigned lane, unsigned dimension)
{
    const uint32_t *block = step->warp->cta->grid->launch.block;
    const uint32_t thread = step->warp->index * HOPPER_LANES + lane;
    switch (dimension) {
    case 0:
        return thread % block[0];
    case 1:
        return thread / block[0] % block[1];
    default:
        return thread / (block[0] * block[1]);
    }
}

static uint64_t special_of_cluster(const struct hopper_cta *cta, enum wsdbg_ptx_special special)
{
    const struct wsdbg_gpu_launch *launch = &cta->grid->launch; /* cluster: 1,1,1 where none was asked for */
    if (special >= WSDBG_PTX_CLUSTERID_X && special <= WSDBG_PTX_CLUSTERID_Z) {
        const unsigned dimension = special - WSDBG_PTX_CLUSTERID_X;
        return cta->index[dimension] / launch->cluster[dimension];
    }
    if (special >= WSDBG_PTX_NCLUSTERID_X && special <= WSDBG_PTX_NCLUSTERID_Z) {
        const unsigned dimension = special - WSDBG_PTX_NCLUSTERID_X;
        return launch->grid[dimension] / launch->cluster[dimension];
    }
    if (special >= WSDBG_PTX_CLUSTER_CTAID_X && special <= WSDBG_PTX_CLUSTER_CTAID_Z) {
        const unsigned dimension = special - WSDBG_PTX_CLUSTER_CTAID_X;
        return cta->index[dimension] % launch->cluster[dimension];
    }
    if (special >= WSDBG_PTX_CLUSTER_NCTAID_X && special <= WSDBG_PTX_CLUSTER_NCTAID_Z)
        return launch->cluster[special - WSDBG_PTX_CLUSTER_NCTAID_X];
    switch (special) {
    case WSDBG_PTX_CLUSTER_CTARANK:
        return cta->rank;
    case WSDBG_PTX_CLUSTER_NCTARANK:
        return cta->cluster->cta_count;
    default: /* IS_EXPLICIT_CLUSTER */
        return cta->grid->has_clusters;
    }
}

static uint64_t special_of_device(const struct hopper_step *step, enum wsdbg_ptx_special special)
{
    const struct hopper_warp *warp = step->warp;
    const struct hopper_cta *cta = warp->cta;
    const uint64_t time_ns = hopper_time_ns(step->gpu), clock = time_ns * HOPPER_CLOCKS_PER_1000_NS / 1000;
    switch (special) {
    case WSDBG_PTX_WARPID:
        return warp->slot;
    case WSDBG_PTX_NWARPID:
        return HOPPER_SM_WARPS;
    case WSDBG_PTX_SMID:
        return cta->sm;
    case WSDBG_PTX_NSMID:
        return step->gpu->sm_count;
    case WSDBG_PTX_GRIDID:
        return cta->grid->id;
    case WSDBG_PTX_CLOCK:
        return (uint32_t)clock;
    case WSDBG_PTX_CLOCK_HI:
        return clock >> 32;
    case WSDBG_PTX_CLOCK64:
        return clock;
    case WSDBG_PTX_GLOBALTIMER:
        return time_ns;
    case WSDBG_PTX_GLOBALTIMER_LO:
        return (uint32_t)time_ns;
    case WSDBG_PTX_GLOBALTIMER_HI:
        return time_ns >> 32;
    case WSDBG_PTX_DYNAMIC_SMEM_SIZE:
        return cta->grid->launch.dynamic_shared_bytes;
    case WSDBG_PTX_TOTAL_SMEM_SIZE:
        return cta->shared_bytes + HOPPER_SHARED_START;
    case WSDBG_PTX_ENVREG_1:
        return cta->grid->workspace >> 32;
    case WSDBG_PTX_ENVREG_2:
        return (uint32_t)cta->grid->workspace;
    case WSDBG_PTX_RESERVED_SMEM_OFFSET_1:
        return HOPPER_SHARED_OF_GROUPS;
    case WSDBG_PTX_RESERVED_SMEM_OFFSET_END:
        return HOPPER_SHARED_START;
    default: /* RESERVED_SMEM_OFFSET_0 and _BEGIN */
        return 0;
    }
}

uint64_t hopper_special(const struct hopper_step *step, enum wsdbg_ptx_special special, unsigned lane)
{
    const struct hopper_cta *cta = step->warp->cta;
    const struct wsdbg_gpu_launch *launch = &cta->grid->launch;
    if (special <= WSDBG_PTX_TID_Z)
        return thread_index(step, lane, special - WSDBG_PTX_TID_X);
    if (special <= WSDBG_PTX_NTID_Z)
        return launch->block[special - WSDBG_PTX_NTID_X];
    if (special <= WSDBG_PTX_CTAID_Z)
        return cta->index[special - WSDBG_PTX_CTAID_X];
    if (special <= WSDBG_PTX_NCTAID_Z)
        return launch->grid[special - WSDBG_PTX_NCTAID_X];
    if (special >= WSDBG_PTX_CLUSTERID_X && special <= WSDBG_PTX_IS_EXPLICIT_CLUSTER)
        return special_of_cluster(cta, special);
    switch (special) {
    case WSDBG_PTX_LANEID:
        return lane;
    case WSDBG_PTX_LANEMASK_EQ:
        return 1u << lane;
    case WSDBG_PTX_LANEMASK_LT:
        return (1u << lane) - 1;
    case WSDBG_PTX_LANEMASK_LE:
        return ((1u << lane) - 1) | 1u << lane;
    case WSDBG_PTX_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case WSDBG_PTX_LANEMASK_GT:
        return ~(((1u << lane) - 1) | 1u << lane);
    default:
        return special_of_device(step, special);
    }
}
