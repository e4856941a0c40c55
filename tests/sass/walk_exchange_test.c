/* walk_exchange_test.c - the walk of a warp whose lanes exchange values: shuffles, votes, matches and reductions, and
 * what lanes get that are alone or parted by a WARPSYNC.
 */
#include "walk_code.h"

/* Each lane adds the number of the one before; lane 0 adds its own.  A ballot shows the lanes with more than 40. */
static void test_machine_code_says_in_its_words_what_lanes_exchange(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(SHFL), UNGUARDED, TO(R(1)), FROM(R(0), NUMBER(1), NUMBER(0)), .words = {SHFL_UP << 58, 1}},
        {OP(IADD3), UNGUARDED, TO(R(2)), FROM(R(0), R(1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(40), ALWAYS), .mode = WSDBG_COMPARE_GT},
        {OP(VOTE), UNGUARDED, TO(R(3), P(1)), FROM(P(0)), .words = {0, VOTE_ANY << (72 - 64)}},
        {OP(POPC), UNGUARDED, TO(R(4)), FROM(R(3)), .words = {1, 0}},
        {OP(FLO), UNGUARDED, TO(R(5)), FROM(R(3)), .words = {1, 0}},
        {OP(FLO), UNGUARDED, TO(R(6)), FROM(R(3)), .words = {1, 1 << (74 - 64)}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(5)), .mode = WSDBG_ARRIVE_ART0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(6)), .mode = WSDBG_ARRIVE_ART0},
        {OP(BRA), IF(1), JUMP(2)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_true(walk.is_whole);
    assert_int_equal(together, UINT32_MAX);
    assert_int_equal(walk.count, 3);
    assert_int_equal(walk.steps[0].number, 11); /* 2 * lane - 1 > 40: lanes 21 to 31 */
    assert_int_equal(walk.steps[1].number, 31);
    assert_int_equal(walk.steps[2].number, 0);
    free(walk.steps);
    (void)state;
}

/* Lanes 0 to 2 are alone at a ballot: the others have left the kernel, or take another side of a branch.  A shuffle
 * brings them what lane 2 has. */
static void test_lanes_that_are_alone_exchange_what_they_have(void **state)
{
    static const struct wsdbg_instruction leave = {OP(EXIT), IF(0)}, jump = {OP(BRA), IF(0), JUMP(7)},
                                          go = {OP(BRA), IF(0), JUMP(8)};
    static const struct {
        const char *name;
        const struct wsdbg_instruction *parts;
    } rows[] = {{"the others have left", &leave}, {"the others come back", &jump}, {"the others go elsewhere", &go}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction code[] = {
            {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
            {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(2), ALWAYS), .mode = WSDBG_COMPARE_GT},
            *rows[i].parts,
            {OP(VOTE), UNGUARDED, TO(R(3), P(1)), FROM(ALWAYS), .words = {0, VOTE_ANY << (72 - 64)}},
            {OP(POPC), UNGUARDED, TO(R(4)), FROM(R(3)), .words = {1, 0}},
            {OP(SHFL), UNGUARDED, TO(R(5)), FROM(R(0), NUMBER(2), NUMBER(31)), .words = {0, 1}},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(5)), .mode = WSDBG_ARRIVE_ART0},
            {OP(NOP), UNGUARDED},
            {OP(NOP), UNGUARDED},
            {OP(EXIT), UNGUARDED},
            {OP(EXIT), UNGUARDED},
        };
        uint32_t together;
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
        assert_true(walk.is_whole);
        assert_int_equal(together, 7);
        assert_int_equal(walk.count, 2);
        assert_int_equal(walk.steps[0].number, 3);
        assert_int_equal(walk.steps[1].number, 2);
        free(walk.steps);
    }
    (void)state;
}

/* Lanes 0 to 2 are at a ballot.  The others went another way, from which some may come to the ballot. */
static void test_lanes_that_may_be_there_may_vote(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(2), ALWAYS), .mode = WSDBG_COMPARE_GT},
        {OP(BRA), IF(0), JUMP(4)},
        {OP(VOTE), UNGUARDED, TO(R(3), P(1)), FROM(ALWAYS), .words = {0, VOTE_ANY << (72 - 64)}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
        {OP(NOP), UNGUARDED},
        {OP(LDG), UNGUARDED, TO(R(8)), FROM(PAIR_AT(10)), .width_bytes = 4, .words = {1, 0}},
        {OP(ISETP), UNGUARDED, TO(P(2)), FROM(R(8), NUMBER(2), ALWAYS), .mode = WSDBG_COMPARE_GT},
        {OP(EXIT), IF(2)},
        {OP(BRA), UNGUARDED, JUMP(-8)},
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_int_equal(together, 7);
    assert_int_equal(walk.count, 0); /* how often they arrive is not known */
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

/* Lanes 0 to 2 are alone, as the others have left the kernel.  These had another predicate: a ballot does not ask them.
 * A shuffle brings nothing of lane 5. */
static void test_what_lanes_had_that_left_is_not_exchanged(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        IS(0, 0, GT, 2),
        IS(2, 0, LT, 3),
        {OP(EXIT), IF(0)},
        {OP(VOTE), UNGUARDED, TO(R(3), P(1)), FROM(P(2)), .words = {0, VOTE_ANY << (72 - 64)}},
        {OP(POPC), UNGUARDED, TO(R(4)), FROM(R(3)), .words = {1, 0}},
        {OP(SHFL), UNGUARDED, TO(R(5)), FROM(R(0), NUMBER(5), NUMBER(31)), .words = {0, 1}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(5)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_int_equal(together, 7);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.steps[0].number, 3);
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

/* clang-format off */
/* Lanes have their numbers in R8.  All have 5 in R2. */
#define AND(to, n) {OP(LOP3), UNGUARDED, TO(R(to)), FROM(R(8), NUMBER(n), ZERO), .table = 0xc0}
#define OR(to, n) {OP(LOP3), UNGUARDED, TO(R(to)), FROM(R(8), NUMBER(n), ZERO), .table = 0xfc}
#define PLUS(to, n) {OP(IADD3), UNGUARDED, TO(R(to)), FROM(R(8), NUMBER(n), ZERO)}
#define ANY32 {UINT64_C(0x00000000000573a1), UINT64_C(0x004e2400000e8000)}, R(5)     /* MATCH.ANY R5, R0 */
#define ANY64 {UINT64_C(0x00000000020773a1), UINT64_C(0x004e2800000e8200)}, R(7)     /* MATCH.ANY.U64 R7, R2 */
#define ALL32 {UINT64_C(0x00000000000073a1), UINT64_C(0x004e240000000000)}, R(0)     /* MATCH.ALL P0, R0, R0 */
#define ALL64 {UINT64_C(0x00000000020773a1), UINT64_C(0x004e280000000200)}, R(7)     /* MATCH.ALL.U64 P0, R7, R2 */
#define REDUX(high) {UINT64_C(0x00000000000673c4), UINT64_C(0x004e240000000000) + (high)}, U(6)  /* REDUX UR6, R0 */
/* clang-format on */

static void test_machine_code_compares_and_reduces_what_all_lanes_have(void **state)
{
    enum { UNKNOWN = 1 }; /* no row has this result */
    static const struct {
        const char *name;
        struct wsdbg_instruction make;
        uint64_t words[2];
        struct wsdbg_operand taken; /* where the result is */
        uint32_t value;             /* of lane 0 */
    } rows[] = {
        {"MATCH.ANY of lane % 4", AND(0, 3), ANY32, 0x11111111},
        {"MATCH.ANY of one number", AND(0, 0), ANY32, UINT32_MAX},
        {"MATCH.ANY of what is not known", AND(3, 0), ANY32, UNKNOWN},
        {"MATCH.ANY.U64, high halves lane % 2", AND(3, 1), ANY64, 0x55555555},
        {"MATCH.ANY.U64, high halves not known", AND(0, 0), ANY64, UNKNOWN},
        {"MATCH.ALL of lane % 4", AND(0, 3), ALL32, 0},
        {"MATCH.ALL of one number", AND(0, 0), ALL32, UINT32_MAX},
        {"MATCH.ALL.U64, high halves lane % 2", AND(3, 1), ALL64, 0},
        {"MATCH.ALL.U64 of one number", AND(3, 0), ALL64, UINT32_MAX},
        {"REDUX of lane | 0x100", OR(0, 0x100), REDUX(0), 0x100},
        {"REDUX.OR of lane | 0x100", OR(0, 0x100), REDUX(0x4000), 0x11f},
        {"REDUX.XOR of lane - 5", PLUS(0, -5), REDUX(0x8000), UINT32_C(-32)},
        {"REDUX.SUM of lane - 5", PLUS(0, -5), REDUX(0xc000), 336},
        {"REDUX.MIN of lane - 5", PLUS(0, -5), REDUX(0x10000), 0},
        {"REDUX.MIN.S32 of lane - 5", PLUS(0, -5), REDUX(0x10200), UINT32_C(-5)},
        {"REDUX.MAX of lane - 5", PLUS(0, -5), REDUX(0x14000), UINT32_MAX},
        {"REDUX.MAX.S32 of lane - 5", PLUS(0, -5), REDUX(0x14200), 26},
        {"REDUX of what is not known", AND(3, 0), REDUX(0), UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_instruction code[] = {
            {OP(S2R), UNGUARDED, TO(R(8)), FROM(SPECIAL(LANE))},
            {SET(2, 5)},
            rows[i].make,
            {OP(NOP), UNGUARDED}, /* the words */
            {OP(MOV), UNGUARDED, TO(R(4)), FROM(ZERO)},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
            {OP(EXIT), UNGUARDED},
        };
        uint32_t together;
        print_message("%s\n", rows[i].name);
        wsdbg_decode(rows[i].words, &code[3]);
        code[4].sources[0] = rows[i].taken;
        struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
        assert_int_equal(walk.is_whole, rows[i].value != UNKNOWN);
        if (walk.is_whole)
            assert_int_equal(walk.steps[0].number, rows[i].value);
        free(walk.steps);
    }
    (void)state;
}

/* What lanes tell each other behind a WARPSYNC of some of them is not what all lanes would. */
static void test_machine_code_reduces_what_the_lanes_of_the_last_warpsync_have(void **state)
{
    static const uint64_t sum[2] = {UINT64_C(0x00000000000673c4), UINT64_C(0x004e24000000c000)}; /* REDUX.SUM UR6, R0 */
    static const struct {
        const char *name;
        struct wsdbg_instruction mask, sync[2];
        bool is_whole;
    } rows[] = {
        {"all lanes", {SET(5, -1)}, {{OP(WARPSYNC), UNGUARDED, FROM(R(5))}, {OP(NOP), UNGUARDED}}, true},
        {"some lanes", {SET(5, 0xff)}, {{OP(WARPSYNC), UNGUARDED, FROM(R(5))}, {OP(NOP), UNGUARDED}}, false},
        {"lanes that are not known",
         {OP(NOP), UNGUARDED},
         {{OP(WARPSYNC), UNGUARDED, FROM(R(5))}, {OP(NOP), UNGUARDED}},
         false},
        {"some lanes, then all again",
         {SET(5, 0xff)},
         {{OP(WARPSYNC), UNGUARDED, FROM(R(5))}, {OP(WARPSYNC), UNGUARDED}},
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_instruction code[] = {
            {OP(S2R), UNGUARDED, TO(R(8)), FROM(SPECIAL(LANE))},
            PLUS(0, 0),
            rows[i].mask,
            rows[i].sync[0],
            rows[i].sync[1],
            {OP(NOP), UNGUARDED}, /* the sum */
            {OP(MOV), UNGUARDED, TO(R(4)), FROM(U(6))},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
            {OP(EXIT), UNGUARDED},
        };
        uint32_t together;
        print_message("%s\n", rows[i].name);
        wsdbg_decode(sum, &code[5]);
        struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
        assert_int_equal(walk.is_whole, rows[i].is_whole);
        if (walk.is_whole)
            assert_int_equal(walk.steps[walk.count - 1].number, 496);
        free(walk.steps);
    }
    (void)state;
}

/* P0 of MATCH.ALL: whether all lanes have the same. */
static void test_machine_code_asks_whether_all_lanes_have_the_same(void **state)
{
    static const uint64_t match_all[2] = {UINT64_C(0x00000000000073a1), UINT64_C(0x004e240000000000)};
    for (uint32_t differs = 0; differs < 2; differs++) {
        struct wsdbg_instruction code[] = {
            {OP(S2R), UNGUARDED, TO(R(8)), FROM(SPECIAL(LANE))},
            AND(0, differs),
            {OP(NOP), UNGUARDED}, /* MATCH.ALL P0, R0, R0 */
            {OP(SYNCS_ARRIVE), IF(0), FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
            {OP(EXIT), UNGUARDED},
        };
        uint32_t together;
        wsdbg_decode(match_all, &code[2]);
        struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
        assert_true(walk.is_whole);
        assert_int_equal(together, UINT32_MAX);
        assert_int_equal(walk.count, !differs);
        free(walk.steps);
    }
    (void)state;
}

/* Lane 0 waits for itself, lanes 1 and 2 for each other: nobody knows that they vote together. */
static void test_lanes_of_two_masks_do_not_vote_together(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        IS(0, 0, GT, 2),
        {OP(EXIT), IF(0)},
        {SET(9, 6)},
        IS(1, 0, EQ, 0),
        {OP(MOV), IF(1), TO(R(9)), FROM(NUMBER(1))},
        {OP(WARPSYNC), UNGUARDED, FROM(R(9))},
        {OP(VOTE), UNGUARDED, TO(R(3), P(2)), FROM(ALWAYS), .words = {0, VOTE_ANY << (72 - 64)}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_int_equal(walk.count, 0);
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_code_says_in_its_words_what_lanes_exchange),
        cmocka_unit_test(test_lanes_that_are_alone_exchange_what_they_have),
        cmocka_unit_test(test_lanes_that_may_be_there_may_vote),
        cmocka_unit_test(test_what_lanes_had_that_left_is_not_exchanged),
        cmocka_unit_test(test_machine_code_compares_and_reduces_what_all_lanes_have),
        cmocka_unit_test(test_machine_code_reduces_what_the_lanes_of_the_last_warpsync_have),
        cmocka_unit_test(test_machine_code_asks_whether_all_lanes_have_the_same),
        cmocka_unit_test(test_lanes_of_two_masks_do_not_vote_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
