/* lanes_test.c - what the lanes of a warp do together, and how they part and meet: each lane stores a word, by its
 * number. */
#include "hopper/kernel.h"

#include <stdlib.h>
#include <string.h>

/* Bodies compute %r0 and end here. */
#define STORE                                                                                                       \
    "\nmov.u32 %r31, %tid.x; mul.wide.u32 %rd31, %r31, 4; add.u64 %rd31, %rd1, %rd31; st.global.u32 [%rd31], %r0; " \
    "ret;"
#define LANE "mov.u32 %r1, %laneid;\n"

static void run(struct machine *machine, const char *body, uint32_t threads)
{
    const enum wsdbg_gpu_outcome outcome = kernel_run(machine, body, (struct kernel_launch){.block = threads}, NULL);
    if (wsdbg_gpu_fault(machine->run))
        fail_msg("%s", wsdbg_gpu_fault(machine->run)->text);
    assert_int_equal(outcome, WSDBG_GPU_IDLE);
}

static void expect_each(const char *body, uint32_t (*expected)(uint32_t lane))
{
    struct machine machine;
    run(&machine, body, 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        if (machine_word(&machine, lane) != expected(lane))
            fail_msg("lane %u: 0x%x, not 0x%x, after %s", lane, machine_word(&machine, lane), expected(lane), body);
    machine_destroy(&machine);
}

/* ---- shfl ---- */

static uint32_t of_lane_5(uint32_t lane)
{
    (void)lane;
    return 105;
}
static uint32_t three_below(uint32_t lane)
{
    return lane >= 3 ? 100 + lane - 3 : 100 + lane;
}
static uint32_t three_above_of_8(uint32_t lane)
{
    return lane % 8 + 3 < 8 ? 100 + lane + 3 : 100 + lane;
}
static uint32_t partner(uint32_t lane)
{
    return 100 + (lane ^ 4);
}
static uint32_t is_valid_above(uint32_t lane)
{
    return lane + 3 < 32;
}

static void shuffles(void **state)
{
    (void)state;
    expect_each(LANE "add.u32 %r2, %r1, 100; shfl.sync.idx.b32 %r0, %r2, 5, 31, -1;" STORE, of_lane_5);
    expect_each(LANE "add.u32 %r2, %r1, 100; shfl.sync.up.b32 %r0, %r2, 3, 0, -1;" STORE, three_below);
    expect_each(LANE "add.u32 %r2, %r1, 100; shfl.sync.down.b32 %r0, %r2, 3, 0x181f, -1;" STORE, three_above_of_8);
    expect_each(LANE "add.u32 %r2, %r1, 100; shfl.sync.bfly.b32 %r0, %r2, 4, 31, -1;" STORE, partner);
    expect_each(LANE "shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1; selp.u32 %r0, 1, 0, %p1;" STORE, is_valid_above);
}

/* ---- vote, match, redux, elect ---- */

static uint32_t odd_lanes(uint32_t lane)
{
    (void)lane;
    return 0xaaaaaaaa;
}
static uint32_t one(uint32_t lane)
{
    (void)lane;
    return 1;
}
static uint32_t zero(uint32_t lane)
{
    (void)lane;
    return 0;
}
static uint32_t same_rest(uint32_t lane)
{
    return 0x11111111u << lane % 4;
}
static uint32_t sum_of_lanes(uint32_t lane)
{
    (void)lane;
    return 31 * 32 / 2;
}
static uint32_t only_lane_0(uint32_t lane)
{
    return lane == 0;
}

#define ODD LANE "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;\n"
#define AS_WORD "selp.u32 %r0, 1, 0, %p2;" STORE

static void votes(void **state)
{
    (void)state;
    expect_each(ODD "vote.sync.ballot.b32 %r0, %p1, -1;" STORE, odd_lanes);
    expect_each(ODD "vote.sync.any.pred %p2, %p1, -1;" AS_WORD, one);
    expect_each(ODD "vote.sync.all.pred %p2, %p1, -1;" AS_WORD, zero);
    expect_each(ODD "vote.sync.uni.pred %p2, %p1, -1;" AS_WORD, zero);
    expect_each(LANE "setp.lt.u32 %p1, %r1, 99; vote.sync.all.pred %p2, %p1, -1;" AS_WORD, one);
    expect_each(LANE "setp.lt.u32 %p1, %r1, 99; vote.sync.uni.pred %p2, !%p1, -1;" AS_WORD, one);
    expect_each(LANE "and.b32 %r2, %r1, 3; match.any.sync.b32 %r0, %r2, -1;" STORE, same_rest);
    expect_each(LANE "mov.u64 %rd2, 7; match.all.sync.b64 %r0|%p2, %rd2, -1;" AS_WORD, one);
    expect_each(LANE "match.all.sync.b32 %r0|%p2, %r1, -1;" AS_WORD, zero);
    expect_each(LANE "redux.sync.add.u32 %r0, %r1, -1;" STORE, sum_of_lanes);
    expect_each(LANE "sub.u32 %r2, %r1, 1; redux.sync.min.s32 %r2, %r2, -1; neg.s32 %r0, %r2;" STORE, one);
    expect_each(LANE "redux.sync.xor.b32 %r0, %r1, -1;" STORE, zero);
    expect_each(LANE "elect.sync _|%p2, -1;" AS_WORD, only_lane_0);
    expect_each("activemask.b32 %r2; setp.eq.u32 %p2, %r2, -1;" AS_WORD, one);
}

/* ---- ways part and meet ---- */

static uint32_t twice_or_thrice(uint32_t lane)
{
    return lane & 1 ? 3 * lane : 2 * lane;
}
static uint32_t own_count(uint32_t lane)
{
    return lane * (lane + 1) / 2;
}
static uint32_t by_table(uint32_t lane)
{
    static const uint32_t values[] = {10, 20, 30};
    return values[lane % 3];
}
static uint32_t squared(uint32_t lane)
{
    return lane < 16 ? lane * lane : 7;
}

static void branches(void **state)
{
    (void)state;
    expect_each(ODD "@%p1 bra odd; shl.b32 %r0, %r1, 1; bra join; odd: mul.lo.u32 %r0, %r1, 3; join:" STORE,
                twice_or_thrice);
    /* Every lane goes round as often as its number says. */
    expect_each(LANE
                "mov.u32 %r0, 0; mov.u32 %r2, 0; again: setp.ge.u32 %p1, %r2, %r1; @%p1 bra done; add.u32 %r2, %r2, 1; "
                "add.u32 %r0, %r0, %r2; bra again; done:" STORE,
                own_count);
    expect_each(LANE
                "rem.u32 %r2, %r1, 3; ways: .branchtargets a, b, c; brx.idx %r2, ways; a: mov.u32 %r0, 10; bra join; "
                "b: mov.u32 %r0, 20; bra join; c: mov.u32 %r0, 30; join:" STORE,
                by_table);
    /* The join stands before one of the ways, as compilers lay out what is rarely gone: lanes there wait for the
     * others. */
    expect_each(
        ODD "bra begin; join: activemask.b32 %r2; setp.eq.u32 %p2, %r2, -1; selp.u32 %r0, 1, 0, %p2; bra store; "
            "begin: @%p1 bra odd; bra join; odd: add.u32 %r3, %r1, 1; mul.lo.u32 %r3, %r3, 3; bra join; store:" STORE,
        one);
    /* After the join all lanes are together again. */
    expect_each(ODD "@%p1 bra odd; add.u32 %r3, %r1, 1; odd: activemask.b32 %r2; setp.eq.u32 %p2, %r2, -1;" AS_WORD,
                one);
}

static void calls(void **state)
{
    (void)state;
    struct machine machine;
    machine_run(&machine,
                PTX_HEAD
                ".func (.param .b32 result) square(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n"
                "mul.lo.u32 %r2, %r1, %r1;\nst.param.b32 [result], %r2;\nret;\n}\n"
                ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<32>;\n"
                ".reg .b64 %rd<32>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %laneid;\nmov.u32 %r0, 7;\n"
                "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra behind;\n{\n.param .b32 x;\nst.param.b32 [x], %r1;\n"
                ".param .b32 result;\ncall.uni (result), square, (x);\nld.param.b32 %r0, [result];\n}\nbehind:" STORE
                "\n}\n",
                32);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(machine_word(&machine, lane), squared(lane));
    machine_destroy(&machine);
}

/* Lanes that exit are not waited for, also when they leave later than the others wait. */
static uint32_t even_lanes(uint32_t lane)
{
    return lane & 1 ? 0 : 0x55555555;
}

static void exits(void **state)
{
    (void)state;
    expect_each(ODD "@%p1 exit; activemask.b32 %r0; bar.warp.sync -1;" STORE, even_lanes);
    expect_each(ODD
                "@%p1 bra odd; vote.sync.ballot.b32 %r0, 1, -1; bra join; odd: nanosleep.u32 1000; exit; join:" STORE,
                even_lanes);
}

/* Two halves wait at one instruction, each for itself. */
static uint32_t own_half(uint32_t lane)
{
    return lane < 16 ? 0xffff : 0xffff0000;
}

static void masks(void **state)
{
    (void)state;
    expect_each(
        LANE "setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0xffff, 0xffff0000, %p1; vote.sync.ballot.b32 %r0, 1, %r2;" STORE,
        own_half);
    /* The upper half comes later. */
    expect_each(LANE "setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0xffff, 0xffff0000, %p1; @%p1 bra go; nanosleep.u32 500; "
                     "go: vote.sync.ballot.b32 %r0, 1, %r2;" STORE,
                own_half);
}

/* Lanes that part meet at barriers of both ways, and where only some pass one, the others go on to the next. */
static void barriers_of_several_instructions(void **state)
{
    (void)state;
#define ONE "mov.u32 %r0, 1;" STORE
#define TWO_GUARDS(barrier) ODD "@%p1 " barrier "; @!%p1 " barrier "; " ONE
#define TWO_WAYS(barrier) ODD "@%p1 bra odd; " barrier "; bra join; odd: " barrier "; join: " ONE
    expect_each(TWO_GUARDS("bar.warp.sync -1"), one);
    expect_each(TWO_WAYS("bar.warp.sync -1"), one);
    expect_each(TWO_GUARDS("barrier.sync 1, 32"), one);
    expect_each(TWO_WAYS("barrier.sync 1, 32"), one);
    expect_each(ODD "barrier.cluster.arrive; @%p1 barrier.cluster.wait; @!%p1 barrier.cluster.wait; " ONE, one);
    expect_each(ODD "@%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait; @!%p1 barrier.cluster.arrive; "
                    "@!%p1 barrier.cluster.wait; " ONE,
                one);
    /* The first barrier orders what the two ways do. */
    expect_each(ODD ".shared .b32 x; @%p1 bra odd; st.shared.u32 [x], 1; bar.warp.sync -1; mov.u32 %r0, 1; bra join;\n"
                    "odd: bar.warp.sync -1; ld.shared.u32 %r0, [x]; join:" STORE,
                one);
    expect_each(LANE "setp.lt.u32 %p1, %r1, 16; @%p1 bar.warp.sync -1; " ONE, one);
}

/* What lanes of two instructions would exchange is not known here: that is said, and is no hang. */
static void values_are_exchanged_at_one_instruction(void **state)
{
    (void)state;
    struct machine machine;
    assert_int_equal(kernel_run(&machine,
                                ODD "@%p1 bra odd; shfl.sync.idx.b32 %r2, %r1, 1, 31, -1; bra join;\n"
                                    "odd: shfl.sync.idx.b32 %r2, %r1, 2, 31, -1; join:",
                                (struct kernel_launch){.block = 32}, NULL),
                     WSDBG_GPU_FAULT);
    assert_non_null(strstr(wsdbg_gpu_fault(machine.run)->text, "that they exchange values is not simulated"));
    machine_destroy(&machine);
}

/* Lane 0 waits in a loop for what lane 1 does behind the loop: lane 1 must get its turn (Volta and later). */
static void nobody_starves(void **state)
{
    (void)state;
    expect_each(
        LANE
        "mov.u32 %r0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra give; wait: ld.volatile.global.u32 %r2, [%rd1+1024]; "
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra wait; bra join; give: st.volatile.global.u32 [%rd1+1024], 1; join:" STORE,
        one);
    /* The same where the loop counts, so that it is no spin: lane 0 gives up after a million rounds. */
    expect_each(LANE "mov.u32 %r3, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra give; wait: add.u32 %r3, %r3, 1; "
                     "ld.volatile.global.u32 %r2, [%rd1+1024]; "
                     "setp.eq.u32 %p2, %r2, 0; setp.lt.and.u32 %p2, %r3, 1000000, %p2; @%p2 bra wait; bra join; give: "
                     "st.volatile.global.u32 [%rd1+1024], 1; join: "
                     "setp.lt.u32 %p2, %r3, 1000000;" AS_WORD,
                one);
}

/* All lanes access memory, one behind the other, in the same place and with gaps: as words, vectors, and of the stack.
 */
static uint32_t own_vector(uint32_t lane)
{
    return lane * 2 + (lane * 2 + 1) * 100;
}
static uint32_t backwards(uint32_t lane)
{
    return 31 - lane;
}

static void whole_warps_access_memory(void **state)
{
    (void)state;
    expect_each(LANE ".shared .align 8 .b8 tile[256]; mov.u32 %r2, tile; shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; "
                     "shl.b32 %r4, %r1, 1; "
                     "add.u32 %r5, %r4, 1; mul.lo.u32 %r5, %r5, 100; st.shared.v2.u32 [%r3], {%r4, %r5}; "
                     "ld.shared.v2.u32 {%r6, %r7}, [%r3]; add.u32 %r0, %r6, %r7;" STORE,
                own_vector);
    expect_each(LANE ".shared .align 8 .b8 tile[256]; mov.u32 %r2, tile; shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; "
                     "shl.b32 %r4, %r1, 1; "
                     "add.u32 %r5, %r4, 1; mul.lo.u32 %r5, %r5, 100; st.shared.u32 [%r3], %r4; st.shared.u32 [%r3+4], "
                     "%r5; ld.shared.u64 %rd2, [%r3]; mov.b64 {%r6, %r7}, %rd2; add.u32 %r0, %r6, %r7;" STORE,
                own_vector);
    expect_each(LANE ".shared .align 4 .b8 tile[128]; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; "
                     "st.shared.u32 [%r4], %r1; "
                     "sub.u32 %r4, %r2, %r3; ld.shared.u32 %r0, [%r4+124];" STORE,
                backwards);
    expect_each(LANE ".shared .align 4 .b8 tile[128]; mov.u32 %r2, tile; st.shared.u32 [%r2+64], 1; ld.shared.u32 %r0, "
                     "[%r2+64];" STORE,
                one);
    expect_each(
        LANE
        ".local .align 4 .b8 own[8]; st.local.u32 [own+4], %r1; ld.local.u32 %r2, [own+4]; sub.u32 %r0, 31, %r2;" STORE,
        backwards);
}

/* What a vector moves is what its elements move one by one, 16 bytes of each lane behind those of the lane before. */
static uint32_t weighted(uint32_t lane)
{
    return lane + 3 * (lane + 100) + 5 * (lane + 200) + 7 * (lane + 300);
}
static uint32_t weighted_of_even(uint32_t lane)
{
    return lane % 2 == 0 ? weighted(lane) : 0;
}
#define FOUR                                                                                                        \
    LANE ".shared .align 16 .b8 tile[512]; mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r3, %r2, %r3; add.u32 " \
         "%r5, %r1, 100; add.u32 %r6, %r1, 200; add.u32 %r7, %r1, 300; and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, " \
         "0;\n"
#define STORE_EACH(guard)                                                                                           \
    guard "st.shared.u32 [%r3], %r1;" guard "st.shared.u32 [%r3+4], %r5;" guard "st.shared.u32 [%r3+8], %r6;" guard \
          "st.shared.u32 [%r3+12], %r7;\n"
#define LOAD_EACH                                                                                        \
    "ld.shared.u32 %r9, [%r3]; ld.shared.u32 %r10, [%r3+4]; ld.shared.u32 %r11, [%r3+8]; ld.shared.u32 " \
    "%r12, [%r3+12];\n"
#define WEIGH "mad.lo.u32 %r0, %r10, 3, %r9; mad.lo.u32 %r0, %r11, 5, %r0; mad.lo.u32 %r0, %r12, 7, %r0;" STORE

static void whole_warps_move_vectors(void **state)
{
    (void)state;
    expect_each(FOUR "st.shared.v4.u32 [%r3], {%r1, %r5, %r6, %r7};\n" LOAD_EACH WEIGH, weighted);
    expect_each(FOUR STORE_EACH("") "ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r3];\n" WEIGH, weighted);
    expect_each(FOUR "st.shared.v2.u32 [%r3], {%r1, %r5}; st.shared.v2.u32 [%r3+8], {%r6, %r7};\n" LOAD_EACH WEIGH,
                weighted);
    expect_each(FOUR "mov.b64 %rd2, {%r1, %r5}; mov.b64 %rd3, {%r6, %r7}; st.shared.v2.b64 [%r3], {%rd2, "
                     "%rd3};\n" LOAD_EACH WEIGH,
                weighted);
    expect_each(FOUR STORE_EACH("") "ld.shared.v2.b64 {%rd2, %rd3}, [%r3]; mov.b64 {%r9, %r10}, %rd2; mov.b64 {%r11, "
                                    "%r12}, %rd3;\n" WEIGH,
                weighted);
    expect_each(FOUR "@%p1 st.shared.v4.u32 [%r3], {%r1, %r5, %r6, %r7};\n" LOAD_EACH WEIGH, weighted_of_even);
    expect_each(FOUR STORE_EACH("@%p1 ") "ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r3];\n" WEIGH, weighted_of_even);
}

/* A lock taken and given back by each lane in turn. */
static void lanes_share_a_lock(void **state)
{
    (void)state;
    struct machine machine;
    run(&machine,
        "again: atom.global.cas.b32 %r2, [%rd1+256], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;\n"
        "ld.volatile.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1], %r3;\n"
        "atom.global.exch.b32 %r2, [%rd1+256], 0; ret;",
        96);
    assert_int_equal(machine_word(&machine, 0), 96);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles),
        cmocka_unit_test(votes),
        cmocka_unit_test(branches),
        cmocka_unit_test(calls),
        cmocka_unit_test(exits),
        cmocka_unit_test(masks),
        cmocka_unit_test(barriers_of_several_instructions),
        cmocka_unit_test(values_are_exchanged_at_one_instruction),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(whole_warps_access_memory),
        cmocka_unit_test(whole_warps_move_vectors),
        cmocka_unit_test(lanes_share_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
