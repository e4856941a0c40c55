/* float_test.c - floating-point arithmetic: rounding modes, saturation, subnormal numbers, NaN; a row of the table
 * each. */
#include <fenv.h>

#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define ONE 0x3f800000u
#define ABOVE_ONE 0x3f800001u /* the next f32 */
#define TWO 0x40000000u
#define THREE 0x40400000u
#define MINUS 0x80000000u
#define INFINITE 0x7f800000u
#define NOT_A_NUMBER 0x7fffffffu /* the canonical one */
#define SMALL 0x33800000u        /* 2^-24: half of the last bit of 1 */
#define TINY 0x2b800000u         /* 2^-40 */
#define LARGEST 0x7f7fffffu

/* 1 + 2^-40 and 1 - 2^-40 are exact nowhere: each mode goes its way. */
static void rounding(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.f32 d, a, b;",
         ROW_32,
         {{ONE, TWO, 0, THREE}, {ONE, SMALL, 0, ONE}, {ABOVE_ONE, SMALL, 0, 0x3f800002}},
         0},
        {"add.rn.f32 d, a, b;", ROW_32, {{ONE, TINY, 0, ONE}, {ONE, TINY | MINUS, 0, ONE}}, 0},
        {"add.rz.f32 d, a, b;",
         ROW_32,
         {{ONE, TINY, 0, ONE}, {ONE, TINY | MINUS, 0, 0x3f7fffff}, {LARGEST, LARGEST, 0, LARGEST}},
         0},
        {"add.rm.f32 d, a, b;",
         ROW_32,
         {{ONE, TINY, 0, ONE}, {ONE, TINY | MINUS, 0, 0x3f7fffff}, {ONE | MINUS, TINY | MINUS, 0, ABOVE_ONE | MINUS}},
         0},
        {"add.rp.f32 d, a, b;",
         ROW_32,
         {{ONE, TINY, 0, ABOVE_ONE}, {ONE, TINY | MINUS, 0, ONE}, {LARGEST, LARGEST, 0, INFINITE}},
         0},
        {"sub.f32 d, a, b;", ROW_32, {{THREE, ONE, 0, TWO}, {INFINITE, INFINITE, 0, NOT_A_NUMBER}}, 0},
        {"sub.rp.f32 d, a, b;", ROW_32, {{ONE, TINY | MINUS, 0, ABOVE_ONE}}, 0},
        {"mul.f32 d, a, b;",
         ROW_32,
         {{THREE, TWO, 0, 0x40c00000}, {0, INFINITE, 0, NOT_A_NUMBER}, {0x00800000, 0x3f000000, 0, 0x00400000}},
         0},
        {"mul.rz.f32 d, a, b;", ROW_32, {{ABOVE_ONE, ABOVE_ONE, 0, 0x3f800002}}, 0},
        {"mul.rp.f32 d, a, b;", ROW_32, {{ABOVE_ONE, ABOVE_ONE, 0, 0x3f800003}}, 0},
        {"add.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x3c00000000000000, 0, 0x3ff0000000000000}}, 0},
        {"add.rp.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x3c00000000000000, 0, 0x3ff0000000000001}}, 0},
        {"sub.rm.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x3c00000000000000, 0, 0x3fefffffffffffff}}, 0},
        {"mul.rz.f64 D, A, B;", ROW_64, {{0x3ff0000000000001, 0x3ff0000000000001, 0, 0x3ff0000000000002}}, 0},
        {"mul.rp.f64 D, A, B;", ROW_64, {{0x3ff0000000000001, 0x3ff0000000000001, 0, 0x3ff0000000000003}}, 0},
    };
    CHECK(rows);
}

/* (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46: a product that were rounded first would give 0. */
static void one_rounding(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"fma.rn.f32 d, a, b, c;",
         ROW_32,
         {{ABOVE_ONE, ABOVE_ONE, 0x3f800002 | MINUS, 0x28800000},
          {TWO, THREE, ONE, 0x40e00000},
          {INFINITE, 0, ONE, NOT_A_NUMBER}},
         0},
        /* 1 + 2^-24 (a tie) + 2^-100 more: up; - 2^-100: down */
        {"fma.rn.f32 d, a, b, 0f3F800000;",
         ROW_32,
         {{0x33800001, ONE, 0, ABOVE_ONE}, {0x337fffff, ONE, 0, ONE}, {SMALL, ONE, 0, ONE}},
         0},
        {"fma.rz.f32 d, a, b, c;", ROW_32, {{ONE, ONE, TINY | MINUS, 0x3f7fffff}}, 0},
        {"fma.rm.f32 d, a, b, c;", ROW_32, {{ONE, ONE, TINY, ONE}}, 0},
        {"fma.rp.f32 d, a, b, c;", ROW_32, {{ONE, ONE, TINY, ABOVE_ONE}}, 0},
        {"fma.rn.sat.f32 d, a, b, c;", ROW_32, {{TWO, TWO, 0, ONE}, {TWO, TWO | MINUS, 0, 0}, {INFINITE, 0, 0, 0}}, 3},
        {"fma.rn.ftz.f32 d, a, b, c;", ROW_32, {{1, TWO, 0, 0}, {0x00800000, 0x3f000000, 0, 0}, {ONE, 1, 1, 0}}, 3},
        {"mad.rn.f32 d, a, b, c;", ROW_32, {{TWO, THREE, ONE, 0x40e00000}}, 0},
        {"fma.rn.f64 D, A, B, C;",
         ROW_64,
         {{0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002, 0x3970000000000000}},
         0},
        {"fma.rn.f16 hd, ha, hb, hc;", ROW_16, {{0x3c01, 0x3c01, 0xbc02, 0x0010}}, 0},               /* 2^-20 */
        {"fma.rn.f16x2 d, a, b, c;", ROW_32, {{0x40003c00, 0x42004000, 0x3c003c00, 0x47004200}}, 0}, /* 2*3+1, 1*2+1 */
        {"fma.rn.relu.bf16 hd, ha, hb, hc;", ROW_16, {{0x3f80, 0xbf80, 0, 0}, {0x3f80, 0x3f80, 0, 0x3f80}}, 2},
        {"fma.rn.bf16x2 d, a, b, c;", ROW_32, {{0x40003f80, 0x40404000, 0x3f803f80, 0x40e04040}}, 0},
    };
    CHECK(rows);
}

static void special_values(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.sat.f32 d, a, b;", ROW_32, {{ONE, TWO, 0, ONE}, {ONE | MINUS, 0, 0, 0}, {NOT_A_NUMBER, 0, 0, 0}}, 3},
        {"add.ftz.f32 d, a, b;",
         ROW_32,
         {{1, 1, 0, 0}, {0x80000001, 0, 0, 0}, {0x00800000, 0x00800001 | MINUS, 0, MINUS}},
         3},
        {"add.f32 d, a, b;",
         ROW_32,
         {{1, 1, 0, 2}, {0x7f800001, ONE, 0, NOT_A_NUMBER}, {0xffc00000, ONE, 0, NOT_A_NUMBER}},
         0},
        {"mul.ftz.f32 d, a, b;", ROW_32, {{0x00800000, 0x3f000000, 0, 0}, {1, TWO, 0, 0}}, 2},
        {"min.f32 d, a, b;",
         ROW_32,
         {{ONE, TWO, 0, ONE},
          {NOT_A_NUMBER, TWO, 0, TWO},
          {0, MINUS, 0, MINUS},
          {0xffc00000, 0x7fc00000, 0, NOT_A_NUMBER}},
         0},
        {"max.f32 d, a, b;", ROW_32, {{ONE, TWO, 0, TWO}, {ONE, NOT_A_NUMBER, 0, ONE}, {MINUS, 0, 0, 0}}, 3},
        {"min.NaN.f32 d, a, b;", ROW_32, {{ONE, 0x7fc00000, 0, NOT_A_NUMBER}}, 0},
        {"max.xorsign.abs.f32 d, a, b;",
         ROW_32,
         {{ONE | MINUS, TWO, 0, TWO | MINUS}, {ONE | MINUS, TWO | MINUS, 0, TWO}},
         0},
        {"min.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x4000000000000000, 0, 0x3ff0000000000000}}, 0},
        {"max.f16x2 d, a, b;", ROW_32, {{0x3c004000, 0x40003c00, 0, 0x40004000}}, 0},
        {"min.bf16 hd, ha, hb;", ROW_16, {{0x3f80, 0x4000, 0, 0x3f80}}, 0},
        {"abs.f32 d, a;", ROW_32, {{ONE | MINUS, 0, 0, ONE}}, 0},
        {"abs.ftz.f32 d, a;", ROW_32, {{0x80000001, 0, 0, 0}}, 1},
        {"abs.f64 D, A;", ROW_64, {{0xbff0000000000000, 0, 0, 0x3ff0000000000000}}, 0},
        {"abs.bf16x2 d, a;", ROW_32, {{0xbf80bf80, 0, 0, 0x3f803f80}}, 0},
        {"neg.f32 d, a;", ROW_32, {{ONE, 0, 0, ONE | MINUS}}, 0},
        {"neg.f16 hd, ha;", ROW_16, {{0x3c00, 0, 0, 0xbc00}}, 0},
        {"neg.f64 D, A;", ROW_64, {{0, 0, 0, 1ull << 63}}, 0},
        {"copysign.f32 d, a, b;", ROW_32, {{MINUS, ONE, 0, ONE | MINUS}, {ONE, TWO | MINUS, 0, TWO}}, 0},
        {"copysign.f64 D, A, B;", ROW_64, {{1ull << 63, 0x3ff0000000000000, 0, 0xbff0000000000000}}, 0},
    };
    CHECK(rows);
}

/* 1/3 in binary is 0.010101...: rounding up and down differ by one. */
static void quotients(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"div.rn.f32 d, a, b;",
         ROW_32,
         {{ONE, THREE, 0, 0x3eaaaaab}, {ONE, 0, 0, INFINITE}, {0, 0, 0, NOT_A_NUMBER}},
         0},
        {"div.rz.f32 d, a, b;", ROW_32, {{ONE, THREE, 0, 0x3eaaaaaa}}, 0},
        {"div.rm.f32 d, a, b;", ROW_32, {{ONE | MINUS, THREE, 0, 0xbeaaaaab}, {ONE, THREE | MINUS, 0, 0xbeaaaaab}}, 0},
        {"div.rp.f32 d, a, b;", ROW_32, {{ONE, THREE, 0, 0x3eaaaaab}, {ONE, THREE | MINUS, 0, 0xbeaaaaaa}}, 0},
        {"div.rn.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x4008000000000000, 0, 0x3fd5555555555555}}, 0},
        {"div.rp.f64 D, A, B;", ROW_64, {{0x3ff0000000000000, 0x4008000000000000, 0, 0x3fd5555555555556}}, 0},
        {"div.full.f32 d, a, b;", ROW_32, {{TWO, ONE, 0, TWO}}, 0},
        {"rcp.rn.f32 d, a;", ROW_32, {{THREE, 0, 0, 0x3eaaaaab}, {MINUS, 0, 0, INFINITE | MINUS}}, 0},
        {"rcp.rz.f32 d, a;", ROW_32, {{THREE, 0, 0, 0x3eaaaaaa}}, 0},
        {"rcp.approx.ftz.f32 d, a;", ROW_32, {{TWO, 0, 0, 0x3f000000}, {1, 0, 0, INFINITE}}, 0},
        {"rcp.rn.f64 D, A;", ROW_64, {{0x4000000000000000, 0, 0, 0x3fe0000000000000}}, 0},
        {"rcp.approx.ftz.f64 D, A;", ROW_64, {{0x4008000000000000, 0, 0, 0x3fd5555500000000}}, 0},
        {"sqrt.rn.f32 d, a;",
         ROW_32,
         {{TWO, 0, 0, 0x3fb504f3}, {ONE | MINUS, 0, 0, NOT_A_NUMBER}, {MINUS, 0, 0, MINUS}},
         0},
        {"sqrt.rp.f32 d, a;", ROW_32, {{TWO, 0, 0, 0x3fb504f4}}, 0},
        {"sqrt.rm.f32 d, a;", ROW_32, {{TWO, 0, 0, 0x3fb504f3}}, 0},
        {"sqrt.approx.f32 d, a;", ROW_32, {{0x40800000, 0, 0, TWO}}, 0},
        {"sqrt.rn.f64 D, A;", ROW_64, {{0x4010000000000000, 0, 0, 0x4000000000000000}}, 0},
        {"rsqrt.approx.f32 d, a;", ROW_32, {{0x40800000, 0, 0, 0x3f000000}, {0, 0, 0, INFINITE}}, 0},
        {"rsqrt.approx.f64 D, A;", ROW_64, {{0x4010000000000000, 0, 0, 0x3fe0000000000000}}, 0},
    };
    CHECK(rows);
}

/* Values that are exact under any approximation. */
static void functions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"sin.approx.f32 d, a;", ROW_32, {{0, 0, 0, 0}, {INFINITE, 0, 0, NOT_A_NUMBER}}, 0},
        {"cos.approx.f32 d, a;", ROW_32, {{0, 0, 0, ONE}}, 0},
        {"lg2.approx.f32 d, a;",
         ROW_32,
         {{0x41000000, 0, 0, THREE}, {0, 0, 0, INFINITE | MINUS}, {ONE | MINUS, 0, 0, NOT_A_NUMBER}},
         0},
        {"ex2.approx.f32 d, a;", ROW_32, {{THREE, 0, 0, 0x41000000}, {INFINITE | MINUS, 0, 0, 0}}, 2},
        {"ex2.approx.ftz.f32 d, a;", ROW_32, {{0xc3020000, 0, 0, 0}}, 1}, /* 2^-130 is subnormal */
        {"ex2.approx.f16 hd, ha;", ROW_16, {{0x4200, 0, 0, 0x4800}}, 0},
        {"tanh.approx.f32 d, a;", ROW_32, {{0, 0, 0, 0}, {INFINITE, 0, 0, ONE}}, 0},
        {"tanh.approx.bf16x2 d, a;", ROW_32, {{0x7f80ff80, 0, 0, 0x3f80bf80}}, 0},
    };
    CHECK(rows);
}

/* f16 has 11 bits: 2048 + 1 is a tie and stays even, 2050 + 1 goes up to 2052. */
static void halves(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.f16 hd, ha, hb;",
         ROW_16,
         {{0x6800, 0x3c00, 0, 0x6800},
          {0x6801, 0x3c00, 0, 0x6802},
          {0x7bff, 0x7bff, 0, 0x7c00},
          {0x7c00, 0xfc00, 0, 0x7fff}},
         0},
        {"add.f16x2 d, a, b;", ROW_32, {{0x3c004000, 0x3c003c00, 0, 0x40004200}}, 0},
        {"add.sat.f16 hd, ha, hb;", ROW_16, {{0x3c00, 0x3c00, 0, 0x3c00}}, 0},
        {"add.rn.bf16 hd, ha, hb;",
         ROW_16,
         {{0x3f80, 0x3f80, 0, 0x4000}, {0x4380, 0x3f80, 0, 0x4380}},
         0}, /* 256 + 1 */
        {"sub.f16 hd, ha, hb;", ROW_16, {{0x4200, 0x3c00, 0, 0x4000}}, 0},
        {"sub.rn.bf16x2 d, a, b;", ROW_32, {{0x40404040, 0x3f803f80, 0, 0x40004000}}, 0},
        {"mul.f16 hd, ha, hb;",
         ROW_16,
         {{0x4000, 0x4200, 0, 0x4600}, {0x0001, 0x3800, 0, 0}, {0x0003, 0x3800, 0, 2}},
         3},
        {"mul.ftz.f16 hd, ha, hb;", ROW_16, {{0x0400, 0x3800, 0, 0}}, 1},
        {"mul.rn.bf16 hd, ha, hb;", ROW_16, {{0x4000, 0x4040, 0, 0x40c0}}, 0},
    };
    CHECK(rows);
}

/* A program whose own arithmetic rounds down gets the device's all the same, and its own back. */
static void host_rounding_is_not_the_devices(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.f32 d, a, b;", ROW_32, {{ABOVE_ONE, SMALL, 0, 0x3f800002}}, 0},
        {"fma.rn.f32 d, a, b, c;", ROW_32, {{ABOVE_ONE, ONE, SMALL, 0x3f800002}}, 0},
        {"cvt.rni.s32.f32 d, a;", ROW_32, {{0x3fc00000, 0, 0, 2}}, 0},
    };
    assert_int_equal(fesetround(FE_DOWNWARD), 0);
    CHECK(rows);
    assert_int_equal(fegetround(), FE_DOWNWARD);
    fesetround(FE_TONEAREST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding),  cmocka_unit_test(one_rounding), cmocka_unit_test(special_values),
        cmocka_unit_test(quotients), cmocka_unit_test(functions),    cmocka_unit_test(host_rounding_is_not_the_devices),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
