/* move_test.c - mov and packing, addresses, loads, stores and atomics of single lanes; a row of the table each. */
#include "hopper/rows.h"

#define CHECK(rows) rows_check(rows, sizeof rows / sizeof *rows)
#define ONES 0xffffffffu

static void moves(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mov.b32 d, a;", ROW_32, {{0x12345678, 0, 0, 0x12345678}}, 0},
        {"mov.u64 D, 0x123456789abcdef0;", ROW_64, {{0, 0, 0, 0x123456789abcdef0}}, 0},
        {"mov.f32 d, 0f3F800000;", ROW_32, {{0, 0, 0, 0x3f800000}}, 0},
        {"mov.u32 d, %laneid;", ROW_32, {{0, 0, 0, 0}, {0, 0, 0, 1}}, 0},
        {"mov.pred p, q;", ROW_PREDICATE, {{0, 0, 1, 1}, {0, 0, 0, 0}}, 2},
        {"mov.b64 D, {a, b};", ROW_64, {{1, 2, 0, 0x200000001}}, 0},
        {"mov.b64 {e, d}, A;", ROW_32, {{0x200000001, 0, 0, 2}}, 0},
        {"mov.b64 {d, _}, A;", ROW_32, {{0x200000001, 0, 0, 1}}, 0},
        {"mov.b32 d, {ha, hb};", ROW_32, {{0x1111, 0x2222, 0, 0x22221111}}, 0},
        {"mov.b32 {he, hd}, a;", ROW_16, {{0x22221111, 0, 0, 0x2222}}, 0},
        {"mov.b64 D, {ha, hb, hc, ha};", ROW_64, {{1, 2, 3, 0x0001000300020001}}, 0},
        {"mov.b64 {he, hf, hd, he}, A;", ROW_16, {{0x0004000300020001, 0, 0, 3}}, 0},
        {"brkpt; mov.b32 d, a;", ROW_32, {{7, 0, 0, 7}}, 0},
        {"createpolicy.fractional.L2::evict_last.b64 D, 1.0; mov.b64 D, 7;", ROW_64, {{0, 0, 0, 7}}, 0},
    };
    CHECK(rows);
}

/* Generic addresses lead back to where they came from, and isspacep knows whose they are. */
static void addresses(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {".shared .b32 word; mov.u32 e, word; cvt.u64.u32 E, e; cvta.shared.u64 F, E; cvta.to.shared.u64 D, F; sub.u64 "
         "D, D, E;",
         ROW_64,
         {{0, 0, 0, 0}},
         1},
        {".shared .b32 word; mov.u32 e, word; cvt.u64.u32 E, e; cvta.shared.u64 F, E; isspacep.shared p, F;",
         ROW_PREDICATE,
         {{0, 0, 0, 1}},
         0},
        {".shared .b32 word; mov.u32 e, word; cvt.u64.u32 E, e; cvta.shared.u64 F, E; isspacep.shared::cluster p, F;",
         ROW_PREDICATE,
         {{0, 0, 0, 1}},
         0},
        {".shared .b32 word; mov.u32 e, word; cvt.u64.u32 E, e; cvta.shared.u64 F, E; isspacep.global p, F;",
         ROW_PREDICATE,
         {{0, 0, 0, 0}},
         1},
        {"cvta.to.global.u64 E, to; isspacep.global p, E;", ROW_PREDICATE, {{0, 0, 0, 1}}, 0},
        {"isspacep.local p, to;", ROW_PREDICATE, {{0, 0, 0, 0}}, 1},
        {".local .b32 word; mov.u64 E, word; cvta.local.u64 F, E; isspacep.local p, F;",
         ROW_PREDICATE,
         {{0, 0, 0, 1}},
         0},
        {"mov.b64 E, in; cvta.param.u64 F, E; ld.u64 F, [F]; cvta.to.global.u64 F, F; sub.u64 D, at, F;",
         ROW_64,
         {{0, 0, 0, 0}, {0, 0, 0, 32}},
         2},
    };
    CHECK(rows);
}

/* Narrow values are widened by their type; a vector's first element is at the lowest address. */
static void loads_and_stores(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"ld.global.u8 d, [at];", ROW_32, {{0x1280, 0, 0, 0x80}}, 0},
        {"ld.global.s8 d, [at];", ROW_32, {{0x1280, 0, 0, 0xffffff80}}, 0},
        {"ld.global.s16 D, [at];", ROW_64, {{0x8000, 0, 0, 0xffffffffffff8000}}, 0},
        {"ld.global.u32 D, [at];", ROW_64, {{0xfffffffff, 0, 0, ONES}}, 0},
        {"ld.u32 d, [at+4];", ROW_32, {{0x500000001, 0, 0, 5}}, 0},
        {"ld.global.nc.v2.u32 {d, e}, [at];", ROW_32, {{0x500000001, 0, 0, 1}}, 0},
        {"ld.global.v4.u32 {e, f, e, d}, [at];", ROW_32, {{1, 0x700000003, 0, 7}}, 0},
        {"ld.volatile.global.v2.u64 {E, D}, [at];", ROW_64, {{1, 2, 0, 2}}, 0},
        {"ld.relaxed.gpu.global.b64 D, [at];", ROW_64, {{UINT64_MAX, 0, 0, UINT64_MAX}}, 0},
        {"ldu.global.u32 d, [at];", ROW_32, {{9, 0, 0, 9}}, 0},
        {"st.global.u8 [at], b; ld.global.u32 d, [at];", ROW_32, {{0x11111111, 0x222222ff, 0, 0x111111ff}}, 0},
        {"st.global.u16 [at], B; ld.global.u32 d, [at];", ROW_32, {{0x11111111, 0x22222222, 0, 0x11112222}}, 0},
        {"st.global.v2.u32 [at], {b, c}; ld.global.u64 D, [at];", ROW_64, {{0, 1, 2, 0x200000001}}, 0},
        {"st.global.v4.f32 [at], {b, c, b, c}; ld.global.u64 D, [at+8];", ROW_64, {{0, 1, 2, 0x200000001}}, 0},
        {"st.release.gpu.global.u32 [at], 77; ld.acquire.gpu.global.u32 d, [at];", ROW_32, {{0, 0, 0, 77}}, 0},
        {".shared .align 8 .b8 tile[256]; mov.u32 e, tile; shl.b32 f, lane, 3; add.u32 e, e, f; st.shared.u64 [e], A; "
         "ld.shared.u32 d, [e+4];",
         ROW_32,
         {{0x700000001, 0, 0, 7}, {0x800000001, 0, 0, 8}},
         0},
        {".local .align 8 .b8 own[16]; st.local.u64 [own+8], A; ld.local.u64 D, [own+8];",
         ROW_64,
         {{3, 0, 0, 3}, {4, 0, 0, 4}},
         0},
        {"prefetch.global.L2 [at]; prefetchu.L1 [at]; applypriority.global.L2::evict_normal [at], 128; mov.b32 d, a;",
         ROW_32,
         {{5, 0, 0, 5}},
         0},
        {"discard.global.L2 [to], 128; fence.acq_rel.gpu; membar.gl; fence.proxy.async.shared::cta; mov.b32 d, a;",
         ROW_32,
         {{5, 0, 0, 5}},
         0},
    };
    CHECK(rows);
}

static void atomics(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* the result is memory's value before */
        {"atom.global.add.u32 d, [at], b;", ROW_32, {{5, 3, 0, 5}}, 0},
        {"atom.global.add.u32 e, [at], b; ld.global.u32 d, [at];", ROW_32, {{5, 3, 0, 8}}, 0},
        {"atom.add.u64 E, [at], B; ld.global.u64 D, [at];", ROW_64, {{ONES, 1, 0, 0x100000000}}, 0},
        {"red.global.add.f32 [at], b; ld.global.u32 d, [at];", ROW_32, {{0x3f800000, 0x40000000, 0, 0x40400000}}, 0},
        {"red.global.add.f64 [at], B; ld.global.u64 D, [at];",
         ROW_64,
         {{0x3ff0000000000000, 0x3ff0000000000000, 0, 0x4000000000000000}},
         0},
        {"red.global.add.noftz.f16x2 [at], b; ld.global.u32 d, [at];",
         ROW_32,
         {{0x3c003c00, 0x3c000000, 0, 0x40003c00}},
         0},
        {"red.global.add.noftz.bf16x2 [at], b; ld.global.u32 d, [at];",
         ROW_32,
         {{0x3f803f80, 0x3f800000, 0, 0x40003f80}},
         0},
        {"atom.global.min.s32 e, [at], b; ld.global.u32 d, [at];", ROW_32, {{5, ONES, 0, ONES}}, 0},
        {"atom.global.min.u32 e, [at], b; ld.global.u32 d, [at];", ROW_32, {{5, ONES, 0, 5}}, 0},
        {"atom.global.max.s64 E, [at], B; ld.global.u64 D, [at];", ROW_64, {{5, UINT64_MAX, 0, 5}}, 0},
        {"atom.global.max.u64 E, [at], B; ld.global.u64 D, [at];", ROW_64, {{5, UINT64_MAX, 0, UINT64_MAX}}, 0},
        {"atom.global.inc.u32 e, [at], b; ld.global.u32 d, [at];", ROW_32, {{5, 7, 0, 6}, {7, 7, 0, 0}}, 2},
        {"atom.global.dec.u32 e, [at], b; ld.global.u32 d, [at];",
         ROW_32,
         {{5, 7, 0, 4}, {0, 7, 0, 7}, {9, 7, 0, 7}},
         0},
        {"atom.global.and.b32 e, [at], b; ld.global.u32 d, [at];", ROW_32, {{0xff, 0x0f, 0, 0x0f}}, 0},
        {"atom.global.or.b64 E, [at], B; ld.global.u64 D, [at];", ROW_64, {{0xf0, 0x0f, 0, 0xff}}, 0},
        {"red.global.xor.b32 [at], b; ld.global.u32 d, [at];", ROW_32, {{0xff, 0x0f, 0, 0xf0}}, 0},
        {"atom.global.exch.b32 e, [at], b; ld.global.u32 d, [at]; add.u32 d, d, e;", ROW_32, {{5, 9, 0, 14}}, 0},
        {"atom.global.cas.b32 e, [at], b, c; ld.global.u32 d, [at];", ROW_32, {{5, 5, 9, 9}, {5, 6, 9, 5}}, 0},
        {"atom.global.cas.b64 E, [at], B, C; ld.global.u64 D, [at];", ROW_64, {{5, 5, 9, 9}}, 0},
        {"atom.global.cas.b16 he, [at], hb, hc; ld.global.u16 hd, [at];", ROW_16, {{5, 5, 9, 9}}, 0},
        {"atom.global.add.v2.f32 {e, d}, [at], {b, b}; ld.global.u32 d, [at+4];",
         ROW_32,
         {{0x400000003f800000, 0x3f800000, 0, 0x40400000}},
         0},
        {"red.global.add.v2.f32 [at], {b, b}; ld.global.u32 d, [at];",
         ROW_32,
         {{0x400000003f800000, 0x3f800000, 0, 0x40000000}},
         0},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),
        cmocka_unit_test(addresses),
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
