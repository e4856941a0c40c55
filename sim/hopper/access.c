/* access.c - addresses of lanes: which space, which allocation, whether they may use it.
 *
 * Reads: ranges of device memory, CTAs' shared memory, warps' local memory, grids' parameters.  Every access that is
 * not wholly inside of one of these is a fault that names the thread, the address and the nearest allocation.
 */
#include "hopper/access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hopper/operand.h"
#include "hopper/values.h"

static unsigned char *in_block(unsigned char *block, uint64_t length, uint64_t address, uint32_t byte_count)
{
    return address <= length && byte_count <= length - address ? block + address : NULL;
}

static unsigned char *global_memory(const struct hopper_step *step, uint64_t address, uint32_t byte_count)
{
    if (hopper_find_range(step->gpu, address, byte_count))
        return (unsigned char *)(uintptr_t)address;
    /* cvta.param gives the parameters' own address. */
    const struct hopper_grid *grid = step->warp->cta->grid;
    return in_block(grid->parameters, grid->launch.function->parameter_bytes,
                    address - (uint64_t)(uintptr_t)grid->parameters, byte_count);
}

static unsigned char *memory_of(const struct hopper_step *step, const struct hopper_target *target, uint32_t byte_count,
                                unsigned lane)
{
    const struct hopper_warp *warp = step->warp;
    const struct hopper_grid *grid = warp->cta->grid;
    switch (target->space) {
    case WSDBG_PTX_SHARED:
        return target->cta ? hopper_shared(target->cta, (uint32_t)target->address, byte_count) : NULL;
    case WSDBG_PTX_LOCAL:
        return warp->local ? in_block(warp->local + (size_t)lane * warp->local_bytes, warp->local_bytes,
                                      target->address, byte_count)
                           : NULL;
    case WSDBG_PTX_PARAM:
        return in_block(grid->parameters, grid->launch.function->parameter_bytes, target->address, byte_count);
    default:
        return global_memory(step, target->address, byte_count);
    }
}

static const char *space_name(enum wsdbg_ptx_space space)
{
    static const char *const names[WSDBG_PTX_SPACE_COUNT] = {
        [WSDBG_PTX_GENERIC] = "generic",
        [WSDBG_PTX_GLOBAL] = "global",
        [WSDBG_PTX_CONST] = "constant",
        [WSDBG_PTX_PARAM] = "parameter",
        [WSDBG_PTX_LOCAL] = "local",
        [WSDBG_PTX_SHARED] = "shared",
        [WSDBG_PTX_SHARED_CLUSTER] = "shared::cluster",
    };
    return names[space];
}

/* Where memory of the target's space really is, for the error. */
static void describe(const struct hopper_step *step, const struct hopper_target *target, char *out, size_t byte_count)
{
    const struct hopper_warp *warp = step->warp;
    switch (target->space) {
    case WSDBG_PTX_SHARED:
        if (!target->cta)
            snprintf(out, byte_count, "of a CTA that is not its own, not of its cluster or has left the kernel");
        else
            snprintf(out, byte_count, "shared memory of CTA rank %u is 0x%x to 0x%x", target->cta->rank,
                     HOPPER_SHARED_START, HOPPER_SHARED_START + target->cta->shared_bytes);
        break;
    case WSDBG_PTX_LOCAL:
        snprintf(out, byte_count, "a thread has %u bytes of local memory", warp->local_bytes);
        break;
    case WSDBG_PTX_PARAM:
        snprintf(out, byte_count, "there are %u bytes of parameters",
                 warp->cta->grid->launch.function->parameter_bytes);
        break;
    default:
        hopper_describe_address(step->gpu, target->address, out, byte_count);
    }
}

static void fault_outside(const struct hopper_step *step, const struct hopper_target *target, uint64_t address,
                          uint32_t byte_count, unsigned lane, bool for_writing)
{
    char where[160];
    describe(step, target, where, sizeof where);
    hopper_fault_at(step, lane, HOPPER_INVALID_ADDRESS, address, "%s %u bytes at %s address 0x%" PRIx64 ": %s",
                    for_writing ? "writes" : "reads", byte_count, space_name(target->space), address, where);
    hopper_run_of(step->warp->cta->grid)->fault.is_of_absent_cta = target->space == WSDBG_PTX_SHARED && !target->cta;
}

unsigned char *hopper_resolve_lane(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                   uint32_t byte_count, uint32_t alignment, unsigned lane, bool for_writing,
                                   struct hopper_target *target)
{
    *target = hopper_target_of(step, space, address);
    if (alignment > 1 && address % alignment) {
        hopper_fault_at(step, lane, HOPPER_MISALIGNED_ADDRESS, address,
                        "%s address 0x%" PRIx64 " is not aligned to %u bytes", space_name(target->space), address,
                        alignment);
        return NULL;
    }
    unsigned char *memory = memory_of(step, target, byte_count, lane);
    if (!memory)
        fault_outside(step, target, address, byte_count, lane, for_writing);
    return memory;
}

void *hopper_memory(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address, uint32_t byte_count,
                    uint32_t alignment, unsigned lane, bool for_writing)
{
    struct hopper_target target;
    return hopper_resolve_lane(step, space, address, byte_count, alignment, lane, for_writing, &target);
}

struct hopper_cta *hopper_locate(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                 uint32_t byte_count, uint32_t alignment, unsigned lane, uint32_t *offset)
{
    struct hopper_target target;
    if (!hopper_resolve_lane(step, space, address, byte_count, alignment, lane, true, &target))
        return NULL;
    if (target.space != WSDBG_PTX_SHARED) {
        hopper_fault_at(step, lane, HOPPER_INVALID_ADDRESS_SPACE, address,
                        "0x%" PRIx64 " is no address of shared memory", address);
        return NULL;
    }
    *offset = (uint32_t)target.address;
    return target.cta;
}

struct hopper_cta *hopper_find_shared(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                      uint32_t byte_count, uint32_t *offset)
{
    const struct hopper_target target = hopper_target_of(step, space, address);
    *offset = (uint32_t)target.address;
    const bool is_there =
        target.space == WSDBG_PTX_SHARED && target.cta && hopper_shared(target.cta, *offset, byte_count);
    return is_there ? target.cta : NULL;
}
