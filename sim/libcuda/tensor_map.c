/* tensor_map.c - cuTensorMapEncodeTiled and ...Im2col: arguments checked as cuda.h documents, written as the
 * simulator's copy engine reads them (base/tensor_map.h).
 *
 * The driver says only CUDA_ERROR_INVALID_VALUE; here a line on stderr says which argument it was.
 */
#include "base/tensor_map.h"

#include <string.h>

#include "libcuda/driver.h"

enum { BOX_MOST = 256, STRIDE_MOST = 8, PIXELS_MOST = 1024, IM2COL_RANK_LEAST = 3, DATA_TYPES = 13 };
enum { INTERLEAVE_NONE, INTERLEAVE_16, INTERLEAVE_32, INTERLEAVE_COUNT };
enum { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, SWIZZLE_COUNT }; /* those of sm_90 */
enum { PROMOTION_COUNT = 4, FILL_COUNT = 2 };

static const uint8_t element_bytes[DATA_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const uint32_t swizzle_span[SWIZZLE_COUNT] = {UINT32_MAX, 32, 64, 128};

/* What both forms have. */
struct arguments {
    struct cu_tensor_map *out;
    int data_type;
    uint32_t rank;
    const void *address;
    const uint64_t *sizes, *strides;
    const uint32_t *element_strides;
    int interleave, swizzle, l2_promotion, fill;
};

/* NULL = fine; else what is wrong. */
static const char *check_words(const struct arguments *a)
{
    if (!a->out || (uintptr_t)a->out % 64)
        return "the map is not aligned to 64 bytes";
    if (a->data_type < 0 || a->data_type >= DATA_TYPES)
        return "the data type is none of sm_90";
    if (a->interleave < 0 || a->interleave >= INTERLEAVE_COUNT)
        return "interleave is none of CUtensorMapInterleave";
    if (a->swizzle < 0 || a->swizzle >= SWIZZLE_COUNT)
        return "the swizzle is none of sm_90";
    if (a->l2_promotion < 0 || a->l2_promotion >= PROMOTION_COUNT)
        return "l2Promotion is none of CUtensorMapL2promotion";
    if (a->fill < 0 || a->fill >= FILL_COUNT)
        return "oobFill is none of CUtensorMapFloatOOBfill";
    if (a->fill && a->data_type < 6)
        return "NaN cannot fill a tensor of integers";
    if (a->rank == 0 || a->rank > WSDBG_TENSOR_DIMENSIONS || (a->interleave && a->rank < 3))
        return "tensorRank must be 1 to 5, and 3 at least with an interleaved layout";
    if (a->interleave == INTERLEAVE_32 && a->swizzle != SWIZZLE_32)
        return "INTERLEAVE_32B needs SWIZZLE_32B";
    return NULL;
}

static const char *check_places(const struct arguments *a)
{
    const uint64_t alignment = a->interleave == INTERLEAVE_32 ? 32 : 16;
    if (!a->address || (uintptr_t)a->address % alignment)
        return "globalAddress must be aligned to 16 bytes (32 with INTERLEAVE_32B)";
    if (!a->sizes || !a->element_strides || (a->rank > 1 && !a->strides))
        return "an array is missing";
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->sizes[i] == 0 || a->sizes[i] > UINT64_C(1) << 32)
            return "each globalDim must be 1 to 2^32";
        if (i + 1 < a->rank && (a->strides[i] % alignment || a->strides[i] >= UINT64_C(1) << 40))
            return "each globalStrides must be a multiple of 16 bytes (32 with INTERLEAVE_32B) and less than 2^40";
        if ((i || a->interleave) && (a->element_strides[i] == 0 || a->element_strides[i] > STRIDE_MOST))
            return "each elementStrides must be 1 to 8";
    }
    return NULL;
}

/* `count` elements lie side by side in shared memory. */
static const char *check_inner(const struct arguments *a, uint32_t count)
{
    const uint32_t bytes = count * element_bytes[a->data_type];
    if (a->interleave != INTERLEAVE_NONE)
        return NULL;
    if (bytes % 16)
        return "the inner dimension of the box must be a multiple of 16 bytes";
    return bytes > swizzle_span[a->swizzle] ? "the inner dimension of the box is wider than the swizzle" : NULL;
}

static CUresult refuse(const char *function, const char *reason)
{
    driver_say("%s: %s", function, reason);
    return CUDA_ERROR_INVALID_VALUE;
}

static struct wsdbg_tensor_map encode(const struct arguments *a)
{
    struct wsdbg_tensor_map map = {
        .magic = WSDBG_TENSOR_MAGIC,
        .data_type = (uint8_t)a->data_type,
        .rank = (uint8_t)a->rank,
        .interleave = (uint8_t)a->interleave,
        .swizzle = (uint8_t)a->swizzle,
        .l2_promotion = (uint8_t)a->l2_promotion,
        .out_of_bounds_fill = (uint8_t)a->fill,
        .element_bytes = element_bytes[a->data_type],
        .address = (uintptr_t)a->address,
    };
    for (uint32_t i = 0; i < a->rank; i++) {
        map.sizes_and_strides[i] = a->sizes[i];
        map.element_strides[i] = i || a->interleave ? (uint8_t)a->element_strides[i] : 1;
        if (i + 1 < a->rank)
            map.strides_bytes[i] = a->strides[i];
    }
    return map;
}

static void write_map(struct cu_tensor_map *out, const struct wsdbg_tensor_map *map)
{
    memset(out, 0, sizeof *out);
    memcpy(out, map, sizeof *map);
}

ENTRY(cuTensorMapEncodeTiled, struct cu_tensor_map *out, int data_type, uint32_t rank, void *address,
      const uint64_t *sizes, const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
      int interleave, int swizzle, int l2_promotion, int fill)
{
    const struct arguments a = {out,        data_type, rank,         address, sizes, strides, element_strides,
                                interleave, swizzle,   l2_promotion, fill};
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    const char *wrong = check_words(&a);
    if (!wrong)
        wrong = check_places(&a);
    for (uint32_t i = 0; !wrong && i < rank; i++)
        if (!box || box[i] == 0 || box[i] > BOX_MOST)
            wrong = "each boxDim must be 1 to 256";
    if (!wrong)
        wrong = check_inner(&a, box[0]);
    if (wrong)
        return refuse("cuTensorMapEncodeTiled", wrong);
    struct wsdbg_tensor_map map = encode(&a);
    for (uint32_t i = 0; i < rank; i++)
        map.box[i] = (uint16_t)box[i];
    write_map(out, &map);
    return CUDA_SUCCESS;
}

/* ---- im2col: the box is given by its corners' offsets from the image's ---- */

static const char *check_corners(uint32_t rank, const uint64_t *sizes, const int *lower, const int *upper)
{
    static const int most[] = {[3] = 32767, [4] = 127, [5] = 15};
    if (!lower || !upper)
        return "a corner is missing";
    for (uint32_t i = 0; i + 2 < rank; i++) {
        if (lower[i] < -most[rank] - 1 || lower[i] > most[rank] || upper[i] < -most[rank] - 1 || upper[i] > most[rank])
            return "an offset of a corner is out of its range (16 bits with 3 dimensions, 8 with 4, 5 with 5)";
        if ((int64_t)sizes[i + 1] + upper[i] - lower[i] <= 0)
            return "the bounding box is empty";
    }
    return NULL;
}

ENTRY(cuTensorMapEncodeIm2col, struct cu_tensor_map *out, int data_type, uint32_t rank, void *address,
      const uint64_t *sizes, const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
      uint32_t pixels, const uint32_t *element_strides, int interleave, int swizzle, int l2_promotion, int fill)
{
    const struct arguments a = {out,        data_type, rank,         address, sizes, strides, element_strides,
                                interleave, swizzle,   l2_promotion, fill};
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    const char *wrong = check_words(&a);
    if (!wrong && rank < IM2COL_RANK_LEAST)
        wrong = "tensorRank must be 3 to 5";
    if (!wrong)
        wrong = check_places(&a);
    if (!wrong)
        wrong = check_corners(rank, sizes, lower, upper);
    if (!wrong && (channels == 0 || channels > BOX_MOST || pixels == 0 || pixels > PIXELS_MOST))
        wrong = "channelsPerPixel must be 1 to 256, pixelsPerColumn 1 to 1024";
    if (!wrong)
        wrong = check_inner(&a, channels);
    if (wrong)
        return refuse("cuTensorMapEncodeIm2col", wrong);
    struct wsdbg_tensor_map map = encode(&a);
    map.is_im2col = 1;
    map.channels_per_pixel = (uint16_t)channels;
    map.pixels_per_column = (uint16_t)pixels;
    for (uint32_t i = 0; i + 2 < rank; i++) {
        map.lower_corner[i] = (int16_t)lower[i];
        map.upper_corner[i] = (int16_t)upper[i];
    }
    write_map(out, &map);
    return CUDA_SUCCESS;
}

ENTRY(cuTensorMapReplaceAddress, struct cu_tensor_map *out, void *address)
{
    struct wsdbg_tensor_map map;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, out, sizeof map);
    if (map.magic != WSDBG_TENSOR_MAGIC || !address || (uintptr_t)address % (map.interleave == INTERLEAVE_32 ? 32 : 16))
        return refuse("cuTensorMapReplaceAddress", "no tensor map, or an address that is not aligned");
    map.address = (uintptr_t)address;
    write_map(out, &map);
    return CUDA_SUCCESS;
}
