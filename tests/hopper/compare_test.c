/* compare_test.c - setp, set, selp, slct, testp: every comparison of integers, floats and NaN. */
#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define ONES 0xffffffffu
#define ONE 0x3f800000u /* floats */
#define TWO 0x40000000u
#define NAN32 0x7fc00000u
#define MINUS_0 0x80000000u
#define HALF_1 0x3c00u /* f16 */
#define HALF_2 0x4000u
#define HALF_NAN 0x7e00u

static void integers(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"setp.eq.s32 p, a, b;", ROW_PREDICATE, {{5, 5, 0, 1}, {5, 6, 0, 0}}, 2},
        {"setp.ne.b64 p, A, B;", ROW_PREDICATE, {{1ull << 32, 0, 0, 1}, {7, 7, 0, 0}}, 2},
        {"setp.lt.s32 p, a, b;", ROW_PREDICATE, {{ONES, 0, 0, 1}, {0, ONES, 0, 0}, {1, 1, 0, 0}}, 3},
        {"setp.lt.u32 p, a, b;", ROW_PREDICATE, {{ONES, 0, 0, 0}, {0, ONES, 0, 1}}, 2},
        {"setp.le.s64 p, A, B;", ROW_PREDICATE, {{UINT64_MAX, 0, 0, 1}, {1, 1, 0, 1}, {1, 0, 0, 0}}, 3},
        {"setp.gt.u64 p, A, B;", ROW_PREDICATE, {{UINT64_MAX, 0, 0, 1}, {1, 1, 0, 0}}, 2},
        {"setp.ge.s16 p, ha, hb;", ROW_PREDICATE, {{0xffff, 0, 0, 0}, {0x10001, 1, 0, 1}}, 2},
        {"setp.lt.u16 p, ha, hb;", ROW_PREDICATE, {{0xffff, 0, 0, 0}, {0, 0xffff, 0, 1}}, 2},
        {"setp.lo.u32 p, a, b;", ROW_PREDICATE, {{0, ONES, 0, 1}}, 0},
        {"setp.ls.u32 p, a, b;", ROW_PREDICATE, {{5, 5, 0, 1}}, 0},
        {"setp.hi.u32 p, a, b;", ROW_PREDICATE, {{ONES, 0, 0, 1}}, 0},
        {"setp.hs.u32 p, a, b;", ROW_PREDICATE, {{5, 5, 0, 1}}, 0},
        {"setp.eq.and.s32 p, a, b, q;", ROW_PREDICATE, {{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 2, 1, 0}}, 3},
        {"setp.eq.or.s32 p, a, b, !q;", ROW_PREDICATE, {{1, 2, 0, 1}, {1, 2, 1, 0}, {1, 1, 1, 1}}, 0},
        {"setp.eq.xor.s32 p, a, b, q;", ROW_PREDICATE, {{1, 1, 1, 0}, {1, 2, 1, 1}}, 0},
        {"setp.eq.s32 r|p, a, b;", ROW_PREDICATE, {{1, 1, 0, 0}, {1, 2, 0, 1}}, 2},
        {"setp.eq.and.s32 r|p, a, b, q;", ROW_PREDICATE, {{1, 2, 1, 1}, {1, 2, 0, 0}}, 2},
    };
    CHECK(rows);
}

/* With a NaN the ordered comparisons are false and the unordered ones true. */
static void floats(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"setp.eq.f32 p, a, b;", ROW_PREDICATE, {{0, MINUS_0, 0, 1}, {NAN32, NAN32, 0, 0}}, 2},
        {"setp.ne.f32 p, a, b;", ROW_PREDICATE, {{ONE, TWO, 0, 1}, {NAN32, ONE, 0, 0}}, 2},
        {"setp.lt.f32 p, a, b;", ROW_PREDICATE, {{ONE, TWO, 0, 1}, {TWO, ONE, 0, 0}, {NAN32, ONE, 0, 0}}, 3},
        {"setp.le.f32 p, a, b;", ROW_PREDICATE, {{ONE, ONE, 0, 1}, {ONE, NAN32, 0, 0}}, 2},
        {"setp.gt.f32 p, a, b;", ROW_PREDICATE, {{TWO, ONE, 0, 1}, {NAN32, ONE, 0, 0}}, 2},
        {"setp.ge.f32 p, a, b;", ROW_PREDICATE, {{ONE, ONE, 0, 1}, {NAN32, ONE, 0, 0}}, 2},
        {"setp.equ.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {ONE, TWO, 0, 0}}, 2},
        {"setp.neu.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {ONE, ONE, 0, 0}}, 2},
        {"setp.ltu.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {TWO, ONE, 0, 0}}, 2},
        {"setp.leu.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {TWO, ONE, 0, 0}}, 2},
        {"setp.gtu.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {ONE, ONE, 0, 0}}, 2},
        {"setp.geu.f32 p, a, b;", ROW_PREDICATE, {{NAN32, ONE, 0, 1}, {ONE, TWO, 0, 0}}, 2},
        {"setp.num.f32 p, a, b;", ROW_PREDICATE, {{ONE, TWO, 0, 1}, {ONE, NAN32, 0, 0}}, 2},
        {"setp.nan.f32 p, a, b;", ROW_PREDICATE, {{ONE, TWO, 0, 0}, {ONE, NAN32, 0, 1}}, 2},
        {"setp.gt.ftz.f32 p, a, b;", ROW_PREDICATE, {{1, 0, 0, 0}, {ONE, 0, 0, 1}}, 2}, /* a subnormal number is 0 */
        {"setp.gt.f32 p, a, b;", ROW_PREDICATE, {{1, 0, 0, 1}}, 0},
        {"setp.lt.f64 p, A, B;", ROW_PREDICATE, {{0x3ff0000000000000, 0x4000000000000000, 0, 1}}, 0},
        {"setp.lt.f16 p, ha, hb;", ROW_PREDICATE, {{HALF_1, HALF_2, 0, 1}, {HALF_NAN, HALF_2, 0, 0}}, 2},
        {"setp.gt.bf16 p, ha, hb;", ROW_PREDICATE, {{0x4000, 0x3f80, 0, 1}}, 0},
        {"setp.lt.f16x2 p|r, a, b;", ROW_PREDICATE, {{HALF_2 << 16 | HALF_1, HALF_1 << 16 | HALF_2, 0, 1}}, 0},
        {"setp.lt.f16x2 r|p, a, b;", ROW_PREDICATE, {{HALF_2 << 16 | HALF_1, HALF_1 << 16 | HALF_2, 0, 0}}, 1},
    };
    CHECK(rows);
}

static void choices(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"set.lt.u32.s32 d, a, b;", ROW_32, {{ONES, 0, 0, ONES}, {0, ONES, 0, 0}}, 2},
        {"set.lt.f32.f32 d, a, b;", ROW_32, {{ONE, TWO, 0, ONE}, {TWO, ONE, 0, 0}}, 2},
        {"set.eq.and.s32.u32 d, a, b, q;", ROW_32, {{1, 1, 1, ONES}, {1, 1, 0, 0}}, 2},
        {"set.lt.f16x2.f16x2 d, a, b;", ROW_32, {{HALF_2 << 16 | HALF_1, HALF_1 << 16 | HALF_2, 0, HALF_1}}, 0},
        {"selp.b32 d, a, b, q;", ROW_32, {{10, 20, 1, 10}, {10, 20, 0, 20}}, 0},
        {"selp.f64 D, A, B, q;", ROW_64, {{10, 20, 1, 10}, {10, 20, 0, 20}}, 0},
        {"selp.u16 hd, ha, hb, q;", ROW_16, {{10, 20, 1, 10}, {10, 20, 0, 20}}, 0},
        {"slct.u32.s32 d, a, b, c;", ROW_32, {{10, 20, 0, 10}, {10, 20, ONES, 20}}, 0},
        {"slct.u64.f32 D, A, B, c;", ROW_64, {{10, 20, MINUS_0, 10}, {10, 20, NAN32, 20}, {10, 20, 0xbf800000, 20}}, 0},
        {"slct.ftz.u32.f32 d, a, b, c;", ROW_32, {{10, 20, 0x80000001, 10}}, 0},
        {"testp.finite.f32 p, a;", ROW_PREDICATE, {{ONE, 0, 0, 1}, {0x7f800000, 0, 0, 0}, {NAN32, 0, 0, 0}}, 3},
        {"testp.infinite.f32 p, a;", ROW_PREDICATE, {{0xff800000, 0, 0, 1}, {ONE, 0, 0, 0}}, 2},
        {"testp.number.f64 p, A;", ROW_PREDICATE, {{0x7ff0000000000000, 0, 0, 1}, {0x7ff8000000000000, 0, 0, 0}}, 2},
        {"testp.notanumber.f32 p, a;", ROW_PREDICATE, {{NAN32, 0, 0, 1}, {ONE, 0, 0, 0}}, 2},
        {"testp.normal.f32 p, a;", ROW_PREDICATE, {{ONE, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, 0, 1}}, 3},
        {"testp.subnormal.f32 p, a;", ROW_PREDICATE, {{1, 0, 0, 1}, {0, 0, 0, 0}, {ONE, 0, 0, 0}}, 3},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
