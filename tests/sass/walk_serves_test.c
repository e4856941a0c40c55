/* walk_serves_test.c - bulk copies in a loop that serves the lanes of a warp one after the other: each lane makes its
 * own.  A copy outside of such a loop is one for the whole warp.
 */
#include "walk_code.h"

/* clang-format off */
#define BUNDLE(n) OPERAND(UNIFORM, .number = (n), .registers = 2)
#define COPY {OP(UBLKCP), UNGUARDED, FROM(BUNDLE(4), BUNDLE(6), NUMBER(1)), .writes_shared = true, .words = {1, 0}}
#define MBARRIER_IN_U5 {OP(UMOV), UNGUARDED, TO(U(5)), FROM(NUMBER(0x480))}
#define LANE_IN_R2 {OP(S2R), UNGUARDED, TO(R(2)), FROM(SPECIAL(LANE))}
#define ALL_ARE_LEFT {OP(ISETP), UNGUARDED, TO(P(0)), FROM(ZERO, NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ}
#define ELECT_OF(guard_) {OP(ELECT), .guard = (guard_), TO(P(1))}
#define TAKE_REGISTER {OP(R2UR), IF(1), TO(U(4)), FROM(R(2))}
#define IS_SERVED(to) {OP(ISETP), IF(1), TO(P(to)), FROM(ZERO, NUMBER(1), ALWAYS), .mode = WSDBG_COMPARE_EQ}
#define ENDS {OP(EXIT), UNGUARDED}
/* clang-format on */

struct copies {
    uint32_t groups, copies, arrivals;
    bool are_whole;
};

/* Of all lanes of a warp. */
static struct copies copies_of(const struct wsdbg_instruction *code, size_t count)
{
    uint32_t lanes[WSDBG_WALK_LANES], together = 0;
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct copies copies = {.are_whole = true};
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        lanes[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){.context = &lanes[lane], .constant = constant, .special = lane_of};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    for (uint32_t left = UINT32_MAX; left; left &= ~together) {
        struct wsdbg_walk walk;
        assert_null(wsdbg_walk_lanes(plan, worlds, left, WITHOUT_LIMITS, &walk, &together));
        copies.groups++;
        copies.are_whole &= walk.is_whole;
        for (size_t i = 0; i < walk.count; i++) {
            copies.copies += walk.steps[i].kind == WSDBG_ACCESS_COPY;
            copies.arrivals += walk.steps[i].kind == WSDBG_ACCESS_ARRIVE ? (uint32_t)__builtin_popcount(together) : 0;
        }
        free(walk.steps);
    }
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return copies;
}
#define COPIES_OF(code) copies_of(code, sizeof(code) / sizeof *(code))

static void each_lane_is_served(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MBARRIER_IN_U5, LANE_IN_R2,   ALL_ARE_LEFT, {OP(NOP), UNGUARDED},       ELECT_OF(0),
        TAKE_REGISTER,  IS_SERVED(0), COPY,         {OP(BRA), IF(0), JUMP(-4)}, ENDS,
    };
    const struct copies copies = COPIES_OF(code);
    assert_true(copies.are_whole);
    assert_int_equal(copies.copies, WSDBG_WALK_LANES);
    assert_int_equal(copies.groups, WSDBG_WALK_LANES);
    (void)state;
}

/* Only lanes 0 to 3 have something to copy; the others come to the loop and pass it. */
static void a_lane_that_is_not_left_makes_no_copy(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MBARRIER_IN_U5,
        LANE_IN_R2,
        IS(0, 2, LT, 4),
        {OP(NOP), UNGUARDED},
        ELECT_OF(0),
        TAKE_REGISTER,
        IS_SERVED(0),
        COPY,
        {OP(BRA), IF(0), JUMP(-4)},
        ENDS,
    };
    const struct copies copies = COPIES_OF(code);
    assert_true(copies.are_whole);
    assert_int_equal(copies.copies, 4);
    (void)state;
}

/* An arrival that nothing guards is one of each lane that is still left, in each round: of lane 0 one, of lane 31 32.
 */
static void a_loop_in_which_all_arrive_serves_nobody(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MBARRIER_IN_U5,
        LANE_IN_R2,
        ALL_ARE_LEFT,
        {SET(3, 1)},
        {OP(NOP), UNGUARDED},
        ELECT_OF(0),
        TAKE_REGISTER,
        IS_SERVED(0),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x480), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(BRA), IF(0), JUMP(-4)},
        ENDS,
    };
    const struct copies copies = COPIES_OF(code);
    assert_true(!copies.are_whole || copies.arrivals == WSDBG_WALK_LANES * (WSDBG_WALK_LANES + 1) / 2);
    (void)state;
}

/* Without the loop the elected lane copies for all. */
static void without_a_loop_one_lane_copies(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MBARRIER_IN_U5, LANE_IN_R2, ALL_ARE_LEFT, ELECT_OF(0), TAKE_REGISTER, COPY, ENDS,
    };
    const struct copies copies = COPIES_OF(code);
    assert_true(copies.are_whole);
    assert_int_equal(copies.copies, 1);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_is_served),
        cmocka_unit_test(a_lane_that_is_not_left_makes_no_copy),
        cmocka_unit_test(a_loop_in_which_all_arrive_serves_nobody),
        cmocka_unit_test(without_a_loop_one_lane_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
