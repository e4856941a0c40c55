/* live_bounds_test.c - when an inspector comes, how long it and the program wait for one another, and what is left of
 * it afterwards, on the fake driver. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

/* ---- how long calls wait ---- */

static void a_forked_child_does_not_wait_for_its_parents_inspector(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    helpers_assert_obeys(&rig, "c");
    assert_non_null(strstr(rig.run.output, "child's status 0\n"));
    rig_ok(rig_step(&rig, RIG_RESUME));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    helpers_finish(&rig);
}

static void calls_go_on_as_soon_as_their_inspector_is_dead(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    rig_order(&rig, 'l');
    usleep(50000);
    assert_false(rig_has_obeyed(&rig));
    wsdbg_attach_hold(&rig.attach, 9000 * MS); /* its lease would hold them up for longer */
    kill(helpers_inspector(&rig), SIGKILL);
    const uint64_t killed_ns = wsdbg_attach_clock_ns();
    rig_await_obeyed(&rig);
    assert_true(wsdbg_attach_clock_ns() - killed_ns < 4000 * MS);
    helpers_assert(&rig, 0);
    helpers_finish(&rig);
}

static _Atomic bool renews;

static void *renew_lease(void *attach)
{
    for (; renews; usleep(50000))
        wsdbg_attach_hold(attach, 3000 * MS);
    return NULL;
}

/* Stopped together with its attach watchdog, as by a debugger of somebody's, in the middle of a look. */
static void no_lease_holds_calls_up_for_longer_than_eighteen_seconds(void **state)
{
    pthread_t thread;
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig_ok(wsdbg_live_machine_suspend(rig.machine, 20000 * MS, LIMIT_NS));
    const pid_t inspector = helpers_inspector(&rig), attach_watchdog = helpers_attach_watchdog(&rig);
    kill(attach_watchdog, SIGSTOP);
    kill(inspector, SIGSTOP);
    renews = true;
    assert_int_equal(pthread_create(&thread, NULL, renew_lease, &rig.attach), 0);
    const uint64_t stopped_ns = wsdbg_attach_clock_ns();
    while (rig.attach.row->state == WSDBG_ATTACH_DONE && wsdbg_attach_clock_ns() < stopped_ns + 22000 * MS)
        usleep(10000);
    const uint64_t held_ns = wsdbg_attach_clock_ns() - stopped_ns;
    assert_int_not_equal(rig.attach.row->state, WSDBG_ATTACH_DONE);
    assert_true(held_ns > 17000 * MS && held_ns < 21000 * MS);
    renews = false;
    pthread_join(thread, NULL);
    kill(attach_watchdog, SIGCONT);
    kill(inspector, SIGKILL);
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* An attach brings threads, and wakes the driver's: what is seen of them meanwhile says nothing of the program's. */
static void what_was_seen_of_the_programs_threads_holds_meanwhile(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    const struct wsdbg_segment *segment = segment_of(rig.run.pid);
    assert_non_null(segment);
    rig_order(&rig, 'w');
    rig_order(&rig, 's');
    for (int i = 0; i < 1000 && __atomic_load_n(&segment->host_state, __ATOMIC_ACQUIRE) != WSDBG_HOST_ALL_BLOCKED; i++)
        usleep(1000);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    for (int i = 0; i < 200; i++, usleep(1000))
        assert_int_equal(__atomic_load_n(&segment->host_state, __ATOMIC_ACQUIRE), WSDBG_HOST_ALL_BLOCKED);
    rig_ok(rig_step(&rig, RIG_DETACH));
    rig_await_obeyed(&rig);
    helpers_finish(&rig);
}

/* ---- when an inspector comes, and how long it waits ---- */

/* Where other programs have the GPU in turns an event takes some time though this one gave the GPU nothing. */
static void before_the_first_launch_one_waits_for_the_gpus_turn(void **state)
{
    (void)state;
    struct rig rig = rig_start_before_launch("WSDBG_ATTACH_FIRST=5000");
    rig.gpu->event_ms = 40;
    rig_ok(rig_stay(&rig));
    rig.gpu->event_ms = 0;
    helpers_assert_obeys(&rig, "l");
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    helpers_finish(&rig);
}

/* Where several programs share a GPU, a suspension may take 4.04 s.  To kill the inspector would leave the GPU stopped.
 */
static void look_while_the_driver_takes_long(struct rig *rig)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_evidence *source;
    char session[64];
    session_name(session, sizeof session);
    setenv("FAKE_CUDA_SLOW", "suspendDevice,4100", 1);
    rig_ok(wsdbg_evidence_open_live(session, NULL, WSDBG_ATTACH_ALWAYS, &source));
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), 4000 * MS, &snapshot));
    unsetenv("FAKE_CUDA_SLOW");
    assert_int_equal(snapshot.look_count, 1); /* there is no time for a second one */
    assert_int_equal(rig->gpu->attaches, 1);  /* no attach watchdog had to come */
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
}

static void one_that_the_driver_keeps_while_it_stops_the_gpu_is_waited_for(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    look_while_the_driver_takes_long(&rig);
    assert_int_equal(rig.gpu->suspensions, 1);
    helpers_finish(&rig);
}

/* 8.2 s. */
static void each_device_has_as_much_time(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    setenv(FAKE_DEBUG_SECOND_DEVICE, "1", 1);
    look_while_the_driver_takes_long(&rig);
    unsetenv(FAKE_DEBUG_SECOND_DEVICE);
    assert_int_equal(rig.gpu->suspensions, 2);
    helpers_finish(&rig);
}

/* An event in a capture would spoil it. */
static void nobody_comes_while_a_stream_is_captured(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    helpers_assert_obeys(&rig, "b");
    rig_says(rig_stay(&rig), "the GPU has work of the program");
    helpers_assert_obeys(&rig, "e");
    assert_non_null(strstr(rig.run.output, "cuStreamEndCapture 0\n"));
    helpers_finish(&rig);
}

/* The driver's attach walks the contexts; it crashed where one was ended meanwhile. */
static void nobody_attaches_while_a_context_is_being_ended(void **state)
{
    (void)state;
    struct rig rig = rig_start("APP_DESTROYS=1");
    rig_says(rig_step(&rig, RIG_ATTACH), "making or ending a context");
    assert_int_equal(rig.gpu->attaches, 0);
    rig_assert_left_alone(&rig);
    helpers_finish(&rig);
}

/* ---- what is left ---- */

static int count_descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void no_inspector_leaves_a_descriptor_behind(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    rig_assert_left_alone(&rig);
    const int after_first = count_descriptors(rig.run.pid);
    for (int i = 0; i < 3; i++) {
        rig_ok(rig_stay(&rig));
        rig_ok(wsdbg_live_machine_detach(rig.machine));
        rig_assert_left_alone(&rig);
    }
    assert_int_equal(count_descriptors(rig.run.pid), after_first);
    helpers_finish(&rig);
}

/* Its stderr is closed before the inspector comes, and still is while that stays. */
static void a_stream_that_the_program_has_closed_stays_closed(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    helpers_assert_obeys(&rig, "z");
    rig_ok(rig_stay(&rig));
    helpers_assert_obeys(&rig, "z");
    assert_non_null(strstr(rig.run.output, "stderr was closed\n"));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    helpers_finish(&rig);
}

/* By a kernel of the observer's. */
static void an_error_that_is_brought_again_is_no_launch_of_the_programs(void **state)
{
    (void)state;
    struct rig rig = helpers_rig_with_guest();
    const struct wsdbg_segment *segment = segment_of(rig.run.pid);
    assert_non_null(segment);
    const uint64_t launches = segment->launch_count;
    rig.gpu->next_exception = 14;
    rig.gpu->next_shows = FAKE_SHOWS_AS_EVENT;
    helpers_assert_obeys(&rig, "f");
    assert_non_null(strstr(rig.run.output, "cuCtxSynchronize 700\n"));
    assert_int_equal(rig.gpu->errors_brought, 1);
    assert_int_equal(segment->launch_count, launches + 1);
    helpers_finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_does_not_wait_for_its_parents_inspector),
        cmocka_unit_test(calls_go_on_as_soon_as_their_inspector_is_dead),
        cmocka_unit_test(no_lease_holds_calls_up_for_longer_than_eighteen_seconds),
        cmocka_unit_test(what_was_seen_of_the_programs_threads_holds_meanwhile),
        cmocka_unit_test(before_the_first_launch_one_waits_for_the_gpus_turn),
        cmocka_unit_test(one_that_the_driver_keeps_while_it_stops_the_gpu_is_waited_for),
        cmocka_unit_test(each_device_has_as_much_time),
        cmocka_unit_test(nobody_comes_while_a_stream_is_captured),
        cmocka_unit_test(nobody_attaches_while_a_context_is_being_ended),
        cmocka_unit_test(no_inspector_leaves_a_descriptor_behind),
        cmocka_unit_test(a_stream_that_the_program_has_closed_stays_closed),
        cmocka_unit_test(an_error_that_is_brought_again_is_no_launch_of_the_programs),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, where they are seen */
    return cmocka_run_group_tests_name("live_bounds", tests, NULL, free_texts);
}
