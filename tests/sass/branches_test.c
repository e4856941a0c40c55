/* branches_test.c - branches through a register: where the compiler notes that they lead, and where a table of
 * constants leads a warp.
 *
 * Notes are written as words; code as instructions, their operands in nvdisasm's order, or as the machine's words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/branches.h"
#include "sass/threads.h"

#define ROWS(array) (sizeof(array) / sizeof *(array))
#define BYTES(row) ((row)*WSDBG_INSTRUCTION_BYTES)
#define NONE WSDBG_GRAPH_NONE

/* ---- notes ---- */

#define BRX_WORDS 0xfffffffc04f87949, 0x000fea000383ffff

/* Two instructions that nobody knows, BRX R4 -0x20 between them, and an EXIT. */
static const uint64_t machine_code[4][2] = {[1] = {BRX_WORDS}, [3] = {0x000000000000794d, 0x000fea0003800000}};

static struct wsdbg_graph *graph_of_notes(const uint32_t *notes, size_t words)
{
    const struct wsdbg_cubin_function function = {
        .code = {(const unsigned char *)machine_code, sizeof machine_code},
        .branch_records = {(const unsigned char *)notes, words * sizeof *notes},
    };
    struct wsdbg_graph *graph;
    assert_null(wsdbg_graph_create_of_function(&function, &graph));
    assert_int_equal(wsdbg_graph_instruction(graph, 1)->operation, WSDBG_OP_BRX);
    return graph;
}

#define GRAPH_OF_NOTES(...) \
    graph_of_notes((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void a_noted_branch_leads_to_all_its_targets(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = GRAPH_OF_NOTES(BYTES(1), 0, 3, BYTES(2), BYTES(0), BYTES(3));
    const struct wsdbg_block *block = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, 1));
    uint64_t reached;
    assert_false(block->is_indirect);
    assert_int_equal(block->successor_count, 4);
    assert_int_equal(block->successor[0], NONE); /* it is never passed */
    for (uint32_t way = 1; way < 4; way++)
        assert_int_equal(block->successor[way], wsdbg_graph_block_of(graph, (const uint32_t[]){0, 0, 2, 3}[way]));
    wsdbg_graph_reach_set(graph, 1, NULL, &reached);
    assert_int_equal(reached, 0xf);
    wsdbg_graph_destroy(graph);
}

static void targets_that_are_noted_twice_are_one(void **state)
{
    (void)state;
    struct wsdbg_graph *graph = GRAPH_OF_NOTES(BYTES(1), 0, 3, BYTES(3), BYTES(3), BYTES(3));
    const struct wsdbg_block *block = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, 1));
    assert_false(block->is_indirect);
    assert_int_equal(block->successor_count, 2);
    assert_int_equal(block->successor[1], wsdbg_graph_block_of(graph, 3));
    assert_int_equal(wsdbg_graph_reaches(graph, 0, 2, NULL), WSDBG_REACHES_NO);
    wsdbg_graph_destroy(graph);
}

static void a_branch_that_is_not_noted_whole_may_lead_anywhere(void **state)
{
    (void)state;
    struct wsdbg_graph *graphs[] = {
        graph_of_notes(NULL, 0),
        GRAPH_OF_NOTES(BYTES(1), 0, 0),                     /* no target */
        GRAPH_OF_NOTES(BYTES(3), 0, 1, BYTES(2)),           /* of another branch */
        GRAPH_OF_NOTES(BYTES(1), 0, 3, BYTES(2), BYTES(3)), /* a note that does not end */
        GRAPH_OF_NOTES(BYTES(1), 0, UINT32_MAX, BYTES(2)),
        GRAPH_OF_NOTES(BYTES(1), 0, 2, BYTES(2), BYTES(4)),     /* a target behind the code */
        GRAPH_OF_NOTES(BYTES(1), 0, 2, BYTES(2), BYTES(2) + 8), /* one within an instruction */
        GRAPH_OF_NOTES(BYTES(1), 1, 1, BYTES(2)),               /* a form that nobody knows */
    };
    for (size_t i = 0; i < ROWS(graphs); i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(graphs[i], wsdbg_graph_block_of(graphs[i], 1));
        assert_true(block->is_indirect);
        assert_int_equal(block->successor_count, 2);
        assert_int_equal(wsdbg_graph_reaches(graphs[i], 0, 3, NULL), WSDBG_REACHES_MAYBE);
        wsdbg_graph_destroy(graphs[i]);
    }
}

/* ---- tables ---- */

enum { TID_X = 0x21, WARP_THREADS = 32, WARPS = 4, TABLE_BANK = 2, TABLE_OFFSET = 12 };

#define ALWAYS .guard = WSDBG_PT, .is_whole = true
#define OPERAND(what, n)                                          \
    {                                                             \
        .kind = WSDBG_OPERAND_##what, .number = n, .registers = 1 \
    }
#define NUMBER(n)                                                   \
    {                                                               \
        .kind = WSDBG_OPERAND_IMMEDIATE, .value = n, .registers = 1 \
    }
#define TO_REGISTER(n) .destinations = {OPERAND(REGISTER, n)}, .destination_count = 1
#define THREAD(to)                              \
    .operation = WSDBG_OP_S2R, TO_REGISTER(to), \
    .sources = {{.kind = WSDBG_OPERAND_SPECIAL, .value = TID_X, .registers = 1}}, .source_count = 1
#define SHIFT_RIGHT(to, from, by)                                                        \
    .operation = WSDBG_OP_SHF, .is_high = true, .is_right_shift = true, TO_REGISTER(to), \
    .sources = {OPERAND(REGISTER, WSDBG_RZ), NUMBER(by), OPERAND(REGISTER, from)}, .source_count = 3
#define AT_MOST(to, from, number)                  \
    .operation = WSDBG_OP_VIMNMX, TO_REGISTER(to), \
    .sources = {OPERAND(REGISTER, from), NUMBER(number), OPERAND(PREDICATE, WSDBG_PT)}, .source_count = 3
#define TIMES(to, from, number)                  \
    .operation = WSDBG_OP_IMAD, TO_REGISTER(to), \
    .sources = {OPERAND(REGISTER, from), NUMBER(number), OPERAND(REGISTER, WSDBG_RZ)}, .source_count = 3
/* to = c[TABLE_BANK][from + TABLE_OFFSET] */
#define LOOK_UP(to, from)                                                                                              \
    .operation = WSDBG_OP_LDC, .width_bytes = 4, TO_REGISTER(to),                                                      \
    .sources =                                                                                                         \
        {{.kind = WSDBG_OPERAND_CONSTANT, .number = from, .bank = TABLE_BANK, .value = TABLE_OFFSET, .registers = 1}}, \
    .source_count = 1
#define THROUGH(from) \
    .operation = WSDBG_OP_BRX, .words = {BRX_WORDS}, .sources = {OPERAND(REGISTER, from)}, .source_count = 1
#define OP(name) .operation = WSDBG_OP_##name

/* switch (threadIdx.x / 32): the branch is row 5, the cases 0 to 2 are rows 6 to 8, all others row 9. */
static const struct wsdbg_instruction by_warp[] = {
    {ALWAYS, THREAD(0)},        {ALWAYS, SHIFT_RIGHT(1, 0, 5)},
    {ALWAYS, AT_MOST(1, 1, 3)}, {ALWAYS, TIMES(2, 1, 4)},
    {ALWAYS, LOOK_UP(4, 2)},    {ALWAYS, THROUGH(4)},
    {ALWAYS, OP(EXIT)},         {ALWAYS, OP(EXIT)},
    {ALWAYS, OP(EXIT)},         {ALWAYS, OP(EXIT)},
};
static const struct wsdbg_way ways[] = {{5, 9, 900}, {5, 6, 600}, {5, 8, 800}, {5, 7, 700}};

struct table {
    uint32_t values[4];
};

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const struct table *table = context;
    if (bank != TABLE_BANK || offset_bytes < TABLE_OFFSET || offset_bytes >= TABLE_OFFSET + sizeof table->values)
        return false;
    *value = table->values[(offset_bytes - TABLE_OFFSET) / sizeof *value];
    return true;
}

/* Which of the rows 6 to 9 some of the threads may reach, as bits.  The graph for these threads and the conditions on
 * the paths must say the same. */
static unsigned rows_of(struct table table, const struct wsdbg_way *of, size_t count, uint32_t thread, uint32_t threads)
{
    const struct wsdbg_launch_values launch = {.context = &table, .constant = constant};
    const uint32_t rows[] = {6, 7, 8, 9};
    struct wsdbg_graph *graph, *theirs;
    struct wsdbg_trace *trace;
    uint64_t reached;
    bool may[ROWS(rows)];
    unsigned by_conditions = 0;
    assert_null(wsdbg_graph_create_with_ways(by_warp, ROWS(by_warp), of, count, &graph));
    assert_null(wsdbg_graph_create_for_threads(graph, &launch, thread, threads, &theirs));
    wsdbg_graph_reach_set(theirs, 0, NULL, &reached);
    assert_null(wsdbg_trace_create(graph, &launch, (struct wsdbg_thread_range){thread, threads}, &trace));
    assert_null(wsdbg_threads_may_execute(trace, rows, ROWS(rows), may));
    for (unsigned i = 0; i < ROWS(rows); i++)
        by_conditions |= (unsigned)may[i] << i;
    assert_int_equal(reached >> rows[0], by_conditions);
    wsdbg_trace_destroy(trace);
    wsdbg_graph_destroy(theirs);
    wsdbg_graph_destroy(graph);
    return by_conditions;
}

static void a_table_leads_each_warp_to_its_case(void **state)
{
    (void)state;
    const struct table table = {{600, 700, 800, 900}}, turned = {{900, 600, 600, 700}};
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        const unsigned row_turned[] = {3, 0, 0, 1};
        assert_int_equal(rows_of(table, ways, ROWS(ways), warp * WARP_THREADS, WARP_THREADS), 1u << warp);
        assert_int_equal(rows_of(turned, ways, ROWS(ways), warp * WARP_THREADS, 1), 1u << row_turned[warp]);
    }
    assert_int_equal(rows_of(table, ways, ROWS(ways), 20 * WARP_THREADS, WARP_THREADS), 1u << 3);
}

static void threads_that_part_at_a_table_may_come_to_any_of_its_targets(void **state)
{
    (void)state;
    const struct table table = {{600, 700, 800, 900}};
    assert_int_equal(rows_of(table, ways, 3, 0, 2 * WARP_THREADS), 0xd); /* row 7 is none of its targets */
}

static void a_table_that_says_what_was_not_noted_decides_nothing(void **state)
{
    (void)state;
    const struct table table = {{600, 650, 800, 900}};
    assert_int_equal(rows_of(table, ways, ROWS(ways), 0, WARP_THREADS), 1);
    assert_int_equal(rows_of(table, ways, ROWS(ways), WARP_THREADS, WARP_THREADS), 0xf);
}

static void the_guards_that_tell_threads_apart_include_such_a_branch(void **state)
{
    (void)state;
    struct wsdbg_graph *graph;
    uint64_t *guards;
    assert_null(wsdbg_graph_create_with_ways(by_warp, ROWS(by_warp), ways, ROWS(ways), &graph));
    assert_null(wsdbg_threads_guards(graph, &guards));
    assert_int_equal(guards[0], UINT64_C(1) << 5);
    free(guards);
    wsdbg_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_noted_branch_leads_to_all_its_targets),
        cmocka_unit_test(targets_that_are_noted_twice_are_one),
        cmocka_unit_test(a_branch_that_is_not_noted_whole_may_lead_anywhere),
        cmocka_unit_test(a_table_leads_each_warp_to_its_case),
        cmocka_unit_test(threads_that_part_at_a_table_may_come_to_any_of_its_targets),
        cmocka_unit_test(a_table_that_says_what_was_not_noted_decides_nothing),
        cmocka_unit_test(the_guards_that_tell_threads_apart_include_such_a_branch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
