/* walk_idle_test.c - loops that a walk leaves out: nothing that it is about depends on them.  Each loop here has more
 * rounds than the walk's length allows.
 */
#include "walk_code.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define KEEP(reg, n) {OF(OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n)))}
#define MOVE(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
#define PLUS(to, from, n) {OF(OP(IADD3), UNGUARDED, TO(R(to)), FROM(R(from), NUMBER(n), ZERO))}
#define BRANCH_IF(n, rows) {OP(BRA), IF(n), JUMP(rows)}
#define ARRIVE(reg) {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(reg)), .mode = WSDBG_ARRIVE_ART0}
#define STORE(reg) {OF(OP(STS), UNGUARDED, FROM(AT(WSDBG_RZ, 0x900), R(reg)), .width_bytes = 4)}
#define CLOCK(reg) {OF(OP(S2R), UNGUARDED, TO(R(reg)), FROM(SPECIAL(0x50)))}
#define FINISH {OP(EXIT), UNGUARDED}
/* R2 counts the rounds. */
#define BEGIN KEEP(16, 5), KEEP(2, 0)
#define AGAIN(rows) PLUS(2, 2, 1), IS(0, 2, LT, 1000), BRANCH_IF(0, -(rows) - 2)
/* clang-format on */

enum { MOST = 18, LENGTH_MOST = 200 };

struct row {
    const char *name;
    struct wsdbg_instruction code[MOST]; /* up to the EXIT */
    bool is_left_out;
};

static const struct row rows[] = {
    {"it computes data", {BEGIN, PLUS(9, 9, 3), AGAIN(1), ARRIVE(16), FINISH}, true},
    {"it has a branch of its own",
     {BEGIN, IS(1, 2, EQ, 7), BRANCH_IF(1, 2), PLUS(9, 9, 3), AGAIN(3), ARRIVE(16), FINISH},
     true},
    {"it has a loop within",
     {BEGIN, KEEP(3, 0), PLUS(3, 3, 1), IS(1, 3, LT, 8), BRANCH_IF(1, -2), AGAIN(4), ARRIVE(16), FINISH},
     true},
    {"it restores what counts",
     {BEGIN, MOVE(40, 16), PLUS(16, 2, 3), MOVE(16, 40), AGAIN(3), ARRIVE(16), FINISH},
     true},
    {"what it computes counts", {BEGIN, PLUS(16, 16, 3), AGAIN(1), ARRIVE(16), FINISH}, false},
    {"its rounds count", {BEGIN, PLUS(9, 9, 3), AGAIN(1), ARRIVE(2), FINISH}, false},
    {"it has an atomic",
     {BEGIN, {OF(OP(ATOMG), UNGUARDED, TO(R(30)), FROM(PAIR_AT(28), R(9)))}, AGAIN(1), ARRIVE(16), FINISH},
     false},
    {"it has an instruction that is not known",
     {BEGIN, {OF(OP(OTHER), UNGUARDED)}, AGAIN(1), ARRIVE(16), FINISH},
     false},
    {"it has a vote", {BEGIN, {OF(OP(VOTE), UNGUARDED, TO(P(2)), FROM(ALWAYS))}, AGAIN(1), ARRIVE(16), FINISH}, false},
    {"some lanes leave the kernel from it",
     {BEGIN, IS(1, 2, EQ, 700), {OF(OP(EXIT), IF(1))}, AGAIN(2), ARRIVE(16), FINISH},
     false},
    {"it has an access", {BEGIN, ARRIVE(16), AGAIN(1), FINISH}, false},
    {"it may wait until time is over",
     {BEGIN, CLOCK(8), IS(0, 8, LT, 1000), BRANCH_IF(0, -2), ARRIVE(16), FINISH},
     false},
    {"it may wait for a word",
     {BEGIN, {LOAD_GLOBAL(30, 28)}, IS(0, 30, EQ, 0), BRANCH_IF(0, -2), ARRIVE(16), FINISH},
     false},
};

static struct wsdbg_walk walk_of_row(const struct row *row)
{
    size_t length = 0;
    while (row->code[length].operation != WSDBG_OP_EXIT || row->code[length].guard != WSDBG_PT)
        length++;
    return walk_of(row->code, length + 1, 0, (struct wsdbg_walk_limits){LENGTH_MOST, LONG, LONG, NULL, NULL});
}

static bool has_poll(const struct wsdbg_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->steps[i].kind == WSDBG_WALK_POLL)
            return true;
    return false;
}

/* A loop whose end is not known is passed as a poll. */
static void test_loops_are_left_out_on_which_nothing_depends(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_of_row(&rows[i]);
        assert_int_equal(walk.is_whole && !has_poll(&walk), rows[i].is_left_out);
        if (rows[i].is_left_out) {
            assert_int_equal(walk.count, 1);
            assert_int_equal(walk.steps[0].number, 5);
        }
        free(walk.steps);
    }
    (void)state;
}

/* What is stored counts where another warp's way may depend on it: here the loop of a load from shared memory. */
static void test_a_loop_that_stores_words_for_others_is_walked(void **state)
{
    static const struct wsdbg_instruction stores[] = {
        BEGIN,
        STORE(9),
        AGAIN(1),
        ARRIVE(16),
        {OF(OP(LDS), UNGUARDED, TO(R(7)), FROM(AT(WSDBG_RZ, 0x900)), .width_bytes = 4)},
        IS(1, 7, EQ, 3),
        BRANCH_IF(1, -3),
        FINISH,
    };
    struct wsdbg_walk walk = walk_of(stores, sizeof stores / sizeof *stores, 0,
                                     (struct wsdbg_walk_limits){LENGTH_MOST, LONG, LONG, NULL, NULL});
    assert_int_equal(walk.count, 0);
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

/* What the rounds read and write counts, though none of them is walked.  The loop's end is tested at its begin. */
static void test_the_traffic_of_a_loop_that_is_left_out_counts(void **state)
{
    static const struct wsdbg_instruction code[] = {
        BEGIN,
        ARRIVE(16),
        IS(0, 2, GE, 1000),
        BRANCH_IF(0, 5),
        STORE(9),
        {OF(OP(LDG), UNGUARDED, TO(R(9)), FROM(PAIR_AT(28)), .width_bytes = 4)},
        PLUS(2, 2, 1),
        {OP(BRA), UNGUARDED, JUMP(-5)},
        ARRIVE(16),
        FINISH,
    };
    struct wsdbg_walk walk =
        walk_of(code, sizeof code / sizeof *code, 0, (struct wsdbg_walk_limits){LENGTH_MOST, LONG, LONG, NULL, NULL});
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.steps[1].traffic, WSDBG_WRITES_SHARED | WSDBG_READS_GLOBAL);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_are_left_out_on_which_nothing_depends),
        cmocka_unit_test(test_the_traffic_of_a_loop_that_is_left_out_counts),
        cmocka_unit_test(test_a_loop_that_stores_words_for_others_is_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
