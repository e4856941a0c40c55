/* bits_test.c - logic, shifts, fields, counts and byte permutation, a row of the table each. */
#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define ONES 0xffffffffu

static void logic(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"and.b32 d, a, b;", ROW_32, {{0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00}}, 0},
        {"and.b64 D, A, 0xff;", ROW_64, {{0x123456789, 0, 0, 0x89}}, 0},
        {"or.b32 d, a, b;", ROW_32, {{0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0}}, 0},
        {"or.b16 hd, ha, hb;", ROW_16, {{0xf000, 0x000f, 0, 0xf00f}}, 0},
        {"xor.b32 d, a, b;", ROW_32, {{0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0}}, 0},
        {"xor.b64 D, A, B;", ROW_64, {{UINT64_MAX, 1, 0, UINT64_MAX - 1}}, 0},
        {"not.b32 d, a;", ROW_32, {{0xff00ff00, 0, 0, 0x00ff00ff}}, 0},
        {"not.b16 hd, ha;", ROW_16, {{0xff00, 0, 0, 0x00ff}}, 0},
        {"cnot.b32 d, a;", ROW_32, {{0, 0, 0, 1}, {5, 0, 0, 0}}, 2},
        {"cnot.b16 hd, ha;", ROW_16, {{0, 0, 0, 1}, {0x10000, 0, 0, 1}, {5, 0, 0, 0}}, 3},
        {"cnot.b64 D, A;", ROW_64, {{0, 0, 0, 1}, {1ull << 40, 0, 0, 0}}, 2},
        {"setp.ne.u32 r, a, 0; and.pred p, r, q;", ROW_PREDICATE, {{1, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, 0}}, 3},
        {"setp.ne.u32 r, a, 0; or.pred p, r, q;", ROW_PREDICATE, {{0, 0, 0, 0}, {1, 0, 0, 1}, {0, 0, 1, 1}}, 3},
        {"setp.ne.u32 r, a, 0; xor.pred p, r, q;", ROW_PREDICATE, {{1, 0, 1, 0}, {1, 0, 0, 1}}, 0},
        {"not.pred p, q;", ROW_PREDICATE, {{0, 0, 1, 0}, {0, 0, 0, 1}}, 2},
        {"lop3.b32 d, a, b, c, 0xca;", ROW_32, {{0xff00ff00, 0x12345678, 0x9abcdef0, 0x12bc56f0}}, 0}, /* a ? b : c */
        {"lop3.b32 d, a, b, c, 0x96;", ROW_32, {{1, 3, 7, 5}}, 0},                                     /* a ^ b ^ c */
        {"lop3.or.b32 e|p, a, b, c, 0x80, q;", ROW_PREDICATE, {{1, 1, 1, 1}, {1, 2, 3, 1}, {1, 2, 2, 0}}, 3},
        {"lop3.and.b32 _|p, a, b, c, 0x80, q;", ROW_PREDICATE, {{1, 1, 1, 1}, {2, 2, 2, 0}}, 2},
    };
    CHECK(rows);
}

/* An amount of the width or more leaves nothing, or the sign. */
static void shifts(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"shl.b32 d, a, b;", ROW_32, {{3, 4, 0, 48}, {1, 31, 0, 0x80000000}, {1, 32, 0, 0}, {1, ONES, 0, 0}}, 4},
        {"shl.b64 D, A, b;", ROW_64, {{3, 40, 0, 3ull << 40}, {1, 64, 0, 0}}, 2},
        {"shl.b16 hd, ha, b;", ROW_16, {{0xffff, 8, 0, 0xff00}, {1, 16, 0, 0}}, 2},
        {"shr.u32 d, a, b;", ROW_32, {{0x80000000, 31, 0, 1}, {ONES, 32, 0, 0}, {ONES, 256, 0, 0}}, 3},
        {"shr.b32 d, a, b;", ROW_32, {{0x80000000, 4, 0, 0x08000000}}, 0},
        {"shr.s32 d, a, b;", ROW_32, {{0x80000000, 31, 0, ONES}, {0x80000000, 99, 0, ONES}, {64, 3, 0, 8}}, 0},
        {"shr.u64 D, A, b;", ROW_64, {{1ull << 63, 63, 0, 1}, {1ull << 63, 64, 0, 0}}, 2},
        {"shr.s64 D, A, b;", ROW_64, {{1ull << 63, 63, 0, UINT64_MAX}, {1ull << 63, 1000, 0, UINT64_MAX}}, 0},
        {"shr.u16 hd, ha, b;", ROW_16, {{0x8000, 15, 0, 1}, {0x8000, 16, 0, 0}}, 2},
        {"shr.s16 hd, ha, b;", ROW_16, {{0x8000, 15, 0, 0xffff}, {0x8000, 99, 0, 0xffff}}, 0},
        {"shf.l.clamp.b32 d, a, b, c;",
         ROW_32,
         {{0xaabbccdd, 0x11223344, 8, 0x223344aa}, {1, 2, 32, 1}, {1, 2, 99, 1}},
         0},
        {"shf.l.wrap.b32 d, a, b, c;", ROW_32, {{0xaabbccdd, 0x11223344, 40, 0x223344aa}}, 0},
        {"shf.r.clamp.b32 d, a, b, c;", ROW_32, {{0xaabbccdd, 0x11223344, 8, 0x44aabbcc}, {1, 2, 32, 2}}, 0},
        {"shf.r.wrap.b32 d, a, b, c;", ROW_32, {{0xaabbccdd, 0x11223344, 32, 0xaabbccdd}}, 0},
    };
    CHECK(rows);
}

static void counts(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"popc.b32 d, a;", ROW_32, {{0xf00f, 0, 0, 8}, {ONES, 0, 0, 32}}, 0},
        {"popc.b64 d, A;", ROW_32, {{UINT64_MAX, 0, 0, 64}}, 0},
        {"clz.b32 d, a;", ROW_32, {{1, 0, 0, 31}, {0, 0, 0, 32}}, 0},
        {"clz.b64 d, A;", ROW_32, {{1, 0, 0, 63}, {0, 0, 0, 64}}, 0},
        {"brev.b32 d, a;", ROW_32, {{1, 0, 0, 0x80000000}, {0xc0000001, 0, 0, 0x80000003}}, 0},
        {"brev.b64 D, A;", ROW_64, {{1, 0, 0, 1ull << 63}}, 0},
        {"bfind.u32 d, a;", ROW_32, {{0x1000, 0, 0, 12}, {0, 0, 0, ONES}}, 0},
        {"bfind.s32 d, a;", ROW_32, {{(uint32_t)-5, 0, 0, 2}, {ONES, 0, 0, ONES}, {4, 0, 0, 2}}, 0},
        {"bfind.shiftamt.u32 d, a;", ROW_32, {{0x1000, 0, 0, 19}, {0, 0, 0, ONES}}, 0},
        {"bfind.u64 d, A;", ROW_32, {{1ull << 40, 0, 0, 40}}, 0},
        {"bfind.s64 d, A;", ROW_32, {{UINT64_MAX - 8, 0, 0, 3}}, 0},
        {"fns.b32 d, a, b, c;",
         ROW_32,
         {{0xf0, 0, 1, 4}, {0xf0, 0, 3, 6}, {0xf0, 31, (uint32_t)-1, 7}, {0xf0, 4, 0, 4}, {0xf0, 3, 0, ONES}},
         0},
    };
    CHECK(rows);
}

static void fields(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"bfe.u32 d, a, b, c;",
         ROW_32,
         {{0x12345678, 8, 8, 0x56}, {0x12345678, 28, 8, 1}, {ONES, 32, 4, 0}, {ONES, 0, 0, 0}},
         4},
        {"bfe.s32 d, a, b, c;",
         ROW_32,
         {{0x80, 4, 4, 0xfffffff8}, {0x80000000, 31, 9, ONES}, {0x80000000, 40, 1, ONES}},
         0},
        {"bfe.u64 D, A, b, c;", ROW_64, {{0x123456789abcdef0, 32, 16, 0x5678}, {UINT64_MAX, 0, 64, UINT64_MAX}}, 0},
        {"bfe.s64 D, A, b, c;", ROW_64, {{0x8000000000000000, 60, 4, 0xfffffffffffffff8}}, 0},
        {"bfi.b32 d, a, 0x11111111, b, c;",
         ROW_32,
         {{0xff, 8, 8, 0x1111ff11}, {0xff, 28, 8, 0xf1111111}, {0xff, 32, 8, 0x11111111}, {0xff, 3, 0, 0x11111111}},
         0},
        {"bfi.b64 D, A, B, 32, 8;", ROW_64, {{0xff, 0x1111111111111111, 0, 0x111111ff11111111}}, 0},
    };
    CHECK(rows);
}

static void masks_and_widths(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"bmsk.clamp.b32 d, a, b;",
         ROW_32,
         {{4, 8, 0, 0xff0},
          {28, 8, 0, 0xf0000000},
          {0, 32, 0, ONES},
          {5, 40, 0, 0xffffffe0},
          {32, 1, 0, 0},
          {40, 8, 0, 0},
          {3, 0, 0, 0},
          {31, 1, 0, 0x80000000}},
         8},
        {"bmsk.wrap.b32 d, a, b;",
         ROW_32,
         {{36, 8, 0, 0xff0}, {4, 40, 0, 0xff0}, {0, 32, 0, 0}, {28, 31, 0, 0xf0000000}},
         4},
        {"szext.clamp.s32 d, a, b;",
         ROW_32,
         {{0x1234, 8, 0, 0x34},
          {0x1294, 8, 0, 0xffffff94},
          {0x89abcdef, 32, 0, 0x89abcdef},
          {0x89abcdef, 77, 0, 0x89abcdef},
          {ONES, 0, 0, 0},
          {1, 1, 0, ONES}},
         6},
        {"szext.clamp.u32 d, a, b;", ROW_32, {{0x1294, 8, 0, 0x94}, {ONES, 0, 0, 0}, {ONES, 31, 0, 0x7fffffff}}, 3},
        {"szext.wrap.s32 d, a, b;", ROW_32, {{0x1294, 40, 0, 0xffffff94}, {ONES, 32, 0, 0}}, 2},
        {"szext.wrap.u32 d, a, b;", ROW_32, {{0x1294, 40, 0, 0x94}, {ONES, 31, 0, 0x7fffffff}}, 2},
    };
    CHECK(rows);
}

static void bytes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* bytes 0-3 are a's, 4-7 b's; bit 3 of a selector repeats the sign */
        {"prmt.b32 d, a, b, c;",
         ROW_32,
         {{0x33221100, 0x77665544, 0x7410, 0x77441100},
          {0x33228100, 0x77665544, 0x9999, ONES},
          {0x33221100, 0, 0x3333, 0x33333333}},
         0},
        {"prmt.b32.f4e d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 1, 0x44332211}}, 0},
        {"prmt.b32.b4e d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 1, 0x66770011}}, 0},
        {"prmt.b32.rc8 d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 2, 0x22222222}}, 0},
        {"prmt.b32.ecl d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 1, 0x33221111}}, 0},
        {"prmt.b32.ecr d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 2, 0x22221100}}, 0},
        {"prmt.b32.rc16 d, a, b, c;", ROW_32, {{0x33221100, 0x77665544, 1, 0x33223322}}, 0},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logic),  cmocka_unit_test(shifts),
        cmocka_unit_test(counts), cmocka_unit_test(masks_and_widths),
        cmocka_unit_test(fields), cmocka_unit_test(bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
