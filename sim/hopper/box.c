/* box.c - see box.h: tiles and im2col boxes walked row by row, cut where the tensor ends, swizzled in chunks of 16
 * bytes.
 *
 * A map may be any 128 bytes: what cannot be copied is refused with a reason before a byte is touched.
 * Reads: the map, coordinates.  Writes: the box, what a callback is told, the fill of places outside.
 */
#include "hopper/box.h"

#include <string.h>

enum { SWIZZLE_CHUNK = 16, SWIZZLE_ROW_SHIFT = 3, SHARED_BYTES_MOST = 1 << 18, IM2COL_RANK_LEAST = 3 };
#define SIZE_MOST (UINT64_C(1) << 32)
/* CUtensorMapSwizzle */
enum { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, SWIZZLE_COUNT };

struct hopper_box hopper_box_of_bytes(uint64_t address, uint32_t byte_count)
{
    return (struct hopper_box){.address = address,
                               .rank = 1,
                               .element_bytes = 1,
                               .sizes = {byte_count},
                               .strides = {1},
                               .counts = {byte_count},
                               .steps = {1},
                               .row_bytes = byte_count,
                               .pitch_bytes = byte_count};
}

static const char *why_unusable(const struct wsdbg_tensor_map *map, uint32_t dimensions, bool is_im2col)
{
    if (map->magic != WSDBG_TENSOR_MAGIC)
        return "no tensor map (neither cuTensorMapEncodeTiled nor cuTensorMapEncodeIm2col wrote it)";
    if (!map->is_im2col != !is_im2col)
        return is_im2col ? "a tensor map of tiles, not of im2col" : "an im2col tensor map, not one of tiles";
    if (map->interleave)
        return "a tensor map of an interleaved layout, which the simulator does not copy with";
    if (map->rank != dimensions || map->rank == 0 || map->rank > WSDBG_TENSOR_DIMENSIONS)
        return "a tensor map of another number of dimensions";
    if (map->swizzle >= SWIZZLE_COUNT || !map->element_bytes || map->element_bytes > 8)
        return "a tensor map that sm_90 does not know";
    return NULL;
}

/* The map may have been made by a kernel out of anything. */
static bool fits(const struct hopper_box *box, uint32_t pitch_least)
{
    uint64_t bytes = (uint64_t)box->counts[0] * box->element_bytes;
    if (bytes < pitch_least)
        bytes = pitch_least;
    for (uint32_t i = 0; i < box->rank; i++) {
        if (box->counts[i] == 0)
            return false;
        bytes *= i ? box->counts[i] : 1;
        if (bytes > SHARED_BYTES_MOST)
            return false;
    }
    return true;
}

static const uint32_t swizzle_masks[SWIZZLE_COUNT] = {0, 0x10, 0x30, 0x70};
static const uint32_t swizzle_spans[SWIZZLE_COUNT] = {0, 32, 64, 128};

/* What both kinds of map have. */
static struct hopper_box begin(const struct wsdbg_tensor_map *map, const int32_t *at)
{
    struct hopper_box box = {.address = map->address,
                             .rank = map->rank,
                             .element_bytes = map->element_bytes,
                             .swizzle_mask = swizzle_masks[map->swizzle],
                             .fills_with_nan = map->out_of_bounds_fill != 0,
                             .data_type = map->data_type};
    for (uint32_t i = 0; i < map->rank; i++) {
        box.sizes[i] = map->sizes_and_strides[i];
        box.strides[i] = i ? map->strides_bytes[i - 1] : map->element_bytes;
        box.at[i] = at[i];
        /* Dimension 0 has no step without interleaving. */
        box.steps[i] = i && map->element_strides[i] ? map->element_strides[i] : 1;
        box.counts[i] = 1;
    }
    return box;
}

static const char *end(const struct wsdbg_tensor_map *map, struct hopper_box *box)
{
    const uint32_t span = swizzle_spans[map->swizzle];
    if (!fits(box, span))
        return "a tensor map whose box does not fit into shared memory";
    box->row_bytes = box->counts[0] * box->element_bytes;
    if (box->row_bytes % SWIZZLE_CHUNK)
        return "a tensor map whose box has rows of no multiple of 16 bytes";
    if (span && box->row_bytes > span)
        return "a tensor map whose box is wider than its swizzle";
    /* A swizzle wider than the row leaves room up to its width. */
    box->pitch_bytes = box->row_bytes < span ? span : box->row_bytes;
    return NULL;
}

const char *hopper_box_of_map(const struct wsdbg_tensor_map *map, uint32_t dimensions, const int32_t *at,
                              struct hopper_box *out)
{
    const char *const reason = why_unusable(map, dimensions, false);
    if (reason)
        return reason;
    *out = begin(map, at);
    for (uint32_t i = 0; i < map->rank; i++)
        out->counts[i] = (map->box[i] + out->steps[i] - 1) / out->steps[i];
    return end(map, out);
}

const char *hopper_box_of_pixels(const struct wsdbg_tensor_map *map, uint32_t dimensions, const int32_t *at,
                                 const uint16_t *offsets, struct hopper_box *out)
{
    const char *const reason = why_unusable(map, dimensions, true);
    if (reason)
        return reason;
    if (dimensions < IM2COL_RANK_LEAST)
        return "an im2col tensor map of fewer than 3 dimensions";
    *out = begin(map, at);
    out->is_im2col = true;
    out->counts[0] = map->channels_per_pixel;
    out->counts[1] = map->pixels_per_column;
    for (uint32_t i = 1; i + 1 < dimensions; i++) {
        out->begins[i] = map->lower_corner[i - 1];
        out->ends[i] = (int64_t)(out->sizes[i] < SIZE_MOST ? out->sizes[i] : SIZE_MOST) + map->upper_corner[i - 1];
        out->offsets[i] = offsets ? offsets[i - 1] : 0;
        if (out->begins[i] >= out->ends[i])
            return "an im2col tensor map whose bounding box is empty";
    }
    return end(map, out);
}

uint32_t hopper_box_rows(const struct hopper_box *box)
{
    uint32_t rows = 1;
    for (uint32_t i = 1; i < box->rank; i++)
        rows *= box->counts[i];
    return rows;
}

uint32_t hopper_box_bytes(const struct hopper_box *box)
{
    return hopper_box_rows(box) * box->row_bytes;
}

uint32_t hopper_box_extent(const struct hopper_box *box)
{
    return hopper_box_rows(box) * box->pitch_bytes;
}

struct walk {
    const struct hopper_box *box;
    bool (*visit)(void *context, const struct hopper_run *run);
    void *context;
};

/* A run without swizzle: cut where the swizzle moves chunks apart. */
static bool visit_chunks(const struct walk *walk, struct hopper_run run)
{
    const uint32_t mask = walk->box->swizzle_mask;
    if (!mask)
        return walk->visit(walk->context, &run);
    while (run.byte_count) {
        const uint32_t room = SWIZZLE_CHUNK - run.offset % SWIZZLE_CHUNK;
        struct hopper_run chunk = run;
        chunk.byte_count = run.byte_count < room ? run.byte_count : room;
        chunk.offset = run.offset ^ (run.offset >> SWIZZLE_ROW_SHIFT & mask);
        if (!walk->visit(walk->context, &chunk))
            return false;
        run.address += chunk.byte_count;
        run.offset += chunk.byte_count;
        run.byte_count -= chunk.byte_count;
    }
    return true;
}

/* One row, whose first element in the tensor's dimension 0 is box->at[0]: what is left of the tensor, in it, and right.
 */
static bool walk_row(const struct walk *walk, bool row_is_inside, uint64_t row_address, uint32_t offset)
{
    const struct hopper_box *const box = walk->box;
    const int64_t begin = box->at[0], end = begin + box->counts[0], size = (int64_t)box->sizes[0];
    int64_t in_first = begin > 0 ? begin : 0, in_end = end < size ? end : size;
    if (!row_is_inside || in_first >= in_end)
        in_first = in_end = end;
    const uint32_t bytes = box->element_bytes;
    const uint32_t left = (uint32_t)(in_first - begin) * bytes, inside = (uint32_t)(in_end - in_first) * bytes;
    const uint32_t right = (uint32_t)(end - in_end) * bytes;
    return visit_chunks(walk, (struct hopper_run){false, 0, offset, left}) &&
           visit_chunks(walk,
                        (struct hopper_run){true, row_address + (uint64_t)in_first * bytes, offset + left, inside}) &&
           visit_chunks(walk, (struct hopper_run){false, 0, offset + left + inside, right});
}

/* How often a pixel can be stepped from `from` on before the bounding box's edge. */
static int64_t steps_left(const struct hopper_box *box, uint32_t dimension, int64_t from)
{
    const int64_t left = box->ends[dimension] - from;
    return left > 0 ? (left + box->steps[dimension] - 1) / box->steps[dimension] : 1;
}

/* The place in one dimension, `*steps` steps behind where the copy begins; *steps: those of the next dimension.  Behind
 * the edge of the bounding box it goes on at its other one. */
static int64_t place_pixel(const struct hopper_box *box, uint32_t dimension, int64_t *steps)
{
    const int64_t first = box->at[dimension], step = box->steps[dimension];
    const int64_t here = steps_left(box, dimension, first);
    if (*steps < here) {
        const int64_t place = first + *steps * step;
        *steps = 0;
        return place + box->offsets[dimension];
    }
    const int64_t behind = *steps - here, each = steps_left(box, dimension, box->begins[dimension]);
    *steps = 1 + behind / each;
    return box->begins[dimension] + behind % each * step + box->offsets[dimension];
}

/* The row's place in one dimension; *row: what is left of its number for the next ones. */
static int64_t place_in(const struct hopper_box *box, uint32_t dimension, int64_t *row)
{
    const int64_t number = *row;
    if (box->is_im2col)
        return dimension + 1 < box->rank ? place_pixel(box, dimension, row) : box->at[dimension] + number;
    *row = number / box->counts[dimension];
    return box->at[dimension] + number % box->counts[dimension] * box->steps[dimension];
}

/* Where the row lies in the tensor; false: outside. */
static bool place_row(const struct hopper_box *box, int64_t row, uint64_t *address)
{
    bool is_inside = true;
    *address = box->address;
    for (uint32_t i = 1; i < box->rank; i++) {
        const int64_t index = place_in(box, i, &row);
        is_inside = is_inside && index >= 0 && (uint64_t)index < box->sizes[i];
        *address += (uint64_t)index * box->strides[i];
    }
    return is_inside;
}

static bool visit_if_any(void *context, const struct hopper_run *run)
{
    const struct walk *const walk = context;
    return !run->byte_count || walk->visit(walk->context, run);
}

bool hopper_box_walk(const struct hopper_box *box, uint32_t offset, uint32_t first, uint32_t end,
                     bool (*visit)(void *context, const struct hopper_run *run), void *context)
{
    struct walk given = {box, visit, context};
    const struct walk walk = {box, visit_if_any, &given};
    for (uint32_t row = first; row < end; row++) {
        uint64_t address;
        const bool is_inside = place_row(box, row, &address);
        if (!walk_row(&walk, is_inside, address, offset + row * box->pitch_bytes))
            return false;
    }
    return true;
}

/* The NaN of every type is this number of 16 bits, repeated. */
void hopper_box_fill(const struct hopper_box *box, unsigned char *bytes, uint32_t byte_count)
{
    memset(bytes, 0, byte_count);
    if (!box->fills_with_nan)
        return;
    for (uint32_t i = 0; i < byte_count; i++)
        bytes[i] = i % 2 ? 0x7f : 0xf7;
}

/* To the nearest even; NaN is one of its own. */
static uint32_t nearest_tf32(uint32_t bits)
{
    return (bits & INT32_MAX) > 0x7f800000 ? 0x7fffe000 : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

/* Measured: FLOAT32_FTZ keeps subnormal numbers, and so does TFLOAT32_FTZ. */
void hopper_box_convert(const struct hopper_box *box, unsigned char *bytes, uint32_t byte_count)
{
    enum { TFLOAT32 = 11 }; /* CUtensorMapDataType; the next is TFLOAT32_FTZ */
    if (box->data_type < TFLOAT32)
        return;
    for (uint32_t i = 0; i + sizeof(uint32_t) <= byte_count; i += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, bytes + i, sizeof bits);
        bits = nearest_tf32(bits);
        memcpy(bytes + i, &bits, sizeof bits);
    }
}
