/* look_sites_test.c - functions as rows of a look: each is there once, however long its name is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"

static uint32_t row_of(struct wsdbg_look_tables *tables, const char *name, uint32_t module)
{
    const struct wsdbg_cubin_function cubin = {.name = name, .registers = WSDBG_UNKNOWN_COUNT};
    uint32_t row = WSDBG_NONE;
    assert_null(wsdbg_look_function(tables, &cubin, module, &row));
    return row;
}

/* The mangled name of a template's instance has thousands of characters; a row keeps the first ones. */
static void a_function_whose_name_is_cut_is_one_row(void **state)
{
    (void)state;
    struct wsdbg_look_tables *tables = calloc(1, sizeof *tables);
    struct wsdbg_snapshot snapshot = {0};
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_non_null(tables);
    tables->out = &snapshot;
    assert_int_equal(row_of(tables, name, 0), 0);
    assert_int_equal(row_of(tables, name, 0), 0);
    assert_int_equal(row_of(tables, name, 1), 1);
    assert_int_equal(row_of(tables, "x", 0), 2);
    assert_int_equal(row_of(tables, "x", 0), 2);
    assert_int_equal(snapshot.function_count, 3);
    wsdbg_snapshot_deinit(&snapshot);
    free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_whose_name_is_cut_is_one_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
