/* places.c - where the values of all lanes of one ld, st or atom lie.
 *
 * The usual cases are found without a loop over single lanes: one value behind the other, one address for all, all in
 * one block of memory.  What is none of these, or a fault, goes lane by lane through access.c.
 */
#include <string.h>

#include "hopper/access.h"
#include "hopper/operand.h"
#include "hopper/values.h"

/* The space that an instruction without one means: of the variable it names. */
static enum wsdbg_ptx_space space_of(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    if (step->instruction->space == WSDBG_PTX_GENERIC && operand->number == WSDBG_PTX_NONE && !operand->from_generic)
        return operand->space;
    return step->instruction->space;
}

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
static bool are_inside(const uint64_t *addresses, uint32_t lanes, uint64_t first, uint64_t length, uint32_t byte_count,
                       uint32_t alignment)
{
    const uint64_t most = length - byte_count;
    uint64_t negative = 0, low = 0;
    if (lanes == HOPPER_ALL) {
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const uint64_t offset = addresses[lane] - first;
            negative |= offset | (most - offset);
            low |= addresses[lane];
        }
    } else {
        HOPPER_LANES_OF (lanes) {
            const uint64_t offset = addresses[lane] - first;
            negative |= offset | (most - offset);
            low |= addresses[lane];
        }
    }
    return !(negative >> 63) && !(low & (alignment - 1));
}

/* The block of shared or global memory that holds the address; false: another space, or a fault. */
static bool find_block(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                       uint32_t byte_count, uint64_t *first, uint64_t *length, struct hopper_places *out)
{
    const struct hopper_target target = hopper_target_of(step, space, address);
    unsigned char *memory;
    if (target.space == WSDBG_PTX_SHARED && target.cta) {
        *first = address - target.address + HOPPER_SHARED_START;
        *length = target.cta->shared_bytes;
        memory = target.cta->shared + HOPPER_SHARED_START;
    } else if (target.space == WSDBG_PTX_GLOBAL && hopper_find_range(step->gpu, address, byte_count)) {
        *first = step->gpu->found.first;
        *length = step->gpu->found.end - *first;
        memory = (unsigned char *)(uintptr_t)*first;
    } else {
        return false;
    }
    out->base = (uint64_t)(uintptr_t)memory - *first;
    out->space = target.space;
    out->cta = target.cta;
    return true;
}

/* Where the lanes' 4, 8 or 16 bytes begin. */
#define STEPS(n, bytes) n *bytes, (n + 1) * bytes, (n + 2) * bytes, (n + 3) * bytes
#define ALL_STEPS(bytes)                                                                                         \
    {                                                                                                            \
        STEPS(0, bytes), STEPS(4, bytes), STEPS(8, bytes), STEPS(12, bytes), STEPS(16, bytes), STEPS(20, bytes), \
            STEPS(24, bytes), STEPS(28, bytes)                                                                   \
    }
static const uint32_t steps_32[3][HOPPER_LANES] = {ALL_STEPS(4), ALL_STEPS(8), ALL_STEPS(16)};
static const uint64_t steps_64[3][HOPPER_LANES] = {ALL_STEPS(4), ALL_STEPS(8), ALL_STEPS(16)};

static bool are_dense_32(const uint32_t *values, uint32_t byte_count)
{
    const uint32_t *steps = steps_32[byte_count / 8];
    uint32_t differences = 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        differences |= (values[lane] - steps[lane]) ^ values[0];
    return differences == 0;
}

static bool are_dense_64(const uint64_t *values, uint32_t byte_count)
{
    const uint64_t *steps = steps_64[byte_count / 8];
    uint64_t differences = 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        differences |= (values[lane] - steps[lane]) ^ values[0];
    return differences == 0;
}

/* The address of all lanes' values, if one lies behind the other. */
static bool are_dense(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint64_t *address)
{
    const uint64_t displacement = hopper_displacement(step, &step->instruction->operands[number]);
    if (hopper_is_wide(step, number)) {
        const uint64_t *values = hopper_values64(step, number);
        *address = values[0] + displacement;
        return values[1] - values[0] == byte_count && are_dense_64(values, byte_count);
    }
    const uint32_t *values = hopper_values32(step, number);
    *address = (uint32_t)(values[0] + (uint32_t)displacement);
    return values[1] - values[0] == byte_count && are_dense_32(values, byte_count);
}

bool hopper_find_block(const struct hopper_step *step, unsigned number, uint32_t byte_count, struct hopper_block *out)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    uint64_t address;
    if (step->lanes != HOPPER_ALL || operand->number == WSDBG_PTX_NONE ||
        !are_dense(step, number, byte_count, &address) || address & (byte_count - 1))
        return false;
    const uint32_t bytes = byte_count * HOPPER_LANES;
    const struct hopper_target target = hopper_target_of(step, space_of(step, operand), address);
    out->memory = NULL;
    out->space = target.space;
    out->cta = target.cta;
    if (target.cta)
        out->memory = hopper_shared(target.cta, (uint32_t)target.address, bytes);
    else if (target.space == WSDBG_PTX_GLOBAL && hopper_find_range(step->gpu, address, bytes))
        out->memory = (unsigned char *)(uintptr_t)address;
    return out->memory != NULL;
}

/* One address for all lanes, of any space but their own local ones; true after a fault as well, *is_fault then. */
static bool resolve_uniform(const struct hopper_step *step, unsigned number, enum wsdbg_ptx_space space,
                            uint32_t byte_count, uint32_t alignment, bool for_writing, struct hopper_places *out,
                            bool *is_fault)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    if (operand->number != WSDBG_PTX_NONE || space == WSDBG_PTX_LOCAL || operand->space == WSDBG_PTX_LOCAL)
        return false;
    struct hopper_target target;
    const unsigned char *memory =
        hopper_resolve_lane(step, space, hopper_displacement(step, operand), byte_count, alignment,
                            (unsigned)__builtin_ctz(step->lanes), for_writing, &target);
    *is_fault = !memory;
    out->base = (uint64_t)(uintptr_t)memory;
    memset(out->addresses, 0, sizeof out->addresses);
    out->is_uniform = true;
    out->space = target.space;
    out->cta = target.cta;
    return true;
}

/* The usual case, all lanes in one block of memory: true when it is that. */
static bool resolve_together(const struct hopper_step *step, enum wsdbg_ptx_space space, uint32_t byte_count,
                             uint32_t alignment, struct hopper_places *out)
{
    uint64_t first, length;
    return find_block(step, space, out->addresses[__builtin_ctz(step->lanes)], byte_count, &first, &length, out) &&
           length >= byte_count && are_inside(out->addresses, step->lanes, first, length, byte_count, alignment);
}

bool hopper_resolve(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint32_t alignment,
                    bool for_writing, struct hopper_places *out)
{
    const enum wsdbg_ptx_space space = space_of(step, &step->instruction->operands[number]);
    bool is_fault;
    if (resolve_uniform(step, number, space, byte_count, alignment, for_writing, out, &is_fault))
        return !is_fault;
    compute_addresses(step, number, out->addresses);
    out->is_uniform = false;
    if (resolve_together(step, space, byte_count, alignment, out))
        return true;
    struct hopper_target target = {0};
    out->space = WSDBG_PTX_LOCAL; /* if all lanes name their own */
    out->cta = NULL;
    HOPPER_LANES_OF (step->lanes) {
        const unsigned char *memory =
            hopper_resolve_lane(step, space, out->addresses[lane], byte_count, alignment, lane, for_writing, &target);
        if (!memory)
            return false;
        out->addresses[lane] = (uint64_t)(uintptr_t)memory;
        if (target.space == WSDBG_PTX_LOCAL)
            continue;
        out->space = target.space;
        out->cta = target.cta;
    }
    out->base = 0;
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

static inline void wrote(const struct hopper_step *step, enum wsdbg_ptx_space space, struct hopper_cta *cta,
                         uint64_t first, uint64_t end)
{
    if (space == WSDBG_PTX_LOCAL) /* nobody else sees it: spin.c looks at all of it */
        return;
    step->warp->writes++;
    if (space == WSDBG_PTX_SHARED)
        hopper_changed_shared(cta);
    else if (space == WSDBG_PTX_GLOBAL)
        hopper_changed_range(step->gpu, first, end);
}

void hopper_wrote(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    uint64_t first = 0, end = 0;
    if (places->space == WSDBG_PTX_GLOBAL && step->gpu->spins.count)
        range_of(step, places, byte_count, &first, &end);
    wrote(step, places->space, places->cta, first, end);
}

void hopper_wrote_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count)
{
    const uint64_t first = (uint64_t)(uintptr_t)block->memory;
    wrote(step, block->space, block->cta, first, first + (uint64_t)byte_count * HOPPER_LANES);
}

/* Where the loop looks at global memory. */
static void note_range(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    struct hopper_read *read = &step->warp->read;
    uint64_t first, end;
    hopper_looks(step);
    if (places->space != WSDBG_PTX_GLOBAL)
        return;
    range_of(step, places, byte_count, &first, &end);
    if (!read->of_global || first < read->first)
        read->first = first;
    if (end > read->end)
        read->end = end;
    read->of_global = true;
}

void hopper_note_same(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    if (places->space == WSDBG_PTX_LOCAL)
        return;
    step->split->reads_global |= places->space == WSDBG_PTX_GLOBAL;
    if (step->warp->watched_lanes)
        note_range(step, places, byte_count);
}

void hopper_note_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    struct hopper_read *read = &step->warp->read;
    if (places->space == WSDBG_PTX_LOCAL) /* nobody else can change it */
        return;
    note_range(step, places, byte_count);
    read->width_bytes = byte_count < 8 ? byte_count : 8;
    read->value = 0;
    const unsigned char *memory = hopper_place_of(places, lane);
    memcpy(&read->value, memory, read->width_bytes);
    read->address =
        places->space == WSDBG_PTX_SHARED ? (uint64_t)(memory - places->cta->shared) : (uint64_t)(uintptr_t)memory;
}
