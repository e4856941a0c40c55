/* error_test.c - the error idiom: messages, codes, prefixes, the static out-of-memory error. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

static void message_and_code_are_kept(void **state)
{
    (void)state;
    struct wsdbg_error *error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "file %s: row %d", "x.db", 3);
    assert_string_equal(wsdbg_error_message(error), "file x.db: row 3");
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
    wsdbg_error_destroy(error);
}

static void os_error_ends_with_its_reason(void **state)
{
    (void)state;
    struct wsdbg_error *error = wsdbg_error_os(ENOENT, "open %s", "x.db");
    assert_string_equal(wsdbg_error_message(error), "open x.db: No such file or directory");
    wsdbg_error_destroy(error);
}

static void prefix_goes_in_front_and_passes_success(void **state)
{
    (void)state;
    struct wsdbg_error *error = wsdbg_error_create(WSDBG_ERROR_OTHER, "bad");
    error = wsdbg_error_prefix(error, "x.db");
    assert_string_equal(wsdbg_error_message(error), "x.db: bad");
    wsdbg_error_destroy(error);
    assert_null(wsdbg_error_prefix(NULL, "x.db"));
}

static void out_of_memory_needs_no_memory(void **state)
{
    (void)state;
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    assert_ptr_equal(wsdbg_error_prefix(error, "x"), error);
    assert_string_equal(wsdbg_error_message(error), "out of memory");
    wsdbg_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_and_code_are_kept),
        cmocka_unit_test(os_error_ends_with_its_reason),
        cmocka_unit_test(prefix_goes_in_front_and_passes_success),
        cmocka_unit_test(out_of_memory_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
