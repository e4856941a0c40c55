/* sources_test.c - the source files that a session keeps: what is read, and why something is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "cmd/sources.h"

static void assert_not_read(const char *path, const char *expected)
{
    const char *why;
    assert_null(wsdbg_source_read(path, &why));
    assert_string_equal(why, expected);
}

static void a_text_is_read_whole(void **state)
{
    const char *why;
    (void)state;
    write_file("kernel.cu", "one\ntwo\n", 8);
    char *text = wsdbg_source_read("kernel.cu", &why);
    assert_string_equal(text, "one\ntwo\n");
    assert_null(why);
    free(text);
}

static void what_is_no_source_is_named(void **state)
{
    (void)state;
    write_file("binary", "a\0b", 3);
    write_file("large", "x", 1);
    assert_int_equal(truncate("large", (5 << 20)), 0);
    assert_not_read("absent.cu", "not found");
    assert_not_read(".", "no file");
    assert_not_read("binary", "no text");
    assert_not_read("large", "larger than 4 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_text_is_read_whole, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_source_is_named, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
