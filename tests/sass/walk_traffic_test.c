/* walk_traffic_test.c - which memory a walk says was read and written between two of its steps: by instructions that it
 * executes and by those that it leaves out, in what it passes, and on the sides of a branch.
 *
 * Each code has named barriers as steps.
 */
#include "walk_code.h"

/* clang-format off */
#define MEET {OP(BAR), UNGUARDED, .mode = WSDBG_BAR_SYNC, FROM(NUMBER(1), NUMBER(64))}
#define STORE(op) {OP(op), UNGUARDED, FROM(AT(0, 0), R(4)), .width_bytes = 4, .words = {1, 0}}
#define LOAD(op) {OP(op), UNGUARDED, TO(R(5)), FROM(AT(0, 0)), .width_bytes = 4, .words = {1, 0}}
#define ENDS {OP(EXIT), UNGUARDED}
/* clang-format on */

enum { CONSTANT_ORDER = 4 << (77 - 64) };

/* The traffic before the step with this number. */
static uint8_t before(const struct wsdbg_instruction *code, size_t count, size_t step)
{
    struct wsdbg_walk walk = walk_of(code, count, 0, WITHOUT_LIMITS);
    assert_true(walk.is_whole);
    assert_true(walk.count > step);
    const uint8_t traffic = walk.steps[step].traffic;
    free(walk.steps);
    return traffic;
}
#define BEFORE(code, step) before(code, sizeof(code) / sizeof *(code), step)

static void each_access_to_memory_counts_to_the_next_step(void **state)
{
    static const struct {
        struct wsdbg_instruction instruction;
        uint8_t traffic;
    } rows[] = {
        {STORE(STS), WSDBG_WRITES_SHARED},
        {STORE(STG), WSDBG_WRITES_GLOBAL},
        {STORE(ST), WSDBG_TRAFFIC_WRITES},
        {STORE(STL), 0},
        {STORE(STSM), WSDBG_WRITES_SHARED},
        {STORE(RED), WSDBG_WRITES_GLOBAL},
        {LOAD(LDS), WSDBG_READS_SHARED},
        {LOAD(LDG), WSDBG_READS_GLOBAL},
        {LOAD(LD), WSDBG_TRAFFIC_READS},
        {LOAD(LDL), 0},
        {LOAD(LDSM), WSDBG_READS_SHARED},
        {LOAD(ATOMS), WSDBG_READS_SHARED | WSDBG_WRITES_SHARED},
        {{OP(LDG), UNGUARDED, TO(R(5)), FROM(AT(0, 0)), .width_bytes = 4, .words = {1, CONSTANT_ORDER}}, 0},
        {{OP(LDGSTS), UNGUARDED, .words = {1, 0}}, WSDBG_READS_GLOBAL | WSDBG_WRITES_SHARED},
        {{OP(UTMASTG), UNGUARDED, .words = {1, 0}}, WSDBG_READS_SHARED | WSDBG_WRITES_GLOBAL},
        {{OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(5), NUMBER(4), ZERO)}, 0},
        {{.operation = WSDBG_OP_OTHER, .guard = WSDBG_PT, .words = {1, 0}}, WSDBG_TRAFFIC_ALL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction code[] = {MEET, rows[i].instruction, MEET, MEET, ENDS};
        print_message("row %zu\n", i);
        assert_int_equal(BEFORE(code, 0), 0);
        assert_int_equal(BEFORE(code, 1), rows[i].traffic);
        assert_int_equal(BEFORE(code, 2), 0);
    }
    (void)state;
}

/* A step may be a copy itself: its bytes are moved behind it. */
static void a_copy_counts_behind_itself(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(UMOV), UNGUARDED, TO(U(4)), FROM(NUMBER(0x480))},
        {OP(UBLKCP), UNGUARDED, FROM(U(4), NUMBER(64)), .writes_shared = true},
        MEET,
        {OP(UBLKCP), UNGUARDED, FROM(U(4), NUMBER(64)), .writes_shared = true, .reads_shared = true},
        MEET,
        ENDS,
    };
    assert_int_equal(BEFORE(code, 0), 0);
    assert_int_equal(BEFORE(code, 1), WSDBG_READS_GLOBAL | WSDBG_WRITES_SHARED);
    assert_int_equal(BEFORE(code, 3), WSDBG_READS_SHARED | WSDBG_WRITES_SHARED);
    (void)state;
}

/* Nobody knows whether R4, which was loaded, is 0: the walk passes the store. */
static void a_way_that_is_not_known_counts(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(8, DATA)}, {SET(9, 0)}, {LOAD_GLOBAL(4, 8)}, MEET, IS(0, 4, EQ, 0), {OP(BRA), IF(0), JUMP(2)}, STORE(STS),
        MEET,           ENDS,
    };
    assert_int_equal(BEFORE(code, 0), WSDBG_READS_GLOBAL);
    assert_int_equal(BEFORE(code, 1), WSDBG_WRITES_SHARED);
    (void)state;
}

/* The parameter is 0: the side that is known not to be taken does not count. */
static void a_way_that_is_not_taken_does_not_count(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MEET,
        {OP(MOV), UNGUARDED, TO(R(4)), FROM(CONSTANT(0x210))},
        IS(0, 4, EQ, 0),
        {OP(BRA), IF(0), JUMP(2)},
        STORE(STS),
        LOAD(LDS),
        MEET,
        ENDS,
    };
    assert_int_equal(BEFORE(code, 1), WSDBG_READS_SHARED);
    (void)state;
}

/* Lanes part, and meet again: what any of them does counts. */
static void sides_of_lanes_that_part_both_count(void **state)
{
    static const struct wsdbg_instruction code[] = {
        MEET,
        {OP(S2R), UNGUARDED, TO(R(4)), FROM(SPECIAL(LANE))},
        IS(0, 4, EQ, 0),
        {OP(BRA), IF(0), JUMP(3)},
        STORE(STS),
        {OP(BRA), UNGUARDED, JUMP(2)},
        LOAD(LDG),
        MEET,
        ENDS,
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_int_equal(together, UINT32_MAX);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.steps[1].traffic, WSDBG_WRITES_SHARED | WSDBG_READS_GLOBAL);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_access_to_memory_counts_to_the_next_step),
        cmocka_unit_test(a_copy_counts_behind_itself),
        cmocka_unit_test(a_way_that_is_not_known_counts),
        cmocka_unit_test(a_way_that_is_not_taken_does_not_count),
        cmocka_unit_test(sides_of_lanes_that_part_both_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
