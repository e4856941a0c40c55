/* convert_test.c - cvt between integers and floats of every width, and pairs. */
#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define ONES 0xffffffffu
#define ONE 0x3f800000u

static void integers(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"cvt.u32.u64 d, A;", ROW_32, {{0x123456789, 0, 0, 0x23456789}}, 0},
        {"cvt.u64.u32 D, a;", ROW_64, {{ONES, 0, 0, ONES}}, 0},
        {"cvt.s64.s32 D, a;", ROW_64, {{ONES, 0, 0, UINT64_MAX}}, 0},
        {"cvt.s32.s16 d, ha;", ROW_32, {{0x8000, 0, 0, 0xffff8000}}, 0},
        {"cvt.u32.u16 d, ha;", ROW_32, {{0xffff, 0, 0, 0xffff}}, 0},
        {"cvt.u16.u32 hd, a;", ROW_16, {{0x12345678, 0, 0, 0x5678}}, 0},
        {"cvt.u32.u8 d, a;", ROW_32, {{0x1234, 0, 0, 0x34}}, 0},
        {"cvt.s32.s8 d, a;", ROW_32, {{0x80, 0, 0, 0xffffff80}}, 0},
        {"cvt.sat.s8.s32 d, a;", ROW_32, {{300, 0, 0, 127}, {(uint32_t)-300, 0, 0, 0xffffff80}}, 0},
        {"cvt.sat.u8.s32 d, a;", ROW_32, {{300, 0, 0, 255}, {(uint32_t)-300, 0, 0, 0}}, 2},
        {"cvt.sat.s32.u32 d, a;", ROW_32, {{ONES, 0, 0, 0x7fffffff}}, 0},
        {"cvt.sat.u32.s64 d, A;", ROW_32, {{UINT64_MAX, 0, 0, 0}, {1ull << 40, 0, 0, ONES}}, 0},
    };
    CHECK(rows);
}

/* Out of range is the nearest end of the range, NaN is 0. */
static void floats_to_integers(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"cvt.rzi.s32.f32 d, a;",
         ROW_32,
         {{0x40200000, 0, 0, 2},
          {0xc0200000, 0, 0, (uint32_t)-2},
          {0x4f000000, 0, 0, 0x7fffffff},
          {0xcf800000, 0, 0, 0x80000000},
          {0x7fc00000, 0, 0, 0}},
         5},
        {"cvt.rni.s32.f32 d, a;",
         ROW_32,
         {{0x40200000, 0, 0, 2}, {0x40600000, 0, 0, 4}, {0xc0200000, 0, 0, (uint32_t)-2}},
         0}, /* 2.5, 3.5: to even */
        {"cvt.rmi.s32.f32 d, a;", ROW_32, {{0x40200000, 0, 0, 2}, {0xc0200000, 0, 0, (uint32_t)-3}}, 0},
        {"cvt.rpi.s32.f32 d, a;", ROW_32, {{0x40200000, 0, 0, 3}, {0xc0200000, 0, 0, (uint32_t)-2}}, 0},
        {"cvt.rzi.u32.f32 d, a;",
         ROW_32,
         {{0xbf800000, 0, 0, 0}, {0x4f800000, 0, 0, ONES}, {0x4f000000, 0, 0, 0x80000000}},
         3},
        {"cvt.rzi.u64.f64 D, A;",
         ROW_64,
         {{0x43e0000000000000, 0, 0, 1ull << 63}, {0x43f0000000000000, 0, 0, UINT64_MAX}},
         0},
        {"cvt.rzi.s64.f32 D, a;", ROW_64, {{0xdf800000, 0, 0, 1ull << 63}}, 0},
        {"cvt.rzi.s16.f16 hd, ha;", ROW_16, {{0x4700, 0, 0, 7}}, 0},
        {"cvt.rzi.u8.f32 d, a;", ROW_32, {{0x43960000, 0, 0, 255}}, 0}, /* 300 */
        {"cvt.rni.ftz.s32.f32 d, a;", ROW_32, {{1, 0, 0, 0}}, 1},
    };
    CHECK(rows);
}

/* 2^24 + 1 has no f32, 2^53 + 1 no f64: both are ties and go to even, or where the mode says. */
static void integers_to_floats(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"cvt.rn.f32.s32 d, a;",
         ROW_32,
         {{16777217, 0, 0, 0x4b800000}, {16777219, 0, 0, 0x4b800002}, {ONES, 0, 0, 0xbf800000}},
         0},
        {"cvt.rp.f32.u32 d, a;", ROW_32, {{16777217, 0, 0, 0x4b800001}}, 0},
        {"cvt.rz.f32.u32 d, a;", ROW_32, {{16777219, 0, 0, 0x4b800001}}, 0},
        {"cvt.rn.f32.u64 d, A;",
         ROW_32,
         {{0x8000008000000001, 0, 0, 0x5f000001}, {0x8000008000000000, 0, 0, 0x5f000000}},
         0}, /* just above a tie, and the tie */
        {"cvt.rn.f64.s64 D, A;",
         ROW_64,
         {{(1ull << 53) + 1, 0, 0, 0x4340000000000000}, {UINT64_MAX, 0, 0, 0xbff0000000000000}},
         0},
        {"cvt.rp.f64.u64 D, A;", ROW_64, {{(1ull << 53) + 1, 0, 0, 0x4340000000000001}}, 0},
        {"cvt.rz.f64.u64 D, A;",
         ROW_64,
         {{(1ull << 53) + 3, 0, 0, 0x4340000000000001}, {UINT64_MAX, 0, 0, 0x43efffffffffffff}},
         0},
        {"cvt.rn.f64.u32 D, a;", ROW_64, {{ONES, 0, 0, 0x41efffffffe00000}}, 0},
        {"cvt.rn.f16.s32 hd, a;", ROW_16, {{2049, 0, 0, 0x6800}, {70000, 0, 0, 0x7c00}}, 0},
        {"cvt.rn.bf16.s32 hd, a;", ROW_16, {{257, 0, 0, 0x4380}}, 0},
    };
    CHECK(rows);
}

static void floats(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"cvt.f64.f32 D, a;", ROW_64, {{ONE, 0, 0, 0x3ff0000000000000}, {1, 0, 0, 0x36a0000000000000}}, 0},
        {"cvt.rn.f32.f64 d, A;",
         ROW_32,
         {{0x3ff0000010000000, 0, 0, ONE},
          {0x3ff0000010000001, 0, 0, 0x3f800001},
          {0x47f0000000000000, 0, 0, 0x7f800000},
          {0x7ff8000000000000, 0, 0, 0x7fc00000}},
         0},
        {"cvt.rz.f32.f64 d, A;", ROW_32, {{0x47f0000000000000, 0, 0, 0x7f7fffff}}, 0},
        {"cvt.rp.f32.f64 d, A;", ROW_32, {{0x3ff0000000000001, 0, 0, 0x3f800001}}, 0},
        {"cvt.rm.f32.f64 d, A;", ROW_32, {{0xbff0000000000001, 0, 0, 0xbf800001}}, 0},
        {"cvt.f32.f16 d, ha;",
         ROW_32,
         {{0x3c00, 0, 0, ONE}, {0x0001, 0, 0, 0x33800000}, {0xfc00, 0, 0, 0xff800000}},
         0},
        {"cvt.rn.f16.f32 hd, a;",
         ROW_16,
         {{ONE, 0, 0, 0x3c00},
          {0x33800000, 0, 0, 1},
          {0x33000000, 0, 0, 0},
          {0x477ff000, 0, 0, 0x7c00},
          {0x477fefff, 0, 0, 0x7bff}},
         0},
        {"cvt.rz.f16.f32 hd, a;", ROW_16, {{0x477ff000, 0, 0, 0x7bff}}, 0},
        {"cvt.f32.bf16 d, ha;", ROW_32, {{0x3f80, 0, 0, ONE}}, 0},
        {"cvt.rn.bf16.f32 hd, a;",
         ROW_16,
         {{0x3f808000, 0, 0, 0x3f80},
          {0x3f818000, 0, 0, 0x3f82},
          {0x3f808001, 0, 0, 0x3f81},
          {0x7f800001, 0, 0, 0x7fff}},
         0},
        {"cvt.rz.bf16.f32 hd, a;", ROW_16, {{0x3f80ffff, 0, 0, 0x3f80}}, 0},
        {"cvt.rn.relu.bf16.f32 hd, a;", ROW_16, {{0xbf800000, 0, 0, 0}, {ONE, 0, 0, 0x3f80}}, 2},
        {"cvt.rni.f32.f32 d, a;", ROW_32, {{0x40200000, 0, 0, 0x40000000}, {0xbe800000, 0, 0, 0x80000000}}, 0},
        {"cvt.rpi.f32.f32 d, a;", ROW_32, {{0x40200000, 0, 0, 0x40400000}}, 0},
        {"cvt.rmi.f64.f64 D, A;", ROW_64, {{0xbfe0000000000000, 0, 0, 0xbff0000000000000}}, 0},
        {"cvt.sat.f32.f32 d, a;", ROW_32, {{0x40000000, 0, 0, ONE}, {0xbf800000, 0, 0, 0}, {0x7fc00000, 0, 0, 0}}, 3},
        {"cvt.ftz.f32.f32 d, a;", ROW_32, {{0x80000001, 0, 0, 0x80000000}}, 0},
        {"cvt.rna.tf32.f32 d, a;", ROW_32, {{0x3f801000, 0, 0, 0x3f802000}, {0x3f800fff, 0, 0, ONE}}, 0},
    };
    CHECK(rows);
}

/* The first source goes on top. */
static void pairs(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"cvt.rn.bf16x2.f32 d, a, b;",
         ROW_32,
         {{ONE, 0x40000000, 0, 0x3f804000},
          {0x7f800001, 0xff800000, 0, 0x7fffff80},
          {0x3f808000, 0x3f818000, 0, 0x3f803f82}},
         0},
        {"cvt.rz.bf16x2.f32 d, a, b;", ROW_32, {{0x3f80ffff, 0xbf80ffff, 0, 0x3f80bf80}}, 0},
        {"cvt.rn.satfinite.relu.f16x2.f32 d, a, b;", ROW_32, {{0xbf800000, 0x7f000000, 0, 0x7bff}}, 0},
        {"cvt.rn.relu.bf16x2.f32 d, a, b;", ROW_32, {{0xbf800000, ONE, 0, 0x3f80}}, 0},
        {"cvt.rn.f16x2.f32 d, a, b;", ROW_32, {{ONE, 0x40000000, 0, 0x3c004000}}, 0},
        {"cvt.rn.satfinite.e4m3x2.f32 hd, a, b;",
         ROW_16,
         {{ONE, 0x40000000, 0, 0x3840}, {0x7f800000, 0xff800000, 0, 0x7efe}, {0x7fc00000, 0x3b000000, 0, 0x7f01}},
         0}, /* 448, NaN, 2^-9 */
        {"cvt.rn.satfinite.e5m2x2.f32 hd, a, b;",
         ROW_16,
         {{ONE, 0x40000000, 0, 0x3c40}, {0x7f800000, 0xff800000, 0, 0x7bfb}},
         0},
        {"cvt.rn.f16x2.e4m3x2 d, ha;", ROW_32, {{0x3840, 0, 0, 0x3c004000}}, 0},
        {"cvt.rn.f16x2.e5m2x2 d, ha;", ROW_32, {{0x3c40, 0, 0, 0x3c004000}}, 0},
        {"cvt.rn.satfinite.e4m3x2.f16x2 hd, a;", ROW_16, {{0x3c004000, 0, 0, 0x3840}}, 0},
        {"cvt.pack.sat.s16.s32 d, a, b;", ROW_32, {{70000, (uint32_t)-70000, 0, 0x7fff8000}, {1, 2, 0, 0x10002}}, 0},
        {"cvt.pack.sat.u8.s32.b32 d, a, b, c;", ROW_32, {{300, (uint32_t)-1, 0x1234, 0x1234ff00}}, 0},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats_to_integers),
        cmocka_unit_test(integers_to_floats),
        cmocka_unit_test(floats),
        cmocka_unit_test(pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
