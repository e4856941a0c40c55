/* graph_test.c - control flow: blocks, loops, what a path leads to and what it executes on the way.
 *
 * Code is written as rows; the number of a row is the instruction's.  What holds for random code is compared with
 * slow answers that walk instruction by instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/code.h"

#define OP(name) WSDBG_OP_##name, NOWHERE, false, 0
#define MAYBE(name) WSDBG_OP_##name, NOWHERE, true, 0
#define TO(name, row) WSDBG_OP_##name, row, false, 0
#define TABLE(rows) WSDBG_OP_BRX, NOWHERE, false, rows
#define MAYBE_TO(name, row) WSDBG_OP_##name, row, true, 0
#define GRAPH(steps) graph_of(steps, sizeof(steps) / sizeof *(steps))
#define NONE WSDBG_GRAPH_NONE

static const struct wsdbg_block *block_of(const struct wsdbg_graph *graph, uint32_t number)
{
    return wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, number));
}

static uint64_t reach_bits(const struct wsdbg_graph *graph, uint32_t from, uint64_t avoid)
{
    uint64_t reached;
    assert_true(wsdbg_graph_instruction_count(graph) <= 64);
    assert_false(wsdbg_graph_reach_set(graph, from, &avoid, &reached));
    return reached;
}

#define assert_passes(graph, from, to, set, least, most)                              \
    do {                                                                              \
        const uint64_t bits = set;                                                    \
        uint8_t at_least, at_most;                                                    \
        assert_true(wsdbg_graph_passes(graph, from, to, &bits, &at_least, &at_most)); \
        assert_int_equal(at_least, least);                                            \
        assert_int_equal(at_most, most);                                              \
    } while (0)

#define ROW(number) (UINT64_C(1) << (number))

static void a_guarded_branch_goes_two_ways(void **state)
{
    (void)state;
    struct step code[] = {{MAYBE_TO(BRA, 2)}, {OP(NOP)}, {OP(EXIT)}};
    struct wsdbg_graph *graph = GRAPH(code);
    assert_int_equal(wsdbg_graph_block_count(graph), 3);
    const struct wsdbg_block *first = block_of(graph, 0);
    assert_int_equal(first->successor[0], wsdbg_graph_block_of(graph, 1));
    assert_int_equal(first->successor[1], wsdbg_graph_block_of(graph, 2));
    assert_int_equal(block_of(graph, 1)->successor[1], NONE);
    assert_true(block_of(graph, 2)->exits);
    assert_int_equal(block_of(graph, 2)->successor[0], NONE);
    wsdbg_graph_destroy(graph);
}

static void a_guarded_exit_may_be_passed(void **state)
{
    (void)state;
    struct step code[] = {{MAYBE(EXIT)}, {OP(EXIT)}, {OP(NOP)}};
    struct wsdbg_graph *graph = GRAPH(code);
    assert_true(block_of(graph, 0)->exits);
    assert_int_equal(reach_bits(graph, 0, 0), ROW(0) | ROW(1));
    wsdbg_graph_destroy(graph);
}

static void a_loop_is_named_by_its_head(void **state)
{
    (void)state;
    struct step code[] = {
        /* 0 */ {OP(NOP)},
        /* 1: outer */ {OP(NOP)},
        /* 2: inner */ {OP(NOP)},
        /* 3 */ {MAYBE_TO(BRA, 5)},
        /* 4 */ {OP(NOP)},
        /* 5 */ {MAYBE_TO(BRA, 2)},
        /* 6 */ {MAYBE_TO(BRA, 1)},
        /* 7 */ {OP(EXIT)},
        /* 8: behind the code */ {TO(BRA, 8)},
    };
    struct wsdbg_graph *graph = GRAPH(code);
    assert_int_equal(block_of(graph, 0)->loop, NONE);
    assert_int_equal(block_of(graph, 1)->loop, wsdbg_graph_block_of(graph, 1));
    assert_int_equal(block_of(graph, 2)->loop, wsdbg_graph_block_of(graph, 2));
    assert_int_equal(block_of(graph, 4)->loop, wsdbg_graph_block_of(graph, 2));
    assert_int_equal(block_of(graph, 5)->loop, wsdbg_graph_block_of(graph, 2));
    assert_int_equal(block_of(graph, 6)->loop, wsdbg_graph_block_of(graph, 1));
    assert_int_equal(block_of(graph, 7)->loop, NONE);
    assert_int_equal(block_of(graph, 8)->loop, NONE);
    wsdbg_graph_destroy(graph);
}

/* The shape of a wait as compiled: first try in line, the loop behind the function's end. */
static void what_lies_behind_a_wait_is_reached_only_through_it(void **state)
{
    (void)state;
    struct step code[] = {
        /* 0 */ {OP(SYNCS_PHASECHK)},
        /* 1 */ {MAYBE_TO(BRA, 4)},
        /* 2 */ {OP(SYNCS_ARRIVE)},
        /* 3 */ {OP(EXIT)},
        /* 4 */ {OP(SYNCS_PHASECHK)},
        /* 5 */ {MAYBE_TO(BRA, 4)},
        /* 6 */ {TO(BRA, 2)},
    };
    struct wsdbg_graph *graph = GRAPH(code);
    const uint64_t waits = ROW(0) | ROW(4);
    assert_int_equal(wsdbg_graph_reaches(graph, 5, 2, NULL), WSDBG_REACHES_YES);
    assert_int_equal(wsdbg_graph_reaches(graph, 4, 2, &waits), WSDBG_REACHES_NO);
    assert_int_equal(wsdbg_graph_reaches(graph, 4, 4, &waits), WSDBG_REACHES_YES);
    assert_int_equal(wsdbg_graph_reaches(graph, 2, 4, NULL), WSDBG_REACHES_NO);
    assert_int_equal(reach_bits(graph, 6, waits), ROW(6) | ROW(2) | ROW(3));
    wsdbg_graph_destroy(graph);
}

static void what_is_guarded_stops_no_path(void **state)
{
    (void)state;
    struct step code[] = {{OP(NOP)}, {MAYBE(SYNCS_PHASECHK)}, {OP(EXIT)}};
    struct wsdbg_graph *graph = GRAPH(code);
    assert_int_equal(reach_bits(graph, 0, ROW(1)), ROW(0) | ROW(1) | ROW(2));
    wsdbg_graph_destroy(graph);
}

static void executions_are_counted_on_every_path(void **state)
{
    (void)state;
    struct step code[] = {
        /* 0 */ {OP(SYNCS_ARRIVE)},
        /* 1 */ {MAYBE_TO(BRA, 3)},
        /* 2 */ {OP(SYNCS_ARRIVE)},
        /* 3 */ {MAYBE(SYNCS_ARRIVE)},
        /* 4 */ {OP(SYNCS_ARRIVE)},
        /* 5 */ {OP(EXIT)},
    };
    struct wsdbg_graph *graph = GRAPH(code);
    const uint64_t arrives = ROW(0) | ROW(2) | ROW(3) | ROW(4);
    assert_passes(graph, 0, 0, arrives, 0, 0);
    assert_passes(graph, 0, 1, arrives, 1, 1);
    assert_passes(graph, 0, 3, arrives, 1, 2);
    assert_passes(graph, 0, 5, arrives, 2, 4);
    uint8_t least, most;
    assert_false(wsdbg_graph_passes(graph, 5, 0, &arrives, &least, &most));
    wsdbg_graph_destroy(graph);
}

static void a_loop_may_repeat_what_it_holds(void **state)
{
    (void)state;
    struct step code[] = {
        /* 0 */ {OP(NOP)},
        /* 1 */ {OP(SYNCS_ARRIVE)},
        /* 2 */ {MAYBE_TO(BRA, 1)},
        /* 3 */ {OP(NANOSLEEP)},
        /* 4 */ {MAYBE_TO(BRA, 3)},
        /* 5 */ {OP(EXIT)},
    };
    struct wsdbg_graph *graph = GRAPH(code);
    assert_passes(graph, 0, 5, ROW(1), 1, 255);
    assert_passes(graph, 0, 1, ROW(1), 0, 255);
    assert_passes(graph, 3, 5, ROW(1), 0, 0);
    wsdbg_graph_destroy(graph);
}

/* As behind a setmaxnreg that damaged code ends with. */
static void behind_the_last_instruction_nobody_knows(void **state)
{
    (void)state;
    struct step code[] = {{OP(NOP)}, {OP(USETMAXREG)}};
    struct wsdbg_graph *graph = GRAPH(code);
    uint64_t reached = ROW(0);
    assert_true(wsdbg_graph_reach_set(graph, 2, NULL, &reached));
    assert_int_equal(reached, 0);
    wsdbg_graph_destroy(graph);
}

static void a_branch_through_a_register_makes_it_maybe(void **state)
{
    (void)state;
    struct step code[] = {{MAYBE_TO(BRA, 2)}, {OP(BRX)}, {OP(EXIT)}, {OP(SYNCS_ARRIVE)}, {OP(EXIT)}};
    struct wsdbg_graph *graph = GRAPH(code);
    assert_true(block_of(graph, 1)->is_indirect);
    assert_int_equal(wsdbg_graph_reaches(graph, 0, 3, NULL), WSDBG_REACHES_MAYBE);
    assert_int_equal(wsdbg_graph_reaches(graph, 2, 3, NULL), WSDBG_REACHES_NO);
    assert_passes(graph, 0, 3, ROW(2), 0, 255);
    wsdbg_graph_destroy(graph);
}

static void a_branch_by_a_table_leads_to_its_rows_and_nowhere_else(void **state)
{
    (void)state;
    struct step code[] = {{TABLE(ROW(2) | ROW(4))}, {OP(SYNCS_ARRIVE)}, {OP(SYNCS_ARRIVE)}, {OP(EXIT)},
                          {OP(SYNCS_ARRIVE)},       {MAYBE_TO(BRA, 0)}, {OP(EXIT)}};
    struct wsdbg_graph *graph = GRAPH(code);
    assert_int_equal(reach_bits(graph, 0, 0), ROW(0) | ROW(2) | ROW(3) | ROW(4) | ROW(5) | ROW(6));
    assert_int_equal(reach_bits(graph, 0, ROW(4)), ROW(0) | ROW(2) | ROW(3) | ROW(4));
    assert_passes(graph, 0, 3, ROW(2) | ROW(4), 1, 255);
    assert_int_equal(block_of(graph, 4)->loop, wsdbg_graph_block_of(graph, 0));
    assert_int_equal(block_of(graph, 2)->loop, NONE);
    wsdbg_graph_destroy(graph);
}

/* 0: call, 1, 2: call, 3: exit; the callee is 4 to 6. */
static const struct step two_calls[] = {
    {TO(CALL, 4)}, {OP(SYNCS_ARRIVE)}, {TO(CALL, 4)}, {OP(EXIT)}, {OP(NOP)}, {OP(NOP)}, {OP(RET)},
};

static void a_path_returns_to_the_call_it_came_by(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = GRAPH(two_calls);
    assert_int_equal(block_of(graph, 0)->callee, 4);
    assert_true(block_of(graph, 6)->returns);
    assert_int_equal(reach_bits(graph, 2, 0), ROW(2) | ROW(3) | ROW(4) | ROW(5) | ROW(6));
    assert_passes(graph, 0, 3, ROW(1), 1, 1);
    assert_passes(graph, 0, 3, ROW(5), 0, 255); /* what a callee executes is not counted */
    wsdbg_graph_destroy(graph);
}

static void who_stands_in_a_callee_may_return_to_every_call(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = GRAPH(two_calls);
    assert_int_equal(reach_bits(graph, 5, 0), ROW(1) | ROW(2) | ROW(3) | ROW(4) | ROW(5) | ROW(6));
    assert_passes(graph, 5, 3, ROW(1), 0, 1);
    wsdbg_graph_destroy(graph);
}

static void a_callee_that_must_be_avoided_is_not_passed(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = GRAPH(two_calls);
    assert_int_equal(reach_bits(graph, 0, ROW(5)), ROW(0) | ROW(4) | ROW(5));
    wsdbg_graph_destroy(graph);
}

/* ---- random code, compared with slow answers ---- */

enum { RANDOM_ROWS = 14 };

static void random_code(uint32_t *random, struct step *steps)
{
    for (int i = 0; i < RANDOM_ROWS; i++) {
        *random = *random * 1664525u + 1013904223u;
        const unsigned pick = *random >> 28;
        const bool is_guarded = *random >> 27 & 1;
        const int target = (int)((*random >> 8 & 0xffff) % RANDOM_ROWS);
        if (pick < 6)
            steps[i] = (struct step){WSDBG_OP_BRA, target, pick < 5, 0};
        else if (pick == 7)
            steps[i] = (struct step){WSDBG_OP_BRX, NOWHERE, is_guarded,
                                     ROW(target) | ROW(i / 2) | ROW((*random >> 3) % RANDOM_ROWS)};
        else
            steps[i] = (struct step){pick == 6 ? WSDBG_OP_EXIT : WSDBG_OP_SYNCS_ARRIVE, NOWHERE, is_guarded, 0};
    }
    steps[RANDOM_ROWS - 1] = (struct step){OP(EXIT)};
}

static uint64_t next_of(const struct step *steps, int row)
{
    const bool passes = steps[row].operation == WSDBG_OP_SYNCS_ARRIVE || steps[row].is_guarded;
    return (passes ? ROW(row + 1) : 0) | (steps[row].operation == WSDBG_OP_BRA ? ROW(steps[row].target) : 0) |
           steps[row].cases;
}

/* What a path from `from` comes to that goes on behind none of `stops`. */
static uint64_t slow_reach(const struct step *steps, int from, uint64_t stops)
{
    uint64_t reached = ROW(from);
    for (int round = 0; round < RANDOM_ROWS; round++)
        for (int row = 0; row < RANDOM_ROWS; row++)
            if (reached & ROW(row) && !(stops & ROW(row)))
                reached |= next_of(steps, row);
    return reached;
}

static uint64_t unguarded(const struct step *steps, uint64_t set)
{
    for (int row = 0; row < RANDOM_ROWS; row++)
        if (steps[row].is_guarded)
            set &= ~ROW(row);
    return set;
}

/* For each row: how many rows of `set` a path of at most `length` steps from `from` passes before it, at least and at
 * most. */
static void slow_passes(const struct step *steps, int from, uint64_t set, int length, int *least, int *most)
{
    for (int row = 0; row < RANDOM_ROWS; row++) {
        least[row] = row == from ? 0 : INT16_MAX;
        most[row] = row == from ? 0 : INT16_MIN;
    }
    for (int round = 0; round < length; round++)
        for (int row = 0; row < RANDOM_ROWS; row++)
            for (int to = 0; to < RANDOM_ROWS; to++) {
                if (!(next_of(steps, row) & ROW(to)))
                    continue;
                const int counts = set >> row & 1, must = counts && !steps[row].is_guarded;
                if (least[row] != INT16_MAX && least[row] + must < least[to])
                    least[to] = least[row] + must;
                if (most[row] != INT16_MIN && most[row] + counts > most[to] && most[to] < 255)
                    most[to] = most[row] + counts < 255 ? most[row] + counts : 255;
            }
}

static void random_code_is_walked_as_a_slow_walk_does(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (int round = 0; round < 150; round++) {
        struct step steps[RANDOM_ROWS];
        random_code(&random, steps);
        struct wsdbg_graph *graph = GRAPH(steps);
        const uint64_t set = random >> 7;
        for (int from = 0; from < RANDOM_ROWS; from++) {
            int least[RANDOM_ROWS], most[RANDOM_ROWS];
            assert_int_equal(reach_bits(graph, (uint32_t)from, set), slow_reach(steps, from, unguarded(steps, set)));
            slow_passes(steps, from, set, 260 * 4, least, most);
            for (int to = 0; to < RANDOM_ROWS; to++) {
                uint8_t at_least = 0, at_most = 0;
                const bool comes = wsdbg_graph_passes(graph, (uint32_t)from, (uint32_t)to, &set, &at_least, &at_most);
                assert_int_equal(comes, least[to] != INT16_MAX);
                if (comes && (at_least != least[to] || at_most != most[to]))
                    fail_msg("round %d, %d to %d: %d..%d instead of %d..%d", round, from, to, at_least, at_most,
                             least[to], most[to]);
            }
        }
        wsdbg_graph_destroy(graph);
    }
}

static bool slow_dominates(const struct step *steps, int above, int row)
{
    return above == row || (above == 0) || !(slow_reach(steps, 0, ROW(above)) & ROW(row));
}

/* True where `row` leads back to `head` within the loop that `head` is the head of. */
static bool slow_is_in_loop(const struct step *steps, int head, int row)
{
    for (int last = 0; last < RANDOM_ROWS; last++)
        if (next_of(steps, last) & ROW(head) && slow_reach(steps, 0, 0) & ROW(last) &&
            slow_dominates(steps, head, last) && slow_dominates(steps, head, row) &&
            (row == head || (last != head && slow_reach(steps, row, ROW(head)) & ROW(last))))
            return true;
    return false;
}

/* The head of the innermost loop: the one that all the others are before. */
static int slow_loop(const struct step *steps, int row)
{
    int loop = -1;
    for (int head = 0; head < RANDOM_ROWS; head++)
        if (slow_is_in_loop(steps, head, row) && (loop < 0 || slow_dominates(steps, loop, head)))
            loop = head;
    return loop;
}

/* Blocks of the loop of the block that begins at `head`, where it is the head of one. */
static void compare_loop_blocks(const struct wsdbg_graph *graph, const struct step *steps, int head)
{
    const uint32_t block = wsdbg_graph_block_of(graph, (uint32_t)head);
    uint64_t blocks = 0;
    if (wsdbg_graph_block(graph, block)->first != (uint32_t)head || wsdbg_graph_block(graph, block)->loop != block)
        return;
    wsdbg_graph_loop_blocks(graph, block, &blocks);
    for (int row = 0; row < RANDOM_ROWS; row++) {
        const bool is_inside = blocks >> wsdbg_graph_block_of(graph, (uint32_t)row) & 1;
        assert_int_equal(is_inside, (slow_reach(steps, 0, 0) & ROW(row)) && slow_is_in_loop(steps, head, row));
    }
}

static void loops_of_random_code_are_those_of_a_slow_search(void **state)
{
    (void)state;
    uint32_t random = 11;
    for (int round = 0; round < 400; round++) {
        struct step steps[RANDOM_ROWS];
        random_code(&random, steps);
        struct wsdbg_graph *graph = GRAPH(steps);
        for (int row = 0; row < RANDOM_ROWS; row++) {
            const uint32_t loop = block_of(graph, (uint32_t)row)->loop;
            const int head = loop == NONE ? -1 : (int)wsdbg_graph_block(graph, loop)->first;
            if (slow_reach(steps, 0, 0) & ROW(row))
                assert_int_equal(head, slow_loop(steps, row));
            else
                assert_int_equal(head, -1);
            compare_loop_blocks(graph, steps, row);
        }
        wsdbg_graph_destroy(graph);
    }
}

static void code_without_an_instruction_is_an_empty_graph(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = graph_of(NULL, 0);
    assert_int_equal(wsdbg_graph_block_count(graph), 0);
    wsdbg_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guarded_branch_goes_two_ways),
        cmocka_unit_test(a_guarded_exit_may_be_passed),
        cmocka_unit_test(a_loop_is_named_by_its_head),
        cmocka_unit_test(what_lies_behind_a_wait_is_reached_only_through_it),
        cmocka_unit_test(what_is_guarded_stops_no_path),
        cmocka_unit_test(executions_are_counted_on_every_path),
        cmocka_unit_test(a_loop_may_repeat_what_it_holds),
        cmocka_unit_test(behind_the_last_instruction_nobody_knows),
        cmocka_unit_test(a_branch_through_a_register_makes_it_maybe),
        cmocka_unit_test(a_branch_by_a_table_leads_to_its_rows_and_nowhere_else),
        cmocka_unit_test(a_path_returns_to_the_call_it_came_by),
        cmocka_unit_test(who_stands_in_a_callee_may_return_to_every_call),
        cmocka_unit_test(a_callee_that_must_be_avoided_is_not_passed),
        cmocka_unit_test(random_code_is_walked_as_a_slow_walk_does),
        cmocka_unit_test(loops_of_random_code_are_those_of_a_slow_search),
        cmocka_unit_test(code_without_an_instruction_is_an_empty_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
