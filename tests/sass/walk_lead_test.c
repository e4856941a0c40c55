/* walk_lead_test.c - walks that are led to where their lanes were seen, and the tokens of arrivals that waits name. */
#include "walk_code.h"

/* ---- where lanes were seen ---- */

/* A loop that a value from memory ends: each round arrives on one mbarrier.  Behind it the kernel arrives on another
 * one, or leaves at once. */
enum { IN_LOOP = 3, BEHIND = 6, FIRST = 0x400, SECOND = 0x440, LEADS_MOST = 128 };

static const struct wsdbg_instruction loop[] = {
    {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(FIRST))},
    {OP(LDG), UNGUARDED, TO(R(0)), FROM(PAIR_AT(8)), .width_bytes = 4},
    {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
    /* IN_LOOP */ {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
    {OP(BRA), IF(0), JUMP(-4)},
    {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, SECOND - FIRST)), .mode = WSDBG_ARRIVE_A1T0},
    /* BEHIND */ {OP(EXIT), UNGUARDED},
};

/* Walks lane 0 as one that stands at the instruction `seen_at` - 1; 0 = it was not seen. */
static struct wsdbg_walk walk_to(const struct wsdbg_instruction *code, size_t count, uint32_t seen_at, bool may_lead)
{
    uint32_t parameter = 0, together;
    struct wsdbg_thread_world world = {
        .context = &parameter, .constant = constant, .special = special, .shared = shared, .seen_at = seen_at};
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    if (may_lead)
        wsdbg_walk_plan_lead(plan);
    assert_null(wsdbg_walk_lanes(plan, &world, 1, WITHOUT_LIMITS, &walk, &together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

static void test_a_loop_goes_on_to_where_the_lane_was_seen(void **state)
{
    struct wsdbg_walk walk = walk_to(loop, sizeof loop / sizeof *loop, IN_LOOP + 1, true);
    (void)state;
    assert_true(walk.is_led);
    assert_int_equal(walk.count, LEADS_MOST + 1);
    for (size_t i = 0; i < walk.count; i++)
        assert_int_equal(walk.steps[i].address, FIRST);
    free(walk.steps);
}

/* A place to which a long chain of jumps back leads: the search for it counts as work, and ends. */
static void test_the_search_for_a_place_is_limited(void **state)
{
    enum { LOOP = sizeof loop / sizeof *loop, CHAIN = 3000, SEARCHES_MOST = 20 };
    static struct wsdbg_instruction code[LOOP + CHAIN];
    memcpy(code, loop, sizeof loop);
    for (size_t i = LOOP; i < LOOP + CHAIN; i++)
        code[i] = (struct wsdbg_instruction){OP(BRA), UNGUARDED, JUMP(i == LOOP ? -1 - LOOP : -2)};
    struct wsdbg_walk walk = walk_to(code, LOOP + CHAIN, IN_LOOP + 1, true);
    (void)state;
    assert_in_range(walk.work, CHAIN, SEARCHES_MOST * CHAIN);
    free(walk.steps);
}

/* Both sides lead there, or nobody knows where it is; or walks are not to be led yet. */
static void test_a_place_behind_the_loop_leads_nowhere(void **state)
{
    static const struct {
        uint32_t seen_at;
        bool may_lead;
    } rows[] = {{BEHIND + 1, true}, {0, true}, {IN_LOOP + 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_walk walk = walk_to(loop, sizeof loop / sizeof *loop, rows[i].seen_at, rows[i].may_lead);
        assert_false(walk.is_led);
        assert_false(walk.is_whole);
        assert_int_equal(walk.count, 1);
        free(walk.steps);
    }
}

/* Who is still there did not leave at a guarded exit. */
static void test_who_is_there_has_not_left(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(FIRST))},
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(PAIR_AT(8)), .width_bytes = 4},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(EXIT), IF(0)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    (void)state;
    for (uint32_t is_seen = 0; is_seen < 2; is_seen++) {
        struct wsdbg_walk walk = walk_to(code, sizeof code / sizeof *code, is_seen ? 5 : 0, true);
        assert_int_equal(walk.is_led, is_seen);
        assert_int_equal(walk.count, is_seen);
        free(walk.steps);
    }
}

/* Lanes that were seen on other ways walk for themselves. */
static void test_lanes_are_led_apart(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(FIRST))},
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(PAIR_AT(8)), .width_bytes = 4},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, SECOND - FIRST)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    uint32_t lanes[WSDBG_WALK_LANES], together, left = UINT32_MAX;
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    (void)state;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        lanes[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){
            .context = &lanes[lane], .constant = constant, .special = lane_of, .seen_at = 1 + (lane < 8 ? 5 : 7)};
    }
    assert_null(wsdbg_graph_create_decoded(code, sizeof code / sizeof *code, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    wsdbg_walk_plan_lead(plan);
    for (uint32_t group = 0; group < 2; group++, left &= ~together) {
        struct wsdbg_walk walk;
        assert_null(wsdbg_walk_lanes(plan, worlds, left, WITHOUT_LIMITS, &walk, &together));
        assert_int_equal(together, group ? 0xffffff00 : 0xff);
        assert_int_equal(walk.count, 1);
        assert_int_equal(walk.steps[0].address, group ? SECOND : FIRST);
        free(walk.steps);
    }
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
}

/* ---- tokens ---- */

/* Two arrivals, a copy of the first token, and a wait: WRITES may overwrite that copy. */
enum { ONE = 1, OTHER, WRITES, WAIT, TOKEN = 10, COPY = 20 };

static const struct wsdbg_instruction tokens[] = {
    {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(FIRST))},
    /* ONE */
    {OP(SYNCS_ARRIVE), UNGUARDED, TO(R(TOKEN), R(TOKEN + 1)), FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
    /* OTHER */ {OP(MOV), UNGUARDED, TO(R(COPY)), FROM(R(TOKEN + 1))},
    /* WRITES */ {OP(NOP), UNGUARDED},
    {OP(SYNCS_ARRIVE), UNGUARDED, TO(R(TOKEN), R(TOKEN + 1)), FROM(AT(1, SECOND - FIRST)), .mode = WSDBG_ARRIVE_A1T0},
    {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(0)), FROM(AT(1, 0), R(COPY))},
    {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(0)), FROM(AT(1, 0), R(TOKEN + 1))},
    {OP(EXIT), UNGUARDED},
};

static void test_a_wait_knows_which_arrival_gave_its_token(void **state)
{
    static const struct {
        const char *name;
        struct wsdbg_instruction writes;
        uint32_t token; /* of the first wait */
    } rows[] = {
        {"the copy is kept", {OP(NOP), UNGUARDED}, 1},
        {"it is overwritten", {OP(LDG), UNGUARDED, TO(R(COPY)), FROM(PAIR_AT(8)), .width_bytes = 4}, 0},
        {"it may be overwritten", {OP(LDG), IF(3), TO(R(COPY)), FROM(PAIR_AT(8)), .width_bytes = 4}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_instruction code[sizeof tokens / sizeof *tokens];
        print_message("%s\n", rows[i].name);
        memcpy(code, tokens, sizeof tokens);
        code[WRITES] = rows[i].writes;
        struct wsdbg_walk walk = WALK(code, 0);
        assert_true(walk.is_whole);
        assert_int_equal(walk.count, 4);
        assert_false(walk.steps[2].is_number_known);
        assert_int_equal(walk.steps[2].token, rows[i].token);
        assert_int_equal(walk.steps[3].token, 2);
        free(walk.steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loop_goes_on_to_where_the_lane_was_seen),
        cmocka_unit_test(test_the_search_for_a_place_is_limited),
        cmocka_unit_test(test_a_place_behind_the_loop_leads_nowhere),
        cmocka_unit_test(test_who_is_there_has_not_left),
        cmocka_unit_test(test_lanes_are_led_apart),
        cmocka_unit_test(test_a_wait_knows_which_arrival_gave_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
