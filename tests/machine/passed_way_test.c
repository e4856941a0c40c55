/* passed_way_test.c - what a lane has executed since the instruction at which an error is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../sass/instructions.h"

#include "machine/passed_way.h"

/* clang-format off */
#define SET(reg, n) {.words = {1, 0}, OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n))}
#define ARRIVE {.words = {1, 0}, OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(4, 0)), .mode = WSDBG_ARRIVE_A1T0}
#define LEAD(...) .words = {1, (uint64_t)WSDBG_PT << 23}, __VA_ARGS__
#define JUMP(rows) .has_target = true, .target_offset_bytes = (rows) * WSDBG_INSTRUCTION_BYTES
#define FINISH {LEAD(OP(EXIT), UNGUARDED)}
/* clang-format on */

#define KERNEL UINT64_C(0x10000)
#define HELPER UINT64_C(0x20000)
enum { COUNT = 8, ARRIVE_AT = 0 };
static const struct wsdbg_operand address = AT(4, 0);

/* The way to so many bytes behind `function`; false: there is none that is known. */
static bool find(const struct wsdbg_instruction *code, uint64_t pc, const struct wsdbg_joined *joined,
                 struct passed_way *way, bool *keeps_address)
{
    const struct wsdbg_cubin_function kernel = {.address = KERNEL};
    struct wsdbg_code_function function = {.cubin = &kernel, .joined = (struct wsdbg_joined *)(uintptr_t)joined};
    const struct wsdbg_code_place place = {&function, ARRIVE_AT};
    assert_null(wsdbg_graph_create_decoded(code, COUNT, &function.graph));
    const bool found = passed_way_find(&place, pc, way);
    *keeps_address = found && passed_way_keeps(&place, way, &address);
    wsdbg_graph_destroy(function.graph);
    return found;
}

static uint64_t behind(uint64_t function, uint32_t instructions)
{
    return function + (uint64_t)instructions * WSDBG_INSTRUCTION_BYTES;
}

/* A loop that begins again: its next round writes the address. */
static const struct wsdbg_instruction loop[COUNT] = {
    ARRIVE,    SET(6, 1), {LEAD(OP(BRA), UNGUARDED, JUMP(2))},   FINISH,
    SET(7, 2), SET(4, 3), {LEAD(OP(BRA), .guard = 0, JUMP(-6))}, FINISH};

static void a_lane_goes_on_through_branches_that_are_always_taken(void **state)
{
    struct passed_way way;
    bool keeps;
    (void)state;
    assert_true(find(loop, behind(KERNEL, 0), NULL, &way, &keeps));
    assert_int_equal(way.count, 0);
    assert_true(find(loop, behind(KERNEL, 2), NULL, &way, &keeps));
    assert_int_equal(way.count, 2);
    assert_true(keeps);
    assert_true(find(loop, behind(KERNEL, 5), NULL, &way, &keeps)); /* past the branch */
    assert_int_equal(way.count, 4);
    assert_true(keeps);
    assert_true(find(loop, behind(KERNEL, 6), NULL, &way, &keeps));
    assert_false(keeps);
}

/* Behind a branch with a condition there are several ways; nothing leads to other places. */
static void other_ways_are_not_known(void **state)
{
    struct passed_way way;
    bool keeps;
    (void)state;
    assert_false(find(loop, behind(KERNEL, 7) + 8, NULL, &way, &keeps));
    assert_false(find(loop, behind(KERNEL, 3) + 16 * 16, NULL, &way, &keeps));
    assert_false(find(loop, HELPER, NULL, &way, &keeps));
}

/* Where other lanes may come from elsewhere, it is not known which ones executed the instruction. */
static void lanes_that_join_are_not_known(void **state)
{
    static const struct wsdbg_instruction two_ways[COUNT] = {
        ARRIVE, {LEAD(OP(BRA), UNGUARDED, JUMP(3))}, SET(6, 1), SET(7, 2), SET(8, 3), SET(9, 4), FINISH, FINISH};
    static const struct wsdbg_instruction gathers[COUNT] = {
        ARRIVE, {.words = {1, 0}, OP(BSYNC), UNGUARDED}, SET(6, 1), SET(7, 2), SET(8, 3), SET(9, 4), FINISH, FINISH};
    struct passed_way way;
    bool keeps;
    (void)state;
    assert_true(find(two_ways, behind(KERNEL, 1), NULL, &way, &keeps));
    assert_false(find(two_ways, behind(KERNEL, 5), NULL, &way, &keeps));
    assert_true(find(gathers, behind(KERNEL, 1), NULL, &way, &keeps));
    assert_false(find(gathers, behind(KERNEL, 3), NULL, &way, &keeps));
    assert_false(find(gathers, behind(KERNEL, 2), NULL, &way, &keeps));
}

/* Right behind an instruction, too: at the head of a loop, and in the other arm of a branch. */
static void the_next_instruction_may_be_one_of_other_lanes(void **state)
{
    static const struct wsdbg_instruction head[COUNT] = {
        ARRIVE, SET(4, 9), {LEAD(OP(BRA), .guard = 0, JUMP(-1))}, SET(7, 2), SET(8, 3), SET(9, 4), FINISH, FINISH};
    static const struct wsdbg_instruction arms[COUNT] = {
        ARRIVE, {LEAD(OP(BRA), UNGUARDED, JUMP(2))}, SET(6, 1), SET(7, 2), SET(8, 3), SET(9, 4), FINISH, FINISH};
    struct passed_way way;
    bool keeps;
    (void)state;
    assert_false(find(head, behind(KERNEL, 1), NULL, &way, &keeps));
    assert_true(find(arms, behind(KERNEL, 1), NULL, &way, &keeps));
    assert_false(find(arms, behind(KERNEL, 2), NULL, &way, &keeps));
}

/* A helper arrives and returns to the kernel, which is a branch of the joined code; one of its instructions, that
 * restores a register from the frame and is left out, has no place there. */
static void a_lane_goes_on_in_the_caller(void **state)
{
    static const struct wsdbg_instruction code[COUNT] = {
        ARRIVE, SET(6, 1), {LEAD(OP(BRA), UNGUARDED, JUMP(1))}, SET(7, 2), SET(4, 3), SET(8, 4), FINISH, FINISH};
    struct wsdbg_joined_origin origins[COUNT] = {{1, 10}, {1, 13}, {1, 14}, {0, 20},
                                                 {0, 21}, {0, 22}, {0, 23}, {0, 24}};
    const struct wsdbg_cubin_function kernel = {.address = KERNEL}, helper = {.address = HELPER};
    struct wsdbg_joined_copy copies[] = {{.function = &kernel}, {.function = &helper}};
    const struct wsdbg_joined joined = {.origins = origins, .copies = copies, .copy_count = 2};
    struct passed_way way;
    bool keeps;
    (void)state;
    assert_true(find(code, behind(HELPER, 12), &joined, &way, &keeps));
    assert_int_equal(way.count, 1);
    assert_true(find(code, behind(KERNEL, 21), &joined, &way, &keeps));
    assert_int_equal(way.count, 4);
    assert_true(keeps);
    assert_true(find(code, behind(KERNEL, 22), &joined, &way, &keeps));
    assert_false(keeps);
    assert_false(find(code, behind(HELPER, 9), &joined, &way, &keeps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_goes_on_through_branches_that_are_always_taken),
        cmocka_unit_test(other_ways_are_not_known),
        cmocka_unit_test(lanes_that_join_are_not_known),
        cmocka_unit_test(the_next_instruction_may_be_one_of_other_lanes),
        cmocka_unit_test(a_lane_goes_on_in_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
