/* look_answers_test.c - which waits of a real kernel's loops an arrival answers: those of the arrival's own loop. After
 * which of them bytes are announced without one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "machine/dump_look.h"

/* An answer is an arrival that a warp executes once its wait has ended.  A warp that waits for a barrier of the ring
 * never arrives on the same barrier: the arrival lies in another role's loop, which is on none of its paths. */
static void a_wait_is_answered_in_its_own_loop(void **state)
{
    (void)state;
    struct wsdbg_snapshot s = dump_look("gemm-arrive-missing");
    assert_true(s.answer_count > 0);
    for (size_t i = 0; i < s.answer_count; i++) {
        const struct wsdbg_access_row *wait = &s.accesses[s.answers[i].wait];
        const struct wsdbg_access_row *arrival = &s.accesses[s.answers[i].arrival];
        assert_int_equal(wait->kind, WSDBG_ACCESS_WAIT);
        assert_false(s.answers[i].is_bare);
        assert_true(wait->address.known && arrival->address.known);
        assert_int_not_equal(wait->address.value, arrival->address.value);
    }
    wsdbg_snapshot_deinit(&s);
}

/* Two loaders share "full".  One of them only announces its bytes: no arrival lies between its wait for a slot and the
 * next one. */
static void an_expect_without_an_arrival_is_told(void **state)
{
    (void)state;
    struct wsdbg_snapshot s = dump_look("gemm-shared-full-barrier");
    size_t bare = 0;
    for (size_t i = 0; i < s.answer_count; i++) {
        const struct wsdbg_access_row *wait = &s.accesses[s.answers[i].wait];
        const struct wsdbg_access_row *arrival = &s.accesses[s.answers[i].arrival];
        assert_int_equal(wait->kind, WSDBG_ACCESS_WAIT);
        assert_int_equal(s.answers[i].is_bare, arrival->kind == WSDBG_ACCESS_EXPECT);
        bare += s.answers[i].is_bare;
    }
    assert_true(bare > 0);
    wsdbg_snapshot_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_answered_in_its_own_loop),
        cmocka_unit_test(an_expect_without_an_arrival_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
