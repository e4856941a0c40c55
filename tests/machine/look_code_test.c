/* look_code_test.c - the instructions that a look keeps around the places where warps of a real dump stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "machine/dump_look.h"

enum { AROUND = 64 };

static const struct wsdbg_code_row *row_at(const struct wsdbg_snapshot *s, uint32_t function, uint32_t offset_bytes)
{
    for (size_t i = 0; i < s->code_count; i++)
        if (s->code[i].function == function && s->code[i].offset_bytes == offset_bytes)
            return &s->code[i];
    return NULL;
}

static void rows_are_in_order_and_each_is_there_once(void **state)
{
    (void)state;
    struct wsdbg_snapshot s = dump_look("gemm-arrive-missing");
    assert_true(s.code_count > AROUND);
    for (size_t i = 1; i < s.code_count; i++) {
        const struct wsdbg_code_row *a = &s.code[i - 1], *b = &s.code[i];
        assert_true(a->function < b->function || (a->function == b->function && a->offset_bytes < b->offset_bytes));
    }
    wsdbg_snapshot_deinit(&s);
}

/* What a warp waits at is among them, in the words of its site, with the line of the kernel's own file. */
static void every_wait_is_among_them(void **state)
{
    (void)state;
    struct wsdbg_snapshot s = dump_look("gemm-arrive-missing");
    bool lines = false;
    for (size_t i = 0; i < s.part_count; i++) {
        const struct wsdbg_site *site = wsdbg_snapshot_site(&s, s.parts[i].site);
        assert_non_null(site);
        const struct wsdbg_code_row *row = row_at(&s, site->function, site->offset_bytes.value);
        assert_non_null(row);
        if (strncmp(site->instruction, "SYNCS", 5) != 0)
            continue;
        assert_string_equal(row->text, site->instruction);
        lines |= row->line.known && strstr(row->file, "gemm.cu") && row->line.value == 222;
    }
    assert_true(lines);
    wsdbg_snapshot_deinit(&s);
}

/* Code is kept for where somebody stands, not for the module. */
static void code_of_kernels_that_nobody_stands_in_is_not_there(void **state)
{
    (void)state;
    struct wsdbg_snapshot s = dump_look("waits-lane-split");
    for (size_t i = 0; i < s.code_count; i++)
        assert_non_null(strstr(s.functions[s.code[i].function].name, "wait_lane_split"));
    wsdbg_snapshot_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_order_and_each_is_there_once),
        cmocka_unit_test(every_wait_is_among_them),
        cmocka_unit_test(code_of_kernels_that_nobody_stands_in_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
