/* call_frame_test.c - where a function that was called keeps the address at which its caller goes on: in registers, or
 * in its stack frame.
 */
#include "joined_lines.h"

#include "sass/call_frame.h"

/* clang-format off */
#define RETURN(pair) {LEAD(OP(RET), UNGUARDED, FROM(OPERAND(REGISTER, .number = (pair), .registers = 2)))}
#define CALL_PAIR {LEAD(OP(CALL), UNGUARDED, FROM(OPERAND(REGISTER, .number = 8, .registers = 2)))}
#define MOVE_POINTER(n) {OF(OP(IADD3), UNGUARDED, TO(R(STACK)), FROM(R(STACK), NUMBER(n), ZERO))}
#define COPY(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
/* clang-format on */

enum { PAIR = 20, KEEPS_UP_TO = 3 };

/* A function that calls another one. */
static const struct wsdbg_instruction calls[] = {
    MOVE_POINTER(-48),          /* 0 */
    STORE(STACK, 40, PAIR + 1), /* 1 */
    COPY(4, 5),                 /* 2 */
    STORE(STACK, 36, PAIR),     /* 3 */
    SET(PAIR, 0x100),           /* 4: where it goes on itself */
    SET(PAIR + 1, 0),           /* 5 */
    CALL_PAIR,                  /* 6 */
    LOAD(PAIR, STACK, 36),      /* 7 */
    LOAD(PAIR + 1, STACK, 40),  /* 8 */
    MOVE_POINTER(48),           /* 9 */
    RETURN(PAIR),               /* 10 */
};

static struct wsdbg_graph *graph_of(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_code code = lines_of(rows, count);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    free(code.lines);
    return graph;
}

static void test_a_function_that_calls_keeps_it_in_its_frame(void **state)
{
    struct wsdbg_graph *graph = graph_of(calls, sizeof calls / sizeof *calls);
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct wsdbg_call_frame frame;
        assert_true(wsdbg_call_frame_at(graph, i, &frame));
        assert_int_equal(frame.number, PAIR);
        assert_int_equal(frame.is_in_registers, i <= KEEPS_UP_TO || i == 10);
        assert_int_equal(frame.low_bytes, 36);
        assert_int_equal(frame.high_bytes, 40);
        assert_int_equal(frame.frame_bytes, i == 0 || i == 10 ? 0 : 48);
    }
    wsdbg_graph_destroy(graph);
    (void)state;
}

static void test_a_function_that_calls_none_leaves_it_in_registers(void **state)
{
    static const struct wsdbg_instruction rows[] = {COPY(0, 4), PLUS(4, 0, 3), RETURN(PAIR)};
    struct wsdbg_graph *graph = graph_of(rows, 3);
    struct wsdbg_call_frame frame;
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(wsdbg_call_frame_at(graph, i, &frame));
        assert_true(frame.is_in_registers);
        assert_int_equal(frame.number, PAIR);
        assert_int_equal(frame.frame_bytes, 0);
    }
    wsdbg_graph_destroy(graph);
    (void)state;
}

static void test_where_it_is_lost_nothing_is_said(void **state)
{
    static const struct wsdbg_instruction written[] = {SET(PAIR, 1), RETURN(PAIR)};
    static const struct wsdbg_instruction several[] = {BRANCH_IF(0, 2), RETURN(PAIR), RETURN(PAIR + 2)};
    static const struct wsdbg_instruction none[] = {SET(2, 1), FINISH};
    static const struct {
        const struct wsdbg_instruction *rows;
        uint32_t count;
    } cases[] = {{written, 2}, {several, 3}, {none, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wsdbg_graph *graph = graph_of(cases[i].rows, cases[i].count);
        struct wsdbg_call_frame frame;
        assert_false(wsdbg_call_frame_at(graph, 0, &frame));
        wsdbg_graph_destroy(graph);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_that_calls_keeps_it_in_its_frame),
        cmocka_unit_test(test_a_function_that_calls_none_leaves_it_in_registers),
        cmocka_unit_test(test_where_it_is_lost_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
