/* look_turns_test.c - which copies and announcements of real kernels come with an arrival: those of a producer that
 * uses arrive.expect_tx.  An expect_tx alone does not, nor what a kernel copies behind a wait of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/dump_look.h"
#include "sass/access_kind.h"

struct marks {
    uint32_t copies, marked_copies, expects, marked_expects;
};

static struct marks marks_of(const char *dump)
{
    struct wsdbg_snapshot snapshot = dump_look(dump);
    struct marks marks = {0};
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
