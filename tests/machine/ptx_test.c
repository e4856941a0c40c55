/* ptx_test.c - the accesses to barriers that are found in PTX, put in the words of machine code.
 *
 * A row of expected text is an access: what it does, at which address, every so many bytes ("+8 x 4", "+8 x ?": nobody
 * knows how often), its count or "?", "one" where one lane executes it, "any CTA",
 * and the ranks that a multicast names.  Shared memory begins at 0x400.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "translate/ptx_code.h"
#include "sass/access.h"
#include "sass/definitions.h"

#define KERNEL(registers, body)                                        \
    ".version 8.6\n.target sm_90a\n.address_size 64\n"                 \
    ".visible .entry kernel(.param .u64 flag, .param .u32 count)\n{\n" \
    ".shared .align 8 .b64 bars[8];\n"                                 \
    ".reg .pred %p<40>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n" registers body "ret;\n}\n"

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context;
    if (bank || offset_bytes > 8)
        return false;
    *value = offset_bytes ? 1 : 128;
    return true;
}

static struct wsdbg_graph *graph_of(const char *text, struct wsdbg_ptx_code **code)
{
    struct wsdbg_graph *graph = NULL;
    struct wsdbg_error *error =
        wsdbg_ptx_code_create(&(struct wsdbg_image){(const unsigned char *)text, strlen(text)}, code);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    assert_int_equal(wsdbg_ptx_code_function_count(*code), 1);
    assert_null(wsdbg_ptx_code_graph(*code, wsdbg_ptx_code_function(*code, 0), &graph));
    return graph;
}

static void say(const struct wsdbg_access *access, char *out, size_t room)
{
    const struct wsdbg_value_set *address = &access->address, *count = &access->count;
    size_t at = (size_t)snprintf(out, room, "%s", wsdbg_access_kind_name(access->kind));
    if (!address->known)
        at += (size_t)snprintf(out + at, room - at, " somewhere");
    else
        at += (size_t)snprintf(out + at, room - at, " 0x%llx", (unsigned long long)address->base);
    if (address->known && address->count == 0)
        at += (size_t)snprintf(out + at, room - at, "+%u x ?", address->stride);
    else if (address->known && address->count > 1)
        at += (size_t)snprintf(out + at, room - at, "+%u x %u", address->stride, address->count);
    if (count->known && count->count == 1)
        at += (size_t)snprintf(out + at, room - at, " %llu", (unsigned long long)count->base);
    else
        at += (size_t)snprintf(out + at, room - at, " ?");
    at += (size_t)snprintf(out + at, room - at, "%s%s", access->lanes == WSDBG_LANES_ONE ? " one" : "",
                           access->is_any_rank ? " any CTA" : "");
    if (access->mask.known)
        at += (size_t)snprintf(out + at, room - at, " of 0x%llx", (unsigned long long)access->mask.base);
    snprintf(out + at, room - at, "\n");
}

/* What the accesses are for `threads` threads from `first` on; 0 = for all. */
static void expect_of_threads(const char *text, uint32_t first, uint32_t threads, const char *expected)
{
    struct wsdbg_ptx_code *code;
    struct wsdbg_graph *graph = graph_of(text, &code);
    const struct wsdbg_launch_values launch = {.constant = constant};
    struct wsdbg_access *accesses;
    size_t count;
    char said[4096] = "";
    assert_null(wsdbg_accesses_find_for_threads(graph, &launch, first, threads, &accesses, &count));
    for (size_t i = 0; i < count; i++)
        if (accesses[i].kind != WSDBG_ACCESS_EXIT)
            say(&accesses[i], said + strlen(said), sizeof said - strlen(said));
    assert_string_equal(said, expected);
    free(accesses);
    wsdbg_graph_destroy(graph);
    wsdbg_ptx_code_destroy(code);
}

static void expect(const char *text, const char *expected)
{
    expect_of_threads(text, 0, 0, expected);
}

static void barriers_are_named_by_their_addresses(void **state)
{
    (void)state;
    expect(KERNEL("", "mov.u32 %r1, bars;\n"
                      "mov.u32 %r2, 128;\n"
                      "mbarrier.init.shared::cta.b64 [%r1+8], %r2;\n"
                      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars+16], 4096;\n"
                      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;\n"
                      "add.s32 %r3, %r1, 24;\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r3];\n"
                      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 1;\n"),
           "init 0x408 128\n"
           "arrive.expect_tx 0x410 4096\n"
           "expect_tx 0x400 64\n"
           "arrive 0x418 1\n"
           "wait 0x418 1\n");
}

/* The arrival of copies is one of those that the barrier counts only with .noinc. */
static void the_arrival_of_copies_may_count(void **state)
{
    (void)state;
    expect(KERNEL("", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bars];\n"
                      "cp.async.mbarrier.arrive.shared::cta.b64 [bars+8];\n"),
           "cp.async.mbarrier.arrive 0x400 1\n"
           "cp.async.mbarrier.arrive 0x408 ?\n");
}

static void an_address_by_the_generic_way_is_followed(void **state)
{
    (void)state;
    expect(KERNEL("", "mov.u64 %rd1, bars;\n"
                      "cvta.shared.u64 %rd2, %rd1;\n"
                      "add.s64 %rd3, %rd2, 32;\n"
                      "cvta.to.shared.u64 %rd4, %rd3;\n"
                      "cvt.u32.u64 %r1, %rd4;\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"),
           "arrive 0x420 1\n");
}

/* A symbol's name says nothing; of shared memory nobody outside of the cluster reads. */
static void an_access_has_the_scope_that_its_text_names(void **state)
{
    static const struct {
        const char *text;
        bool is_system;
    } rows[] = {
        {KERNEL("", "ld.global.u32 %r1, [%rd1];\n"), false},
        {KERNEL("", "ld.relaxed.gpu.global.u32 %r1, [%rd1];\n"), false},
        {KERNEL("", "ld.relaxed.sys.global.u32 %r1, [%rd1];\n"), true},
        {KERNEL("", "ld.volatile.global.u32 %r1, [%rd1];\n"), true},
        {KERNEL("", "ld.volatile.u32 %r1, [%rd1];\n"), true},
        {KERNEL("", "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];\n"), true},
        {KERNEL("", "ld.volatile.shared.u32 %r1, [bars];\n"), false},
        {KERNEL("", "atom.add.u32 %r1, [%rd1], 0;\n"), false},
        {KERNEL("", "atom.global.sys.add.u32 %r1, [%rd1], 0;\n"), true},
        {KERNEL("", "atom.shared.add.u32 %r1, [bars], 0;\n"), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_ptx_code *code;
        struct wsdbg_graph *graph = graph_of(rows[i].text, &code);
        if (wsdbg_graph_instruction(graph, 0)->is_system != rows[i].is_system)
            fail_msg("%s", rows[i].text);
        wsdbg_graph_destroy(graph);
        wsdbg_ptx_code_destroy(code);
    }
}

/* stage = stage == 3 ? 0 : stage + 1, as a compiler writes it. */
static void a_ring_of_stages_has_its_places(void **state)
{
    (void)state;
    expect(KERNEL("", "ld.param.u32 %r9, [count];\n"
                      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                      "loop:\n"
                      "shl.b32 %r3, %r1, 3;\n"
                      "mov.u32 %r4, bars;\n"
                      "add.s32 %r5, %r4, %r3;\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r5+32];\n"
                      "add.s32 %r6, %r1, 1;\n"
                      "setp.eq.s32 %p1, %r6, 4;\n"
                      "selp.b32 %r1, 0, %r6, %p1;\n"
                      "add.s32 %r2, %r2, 1;\n"
                      "setp.lt.s32 %p2, %r2, %r9;\n"
                      "@%p2 bra loop;\n"),
           "arrive 0x420+8 x 4 1\n");
}

static void what_nobody_can_follow_is_somewhere(void **state)
{
    (void)state;
    expect(KERNEL("", "ld.param.u64 %rd1, [flag];\n"
                      "ld.global.u32 %r1, [%rd1];\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                      "div.u32 %r2, %r1, 3;\n"
                      "bar.sync %r2, 64;\n"),
           "arrive somewhere 1\n"
           "bar.sync somewhere 64\n");
}

static void one_lane_is_picked_by_its_thread_or_elect(void **state)
{
    (void)state;
    expect(KERNEL("", "mov.u32 %r1, %tid.x;\n"
                      "setp.ne.s32 %p1, %r1, 0;\n"
                      "@%p1 bra behind;\n"
                      "mbarrier.arrive.shared::cta.b64 _, [bars];\n"
                      "behind:\n"
                      "elect.sync _|%p2, -1;\n"
                      "@%p2 mbarrier.arrive.shared::cta.b64 _, [bars+8];\n"
                      "and.b32 %r2, %r1, 31;\n"
                      "setp.eq.s32 %p3, %r2, 5;\n"
                      "@%p3 mbarrier.arrive.shared::cta.b64 _, [bars+16];\n"
                      "mbarrier.arrive.shared::cta.b64 _, [bars+24];\n"),
           "arrive 0x400 1 one\n"
           "arrive 0x408 1 one\n"
           "arrive 0x410 1 one\n"
           "arrive 0x418 1\n");
}

/* As a function returns it, without optimisation: a number that is copied and compared. */
static void one_lane_is_picked_by_a_number_that_elect_selects(void **state)
{
    (void)state;
    expect(KERNEL("", "elect.sync _|%p2, -1;\nselp.b32 %r1, 1, 0, %p2;\nmov.b32 %r2, %r1;\n"
                      "setp.ne.s32 %p1, %r2, 0;\n"
                      "@%p1 mbarrier.arrive.shared::cta.b64 _, [bars];\n"
                      "setp.eq.s32 %p3, %r2, 0;\n" /* all others */
                      "@%p3 mbarrier.arrive.shared::cta.b64 _, [bars+8];\n"),
           "arrive 0x400 1 one\n"
           "arrive 0x408 1\n");
}

/* Only lane 0 has no bit in (something or its number); (something xor its number) is 0 in any lane. */
static void one_lane_is_picked_together_with_something_else(void **state)
{
    (void)state;
    expect(KERNEL("", "ld.param.u64 %rd1, [flag];\n"
                      "ld.global.u32 %r1, [%rd1];\n"
                      "mov.u32 %r2, %tid.x;\n"
                      "and.b32 %r3, %r2, 31;\n"
                      "or.b32 %r4, %r1, %r3;\n"
                      "setp.eq.s32 %p1, %r4, 0;\n"
                      "@%p1 mbarrier.arrive.shared::cta.b64 _, [bars];\n"
                      "xor.b32 %r5, %r1, %r3;\n"
                      "setp.eq.s32 %p2, %r5, 0;\n"
                      "@%p2 mbarrier.arrive.shared::cta.b64 _, [bars+8];\n"
                      "@!%p1 mbarrier.arrive.shared::cta.b64 _, [bars+16];\n"
                      "and.b32 %r6, %r2, 15;\n"
                      "or.b32 %r7, %r1, %r6;\n"
                      "setp.eq.s32 %p3, %r7, 0;\n"
                      "@%p3 mbarrier.arrive.shared::cta.b64 _, [bars+24];\n"),
           "arrive 0x400 1 one\n"
           "arrive 0x408 1\n"
           "arrive 0x410 1\n"
           "arrive 0x418 1\n");
}

/* A register of 16 bits: what a mask leaves is below 256, and so many places follow. */
static void numbers_of_16_bits_are_followed(void **state)
{
    (void)state;
    expect(KERNEL(".reg .b16 %rs<4>;\n", "ld.param.u64 %rd1, [flag];\n"
                                         "ld.global.u32 %r1, [%rd1];\n"
                                         "cvt.u16.u32 %rs1, %r1;\n"
                                         "and.b16 %rs2, %rs1, 3;\n"
                                         "mul.wide.u16 %r2, %rs2, 8;\n"
                                         "mov.u32 %r3, bars;\n"
                                         "add.s32 %r4, %r3, %r2;\n"
                                         "mbarrier.arrive.shared::cta.b64 _, [%r4];\n"
                                         "mov.u16 %rs3, -1;\n"
                                         "and.b16 %rs3, %rs3, 8;\n"
                                         "cvt.u32.u16 %r5, %rs3;\n"
                                         "add.s32 %r6, %r3, %r5;\n"
                                         "mbarrier.arrive.shared::cta.b64 _, [%r6];\n"
                                         "sub.s16 %rs2, %rs2, %rs1;\n"
                                         "mul.wide.u16 %r7, %rs2, 8;\n"
                                         "add.s32 %r8, %r3, %r7;\n"
                                         "mbarrier.arrive.shared::cta.b64 _, [%r8];\n"),
           "arrive 0x400+8 x 4 1\n"
           "arrive 0x408 1\n"
           "arrive 0x400+8 x ? 1\n");
}

/* bars[i % d], i signed, from `first` to 9. */
#define SIGNED_REMAINDER(first, bias, mask)                     \
    KERNEL("", "mov.u32 %r1, " first ";\n"                      \
               "loop:\n" bias "add.s32 %r3, %r1, %r2;\n"        \
               "and.b32 %r4, %r3, " mask ";\n"                  \
               "sub.s32 %r5, %r1, %r4;\n"                       \
               "shl.b32 %r6, %r5, 3;\n"                         \
               "mov.u32 %r7, bars;\n"                           \
               "add.s32 %r8, %r7, %r6;\n"                       \
               "mbarrier.arrive.shared::cta.b64 _, [%r8+16];\n" \
               "add.s32 %r1, %r1, 1;\n"                         \
               "setp.lt.s32 %p1, %r1, 10;\n"                    \
               "@%p1 bra loop;\n")
#define BIAS_OF_2 "shr.u32 %r2, %r1, 31;\n"
#define BIAS_OF_4 "shr.s32 %r9, %r1, 31;\nshr.u32 %r2, %r9, 30;\n"

static void a_signed_remainder_has_its_places(void **state)
{
    (void)state;
    expect(SIGNED_REMAINDER("3", BIAS_OF_2, "-2"), "arrive 0x410+8 x 2 1\n");
    expect(SIGNED_REMAINDER("3", BIAS_OF_2, "536870910"), "arrive 0x410+8 x 2 1\n");
    expect(SIGNED_REMAINDER("0", BIAS_OF_4, "-4"), "arrive 0x410+8 x 4 1\n");
}

/* Below zero, beyond the mask, or with what is added for another divisor. */
static void what_only_looks_like_a_signed_remainder_is_wider(void **state)
{
    (void)state;
    expect(SIGNED_REMAINDER("-3", BIAS_OF_2, "-2"), "arrive 0x3a8+8 x 27 1\n");
    expect(SIGNED_REMAINDER("3", BIAS_OF_2, "6"), "arrive 0x3f8+8 x 13 1\n");
    expect(SIGNED_REMAINDER("3", BIAS_OF_4, "-2"), "arrive 0x3e8+8 x 13 1\n");
}

/* bars[i % d] for i, i + 1, ... of a loop that is unrolled: %r1 is i, %r2 is bars + 8 * i.  `quotient` divides %r3 into
 * %r4. */
#define UNROLLED_PART(part, offset, quotient, bytes)                                   \
    "add.s32 %r3, %r1, " part ";\n" quotient "mad.lo.s32 %r5, %r4, -" bytes ", %r2;\n" \
    "mbarrier.arrive.shared::cta.b64 _, [%r5+" offset "];\n"
#define UNROLLED(quotient, bytes, by, bytes_by)                                                 \
    KERNEL("", "mov.u32 %r1, 0;\n"                                                              \
               "mov.u32 %r2, bars;\n"                                                           \
               "loop:\n" UNROLLED_PART("0", "0", quotient, bytes)                               \
                   UNROLLED_PART("1", "8", quotient, bytes) "add.s32 %r1, %r1, " by ";\n"       \
                                                            "add.s32 %r2, %r2, " bytes_by ";\n" \
                                                            "ld.global.u32 %r6, [%rd1];\n"      \
                                                            "setp.ne.s32 %p1, %r6, 0;\n"        \
                                                            "@%p1 bra loop;\n")
#define THIRD "mul.wide.u32 %rd2, %r3, -1431655765;\nshr.u64 %rd3, %rd2, 33;\ncvt.u32.u64 %r4, %rd3;\n"
#define SEVENTH                                                                              \
    "mul.wide.u32 %rd2, %r3, 613566757;\nshr.u64 %rd3, %rd2, 32;\ncvt.u32.u64 %r10, %rd3;\n" \
    "sub.s32 %r11, %r3, %r10;\nshr.u32 %r12, %r11, 1;\nadd.s32 %r13, %r12, %r10;\nshr.u32 %r4, %r13, 2;\n"

static void a_loop_that_is_unrolled_goes_round_its_ring(void **state)
{
    (void)state;
    expect(UNROLLED(THIRD, "24", "2", "16"), "arrive 0x400+8 x 3 1\n"
                                             "arrive 0x400+8 x 3 1\n");
    expect(UNROLLED(SEVENTH, "56", "2", "16"), "arrive 0x400+8 x 7 1\n"
                                               "arrive 0x400+8 x 7 1\n");
    expect(UNROLLED(THIRD, "24", "3", "24"), "arrive 0x400 1\n"
                                             "arrive 0x408 1\n");
    /* Where the pointer does not keep up, nobody knows. */
    expect(UNROLLED(THIRD, "16", "2", "16"), "arrive 0x400+16 x ? 1\n"
                                             "arrive 0x408+16 x ? 1\n");
}

static void a_cluster_address_may_be_of_any_cta(void **state)
{
    (void)state;
    expect(KERNEL("", "mov.u32 %r1, bars;\n"
                      "mapa.shared::cluster.u32 %r2, %r1, 1;\n"
                      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"),
           "arrive 0x400 1 any CTA\n"
           "arrive 0x400 1\n");
}

static void a_multicast_names_its_ctas(void **state)
{
    (void)state;
    expect(KERNEL(".reg .b16 %rs<2>;\n",
                  "ld.param.u64 %rd1, [flag];\n"
                  "mov.u32 %r1, bars;\n"
                  "mov.u16 %rs1, 5;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                  "[%r1+32], [%rd1], 2048, [%r1+8], %rs1;\n"),
           "TMA load 0x408 2048 any CTA of 0x5\n");
}

static void copies_complete_on_their_barrier(void **state)
{
    (void)state;
    expect(KERNEL("",
                  "ld.param.u64 %rd1, [flag];\n"
                  "mov.u32 %r1, bars;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+32], [%rd1], 2048, [%r1+8];\n"
                  "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[%r1+32], [%rd1, {%r3, %r4}], [%r1+16];\n"
                  "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;\n"
                  "cp.async.bulk.commit_group;\n"
                  "cp.async.bulk.wait_group 1;\n"),
           "TMA load 0x408 2048\n"
           "TMA load 0x410 ?\n"
           "TMA store somewhere ?\n"
           "cp.async.bulk.wait_group somewhere 1\n");
}

/* As libraries do: each group of 64 threads has a barrier of its own. */
static void a_warp_s_own_barrier_is_told_by_its_index(void **state)
{
    (void)state;
    static const char text[] = KERNEL("", "mov.u32 %r1, %tid.x;\n"
                                          "shr.u32 %r2, %r1, 6;\n"
                                          "add.s32 %r3, %r2, 1;\n"
                                          "bar.sync %r3, 64;\n");
    expect(text, "bar.sync 0x1+1 x 2 64\n");
    expect_of_threads(text, 32, 32, "bar.sync 0x1 64\n");
    expect_of_threads(text, 96, 32, "bar.sync 0x2 64\n");
}

static void the_other_barriers_are_found(void **state)
{
    (void)state;
    expect(KERNEL("", "setmaxnreg.dec.sync.aligned.u32 40;\n"
                      "bar.sync 0;\n"
                      "bar.arrive 3, 256;\n"
                      "barrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\n"
                      "griddepcontrol.launch_dependents;\n"
                      "griddepcontrol.wait;\n"
                      "setmaxnreg.inc.sync.aligned.u32 232;\n"),
           "setmaxnreg.dec somewhere 40\n"
           "bar.sync 0x0 0\n"
           "bar.arrive 0x3 256\n"
           "barrier.cluster.arrive somewhere ?\n"
           "barrier.cluster.wait somewhere ?\n"
           "griddepcontrol.launch_dependents somewhere ?\n"
           "griddepcontrol.wait somewhere ?\n"
           "setmaxnreg.inc somewhere 232\n");
}

/* More predicates at a time than there are numbers: those without a number decide nothing, and no other is wrong. */
static void too_many_predicates_are_not_known(void **state)
{
    enum { COUNT = 60, NUMBERS = WSDBG_PT + WSDBG_MORE_PREDICATES };
    static const char head[] = KERNEL(".reg .pred %q<60>;\n", "mov.u32 %r1, %tid.x;\n"), tail[] = "ret;\n}\n";
    char text[16384], expected[2048] = "";
    size_t at = sizeof head - sizeof tail;
    memcpy(text, head, at);
    for (int i = 0; i < COUNT; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "setp.eq.s32 %%q%d, %%r1, %d;\n", i, i);
    for (int i = 0; i < COUNT; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "@%%q%d mbarrier.arrive.shared::cta.b64 _, [bars];\n", i);
        strcat(expected, i < NUMBERS ? "arrive 0x400 1 one\n" : "arrive 0x400 1\n");
    }
    snprintf(text + at, sizeof text - at, "%s", tail);
    (void)state;
    expect(text, expected);
}

/* What a called function needs shares no number with what its caller still needs. */
static void a_called_function_overwrites_nothing(void **state)
{
    (void)state;
    expect(".version 8.6\n.target sm_90a\n.address_size 64\n"
           ".func twice(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
           "ld.param.u32 %r1, [a];\nadd.s32 %r2, %r1, 64;\nmbarrier.arrive.shared::cta.b64 _, [%r2];\nret;\n}\n"
           ".visible .entry kernel()\n{\n.shared .align 8 .b64 bars[8];\n.reg .b32 %r<5>;\n"
           "mov.u32 %r1, bars;\n"
           "{\n.param .b32 p;\nst.param.b32 [p], %r1;\ncall.uni twice, (p);\n}\n"
           "mbarrier.arrive.shared::cta.b64 _, [%r1];\nret;\n}\n",
           "arrive 0x440 1\n"
           "arrive 0x400 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_are_named_by_their_addresses),
        cmocka_unit_test(the_arrival_of_copies_may_count),
        cmocka_unit_test(an_address_by_the_generic_way_is_followed),
        cmocka_unit_test(a_ring_of_stages_has_its_places),
        cmocka_unit_test(an_access_has_the_scope_that_its_text_names),
        cmocka_unit_test(what_nobody_can_follow_is_somewhere),
        cmocka_unit_test(one_lane_is_picked_by_its_thread_or_elect),
        cmocka_unit_test(one_lane_is_picked_by_a_number_that_elect_selects),
        cmocka_unit_test(one_lane_is_picked_together_with_something_else),
        cmocka_unit_test(numbers_of_16_bits_are_followed),
        cmocka_unit_test(a_signed_remainder_has_its_places),
        cmocka_unit_test(what_only_looks_like_a_signed_remainder_is_wider),
        cmocka_unit_test(a_loop_that_is_unrolled_goes_round_its_ring),
        cmocka_unit_test(a_cluster_address_may_be_of_any_cta),
        cmocka_unit_test(a_multicast_names_its_ctas),
        cmocka_unit_test(copies_complete_on_their_barrier),
        cmocka_unit_test(a_warp_s_own_barrier_is_told_by_its_index),
        cmocka_unit_test(the_other_barriers_are_found),
        cmocka_unit_test(too_many_predicates_are_not_known),
        cmocka_unit_test(a_called_function_overwrites_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
