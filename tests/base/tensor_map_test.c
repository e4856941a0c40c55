/* tensor_map_test.c - the bytes that a copy with a tensor map brings, from the 128 bytes of the map.
 *
 * The words of the driver's layout are written by hand, as tensor_map.c describes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/tensor_map.h"

/* As the hardware numbers them, unlike cuda.h. */
enum { UINT8, FLOAT16 = 6, FLOAT32 = 7, FLOAT64 = 9, BFLOAT16 = 10, NO_TYPE = 15 };
#define KIND(rank, type) (((rank)-1u) << 4 | (uint32_t)(type) << 7)
#define IM2COL 1u
#define BOX(first, strides) (((first)-1u) << 24 | (strides))
#define BOXES(y, z, w, v) (((y)-1u) | ((z)-1u) << 8 | ((w)-1u) << 16 | ((v)-1u) << 24)
#define STRIDES(x, y, z) (((x)-1u) | ((y)-1u) << 3 | ((z)-1u) << 6)
#define NONE STRIDES(1, 1, 1)

static const struct {
    const char *name;
    uint32_t kind, box, boxes, pixels, held; /* held: the bytes that the map itself names */
    uint32_t bytes;                          /* 0 = this is no map that is known */
} maps[] = {
    {"a tile of 64 x 128", KIND(2, FLOAT16), BOX(64, NONE), BOXES(128, 1, 1, 1), 0, 16384, 16384},
    {"another type of 2 bytes", KIND(2, BFLOAT16), BOX(64, NONE), BOXES(128, 1, 1, 1), 0, 16384, 16384},
    {"one dimension, the largest box", KIND(1, FLOAT32), BOX(256, NONE), BOXES(1, 1, 1, 1), 0, 1024, 1024},
    {"dimensions that the map lacks do not count", KIND(1, FLOAT32), BOX(256, NONE), BOXES(9, 9, 9, 9), 0, 1024, 1024},
    {"five dimensions", KIND(5, UINT8), BOX(128, NONE), BOXES(3, 5, 2, 7), 0, 26880, 26880},
    {"strides leave out elements: of 9, every second is 5, of 4, every third is 2", KIND(3, FLOAT64),
     BOX(32, STRIDES(1, 2, 3)), BOXES(9, 4, 1, 1), 0, 2560, 2560},
    {"im2col: 64 channels of 128 pixels", KIND(4, FLOAT16) | IM2COL, BOX(64, NONE), 0, 127, 16384, 16384},
    {"a stride of the first dimension", KIND(2, FLOAT16), BOX(32, STRIDES(2, 1, 1)), BOXES(8, 1, 1, 1), 0, 512, 0},
    {"bytes unlike the box", KIND(2, FLOAT16), BOX(64, NONE), BOXES(128, 1, 1, 1), 0, 8192, 0},
    {"an unknown type", KIND(2, NO_TYPE), BOX(64, NONE), BOXES(128, 1, 1, 1), 0, 16384, 0},
    {"more dimensions than there are", KIND(6, FLOAT16), BOX(64, NONE), BOXES(128, 1, 1, 1), 0, 16384, 0},
    {"nothing", 0, 0, 0, 0, 0, 0},
};

static void maps_of_the_driver(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        const uint32_t words[WSDBG_TENSOR_MAP_WORDS] = {
            [2] = maps[i].kind, [13] = maps[i].box, [14] = maps[i].boxes, [15] = maps[i].pixels, [16] = maps[i].held};
        uint32_t bytes = 0;
        print_message("%s\n", maps[i].name);
        assert_int_equal(wsdbg_tensor_map_bytes(words, &bytes), maps[i].bytes != 0);
        if (maps[i].bytes)
            assert_int_equal(bytes, maps[i].bytes);
    }
}

static uint32_t bytes_of(const struct wsdbg_tensor_map *map)
{
    uint32_t words[WSDBG_TENSOR_MAP_WORDS] = {0}, bytes;
    memcpy(words, map, sizeof *map);
    assert_true(wsdbg_tensor_map_bytes(words, &bytes));
    return bytes;
}

static void maps_of_the_simulator(void **state)
{
    (void)state;
    struct wsdbg_tensor_map map = {
        .magic = WSDBG_TENSOR_MAGIC, .rank = 2, .element_bytes = 2, .box = {64, 9}, .element_strides = {1, 2}};
    assert_int_equal(bytes_of(&map), 64 * 5 * 2);
    map.is_im2col = true;
    map.channels_per_pixel = 64;
    map.pixels_per_column = 128;
    assert_int_equal(bytes_of(&map), 64 * 128 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_of_the_driver), cmocka_unit_test(maps_of_the_simulator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
