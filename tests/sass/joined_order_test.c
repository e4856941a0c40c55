/* joined_order_test.c - joined code before and after its frame is followed: conditions that are negated by an
 * instruction of their own, registers that are swapped, and branches that stand between statements.
 */
#include "joined_lines.h"

#include "sass/joined_order.h"

enum { TABLE_NOT = 0x0f, TABLE_SAME = 0xf0 };

/* clang-format off */
#define LOGIC(n, table_) {OF(OP(PLOP3), UNGUARDED, TO(P(n)), FROM(P(n), ALWAYS, ALWAYS), .table = (table_))}
#define IS_LESS(n, reg) {OF(OP(ISETP), UNGUARDED, TO(P(n)), FROM(R(reg), NUMBER(7), ALWAYS), .mode = WSDBG_COMPARE_LT)}
/* clang-format on */

static struct joined_code folded(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_code code = lines_of(rows, count);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    joined_fold_logic(&code, graph);
    wsdbg_graph_destroy(graph);
    return code;
}

static void test_a_negated_condition_is_a_comparison(void **state)
{
    static const struct {
        struct wsdbg_instruction rows[3];
        enum wsdbg_comparison mode;
        bool is_left_out;
    } cases[] = {
        {{IS_LESS(0, 4), LOGIC(0, TABLE_NOT), FINISH}, WSDBG_COMPARE_GE, true},
        {{IS_LESS(0, 4), LOGIC(0, TABLE_SAME), FINISH}, WSDBG_COMPARE_LT, true},
        {{IS_LESS(1, 4), LOGIC(0, TABLE_NOT), FINISH}, WSDBG_COMPARE_LT, false}, /* of another predicate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct joined_code code = folded(cases[i].rows, 3);
        assert_int_equal(code.lines[0].instruction.mode, cases[i].mode);
        assert_int_equal(code.lines[1].is_left_out, cases[i].is_left_out);
        free(code.lines);
    }
    (void)state;
}

#define XOR(to, a, b)                                                             \
    {                                                                             \
        OF(OP(LOP3), UNGUARDED, TO(R(to)), FROM(R(a), R(b), ZERO), .table = 0x3c) \
    }

static struct joined_code swapped(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_code code = lines_of(rows, count);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    joined_make_swaps(&code, graph);
    wsdbg_graph_destroy(graph);
    return code;
}

static void test_exclusive_ors_that_swap_are_moves(void **state)
{
    static const struct wsdbg_instruction rows[] = {XOR(9, 9, 8), XOR(8, 9, 8), XOR(9, 8, 9), FINISH};
    static const unsigned to[] = {JOINED_SPARE_REGISTER, 9, 8}, from[] = {9, 8, JOINED_SPARE_REGISTER};
    struct joined_code code = swapped(rows, 4);
    for (uint32_t i = 0; i < 3; i++) {
        const struct wsdbg_instruction *move = &code.lines[i].instruction;
        assert_int_equal(move->operation, WSDBG_OP_MOV);
        assert_int_equal(move->destinations[0].number, to[i]);
        assert_int_equal(move->sources[0].number, from[i]);
        assert_int_equal(code.lines[i].is_inside, i > 0);
    }
    free(code.lines);
    (void)state;
}

static void test_other_exclusive_ors_stay(void **state)
{
    static const struct wsdbg_instruction cases[][4] = {
        {XOR(9, 9, 8), XOR(8, 9, 8), XOR(8, 9, 8), FINISH},
        {XOR(9, 9, 8), XOR(8, 9, 7), XOR(9, 9, 8), FINISH},
        {XOR(9, 9, 8), XOR(8, 9, 8), {OF(OP(LOP3), IF(0), TO(R(9)), FROM(R(9), R(8), ZERO), .table = 0x3c)}, FINISH},
        {XOR(9, 9, 9), XOR(9, 9, 9), XOR(9, 9, 9), FINISH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct joined_code code = swapped(cases[i], 4);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(code.lines[k].instruction.operation, WSDBG_OP_LOP3);
            assert_false(code.lines[k].is_inside);
        }
        free(code.lines);
    }
    (void)state;
}

/* The caller frees it. */
static struct joined_layout laid_out(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_layout layout = {.instructions = calloc(count, sizeof *rows),
                                   .count = count,
                                   .is_kept = calloc(count, sizeof(bool)),
                                   .places = calloc(count, sizeof(uint32_t))};
    for (uint32_t i = 0; i < count; i++)
        layout.instructions[i] = rows[i];
    assert_null(joined_lay_out(&layout));
    return layout;
}

#define LAID_OUT(rows) laid_out(rows, sizeof(rows) / sizeof *(rows))

static void free_layout(struct joined_layout *layout)
{
    free(layout->instructions);
    free(layout->is_kept);
    free(layout->places);
}

static uint32_t target_of(const struct joined_layout *layout, uint32_t place)
{
    return place + (uint32_t)(layout->instructions[place].target_offset_bytes / WSDBG_INSTRUCTION_BYTES);
}

/* A call and a return, as they are once the function is joined. */
static void test_what_a_branch_always_leads_to_follows(void **state)
{
    static const struct wsdbg_instruction rows[] = {SET(2, 0), BRANCH(3), SET(4, 0), FINISH, SET(3, 0), BRANCH(-3)};
    static const unsigned expected[] = {2, 3, 4};
    struct joined_layout layout = LAID_OUT(rows);
    assert_int_equal(layout.count, 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(layout.instructions[i].destinations[0].number, expected[i]);
    assert_int_equal(layout.instructions[3].operation, WSDBG_OP_EXIT);
    assert_false(layout.is_kept[1]);
    assert_false(layout.is_kept[5]);
    assert_int_equal(layout.places[4], 1);
    assert_int_equal(layout.places[2], 2);
    free_layout(&layout);
    (void)state;
}

/* The begin of a loop has two ways to it, and so has the EXIT. */
static void test_what_has_other_ways_to_it_stays(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        SET(2, 0), BRANCH(2), FINISH, SET(3, 0), BRANCH_IF(0, 2), BRANCH(-3), SET(4, 0), BRANCH(-4),
    };
    struct joined_layout layout = LAID_OUT(rows);
    assert_true(layout.is_kept[1]);
    assert_true(layout.is_kept[7]);
    assert_int_equal(target_of(&layout, layout.places[1]), layout.places[3]);
    assert_int_equal(target_of(&layout, layout.places[7]), layout.places[3]);
    assert_int_equal(target_of(&layout, layout.places[4]), layout.places[6]);
    free_layout(&layout);
    (void)state;
}

/* A block that falls into another one stays before it, wherever the branch to it stands. */
static void test_blocks_that_fall_through_stay_together(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        BRANCH_IF(0, 2), /* 0 */
        BRANCH(5),       /* 1: to the block before the loop */
        SET(2, 0),       /* 2 */
        BRANCH(4),       /* 3: to the loop */
        SET(9, 0),       /* 4: nothing leads here */
        FINISH,          /* 5 */
        SET(3, 0),       /* 6: the block before the loop, which falls into it */
        SET(4, 0),       /* 7: the loop */
        BRANCH_IF(1, -1), FINISH,
    };
    struct joined_layout layout = LAID_OUT(rows);
    assert_int_equal(layout.places[6] + 1, layout.places[7]);
    assert_int_equal(layout.places[7] + 1, layout.places[8]);
    assert_int_equal(layout.places[8] + 1, layout.places[9]);
    assert_false(layout.is_kept[1]);
    assert_true(layout.is_kept[3]);
    free_layout(&layout);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_negated_condition_is_a_comparison),
        cmocka_unit_test(test_exclusive_ors_that_swap_are_moves),
        cmocka_unit_test(test_other_exclusive_ors_stay),
        cmocka_unit_test(test_what_a_branch_always_leads_to_follows),
        cmocka_unit_test(test_what_has_other_ways_to_it_stays),
        cmocka_unit_test(test_blocks_that_fall_through_stay_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
