/* integer_test.c - integer arithmetic, a row of the table each; values are worked out by hand or are what PTX defines.
 */
#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define MOST 0x7fffffffu
#define LEAST 0x80000000u
#define ONES 0xffffffffu

static void sums(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.s32 d, a, b;", ROW_32, {{2, 3, 0, 5}, {MOST, 1, 0, LEAST}, {ONES, 1, 0, 0}}, 3},
        {"add.sat.s32 d, a, b;", ROW_32, {{MOST, 1, 0, MOST}, {LEAST, ONES, 0, LEAST}, {5, ONES, 0, 4}}, 0},
        {"add.u64 D, A, B;", ROW_64, {{ONES, 1, 0, 0x100000000}, {UINT64_MAX, 2, 0, 1}}, 0},
        {"add.u16 hd, ha, hb;", ROW_16, {{0xffff, 2, 0, 1}}, 0},
        {"sub.s32 d, a, b;", ROW_32, {{2, 3, 0, ONES}, {LEAST, 1, 0, MOST}}, 0},
        {"sub.sat.s32 d, a, b;", ROW_32, {{LEAST, 1, 0, LEAST}, {MOST, ONES, 0, MOST}}, 0},
        {"sub.s64 D, A, B;", ROW_64, {{0, 1, 0, UINT64_MAX}}, 0},
        {"add.u16x2 d, a, b;", ROW_32, {{0x0001ffff, 0x00020001, 0, 0x00030000}, {0xffff0001, 0x00010002, 0, 3}}, 0},
        {"add.s16x2 d, a, b;", ROW_32, {{0x7fff8000, 0x0001ffff, 0, 0x80007fff}}, 0},
        {"add.u32 d, a, -7;", ROW_32, {{10, 0, 0, 3}}, 0},
    };
    CHECK(rows);
}

/* 64-bit sums and products of 32-bit halves, through the carry. */
static void carries(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"add.cc.u32 e, a, b; addc.u32 d, 0, 0;", ROW_32, {{ONES, 1, 0, 1}, {ONES, 0, 0, 0}, {LEAST, LEAST, 0, 1}}, 0},
        {"sub.cc.u32 e, a, b; subc.u32 d, 5, 0;", ROW_32, {{0, 1, 0, 4}, {1, 1, 0, 5}}, 0},
        {"add.cc.u64 E, A, B; addc.u64 D, 0, 0;", ROW_64, {{UINT64_MAX, 1, 0, 1}, {UINT64_MAX, 0, 0, 0}}, 2},
        {"add.cc.u32 e, a, b; addc.cc.u32 e, a, b; addc.u32 d, 0, 0;", ROW_32, {{ONES, ONES, 0, 1}, {1, 1, 0, 0}}, 0},
        {"mad.lo.cc.u32 e, a, b, c; madc.hi.u32 d, a, b, 0;", ROW_32, {{ONES, 2, 2, 2}, {ONES, 2, 1, 1}}, 0},
        {"sub.cc.u32 e, a, b; subc.cc.u32 e, 0, 0; subc.u32 d, 9, 0;", ROW_32, {{0, 1, 0, 8}, {1, 0, 0, 9}}, 0},
    };
    CHECK(rows);
}

static void products(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mul.lo.s32 d, a, b;", ROW_32, {{7, (uint32_t)-3, 0, (uint32_t)-21}, {0x10001, 0x10001, 0, 0x20001}}, 0},
        {"mul.hi.u32 d, a, b;", ROW_32, {{ONES, ONES, 0, 0xfffffffe}}, 0},
        {"mul.hi.s32 d, a, b;", ROW_32, {{ONES, ONES, 0, 0}, {LEAST, LEAST, 0, 0x40000000}, {ONES, 5, 0, ONES}}, 3},
        {"mul.wide.u32 D, a, b;", ROW_64, {{ONES, ONES, 0, 0xfffffffe00000001}}, 0},
        {"mul.wide.s32 D, a, b;", ROW_64, {{ONES, 3, 0, (uint64_t)-3}}, 0},
        {"mul.wide.u16 d, ha, hb;", ROW_32, {{0xffff, 0xffff, 0, 0xfffe0001}}, 0},
        {"mul.wide.s16 d, ha, hb;", ROW_32, {{0xffff, 0xffff, 0, 1}, {0x8000, 2, 0, 0xffff0000}}, 0},
        {"mul.lo.s64 D, A, B;", ROW_64, {{UINT64_MAX, 9, 0, (uint64_t)-9}}, 0},
        {"mul.hi.u64 D, A, B;", ROW_64, {{UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1}}, 0},
        {"mul.hi.s64 D, A, B;", ROW_64, {{UINT64_MAX, 2, 0, UINT64_MAX}}, 0},
        {"mul.lo.u16 hd, ha, hb;", ROW_16, {{0x1234, 0x100, 0, 0x3400}}, 0},
        {"mul.hi.s16 hd, ha, hb;", ROW_16, {{0x8000, 0x8000, 0, 0x4000}}, 0},
        {"mad.lo.s32 d, a, b, c;", ROW_32, {{3, 4, 5, 17}, {ONES, 1, 1, 0}}, 2},
        {"mad.hi.u32 d, a, b, c;", ROW_32, {{LEAST, 4, 1, 3}}, 0},
        {"mad.hi.sat.s32 d, a, b, c;", ROW_32, {{LEAST, LEAST, MOST, MOST}}, 0},
        {"mad.wide.u32 D, a, b, C;", ROW_64, {{ONES, 2, 3, 0x200000001}}, 0},
        {"mad.wide.s32 D, a, b, C;", ROW_64, {{ONES, 2, 1, UINT64_MAX}}, 0},
        {"mad.lo.u16 hd, ha, hb, hc;", ROW_16, {{3, 5, 1, 16}}, 0},
        {"mul24.lo.u32 d, a, b;", ROW_32, {{0xff000002, 0xff000003, 0, 6}, {0xffffff, 0xffffff, 0, 0xfe000001}}, 0},
        {"mul24.lo.s32 d, a, b;", ROW_32, {{0xffffff, 5, 0, (uint32_t)-5}}, 0},
        {"mul24.hi.u32 d, a, b;", ROW_32, {{0xffffff, 0xffffff, 0, 0xfffffe00}}, 0},
        {"mad24.lo.s32 d, a, b, c;", ROW_32, {{0xffffff, 5, 7, 2}}, 0},
        {"mad24.hi.sat.s32 d, a, b, c;", ROW_32, {{0x7fffff, 0x7fffff, MOST, MOST}}, 0},
    };
    CHECK(rows);
}

/* Division by zero: all ones, and the dividend as the rest, as sm_90 gives it. */
static void quotients(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"div.u32 d, a, b;", ROW_32, {{7, 2, 0, 3}, {7, 0, 0, ONES}, {ONES, 3, 0, 0x55555555}}, 0},
        {"div.s32 d, a, b;", ROW_32, {{(uint32_t)-7, 2, 0, (uint32_t)-3}, {LEAST, ONES, 0, LEAST}, {7, 0, 0, ONES}}, 0},
        {"div.u64 D, A, B;", ROW_64, {{1ull << 40, 3, 0, 366503875925}, {9, 0, 0, UINT64_MAX}}, 0},
        {"div.s64 D, A, B;", ROW_64, {{(uint64_t)-9, 2, 0, (uint64_t)-4}}, 0},
        {"div.s16 hd, ha, hb;", ROW_16, {{0xfff9, 2, 0, 0xfffd}}, 0},
        {"div.u16 hd, ha, hb;", ROW_16, {{0xfff9, 2, 0, 0x7ffc}}, 0},
        {"rem.u32 d, a, b;", ROW_32, {{7, 4, 0, 3}, {7, 0, 0, ONES}}, 0},
        {"rem.s32 d, a, b;", ROW_32, {{(uint32_t)-7, 4, 0, (uint32_t)-3}, {LEAST, ONES, 0, 0}}, 2},
        {"rem.s64 D, A, B;", ROW_64, {{(uint64_t)-7, 4, 0, (uint64_t)-3}}, 0},
        {"rem.u64 D, A, B;", ROW_64, {{1ull << 40, 7, 0, 2}}, 0},
        {"rem.u16 hd, ha, hb;", ROW_16, {{1000, 7, 0, 6}}, 0},
        {"rem.s16 hd, ha, hb;", ROW_16, {{0xfff9, 4, 0, 0xfffd}}, 0},
    };
    CHECK(rows);
}

static void sizes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"abs.s32 d, a;", ROW_32, {{(uint32_t)-5, 0, 0, 5}, {LEAST, 0, 0, LEAST}}, 0},
        {"abs.s64 D, A;", ROW_64, {{(uint64_t)-5, 0, 0, 5}}, 0},
        {"abs.s16 hd, ha;", ROW_16, {{0xfffb, 0, 0, 5}}, 0},
        {"neg.s32 d, a;", ROW_32, {{5, 0, 0, (uint32_t)-5}}, 0},
        {"neg.s64 D, A;", ROW_64, {{5, 0, 0, (uint64_t)-5}}, 0},
        {"neg.s16 hd, ha;", ROW_16, {{5, 0, 0, 0xfffb}}, 0},
        {"min.s32 d, a, b;", ROW_32, {{ONES, 1, 0, ONES}}, 0},
        {"min.u32 d, a, b;", ROW_32, {{ONES, 1, 0, 1}}, 0},
        {"min.u64 D, A, B;", ROW_64, {{UINT64_MAX, 1, 0, 1}}, 0},
        {"min.s16 hd, ha, hb;", ROW_16, {{0xffff, 1, 0, 0xffff}}, 0},
        {"min.relu.s32 d, a, b;", ROW_32, {{(uint32_t)-5, 3, 0, 0}, {5, 3, 0, 3}}, 0},
        {"min.u16x2 d, a, b;", ROW_32, {{0xffff0005, 0x00010006, 0, 0x00010005}}, 0},
        {"min.s16x2 d, a, b;", ROW_32, {{0xffff0005, 0x00010006, 0, 0xffff0005}}, 0},
        {"min.relu.s16x2 d, a, b;", ROW_32, {{0xffff0005, 0x00010006, 0, 5}}, 0},
        {"max.u16x2 d, a, b;", ROW_32, {{0xffff0005, 0x00010006, 0, 0xffff0006}}, 0},
        {"max.s16x2 d, a, b;", ROW_32, {{0xffff8000, 0x0001fffe, 0, 0x0001fffe}}, 0},
        {"max.relu.s16x2 d, a, b;", ROW_32, {{0xffff8000, 0x0001fffe, 0, 0x00010000}}, 0},
        {"max.s32 d, a, b;", ROW_32, {{ONES, 1, 0, 1}}, 0},
        {"max.u32 d, a, b;", ROW_32, {{ONES, 1, 0, ONES}}, 0},
        {"max.s64 D, A, B;", ROW_64, {{UINT64_MAX, 1, 0, 1}}, 0},
        {"max.u16 hd, ha, hb;", ROW_16, {{0xffff, 1, 0, 0xffff}}, 0},
        {"max.relu.s32 d, a, b;", ROW_32, {{(uint32_t)-5, (uint32_t)-3, 0, 0}, {5, 3, 0, 5}}, 2},
        {"sad.u32 d, a, b, c;", ROW_32, {{1, 9, 100, 108}, {9, 1, 100, 108}}, 0},
        {"sad.s32 d, a, b, c;", ROW_32, {{ONES, 9, 100, 110}}, 0},
        {"sad.u64 D, A, B, C;", ROW_64, {{1, 9, 100, 108}}, 0},
        {"vabsdiff2.u32.u32.u32 d, a, b, c;", ROW_32, {{0x00010005, 0x00030001, 7, 0x00020004}, {0, ONES, 0, ONES}}, 0},
        {"vabsdiff2.u32.u32.u32.add d, a, b, c;", ROW_32, {{0x00010005, 0x00030001, 7, 7 + 2 + 4}}, 0},
        {"vabsdiff4.u32.u32.u32 d, a, b, c;", ROW_32, {{0x01ff8000, 0x03008001, 7, 0x02ff0001}}, 0},
        {"vabsdiff4.u32.u32.u32.add d, a, b, c;", ROW_32, {{0x01ff8000, 0x03008001, 7, 7 + 2 + 255 + 1}}, 0},
        {"dp2a.lo.u32.u32 d, a, b, c;", ROW_32, {{0x00030002, 0xffff0705, 10, 10 + 10 + 21}}, 0},
        {"dp2a.hi.u32.u32 d, a, b, c;", ROW_32, {{0x00030002, 0x0705ffff, 10, 10 + 10 + 21}}, 0},
        {"dp2a.lo.s32.s32 d, a, b, c;", ROW_32, {{0xffff8000, 0x00000180, 0, 32768 * 128 - 1}}, 0},
        {"dp2a.hi.s32.u32 d, a, b, c;", ROW_32, {{0xfffe0001, 0xff030000, 5, (uint32_t)(5 + 3 - 2 * 255)}}, 0},
        {"dp2a.lo.u32.s32 d, a, b, c;", ROW_32, {{0xffff0001, 0x0000ff02, 0, (uint32_t)(2 - 65535)}}, 0},
        {"dp4a.u32.u32 d, a, b, c;", ROW_32, {{0x01020304, 0x05060708, 10, 10 + 5 + 12 + 21 + 32}}, 0},
        {"dp4a.s32.u32 d, a, b, c;", ROW_32, {{0xff000001, 0x02000003, 0, 1}}, 0},
        {"dp4a.s32.s32 d, a, b, c;", ROW_32, {{0x80808080, 0x80808080, 1, 65537}}, 0},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),      cmocka_unit_test(carries), cmocka_unit_test(products),
        cmocka_unit_test(quotients), cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
