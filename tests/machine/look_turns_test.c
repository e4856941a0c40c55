/* look_turns_test.c - which copies and announcements of real kernels come with an arrival: those of a producer that
 * uses arrive.expect_tx.  An expect_tx alone does not, nor what a kernel copies behind a wait of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "machine/interpret.h"
#include "sass/access_kind.h"

struct marks {
    uint32_t copies, marked_copies, expects, marked_expects;
};

static struct marks marks_of(const char *dump)
{
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    struct marks marks = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.core.gz", WSDBG_DUMPS, dump);
    assert_null(wsdbg_machine_open_core(path, &machine));
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take(machine, code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    for (size_t i = 0; i < snapshot.access_count; i++) {
        const struct wsdbg_access_row *access = &snapshot.accesses[i];
        marks.copies += access->kind == WSDBG_ACCESS_COPY;
        marks.expects += access->kind == WSDBG_ACCESS_EXPECT;
        if (access->comes_with_arrival && access->kind == WSDBG_ACCESS_COPY)
            marks.marked_copies++;
        else if (access->comes_with_arrival)
            marks.marked_expects++;
    }
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    return marks;
}

static void copies_behind_an_arrival_come_with_it(void **state)
{
    (void)state;
    static const char *const dumps[] = {"gemm-arrive-missing", "gemm-tx-mismatch"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        const struct marks marks = marks_of(dumps[i]);
        assert_true(marks.copies > 0);
        assert_int_equal(marks.marked_copies, marks.copies);
        assert_int_equal(marks.marked_expects, 0);
    }
}

/* Two loaders share "full"; one of them only announces its bytes. */
static void an_expect_alone_and_its_copies_do_not(void **state)
{
    (void)state;
    const struct marks marks = marks_of("gemm-shared-full-barrier");
    assert_true(marks.expects > 0);
    assert_int_equal(marks.marked_expects, 0);
    assert_true(marks.marked_copies < marks.copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_behind_an_arrival_come_with_it),
        cmocka_unit_test(an_expect_alone_and_its_copies_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
