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

#define WINDOW_BYTES (1ull << 32)
#define CLUSTER_BYTES ((uint64_t)HOPPER_CLUSTER_CTAS << HOPPER_RANK_SHIFT)

unsigned char *hopper_shared(const struct hopper_cta *cta, uint32_t offset, uint32_t byte_count)
{
    const uint32_t end = HOPPER_SHARED_START + cta->shared_bytes;
    if (offset < HOPPER_SHARED_START || offset > end || byte_count > end - offset)
        return NULL;
    return cta->shared + offset;
}

/* One resolved access: the space that a generic address falls in. */
struct target {
    enum wsdbg_ptx_space space;
    uint64_t address; /* in it */
    struct hopper_cta *cta;
};

static struct target target_of(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address)
{
    struct hopper_cta *own = step->warp->cta;
    if (space == WSDBG_PTX_GENERIC) {
        if (address - HOPPER_SHARED_WINDOW < WINDOW_BYTES)
            return target_of(step, WSDBG_PTX_SHARED_CLUSTER, address - HOPPER_SHARED_WINDOW);
        if (address - HOPPER_LOCAL_WINDOW < WINDOW_BYTES)
            return (struct target){.space = WSDBG_PTX_LOCAL, .address = address - HOPPER_LOCAL_WINDOW};
        return (struct target){.space = WSDBG_PTX_GLOBAL, .address = address};
    }
    if (space == WSDBG_PTX_SHARED || space == WSDBG_PTX_SHARED_CLUSTER) {
        const uint64_t rank = address >> HOPPER_RANK_SHIFT;
        struct hopper_cta *cta = NULL;
        if (rank == own->rank)
            cta = own;
        else if (space == WSDBG_PTX_SHARED_CLUSTER && rank < own->cluster->cta_count)
            cta = own->cluster->ctas[rank];
        return (struct target){
            .space = WSDBG_PTX_SHARED, .address = address & ((1u << HOPPER_RANK_SHIFT) - 1), .cta = cta};
    }
    return (struct target){.space = space == WSDBG_PTX_CONST ? WSDBG_PTX_GLOBAL : space, .address = address};
}

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

static unsigned char *memory_of(const struct hopper_step *step, const struct target *target, uint32_t byte_count,
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
static void describe(const struct hopper_step *step, const struct target *target, char *out, size_t byte_count)
{
    const struct hopper_warp *warp = step->warp;
    switch (target->space) {
    case WSDBG_PTX_SHARED:
        if (!target->cta)
            snprintf(out, byte_count, "of a CTA that is not its own or not of its cluster");
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

static void fault_outside(const struct hopper_step *step, const struct target *target, uint64_t address,
                          uint32_t byte_count, unsigned lane, bool for_writing)
{
    char where[160];
    describe(step, target, where, sizeof where);
    hopper_fault_at(step, lane, HOPPER_INVALID_ADDRESS, address, "%s %u bytes at %s address 0x%" PRIx64 ": %s",
                    for_writing ? "writes" : "reads", byte_count, space_name(target->space), address, where);
}

static unsigned char *resolve(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                              uint32_t byte_count, uint32_t alignment, unsigned lane, bool for_writing,
                              struct target *target)
{
    *target = target_of(step, space, address);
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
    struct target target;
    return resolve(step, space, address, byte_count, alignment, lane, for_writing, &target);
}

struct hopper_cta *hopper_locate(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                 uint32_t byte_count, uint32_t alignment, unsigned lane, uint32_t *offset)
{
    struct target target;
    if (!resolve(step, space, address, byte_count, alignment, lane, true, &target))
        return NULL;
    if (target.space != WSDBG_PTX_SHARED) {
        hopper_fault_at(step, lane, HOPPER_INVALID_ADDRESS_SPACE, address,
                        "0x%" PRIx64 " is no address of shared memory", address);
        return NULL;
    }
    *offset = (uint32_t)target.address;
    return target.cta;
}

/* The space that an instruction without one means: of the variable it names. */
static enum wsdbg_ptx_space space_of(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    if (step->instruction->space == WSDBG_PTX_GENERIC && operand->number == WSDBG_PTX_NONE && !operand->from_generic)
        return operand->space;
    return step->instruction->space;
}

/* ---- all lanes at one time ---- */

/* Every lane's address of the operand. */
static void compute_addresses(const struct hopper_step *step, unsigned number, uint64_t *out)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    const uint64_t displacement = hopper_displacement(step, operand);
    if (operand->number == WSDBG_PTX_NONE) {
        HOPPER_EACH_LANE ()
            out[lane] = displacement;
    } else if (hopper_is_wide(step, number)) {
        const uint64_t *base = hopper_values64(step, number);
        HOPPER_EACH_LANE ()
            out[lane] = base[lane] + displacement;
    } else {
        const uint32_t *base = hopper_values32(step, number);
        HOPPER_EACH_LANE ()
            out[lane] = (uint32_t)(base[lane] + (uint32_t)displacement);
    }
}

/* Whether all lanes that take part are aligned and within [first, first + length): differences that are negative show
 * in the highest bit, so that one `or` a lane tells. */
static bool are_inside(const struct hopper_step *step, uint64_t first, uint64_t length, uint32_t byte_count,
                       uint32_t alignment, struct hopper_places *places)
{
    const uint64_t *addresses = places->addresses;
    const uint64_t most = length - byte_count;
    uint64_t negative = 0, low = 0, gaps = 0;
    if (step->lanes == HOPPER_ALL) {
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const uint64_t offset = addresses[lane] - first;
            negative |= offset | (most - offset);
            low |= addresses[lane];
        }
        for (unsigned lane = 1; lane < HOPPER_LANES; lane++)
            gaps |= addresses[lane] - addresses[lane - 1] - byte_count;
    } else {
        gaps = 1;
        HOPPER_LANES_OF (step->lanes) {
            const uint64_t offset = addresses[lane] - first;
            negative |= offset | (most - offset);
            low |= addresses[lane];
        }
    }
    places->dense_bytes = gaps == 0 ? byte_count : 0;
    return !(negative >> 63) && !(low & (alignment - 1));
}

/* The usual case, all lanes in one block of memory: true when it is that. */
static bool resolve_together(const struct hopper_step *step, enum wsdbg_ptx_space space, uint32_t byte_count,
                             uint32_t alignment, struct hopper_places *out)
{
    const uint64_t address = out->addresses[__builtin_ctz(step->lanes)];
    const struct target target = target_of(step, space, address);
    uint64_t first, length;
    unsigned char *memory;
    if (target.space == WSDBG_PTX_SHARED && target.cta) {
        first = address - target.address + HOPPER_SHARED_START;
        length = target.cta->shared_bytes;
        memory = target.cta->shared + HOPPER_SHARED_START;
    } else if (target.space == WSDBG_PTX_GLOBAL && hopper_find_range(step->gpu, address, byte_count)) {
        first = step->gpu->found.first;
        length = step->gpu->found.end - first;
        memory = (unsigned char *)(uintptr_t)first;
    } else {
        return false;
    }
    if (length < byte_count || !are_inside(step, first, length, byte_count, alignment, out))
        return false;
    out->base = (uint64_t)(uintptr_t)memory - first;
    out->space = target.space;
    out->cta = target.cta;
    return true;
}

bool hopper_resolve(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint32_t alignment,
                    bool for_writing, struct hopper_places *out)
{
    const enum wsdbg_ptx_space space = space_of(step, &step->instruction->operands[number]);
    compute_addresses(step, number, out->addresses);
    if (resolve_together(step, space, byte_count, alignment, out))
        return true;
    struct target target = {0};
    HOPPER_LANES_OF (step->lanes) {
        const unsigned char *memory =
            resolve(step, space, out->addresses[lane], byte_count, alignment, lane, for_writing, &target);
        if (!memory)
            return false;
        out->addresses[lane] = (uint64_t)(uintptr_t)memory;
    }
    out->base = 0;
    out->dense_bytes = 0;
    out->space = target.space;
    out->cta = target.cta;
    return true;
}

/* The addresses from the lowest lane's first byte to the highest's last one. */
static void range_of(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                     uint64_t *first, uint64_t *end)
{
    *first = UINT64_MAX;
    *end = 0;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t address = places->base + places->addresses[lane];
        *first = address < *first ? address : *first;
        *end = address + byte_count > *end ? address + byte_count : *end;
    }
}

void hopper_wrote(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    step->warp->writes++;
    if (places->space == WSDBG_PTX_SHARED) {
        hopper_changed_shared(places->cta);
    } else if (places->space == WSDBG_PTX_GLOBAL) {
        uint64_t first = 0, end = 0;
        if (step->gpu->spins.count)
            range_of(step, places, byte_count, &first, &end);
        hopper_changed_range(step->gpu, first, end);
    }
}

void hopper_note_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    struct hopper_read *read = &step->warp->read;
    if (!read->width_bytes)
        read->changes = step->gpu->changes;
    if (places->space == WSDBG_PTX_GLOBAL) {
        uint64_t first, end;
        range_of(step, places, byte_count, &first, &end);
        if (!read->of_global || first < read->first)
            read->first = first;
        if (end > read->end)
            read->end = end;
        read->of_global = true;
    }
    read->width_bytes = byte_count < 8 ? byte_count : 8;
    read->value = 0;
    const unsigned char *memory = hopper_place_of(places, lane);
    memcpy(&read->value, memory, read->width_bytes);
    read->address =
        places->space == WSDBG_PTX_SHARED ? (uint64_t)(memory - places->cta->shared) : (uint64_t)(uintptr_t)memory;
}
