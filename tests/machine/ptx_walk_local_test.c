/* ptx_walk_local_test.c - what the walks of a warp's lanes know of local memory in PTX: words, and bytes of them, at
 * constant and at computed places; and when they know nothing of it.
 *
 * Expected text: see ptx_walks.h.
 */
#include "ptx_walks.h"

#include <stdio.h>

#define ALL "lanes ffffffff:"

/* Two numbers of 64 bits and a word behind them, at a place that depends on the lane.  %r9: the lane's number. */
#define LOCAL(body)                                                                                                  \
    KERNEL(                                                                                                          \
        ".local .align 16 .b8 kept[24];\n.local .align 4 .b8 behind[4];\nmov.u64 %d0, kept;\n"                       \
        "mov.u64 %d2, 5;\nmov.u64 %d3, 7;\nmov.u32 %r1, 9;\nmov.u32 %r9, %laneid;\n"                                 \
        "st.local.v2.u64 [%d0], {%d2, %d3};\nst.local.u32 [kept+16], %r1;\nst.local.u32 [behind], %r1;\n" body INIT( \
            "r0"))

static void a_word_of_local_memory_is_as_good_as_a_register(void **state)
{
    (void)state;
    static const char by_lane[] = LOCAL("and.b32 %r2, %r9, 1;\nmul.wide.u32 %d4, %r2, 8;\nadd.s64 %d5, %d0, %d4;\n"
                                        "ld.local.u64 %d6, [%d5];\ncvt.u32.u64 %r0, %d6;\n");
    ptx_walks_expect(by_lane, "lanes 55555555: init 0x400 5\nlanes aaaaaaaa: init 0x400 7\n");
    ptx_walks_expect(LOCAL("ld.local.u32 %r0, [%d0+16];\n"), ALL " init 0x400 9\n");
    ptx_walks_expect(LOCAL("ld.local.v2.u64 {%d6, %d7}, [%d0];\ncvt.u32.u64 %r0, %d7;\n"), ALL " init 0x400 7\n");
    /* The address may be where the word goes. */
    ptx_walks_expect(LOCAL("add.s64 %d5, %d0, 8;\nld.local.u64 %d5, [%d5];\ncvt.u32.u64 %r0, %d5;\n"),
                     ALL " init 0x400 7\n");
    /* A store behind all words that are followed changes none of them. */
    ptx_walks_expect(LOCAL("st.local.u32 [%d0+1024], %r9;\nld.local.u32 %r0, [%d0+16];\n"), ALL " init 0x400 9\n");
    /* What is stored later, on the lanes that do so. */
    ptx_walks_expect(
        LOCAL("setp.eq.u32 %p0, %r9, 3;\n@%p0 st.local.u32 [kept+16], %r9;\nld.local.u32 %r0, [%d0+16];\n"),
        "lanes fffffff7: init 0x400 9\nlanes 00000008: init 0x400 3\n");
}

/* As code that is not optimised names an array. */
static void a_generic_address_of_local_memory_is_followed(void **state)
{
    (void)state;
#define GENERIC "cvta.local.u64 %d8, %d0;\n"
#define BY_LANE "and.b32 %r2, %r9, 1;\nmul.wide.u32 %d4, %r2, 8;\nadd.s64 %d5, %d8, %d4;\n"
    ptx_walks_expect(LOCAL(GENERIC BY_LANE "ld.u64 %d6, [%d5];\ncvt.u32.u64 %r0, %d6;\n"),
                     "lanes 55555555: init 0x400 5\nlanes aaaaaaaa: init 0x400 7\n");
    ptx_walks_expect(LOCAL(GENERIC BY_LANE "st.u64 [%d5], 3;\nld.u32 %r0, [%d8+8];\n"),
                     "lanes 55555555: init 0x400 7\nlanes aaaaaaaa: init 0x400 3\n");
    ptx_walks_expect(LOCAL(".reg .f32 %f1;\nmov.f32 %f1, 0f3F800000;\n" GENERIC BY_LANE
                           "st.f32 [%d5+16], %f1;\nld.u32 %r0, [%d8+16];\n"),
                     "lanes 55555555: init 0x400 ?\nlanes aaaaaaaa: init 0x400 9\n");
}

/* A byte of a word, a half, or a word of a number of 64 bits: each keeps what is known of the others. */
static void bytes_of_local_memory_are_followed(void **state)
{
    static const struct {
        const char *text, *number;
    } rows[] = {
        {LOCAL("st.local.u8 [kept+16], 3;\nld.local.u32 %r0, [%d0+16];\n"), "3"},
        {LOCAL("st.local.u8 [kept+17], 1;\nld.local.u32 %r0, [%d0+16];\n"), "265"},
        {LOCAL("st.local.u16 [behind+2], %r1;\nld.local.u32 %r0, [behind];\n"), "589833"},
        {LOCAL("mov.u32 %r2, 0x1234;\nst.local.v2.u8 [kept+16], {%r1, %r2};\nld.local.u16 %r0, [kept+16];\n"), "13321"},
        {LOCAL("mov.u32 %r2, 0x01020304;\nst.local.u32 [kept+16], %r2;\n"
               "ld.local.v4.u8 {%r5, %r6, %r7, %r8}, [kept+16];\nmov.u32 %r0, %r7;\n"),
         "2"},
        {LOCAL("ld.local.u32 %r0, [%d0+4];\n"), "0"},
        {LOCAL("mov.u64 %d2, 0x500000000;\nst.local.u64 [%d0], %d2;\nld.local.u32 %r0, [%d0+4];\n"), "5"},
        {LOCAL("st.local.u64 [%d0], 0x600000000;\nld.local.u32 %r0, [%d0+4];\n"), "6"},
        {LOCAL("st.local.u32 [%d0+4], %r1;\nld.local.u64 %d6, [%d0];\nshr.u64 %d6, %d6, 32;\ncvt.u32.u64 %r0, %d6;\n"),
         "9"},
        /* What is loaded is widened; a negative byte may go to a register of 16 bits. */
        {LOCAL("st.local.u8 [kept+16], 0x84;\nld.local.u8 %r0, [kept+16];\n"), "132"},
        {LOCAL("st.local.u8 [kept+16], 0x44;\nld.local.s8 %r0, [kept+16];\n"), "68"},
        {LOCAL("st.local.u8 [kept+16], 0x84;\nld.local.s8 %r0, [kept+16];\n"), "?"},
        {LOCAL("st.local.u8 [kept+16], 0x84;\nld.local.s8 %r2, [kept+16];\nand.b32 %r0, %r2, 255;\n"), "132"},
        {LOCAL("mov.u32 %r2, -2;\nst.local.u32 [kept+16], %r2;\nld.local.s32 %d6, [kept+16];\n"
               "add.s64 %d6, %d6, 7;\nshr.u64 %d7, %d6, 32;\ncvt.u32.u64 %r0, %d7;\n"),
         "0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, ALL " init 0x400 %s\n", rows[i].number);
        ptx_walks_expect(rows[i].text, expected);
    }
}

/* Each lane flips the byte of its own stage. */
static void parities_in_an_array_of_bytes_are_known(void **state)
{
    (void)state;
    ptx_walks_expect(LOCAL("st.local.v2.u8 [behind], {0, 0};\nand.b32 %r2, %r9, 1;\ncvt.u64.u32 %d4, %r2;\n"
                           "mov.u64 %d5, behind;\nadd.s64 %d5, %d5, %d4;\nld.local.s8 %r5, [%d5];\n"
                           "xor.b32 %r5, %r5, 1;\nst.local.u8 [%d5], %r5;\nld.local.u16 %r0, [behind];\n"),
                     "lanes 55555555: init 0x400 1\nlanes aaaaaaaa: init 0x400 256\n");
}

/* %r3: global memory that a walk does not know. */
static void a_word_of_local_memory_that_may_have_changed_is_not_known(void **state)
{
    (void)state;
#define UNKNOWN "ld.global.u32 %r3, [%d9];\n"
    static const char *const lost[] = {
        LOCAL(UNKNOWN "mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d5, %d0, %d4;\nst.local.u32 [%d5], %r1;\n"
                      "ld.local.u32 %r0, [%d0+16];\n"),
        LOCAL(UNKNOWN "mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d5, %d0, %d4;\nld.local.u32 %r0, [%d5];\n"),
        LOCAL(UNKNOWN "setp.eq.u32 %p0, %r3, 3;\n@%p0 st.local.u32 [kept+16], 8;\nld.local.u32 %r0, [%d0+16];\n"),
        LOCAL("cvta.local.u64 %d8, %d0;\nst.global.u64 [%d9], %d8;\nld.local.u32 %r0, [%d0+16];\n"),
        LOCAL(UNKNOWN "st.local.u8 [kept+16], %r3;\nld.local.u32 %r0, [%d0+16];\n"),
        LOCAL(UNKNOWN "cvt.u64.u32 %d4, %r3;\nadd.s64 %d5, %d0, %d4;\nst.local.u8 [%d5], %r1;\n"
                      "ld.local.u32 %r0, [%d0+16];\n"),
        LOCAL(UNKNOWN "setp.eq.u32 %p0, %r3, 3;\n@%p0 st.local.u8 [kept+16], %r9;\nld.local.u32 %r0, [%d0+16];\n"),
        LOCAL("st.local.u8 [behind+4], %r1;\nld.local.u16 %r0, [behind+4];\n"),
        LOCAL("st.local.u32 [%d0+18], %r1;\nld.local.u32 %r0, [%d0+16];\n"),
        LOCAL("ld.local.u32 %r0, [%d0+18];\n"),
        LOCAL("ld.local.u32 %r0, [%d0+1024];\n"),
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        ptx_walks_expect(lost[i], ALL " init 0x400 ?\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_of_local_memory_is_as_good_as_a_register),
        cmocka_unit_test(a_generic_address_of_local_memory_is_followed),
        cmocka_unit_test(bytes_of_local_memory_are_followed),
        cmocka_unit_test(parities_in_an_array_of_bytes_are_known),
        cmocka_unit_test(a_word_of_local_memory_that_may_have_changed_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
