/* live_fault_test.c - a kernel fails while an inspector stays, on the fake driver: the driver tells nobody but the
 * debugger, and the program gets its error all the same, from the call that would have had it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

static void leave(struct rig *rig)
{
    rig_ok(wsdbg_live_machine_detach(rig->machine));
    rig_assert_left_alone(rig);
}

static void await_fault(const struct rig *rig)
{
    for (int i = 0; i < 10000 && !wsdbg_live_machine_has_fault(rig->machine); i++)
        usleep(1000);
    assert_true(wsdbg_live_machine_has_fault(rig->machine));
}

static void a_program_gets_the_error_that_its_kernel_brought(void **state)
{
    static const struct {
        uint32_t exception;
        enum fake_shows shows;
        int error;
    } rows[] = {
        {14, FAKE_SHOWS_ON_SM, 700},    {1, FAKE_SHOWS_AS_EVENT, 700},  {10, FAKE_SHOWS_AS_EVENT, 700},
        {14, FAKE_SHOWS_AS_EVENT, 700}, {6, FAKE_SHOWS_AS_EVENT, 716},  {11, FAKE_SHOWS_ON_SM, 716},
        {7, FAKE_SHOWS_AS_EVENT, 717},  {12, FAKE_SHOWS_AS_EVENT, 710}, {4, FAKE_SHOWS_AS_EVENT, 719},
        {0, FAKE_SHOWS_AS_TRAP, 719},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig = helpers_rig_with_guest();
        rig.gpu->next_exception = rows[i].exception;
        rig.gpu->next_shows = rows[i].shows;
        rig_order(&rig, 'f');
        await_fault(&rig);
        assert_false(rig_has_obeyed(&rig));
        assert_int_equal(rig.gpu->errors_brought, 0);
        assert_int_equal(rig.attach.row->fault_exception, rows[i].exception);
        rig_ok(rig_step(&rig, RIG_RESUME));
        rig_await_obeyed(&rig);
        assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), rows[i].error);
        assert_int_equal(rig.gpu->errors_brought, 1);
        assert_int_equal(rig.gpu->resumed_at_trap, 0);
        rig_assert_left_alone(&rig);
        helpers_assert_obeys(&rig, "s"); /* and from every call after it */
        assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), rows[i].error);
        helpers_finish(&rig);
    }
}

static void what_an_exception_stopped_can_be_looked_at_once(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig.gpu->next_exception = 14;
    rig.gpu->next_shows = FAKE_SHOWS_AS_EVENT;
    rig_order(&rig, 'f');
    await_fault(&rig);
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    rig_ok(rig_step(&rig, RIG_WARPS));
    assert_true(wsdbg_machine_has_exception(rig.machine));
    rig_ok(rig_step(&rig, RIG_READ));
    assert_false(rig_has_obeyed(&rig));
    rig_ok(rig_step(&rig, RIG_RESUME));
    rig_await_obeyed(&rig);
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 700);
    assert_false(wsdbg_live_machine_has_fault(rig.machine));
    helpers_finish(&rig);
}

static void an_exception_that_nobody_looks_at_holds_the_program_up_for_a_moment(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig.gpu->next_exception = 14;
    helpers_assert_obeys(&rig, "f");
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 700);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

static void an_exception_from_before_is_not_the_programs(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig.gpu->sm_exception = 14;
    rig_ok(rig_stay(&rig));
    helpers_assert_obeys(&rig, "ls");
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 0);
    assert_false(wsdbg_live_machine_has_fault(rig.machine));
    leave(&rig);
    helpers_finish(&rig);
}

static void the_error_comes_also_when_the_inspector_dies_over_it(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig.gpu->next_exception = 6;
    rig.gpu->next_shows = FAKE_SHOWS_AS_EVENT;
    rig_order(&rig, 'f');
    await_fault(&rig);
    kill(helpers_inspector(&rig), SIGKILL);
    rig_await_obeyed(&rig);
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 716);
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* ---- an error that shows late ---- */

static struct rig with_device_files(void)
{
    struct rig rig = rig_start_with_device_files();
    rig_ok(rig_stay(&rig));
    usleep(150000); /* the driver's event thread has slept once */
    return rig;
}

static void assert_late_error_comes(struct rig *rig)
{
    rig->gpu->next_exception = 14;
    rig->gpu->next_shows = FAKE_SHOWS_ON_SM;
    rig->gpu->handled_ms = 5;
    rig->gpu->shows_ms = 25;
    helpers_assert_obeys(rig, "f");
    assert_int_equal(helpers_last_result(rig, "cuCtxSynchronize"), 700);
    rig_assert_left_alone(rig);
    helpers_finish(rig);
}

static void it_is_waited_for_when_the_gpu_told_the_driver_of_something(void **state)
{
    (void)state;
    struct rig rig = with_device_files();
    assert_late_error_comes(&rig);
}

static void it_is_waited_for_where_nobody_knows_what_the_driver_was_told(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    assert_late_error_comes(&rig);
}

static uint64_t cost_of_ns(struct rig *rig, const char *orders)
{
    const uint64_t before_ns = rig->attach.row->waited_ns;
    helpers_assert_obeys(rig, orders);
    return rig->attach.row->waited_ns - before_ns;
}

/* Of several runs: a busy machine can make any one of them slow, a wait makes all of them slow. */
static uint64_t least_cost_of_ns(struct rig *rig, const char *orders)
{
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < 5 && least_ns >= 30 * MS; i++) {
        const uint64_t cost_ns = cost_of_ns(rig, orders);
        least_ns = cost_ns < least_ns ? cost_ns : least_ns;
    }
    return least_ns;
}

static void a_long_kernel_that_ends_well_is_not_waited_for(void **state)
{
    (void)state;
    struct rig watched = with_device_files();
    assert_true(least_cost_of_ns(&watched, "ws") < 30 * MS);
    assert_int_equal(helpers_last_result(&watched, "cuCtxSynchronize"), 0);
    leave(&watched);
    helpers_finish(&watched);

    struct rig unwatched = helpers_rig_with_guest();
    assert_true(cost_of_ns(&unwatched, "ws") > 50 * MS);
    assert_int_equal(helpers_last_result(&unwatched, "cuCtxSynchronize"), 0);
    leave(&unwatched);
    helpers_finish(&unwatched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_the_error_that_its_kernel_brought),
        cmocka_unit_test(what_an_exception_stopped_can_be_looked_at_once),
        cmocka_unit_test(an_exception_that_nobody_looks_at_holds_the_program_up_for_a_moment),
        cmocka_unit_test(an_exception_from_before_is_not_the_programs),
        cmocka_unit_test(the_error_comes_also_when_the_inspector_dies_over_it),
        cmocka_unit_test(it_is_waited_for_when_the_gpu_told_the_driver_of_something),
        cmocka_unit_test(it_is_waited_for_where_nobody_knows_what_the_driver_was_told),
        cmocka_unit_test(a_long_kernel_that_ends_well_is_not_waited_for),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, where they are seen */
    return cmocka_run_group_tests_name("live_fault", tests, NULL, free_texts);
}
