/* wgmma_operand_test.c - matrix descriptors and layouts, against tiles laid out as tensor copies do it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/number.h"
#include "hopper/wgmma.h"

enum { SHARED_BYTES = 64 * 1024, TILE = 0x2000 };

static unsigned char memory[HOPPER_SHARED_START + SHARED_BYTES];
static struct hopper_cta cta = {
    .shared = memory, .shared_bytes = SHARED_BYTES, .shared_first = HOPPER_SHARED_START};

/* A descriptor's bits from byte counts. */
static uint64_t bits_of(uint32_t start, uint32_t leading, uint32_t stride, uint32_t swizzle_bytes)
{
    const uint64_t mode = swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : swizzle_bytes == 32 ? 3 : 0;
    return start >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | mode << 62;
}

static void fields_are_in_units_of_16_bytes(void **state)
{
    (void)state;
    const struct wgmma_descriptor descriptor = wgmma_descriptor(bits_of(0x1c20, 0x40, 0x400, 128) | 5ull << 49);
    assert_int_equal(descriptor.start, 0x1c20);
    assert_int_equal(descriptor.leading, 0x40);
    assert_int_equal(descriptor.stride, 0x400);
    assert_int_equal(descriptor.swizzle_bytes, 128);
    assert_int_equal(descriptor.base, 5);
    assert_int_equal(wgmma_descriptor(bits_of(0, 0, 0, 64)).swizzle_bytes, 64);
    assert_int_equal(wgmma_descriptor(bits_of(0, 0, 0, 32)).swizzle_bytes, 32);
    assert_int_equal(wgmma_descriptor(bits_of(0, 0, 0, 0)).swizzle_bytes, 0);
}

static float element(uint32_t row, uint32_t k)
{
    return (float)(row * 64 + k); /* exact in bf16 as long as it is below 256; compared after rounding */
}

static float rounded(float value)
{
    return hopper_bf16_to_float(hopper_float_to_bf16(value));
}

static void put(uint32_t offset, float value)
{
    const uint16_t bits = hopper_float_to_bf16(value);
    memcpy(memory + offset, &bits, sizeof bits);
}

static uint32_t swizzle(uint32_t offset, uint32_t swizzle_bytes)
{
    return swizzle_bytes ? offset ^ offset / 128 % (swizzle_bytes / 16) * 16 : offset;
}

/* 64 rows, each `swizzle_bytes` of K, one after the other, as a swizzling tensor copy leaves them. */
static void k_major_swizzled(void **state)
{
    (void)state;
    for (uint32_t width = 32; width <= 128; width *= 2) {
        for (uint32_t row = 0; row < 64; row++)
            for (uint32_t k = 0; k < width / 2; k++)
                put(swizzle(TILE + row * width + k * 2, width), element(row, k));
        for (uint32_t first_k = 0; first_k < width / 2; first_k += 16) {
            struct wgmma_operation operation = {.a_type = WSDBG_PTX_BF16, .b_type = WSDBG_PTX_BF16, .n = 64, .k = 16};
            operation.a = operation.b = wgmma_descriptor(bits_of(TILE + first_k * 2, 1, 8 * width, width));
            float a[WGMMA_ROWS][WGMMA_K_MOST], b[WGMMA_K_MOST][WGMMA_N_MOST];
            assert_true(wgmma_load_a(&operation, &cta, 32, a));
            assert_true(wgmma_load_b(&operation, &cta, b));
            for (uint32_t row = 0; row < 64; row++)
                for (uint32_t k = 0; k < 16; k++) {
                    const float expected = rounded(element(row, first_k + k));
                    assert_true(b[k][row] == expected);
                    assert_true(row < 32 || row >= 48 || a[row - 32][k] == expected);
                }
        }
    }
}

/* Loads B of bf16, 16 deep, and compares all of it. */
static void check_b(uint32_t n, bool is_mn, uint64_t bits, float sign)
{
    float b[WGMMA_K_MOST][WGMMA_N_MOST];
    const struct wgmma_operation operation = {.b_type = WSDBG_PTX_BF16,
                                              .n = n,
                                              .k = 16,
                                              .b_is_mn = is_mn,
                                              .negates_b = sign < 0,
                                              .b = wgmma_descriptor(bits)};
    assert_true(wgmma_load_b(&operation, &cta, b));
    for (uint32_t row = 0; row < n; row++)
        for (uint32_t k = 0; k < 16; k++)
            assert_true(b[k][row] == sign * rounded(element(row, k)));
}

/* Core matrices of 8 rows by 16 bytes; the next 8 of K `leading` bytes further, the next 8 rows `stride`. */
static void k_major_plain(void **state)
{
    (void)state;
    const uint32_t leading = 128, stride = 256;
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t k = 0; k < 16; k++)
            put(TILE + row / 8 * stride + k / 8 * leading + row % 8 * 16 + k % 8 * 2, element(row, k));
    check_b(64, false, bits_of(TILE, leading, stride, 0), -1);
}

/* N contiguous: blocks of `width` bytes of N by 8 of K, swizzled; the next block of N is `leading` on, of K `stride`.
 */
static void mn_major_swizzled(void **state)
{
    (void)state;
    for (uint32_t width = 32; width <= 128; width *= 2) {
        const uint32_t elements = width / 2, stride = 8 * width, leading = 2 * stride;
        for (uint32_t n = 0; n < 128; n++)
            for (uint32_t k = 0; k < 16; k++)
                put(swizzle(TILE + n / elements * leading + k / 8 * stride + k % 8 * width + n % elements * 2, width),
                    element(n, k));
        struct wgmma_operation operation = {
            .a_type = WSDBG_PTX_BF16, .b_type = WSDBG_PTX_BF16, .n = 128, .k = 16, .a_is_mn = true, .b_is_mn = true};
        operation.a = operation.b = wgmma_descriptor(bits_of(TILE, leading, stride, width));
        float a[WGMMA_ROWS][WGMMA_K_MOST], b[WGMMA_K_MOST][WGMMA_N_MOST];
        assert_true(wgmma_load_a(&operation, &cta, 48, a));
        assert_true(wgmma_load_b(&operation, &cta, b));
        for (uint32_t n = 0; n < 128; n++)
            for (uint32_t k = 0; k < 16; k++) {
                assert_true(b[k][n] == rounded(element(n, k)));
                assert_true(n < 48 || n >= 64 || a[n - 48][k] == rounded(element(n, k)));
            }
    }
}

/* Without swizzle the offsets change their parts: 8 of N are `stride` apart, 8 of K `leading`. */
static void mn_major_plain(void **state)
{
    (void)state;
    const uint32_t stride = 128, leading = 1024;
    for (uint32_t n = 0; n < 64; n++)
        for (uint32_t k = 0; k < 16; k++)
            put(TILE + n / 8 * stride + k / 8 * leading + k % 8 * 16 + n % 8 * 2, element(n, k));
    check_b(64, true, bits_of(TILE, leading, stride, 0), 1);
}

/* A tile that begins in the middle of the swizzle's pattern: its base offset is that row. */
static void the_base_offset_moves_the_pattern(void **state)
{
    (void)state;
    const uint32_t start = TILE + 3 * 128;
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t k = 0; k < 16; k++)
            put(start + ((row * 128 + k * 2) ^ row % 8 * 16), element(row, k));
    check_b(16, false, bits_of(start, 1, 1024, 128) | 3ull << 49, 1);
}

/* The fragments of the ISA: lane / 4 is the row, lane % 4 the place of 4 bytes; then 8 rows down, then half of K. */
static void a_in_registers(void **state)
{
    (void)state;
    uint32_t values[WGMMA_A_REGISTERS][HOPPER_LANES];
    struct wgmma_operation operation = {.a_type = WSDBG_PTX_E4M3, .k = 32, .a_in_registers = true};
    operation.a_values = (const uint32_t(*)[HOPPER_LANES])values;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < 4; i++)
            values[i][lane] = 0x38u << lane % 4 * 8; /* 1.0 at k = 5 (lane % 4) of its 16 */
    float a[WGMMA_ROWS][WGMMA_K_MOST];
    assert_true(wgmma_load_a(&operation, &cta, 0, a));
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t k = 0; k < 32; k++)
            assert_true(a[row][k] == (k % 16 % 5 == 0 ? 1.0f : 0.0f));
    operation = (struct wgmma_operation){
        .a_type = WSDBG_PTX_TF32, .k = 8, .a_in_registers = true, .negates_a = true, .a_values = operation.a_values};
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < 4; i++)
            values[i][lane] = hopper_bits_of_float((float)((lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4));
    assert_true(wgmma_load_a(&operation, &cta, 0, a));
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t k = 0; k < 8; k++)
            assert_true(a[row][k] == -(float)(row * 8 + k));
}

static void outside_of_shared_memory(void **state)
{
    (void)state;
    struct wgmma_operation operation = {.b_type = WSDBG_PTX_BF16, .n = 256, .k = 16};
    float b[WGMMA_K_MOST][WGMMA_N_MOST];
    operation.b = wgmma_descriptor(bits_of(0, 1, 1024, 128)); /* the system's first 1024 bytes */
    assert_false(wgmma_load_b(&operation, &cta, b));
    operation.b = wgmma_descriptor(bits_of(SHARED_BYTES - 1024, 1, 1024, 128));
    assert_false(wgmma_load_b(&operation, &cta, b));
}

/* Every N and K against three loops. */
static void products(void **state)
{
    (void)state;
    static float a[WGMMA_ROWS][WGMMA_K_MOST], b[WGMMA_K_MOST][WGMMA_N_MOST], d[WGMMA_ROWS][WGMMA_N_MOST];
    for (uint32_t n = 8; n <= 256; n += 8)
        for (uint32_t k = 8; k <= 32; k *= 2) {
            for (uint32_t row = 0; row < WGMMA_ROWS; row++)
                for (uint32_t i = 0; i < k; i++)
                    a[row][i] = (float)((row * 7 + i * 3) % 11) - 5;
            for (uint32_t i = 0; i < k; i++)
                for (uint32_t column = 0; column < n; column++)
                    b[i][column] = (float)((column * 5 + i) % 13) - 6;
            for (uint32_t row = 0; row < WGMMA_ROWS; row++)
                for (uint32_t column = 0; column < n; column++)
                    d[row][column] = (float)row;
            wgmma_multiply(n, k, (const float(*)[WGMMA_K_MOST])a, (const float(*)[WGMMA_N_MOST])b, d);
            for (uint32_t row = 0; row < WGMMA_ROWS; row++)
                for (uint32_t column = 0; column < n; column++) {
                    float expected = (float)row; /* whole numbers: exact in any order */
                    for (uint32_t i = 0; i < k; i++)
                        expected += a[row][i] * b[i][column];
                    assert_true(d[row][column] == expected);
                }
        }
}

/* All 65536 values of f16 and bf16, and all of the 8-bit formats, by their definition. */
static void short_formats(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const float sign = bits >> 15 ? -1.0f : 1.0f, value = hopper_f16_to_float((uint16_t)bits);
        if (exponent == 31) {
            assert_true(fraction ? isnan(value) : value == sign * INFINITY);
            continue;
        }
        assert_true(value == sign * (exponent ? ldexpf(1024.0f + (float)fraction, exponent - 25)
                                              : ldexpf((float)fraction, -24)));
        assert_int_equal(hopper_float_to_f16(value), bits);
        assert_int_equal(hopper_float_to_bf16(hopper_bf16_to_float((uint16_t)(bits & 0x7f7f))), bits & 0x7f7f);
    }
    for (uint32_t bits = 0; bits < 256; bits++) {
        const int exponent = bits >> 3 & 15, fraction = bits & 7;
        const float value = hopper_e4m3_to_float((uint8_t)bits);
        const float expected = exponent ? ldexpf(8.0f + (float)fraction, exponent - 10) : ldexpf((float)fraction, -9);
        assert_true((bits & 127) == 127 ? isnan(value) : value == (bits >> 7 ? -expected : expected));
    }
    assert_int_equal(hopper_float_to_f16(65519.0f), 0x7bff);
    assert_int_equal(hopper_float_to_f16(65520.0f), 0x7c00);
    assert_int_equal(hopper_float_to_f16(0x1p-25f), 0);   /* a tie, to even */
    assert_int_equal(hopper_float_to_f16(0x1.8p-24f), 2); /* a tie, to even */
    assert_int_equal(hopper_float_to_f16(1.00048828125f), 0x3c00);
    assert_int_equal(hopper_float_to_bf16(1.00390625f), 0x3f80);
    assert_int_equal(hopper_float_to_bf16(1.01171875f), 0x3f82);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_in_units_of_16_bytes),
        cmocka_unit_test(k_major_swizzled),
        cmocka_unit_test(k_major_plain),
        cmocka_unit_test(mn_major_swizzled),
        cmocka_unit_test(mn_major_plain),
        cmocka_unit_test(the_base_offset_moves_the_pattern),
        cmocka_unit_test(a_in_registers),
        cmocka_unit_test(outside_of_shared_memory),
        cmocka_unit_test(products),
        cmocka_unit_test(short_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
