/* wait_site_test.c - what a warp waits for, from the code around its counter alone; and what an mbarrier's word says.
 *
 * Instructions are written as ptxas encodes them for sm_90; only the control bits for scheduling are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "machine/wait_site.h"
#include "machine/words.h"

struct code {
    uint64_t words[2];
};

/* clang-format off */
#define TRY_WAIT      {{0x00000804050075a7, 0x000e62000800017f}} /* SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x8], R4 */
#define TEST_WAIT     {{0x00000804050075a7, 0x000e64000800007f}} /* the same without TRYWAIT */
#define OTHER_TEST    {{0x00002004050075a7, 0x000e64000800007f}} /* [R5+0x20] */
#define HINT_TEST     {{0x00000804050085a7, 0x000e64000800007f}} /* @!P0, the one of TRY_WAIT again */
#define HINT          {{0x009896800000895d, 0x002fea0003900000}} /* @!P0 NANOSLEEP.SYNCS 0x989680 */
#define BACK_1        {{0xfffffffc00f88947, 0x002fea000383ffff}} /* @!P0 BRA to the instruction before */
#define BACK_2        {{0xfffffffc00f48947, 0x002fea000383ffff}} /* … two before */
#define BACK_3        {{0xfffffffc00f08947, 0x002fea000383ffff}} /* … three before */
#define BACK_4        {{0xfffffffc00ec8947, 0x002fea000383ffff}} /* … four before */
#define BACK_6        {{0xfffffffc00e47947, 0x000fea000383ffff}} /* BRA to the sixth instruction before */
#define SKIP_1        {{0x0000000000048947, 0x000fea0003800000}} /* @!P0 BRA over the next instruction */
#define ARRIVE        {{0x000000ff00ff79a7, 0x000fe2000810003f}} /* SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0], RZ */
#define BAR_SYNC      {{0x0040000000007b1d, 0x000ff00000010000}} /* BAR.SYNC.DEFER_BLOCKING 0x1 */
#define BAR_ARV       {{0x0302000000007b1d, 0x000fec0000002000}} /* BAR.ARV 0xc, 0x80 */
#define BAR_OF_R0     {{0x000400000000751d, 0x0001e20000010000}} /* BAR.SYNC.DEFER_BLOCKING R0, 0x100 */
#define BAR_IF_P0     {{0x0002000a0000051d, 0x0005e20000010000}} /* @P0 BAR.SYNC.DEFER_BLOCKING R10, 0x80 */
#define SET_P0        {{0x000000ff0000720c, 0x000fca0003f05270}} /* ISETP.NE.AND P0, PT, R0, RZ, PT */
#define ADD_R4        {{0x0000000204047836, 0x000fca0000000000}} /* VIADD R4, R4, 0x2 */
#define ADD_R3        {{0x0000000203037836, 0x000fca0000000000}} /* VIADD R3, R3, 0x2 */
#define ADD_R0        {{0x0000000200007836, 0x000fca0000000000}} /* VIADD R0, R0, 0x2 */
#define LOAD          {{0x0004000004047984, 0x000e640000000800}} /* LDS R4, [R4+0x400] */
#define TO_UNIFORM    {{0x00000000001112ca, 0x000fe400000e0000}} /* @P1 R2UR UR17, R0 */
#define CLUSTER_WAIT  {{0x0000000000007dc7, 0x000fe20008000000}}
#define GRID_WAIT     {{0x000000000000782e, 0x000fe20000000000}} /* ACQBULK */
#define WARPSYNC      {{0x0000000000007948, 0x000ff20003800000}}
#define TRY_ALLOC     {{0x000000f0000079c8, 0x000e240008000600}} /* USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0 */
#define DEALLOC       {{0x00000028000079c8, 0x000e0000080e0500}}
#define WGMMA_WAIT    {{0x00008000000079c5, 0x000fe40000010000}} /* WARPGROUP.DEPBAR.LE gsb0, 0x0 */
#define FLUSH         {{0x00000000000079b7, 0x0001e20000000000}} /* UTMACMDFLUSH */
#define DEPBAR        {{0x000080000000791a, 0x000fc80000000000}} /* DEPBAR.LE SB0, 0x0 */
/* while (*flag == 0 && clock64() - began < limit): LDC, LDG, CS2R SR_CLOCKLO, their tests, @!P0 BRA to the LDC */
#define TIMED_POLL                                                                                               \
    {{0x00008400ff027b82, 0x000e240000000a00}}, {{0x0000000402007981, 0x001ea2000c1f5900}},                        \
    {{0x0000000000067805, 0x000fcc0000015000}}, {{0x0000000604087210, 0x000fe40007f1e1ff}},                      \
    {{0x000000ff0000720c, 0x004fc60003f22270}}, {{0x0000000107067824, 0x000fe200000e0e05}},                      \
    {{0x05f5e1000800780c, 0x000fc80003f06070}}, {{0x000000ff0600720c, 0x000fda0003f06300}},                      \
    {{0xfffffffc00e08947, 0x000fea000083ffff}}
/* while (*flag == 0.0f) nanosleep(1000) */
#define FLOAT_POLL                                                                                               \
    {{0x000003e80000795d, 0x000fea0003800000}}, {{0x004e200402007981, 0x000ea4000c1f5900}},                        \
    {{0x000000ff0000720b, 0x004fda0003f0d000}}, {{0xfffffffc00f08947, 0x000fea000383ffff}}
/* for (;;) { if (test) arrive; if (other test) arrive; } */
#define TESTS_IN_TURN TEST_WAIT, SKIP_1, ARRIVE, OTHER_TEST, BACK_4, ARRIVE, BACK_6
#define NOP           {{0x0000000000007918, 0x000fc00000000000}}
#define EXIT          {{0x000000000000794d, 0x000fea0003800000}}
/* clang-format on */

enum { NONE = -1 };

static const struct {
    const char *says;
    struct code code[10];
    uint32_t pc;
    enum wsdbg_warp_state state;
    uint32_t instruction, home;
    int before; /* the BAR it may be in, NONE */
} cases[] = {
    {"the test of a spin loop", {TRY_WAIT, BACK_1, EXIT}, 0, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"the branch of a spin loop", {TRY_WAIT, BACK_1, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"behind the loop it goes on", {TRY_WAIT, BACK_1, NOP, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, NONE},
    {"a loop around test_wait waits too", {TEST_WAIT, NOP, BACK_2, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"a single test_wait does not", {TEST_WAIT, NOP, EXIT}, 0, WSDBG_WARP_RUNNING, 0, 0, NONE},
    {"a single try_wait may be held up", {NOP, TRY_WAIT, NOP, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, 1, 1, NONE},
    {"asleep with a hint", {TRY_WAIT, HINT, HINT_TEST, BACK_3, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"the test after a hint", {TRY_WAIT, HINT, HINT_TEST, BACK_3, EXIT}, 2, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"one of two barriers", {TEST_WAIT, OTHER_TEST, BACK_2, EXIT}, 1, WSDBG_WARP_UNKNOWN, 1, 0, NONE},
    {"two barriers in turn", {TESTS_IN_TURN, EXIT}, 3, WSDBG_WARP_WAIT_MBARRIER, 0, 0, NONE},
    {"... one of them is through", {TESTS_IN_TURN, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, NONE},
    {"a loop that acts whatever its test says",
     {TRY_WAIT, BACK_1, SKIP_1, ARRIVE, ADD_R4, NOP, BACK_6, EXIT},
     4,
     WSDBG_WARP_RUNNING,
     4,
     4,
     NONE},
    {"a loop that arrives works", {TEST_WAIT, ARRIVE, BACK_2, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, NONE},
    {"BAR.SYNC leaves the counter behind it", {BAR_SYNC, NOP, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, 0},
    {"BAR of a register lets arithmetic go on", {BAR_OF_R0, ADD_R3, LOAD, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, 0},
    {"... up to the first load", {BAR_OF_R0, ADD_R3, ADD_R3, LOAD, EXIT}, 3, WSDBG_WARP_RUNNING, 3, 3, 0},
    {"... and no further", {BAR_OF_R0, ADD_R3, LOAD, NOP, EXIT}, 3, WSDBG_WARP_RUNNING, 3, 3, NONE},
    {"... also over its own register", {BAR_OF_R0, ADD_R0, LOAD, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, 0},
    {"so does a BAR of constants", {BAR_SYNC, ADD_R3, LOAD, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, 0},
    {"... so does a copy to a uniform register",
     {BAR_SYNC, ADD_R3, TO_UNIFORM, ADD_R3, LOAD, EXIT},
     4,
     WSDBG_WARP_RUNNING,
     4,
     4,
     0},
    {"... which stands alone behind it", {BAR_SYNC, TO_UNIFORM, ADD_R3, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, 0},
    {"... but a load does not", {BAR_SYNC, ADD_R3, LOAD, TO_UNIFORM, NOP, EXIT}, 4, WSDBG_WARP_RUNNING, 4, 4, NONE},
    {"... nor the head of a loop behind it", {BAR_SYNC, ADD_R3, LOAD, BACK_1, EXIT}, 2, WSDBG_WARP_RUNNING, 2, 2, 0},
    {"... but the loop's branch does", {BAR_SYNC, ADD_R3, LOAD, BACK_1, EXIT}, 3, WSDBG_WARP_RUNNING, 3, 3, NONE},
    {"BAR.ARV does not wait", {BAR_ARV, NOP, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, NONE},
    {"in a BAR, or in the wait behind it", {BAR_SYNC, TRY_WAIT, BACK_1, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, 1, 1, 0},
    {"the cluster barrier", {NOP, CLUSTER_WAIT, EXIT}, 1, WSDBG_WARP_WAIT_CLUSTER, 1, 1, NONE},
    {"griddepcontrol.wait", {NOP, GRID_WAIT, EXIT}, 1, WSDBG_WARP_WAIT_GRID_DEPENDENCY, 1, 1, NONE},
    {"anywhere in setmaxnreg's loop",
     {WARPSYNC, TRY_ALLOC, NOP, BACK_3, EXIT},
     2,
     WSDBG_WARP_WAIT_REGISTERS,
     1,
     0,
     NONE},
    {"a release does not wait", {WARPSYNC, DEALLOC, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, NONE},
    {"wgmma.wait_group", {NOP, WGMMA_WAIT, EXIT}, 1, WSDBG_WARP_WAIT_WGMMA, 1, 1, NONE},
    {"a wait for copies out", {FLUSH, DEPBAR, EXIT}, 1, WSDBG_WARP_WAIT_BULK, 1, 1, NONE},
    {"a wait for something else", {NOP, DEPBAR, EXIT}, 1, WSDBG_WARP_RUNNING, 1, 1, NONE},
    {"a poll with a time limit is one", {TIMED_POLL, EXIT}, 1, WSDBG_WARP_SPIN_GLOBAL, 1, 1, NONE},
    {"a poll of a floating-point number", {FLOAT_POLL, EXIT}, 2, WSDBG_WARP_SPIN_GLOBAL, 1, 0, NONE},
    {"lanes that gather", {NOP, WARPSYNC, EXIT}, 1, WSDBG_WARP_RECONVERGE, 1, 1, NONE},
};

static void each_place_of_a_wait_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wsdbg_graph *graph;
        struct wsdbg_wait_site site;
        const uint64_t exit_word = (struct code)EXIT.words[0];
        size_t count = 0;
        while (cases[i].code[count++].words[0] != exit_word)
            continue;
        print_message("%s\n", cases[i].says);
        const struct wsdbg_image code = {(const unsigned char *)cases[i].code, count * sizeof *cases[i].code};
        assert_null(wsdbg_graph_create(&code, &graph));
        assert_null(wsdbg_wait_site_find(graph, cases[i].pc, &site));
        assert_int_equal(site.state, cases[i].state);
        assert_int_equal(site.instruction, cases[i].instruction);
        assert_int_equal(site.home, cases[i].home);
        assert_int_equal((int)site.barrier_before, cases[i].before);
        wsdbg_graph_destroy(graph);
    }
}

/* A loop that finds the parity of its test anew in each round: it is known behind the test, up to where it changes. */
static void the_parity_may_be_found_in_the_loop(void **state)
{
    static const struct code code[] = {ADD_R4, TRY_WAIT, HINT, ADD_R4, BACK_4, EXIT};
    static const bool holds[] = {false, true, true, true, false};
    const struct wsdbg_image image = {(const unsigned char *)code, sizeof code};
    struct wsdbg_graph *graph;
    (void)state;
    assert_null(wsdbg_graph_create(&image, &graph));
    for (uint32_t pc = 0; pc < sizeof holds / sizeof *holds; pc++) {
        struct wsdbg_wait_site site;
        assert_null(wsdbg_wait_site_find(graph, pc, &site));
        assert_int_equal(site.state, WSDBG_WARP_WAIT_MBARRIER);
        assert_int_equal(site.instruction, 1);
        assert_int_equal(site.operands_hold, holds[pc]);
        assert_int_equal(site.is_fresh, holds[pc]);
    }
    wsdbg_graph_destroy(graph);
}

/* What the BAR named is not known any more where its register was written since. */
static void the_register_of_a_bar_may_be_overwritten(void **state)
{
    static const struct code kept[] = {BAR_OF_R0, ADD_R3, LOAD, EXIT}, lost[] = {BAR_OF_R0, ADD_R0, LOAD, EXIT};
    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        struct wsdbg_graph *graph;
        struct wsdbg_wait_site site;
        const struct wsdbg_image code = {(const unsigned char *)(holds ? kept : lost), sizeof kept};
        assert_null(wsdbg_graph_create(&code, &graph));
        assert_null(wsdbg_wait_site_find(graph, 2, &site));
        assert_int_equal(site.barrier_before, 0);
        assert_int_equal(site.bar_holds, holds);
        wsdbg_graph_destroy(graph);
    }
}

/* A look reads them there if the loop does not tell what they are. */
static void behind_a_test_its_operands_are_fresh_even_in_a_loop_that_keeps_them(void **state)
{
    static const struct code code[] = {TRY_WAIT, BACK_1, EXIT};
    const struct wsdbg_image image = {(const unsigned char *)code, sizeof code};
    struct wsdbg_graph *graph;
    struct wsdbg_wait_site site;
    (void)state;
    assert_null(wsdbg_graph_create(&image, &graph));
    assert_null(wsdbg_wait_site_find(graph, 1, &site));
    assert_int_equal(site.state, WSDBG_WARP_WAIT_MBARRIER);
    assert_true(site.is_fresh && site.operands_hold);
    wsdbg_graph_destroy(graph);
}

/* The counter may be behind a BAR that was not executed: its guard was written since, or a loop leads there. */
static void whether_a_bar_was_executed_may_be_in_doubt(void **state)
{
    static const struct {
        struct code code[5];
        bool guard_holds, is_joined;
    } bars[] = {
        {{BAR_IF_P0, ADD_R3, LOAD, EXIT, EXIT}, true, false},
        {{BAR_IF_P0, SET_P0, LOAD, EXIT, EXIT}, false, false},
        {{BAR_SYNC, SET_P0, LOAD, EXIT, EXIT}, true, false},
        {{BAR_SYNC, ADD_R3, LOAD, BACK_1, EXIT}, true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        struct wsdbg_graph *graph;
        struct wsdbg_wait_site site;
        const struct wsdbg_image code = {(const unsigned char *)bars[i].code, sizeof bars[i].code};
        assert_null(wsdbg_graph_create(&code, &graph));
        assert_null(wsdbg_wait_site_find(graph, 2, &site));
        assert_int_equal(site.barrier_before, 0);
        assert_int_equal(site.guard_holds, bars[i].guard_holds);
        assert_int_equal(site.bar_is_joined, bars[i].is_joined);
        wsdbg_graph_destroy(graph);
    }
}

/* Measured on an H200: the word after what was done to it. */
static const struct {
    const char *says;
    uint64_t word;
    struct wsdbg_mbarrier_word expected;
} words[] = {
    {"init 1", 0x7ffff800001ffffe, {true, 0, 1, 1, 0}},
    {"init 256", 0x7ff80000001ffe00, {true, 0, 256, 256, 0}},
    {"init 4, 3 arrivals", 0x7ffff800001ffff8, {true, 0, 1, 4, 0}},
    {"init 4, 5 arrivals", 0xffffe800001ffff8, {true, 1, 3, 4, 0}},
    {"init 2, expect_tx 16384", 0x7ffff3f8001ffffc, {true, 0, 2, 2, 16384}},
    {"init 2, arrive.expect_tx 100, arrive", 0x000003fff39ffffc, {true, 0, 0, 2, 100}},
    {"init 2, complete_tx 100", 0x7ffff0000c9ffffc, {true, 0, 2, 2, -100}},
    {"init 4, arrive_drop", 0x7fffe800001ffffa, {true, 0, 3, 3, 0}},
    {"init 1, arrive.expect_tx 1024, arrive: locked", 0x000007ff801ffffe, {true, 0, 0, 1, 1024}},
    {"init 32, 1 arrival left, several by one instruction: locked", 0x7ffffc00001fffc0, {true, 0, 1, 32, 0}},
    {"init 1, an arrival too many beside bytes that came early: locked", 0x80000404001ffffe, {true, 1, 0, 1, -8192}},
};

static void each_word_of_an_mbarrier_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct wsdbg_mbarrier_word read = wsdbg_mbarrier_word(words[i].word);
        print_message("%s\n", words[i].says);
        assert_true(read.is_valid);
        assert_int_equal(read.phase, words[i].expected.phase);
        assert_int_equal(read.pending, words[i].expected.pending);
        assert_int_equal(read.expected, words[i].expected.expected);
        assert_int_equal(read.missing_bytes, words[i].expected.missing_bytes);
    }
}

static void what_no_mbarrier_can_hold_is_none(void **state)
{
    static const uint64_t none[] = {
        0,                  /* never initialised */
        0x7ffff800001fffff, /* bit 0 */
        0x7f800400001fe000, /* locked, and initialised for more threads than a cluster has */
        0x7fffe800001ffffe, /* 3 pending of 1 */
        0x3ff0000000000000, /* 1.0: data */
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(wsdbg_mbarrier_word(none[i]).is_valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_of_a_wait_is_known),
        cmocka_unit_test(the_parity_may_be_found_in_the_loop),
        cmocka_unit_test(the_register_of_a_bar_may_be_overwritten),
        cmocka_unit_test(behind_a_test_its_operands_are_fresh_even_in_a_loop_that_keeps_them),
        cmocka_unit_test(whether_a_bar_was_executed_may_be_in_doubt),
        cmocka_unit_test(each_word_of_an_mbarrier_is_read),
        cmocka_unit_test(what_no_mbarrier_can_hold_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
