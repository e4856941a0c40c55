/* walk_parted_test.c - lanes of a warp that walk in two groups: those that go with lane 0, and those that left them.
 */
#include "walk_code.h"

/* An atomic brings a lane its number the first time, then 100 more each time. */
static enum wsdbg_thread_found found_of_lane(void *context, uint32_t instruction, uint32_t times, uint32_t *value)
{
    (void)instruction;
    *value = *(const uint32_t *)context + 100 * times;
    return WSDBG_THREAD_FOUND;
}

/* One plan: the group with lane 0, then the lanes that left it. */
static void walk_both(const struct wsdbg_instruction *code, size_t count, struct wsdbg_walk walks[2], uint32_t lanes[2])
{
    uint32_t numbers[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    uint32_t left = UINT32_MAX;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        numbers[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){
            .context = &numbers[lane], .constant = constant, .special = lane_of, .found = found_of_lane};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    for (unsigned i = 0; i < 2; i++) {
        assert_null(wsdbg_walk_lanes(plan, worlds, left, (struct wsdbg_walk_limits){LONG, LONG, LONG, NULL, NULL},
                                     &walks[i], &lanes[i]));
        assert_true(walks[i].is_whole);
        left &= ~lanes[i];
    }
    assert_int_equal(left, 0);
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
}
#define WALK_BOTH(code, walks, lanes) walk_both(code, sizeof(code) / sizeof *(code), walks, lanes)

static void free_both(struct wsdbg_walk walks[2])
{
    free(walks[0].steps);
    free(walks[1].steps);
}

#define ATOMIC                                                                                      \
    {                                                                                               \
        OP(ATOMG), UNGUARDED, TO(R(2)), FROM(PAIR_AT(8), R(3)), .width_bytes = 4, .words = { 1, 0 } \
    }
static void test_each_lane_has_its_own_result_of_an_atomic(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(8, 0)},
        {SET(9, 0)},
        ATOMIC,
        IS(0, 2, LT, 3),
        {OP(SYNCS_ARRIVE), IF(0), FROM(AT(WSDBG_RZ, 0x400), NUMBER(1)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 7);
    assert_int_equal(walks[0].count, 1);
    assert_int_equal(walks[1].count, 0);
    assert_false(walks[0].is_guessed);
    free_both(walks);
    (void)state;
}

/* In round `i` lane `i` executes the atomic, for the first time. */
static void test_each_lane_counts_its_own_atomics(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(8, 0)},
        {SET(9, 0)},
        {SET(2, 0)},
        {SET(4, 0)},
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), R(4), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(ATOMG), IF(0), TO(R(2)), FROM(PAIR_AT(8), R(3)), .width_bytes = 4, .words = {1, 0}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), NUMBER(1)), .mode = WSDBG_ARRIVE_ART0},
        {OP(IADD3), UNGUARDED, TO(R(4)), FROM(R(4), NUMBER(1), ZERO)},
        IS(1, 4, LT, 3),
        {OP(BRA), IF(1), JUMP(-6)},
        IS(2, 2, EQ, 1),
        {OP(SYNCS_ARRIVE), IF(2), FROM(AT(WSDBG_RZ, 0x400), NUMBER(1)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[1], 2);
    assert_int_equal(walks[0].count, 3);
    assert_int_equal(walks[1].count, 4);
    free_both(walks);
    (void)state;
}

/* Lane 0 alone copies an address to a uniform register, and all lanes arrive there; so do those that have left it. */
static void test_a_uniform_register_is_that_of_all_lanes(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(MOV), UNGUARDED, TO(R(5)), FROM(NUMBER(0x400))},
        {OP(R2UR), IF(0), TO(U(10)), FROM(R(5))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT_UNIFORM(10)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(SYNCS_ARRIVE), IF(0), FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 2);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].steps[0].address, 0x400);
    free_both(walks);
    (void)state;
}

/* while (some lane is left) { R2UR takes the value of one of those that are left; those with this value arrive } */
static void test_a_loop_over_different_values_serves_each_lane_once(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(SEL), UNGUARDED, TO(R(1)), FROM(NUMBER(0x400), NUMBER(0x500), P(0))},
        {OP(R2UR), UNGUARDED, TO(P(1), U(4)), FROM(R(1))},
        {OP(SYNCS_ARRIVE), IF(1), .guard_is_negated = true, FROM(AT_UNIFORM(4)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(BRA), IF(1), JUMP(-2)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 1);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[1].steps[0].address, 0x500);
    free_both(walks);
    (void)state;
}

/* Such a loop serves lane 0 alone.  The access is no guarded one, but it is of that lane's address: not of the others.
 */
static void test_a_loop_that_serves_other_lanes_does_nothing_for_the_rest(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(0x400))},
        {OP(R2UR), IF(0), TO(P(1), U(4)), FROM(R(1))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT_UNIFORM(4)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(UMOV), UNGUARDED, TO(U(4)), FROM(NUMBER(0x500))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT_UNIFORM(4)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 2);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_true(walks[1].is_whole);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[1].steps[0].address, 0x500);
    free_both(walks);
    (void)state;
}

static void test_a_bulk_copy_is_issued_once_for_the_warp(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(UMOV), UNGUARDED, TO(U(8)), FROM(NUMBER(0x1000))},
        {OP(UMOV), UNGUARDED, TO(U(9)), FROM(NUMBER(0x400))},
        {OP(UTMALDG), UNGUARDED, FROM(OPERAND(UNIFORM, .number = 8, .registers = 4)), .words = {1, 0}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 2);
    assert_int_equal(walks[0].steps[0].kind, WSDBG_ACCESS_COPY);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[1].steps[0].kind, WSDBG_ACCESS_ARRIVE);
    free_both(walks);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_lane_has_its_own_result_of_an_atomic),
        cmocka_unit_test(test_each_lane_counts_its_own_atomics),
        cmocka_unit_test(test_a_uniform_register_is_that_of_all_lanes),
        cmocka_unit_test(test_a_loop_over_different_values_serves_each_lane_once),
        cmocka_unit_test(test_a_loop_that_serves_other_lanes_does_nothing_for_the_rest),
        cmocka_unit_test(test_a_bulk_copy_is_issued_once_for_the_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
