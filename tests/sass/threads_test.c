/* threads_test.c - which threads may execute an instruction, and whether one lane of a warp or all do, where branches,
 * guards and votes depend on the thread's index.
 *
 * Code is written as instructions, their operands in nvdisasm's order; a warp is threads 32w to 32w + 31.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sass/threads.h"

enum { TID_X = 0x21, WARP_THREADS = 32, WARPS = 4 };

#define ALWAYS .guard = WSDBG_PT, .is_whole = true
#define IF(n) .guard = n, .is_whole = true
#define UNLESS_UNIFORM(n) .guard = n, .guard_is_negated = true, .guard_is_uniform = true, .is_whole = true
#define OPERAND(what, n)                                          \
    {                                                             \
        .kind = WSDBG_OPERAND_##what, .number = n, .registers = 1 \
    }
#define THREAD(to)                                                                              \
    .operation = WSDBG_OP_S2R, .destinations = {OPERAND(REGISTER, to)}, .destination_count = 1, \
    .sources = {{.kind = WSDBG_OPERAND_SPECIAL, .value = TID_X, .registers = 1}}, .source_count = 1
/* P = from (comparison) number */
#define COMPARE(to, comparison, from, number)                                                                   \
    .operation = WSDBG_OP_ISETP, .mode = WSDBG_COMPARE_##comparison, .destination_count = 2, .source_count = 3, \
    .destinations = {OPERAND(PREDICATE, to), OPERAND(PREDICATE, WSDBG_PT)},                                     \
    .sources = {OPERAND(REGISTER, from),                                                                        \
                {.kind = WSDBG_OPERAND_IMMEDIATE, .value = number, .registers = 1},                             \
                OPERAND(PREDICATE, WSDBG_PT)}
/* UP = all lanes have P */
#define VOTE_ALL(to, of)                                                                                   \
    .operation = WSDBG_OP_VOTEU, .destinations = {OPERAND(UNIFORM_PREDICATE, to)}, .destination_count = 1, \
    .sources = {OPERAND(PREDICATE, of)}, .source_count = 1
#define BRANCH(rows) \
    .operation = WSDBG_OP_BRA, .has_target = true, .target_offset_bytes = (rows)*WSDBG_INSTRUCTION_BYTES
#define OP(name) .operation = WSDBG_OP_##name

static struct wsdbg_graph *graph_of(const struct wsdbg_instruction *code, size_t count)
{
    struct wsdbg_graph *graph;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    return graph;
}

static struct wsdbg_trace *trace_of(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                    struct wsdbg_thread_range threads)
{
    struct wsdbg_trace *trace;
    assert_null(wsdbg_trace_create(graph, launch, threads, &trace));
    return trace;
}

/* The warps that may execute instruction `number`, a bit each. */
static unsigned warps_at(const struct wsdbg_instruction *code, size_t count, uint32_t number)
{
    unsigned warps = 0;
    struct wsdbg_graph *graph = graph_of(code, count);
    struct wsdbg_trace *trace = trace_of(graph, NULL, (struct wsdbg_thread_range){0, WARP_THREADS});
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        bool may;
        wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){warp * WARP_THREADS, WARP_THREADS});
        assert_null(wsdbg_threads_may_execute(trace, &number, 1, &may));
        warps |= (unsigned)may << warp;
    }
    wsdbg_trace_destroy(trace);
    wsdbg_graph_destroy(graph);
    return warps;
}
#define WARPS_AT(code, number) warps_at(code, sizeof(code) / sizeof *(code), number)

static void a_branch_by_the_thread_parts_the_warps(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        /* 0 */ {ALWAYS, THREAD(0)},
        /* 1 */ {ALWAYS, COMPARE(0, GE, 0, 64)},
        /* 2 */ {IF(0), BRANCH(3)},
        /* 3: the first two warps */ {ALWAYS, OP(NOP)},
        /* 4 */ {ALWAYS, OP(EXIT)},
        /* 5: the others */ {ALWAYS, OP(NOP)},
        /* 6 */ {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 1), 0xf);
    assert_int_equal(WARPS_AT(code, 3), 0x3);
    assert_int_equal(WARPS_AT(code, 5), 0xc);
}

static void behind_a_branch_that_is_not_decided_may_be_everybody(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        /* 0: of what the launch left in R0 */ {ALWAYS, COMPARE(0, GE, 0, 64)},
        /* 1 */ {IF(0), BRANCH(2)},
        /* 2 */ {ALWAYS, OP(EXIT)},
        /* 3 */ {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 2), 0xf);
    assert_int_equal(WARPS_AT(code, 3), 0xf);
}

static void what_two_ways_lead_to_may_be_come_to_by_either(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        /* 0 */ {ALWAYS, THREAD(0)},
        /* 1 */ {ALWAYS, COMPARE(0, GE, 0, 64)},
        /* 2 */ {IF(0), BRANCH(2)},
        /* 3 */ {ALWAYS, OP(NOP)},
        /* 4 */ {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 3), 0x3);
    assert_int_equal(WARPS_AT(code, 4), 0xf);
}

/* As a request for registers is, which is tried again until it is served. */
static void a_loop_is_come_to_by_those_who_come_to_it_first(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        /* 0 */ {ALWAYS, THREAD(0)},
        /* 1 */ {ALWAYS, COMPARE(0, GE, 0, 64)},
        /* 2 */ {IF(0), BRANCH(2)},
        /* 3 */ {ALWAYS, OP(EXIT)},
        /* 4: a loop of two blocks */ {ALWAYS, OP(NOP)},
        /* 5 */ {IF(1), BRANCH(2)},
        /* 6 */ {IF(2), BRANCH(-2)},
        /* 7 */ {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 4), 0xc);
    assert_int_equal(WARPS_AT(code, 6), 0xc);
    assert_int_equal(WARPS_AT(code, 7), 0xc);
}

/* Two ways lead into the loop: nobody decides by which. */
static void a_loop_with_two_ways_in_may_be_come_to_by_either(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        /* 0 */ {ALWAYS, THREAD(0)},
        /* 1 */ {ALWAYS, COMPARE(0, GE, 0, 64)},
        /* 2 */ {IF(0), BRANCH(2)},
        /* 3: the first two warps */ {ALWAYS, BRANCH(2)},
        /* 4: the others */ {ALWAYS, OP(NOP)},
        /* 5 */ {IF(1), BRANCH(-1)},
        /* 6 */ {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 5), 0xf);
    assert_int_equal(WARPS_AT(code, 4), 0xf);
}

static void a_guard_counts_too(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, THREAD(0)},
        {ALWAYS, COMPARE(0, EQ, 0, 33)},
        {IF(0), OP(SYNCS_ARRIVE)},
        {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 2), 0x2);
}

/* One thread of a warp makes the warp execute it. */
static void a_vote_is_decided_where_all_lanes_say_the_same(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, THREAD(0)},      {ALWAYS, COMPARE(0, NE, 0, 70)},
        {ALWAYS, VOTE_ALL(0, 0)}, {UNLESS_UNIFORM(0), OP(SYNCS_EXCH)},
        {ALWAYS, OP(EXIT)},
    };
    assert_int_equal(WARPS_AT(code, 3), 0x4);
}

/* Half a warp: what the other lanes vote is not known. */
static void a_vote_of_part_of_a_warp_is_not_decided(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, THREAD(0)},      {ALWAYS, COMPARE(0, NE, 0, 70)},
        {ALWAYS, VOTE_ALL(0, 0)}, {UNLESS_UNIFORM(0), OP(SYNCS_EXCH)},
        {ALWAYS, OP(EXIT)},
    };
    const uint32_t number = 3;
    bool may;
    struct wsdbg_graph *graph = graph_of(code, sizeof code / sizeof *code);
    struct wsdbg_trace *trace = trace_of(graph, NULL, (struct wsdbg_thread_range){0, 1});
    assert_null(wsdbg_threads_may_execute(trace, &number, 1, &may));
    assert_true(may);
    wsdbg_trace_destroy(trace);
    wsdbg_graph_destroy(graph);
}

/* Thread 0 of a CTA whose size nobody knows: of one lane only if threads are counted in x alone. */
static void lanes_are_told_by_a_thread_s_index_in_x(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, THREAD(0)},
        {ALWAYS, COMPARE(0, EQ, 0, 0)},
        {IF(0), OP(SYNCS_ARRIVE), .mode = WSDBG_ARRIVE_A1T0},
        {ALWAYS, OP(EXIT)},
    };
    struct wsdbg_graph *graph = graph_of(code, sizeof code / sizeof *code);
    for (int is_in_x = 0; is_in_x < 2; is_in_x++) {
        const struct wsdbg_launch_values launch = {.is_in_x = is_in_x};
        struct wsdbg_access *accesses;
        size_t count;
        const uint32_t arrivals = 1u << WSDBG_ACCESS_ARRIVE;
        const struct wsdbg_access_wanted wanted = {.kinds = arrivals, .lanes = arrivals};
        struct wsdbg_trace *trace = trace_of(graph, &launch, (struct wsdbg_thread_range){0, 0});
        assert_null(wsdbg_accesses_find_traced(trace, &wanted, &accesses, &count));
        assert_int_equal(count, 1);
        assert_int_equal(accesses[0].instruction, 2);
        assert_int_equal(accesses[0].lanes, is_in_x ? WSDBG_LANES_ONE : WSDBG_LANES_UNKNOWN);
        free(accesses);
        wsdbg_trace_destroy(trace);
    }
    wsdbg_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_by_the_thread_parts_the_warps),
        cmocka_unit_test(behind_a_branch_that_is_not_decided_may_be_everybody),
        cmocka_unit_test(what_two_ways_lead_to_may_be_come_to_by_either),
        cmocka_unit_test(a_loop_is_come_to_by_those_who_come_to_it_first),
        cmocka_unit_test(a_loop_with_two_ways_in_may_be_come_to_by_either),
        cmocka_unit_test(a_guard_counts_too),
        cmocka_unit_test(a_vote_is_decided_where_all_lanes_say_the_same),
        cmocka_unit_test(a_vote_of_part_of_a_warp_is_not_decided),
        cmocka_unit_test(lanes_are_told_by_a_thread_s_index_in_x),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
