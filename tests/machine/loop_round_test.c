/* loop_round_test.c - the barrier and the phase that a test names in a loop that tests two mbarriers by the same
 * register, for a warp that stands anywhere in the loop.
 *
 * Machine code is written as ptxas encodes it for sm_90; only the control bits for scheduling are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/loop_round.h"

enum { FIRST_TEST = 1, SECOND_TEST = 5, PHASE_REGISTER = 4 };

/* for (;;) { R5 = 0x400; if (test [R5+8], R4) arrive; R5 = 0x500; if (test [R5+8], R4) arrive; } */
static const uint64_t code[][2] = {
    {0x0000040000057802, 0x000fca0000000f00}, /* MOV R5, 0x400 */
    {0x00000804050075a7, 0x000e64000800007f}, /* SYNCS.PHASECHK.TRANS64 P0, [R5+0x8], R4 */
    {0x0000000000048947, 0x000fea0003800000}, /* @!P0 BRA over the next instruction */
    {0x000000ff00ff79a7, 0x000fe2000810003f}, /* SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0], RZ */
    {0x0000050000057802, 0x000fca0000000f00}, /* MOV R5, 0x500 */
    {0x00000804050075a7, 0x000e64000800007f}, /* the test */
    {0xfffffffc00e48947, 0x002fea000383ffff}, /* @!P0 BRA to the beginning */
    {0x000000ff00ff79a7, 0x000fe2000810003f}, /* the arrival */
    {0xfffffffc00dc7947, 0x000fea000383ffff}, /* BRA to the beginning */
    {0x000000000000794d, 0x000fea0003800000}, /* EXIT */
};

/* What a lane's registers hold: R4 the phase, if it is known; R5 something of another moment. */
struct registers {
    bool knows_phase;
};

static bool value_of(void *context, const struct wsdbg_operand *operand, uint32_t *value)
{
    const struct registers *registers = context;
    *value = operand->number == PHASE_REGISTER ? 0x80000000 : 0xdead;
    return operand->number != PHASE_REGISTER || registers->knows_phase;
}

static bool no_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context, (void)bank, (void)offset_bytes, (void)value;
    return false;
}

static bool no_special(void *context, uint32_t number, uint32_t *value)
{
    (void)context, (void)number, (void)value;
    return false;
}

/* Whether the operands of the test are known. */
static bool operands_of(uint32_t test, bool knows_phase, uint32_t *address, uint32_t *phase)
{
    const struct wsdbg_image image = {(const unsigned char *)code, sizeof code};
    const struct wsdbg_thread_world world = {.constant = no_constant, .special = no_special};
    struct registers registers = {knows_phase};
    const struct wsdbg_lane_values lane = {&registers, value_of};
    struct wsdbg_graph *graph;
    struct wsdbg_loop loop;
    bool found;
    assert_null(wsdbg_graph_create(&image, &graph));
    assert_null(wsdbg_loop_around(graph, test, &loop, &found));
    assert_true(found);
    const bool known = wsdbg_loop_test_operands(&loop, test, &lane, &world, address, phase);
    free(loop.body);
    wsdbg_graph_destroy(graph);
    return known;
}

static void each_test_names_what_was_moved_before_it(void **state)
{
    uint32_t address = 0, phase = 0;
    assert_true(operands_of(FIRST_TEST, true, &address, &phase));
    assert_int_equal(address, 0x408);
    assert_int_equal(phase, 0x80000000);
    assert_true(operands_of(SECOND_TEST, true, &address, &phase));
    assert_int_equal(address, 0x508);
    assert_int_equal(phase, 0x80000000);
    (void)state;
}

static void a_register_that_is_not_known_leaves_the_test_unknown(void **state)
{
    uint32_t address, phase;
    assert_false(operands_of(FIRST_TEST, false, &address, &phase));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_test_names_what_was_moved_before_it),
                                       cmocka_unit_test(a_register_that_is_not_known_leaves_the_test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
