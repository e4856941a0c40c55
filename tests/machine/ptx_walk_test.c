/* ptx_walk_test.c - the walks of a warp's lanes through kernels in PTX: numbers of 64 and 16 bits, parameters by
 * address and several at once, branches by a table, places in a cluster, and lanes that do different things.
 *
 * Expected text: see ptx_walks.h.
 */
#include "ptx_walks.h"

#include <stdio.h>
#include <stdlib.h>

/* %d0 and %d1 are the second and the first number of `pair`; the body makes %r0. */
#define KERNEL_OF_PAIR(body) KERNEL("ld.param.u64 %d0, [pair+8];\nld.param.u64 %d1, [pair];\n" body INIT("r0"))

static void expect(const char *text, const char *expected)
{
    ptx_walks_expect(text, expected);
}

#define ALL "lanes ffffffff:"

/* Each "init 0x400" of the expected text tells a number that the kernel made. */
static void parameters_are_read_by_address_and_several_at_once(void **state)
{
    (void)state;
    expect(KERNEL("mov.b64 %d0, pair;\n"
                  "add.s64 %d1, %d0, 24;\n"
                  "ld.param.v2.u32 {%r0, %r1}, [%d1+-8];\n" /* the first two words of `tail` */
                  "ld.param.v4.u32 {%r2, %r3, %r4, %r5}, [tail];\n"
                  "ld.param.v2.u64 {%d2, %d3}, [pair];\n"
                  "shr.u64 %d4, %d3, 32;\n"
                  "cvt.u32.u64 %r6, %d4;\n" /* the high word of the second number */
                  INIT("r1") INIT("r5") INIT("r6")),
           ALL " init 0x400 4, init 0x400 6, init 0x400 1\n");
}

static void parts_of_a_word_are_widened_by_their_sign(void **state)
{
    (void)state;
    expect(KERNEL("ld.param.u8 %r0, [tail+16];\n"
                  "ld.param.s8 %r1, [tail+16];\n"
                  "sub.s32 %r2, 0, %r1;\n"
                  "ld.param.u8 %r3, [tail+17];\n"
                  "ld.param.s16 %r4, [tail+18];\n"
                  "sub.s32 %r5, 0, %r4;\n" /* */
                  INIT("r0") INIT("r2") INIT("r3") INIT("r5")),
           ALL " init 0x400 254, init 0x400 2, init 0x400 2, init 0x400 3\n");
}

/* A register of 64 bits gets all of them, also of a shorter parameter. */
#define WIDENED(type, place, value)                                            \
    KERNEL("ld.param." type " %d0, [" place "];\nsetp.eq.s64 %p0, %d0, " value \
           ";\nselp.b32 %r0, 1, 2, %p0;\n" INIT("r0"))

static void a_parameter_is_widened_to_its_register(void **state)
{
    static const char *const kernels[] = {
        WIDENED("s32", "tail+16", "-195842"), WIDENED("u32", "tail+16", "4294771454"), WIDENED("b32", "tail", "3"),
        WIDENED("s16", "tail+18", "-3"),      WIDENED("u16", "tail+18", "65533"),      WIDENED("s8", "tail+16", "-2"),
        WIDENED("u8", "tail+16", "254"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        print_message("%zu\n", i);
        expect(kernels[i], ALL " init 0x400 1\n");
    }
}

/* An atomic finds what memory holds now: word 2 holds 3.  In a loop another warp may come between two of them. */
static void an_atomic_finds_the_present_value_once(void **state)
{
    (void)state;
    expect(KERNEL(GLOBAL("d0") "atom.global.add.u32 %r0, [%d0+8], 1;\n" INIT("r0")), ALL " init 0x400 3 guessed\n");
    expect(KERNEL(GLOBAL("d0") "AGAIN:\natom.global.add.u32 %r0, [%d0+8], 1;\nsetp.lt.u32 %p0, %r0, 9;\n" INIT(
               "r0") "@%p0 bra AGAIN;\n"),
           ALL " init 0x400 3, init 0x400 ? guessed lost\n");
    expect(KERNEL(GLOBAL("d0") "AGAIN:\natom.global.add.u32 %r0, [%d0+8], 1;\nsetp.lt.u32 %p0, %r0, 2;\n" INIT(
               "r0") "@%p0 bra AGAIN;\n"),
           ALL " init 0x400 3 guessed\n");
}

/* A factor that is zero decides what a kernel loads.  tail: the words 3, 4, 5, 6. */
#define FLOATS(body) KERNEL(".reg .f32 %f<9>;\nmov.b32 %f0, 0x3f800000;\nmov.f32 %f1, 0f00000000;\n" body INIT("r0"))
static void a_comparison_of_floats_decides(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t number;
    } rows[] = {
        {FLOATS("setp.eq.f32 %p0, %f0, 0f3f800000;\nselp.b32 %r0, 1, 2, %p0;\n"), 1},
        {FLOATS("setp.neu.f32 %p0, %f0, %f0;\nselp.b32 %r0, 1, 2, %p0;\n"), 2},
        {FLOATS("mul.f32 %f2, %f0, %f1;\nsetp.eq.f32 %p0, %f2, 0f00000000;\nselp.b32 %r0, 1, 2, %p0;\n"), 1},
        {FLOATS("ld.param.f32 %f2, [tail];\nsetp.eq.ftz.f32 %p0, %f2, %f1;\nselp.b32 %r0, 1, 2, %p0;\n"), 1},
        {FLOATS("ld.param.f32 %f2, [tail];\nsetp.eq.f32 %p0, %f2, %f1;\nselp.b32 %r0, 1, 2, %p0;\n"), 2},
        {FLOATS("setp.lt.f32 %p1, %f1, %f0;\nselp.f32 %f3, %f0, %f1, %p1;\nsetp.gt.and.f32 %p0, %f3, %f1, %p1;\n"
                "selp.u16 %h0, 1, 2, %p0;\ncvt.u32.u16 %r0, %h0;\n"),
         1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, ALL " init 0x400 %u\n", rows[i].number);
        expect(rows[i].text, expected);
    }
    /* Sums are not followed, nor products that round, flush or saturate in another way than a plain one. */
#define WITH(operation) FLOATS(operation " %f2, %f0, %f1;\nsetp.eq.f32 %p0, %f2, %f0;\nselp.b32 %r0, 1, 2, %p0;\n")
    static const char *const lost[] = {WITH("add.f32"), WITH("mul.rz.f32"), WITH("mul.ftz.f32"), WITH("mul.sat.f32")};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        expect(lost[i], ALL " init 0x400 ?\n");
}

/* Registers of 16 bits hold numbers below 2^16, and nobody follows what several of them get from one word. */
static void registers_of_16_bits_have_no_more(void **state)
{
    (void)state;
    expect(KERNEL("ld.param.s16 %h0, [tail+18];\n"
                  "setp.eq.s16 %p0, %h0, -3;\n"
                  "selp.b32 %r0, 1, 9, %p0;\n" /* */
                  INIT("r0")),
           ALL " init 0x400 1\n");
    static const char *const lost[] = {
        KERNEL("ld.param.s8 %h0, [tail+16];\ncvt.u32.u16 %r0, %h0;\n" INIT("r0")),
        KERNEL("ld.param.v2.u16 {%h0, %h1}, [tail+16];\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")),
        KERNEL("ld.param.u64 %d0, [pair];\nmov.b64 {%h0, %h1, %h2, %h3}, %d0;\ncvt.u32.u16 %r0, %h2;\n" INIT("r0")),
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        expect(lost[i], ALL " init 0x400 ?\n");
}

/* As CUTLASS finds the barrier of a stage and a warpgroup: 2 * stage + group. */
static void fields_of_bits_are_followed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t number;
    } rows[] = {
        {KERNEL("mov.u32 %r1, 3;\nmov.u32 %r2, 1;\nbfi.b32 %r0, %r1, %r2, 1, 31;\n" INIT("r0")), 7},
        {KERNEL("mov.u32 %r1, 0xffffffff;\nmov.u32 %r2, 0;\nbfi.b32 %r0, %r1, %r2, 4, 3;\n" INIT("r0")), 0x70},
        {KERNEL("mov.u32 %r1, 5;\nmov.u32 %r2, 9;\nbfi.b32 %r0, %r1, %r2, 32, 8;\n" INIT("r0")), 9},
        {KERNEL("mov.u32 %r1, 5;\nmov.u32 %r2, 9;\nbfi.b32 %r0, %r1, %r2, 3, 0;\n" INIT("r0")), 9},
        {KERNEL("mov.u32 %r1, 0x1234;\nbfe.u32 %r0, %r1, 4, 8;\n" INIT("r0")), 0x23},
        {KERNEL("mov.u32 %r1, 0xf0000000;\nbfe.u32 %r0, %r1, 28, 200;\n" INIT("r0")), 15},
        {KERNEL("mov.u32 %r1, 5;\nbfe.u32 %r0, %r1, 40, 8;\nadd.s32 %r0, %r0, 1;\n" INIT("r0")), 1},
        /* Of a number of which only some bits are known. */
        {KERNEL("ld.global.u32 %r1, [%d0];\nand.b32 %r1, %r1, 0xff00;\nbfe.u32 %r0, %r1, 0, 8;\nadd.s32 %r0, %r0, "
                "6;\n" INIT("r0")),
         6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, ALL " init 0x400 %u\n", rows[i].number);
        expect(rows[i].text, expected);
    }
    static const char *const lost[] = {
        KERNEL("mov.u32 %r1, 0x80;\nbfe.s32 %r0, %r1, 4, 4;\n" INIT("r0")),
        KERNEL("ld.global.u32 %r1, [%d0];\nmov.u32 %r2, 1;\nbfi.b32 %r0, %r1, %r2, 1, 31;\n" INIT("r0")),
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        expect(lost[i], ALL " init 0x400 ?\n");
}

/* As libcu++ keeps the stage and the phase of a pipeline: each round that wraps turns a bit of a number of 16 bits. */
static void sums_of_16_bits_are_followed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t number;
    } rows[] = {
        {KERNEL("mov.u16 %h0, 65535;\nadd.s16 %h1, %h0, 3;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 2},
        {KERNEL("mov.u16 %h0, 3;\nadd.s16 %h1, %h0, -2;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 1},
        {KERNEL("mov.u16 %h0, 3;\nmov.u16 %h1, 1;\nsub.s16 %h1, %h0, %h1;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 2},
        {KERNEL("mov.u16 %h0, 245;\nand.b16 %h1, %h0, -2;\nor.b16 %h1, %h1, 1;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")),
         245},
        {KERNEL("mov.u16 %h0, 245;\nand.b16 %h1, %h0, -2;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 244},
        {KERNEL("mov.u16 %h0, 245;\nand.b16 %h1, %h0, 1;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 1},
        {KERNEL("mov.u16 %h0, 246;\nand.b16 %h1, %h0, 2;\nshr.u16 %h1, %h1, 1;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")),
         1},
        {KERNEL("mov.u16 %h0, 0x8003;\nshl.b16 %h1, %h0, 1;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 6},
        {KERNEL("mov.u16 %h0, 0xfffc;\nnot.b16 %h1, %h0;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 3},
        {KERNEL("mov.u16 %h0, 0x8003;\nmul.lo.s16 %h1, %h0, 5;\ncvt.u32.u16 %r0, %h1;\n" INIT("r0")), 0x800f},
        {KERNEL("mov.u16 %h0, 0x80;\ncvt.u32.u16 %r0, %h0;\ncvt.s32.s8 %r0, %r0;\nadd.s32 %r0, %r0, 129;\n" INIT("r0")),
         1},
        {KERNEL("mov.u16 %h0, 0x141;\ncvt.s32.s8 %r0, %h0;\n" INIT("r0")), 0x41},
        {KERNEL("mov.u16 %h0, 65534;\ncvt.s32.s16 %r0, %h0;\nadd.s32 %r0, %r0, 3;\n" INIT("r0")), 1},
        {KERNEL("mov.u16 %h0, 246;\nand.b16 %h1, %h0, 2;\nsetp.eq.s16 %p0, %h1, 0;\nselp.u16 %h2, 2, 0, %p0;\n"
                "cvt.u32.u16 %r0, %h2;\nadd.s32 %r0, %r0, 7;\n" INIT("r0")),
         7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[64];
        print_message("%zu\n", i);
        snprintf(expected, sizeof expected, ALL " init 0x400 %u\n", rows[i].number);
        expect(rows[i].text, expected);
    }
}

/* pair holds 7 and 0x100000002.  Each number would be another one if the high words did not count. */
static void numbers_of_64_bits_are_whole(void **state)
{
    static const struct {
        const char *body; /* makes %r0 of %d0 = 0x100000002 and %d1 = 7 */
        const char *expected;
    } rows[] = {
        {KERNEL_OF_PAIR("setp.gt.u64 %p0, %d0, %d1;\nselp.b32 %r0, 1, 9, %p0;\n"), " init 0x400 1\n"},
        {KERNEL_OF_PAIR("mul.lo.s64 %d2, %d0, %d1;\nshr.u64 %d3, %d2, 32;\ncvt.u32.u64 %r0, %d3;\n"),
         " init 0x400 7\n"},
        {KERNEL_OF_PAIR("mul.hi.u64 %d2, %d0, 0x8000000000000000;\ncvt.u32.u64 %r0, %d2;\n"),
         " init 0x400 2147483649\n"},
        {KERNEL_OF_PAIR("sub.s64 %d2, %d1, %d0;\nsetp.lt.s64 %p0, %d2, 0;\nselp.b32 %r0, 3, 9, %p0;\n"),
         " init 0x400 3\n"},
        {KERNEL_OF_PAIR("mov.b64 {%r1, %r2}, %d0;\nadd.s32 %r0, %r2, %r1;\n"), " init 0x400 3\n"},
        {KERNEL_OF_PAIR("mov.b64 {%r1, %r2}, %d0;\nmov.b64 %d2, {%r1, %r2};\n"
                        "setp.eq.s64 %p0, %d2, %d0;\nselp.b32 %r0, 4, 9, %p0;\n"),
         " init 0x400 4\n"},
        {KERNEL_OF_PAIR("max.u64 %d2, %d0, %d1;\nshr.u64 %d3, %d2, 32;\ncvt.u32.u64 %r0, %d3;\n"), " init 0x400 1\n"},
        {KERNEL_OF_PAIR("div.u64 %d2, %d0, %d1;\ncvt.u32.u64 %r0, %d2;\n"), " init 0x400 613566756\n"},
        {KERNEL_OF_PAIR("and.b64 %d2, %d0, 0xffffffff00000000;\nshr.u64 %d3, %d2, 32;\ncvt.u32.u64 %r0, %d3;\n"),
         " init 0x400 1\n"},
        {KERNEL_OF_PAIR("ld.param.u32 %r1, [tail];\nmad.wide.u32 %d2, %r1, %r1, 0x100000000;\n"
                        "shr.u64 %d3, %d2, 32;\ncvt.u32.u64 %r0, %d3;\n"),
         " init 0x400 1\n"},
        /* The third source of mad.hi is a word, and none of those that follow it. */
        {KERNEL_OF_PAIR("mov.u32 %r1, 0x80000000;\nmov.u32 %r2, 3;\nmov.u32 %r3, 5;\n"
                        "mad.hi.u32 %r0, %r1, 4, %r2;\nadd.s32 %r4, %r2, %r3;\n"),
         " init 0x400 ?\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[80];
        print_message("row %zu\n", i);
        snprintf(expected, sizeof expected, ALL "%s", rows[i].expected);
        expect(rows[i].body, expected);
    }
}

/* Of the generic address of shared memory the high half is not known.  The comparison needs both halves. */
static void bits_cut_out_of_half_a_number_are_whole(void **state)
{
#define CUT(how)                                                 \
    KERNEL("mov.u64 %d1, bars;\ncvta.shared.u64 %d2, %d1;\n" how \
           "setp.eq.u64 %p0, %d3, 0;\nselp.u32 %r0, 3, 5, %p0;\n" INIT("r0"))
    static const struct {
        const char *text, *number;
    } rows[] = {
        {CUT("and.b64 %d3, %d2, 7;\n"), "3"},           {CUT("and.b64 %d3, %d2, 0x400;\n"), "5"},
        {CUT("and.b64 %d3, %d2, 0x100000007;\n"), "?"}, {CUT("or.b64 %d3, %d2, 7;\n"), "?"},
        {CUT("xor.b64 %d3, %d2, %d2;\n"), "?"}, /* each source is tried alone */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[64];
        print_message("row %zu\n", i);
        snprintf(expected, sizeof expected, ALL " init 0x400 %s\n", rows[i].number);
        expect(rows[i].text, expected);
    }
}

static void a_number_is_negated(void **state)
{
    (void)state;
    expect(KERNEL_OF_PAIR("cvt.u32.u64 %r1, %d1;\nneg.s32 %r2, %r1;\nadd.s32 %r0, %r2, 10;\n"), ALL " init 0x400 3\n");
    expect(KERNEL_OF_PAIR("neg.s64 %d2, %d0;\nshr.u64 %d3, %d2, 32;\ncvt.u32.u64 %r1, %d3;\nneg.s32 %r0, %r1;\n"),
           ALL " init 0x400 2\n");
}

static void halves_and_extremes_are_compared(void **state)
{
    (void)state;
    expect(KERNEL("mov.u16 %h0, 3;\n"
                  "and.b16 %h1, %h0, 255;\n"
                  "setp.eq.s16 %p0, %h1, 3;\n"
                  "selp.b32 %r0, 1, 9, %p0;\n"
                  "ld.param.u32 %r1, [tail];\n"
                  "min.s32 %r2, %r1, 2;\n"
                  "max.u32 %r3, %r1, 2;\n" /* */
                  INIT("r0") INIT("r2") INIT("r3")),
           ALL " init 0x400 1, init 0x400 2, init 0x400 3\n");
    /* .relu raises a number below 0 to 0 */
    expect(KERNEL("mov.u32 %r0, -5;\nmov.u32 %r1, -7;\nmax.relu.s32 %r2, %r0, %r1;\n" INIT("r2")),
           ALL " init 0x400 ?\n");
}

static void a_predicate_may_be_a_number(void **state)
{
    (void)state;
    expect(KERNEL("mov.pred %p0, 0;\n"
                  "not.pred %p1, %p0;\n"
                  "mov.pred %p2, %p1;\n"
                  "xor.pred %p3, %p2, %p0;\n"
                  "selp.b32 %r0, 1, 9, %p3;\n" /* */
                  INIT("r0")),
           ALL " init 0x400 1\n");
}

static void a_table_leads_where_the_index_says(void **state)
{
    (void)state;
    expect(KERNEL("ld.param.u32 %r0, [tail];\nsub.s32 %r1, %r0, 1;\n"
                  "table: .branchtargets one, two, three;\nbrx.idx %r1, table;\n"
                  "one:\nmov.u32 %r2, 11;\nbra end;\ntwo:\nmov.u32 %r2, 12;\nbra end;\nthree:\nmov.u32 %r2, 13;\n"
                  "end:\n" INIT("r2")),
           ALL " init 0x400 13\n");
}

static void a_cta_knows_its_place_in_its_cluster(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, %clusterid.x;\nmov.u32 %r1, %cluster_ctaid.x;\nmov.u32 %r2, %cluster_nctarank;\n" INIT(
               "r0") INIT("r1") INIT("r2")),
           ALL " init 0x400 2, init 0x400 1, init 0x400 2\n");
}

/* As CUTLASS spreads the releases of a slot: lane 16 of this warp arrives for CTA 1 of the cluster, all others wait. */
static void lanes_that_do_different_things_part(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\nshr.u32 %r2, %r1, 3;\nand.b32 %r3, %r0, 7;\n"
                  "setp.eq.s32 %p0, %r3, 0;\nsetp.eq.s32 %p1, %r2, 2;\nand.pred %p2, %p0, %p1;\n"
                  "mov.u32 %r4, bars;\nmov.u32 %r5, 1;\n"
                  "@%p2 mapa.shared::cluster.u32 %r6, %r4, %r5;\n"
                  "@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"
                  "again:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r4], 1;\n@!%p3 bra again;\n"),
           "lanes fffeffff: wait 0x400 parity 1\nlanes 00010000: arrive 0x400 of rank 1, wait 0x400 parity 1\n");
}

/* One move by a guard that fails in every lane, and one by a guard that nobody knows: both keep what each lane has. */
static void a_move_that_may_not_execute_keeps_what_lanes_have(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, %laneid;\n"
                  "shr.u32 %r1, %r0, 4;\n"
                  "ld.param.u32 %r2, [tail];\n"
                  "setp.eq.u32 %p0, %r2, 9;\n"
                  "@%p0 mov.u32 %r1, 7;\n" /* */
                  INIT("r1")),
           "lanes 0000ffff: init 0x400 0\nlanes ffff0000: init 0x400 1\n");
    expect(KERNEL("mov.u32 %r0, %laneid;\n"
                  "shr.u32 %r1, %r0, 4;\n"
                  "ld.global.u32 %r2, [%d0];\n"
                  "setp.eq.u32 %p0, %r2, 9;\n"
                  "@%p0 mov.u32 %r1, 0;\n" /* lanes 0 to 15 have that already */
                  INIT("r1")),
           "lanes 0000ffff: init 0x400 0\nlanes ffff0000: init 0x400 ?\n");
}

/* The address is that of another CTA, or of the own one. */
static void an_address_that_may_be_mapped_is_not_known(void **state)
{
    (void)state;
    expect(KERNEL("ld.global.u32 %r2, [%d0];\n"
                  "setp.eq.u32 %p0, %r2, 9;\n"
                  "mov.u32 %r0, bars;\n"
                  "@%p0 mapa.shared::cluster.u32 %r0, %r0, 1;\n"
                  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0];\n"),
           ALL " lost\n");
}

/* What the first lane of the warp has reaches the lanes that walk without it. */
static void a_shuffle_brings_what_lane_0_has(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, %laneid;\nadd.s32 %r1, %r0, 5;\nshfl.sync.idx.b32 %r2|%p0, %r1, 0, 31, -1;\n"
                  "setp.ge.u32 %p1, %r0, 30;\n@%p1 bra end;\n" INIT("r2") "end:\nadd.s32 %r3, %r2, 1;\n" INIT("r3")),
           "lanes 3fffffff: init 0x400 5, init 0x400 6\nlanes c0000000: init 0x400 6\n");
}

/* By pairs, and in two pieces: lane 16 begins the second one. */
static void shuffles_of_some_lanes_bring_nothing_that_is_known(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, 5;\nshfl.sync.bfly.b32 %r1|%p0, %r0, 1, 31, 0xffff;\n" INIT("r1")),
           ALL " init 0x400 ?\n");
    expect(KERNEL("mov.u32 %r0, 5;\nshfl.sync.up.b32 %r1|%p0, %r0, 1, 0, %r7;\n" INIT("r1")), ALL " init 0x400 ?\n");
}

/* Which way the lanes take makes no difference to any barrier. */
static void a_walk_is_whole_where_nothing_is_left_to_do(void **state)
{
    (void)state;
    expect(KERNEL("mov.u32 %r0, 5;\n" INIT("r0") "ld.global.u32 %r1, [%d0];\nsetp.eq.u32 %p0, %r1, 3;\n@%p0 exit;\n"
                                                 "st.global.u32 [%d0], %r1;\n"),
           ALL " init 0x400 5\n");
    expect(KERNEL("mov.u32 %r0, 5;\nld.global.u32 %r1, [%d0];\nsetp.eq.u32 %p0, %r1, 3;\n@%p0 exit;\n" INIT("r0")),
           ALL " lost\n");
}

static bool at_once(void *context)
{
    ++*(unsigned *)context;
    return true;
}

/* A loop of a million rounds. */
static void a_walk_ends_when_its_time_is_over(void **state)
{
    struct ptx_walks walks = ptx_walks_begin(KERNEL(
        "mov.u32 %r0, 0;\nagain:\nadd.s32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 1000000;\n@%p0 bra again;\n" INIT("r0")));
    struct wsdbg_walk walk;
    uint32_t thread = 0, together;
    unsigned asked = 0;
    const struct wsdbg_thread_world world = ptx_walks_world(&thread);
    const struct wsdbg_walk_limits limits = {1 << 24, 1 << 24, 1 << 10, at_once, &asked};
    (void)state;
    assert_null(wsdbg_walk_lanes(walks.plan, &world, 1, limits, &walk, &together));
    assert_false(walk.is_whole);
    assert_true(walk.work < 10000);
    assert_int_equal(asked, 1);
    free(walk.steps);
    ptx_walks_end(&walks);
}

/* In each round lane 0 hands a number to the others through shared memory, and all meet before they load it and behind
 * that.  Lane 0 does something of its own, so the others have a walk of theirs. */
static void lanes_that_meet_see_what_one_of_them_stored(void **state)
{
    (void)state;
    expect(
        KERNEL("mov.u32 %r1, %laneid;\n"
               "setp.ne.u32 %p0, %r1, 0;\n"
               "mov.u32 %r2, 0;\n"
               "mov.u32 %r4, bars;\n"
               "LOOP:\n"
               "add.u32 %r4, %r4, 4;\n"
               "@%p0 bra SKIP;\n"
               "add.u32 %r3, %r2, 1;\n"
               "st.shared.u32 [%r4+32], %r3;\n"
               "SKIP:\n"
               "bar.warp.sync 0xffffffff;\n"
               "ld.shared.u32 %r2, [%r4+32];\n"
               "bar.warp.sync 0xffffffff;\n"
               "@!%p0 mbarrier.init.shared.b64 [bars+8], %r2;\n" INIT("r2") "setp.lt.u32 %p1, %r2, 2;\n"
                                                                            "@%p1 bra LOOP;\n"),
        "lanes 00000001: step 24, step 24, init 0x408 1, init 0x400 1, step 24, step 24, init 0x408 2, init 0x400 2\n"
        "lanes fffffffe: step 24, step 24, init 0x400 1, step 24, step 24, init 0x400 2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_meet_see_what_one_of_them_stored),
        cmocka_unit_test(parameters_are_read_by_address_and_several_at_once),
        cmocka_unit_test(parts_of_a_word_are_widened_by_their_sign),
        cmocka_unit_test(a_parameter_is_widened_to_its_register),
        cmocka_unit_test(a_comparison_of_floats_decides),
        cmocka_unit_test(an_atomic_finds_the_present_value_once),
        cmocka_unit_test(registers_of_16_bits_have_no_more),
        cmocka_unit_test(fields_of_bits_are_followed),
        cmocka_unit_test(sums_of_16_bits_are_followed),
        cmocka_unit_test(numbers_of_64_bits_are_whole),
        cmocka_unit_test(bits_cut_out_of_half_a_number_are_whole),
        cmocka_unit_test(a_number_is_negated),
        cmocka_unit_test(halves_and_extremes_are_compared),
        cmocka_unit_test(a_predicate_may_be_a_number),
        cmocka_unit_test(a_table_leads_where_the_index_says),
        cmocka_unit_test(a_cta_knows_its_place_in_its_cluster),
        cmocka_unit_test(lanes_that_do_different_things_part),
        cmocka_unit_test(a_move_that_may_not_execute_keeps_what_lanes_have),
        cmocka_unit_test(an_address_that_may_be_mapped_is_not_known),
        cmocka_unit_test(a_shuffle_brings_what_lane_0_has),
        cmocka_unit_test(shuffles_of_some_lanes_bring_nothing_that_is_known),
        cmocka_unit_test(a_walk_is_whole_where_nothing_is_left_to_do),
        cmocka_unit_test(a_walk_ends_when_its_time_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
