/* walk_test.c - the walk of one thread or of a warp through a kernel: which accesses it executes, how often and with
 * which operands; what happens at a branch whose condition is unknown; and how lanes of a warp go together.
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

/* ---- a whole warp ---- */

/* Of the group with lane 0; *together: its lanes. */
static struct wsdbg_walk walk_of_warp(const struct wsdbg_instruction *code, size_t count, uint32_t *together)
{
    uint32_t lanes[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        lanes[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){&lanes[lane], constant, lane_of, NULL, NULL, NULL, 0};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    assert_null(wsdbg_walk_lanes(plan, worlds, UINT32_MAX, (struct wsdbg_walk_limits){LONG, LONG, LONG, NULL, NULL},
                                 &walk, together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

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
    static const struct wsdbg_instruction leave = {OP(EXIT), IF(0)}, jump = {OP(BRA), IF(0), JUMP(7)};
    static const struct {
        const char *name;
        const struct wsdbg_instruction *parts;
    } rows[] = {{"the others have left", &leave}, {"the others come back", &jump}};
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
        cmocka_unit_test(test_every_round_has_its_barrier_and_its_parity),
        cmocka_unit_test(test_a_limit_ends_a_walk_that_is_not_whole),
        cmocka_unit_test(test_what_nobody_can_decide_is_passed_or_ends_the_walk),
        cmocka_unit_test(test_a_side_that_calls_a_function_is_passed_as_its_code_allows),
        cmocka_unit_test(test_a_branch_is_not_taken_to_a_trap),
        cmocka_unit_test(test_a_side_that_acts_before_it_traps_may_be_taken),
        cmocka_unit_test(test_machine_code_reduces_what_the_lanes_of_the_last_warpsync_have),
        cmocka_unit_test(test_machine_code_says_in_its_words_what_lanes_exchange),
        cmocka_unit_test(test_lanes_that_are_alone_exchange_what_they_have),
        cmocka_unit_test(test_what_lanes_had_that_left_is_not_exchanged),
        cmocka_unit_test(test_lanes_of_two_masks_do_not_vote_together),
        cmocka_unit_test(test_machine_code_compares_and_reduces_what_all_lanes_have),
        cmocka_unit_test(test_machine_code_asks_whether_all_lanes_have_the_same),
        cmocka_unit_test(test_a_side_may_be_lost_in_a_function_of_a_function),
        cmocka_unit_test(test_a_side_may_be_lost_in_a_function_in_each_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
