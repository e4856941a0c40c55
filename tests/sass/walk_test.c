/* walk_test.c - the walk of one thread or of a warp through a kernel: which accesses it executes, how often and with
 * which operands; and what happens at a branch whose condition is unknown.
 */
#include "walk_code.h"

/* for (i = 0; i < parameter; i++) { wait(barrier at 0x400 + i % 2 * 8, parity i / 2 & 1); arrive(0x40 behind it); } */
static const struct wsdbg_instruction ring[] = {
    {OP(MOV), UNGUARDED, TO(R(0)), FROM(NUMBER(0))},
    {OP(LOP3), UNGUARDED, TO(R(1)), FROM(R(0), NUMBER(1), ZERO), .table = 0xc0},
    {OP(SHF), UNGUARDED, TO(R(2)), FROM(ZERO, NUMBER(1), R(0)), .is_right_shift = true, .is_high = true},
    {OP(IMAD), UNGUARDED, TO(R(3)), FROM(R(1), NUMBER(8), NUMBER(0x400))},
    {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(3, 0), R(2))},
    {OP(BRA), IF(1), .guard_is_negated = true, JUMP(-1)},
    {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(3, 0x40)), .mode = WSDBG_ARRIVE_A1T0},
    {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(1), ZERO)},
    {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), CONSTANT(0x210), ALWAYS), .mode = WSDBG_COMPARE_LT},
    {OP(BRA), IF(0), JUMP(-8)},
    {OP(EXIT), UNGUARDED},
};

static void test_every_round_has_its_barrier_and_its_parity(void **state)
{
    struct wsdbg_walk walk = WALK(ring, ROUNDS);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2 * ROUNDS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct wsdbg_walk_step *wait = &walk.steps[2 * i], *arrive = wait + 1;
        assert_int_equal(wait->kind, WSDBG_ACCESS_WAIT);
        assert_int_equal(wait->address, 0x400 + i % 2 * 8);
        assert_int_equal(wait->number & 1, i / 2 % 2);
        assert_int_equal(arrive->kind, WSDBG_ACCESS_ARRIVE);
        assert_int_equal(arrive->address, wait->address + 0x40);
        assert_int_equal(arrive->number, 1);
    }
    free(walk.steps);
    (void)state;
}

static void test_a_limit_ends_a_walk_that_is_not_whole(void **state)
{
    struct wsdbg_walk walk =
        walk_of(ring, sizeof ring / sizeof *ring, 1u << 30, (struct wsdbg_walk_limits){LONG, LONG, 10, NULL, NULL});
    assert_false(walk.is_whole);
    assert_int_equal(walk.count, 10);
    free(walk.steps);
    walk = walk_of(ring, sizeof ring / sizeof *ring, 1u << 30, (struct wsdbg_walk_limits){100, LONG, LONG, NULL, NULL});
    assert_false(walk.is_whole);
    assert_in_range(walk.work, 100, 120);
    free(walk.steps);
    walk = walk_of(ring, sizeof ring / sizeof *ring, 1u << 30, (struct wsdbg_walk_limits){LONG, 100, LONG, NULL, NULL});
    assert_false(walk.is_whole);
    assert_in_range(walk.work, 100, 120);
    free(walk.steps);
    (void)state;
}

/* Two branches depend on a value from memory.  The first one skips no access: the walk goes on behind it.  The second
 * one may skip an arrival: the walk ends there. */
static void test_what_nobody_can_decide_is_passed_or_ends_the_walk(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
        {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(0x400))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(MOV), UNGUARDED, TO(R(5)), FROM(NUMBER(1))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 8)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_false(walk.is_whole);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.steps[0].address, 0x400);
    assert_int_equal(walk.lost_at, 6);
    free(walk.steps);
    (void)state;
}

/* The side that may be skipped calls a function that lies behind the kernel.  It counts as a part of the side. */
static void test_a_side_that_calls_a_function_is_passed_as_its_code_allows(void **state)
{
    enum { COUNT = 5, CALLED = 7, CALLED_LAST = 9, WORD = 3 };
    static const struct wsdbg_instruction kernel[] = {
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
        {SET(COUNT, WORD)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(CALL), UNGUARDED, JUMP(3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(COUNT)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
        /* CALLED */ {OP(NOP), UNGUARDED},
        {OP(RET), UNGUARDED},
        /* CALLED_LAST */ {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x480)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(RET), UNGUARDED},
    };
    static const struct {
        const char *name; /* what the function does */
        struct wsdbg_instruction does;
        uint32_t lost_at; /* 0 = the walk is whole, with its one arrival */
    } functions[] = {
        {"writes what nobody needs", {SET(7, 1)}, 0},
        {"writes the count of the arrival", {SET(COUNT, 1)}, 5},
        {"arrives", {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x480)), .mode = WSDBG_ARRIVE_A1T0}, 3},
        {"calls another function, which arrives", {OP(CALL), UNGUARDED, JUMP(CALLED_LAST - CALLED)}, 3},
        {"calls nobody knows what", {OP(CALL), UNGUARDED}, 3},
        {"may leave the kernel", {OP(EXIT), IF(1)}, 3},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct wsdbg_instruction code[sizeof kernel / sizeof *kernel];
        print_message("it %s\n", functions[i].name);
        memcpy(code, kernel, sizeof kernel);
        code[CALLED] = functions[i].does;
        struct wsdbg_walk walk = WALK(code, 0);
        assert_int_equal(walk.is_whole, !functions[i].lost_at);
        if (functions[i].lost_at) {
            assert_int_equal(walk.count, 0);
            assert_int_equal(walk.lost_at, functions[i].lost_at);
        } else {
            assert_int_equal(walk.count, 1);
            assert_int_equal(walk.steps[0].number, WORD);
        }
        free(walk.steps);
    }
    (void)state;
}

/* Which side is taken depends on a value from memory.  Without a trap the walk cannot go on: each side arrives. */
static void test_a_branch_is_not_taken_to_a_trap(void **state)
{
    enum { FALLS = 3, TAKEN = 5 };
    static const struct wsdbg_instruction kernel[] = {
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(3)},
        /* FALLS */ {OP(NOP), UNGUARDED},
        {OP(BRA), UNGUARDED, JUMP(3)},
        /* TAKEN */ {OP(NOP), UNGUARDED},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x600)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    static const struct {
        const char *name;
        struct wsdbg_instruction falls, taken;
        uint32_t arrivals;
    } rows[] = {
        {"no side traps", {OP(NOP), UNGUARDED}, {OP(NOP), UNGUARDED}, 0},
        {"one does, in machine code", {OP(BPT), UNGUARDED}, {OP(NOP), UNGUARDED}, 2},
        {"the other one does", {OP(NOP), UNGUARDED}, {OP(BPT), UNGUARDED}, 1},
        {"... in PTX", {OP(NOP), UNGUARDED}, {OP(KILL), UNGUARDED}, 1},
        {"... under a guard", {OP(NOP), UNGUARDED}, {OP(BPT), IF(1)}, 0},
        {"both do", {OP(BPT), UNGUARDED}, {OP(BPT), UNGUARDED}, 0},
        {"one is a breakpoint", {OP(NOP), UNGUARDED}, {OP(BPT), UNGUARDED, .words = {0x795c, 0x400000}}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_instruction code[sizeof kernel / sizeof *kernel];
        print_message("%s\n", rows[i].name);
        memcpy(code, kernel, sizeof kernel);
        code[FALLS] = rows[i].falls;
        code[TAKEN] = rows[i].taken;
        struct wsdbg_walk walk = WALK(code, 0);
        assert_int_equal(walk.is_whole, rows[i].arrivals > 0);
        assert_int_equal(walk.count, rows[i].arrivals);
        if (!walk.is_whole)
            assert_int_equal(walk.lost_at, FALLS - 1);
        free(walk.steps);
    }
    (void)state;
}

/* Between the branch and the trap the side waits or arrives: the kernel may hang there, or go on elsewhere. */
static void test_a_side_that_acts_before_it_traps_may_be_taken(void **state)
{
    static const struct {
        const char *name;
        struct wsdbg_instruction first;
        bool is_whole;
    } rows[] = {
        {"it computes", {OP(IADD3), UNGUARDED, TO(R(1)), FROM(NUMBER(1), NUMBER(1), ZERO)}, true},
        {"it arrives", {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0}, false},
        {"it waits", {OP(BAR), UNGUARDED, FROM(NUMBER(1)), .mode = WSDBG_BAR_SYNC}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction code[] = {
            {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
            {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
            {OP(BRA), IF(0), JUMP(3)},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x600)), .mode = WSDBG_ARRIVE_A1T0},
            {OP(EXIT), UNGUARDED},
            rows[i].first,
            {OP(BPT), UNGUARDED},
            {OP(EXIT), UNGUARDED},
        };
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = WALK(code, 0);
        assert_int_equal(walk.is_whole, rows[i].is_whole);
        assert_int_equal(walk.count, rows[i].is_whole);
        free(walk.steps);
    }
    (void)state;
}

/* How it returns depends on a value that nobody knows: the walk of a side that calls it is lost in it. */
/* clang-format off */
#define FUNCTION_WITHOUT_A_KNOWN_END \
    {OP(LDG), UNGUARDED, TO(R(7)), FROM(AT(8, 0)), .width_bytes = 4}, \
    {OP(ISETP), UNGUARDED, TO(P(2)), FROM(R(7), NUMBER(3), ALWAYS), .mode = WSDBG_COMPARE_EQ}, \
    {OP(RET), IF(2)}, \
    {OP(NOP), UNGUARDED}, \
    {OP(RET), UNGUARDED}
/* clang-format on */

/* All lanes but one call it, in a function that the kernel calls.  Each function returns to where it was called. */
static void test_a_side_may_be_lost_in_a_function_of_a_function(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(CALL), UNGUARDED, JUMP(3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x600)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
        /* The function that is called first. */
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(3), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(BRA), IF(0), JUMP(3)},
        {OP(CALL), UNGUARDED, JUMP(4)},
        {OP(NOP), UNGUARDED},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(RET), UNGUARDED},
        FUNCTION_WITHOUT_A_KNOWN_END,
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_true(walk.is_whole);
    assert_int_equal(together, UINT32_MAX);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.steps[0].address, 0x500);
    assert_int_equal(walk.steps[1].address, 0x600);
    free(walk.steps);
    (void)state;
}

/* More rounds than calls may be inside one another. */
static void test_a_side_may_be_lost_in_a_function_in_each_round(void **state)
{
    enum { MANY = 40 };
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {SET(5, MANY)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(3), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(BRA), IF(0), JUMP(3)},
        {OP(CALL), UNGUARDED, JUMP(7)},
        {OP(NOP), UNGUARDED},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(5), NUMBER(-1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(3)), FROM(R(5), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_NE},
        {OP(BRA), IF(3), JUMP(-6)},
        {OP(EXIT), UNGUARDED},
        FUNCTION_WITHOUT_A_KNOWN_END,
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_true(walk.is_whole);
    assert_int_equal(together, UINT32_MAX);
    assert_int_equal(walk.count, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(walk.steps[i].address, 0x500);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_round_has_its_barrier_and_its_parity),
        cmocka_unit_test(test_a_limit_ends_a_walk_that_is_not_whole),
        cmocka_unit_test(test_what_nobody_can_decide_is_passed_or_ends_the_walk),
        cmocka_unit_test(test_a_side_that_calls_a_function_is_passed_as_its_code_allows),
        cmocka_unit_test(test_a_branch_is_not_taken_to_a_trap),
        cmocka_unit_test(test_a_side_that_acts_before_it_traps_may_be_taken),
        cmocka_unit_test(test_a_side_may_be_lost_in_a_function_of_a_function),
        cmocka_unit_test(test_a_side_may_be_lost_in_a_function_in_each_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
