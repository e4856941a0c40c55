/* live_stay_test.c - an inspector that came while the GPU was idle and stays between looks, on the fake driver: the
 * program goes on beside it, gets its own errors, and loses nothing whoever dies. */
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
    assert_false(wsdbg_live_machine_stays(rig->machine));
    assert_int_equal(rig->attach.row->stays, 0);
}

static void a_late_look_works(struct rig *rig)
{
    for (int step = RIG_ATTACH; step < RIG_STEPS; step++)
        rig_ok(rig_step(rig, step));
    rig_assert_left_alone(rig);
}

/* ---- it stays ---- */

static void calls_go_on_while_somebody_stays(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    assert_int_equal(rig.attach.row->stays, 1);
    assert_int_equal(rig.attach.row->state, WSDBG_ATTACH_DONE);
    assert_int_equal(rig.gpu->attaches, 1);
    assert_int_equal(rig.gpu->deferred, 1);
    assert_int_equal(rig.gpu->suspensions, 0);
    helpers_assert_obeys(&rig, "lllsw");
    assert_int_equal(rig.attach.row->launches, 4);
    assert_true(rig.attach.row->launch_ns > 0);
    helpers_assert_obeys(&rig, "s");
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 0);
    assert_int_equal(rig.gpu->attached, 1);
    leave(&rig);
    assert_int_equal(rig.gpu->cleanups, 1);
    helpers_assert_obeys(&rig, "ls");
    assert_int_equal(rig.attach.row->launches, 4); /* nobody pays any more */
    helpers_finish(&rig);
}

static void calls_wait_only_while_the_gpu_is_stopped(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    for (int look = 1; look <= 2; look++) {
        rig_ok(rig_step(&rig, RIG_SUSPEND));
        const uint64_t waited_ns = rig.attach.row->waited_ns;
        rig_order(&rig, 'l');
        rig_ok(rig_step(&rig, RIG_WARPS));
        rig_ok(rig_step(&rig, RIG_READ));
        assert_int_equal(rig.machine->warp_count, FAKE_DEBUG_SMS * FAKE_DEBUG_WARPS);
        usleep(100000);
        assert_false(rig_has_obeyed(&rig));
        rig_ok(rig_step(&rig, RIG_RESUME));
        rig_await_obeyed(&rig);
        assert_true(rig.attach.row->waited_ns - waited_ns >= 90 * MS);
        helpers_assert_obeys(&rig, "ls");
        assert_int_equal(rig.gpu->suspensions, look);
        assert_true(wsdbg_live_machine_stays(rig.machine));
    }
    assert_int_equal(rig.gpu->attaches, 1);
    leave(&rig);
    helpers_finish(&rig);
}

static void a_look_that_nobody_ends_is_ended_and_the_inspector_stays(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig_ok(wsdbg_live_machine_suspend(rig.machine, 50 * MS, LIMIT_NS));
    helpers_assert_obeys(&rig, "l");
    assert_int_equal(rig.gpu->suspended, 0);
    assert_true(wsdbg_live_machine_stays(rig.machine));
    leave(&rig);
    helpers_finish(&rig);
}

static void it_is_there_for_longer_than_its_lease(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    sleep(4);
    assert_true(wsdbg_live_machine_stays(rig.machine));
    helpers_assert_obeys(&rig, "ls");
    leave(&rig);
    helpers_finish(&rig);
}

static void a_program_that_ends_beside_it_ends_as_it_would_have(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    helpers_assert_obeys(&rig, "ls");
    helpers_finish(&rig);
}

/* ---- it is not let in ---- */

static void nobody_comes_to_stay_while_the_gpu_has_work(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    helpers_assert_obeys(&rig, "w");
    rig_says(rig_stay(&rig), "the GPU has work of the program");
    assert_int_equal(rig.attach.row->obstacle, WSDBG_OBSTACLE_AT_WORK);
    assert_int_equal(rig.gpu->attaches, 0);
    assert_false(wsdbg_live_machine_stays(rig.machine));
    rig_assert_left_alone(&rig);
    helpers_assert_obeys(&rig, "ls");
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 0);
    rig_ok(rig_stay(&rig));
    leave(&rig);
    helpers_finish(&rig);
}

static void a_driver_without_deferred_notifications_is_left_again(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    setenv("FAKE_CUDA_FAIL", "setKernelLaunchNotificationMode", 1);
    rig_says(rig_stay(&rig), "the driver has no deferred notifications of launches");
    unsetenv("FAKE_CUDA_FAIL");
    assert_int_equal(rig.gpu->attaches, 1);
    assert_int_equal(rig.attach.row->stays, 0);
    rig_assert_left_alone(&rig);
    helpers_assert_obeys(&rig, "ls");
    a_late_look_works(&rig);
    helpers_finish(&rig);
}

static void who_finds_the_program_held_back_by_the_driver_leaves(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig.gpu->holds_back = 1;
    rig_says(rig_stay(&rig), "the driver holds back what the program gives the GPU");
    assert_int_equal(rig.attach.row->obstacle, WSDBG_OBSTACLE_AT_WORK);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.attach.row->stays, 0);
    rig.gpu->holds_back = 0;
    helpers_assert_obeys(&rig, "ls");
    helpers_finish(&rig);
}

static void nobody_stays_where_errors_could_not_be_given_back(void **state)
{
    (void)state;
    struct rig rig = rig_start("FAKE_CUDA_FAIL=cuModuleLoadData");
    rig_says(rig_stay(&rig), "errors of the GPU could not be given back to the program");
    assert_int_equal(rig.gpu->attaches, 0);
    a_late_look_works(&rig);
    run_finish(&rig.run); /* its own modules failed, too */
    assert_exit(&rig.run, 0);
    rig.machine->ops->close(rig.machine);
    segment_remove(rig.run.pid);
    wsdbg_attach_close(&rig.attach);
}

/* ---- it must leave ---- */

static void a_context_is_made_and_ended_with_nobody_attached(void **state)
{
    static const char orders[] = "nd";
    (void)state;
    struct rig rig = rig_start(NULL);
    for (const char *order = orders; *order; order++) {
        rig_ok(rig_stay(&rig));
        const uint32_t cleanups = rig.gpu->cleanups;
        helpers_assert_obeys(&rig, (const char[]){*order, '\0'});
        assert_int_equal(rig.gpu->cleanups, cleanups + 1); /* it left in good order */
        rig_assert_left_alone(&rig);
        assert_int_equal(rig.attach.row->leave_wanted, 0);
        assert_false(wsdbg_live_machine_stays(rig.machine));
    }
    assert_int_equal(helpers_last_result(&rig, "cuCtxCreate_v4"), 0);
    assert_int_equal(helpers_last_result(&rig, "cuCtxDestroy_v2"), 0);
    rig_ok(rig_stay(&rig));
    leave(&rig);
    helpers_finish(&rig);
}

/* The driver would prepare it for who is attached. */
static void before_much_code_is_loaded_one_leaves_that_should_be_cheap(void **state)
{
    static const struct {
        const char *setting;
        bool stays;
    } rows[] = {{"WSDBG_ATTACH_FIRST=1", true}, {"WSDBG_ATTACH_FIRST=1,cheap", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig = rig_start(rows[i].setting);
        rig_ok(rig_stay(&rig));
        helpers_assert_obeys(&rig, "lm");
        assert_int_equal(helpers_last_result(&rig, "cuModuleLoadData"), 200);
        assert_int_equal(rig.attach.row->stays, rows[i].stays);
        if (rows[i].stays)
            leave(&rig);
        rig_assert_left_alone(&rig);
        helpers_assert_obeys(&rig, "ls");
        helpers_finish(&rig);
    }
}

static void one_that_does_not_leave_when_asked_to_is_shown_out(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    kill(helpers_inspector(&rig), SIGSTOP);
    helpers_assert_obeys(&rig, "n");
    assert_int_equal(helpers_last_result(&rig, "cuCtxCreate_v4"), 0);
    assert_int_equal(rig.gpu->attached, 0);
    kill(helpers_inspector(&rig), SIGCONT);
    rig_assert_left_alone(&rig);
    helpers_assert_obeys(&rig, "ls");
    helpers_finish(&rig);
}

/* ---- somebody dies ---- */

static void the_program_goes_on_when_the_inspector_is_killed(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    kill(helpers_inspector(&rig), SIGKILL);
    helpers_assert_obeys(&rig, "ls");
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 2); /* its attach watchdog came and left */
    assert_int_equal(rig.attach.row->stays, 0);
    wsdbg_live_machine_await_rescue(rig.machine, LIMIT_NS);
    helpers_assert_obeys(&rig, "ls");
    rig_ok(rig_stay(&rig));
    leave(&rig);
    helpers_finish(&rig);
}

/* The attach watchdog is kept from its work for a moment. */
static void killed_over_a_stopped_gpu_calls_wait_for_the_attach_watchdog(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    const pid_t attach_watchdog = helpers_attach_watchdog(&rig);
    kill(attach_watchdog, SIGSTOP);
    kill(helpers_inspector(&rig), SIGKILL);
    for (int i = 0; i < 5000 && rig.attach.row->state != WSDBG_ATTACH_NOBODY; i++)
        usleep(1000);
    assert_int_equal(rig.attach.row->state, WSDBG_ATTACH_NOBODY);
    rig_order(&rig, 'l');
    usleep(300000);
    assert_false(rig_has_obeyed(&rig));
    assert_int_equal(rig.gpu->suspended, 1);
    kill(attach_watchdog, SIGCONT);
    rig_await_obeyed(&rig);
    assert_int_equal(rig.gpu->suspended, 0);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* Before the program takes its lease away, which it does after 3 s. */
static void one_that_hangs_is_killed_by_its_attach_watchdog(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    const pthread_t stops = helpers_keep_stopped(helpers_inspector(&rig));
    const uint64_t stopped_ns = wsdbg_attach_clock_ns();
    while (rig.gpu->attaches < 2 && wsdbg_attach_clock_ns() < stopped_ns + 60000 * MS)
        usleep(1000);
    assert_int_equal(rig.gpu->attaches, 2);
    pthread_join(stops, NULL);
    helpers_assert_obeys(&rig, "ls");
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* Its attach watchdog lets it go on. */
static void one_that_was_stopped_is_not_killed(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    kill(helpers_inspector(&rig), SIGSTOP);
    usleep(3500000);
    assert_true(wsdbg_live_machine_stays(rig.machine));
    assert_int_equal(rig.gpu->attaches, 1);
    helpers_assert_obeys(&rig, "ls");
    leave(&rig);
    helpers_finish(&rig);
}

/* ---- just after a look ---- */

static void look(struct rig *rig)
{
    rig_ok(rig_step(rig, RIG_SUSPEND));
    rig_ok(rig_step(rig, RIG_RESUME));
}

static void nobody_shows_it_out_before_what_it_resumed_runs(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    look(&rig);
    helpers_assert_obeys(&rig, "n"); /* makes a context */
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->shown_out_at_once, 0);
    helpers_finish(&rig);
    rig = helpers_rig_with_guest();
    look(&rig);
    rig.is_beside = true; /* the GPU stays mapped */
    rig_finish(&rig);     /* the program ends */
    assert_int_equal(rig.gpu->shown_out_at_once, 0);
    helpers_assert(&rig, 0);
}

static void an_error_while_it_waits_to_leave_is_the_programs(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    look(&rig);
    rig_ok(wsdbg_live_machine_leave(rig.machine));
    rig.gpu->next_exception = 14;
    rig.gpu->next_shows = FAKE_SHOWS_ON_SM;
    helpers_assert_obeys(&rig, "f");
    assert_int_equal(helpers_last_result(&rig, "cuCtxSynchronize"), 700);
    assert_int_equal(rig.gpu->errors_brought, 1);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* Dead before what it had resumed runs: as one that died over a stopped GPU. */
static void one_that_dies_just_after_a_look_is_followed_by_its_attach_watchdog(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    look(&rig);
    assert_int_not_equal(rig.attach.row->stopped_devices, 0);
    kill(helpers_inspector(&rig), SIGKILL);
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 2);
    helpers_assert_obeys(&rig, "ls");
    helpers_finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_go_on_while_somebody_stays),
        cmocka_unit_test(calls_wait_only_while_the_gpu_is_stopped),
        cmocka_unit_test(a_look_that_nobody_ends_is_ended_and_the_inspector_stays),
        cmocka_unit_test(it_is_there_for_longer_than_its_lease),
        cmocka_unit_test(a_program_that_ends_beside_it_ends_as_it_would_have),
        cmocka_unit_test(nobody_comes_to_stay_while_the_gpu_has_work),
        cmocka_unit_test(a_driver_without_deferred_notifications_is_left_again),
        cmocka_unit_test(who_finds_the_program_held_back_by_the_driver_leaves),
        cmocka_unit_test(nobody_stays_where_errors_could_not_be_given_back),
        cmocka_unit_test(a_context_is_made_and_ended_with_nobody_attached),
        cmocka_unit_test(before_much_code_is_loaded_one_leaves_that_should_be_cheap),
        cmocka_unit_test(one_that_does_not_leave_when_asked_to_is_shown_out),
        cmocka_unit_test(the_program_goes_on_when_the_inspector_is_killed),
        cmocka_unit_test(killed_over_a_stopped_gpu_calls_wait_for_the_attach_watchdog),
        cmocka_unit_test(one_that_hangs_is_killed_by_its_attach_watchdog),
        cmocka_unit_test(one_that_was_stopped_is_not_killed),
        cmocka_unit_test(nobody_shows_it_out_before_what_it_resumed_runs),
        cmocka_unit_test(an_error_while_it_waits_to_leave_is_the_programs),
        cmocka_unit_test(one_that_dies_just_after_a_look_is_followed_by_its_attach_watchdog),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, where they are seen */
    return cmocka_run_group_tests_name("live_stay", tests, NULL, free_texts);
}
