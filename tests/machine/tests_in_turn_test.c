/* tests_in_turn_test.c - loops that test several mbarriers in turn and act when a test succeeds: where a warp in one
 * waits, if the test's result goes through a register before the branch, and which accesses of a kernel lie in one.
 *
 * Machine code is written as ptxas encodes it for sm_90; only the control bits for scheduling are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdlib.h>

#include "machine/look.h"
#include "translate/ptx_code.h"
#include "sass/access.h"

struct code {
    uint64_t words[2];
};

/* clang-format off */
#define TEST          {{0x00000804050075a7, 0x000e64000800007f}} /* SYNCS.PHASECHK.TRANS64 P0, [R5+0x8], R4 */
#define OTHER_TEST    {{0x00002004050075a7, 0x000e64000800007f}} /* [R5+0x20] */
#define MAYBE_TEST    {{0x00002004050085a7, 0x000e64000800007f}} /* @!P0, [R5+0x20] */
#define TRY_WAIT      {{0x00000804050075a7, 0x000e62000800017f}}
#define RESULT        {{0x00000001ff077807, 0x000fca0004000000}} /* SEL R7, RZ, 0x1, !P0: 1 = the phase is over */
#define FAILURE       {{0x00000001ff077807, 0x000fca0000000000}} /* SEL R7, RZ, 0x1, P0: 1 = it is not */
#define IS_RESULT     {{0x000000ff0700720c, 0x000fda0003f05270}} /* ISETP.NE.AND P0, PT, R7, RZ, PT */
#define IS_ELSEWHERE  {{0x000000ff0300720c, 0x000fda0003f05270}} /* ISETP.NE.AND P0, PT, R3, RZ, PT */
#define PLACE_400     {{0x0000040000057802, 0x000fca0000000f00}} /* MOV R5, 0x400 */
#define PLACE_500     {{0x0000050000057802, 0x000fca0000000f00}} /* MOV R5, 0x500 */
#define SKIP_1        {{0x0000000000048947, 0x000fea0003800000}} /* @!P0 BRA over the next instruction */
#define SKIP_1_IF     {{0x0000000000040947, 0x000fea0003800000}} /* @P0 */
#define SKIP_3        {{0x00000000000c8947, 0x000fea0003800000}} /* @!P0 BRA over the next three */
#define HINT          {{0x009896800000895d, 0x002fea0003900000}} /* @!P0 NANOSLEEP.SYNCS 0x989680 */
#define HINT_TEST     {{0x00000804050085a7, 0x000e64000800007f}} /* @!P0, the one of TRY_WAIT again */
#define BACK_1        {{0xfffffffc00f88947, 0x002fea000383ffff}} /* @!P0 BRA to the instruction before */
#define BACK_4        {{0xfffffffc00ec8947, 0x002fea000383ffff}} /* … four before */
#define BACK_6        {{0xfffffffc00e48947, 0x002fea000383ffff}} /* … six before */
#define BACK_8        {{0xfffffffc00dc8947, 0x002fea000383ffff}} /* … eight before */
#define BACK_8_IF     {{0xfffffffc00dc0947, 0x002fea000383ffff}} /* @P0 */
#define BACK_8_IF_P1  {{0xfffffffc00dc1947, 0x002fea000383ffff}} /* @P1 */
#define ALWAYS_BACK_4 {{0xfffffffc00ec7947, 0x000fea000383ffff}} /* BRA to the fourth instruction before */
#define ALWAYS_BACK_8 {{0xfffffffc00dc7947, 0x000fea000383ffff}} /* … eighth */
#define BACK_10       {{0xfffffffc00d47947, 0x000fea000383ffff}} /* … tenth */
#define ARRIVE        {{0x000000ff00ff79a7, 0x000fe2000810003f}} /* SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0], RZ */
#define NOP           {{0x0000000000007918, 0x000fc00000000000}}
#define EXIT          {{0x000000000000794d, 0x000fea0003800000}}
/* for (;;) { if (test) arrive; if (other test) arrive; }, with two instructions between each test and its branch */
#define IN_TURN(a, b, branch, back) TEST, a, b, branch, ARRIVE, OTHER_TEST, a, b, back, ARRIVE, BACK_10, EXIT
/* clang-format on */

enum { CODE_MOST = 16 };

static struct wsdbg_graph *graph_of(const struct code *code)
{
    const uint64_t exit_word = (struct code)EXIT.words[0];
    struct wsdbg_graph *graph;
    size_t count = 0;
    while (code[count++].words[0] != exit_word)
        continue;
    assert_null(wsdbg_graph_create(&(struct wsdbg_image){(const unsigned char *)code, count * sizeof *code}, &graph));
    return graph;
}

/* ---- where a warp waits ---- */

/* What a warp does that stands at the second test, and whether that is one of several. */
static const struct {
    const char *says;
    struct code code[CODE_MOST];
    uint32_t pc;
    enum wsdbg_warp_state state;
    bool of_several;
} cases[] = {
    {"the result is branched on at once", {IN_TURN(NOP, NOP, SKIP_1, BACK_8)}, 5, WSDBG_WARP_WAIT_MBARRIER, true},
    {"... goes through a register", {IN_TURN(RESULT, IS_RESULT, SKIP_1, BACK_8)}, 5, WSDBG_WARP_WAIT_MBARRIER, true},
    {"... where 1 stands for failure",
     {IN_TURN(FAILURE, IS_RESULT, SKIP_1_IF, BACK_8_IF)},
     5,
     WSDBG_WARP_WAIT_MBARRIER,
     true},
    {"... and is not what is branched on",
     {IN_TURN(RESULT, IS_ELSEWHERE, SKIP_1, BACK_8)},
     5,
     WSDBG_WARP_RUNNING,
     false},
    {"the loop acts when a test fails", {IN_TURN(RESULT, IS_RESULT, SKIP_1_IF, BACK_8)}, 5, WSDBG_WARP_RUNNING, false},
    {"... and 1 stands for failure", {IN_TURN(FAILURE, IS_RESULT, SKIP_1, BACK_8)}, 5, WSDBG_WARP_RUNNING, false},
    {"one of them is through", {IN_TURN(RESULT, IS_RESULT, SKIP_1, BACK_8)}, 4, WSDBG_WARP_RUNNING, false},
    {"the second test is not always made",
     {TEST, RESULT, IS_RESULT, SKIP_1, ARRIVE, MAYBE_TEST, RESULT, IS_RESULT, BACK_8, ARRIVE, BACK_10, EXIT},
     5,
     WSDBG_WARP_RUNNING,
     false},
    {"the register of both places is written between",
     {PLACE_400, TEST, SKIP_1, ARRIVE, PLACE_500, TEST, BACK_6, ARRIVE, ALWAYS_BACK_8, EXIT},
     5,
     WSDBG_WARP_WAIT_MBARRIER,
     true},
    {"... and is not: both tests are of one barrier",
     {NOP, TEST, SKIP_1, ARRIVE, NOP, TEST, BACK_6, ARRIVE, ALWAYS_BACK_8, EXIT},
     5,
     WSDBG_WARP_WAIT_MBARRIER,
     false},
    {"... nor are there two barriers in a loop that tests one, and then again behind a hint",
     {PLACE_400, TRY_WAIT, HINT, HINT_TEST, BACK_4, EXIT},
     1,
     WSDBG_WARP_WAIT_MBARRIER,
     false},
    {"... nor in one that acts behind its only test",
     {PLACE_400, TEST, SKIP_1, ARRIVE, ALWAYS_BACK_4, EXIT},
     1,
     WSDBG_WARP_WAIT_MBARRIER,
     false},
    {"a loop with one test finds its place anew", {PLACE_400, TEST, BACK_1, EXIT}, 1, WSDBG_WARP_WAIT_MBARRIER, false},
};

static void a_warp_waits_while_every_test_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wsdbg_graph *graph = graph_of(cases[i].code);
        struct wsdbg_wait_site site;
        print_message("%s\n", cases[i].says);
        assert_null(wsdbg_wait_site_find(graph, cases[i].pc, &site));
        assert_int_equal(site.state, cases[i].state);
        assert_int_equal(site.of_several, cases[i].of_several);
        wsdbg_graph_destroy(graph);
    }
}

/* ---- accesses in such a loop ---- */

/* What is said of an access. */
struct row {
    uint32_t instruction;
    uint8_t kind;
    bool is_in_loop, is_poll;
};

enum { ROWS_MOST = 12 };

static void look(struct wsdbg_graph *graph, struct wsdbg_access *accesses, size_t count,
                 struct wsdbg_access_row rows[ROWS_MOST])
{
    struct wsdbg_code_function function = {.graph = graph};
    struct wsdbg_code_kernel kernel = {.function = &function, .accesses = accesses, .access_count = count};
    struct wsdbg_look_grid grids[2] = {{.kernel = NULL}, {.kernel = &kernel}};
    const struct wsdbg_look_seen seen = {.grids = grids};
    const uint32_t access_first[2] = {0, 1};
    struct wsdbg_access_row all[ROWS_MOST + 1] = {{0}};
    struct wsdbg_snapshot snapshot = {.grid_count = 2, .accesses = all, .access_count = count + 1};
    assert_true(count <= ROWS_MOST);
    assert_null(wsdbg_look_polls(&seen, access_first, &snapshot));
    assert_false(all[0].is_poll || all[0].poll_loop); /* of a grid whose code is not known */
    memcpy(rows, all + 1, count * sizeof *rows);
}

static void expect_rows(const struct code *code, const struct row *expected, size_t count)
{
    struct wsdbg_graph *graph = graph_of(code);
    struct wsdbg_access accesses[ROWS_MOST] = {{0}};
    struct wsdbg_access_row rows[ROWS_MOST];
    for (size_t i = 0; i < count; i++) {
        accesses[i].instruction = expected[i].instruction;
        accesses[i].kind = expected[i].kind;
    }
    look(graph, accesses, count, rows);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].poll_loop != 0, expected[i].is_in_loop);
        assert_int_equal(rows[i].is_poll, expected[i].is_poll);
        for (size_t other = 0; other < i; other++)
            if (rows[i].poll_loop && rows[other].poll_loop)
                assert_int_equal(rows[i].poll_loop, rows[other].poll_loop);
    }
    wsdbg_graph_destroy(graph);
}

/* A wait for something else in what the loop does is in the loop, but is no poll.  Nor is what follows. */
static void only_tests_in_turn_are_polls(void **state)
{
    static const struct code code[] = {TEST,   SKIP_3,       TRY_WAIT, BACK_1, ARRIVE, OTHER_TEST, BACK_6,
                                       ARRIVE, BACK_8_IF_P1, TRY_WAIT, BACK_1, ARRIVE, EXIT};
    static const struct row rows[] = {
        {0, WSDBG_ACCESS_WAIT, true, true},      {2, WSDBG_ACCESS_WAIT, true, false},
        {4, WSDBG_ACCESS_ARRIVE, true, false},   {5, WSDBG_ACCESS_WAIT, true, true},
        {7, WSDBG_ACCESS_ARRIVE, true, false},   {9, WSDBG_ACCESS_WAIT, false, false},
        {11, WSDBG_ACCESS_ARRIVE, false, false},
    };
    (void)state;
    expect_rows(code, rows, sizeof rows / sizeof *rows);
}

/* A loop that waits for one barrier and then acts has no order of its own. */
static void waits_for_one_barrier_are_no_polls(void **state)
{
    static const struct code code[] = {NOP, TEST, SKIP_1, ARRIVE, NOP, TEST, BACK_6, ARRIVE, ALWAYS_BACK_8, EXIT};
    static const struct row rows[] = {
        {1, WSDBG_ACCESS_WAIT, false, false},
        {3, WSDBG_ACCESS_ARRIVE, false, false},
        {5, WSDBG_ACCESS_WAIT, false, false},
        {7, WSDBG_ACCESS_ARRIVE, false, false},
    };
    (void)state;
    expect_rows(code, rows, sizeof rows / sizeof *rows);
}

/* ---- the same in PTX ---- */

#define KERNEL(body)                                   \
    ".version 8.6\n.target sm_90a\n.address_size 64\n" \
    ".visible .entry kernel()\n{\n"                    \
    ".shared .align 8 .b64 bars[8];\n"                 \
    ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n" body "ret;\n}\n"
#define PTX_TEST(place, parity) \
    "mbarrier.test_wait.parity.shared::cta.b64 %p1, [" place "], " parity ";\nselp.u32 %r3, 1, 0, %p1;\n"
#define IS_DONE "setp.ne.u32 %p2, %r3, 0;\n"
#define PTX_ARRIVE "mbarrier.arrive.shared::cta.b64 _, [bars+32];\n"

/* `first` and `second` come behind the tests, and set %p2 where they succeed. */
#define PTX_IN_TURN(first, second)                                                                                 \
    KERNEL("AGAIN:\n" PTX_TEST("bars", "0") first "@!%p2 bra NEXT;\n" PTX_ARRIVE "NEXT:\n" PTX_TEST("bars+8", "0") \
               second "@!%p2 bra AGAIN;\n" PTX_ARRIVE "bra AGAIN;\n")

static uint32_t polls_of(const char *text)
{
    struct wsdbg_ptx_code *code;
    struct wsdbg_graph *graph = NULL;
    struct wsdbg_access *accesses;
    struct wsdbg_access_row rows[ROWS_MOST];
    uint32_t polls = 0;
    size_t count;
    assert_null(wsdbg_ptx_code_create(&(struct wsdbg_image){(const unsigned char *)text, strlen(text)}, &code));
    assert_null(wsdbg_ptx_code_graph(code, wsdbg_ptx_code_function(code, 0), &graph));
    assert_null(wsdbg_accesses_find(graph, &(struct wsdbg_launch_values){.context = NULL}, &accesses, &count));
    look(graph, accesses, count, rows);
    for (size_t i = 0; i < count; i++) {
        assert_true(!rows[i].is_poll || accesses[i].kind == WSDBG_ACCESS_WAIT);
        polls += rows[i].is_poll;
    }
    free(accesses);
    wsdbg_graph_destroy(graph);
    wsdbg_ptx_code_destroy(code);
    return polls;
}

static void a_result_in_a_register_decides_in_ptx_too(void **state)
{
    (void)state;
    assert_int_equal(polls_of(PTX_IN_TURN(IS_DONE, IS_DONE)), 2);
    assert_int_equal(polls_of(PTX_IN_TURN(IS_DONE, "setp.ne.u32 %p2, %r4, 0;\n")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_waits_while_every_test_fails),
        cmocka_unit_test(only_tests_in_turn_are_polls),
        cmocka_unit_test(waits_for_one_barrier_are_no_polls),
        cmocka_unit_test(a_result_in_a_register_decides_in_ptx_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
