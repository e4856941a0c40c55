/* box.h - which bytes of global memory go where in shared memory when a box of a tensor is copied.
 *
 * Private to hopper/.  Pure: reads a tensor map and coordinates, touches no memory of the device.
 */
#ifndef WSDBG_HOPPER_BOX_H
#define WSDBG_HOPPER_BOX_H

#include <stdbool.h>

#include "base/tensor_map.h"

struct hopper_box {
    uint64_t address;
    uint32_t rank, element_bytes;
    uint64_t sizes[WSDBG_TENSOR_DIMENSIONS];   /* of the tensor, in elements */
    uint64_t strides[WSDBG_TENSOR_DIMENSIONS]; /* of the tensor, in bytes */
    int32_t at[WSDBG_TENSOR_DIMENSIONS];       /* the box's first element */
    uint32_t counts[WSDBG_TENSOR_DIMENSIONS]; /* elements that the box has in shared memory; im2col: channels, pixels */
    uint32_t steps[WSDBG_TENSOR_DIMENSIONS];  /* between them, in elements of the tensor */
    bool is_im2col;
    /* Of im2col, for each dimension between channels and images: where pixels begin and end, and what is added to each.
     */
    int64_t begins[WSDBG_TENSOR_DIMENSIONS], ends[WSDBG_TENSOR_DIMENSIONS];
    uint16_t offsets[WSDBG_TENSOR_DIMENSIONS];
    uint32_t row_bytes, pitch_bytes; /* in shared memory, of dimension 0 */
    uint32_t swizzle_mask;           /* of address bits 4-6 that are XORed with bits 7-9 */
    bool fills_with_nan;
    uint32_t data_type; /* CUtensorMapDataType; of bytes in a row: UINT8 */
};

/* A row of `byte_count` bytes. */
struct hopper_box hopper_box_of_bytes(uint64_t address, uint32_t byte_count);
/* NULL, or why these 128 bytes are no map for such a copy. */
const char *hopper_box_of_map(const struct wsdbg_tensor_map *map, uint32_t dimensions, const int32_t *at,
                              struct hopper_box *out);
/* The same for a copy with .im2col: a column of pixels, row after row of the bounding box, image after image (PTX ISA,
 * "Tensor Access Modes").  `offsets`: dimensions - 2 of them, that of dimension 1 first; NULL = zeros. */
const char *hopper_box_of_pixels(const struct wsdbg_tensor_map *map, uint32_t dimensions, const int32_t *at,
                                 const uint16_t *offsets, struct hopper_box *out);
uint32_t hopper_box_rows(const struct hopper_box *box);
/* Bytes that are copied or filled; what mbarriers count. */
uint32_t hopper_box_bytes(const struct hopper_box *box);
/* Bytes of shared memory from its address on. */
uint32_t hopper_box_extent(const struct hopper_box *box);

struct hopper_run {
    bool is_inside; /* of the tensor; else filled on loads, left out on stores */
    uint64_t address;
    uint32_t offset; /* in shared memory */
    uint32_t byte_count;
};
/* Rows [first, end) of the box that lies at `offset` of shared memory, in pieces that are contiguous in both memories.
 * `visit` returns false to stop; false when it did. */
bool hopper_box_walk(const struct hopper_box *box, uint32_t offset, uint32_t first, uint32_t end,
                     bool (*visit)(void *context, const struct hopper_run *run), void *context);
/* What fills elements outside of the tensor. */
void hopper_box_fill(const struct hopper_box *box, unsigned char *bytes, uint32_t byte_count);
/* What a load makes of bytes of the tensor on their way: the types of f32 that say so are rounded. */
void hopper_box_convert(const struct hopper_box *box, unsigned char *bytes, uint32_t byte_count);

#endif
