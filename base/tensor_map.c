/* tensor_map.c - see tensor_map.h. */
#include "base/tensor_map.h"

#include <string.h>

/* Of the driver's layout, in words of 32 bits. */
enum {
    KIND_WORD = 2,    /* bit 0: im2col; 4-6: dimensions - 1; 7-10: type */
    BOX_WORD = 13,    /* 0-14: element strides - 1, 3 bits each; 24-31: box of dimension 0, or channels, - 1 */
    BOXES_WORD = 14,  /* box of dimensions 1 to 4, - 1, 8 bits each */
    PIXELS_WORD = 15, /* 0-15: pixels - 1 */
    BYTES_WORD = 16   /* of the whole box */
};
enum { RANK_SHIFT = 4, RANK_MASK = 7, TYPE_SHIFT = 7, TYPE_MASK = 15, STRIDE_BITS = 3, STRIDE_MASK = 7 };

static uint32_t element_bytes(uint32_t type)
{
    static const uint8_t bytes[TYPE_MASK + 1] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2};
    return bytes[type];
}

static uint32_t ceiling(uint32_t count, uint32_t step)
{
    return (count + step - 1) / step;
}

static uint64_t tile_elements(const uint32_t *words, uint32_t rank)
{
    uint64_t elements = (words[BOX_WORD] >> 24) + 1;
    for (uint32_t i = 1; i < rank; i++) {
        const uint32_t box = (words[BOXES_WORD] >> 8 * (i - 1) & 0xff) + 1,
                       stride = (words[BOX_WORD] >> STRIDE_BITS * i & STRIDE_MASK) + 1;
        elements *= ceiling(box, stride);
    }
    return elements;
}

/* The map holds the bytes as well: they must agree with the box. */
static bool driver_bytes(const uint32_t *words, uint32_t *bytes)
{
    const uint32_t kind = words[KIND_WORD], rank = (kind >> RANK_SHIFT & RANK_MASK) + 1;
    const bool is_im2col = kind & 1;
    if (rank > WSDBG_TENSOR_DIMENSIONS || (words[BOX_WORD] & STRIDE_MASK))
        return false;
    const uint64_t elements = is_im2col ? (uint64_t)((words[BOX_WORD] >> 24) + 1) * ((words[PIXELS_WORD] & 0xffff) + 1)
                                        : tile_elements(words, rank);
    *bytes = words[BYTES_WORD];
    return *bytes && elements * element_bytes(kind >> TYPE_SHIFT & TYPE_MASK) == *bytes;
}

static bool simulated_bytes(const struct wsdbg_tensor_map *map, uint32_t *bytes)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < map->rank && i < WSDBG_TENSOR_DIMENSIONS; i++)
        elements *= ceiling(map->box[i], i && map->element_strides[i] ? map->element_strides[i] : 1);
    if (map->is_im2col)
        elements = (uint64_t)map->channels_per_pixel * map->pixels_per_column;
    *bytes = (uint32_t)(elements * map->element_bytes);
    return *bytes > 0;
}

bool wsdbg_tensor_map_bytes(const uint32_t words[WSDBG_TENSOR_MAP_WORDS], uint32_t *bytes)
{
    struct wsdbg_tensor_map map;
    memcpy(&map, words, sizeof map);
    return map.magic == WSDBG_TENSOR_MAGIC ? simulated_bytes(&map, bytes) : driver_bytes(words, bytes);
}
