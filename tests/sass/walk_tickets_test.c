/* walk_tickets_test.c - walks of CTAs that take the numbers of their tiles from a counter of global memory, on the
 * belief that they took turns.
 */
#include "walk_code.h"

/* Four CTAs; the third one walks. */
enum { TAKER = 2, TAKERS = 4, TILES = 10, BARRIER = 0x400, COUNTER = TABLE };
#define ADD_OPCODE UINT64_C(0x9a8)
#define ADD_GENERIC_OPCODE UINT64_C(0x98a)
#define FLOAT_OPCODE UINT64_C(0x9a3)
#define MODE(n) ((uint64_t)(n) << (87 - 64))
#define OF_64_BITS (UINT64_C(2) << (73 - 64))

/* Each round takes a number, and arrives so often as it says; the first number from TILES on is the last one. */
#define TAKE(op, opcode, bits)                                                                                        \
    {                                                                                                                 \
        OP(op), UNGUARDED, TO(P(WSDBG_PT), R(4)), FROM(PAIR_AT(2), R(6)), .width_bytes = 4, .words = { opcode, bits } \
    }
#define LOOP(take)                                                                                       \
    {                                                                                                    \
        {SET(2, COUNTER)}, {SET(3, 0)}, {SET(6, 1)}, take, IS(0, 4, GE, TILES), {OP(EXIT), IF(0)},       \
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, BARRIER), R(4)), .mode = WSDBG_ARRIVE_ART0}, \
            {OP(BRA), UNGUARDED, JUMP(-5)},                                                              \
    }

static struct wsdbg_walk walk_with(const struct wsdbg_instruction *code, size_t count, enum wsdbg_walk_belief belief,
                                   uint32_t takers)
{
    struct reads reads = {0};
    const struct wsdbg_thread_world world = {
        .context = &reads, .global = global, .shared_window = 1ull << 40, .taker = TAKER, .takers = takers};
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    uint32_t together;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    wsdbg_walk_plan_begin_cta(plan, belief);
    assert_null(wsdbg_walk_lanes(plan, &world, 1, WITHOUT_LIMITS, &walk, &together));
    assert_int_equal(wsdbg_walk_plan_took_turns(plan), walk.is_in_turn);
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

static void test_a_cta_takes_each_number_when_its_turn_comes(void **state)
{
    static const struct {
        const char *name;
        struct wsdbg_instruction code[8];
    } rows[] = {{"at an address of global memory", LOOP(TAKE(ATOMG, ADD_OPCODE, 0))},
                {"at a generic address", LOOP(TAKE(ATOM, ADD_GENERIC_OPCODE, 0))}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_walk walk = walk_with(rows[i].code, 8, WSDBG_BELIEVE_TURNS, TAKERS);
        print_message("%s\n", rows[i].name);
        assert_true(walk.is_whole);
        assert_true(walk.is_guessed);
        assert_true(walk.is_in_turn);
        assert_int_equal(walk.count, 2);
        assert_int_equal(walk.steps[0].number, TAKER);
        assert_int_equal(walk.steps[1].number, TAKER + TAKERS);
        free(walk.steps);
    }
    (void)state;
}

/* Without that belief the first number is the counter's present value, and nothing is known of the second one. */
static void test_what_other_atomics_find_is_not_supposed(void **state)
{
    static const struct {
        const char *name;
        struct wsdbg_instruction code[8];
        enum wsdbg_walk_belief belief;
        uint32_t takers;
    } rows[] = {
        {"nothing is believed", LOOP(TAKE(ATOMG, ADD_OPCODE, 0)), WSDBG_BELIEVE_NOTHING, TAKERS},
        {"it is not known how many CTAs there are", LOOP(TAKE(ATOMG, ADD_OPCODE, 0)), WSDBG_BELIEVE_TURNS, 0},
        {"a maximum", LOOP(TAKE(ATOMG, ADD_OPCODE, MODE(2))), WSDBG_BELIEVE_TURNS, TAKERS},
        {"a sum of floating-point numbers", LOOP(TAKE(ATOMG, FLOAT_OPCODE, 0)), WSDBG_BELIEVE_TURNS, TAKERS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_walk walk = walk_with(rows[i].code, 8, rows[i].belief, rows[i].takers);
        print_message("%s\n", rows[i].name);
        assert_false(walk.is_whole);
        assert_false(walk.is_in_turn);
        assert_int_equal(walk.count, 1);
        assert_int_equal(walk.steps[0].number, GLOBAL_WORD);
        free(walk.steps);
    }
    (void)state;
}

/* A counter of each tile is no counter of tiles. */
static void test_many_counters_are_not_taken_in_turn(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(2, COUNTER)},
        {SET(3, 0)},
        {SET(6, 1)},
        TAKE(ATOMG, ADD_OPCODE, 0),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, BARRIER), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(IADD3), UNGUARDED, TO(R(2)), FROM(R(2), NUMBER(4), ZERO)},
        IS(0, 2, LT, COUNTER + 16),
        {OP(BRA), IF(0), JUMP(-5)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = walk_with(code, sizeof code / sizeof *code, WSDBG_BELIEVE_TURNS, TAKERS);
    assert_int_equal(walk.count, 2); /* behind these it is not known how often the third step arrives */
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cta_takes_each_number_when_its_turn_comes),
        cmocka_unit_test(test_what_other_atomics_find_is_not_supposed),
        cmocka_unit_test(test_many_counters_are_not_taken_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
