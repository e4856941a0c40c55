/* box_test.c - boxes of tensors: where every byte goes, against a plain walk over coordinates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/box.h"

enum { FILL = 0xee, NOTHING = 0x55, SHARED_BYTES = 1 << 16 };

struct copy {
    const struct hopper_box *box;
    unsigned char *shared;
};

static bool load(void *context, const struct hopper_run *run)
{
    const struct copy *const copy = context;
    assert_true(run->offset + run->byte_count <= SHARED_BYTES);
    if (run->is_inside)
        memcpy(copy->shared + run->offset, (const void *)(uintptr_t)run->address, run->byte_count);
    else
        memset(copy->shared + run->offset, FILL, run->byte_count);
    return true;
}

static uint32_t expected_offset(const struct wsdbg_tensor_map *map, uint32_t base, uint32_t row, uint32_t byte)
{
    static const uint32_t spans[] = {0, 32, 64, 128};
    const uint32_t row_bytes = (uint32_t)map->box[0] * map->element_bytes, span = spans[map->swizzle];
    const uint32_t pitch = row_bytes < span ? span : row_bytes;
    uint32_t offset = base + row * pitch + byte;
    /* 16-byte chunk number XOR number of the 128 bytes, within 2, 4 or 8 chunks. */
    if (span)
        offset ^= (offset / 128 % (span / 16)) * 16;
    return offset;
}

/* Copies the box of `map` at `at`, in two pieces, and compares with one element after the other. */
static void check(const struct wsdbg_tensor_map *map, const int32_t *at, uint32_t base)
{
    struct hopper_box box;
    unsigned char *const shared = malloc(SHARED_BYTES), *const expected = malloc(SHARED_BYTES);
    memset(shared, NOTHING, SHARED_BYTES);
    memset(expected, NOTHING, SHARED_BYTES);
    assert_null(hopper_box_of_map(map, map->rank, at, &box));
    struct copy copy = {&box, shared};
    const uint32_t rows = hopper_box_rows(&box);
    hopper_box_walk(&box, base, rows / 3, rows, load, &copy);
    hopper_box_walk(&box, base, 0, rows / 3, load, &copy);

    uint32_t counts[5] = {1, 1, 1, 1, 1}, bytes = 0;
    for (uint32_t d = 0; d < map->rank; d++)
        counts[d] = d ? (map->box[d] + map->element_strides[d] - 1u) / map->element_strides[d] : map->box[d];
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t x = 0; x < counts[0]; x++) {
            const uint32_t index[5] = {x, row % counts[1], row / counts[1] % counts[2],
                                       row / counts[1] / counts[2] % counts[3],
                                       row / counts[1] / counts[2] / counts[3]};
            bool inside = true;
            uint64_t address = map->address;
            for (uint32_t d = 0; d < map->rank; d++) {
                const int64_t place = at[d] + (int64_t)index[d] * (d ? map->element_strides[d] : 1);
                inside = inside && place >= 0 && place < (int64_t)map->sizes_and_strides[d];
                address += (uint64_t)place * (d ? map->strides_bytes[d - 1] : map->element_bytes);
            }
            for (uint32_t b = 0; b < map->element_bytes; b++, bytes++)
                expected[expected_offset(map, base, row, x * map->element_bytes + b)] =
                    inside ? ((const unsigned char *)(uintptr_t)address)[b] : FILL;
        }
    assert_int_equal(hopper_box_bytes(&box), bytes);
    assert_memory_equal(shared, expected, SHARED_BYTES);
    free(shared);
    free(expected);
}

static unsigned char *tensor; /* 1 MiB of different bytes */

static struct wsdbg_tensor_map map_of(uint8_t rank, uint8_t element_bytes, uint8_t swizzle)
{
    return (struct wsdbg_tensor_map){.magic = WSDBG_TENSOR_MAGIC,
                                     .rank = rank,
                                     .element_bytes = element_bytes,
                                     .swizzle = swizzle,
                                     .address = (uint64_t)(uintptr_t)tensor,
                                     .sizes_and_strides = {100, 50, 6, 4, 3},
                                     .strides_bytes = {1024, 51200, 307200, 10240},
                                     .element_strides = {1, 1, 1, 1, 1}};
}

static void every_swizzle_at_every_alignment(void **state)
{
    (void)state;
    static const uint16_t widths[] = {64, 16, 32, 64}; /* of 2 bytes; without swizzle: any */
    for (uint8_t swizzle = 0; swizzle < 4; swizzle++)
        for (uint32_t base = 0; base < 1024; base += 128) {
            struct wsdbg_tensor_map map = map_of(2, 2, swizzle);
            map.box[0] = widths[swizzle];
            map.box[1] = 24;
            check(&map, (const int32_t[]){8, 3}, 1024 + base);
        }
}

static void a_row_shorter_than_the_swizzle_keeps_its_width(void **state)
{
    (void)state;
    struct wsdbg_tensor_map map = map_of(2, 2, 3);
    map.box[0] = 16;
    map.box[1] = 16;
    check(&map, (const int32_t[]){0, 0}, 2048);
}

static void all_sides_outside_are_filled(void **state)
{
    (void)state;
    static const int32_t places[][2] = {{-5, 0}, {90, 0},  {-200, 0}, {500, 0},    {0, -7},
                                        {0, 45}, {-5, -7}, {99, 49},  {0, 1 << 30}};
    struct wsdbg_tensor_map map = map_of(2, 4, 0);
    map.box[0] = 32;
    map.box[1] = 16;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        check(&map, places[i], 1024);
    /* A box larger than the tensor. */
    map.sizes_and_strides[0] = 7;
    map.sizes_and_strides[1] = 3;
    check(&map, (const int32_t[]){-3, -2}, 1024);
}

static void one_to_five_dimensions(void **state)
{
    (void)state;
    for (uint8_t rank = 1; rank <= 5; rank++) {
        struct wsdbg_tensor_map map = map_of(rank, 2, rank > 1 ? 1 : 0);
        map.sizes_and_strides[3] = 2;
        memcpy(map.box, (const uint16_t[]){16, 5, 3, 2, 2}, sizeof map.box);
        check(&map, (const int32_t[]){2, -1, 4, 1, 2}, 1024);
    }
}

static void element_strides_leave_elements_out(void **state)
{
    (void)state;
    struct wsdbg_tensor_map map = map_of(3, 1, 0);
    memcpy(map.box, (const uint16_t[]){16, 9, 4}, 6);
    memcpy(map.element_strides, (const uint8_t[]){4, 2, 3}, 3); /* that of dimension 0 is not looked at */
    check(&map, (const int32_t[]){0, 44, 1}, 1024);
}

static void maps_of_an_enemy_are_refused(void **state)
{
    (void)state;
    static const int32_t at[5] = {0};
    struct hopper_box box;
    struct wsdbg_tensor_map map = map_of(2, 2, 3);
    assert_non_null(hopper_box_of_map(&map, 2, at, &box)); /* an empty box */
    memcpy(map.box, (const uint16_t[]){64, 64}, 4);
    assert_null(hopper_box_of_map(&map, 2, at, &box));
    assert_non_null(hopper_box_of_map(&map, 3, at, &box));
    map.box[0] = map.box[1] = UINT16_MAX; /* larger than shared memory */
    assert_non_null(hopper_box_of_map(&map, 2, at, &box));
    map = map_of(2, 2, 3);
    map.swizzle = 77;
    assert_non_null(hopper_box_of_map(&map, 2, at, &box));
    map = map_of(0, 2, 3);
    assert_non_null(hopper_box_of_map(&map, 0, at, &box));
    map = map_of(200, 2, 3);
    assert_non_null(hopper_box_of_map(&map, 200, at, &box));
    memset(&map, 0, sizeof map);
    assert_non_null(hopper_box_of_map(&map, 1, at, &box));
}

static void fills_with_zeros_or_nan(void **state)
{
    (void)state;
    unsigned char bytes[8];
    struct hopper_box box = {.element_bytes = 4};
    hopper_box_fill(&box, bytes, sizeof bytes);
    assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0", sizeof bytes);
    box.fills_with_nan = true;
    hopper_box_fill(&box, bytes, sizeof bytes);
    float numbers[2];
    memcpy(numbers, bytes, sizeof numbers);
    assert_true(numbers[0] != numbers[0] && numbers[1] != numbers[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_swizzle_at_every_alignment),
        cmocka_unit_test(a_row_shorter_than_the_swizzle_keeps_its_width),
        cmocka_unit_test(all_sides_outside_are_filled),
        cmocka_unit_test(one_to_five_dimensions),
        cmocka_unit_test(element_strides_leave_elements_out),
        cmocka_unit_test(maps_of_an_enemy_are_refused),
        cmocka_unit_test(fills_with_zeros_or_nan),
    };
    tensor = malloc(1 << 20);
    for (uint32_t i = 0; i < 1 << 20; i++)
        tensor[i] = (unsigned char)((i * 2654435761u) >> 24);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(tensor);
    return failed;
}
