/* tensor_map.h - a CUtensorMap's 128 bytes: how many bytes a copy brings, and how the simulator keeps maps.
 *
 * Written by: cuTensorMapEncodeTiled and ...Im2col, the driver's or the simulator's.  Read by: walks (walk.h) and the
 * simulator's copy engine.
 */
#ifndef WSDBG_BASE_TENSOR_MAP_H
#define WSDBG_BASE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { WSDBG_TENSOR_DIMENSIONS = 5 };
#define WSDBG_TENSOR_MAGIC 0x5744544du

/* A map of the simulator.  Values of the enumerations are those of cuda.h. */
struct wsdbg_tensor_map {
    uint32_t magic;
    uint8_t data_type, rank, interleave, swizzle, l2_promotion, out_of_bounds_fill, is_im2col, element_bytes;
    uint64_t address;
    uint64_t
        sizes_and_strides[WSDBG_TENSOR_DIMENSIONS]; /* size in elements (32 bits low); the strides are kept apart */
    uint64_t strides_bytes[WSDBG_TENSOR_DIMENSIONS - 1];
    uint16_t box[WSDBG_TENSOR_DIMENSIONS];
    uint8_t element_strides[WSDBG_TENSOR_DIMENSIONS];
    /* Of an im2col map, whose box is not used. */
    uint16_t channels_per_pixel, pixels_per_column;
    int16_t lower_corner[3], upper_corner[3];
};
_Static_assert(sizeof(struct wsdbg_tensor_map) <= 128, "a CUtensorMap");

enum { WSDBG_TENSOR_MAP_WORDS = 32 };
/* The bytes that mbarriers count of a copy with this map, of the driver's layout or the simulator's.  False: this is no
 * such map, or the element stride of its first dimension is not 1.  The driver's layout is not public: it was read from
 * the maps that driver 580 makes of known arguments. */
bool wsdbg_tensor_map_bytes(const uint32_t words[WSDBG_TENSOR_MAP_WORDS], uint32_t *bytes);

#endif
