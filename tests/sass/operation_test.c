/* operation_test.c - operations.def, row by row: what the answers of operation.h say of one another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sass/operation.h"

#define EACH_OPERATION(name) for (enum wsdbg_operation name = WSDBG_OP_OTHER + 1; name < WSDBG_OP_COUNT; name++)

static void rows_are_filled(void **state)
{
    (void)state;
    EACH_OPERATION (operation) {
        assert_true(*wsdbg_operation_name(operation));
        assert_int_not_equal(wsdbg_operation_class(operation), WSDBG_CLASS_NONE);
    }
}

/* Of what is not known nothing is said. */
static void other_is_nothing(void **state)
{
    const enum wsdbg_operation none[] = {WSDBG_OP_OTHER, WSDBG_OP_COUNT, (enum wsdbg_operation)255};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_string_equal(wsdbg_operation_name(none[i]), "");
        assert_int_equal(wsdbg_operation_class(none[i]), WSDBG_CLASS_NONE);
        assert_int_equal(wsdbg_operation_space(none[i]), WSDBG_SPACE_NONE);
        assert_false(wsdbg_operation_fits_wait_loop(none[i]));
        assert_false(wsdbg_operation_is_control(none[i]));
        assert_false(wsdbg_operation_is_memory(none[i]));
    }
}

static void memory_has_a_space(void **state)
{
    (void)state;
    EACH_OPERATION (operation) {
        if (wsdbg_operation_is_memory(operation) || wsdbg_operation_reads_memory(operation))
            assert_int_not_equal(wsdbg_operation_space(operation), WSDBG_SPACE_NONE);
        if (wsdbg_operation_is_global_access(operation))
            assert_true(wsdbg_spaces_overlap(wsdbg_operation_space(operation), WSDBG_SPACE_GLOBAL));
    }
}

/* An operation computes, or steers, or touches memory that others see, or is a fence: one of them. */
static void kinds_are_apart(void **state)
{
    (void)state;
    EACH_OPERATION (operation) {
        const enum wsdbg_operation_class class = wsdbg_operation_class(operation);
        const bool is_rest =
            class == WSDBG_CLASS_FENCE || class == WSDBG_CLASS_ASYNC_COPY || class == WSDBG_CLASS_MULTIMEM;
        const bool computes = wsdbg_operation_computes(operation);
        const bool is_access = wsdbg_operation_is_memory(operation) && !computes;
        assert_int_equal(computes + wsdbg_operation_is_control(operation) + is_access + is_rest, 1);
    }
}

static void answers(void **state)
{
    (void)state;
    assert_string_equal(wsdbg_operation_name(WSDBG_OP_RED), "REDG");
    assert_true(wsdbg_operation_reads_memory(WSDBG_OP_ATOMS));
    assert_false(wsdbg_operation_reads_memory(WSDBG_OP_RED)); /* it brings nothing back */
    assert_false(wsdbg_operation_reads_memory(WSDBG_OP_LDC)); /* nobody writes constants */
    assert_false(wsdbg_operation_is_global_access(WSDBG_OP_STS));
    assert_true(wsdbg_operation_is_global_access(WSDBG_OP_ST));
    assert_true(wsdbg_operation_is_of_wgmma(WSDBG_OP_WARPGROUP));
    assert_true(wsdbg_operation_is_control(WSDBG_OP_STAS)); /* it completes bytes on an mbarrier */
    assert_true(wsdbg_operation_fits_wait_loop(WSDBG_OP_SYNCS_PHASECHK));
    assert_false(wsdbg_operation_fits_wait_loop(WSDBG_OP_SYNCS_ARRIVE));
    assert_true(wsdbg_operation_fits_wait_loop(WSDBG_OP_IADD3));
    assert_true(wsdbg_operation_has(WSDBG_OP_IADD3, WSDBG_EFFECT_FIXED_LATENCY));
    assert_false(wsdbg_operation_has(WSDBG_OP_S2R, WSDBG_EFFECT_FIXED_LATENCY));
    assert_false(wsdbg_spaces_overlap(WSDBG_SPACE_SHARED, WSDBG_SPACE_GLOBAL));
    assert_true(wsdbg_spaces_overlap(WSDBG_SPACE_SHARED, WSDBG_SPACE_GENERIC));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_filled), cmocka_unit_test(other_is_nothing), cmocka_unit_test(memory_has_a_space),
        cmocka_unit_test(kinds_are_apart), cmocka_unit_test(answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
