/* execute_tensor_map.c - tensormap.replace and tensormap.cp_fenceproxy: tensor maps that kernels change.
 *
 * Reads and writes: maps (tensor_map.h) in shared or global memory.  The numbers of types and modes are PTX's; those of
 * types differ from cuda.h's behind f32.
 */
#include <string.h>

#include "hopper/device.h"
#include "hopper/execute.h"
#include "hopper/race.h"
#include "base/tensor_map.h"
#include "hopper/values.h"

enum { MAP_BYTES = 128, MAP_ALIGNMENT = 64, PTX_TYPES = 13 };

static void changed(const struct hopper_step *step)
{
    step->warp->writes++;
    hopper_changed_shared(step->warp->cta);
    hopper_changed_global(step->gpu);
}

static void replace_type(struct wsdbg_tensor_map *map, uint64_t value)
{
    static const uint8_t cuda_types[PTX_TYPES] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    static const uint8_t element_bytes[PTX_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    map->data_type = cuda_types[value % PTX_TYPES];
    map->element_bytes = element_bytes[value % PTX_TYPES];
}

/* `dimension`: of the fields that each dimension has. */
static void replace(struct wsdbg_tensor_map *map, enum wsdbg_ptx_variant field, uint64_t dimension, uint64_t value)
{
    switch (field) {
    case WSDBG_PTX_V_GLOBAL_ADDRESS:
        map->address = value;
        break;
    case WSDBG_PTX_V_RANK: /* counted from 0 */
        map->rank = (uint8_t)((value & UINT8_MAX) + 1);
        break;
    case WSDBG_PTX_V_BOX_DIM:
        map->box[dimension] = (uint16_t)value;
        break;
    case WSDBG_PTX_V_GLOBAL_DIM:
        map->sizes_and_strides[dimension] = value & UINT32_MAX;
        break;
    case WSDBG_PTX_V_GLOBAL_STRIDE: /* that of dimension 1 is number 0 */
        map->strides_bytes[dimension] = value;
        break;
    case WSDBG_PTX_V_ELEMENT_STRIDE:
        map->element_strides[dimension] = (uint8_t)value;
        break;
    case WSDBG_PTX_V_ELEMENT_TYPE:
        replace_type(map, value);
        break;
    case WSDBG_PTX_V_INTERLEAVE:
        map->interleave = (uint8_t)value;
        break;
    case WSDBG_PTX_V_SWIZZLE:
        map->swizzle = (uint8_t)value;
        break;
    default: /* FILL */
        map->out_of_bounds_fill = (uint8_t)value;
        break;
    }
}

static bool is_blank(const unsigned char *map)
{
    for (unsigned i = 0; i < MAP_BYTES; i++)
        if (map[i])
            return false;
    return true;
}

enum hopper_outcome hopper_do_tensormap_replace(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const unsigned last = instruction->operand_count - 1u;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t address = hopper_address(step, 0, lane);
        void *const memory = hopper_memory(step, (enum wsdbg_ptx_space)instruction->space, address, MAP_BYTES,
                                           MAP_ALIGNMENT, lane, true);
        struct wsdbg_tensor_map map;
        if (!memory)
            return HOPPER_FAULTED;
        memcpy(&map, memory, sizeof map);
        if (is_blank(memory)) /* a kernel makes a map of its own */
            map.magic = WSDBG_TENSOR_MAGIC;
        if (map.magic != WSDBG_TENSOR_MAGIC || map.is_im2col)
            return hopper_fault(step, lane, HOPPER_ILLEGAL_INSTRUCTION, "tensormap.replace.tile: 0x%llx is %s",
                                (unsigned long long)address,
                                map.magic == WSDBG_TENSOR_MAGIC ? "an im2col tensor map" : "no tensor map");
        const uint64_t dimension = last == 2 ? (uint64_t)instruction->operands[1].value : 0;
        replace(&map, (enum wsdbg_ptx_variant)instruction->variant, dimension, hopper_source(step, last, lane));
        memcpy(memory, &map, sizeof map);
        if (step->gpu->races)
            hopper_race_lane(step, (enum wsdbg_ptx_space)instruction->space, address, MAP_BYTES, true, 0);
    }
    changed(step);
    return HOPPER_NEXT;
}

/* Of the whole warp, which names one source and one destination. */
enum hopper_outcome hopper_do_tensormap_cp_fenceproxy(struct hopper_step *step)
{
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    const void *const from =
        hopper_memory(step, WSDBG_PTX_SHARED, hopper_address(step, 1, lane), MAP_BYTES, MAP_ALIGNMENT, lane, false);
    void *const to = from ? hopper_memory(step, WSDBG_PTX_GLOBAL, hopper_address(step, 0, lane), MAP_BYTES,
                                          MAP_ALIGNMENT, lane, true)
                          : NULL;
    if (!to)
        return HOPPER_FAULTED;
    memcpy(to, from, MAP_BYTES);
    if (step->gpu->races) {
        hopper_race_lane(step, WSDBG_PTX_SHARED, hopper_address(step, 1, lane), MAP_BYTES, false, 0);
        hopper_race_lane(step, WSDBG_PTX_GLOBAL, hopper_address(step, 0, lane), MAP_BYTES, true, 0);
    }
    changed(step);
    return HOPPER_NEXT;
}
