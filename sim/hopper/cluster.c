/* cluster.c - addresses of the shared memory of a cluster's CTAs: which CTA, which offset; mapa and getctarank.
 *
 * Reads: the step's operands, the cluster.
 */
#include "hopper/execute.h"

#define OFFSET_MASK ((1u << HOPPER_RANK_SHIFT) - 1)

enum { CU_INVALID_ADDRESS = 700, CU_MISALIGNED_ADDRESS = 716 };

struct hopper_cta *hopper_locate(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                 uint32_t byte_count, uint32_t alignment, unsigned lane, uint32_t *offset)
{
    struct hopper_cta *const own = step->warp->cta;
    if (space == WSDBG_PTX_GENERIC)
        address -= HOPPER_SHARED_WINDOW;
    const uint64_t rank = address >> HOPPER_RANK_SHIFT;
    const bool own_only = space == WSDBG_PTX_SHARED;
    struct hopper_cta *cta = NULL;
    if (own_only ? rank == own->rank || rank == 0 : rank < own->cluster->cta_count)
        cta = own_only ? own : own->cluster->ctas[rank];
    *offset = address & OFFSET_MASK;
    if (!cta || !hopper_shared(cta, *offset, byte_count)) {
        hopper_fault(step, lane, CU_INVALID_ADDRESS, "0x%llx is no shared memory of %s",
                     (unsigned long long)address, own_only ? "this CTA" : "a CTA of this cluster");
        return NULL;
    }
    if (address % alignment) {
        hopper_fault(step, lane, CU_MISALIGNED_ADDRESS, "shared address 0x%llx must be a multiple of %u",
                     (unsigned long long)address, alignment);
        return NULL;
    }
    return cta;
}

enum hopper_outcome hopper_do_mapa(struct hopper_step *step)
{
    const uint64_t window = step->instruction->space == WSDBG_PTX_GENERIC ? HOPPER_SHARED_WINDOW : 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        if (!(step->lanes >> lane & 1))
            continue;
        const uint64_t address = hopper_source(step, 1, lane) - window, rank = hopper_source(step, 2, lane);
        hopper_result(step, 0, lane, window + ((rank & 0xff) << HOPPER_RANK_SHIFT | (address & OFFSET_MASK)));
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_getctarank(struct hopper_step *step)
{
    const uint64_t window = step->instruction->space == WSDBG_PTX_GENERIC ? HOPPER_SHARED_WINDOW : 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1)
            hopper_result(step, 0, lane, (hopper_source(step, 1, lane) - window) >> HOPPER_RANK_SHIFT);
    return HOPPER_NEXT;
}
