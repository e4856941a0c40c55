/* tensor_map.h - tensor maps as the simulator keeps them in a CUtensorMap's 128 bytes (their real layout is not
 * public).
 *
 * Written by: libcuda's cuTensorMapEncodeTiled and ...Im2col.  Read by: the copy engine.
 */
#ifndef WSDBG_HOPPER_TENSOR_MAP_H
#define WSDBG_HOPPER_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { WSDBG_TENSOR_DIMENSIONS = 5 };
#define WSDBG_TENSOR_MAGIC 0x5744544du

/* Values of the enumerations are those of cuda.h. */
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

#endif
