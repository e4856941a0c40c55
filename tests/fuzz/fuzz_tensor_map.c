/* fuzz_tensor_map.c - any bytes as a tensor map that a kernel made, and as the arguments of the two encoders; the boxes
 * that come of them stay in shared memory.
 */
#include "fuzz/fuzz_targets.h"

#include <stdlib.h>
#include <string.h>

#include "hopper/box.h"
#include "libcuda/driver.h"

enum { SHARED_MOST = 1 << 18, ROWS_MOST = 4096 };

CUresult cuTensorMapEncodeTiled(struct cu_tensor_map *out, int data_type, uint32_t rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *element_strides, int interleave, int swizzle, int l2_promotion,
                                int fill);
CUresult cuTensorMapEncodeIm2col(struct cu_tensor_map *out, int data_type, uint32_t rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides, const int *lower, const int *upper,
                                 uint32_t channels, uint32_t pixels, const uint32_t *element_strides, int interleave,
                                 int swizzle, int l2_promotion, int fill);

/* The encoders are all of the driver that is here. */
CUresult driver_ready(void)
{
    return CUDA_SUCCESS;
}

void driver_say(const char *format, ...)
{
    (void)format;
}

static void demand(bool holds)
{
    if (!holds)
        abort();
}

/* ---- the input, byte by byte; zeros behind its end ---- */

struct input {
    const uint8_t *bytes;
    size_t count;
};

static void take(struct input *input, void *out, size_t count)
{
    const size_t here = count < input->count ? count : input->count;
    memset(out, 0, count);
    if (here)
        memcpy(out, input->bytes, here);
    input->bytes += here;
    input->count -= here;
}

static uint8_t take_byte(struct input *input)
{
    uint8_t byte;
    take(input, &byte, sizeof byte);
    return byte;
}

/* ---- boxes ---- */

struct walked {
    uint32_t extent;
    uint64_t bytes;
};

static bool check_run(void *context, const struct hopper_run *run)
{
    struct walked *const walked = context;
    demand(run->byte_count > 0 && (uint64_t)run->offset + run->byte_count <= walked->extent);
    walked->bytes += run->byte_count;
    return true;
}

static void check_box(const struct hopper_box *box)
{
    const uint32_t rows = hopper_box_rows(box), extent = hopper_box_extent(box);
    const uint32_t end = rows < ROWS_MOST ? rows : ROWS_MOST; /* so that no input takes long */
    struct walked walked = {extent, 0};
    demand(rows > 0 && extent > 0 && extent <= SHARED_MOST && hopper_box_bytes(box) <= extent);
    demand(hopper_box_walk(box, 0, rows - end, rows, check_run, &walked));
    demand(walked.bytes == (uint64_t)end * box->row_bytes);
}

static const char *use(const struct wsdbg_tensor_map *map, bool is_im2col, uint32_t dimensions, struct input *input)
{
    struct hopper_box box;
    int32_t at[WSDBG_TENSOR_DIMENSIONS];
    uint16_t offsets[WSDBG_TENSOR_DIMENSIONS];
    take(input, at, sizeof at);
    take(input, offsets, sizeof offsets);
    const char *const reason = is_im2col ? hopper_box_of_pixels(map, dimensions, at, offsets, &box)
                                         : hopper_box_of_map(map, dimensions, at, &box);
    if (!reason)
        check_box(&box);
    return reason;
}

/* ---- the encoders ---- */

/* What they take the copy engine takes too, but for interleaved layouts and for boxes that are too large. */
static void encode(struct input *input)
{
    struct cu_tensor_map out;
    struct wsdbg_tensor_map map;
    uint64_t sizes[8], strides[8], address;
    uint32_t box[8], steps[8];
    int8_t corners[2][8];
    int lower[8], upper[8];
    const bool is_im2col = take_byte(input) & 1;
    const int data_type = (int8_t)take_byte(input), interleave = (int8_t)take_byte(input);
    const int swizzle = (int8_t)take_byte(input), promotion = (int8_t)take_byte(input);
    const int fill = (int8_t)take_byte(input);
    const uint32_t rank = take_byte(input) % 8;
    take(input, &address, sizeof address);
    take(input, sizes, sizeof sizes);
    take(input, strides, sizeof strides);
    take(input, box, sizeof box);
    take(input, steps, sizeof steps);
    take(input, corners, sizeof corners);
    for (unsigned i = 0; i < 8; i++) {
        lower[i] = corners[0][i];
        upper[i] = corners[1][i];
    }
    const CUresult result =
        is_im2col ? cuTensorMapEncodeIm2col(&out, data_type, rank, (void *)(uintptr_t)address, sizes, strides, lower,
                                            upper, box[0], box[1], steps, interleave, swizzle, promotion, fill)
                  : cuTensorMapEncodeTiled(&out, data_type, rank, (void *)(uintptr_t)address, sizes, strides, box,
                                           steps, interleave, swizzle, promotion, fill);
    if (result != CUDA_SUCCESS)
        return;
    memcpy(&map, &out, sizeof map);
    const char *const reason = use(&map, is_im2col, rank, input);
    demand(!reason || interleave || strstr(reason, "does not fit"));
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    struct input input = {bytes, count};
    struct wsdbg_tensor_map map;
    const uint8_t what = take_byte(&input);
    if (what & 1) {
        encode(&input);
        return 0;
    }
    take(&input, &map, sizeof map);
    if (what & 2)
        map.magic = WSDBG_TENSOR_MAGIC;
    use(&map, what & 4, what >> 3 & 7, &input);
    return 0;
}
