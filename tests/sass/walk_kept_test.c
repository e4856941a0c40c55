/* walk_kept_test.c - registers that a walk still knows behind a branch that it cannot decide: both sides write them and
 * restore them.
 */
#include "walk_code.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define KEEP(n) {OF(OP(MOV), UNGUARDED, TO(R(n)), FROM(NUMBER(5)))}
#define MOVE(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
#define MOVE_IF(guard, to, from) {OF(OP(MOV), IF(guard), TO(R(to)), FROM(R(from)))}
#define WRITE(n) {OF(OP(IADD3), UNGUARDED, TO(R(n)), FROM(R(30), NUMBER(1), ZERO))}
#define BRANCH_IF(n, rows) {OP(BRA), IF(n), JUMP(rows)}
/* P0 is not known. */
#define QUESTION {LOAD_GLOBAL(30, 28)}, IS(0, 30, EQ, 0)
#define ARRIVE(reg) {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(reg)), .mode = WSDBG_ARRIVE_ART0}, {OP(EXIT), UNGUARDED}
/* clang-format on */

enum { MOST = 16, UNKNOWN = -1 };

struct row {
    const char *name;
    struct wsdbg_instruction code[MOST]; /* up to the EXIT */
    int64_t arrivals;
};

static const struct row rows[] = {
    {"nothing is written", {KEEP(16), QUESTION, BRANCH_IF(0, 2), WRITE(17), ARRIVE(16)}, 5},
    {"it is written", {KEEP(16), QUESTION, BRANCH_IF(0, 2), WRITE(16), ARRIVE(16)}, UNKNOWN},
    {"it is kept elsewhere and comes back",
     {KEEP(16), QUESTION, BRANCH_IF(0, 4), MOVE(40, 16), WRITE(16), MOVE(16, 40), ARRIVE(16)},
     5},
    {"by way of another register",
     {KEEP(16), QUESTION, BRANCH_IF(0, 5), MOVE(40, 16), WRITE(16), MOVE(41, 40), MOVE(16, 41), ARRIVE(16)},
     5},
    {"what it is kept in is written",
     {KEEP(16), QUESTION, BRANCH_IF(0, 5), MOVE(40, 16), WRITE(16), WRITE(40), MOVE(16, 40), ARRIVE(16)},
     UNKNOWN},
    {"another register comes back",
     {KEEP(16), KEEP(40), QUESTION, BRANCH_IF(0, 4), MOVE(41, 40), WRITE(16), MOVE(16, 41), ARRIVE(16)},
     UNKNOWN},
    {"it may come back",
     {KEEP(16), QUESTION, BRANCH_IF(0, 4), MOVE(40, 16), WRITE(16), MOVE_IF(1, 16, 40), ARRIVE(16)},
     UNKNOWN},
    {"it comes back on one way only",
     {KEEP(16), QUESTION, BRANCH_IF(0, 6), MOVE(40, 16), WRITE(16), IS(1, 30, EQ, 1), BRANCH_IF(1, 2), MOVE(16, 40),
      ARRIVE(16)},
     UNKNOWN},
    {"in each round of a loop",
     {KEEP(16),
      QUESTION,
      MOVE(40, 16),
      WRITE(16),
      MOVE(16, 40),
      {LOAD_GLOBAL(30, 28)},
      IS(0, 30, EQ, 0),
      BRANCH_IF(0, -5),
      ARRIVE(16)},
     5},
    {"what it was kept in is kept in each round",
     {KEEP(16),
      MOVE(40, 16),
      QUESTION,
      MOVE(16, 40),
      WRITE(40),
      {LOAD_GLOBAL(30, 28)},
      IS(0, 30, EQ, 0),
      BRANCH_IF(0, -4),
      ARRIVE(16)},
     UNKNOWN},
};

static void test_registers_that_come_back_are_known(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = 0;
        while (rows[i].code[length].operation != WSDBG_OP_EXIT)
            length++;
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_of(rows[i].code, length + 1, 0, WITHOUT_LIMITS);
        assert_int_equal(walk.is_whole, rows[i].arrivals != UNKNOWN);
        for (size_t k = 0; k < walk.count; k++)
            if (walk.steps[k].kind == WSDBG_ACCESS_ARRIVE)
                assert_int_equal(walk.steps[k].number, rows[i].arrivals);
        free(walk.steps);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers_that_come_back_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
