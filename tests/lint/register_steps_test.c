/* register_steps_test.c - what a warp does one after another: as far as all its ways are alike.
 *
 * Code is written as instructions; steps as text, "-40 b1 +232", with what it may hold at least behind them where that
 * is not known to stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lint/register_steps.h"

#define ALWAYS .guard = WSDBG_PT, .is_whole = true
#define IF(n) .guard = n, .is_whole = true
#define OP(name) .operation = WSDBG_OP_##name
#define NUMBER(n) .sources = {{.kind = WSDBG_OPERAND_IMMEDIATE, .value = n, .registers = 1}}, .source_count = 1
#define RELEASE(count) OP(USETMAXREG), .mode = WSDBG_MAXREG_DEALLOC, NUMBER(count)
#define REQUEST(count) OP(USETMAXREG), .mode = WSDBG_MAXREG_TRY_ALLOC, NUMBER(count)
#define SYNC(id) OP(BAR), .mode = WSDBG_BAR_SYNC, NUMBER(id)
#define ARRIVE(id) OP(BAR), .mode = WSDBG_BAR_ARV, NUMBER(id)
#define SYNC_BY_REGISTER \
    OP(BAR), .mode = WSDBG_BAR_SYNC, .sources = {{.kind = WSDBG_OPERAND_REGISTER, .registers = 1}}, .source_count = 1
#define TO(rows) OP(BRA), .has_target = true, .target_offset_bytes = (rows)*WSDBG_INSTRUCTION_BYTES

static void say(const struct wsdbg_register_steps *steps, char *out, size_t bytes)
{
    static const char kinds[] = {'-', '+', 'b', 'a'};
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct wsdbg_register_step *step = &steps->steps[i];
        const bool is_bar = step->kind >= WSDBG_STEP_SYNC;
        used += (size_t)snprintf(out + used, bytes - used, "%s%c%d", i ? " " : "", kinds[step->kind],
                                 is_bar ? step->id : step->count);
    }
    if (steps->is_open)
        snprintf(out + used, bytes - used, "open");
    else if (steps->held_after != UINT32_MAX)
        snprintf(out + used, bytes - used, " then %u", steps->held_after);
}

static void assert_steps(const struct wsdbg_instruction *code, size_t count, const char *expected)
{
    struct wsdbg_graph *graph;
    struct wsdbg_register_steps steps;
    char text[512];
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_register_steps_read(graph, &steps));
    say(&steps, text, sizeof text);
    assert_string_equal(text, expected);
    wsdbg_graph_destroy(graph);
}

#define ASSERT_STEPS(expected, ...)                               \
    assert_steps((const struct wsdbg_instruction[]){__VA_ARGS__}, \
                 sizeof((const struct wsdbg_instruction[]){__VA_ARGS__}) / sizeof(struct wsdbg_instruction), expected)

static void steps_come_in_their_order(void **state)
{
    (void)state;
    ASSERT_STEPS("b0 -40 a2 b1", {ALWAYS, SYNC(0)}, {ALWAYS, RELEASE(40)}, {ALWAYS, ARRIVE(2)}, {ALWAYS, SYNC(1)},
                 {ALWAYS, OP(EXIT)});
    ASSERT_STEPS("", {ALWAYS, OP(EXIT)});
}

/* The loop around a request is the request. */
static void a_request_is_tried_until_it_is_served(void **state)
{
    (void)state;
    ASSERT_STEPS("+232 b1", {ALWAYS, REQUEST(232)}, {IF(0), TO(-1)}, {ALWAYS, SYNC(1)}, {ALWAYS, OP(EXIT)});
}

static void an_id_in_a_register_is_not_named(void **state)
{
    (void)state;
    ASSERT_STEPS("b-1 -24", {ALWAYS, SYNC_BY_REGISTER}, {ALWAYS, RELEASE(24)}, {ALWAYS, OP(EXIT)});
}

/* Branches and loops around other work do not matter; a trap is no way to the end. */
static void ways_that_come_to_the_same_are_alike(void **state)
{
    (void)state;
    ASSERT_STEPS("-40 b1", {IF(0), TO(2)}, {ALWAYS, OP(STG)}, {ALWAYS, RELEASE(40)}, {ALWAYS, OP(STG)}, {IF(1), TO(-1)},
                 {ALWAYS, SYNC(1)}, {ALWAYS, OP(EXIT)});
    ASSERT_STEPS("-40", {IF(0), TO(3)}, {ALWAYS, RELEASE(40)}, {ALWAYS, OP(EXIT)}, {ALWAYS, OP(BPT)},
                 {ALWAYS, OP(EXIT)});
}

/* Behind such a branch only the smallest register count is known that the threads may have later. */
static void ways_that_part_end_the_steps(void **state)
{
    (void)state;
    ASSERT_STEPS("-40 then 24", {ALWAYS, RELEASE(40)}, {IF(0), TO(3)}, {ALWAYS, SYNC(1)}, {ALWAYS, RELEASE(24)},
                 {ALWAYS, OP(EXIT)});
    ASSERT_STEPS("-40", {ALWAYS, RELEASE(40)}, {IF(0), OP(EXIT)}, {ALWAYS, SYNC(1)}, {ALWAYS, OP(EXIT)});
    ASSERT_STEPS(" then 40", {IF(0), RELEASE(40)}, {ALWAYS, SYNC(1)}, {ALWAYS, OP(EXIT)});
    ASSERT_STEPS("b1 then 40", {ALWAYS, SYNC(1)}, {IF(0), TO(-1)}, {ALWAYS, RELEASE(40)}, {ALWAYS, OP(EXIT)});
}

static void more_steps_than_are_kept_end_them_too(void **state)
{
    (void)state;
    char expected[512];
    size_t used = 0;
    for (int i = 0; i < WSDBG_STEPS_MOST; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%sb1", i ? " " : "");
    ASSERT_STEPS(expected, {ALWAYS, SYNC(1)}, {ALWAYS, TO(-1)}, {ALWAYS, OP(EXIT)});
}

static void code_that_lies_elsewhere_leaves_nothing_known(void **state)
{
    (void)state;
    ASSERT_STEPS("open", {ALWAYS, RELEASE(40)}, {ALWAYS, OP(CALL)}, {ALWAYS, OP(EXIT)});
    ASSERT_STEPS("open", {ALWAYS, RELEASE(40)}, {ALWAYS, OP(BRX)}, {ALWAYS, OP(EXIT)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_come_in_their_order),
        cmocka_unit_test(a_request_is_tried_until_it_is_served),
        cmocka_unit_test(an_id_in_a_register_is_not_named),
        cmocka_unit_test(ways_that_come_to_the_same_are_alike),
        cmocka_unit_test(ways_that_part_end_the_steps),
        cmocka_unit_test(more_steps_than_are_kept_end_them_too),
        cmocka_unit_test(code_that_lies_elsewhere_leaves_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
