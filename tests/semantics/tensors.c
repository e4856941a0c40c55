/* tensors.c - copies of boxes of tensors and of pixels (im2col), stores and reductions of such, maps that a kernel
 * changes: every byte that arrives.
 */
#include "semantics/copy_steps.h"
#include "semantics/must.h"

#include <stdlib.h>
#include <string.h>

enum { TENSOR = 65536 };
enum { PLACES_MOST = 4, BOX_MOST = 8192, TENSOR_THREADS = 128 };
enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ }; /* CUtensorMapDataType */
static const unsigned data_type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

struct tensor_case {
    unsigned data_type, rank;
    uint64_t sizes[5], strides[4];
    uint32_t box[5], element_strides[5];
    unsigned interleave, swizzle, fill;
    int32_t places[PLACES_MOST][5]; /* coordinates */
    unsigned place_count;
};
/* sizes, strides in bytes, box, element strides, interleave, swizzle, fill, where */
static const struct tensor_case loads[] = {
    {U8, 1, {1000}, {0}, {256}, {1}, 0, 0, 0, {{0}, {896}, {-96}, {1008}}, 4},
    {F32, 1, {100}, {0}, {64}, {1}, 0, 0, 1, {{0}, {72}, {-4}, {200}}, 4},
    {F16, 1, {100}, {0}, {64}, {1}, 0, 0, 1, {{72}, {-8}}, 2},
    {BF16, 1, {100}, {0}, {64}, {1}, 0, 0, 1, {{72}, {-8}}, 2},
    {F64, 1, {100}, {0}, {64}, {1}, 0, 0, 1, {{70}, {-2}}, 2},
    {F32_FTZ, 1, {256}, {0}, {64}, {1}, 0, 0, 1, {{0}, {200}}, 2},
    {TF32, 1, {256}, {0}, {64}, {1}, 0, 0, 1, {{0}, {200}}, 2},
    {TF32_FTZ, 1, {256}, {0}, {64}, {1}, 0, 0, 1, {{0}, {200}}, 2},
    {U64, 1, {64}, {0}, {32}, {1}, 0, 0, 0, {{40}}, 1},
    {S64, 1, {64}, {0}, {32}, {1}, 0, 0, 0, {{40}}, 1},
    {S32, 1, {64}, {0}, {32}, {1}, 0, 0, 0, {{40}}, 1},
    {U32, 1, {64}, {0}, {32}, {1}, 0, 0, 0, {{40}}, 1},
    {F16, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 0, 3, 0, {{0, 0}, {0, 60}, {32, 3}, {-16, -2}}, 4},
    {F16, 2, {64, 64}, {128}, {32, 16}, {1, 1}, 0, 2, 0, {{0, 0}, {48, 60}, {-16, -2}}, 3},
    {F16, 2, {64, 64}, {128}, {16, 32}, {1, 1}, 0, 1, 0, {{0, 0}, {56, 60}, {-8, -2}}, 3},
    {F16, 2, {64, 64}, {128}, {8, 16}, {1, 1}, 0, 1, 0, {{0, 0}, {8, 2}}, 2},
    {F16, 2, {64, 64}, {128}, {24, 16}, {1, 1}, 0, 3, 0, {{0, 0}, {8, 2}}, 2},
    {F16, 2, {64, 64}, {128}, {24, 16}, {1, 1}, 0, 0, 0, {{0, 0}, {56, 60}, {4, 2}}, 3},
    {U8, 2, {100, 50}, {112}, {32, 20}, {1, 1}, 0, 2, 0, {{0, 0}, {80, 40}}, 2},
    {F32, 2, {32, 64}, {128}, {32, 16}, {1, 1}, 0, 3, 1, {{0, 0}, {16, 56}, {-4, -5}, {-5, 0}}, 4},
    {F32, 2, {64, 64}, {256}, {32, 16}, {2, 1}, 0, 0, 0, {{0, 0}, {4, 2}, {48, 60}}, 3},
    {F16, 2, {64, 64}, {128}, {64, 16}, {3, 2}, 0, 0, 0, {{0, 0}, {8, 2}, {-8, 57}}, 3},
    {F16, 2, {64, 64}, {128}, {64, 16}, {1, 4}, 0, 3, 0, {{0, 0}, {0, 2}}, 2},
    {BF16, 3, {32, 16, 8}, {64, 1024}, {32, 4, 2}, {1, 1, 1}, 0, 2, 0, {{0, 0, 0}, {16, 14, 7}, {-8, -1, -1}}, 3},
    {F32, 3, {16, 8, 8}, {64, 512}, {16, 3, 3}, {1, 2, 3}, 0, 0, 0, {{0, 0, 0}, {4, 6, 6}}, 2},
    {U8, 4, {32, 8, 8, 4}, {32, 256, 2048}, {32, 2, 4, 2}, {1, 1, 1, 1}, 0, 1, 0, {{0, 0, 0, 0}, {16, 7, 6, 3}}, 2},
    {F16,
     5,
     {16, 4, 4, 4, 4},
     {32, 128, 512, 2048},
     {16, 2, 3, 2, 2},
     {1, 1, 1, 1, 1},
     0,
     1,
     0,
     {{0, 0, 0, 0, 0}, {8, 3, 3, 3, 3}, {-8, -1, -1, -1, -1}},
     3},
    {U8, 3, {16, 32, 8}, {16, 1024}, {16, 8, 4}, {1, 1, 1}, 1, 0, 0, {{0, 0, 0}, {0, 30, 6}}, 2},
    {F16, 3, {8, 32, 8}, {16, 1024}, {8, 8, 4}, {1, 1, 1}, 1, 0, 0, {{0, 0, 0}, {0, 30, 6}, {0, -2, -1}}, 3},
    {F16, 3, {16, 32, 8}, {32, 1024}, {16, 8, 4}, {1, 1, 1}, 2, 1, 0, {{0, 0, 0}, {0, 30, 6}, {0, -2, -1}}, 3},
    {F16, 4, {32, 8, 8, 4}, {32, 256, 2048}, {16, 8, 4, 2}, {1, 1, 1, 1}, 2, 1, 0, {{0, 0, 0, 0}, {0, 6, 1, 1}}, 2},
};
enum { LOADS = sizeof loads / sizeof *loads };

static unsigned box_bytes(const struct tensor_case *tensor)
{
    unsigned bytes = data_type_bytes[tensor->data_type];
    for (unsigned i = 0; i < tensor->rank; i++) {
        /* of the innermost dimension only interleaved layouts skip elements */
        const uint32_t step = !tensor->interleave && i == 0 ? 1 : tensor->element_strides[i];
        bytes *= (tensor->box[i] + step - 1) / step;
    }
    return bytes;
}

static void set_tensor(struct semantics_unit *unit, const struct tensor_case *tensor)
{
    struct semantics_tensor *const map = &unit->tensor;
    *map = (struct semantics_tensor){.is_there = true,
                                     .data_type = tensor->data_type,
                                     .rank = tensor->rank,
                                     .interleave = tensor->interleave,
                                     .swizzle = tensor->swizzle,
                                     .fill = tensor->fill};
    memcpy(map->sizes, tensor->sizes, sizeof map->sizes);
    memcpy(map->strides_bytes, tensor->strides, sizeof map->strides_bytes);
    memcpy(map->box, tensor->box, sizeof map->box);
    memcpy(map->element_strides, tensor->element_strides, sizeof map->element_strides);
}

static size_t spell_numbers(char *text, size_t room, unsigned count, const int32_t *numbers)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%d", i ? ", " : "", numbers[i]);
    return at;
}

static void spell_tensor(const struct tensor_case *tensor, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "type %u, interleave %u, swizzle %u, fill %u, sizes", tensor->data_type,
                                 tensor->interleave, tensor->swizzle, tensor->fill);
    for (unsigned i = 0; i < tensor->rank; i++)
        at += (size_t)snprintf(text + at, room - at, " %llu", (unsigned long long)tensor->sizes[i]);
    for (unsigned i = 0; i < tensor->rank; i++)
        at += (size_t)snprintf(text + at, room - at, "%s %u/%u", i ? "" : ", box", tensor->box[i],
                               tensor->element_strides[i]);
}

/* Each thread writes or reads 8 bytes of every 1024 of the memory at r100. */
static void write_fill(struct semantics_body *body)
{
    semantics_body_write(body, "mov.b32 r100, dynamic;\nshl.b32 r102, %%t, 3;\nadd.u32 r102, r102, r100;\n"
                               "mov.b64 l0, 0x5e5e5e5e5e5e5e5e;\nbar.sync 0;\n");
    for (unsigned i = 0; i < BOX_MOST; i += 1024)
        semantics_body_write(body, "st.shared.b64 [r102+%u], l0;\n", i);
}

static void add_bytes_at(struct semantics_body *body, unsigned operation, const char *name, const char *load,
                         const char *address, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i += 1024) {
        char part[32];
        snprintf(part, sizeof part, "bytes from %u", i);
        semantics_body_write(body, "%s.b64 l0, [%s+%u];\n", load, address, i);
        semantics_body_result(body, operation, name, part, "l0", 8);
    }
    semantics_body_result(body, operation, name, "came", "r110", 4);
}

static void add_load(struct semantics_body *body, const struct tensor_case *tensor, unsigned place, const char *words)
{
    char copy[400], name[800], coordinates[100];
    spell_numbers(coordinates, sizeof coordinates, tensor->rank, tensor->places[place]);
    snprintf(copy, sizeof copy,
             "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r100], [l20, {%s}], "
             "[r101]",
             tensor->rank, coordinates);
    snprintf(name, sizeof name, "%s [%s]", copy, words);
    if (!semantics_body_case(body, name))
        return;
    write_fill(body);
    semantics_write_copy(body, copy, box_bytes(tensor), false);
    add_bytes_at(body, WSDBG_PTX_OP_tensor_copy, name, "ld.shared", "r102", box_bytes(tensor));
}

/* The store of a box that shared memory has, over a tensor full of other bytes. */
static void add_store(struct semantics_body *body, const struct tensor_case *tensor, unsigned place, const char *words,
                      const char *opcode, unsigned operation)
{
    char copy[400], name[800], coordinates[100];
    spell_numbers(coordinates, sizeof coordinates, tensor->rank, tensor->places[place]);
    snprintf(copy, sizeof copy, "%s [l20, {%s}], [r100]", opcode, coordinates);
    snprintf(name, sizeof name, "%s [%s]", copy, words);
    if (!semantics_body_case(body, name))
        return;
    write_fill(body);
    semantics_body_write(body, "add.u64 l23, %%out, %u;\nadd.u64 l23, l23, %%place;\n",
                         (unsigned)body->unit->tensor.offset);
    for (unsigned i = 0; i < BOX_MOST; i += 1024) {
        semantics_body_write(body, "ld.global.b64 l1, [%%i+%u];\nst.shared.b64 [r102+%u], l1;\n", i, i);
        semantics_body_write(body, "ld.global.b64 l1, [%%i+%u];\nst.global.b64 [l23+%u], l1;\n", i + BOX_MOST, i);
    }
    semantics_write_copy(body, copy, 0, true);
    add_bytes_at(body, operation, name, "ld.global", "l23", BOX_MOST);
}

static void begin_tensor(struct semantics_body *body, struct semantics_corpus *corpus, const char *name,
                         const struct tensor_case *tensor, const uint64_t *words)
{
    semantics_body_begin(body, corpus, name, TENSOR_THREADS);
    semantics_body_input(body, words, TENSOR / 8);
    set_tensor(body->unit, tensor);
    body->unit->shared_bytes = SEMANTICS_COPY_SHARED;
    semantics_body_write(body, "mov.b64 l20, map;\ncvta.param.u64 l20, l20;\n");
}

static bool fits_a_store(const struct tensor_case *tensor)
{
    const uint64_t bytes = tensor->rank == 1 ? tensor->sizes[0] * data_type_bytes[tensor->data_type]
                                             : tensor->sizes[tensor->rank - 1] * tensor->strides[tensor->rank - 2];
    return bytes <= BOX_MOST;
}

static void add_tensors(struct semantics_corpus *corpus, const uint64_t *words)
{
    for (unsigned i = 0; i < LOADS; i++) {
        const struct tensor_case *const tensor = &loads[i];
        char name[64], described[300], opcode[128];
        struct semantics_body body;
        spell_tensor(tensor, described, sizeof described);
        snprintf(opcode, sizeof opcode, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group", tensor->rank);
        for (unsigned place = 0; place < tensor->place_count; place++) { /* some end with an error */
            snprintf(name, sizeof name, "tensor load %u %u", i, place);
            begin_tensor(&body, corpus, name, tensor, words);
            add_load(&body, tensor, place, described);
            semantics_body_end(&body);
            if (!fits_a_store(tensor))
                continue;
            snprintf(name, sizeof name, "tensor store %u %u", i, place);
            begin_tensor(&body, corpus, name, tensor, words);
            body.unit->tensor.is_output = true;
            body.unit->output_bytes += BOX_MOST;
            add_store(&body, tensor, place, described, opcode, WSDBG_PTX_OP_tensor_copy);
            semantics_body_end(&body);
        }
    }
}

/* Reductions: every operation on every type of elements. */
static void add_tensor_reductions(struct semantics_corpus *corpus, const uint64_t *words)
{
    static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    static const unsigned sums[] = {U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ};
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
            const struct tensor_case tensor = {sums[k], 1, {256}, {0}, {128}, {1}, 0, 0, 0, {{104}}, 1};
            const bool is_float = sums[k] >= F16, is_bits = o >= 3;
            char name[64], described[300], opcode[128];
            struct semantics_body body;
            if ((is_float && is_bits) || (is_float && o && sums[k] != F16 && sums[k] != BF16))
                continue;
            if ((o == 3 || o == 4) && sums[k] != U32)
                continue;
            spell_tensor(&tensor, described, sizeof described);
            snprintf(name, sizeof name, "tensor reduce %s %u", operations[o], sums[k]);
            snprintf(opcode, sizeof opcode, "cp.reduce.async.bulk.tensor.1d.global.shared::cta.%s.tile.bulk_group",
                     operations[o]);
            begin_tensor(&body, corpus, name, &tensor, words);
            body.unit->tensor.is_output = true;
            body.unit->output_bytes += BOX_MOST;
            add_store(&body, &tensor, 0, described, opcode, WSDBG_PTX_OP_tensor_reduce);
            semantics_body_end(&body);
        }
}

/* ---- pixels ---- */

struct pixels_case {
    unsigned rank;
    int32_t lower[3], upper[3];
    uint32_t channels, pixels, element_strides[5];
    unsigned swizzle, fill;
    struct {
        int32_t at[5];
        unsigned offsets[3];
    } places[PLACES_MOST];
    unsigned place_count;
};
/* Tensors of 16-bit elements: 32 channels, widths 9, heights 7, depths 5, 3 images. */
static const uint64_t pixel_sizes[][5] = {[3] = {32, 9, 3}, [4] = {32, 9, 7, 3}, [5] = {32, 9, 7, 5, 3}};
static const struct pixels_case pixels[] = {
    {3, {0}, {0}, 16, 32, {1, 1, 1}, 0, 0, {{{0, 0, 0}, {0}}, {{8, 5, 1}, {0}}, {{16, 3, 2}, {0}}}, 3},
    {3, {-1}, {-1}, 16, 32, {1, 1, 1}, 0, 0, {{{0, -1, 0}, {0}}, {{0, -1, 0}, {2}}, {{0, 4, 1}, {1}}}, 3},
    {4, {0, 0}, {0, 0}, 16, 64, {1, 1, 1, 1}, 0, 0, {{{0, 0, 0, 0}, {0, 0}}, {{16, 7, 6, 1}, {0, 0}}}, 2},
    {4,
     {-1, -1},
     {-1, -1},
     16,
     64,
     {1, 1, 1, 1},
     0,
     0,
     {{{0, -1, -1, 0}, {0, 0}}, {{0, -1, -1, 0}, {2, 1}}, {{8, 3, 2, 1}, {1, 2}}, {{24, 6, 5, 2}, {0, 1}}},
     4},
    {4, {-1, -1}, {-1, -1}, 16, 64, {1, 1, 1, 1}, 0, 1, {{{0, -1, -1, 0}, {0, 0}}}, 1},
    {4, {-1, -2}, {0, -1}, 16, 40, {1, 2, 2, 1}, 0, 0, {{{0, -1, -2, 0}, {0, 0}}, {{0, 3, 2, 1}, {1, 1}}}, 2},
    {4, {0, 0}, {-2, -2}, 16, 48, {1, 1, 1, 1}, 1, 0, {{{0, 0, 0, 0}, {0, 0}}, {{0, 2, 1, 2}, {2, 2}}}, 2},
    {4, {0, 0}, {-2, -2}, 32, 48, {1, 1, 1, 1}, 2, 0, {{{0, 0, 0, 0}, {1, 0}}}, 1},
    {4, {1, 0}, {1, -1}, 16, 48, {1, 3, 1, 1}, 0, 0, {{{0, 1, 0, 0}, {0, 0}}}, 1},
    {5,
     {0, 0, 0},
     {0, 0, 0},
     16,
     64,
     {1, 1, 1, 1, 1},
     0,
     0,
     {{{0, 0, 0, 0, 0}, {0, 0, 0}}, {{8, 7, 6, 4, 1}, {0, 0, 0}}},
     2},
    {5,
     {-1, -1, -1},
     {-1, -1, -1},
     16,
     64,
     {1, 1, 1, 1, 1},
     0,
     0,
     {{{0, -1, -1, -1, 0}, {0, 0, 0}}, {{0, -1, -1, -1, 0}, {2, 1, 2}}, {{8, 3, 2, 3, 2}, {1, 2, 0}}},
     3},
    {5, {-1, 0, -1}, {0, -1, -1}, 16, 64, {1, 2, 1, 2, 1}, 0, 0, {{{0, -1, 0, -1, 0}, {1, 0, 1}}}, 1},
};
enum { PIXELS = sizeof pixels / sizeof *pixels };

static void set_pixels(struct semantics_unit *unit, const struct pixels_case *of)
{
    struct semantics_tensor *const map = &unit->tensor;
    *map = (struct semantics_tensor){.is_there = true,
                                     .is_im2col = true,
                                     .data_type = F16,
                                     .rank = of->rank,
                                     .swizzle = of->swizzle,
                                     .fill = of->fill,
                                     .channels = of->channels,
                                     .pixels = of->pixels};
    for (unsigned i = 0; i < of->rank; i++)
        map->sizes[i] = pixel_sizes[of->rank][i];
    for (unsigned i = 0; i + 1 < of->rank; i++)
        map->strides_bytes[i] = (i ? map->strides_bytes[i - 1] : 2) * map->sizes[i];
    memcpy(map->element_strides, of->element_strides, sizeof map->element_strides);
    memcpy(map->lower, of->lower, sizeof map->lower);
    memcpy(map->upper, of->upper, sizeof map->upper);
}

static void spell_pixels(const struct pixels_case *of, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "channels %u, pixels %u, swizzle %u, fill %u, corners", of->channels,
                                 of->pixels, of->swizzle, of->fill);
    for (unsigned i = 0; i + 2 < of->rank; i++)
        at +=
            (size_t)snprintf(text + at, room - at, " %d:%d/%u", of->lower[i], of->upper[i], of->element_strides[i + 1]);
}

static void add_pixels_load(struct semantics_body *body, const struct pixels_case *of, unsigned place,
                            const char *words)
{
    char copy[400], name[800], coordinates[100], offsets[64];
    const unsigned bytes = of->channels * of->pixels * 2;
    const int32_t moved[3] = {(int32_t)of->places[place].offsets[0], (int32_t)of->places[place].offsets[1],
                              (int32_t)of->places[place].offsets[2]};
    spell_numbers(coordinates, sizeof coordinates, of->rank, of->places[place].at);
    spell_numbers(offsets, sizeof offsets, of->rank - 2, moved);
    snprintf(copy, sizeof copy,
             "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [r100], [l20, {%s}], "
             "[r101], {%s}",
             of->rank, coordinates, offsets);
    snprintf(name, sizeof name, "%s [%s]", copy, words);
    if (!semantics_body_case(body, name))
        return;
    write_fill(body);
    semantics_write_copy(body, copy, bytes, false);
    add_bytes_at(body, WSDBG_PTX_OP_tensor_copy, name, "ld.shared", "r102", bytes);
}

static void begin_pixels(struct semantics_body *body, struct semantics_corpus *corpus, const char *name,
                         const struct pixels_case *of, const uint64_t *words)
{
    begin_tensor(body, corpus, name, &loads[0], words);
    set_pixels(body->unit, of);
}

static void add_pixels(struct semantics_corpus *corpus, const uint64_t *words)
{
    for (unsigned i = 0; i < PIXELS; i++) {
        char name[64], described[300], opcode[128];
        struct semantics_body body;
        spell_pixels(&pixels[i], described, sizeof described);
        for (unsigned place = 0; place < pixels[i].place_count; place++) {
            snprintf(name, sizeof name, "pixels load %u %u", i, place);
            begin_pixels(&body, corpus, name, &pixels[i], words);
            add_pixels_load(&body, &pixels[i], place, described);
            semantics_body_end(&body);
        }
        if (pixels[i].rank != 3) /* a tensor that fits what is looked at */
            continue;
        const struct tensor_case stored = {.rank = 3, .places = {{0, 0, 0}, {8, 4, 1}}};
        for (unsigned reduces = 0; reduces < 2; reduces++) {
            snprintf(name, sizeof name, "pixels %s %u", reduces ? "reduce" : "store", i);
            snprintf(opcode, sizeof opcode, "cp.%sasync.bulk.tensor.3d.global.shared::cta%s.im2col_no_offs.bulk_group",
                     reduces ? "reduce." : "", reduces ? ".add" : "");
            begin_pixels(&body, corpus, name, &pixels[i], words);
            body.unit->tensor.is_output = true;
            body.unit->output_bytes += BOX_MOST;
            for (unsigned place = 0; place < 2; place++)
                add_store(&body, &stored, place, described, opcode,
                          reduces ? WSDBG_PTX_OP_tensor_reduce : WSDBG_PTX_OP_tensor_copy);
            semantics_body_end(&body);
        }
    }
}

/* ---- maps that a kernel changes ---- */

static const struct tensor_case changed_from = {F16, 2, {64, 64},           {128}, {32, 8}, {1, 1}, 0,
                                                0,   0, {{4, 3}, {40, 60}}, 2};
static const struct {
    const char *replace;
    unsigned bytes; /* of the box that the map then has */
} changes[] = {
    {"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [r120], l24", 512},
    {"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [r120], 0, 16", 256},
    {"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [r120], 1, 5", 320},
    {"tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [r120], 0, 48", 512},
    {"tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [r120], 1, 62", 512},
    {"tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [r120], 0, 256", 512},
    {"tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [r120], 1, 2", 256},
    {"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [r120], 2", 512},
    {"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [r120], 1", 512},
    {"tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [r120], 1", 512},
    {"tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [r120], 1", 512},
    {"tensormap.replace.tile.rank.shared::cta.b1024.b32 [r120], 1", 512},
};

/* The map is copied to shared memory, changed there, and copied to where the unit writes (l20). */
static void write_change(struct semantics_body *body, const char *replace, uint32_t place)
{
    semantics_body_write(body,
                         "bar.sync 0;\nmov.b32 r120, dynamic;\nadd.u32 r120, r120, 16384;\nmov.b64 l23, map;\n"
                         "cvta.param.u64 l23, l23;\nadd.u64 l20, %%out, %u;\nadd.u64 l24, %%in, 1024;\n"
                         "setp.ge.u32 p, %%t, 16;\nshl.b32 r121, %%t, 3;\nadd.u32 r121, r121, r120;\n"
                         "add.u64 l25, l23, %%place;\n@!p ld.b64 l1, [l25];\n@!p st.shared.b64 [r121], l1;\n"
                         "bar.sync 0;\nsetp.eq.u32 p, %%t, 0;\n@p %s;\nbar.sync 0;\n",
                         place, replace);
    semantics_body_write(
        body, "{\nsetp.ge.u32 p, %%t, 32;\n@p bra others;\n"
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [l20], "
              "[r120], 128;\nothers:\n}\nbar.sync 0;\n"
              "fence.proxy.tensormap::generic.acquire.gpu [l20], 128;\n");
}

static void add_changes(struct semantics_corpus *corpus, const uint64_t *words)
{
    struct semantics_body body;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (unsigned place = 0; place < changed_from.place_count; place++) {
            char name[800], copy[400], coordinates[64];
            const bool is_rank = strstr(changes[i].replace, ".rank.") != NULL;
            spell_numbers(coordinates, sizeof coordinates, 2, changed_from.places[place]);
            snprintf(copy, sizeof copy,
                     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r100], [l20, "
                     "{%s}], [r101]",
                     coordinates);
            snprintf(name, sizeof name, "%s, then %s", changes[i].replace, copy);
            if (semantics_refusal(corpus, name))
                continue;
            begin_tensor(&body, corpus, changes[i].replace, &changed_from, words);
            semantics_body_case(&body, name);
            body.unit->output_bytes = (body.unit->output_bytes + 127) / 128 * 128 + 128;
            write_fill(&body);
            write_change(&body, changes[i].replace, (uint32_t)body.unit->output_bytes - 128);
            semantics_write_copy(&body, copy, changes[i].bytes, false);
            add_bytes_at(&body, is_rank ? WSDBG_PTX_OP_tensormap_cp_fenceproxy : WSDBG_PTX_OP_tensormap_replace, name,
                         "ld.shared", "r102", changes[i].bytes);
            semantics_body_end(&body);
        }
}

/* ---- hints ---- */

static void add_hints(struct semantics_corpus *corpus, const uint64_t *words)
{
    struct semantics_body body;
    begin_tensor(&body, corpus, "tensor prefetch", &loads[12], words);
    if (semantics_body_case(&body, "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [l20, {0, 4}]")) {
        semantics_body_write(&body,
                             "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [l20, {0, 4}];\nmov.b32 r10, 1;\n");
        semantics_body_result(&body, WSDBG_PTX_OP_tensor_prefetch,
                              "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [l20, {0, 4}]", "", "r10", 4);
    }
    if (semantics_body_case(&body, "prefetch.param.tensormap [l23]")) {
        semantics_body_write(&body, "prefetch.tensormap [l20];\nmov.b64 l23, map;\nprefetch.param.tensormap [l23];\n"
                                    "mov.b32 r10, 1;\n");
        semantics_body_result(&body, WSDBG_PTX_OP_prefetch_tensormap, "prefetch.param.tensormap [l23]", "", "r10", 4);
    }
    semantics_body_end(&body);
}

/* What begins every tensor, as numbers of type f32: ties of tf32, NaN, infinities, subnormal numbers, the largest. */
static const uint32_t telling[] = {0x3f801000, 0x3f803000, 0xbf801000, 0x3f800fff, 0x3f801001, 0x7fc12345,
                                   0x7f800001, 0xff812345, 0x7f800000, 0xff800000, 0x00000001, 0x80001000,
                                   0x00001000, 0x007fffff, 0x7f7fffff, 0xff7ff000};

void semantics_add_tensors(struct semantics_corpus *corpus)
{
    uint64_t *const words = must_zeros(TENSOR / 8, 8);
    for (unsigned i = 0; i < TENSOR / 8; i++)
        words[i] = semantics_any(3, i);
    memcpy(words, telling, sizeof telling);
    add_tensors(corpus, words);
    add_tensor_reductions(corpus, words);
    add_pixels(corpus, words);
    add_changes(corpus, words);
    add_hints(corpus, words);
    free(words);
}
