/* live_attend_test.c - evidence that keeps an inspector at a program between looks, on the fake driver: when it comes,
 * what a look then is, and what people are told. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"
#include "evidence/look_choice.h"

#define LOOK_NS 3000000000ull

struct attended {
    struct rig rig;
    struct wsdbg_evidence *source;
    char line[256];   /* the newest that was not empty */
    int lines;        /* how many came */
    bool is_attended; /* at the last step */
};

static struct attended start(void)
{
    char session[64];
    struct attended at = {.rig = rig_start(NULL)};
    session_name(session, sizeof session);
    rig_ok(wsdbg_evidence_open_live(session, NULL, WSDBG_ATTACH_ALWAYS, &at.source));
    return at;
}

static void finish(struct attended *at)
{
    at->source->ops->close(at->source);
    assert_int_equal(at->rig.gpu->launched_while_suspended, 0);
    rig_finish(&at->rig);
}

/* As a watch does it a few times a second. */
static void step(struct attended *at, bool over)
{
    struct wsdbg_snapshot snapshot;
    char line[256] = "";
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    rig_ok(at->source->ops->poll(at->source, now_ns, &snapshot));
    at->is_attended = false;
    for (size_t i = 0; i < snapshot.context_count; i++)
        at->is_attended |= snapshot.contexts[i].attended;
    at->source->ops->attend(at->source, &snapshot, now_ns, over, line, sizeof line);
    if (line[0]) {
        at->lines++;
        memcpy(at->line, line, sizeof line);
    }
    wsdbg_snapshot_deinit(&snapshot);
}

static void steps_for_ms(struct attended *at, int ms)
{
    for (int i = 0; i < ms / 20; i++, usleep(20000))
        step(at, false);
}

static void await_attended(struct attended *at)
{
    for (int i = 0; i < 500 && !at->is_attended; i++, usleep(20000))
        step(at, false);
    assert_true(at->is_attended);
}

static struct wsdbg_snapshot inspect(struct attended *at)
{
    struct wsdbg_snapshot snapshot;
    rig_ok(at->source->ops->inspect(at->source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    return snapshot;
}

static void a_look_of_one_that_stays_holds_nothing_back(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    for (uint32_t look = 1; look <= 2; look++) {
        struct wsdbg_snapshot snapshot = inspect(&at);
        assert_int_equal(snapshot.look_count, 2);
        assert_true(snapshot.looks[0].held_nothing_back && snapshot.looks[1].held_nothing_back);
        assert_int_equal(snapshot.looks[0].attach_ns + snapshot.looks[1].detach_ns, 0);
        assert_int_equal(snapshot.grid_count, 1);
        assert_int_equal(at.rig.gpu->suspensions, 2 * look);
        wsdbg_snapshot_deinit(&snapshot);
    }
    assert_int_equal(at.rig.gpu->attaches, 1);
    step(&at, true);
    assert_int_equal(at.lines, 1);
    assert_non_null(strstr(at.line, "attached to process"));
    finish(&at);
}

static void a_look_taken_ahead_is_compared_with_the_next(void **state)
{
    struct wsdbg_snapshot snapshot;
    (void)state;
    struct attended at = start();
    await_attended(&at);
    rig_ok(at.source->ops->poll(at.source, wsdbg_attach_clock_ns(), &snapshot));
    at.source->ops->look_ahead(at.source, &snapshot);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(at.rig.gpu->suspensions, 1);
    const uint64_t between_ns = wsdbg_attach_clock_ns();
    snapshot = inspect(&at);
    assert_int_equal(at.rig.gpu->suspensions, 2);
    assert_int_equal(snapshot.look_count, 2);
    assert_true(snapshot.looks[0].time_ns < between_ns && snapshot.looks[1].time_ns > between_ns);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = inspect(&at); /* it is used up */
    assert_int_equal(at.rig.gpu->suspensions, 4);
    wsdbg_snapshot_deinit(&snapshot);
    finish(&at);
}

/* Where nobody stays to look ahead would hold work back. */
static void nobody_comes_in_to_look_ahead(void **state)
{
    struct wsdbg_snapshot snapshot;
    (void)state;
    struct attended at = start();
    rig_order(&at.rig, 'w');
    rig_await_obeyed(&at.rig);
    step(&at, false);
    rig_ok(at.source->ops->poll(at.source, wsdbg_attach_clock_ns(), &snapshot));
    at.source->ops->look_ahead(at.source, &snapshot);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(at.rig.gpu->attaches, 0);
    assert_int_equal(at.rig.gpu->suspensions, 0);
    finish(&at);
}

static void what_will_stay_in_the_way_is_said_once_and_not_tried_again(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_FAIL", "setKernelLaunchNotificationMode", 1);
    struct attended at = start();
    steps_for_ms(&at, 4000);
    unsetenv("FAKE_CUDA_FAIL");
    assert_int_equal(at.lines, 1);
    assert_string_equal(at.line, "nobody can stay attached to the GPU between looks: the driver has no deferred "
                                 "notifications of launches; a look then attaches for itself");
    assert_int_equal(at.rig.gpu->attaches, 1);
    assert_false(at.is_attended);
    rig_assert_left_alone(&at.rig);
    struct wsdbg_snapshot snapshot = inspect(&at);
    assert_int_equal(snapshot.look_count, 2);
    assert_false(snapshot.looks[1].held_nothing_back);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(at.rig.gpu->attaches, 2);
    step(&at, true);
    assert_int_equal(at.lines, 1); /* nobody stayed: there is nothing to account for */
    rig_finish(&at.rig);
    setenv("FAKE_CUDA_FAIL", "setKernelLaunchNotificationMode", 1);
    at.rig = rig_start(NULL); /* the same is in the way of another process */
    steps_for_ms(&at, 2000);
    unsetenv("FAKE_CUDA_FAIL");
    assert_int_equal(at.rig.gpu->attaches, 1);
    assert_int_equal(at.lines, 1);
    finish(&at);
}

static void work_of_the_program_is_waited_for_in_silence(void **state)
{
    (void)state;
    struct attended at = start();
    rig_order(&at.rig, 'w');
    rig_await_obeyed(&at.rig);
    steps_for_ms(&at, 1000);
    assert_int_equal(at.rig.gpu->attaches, 0);
    await_attended(&at);
    assert_int_equal(at.lines, 0);
    finish(&at);
}

static void it_comes_back_after_the_program_has_made_a_context(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    rig_order(&at.rig, 'n');
    rig_await_obeyed(&at.rig);
    rig_assert_left_alone(&at.rig);
    step(&at, false);
    step(&at, false);
    assert_false(at.is_attended);
    await_attended(&at);
    assert_int_equal(at.rig.gpu->attaches, 2);
    assert_int_equal(at.lines, 0);
    finish(&at);
}

static void what_an_exception_stopped_is_looked_at_and_the_program_gets_its_error(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    at.rig.gpu->next_exception = 14;
    at.rig.gpu->next_shows = FAKE_SHOWS_AS_EVENT;
    rig_order(&at.rig, 'f');
    for (int i = 0; i < 500 && !rig_has_obeyed(&at.rig); i++, usleep(20000))
        step(&at, false);
    rig_await_obeyed(&at.rig);
    assert_non_null(strstr(at.rig.run.output, "cuCtxSynchronize 700\n"));
    assert_int_equal(at.rig.gpu->errors_brought, 1);
    struct wsdbg_snapshot snapshot = inspect(&at);
    assert_int_equal(snapshot.look_count, 1);
    assert_int_equal(snapshot.grid_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    rig_assert_left_alone(&at.rig);
    finish(&at);
}

/* ---- processes come and go ---- */

static void await_alone(struct attended *at)
{
    for (int i = 0; i < 500 && helpers_count(&at->rig) > 0; i++, usleep(20000))
        step(at, false);
    assert_int_equal(helpers_count(&at->rig), 0);
}

static void nobody_is_left_of_wsdbgs_where_a_process_has_ended(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    helpers_assert(&at.rig, 2);
    rig_finish(&at.rig);
    await_alone(&at);
    at.rig = rig_start(NULL);
    at.is_attended = false;
    await_attended(&at);
    step(&at, true);
    assert_int_equal(at.lines, 1);
    assert_non_null(strstr(at.line, "attached to 2 processes for "));
    step(&at, true);
    assert_int_equal(at.lines, 1);
    finish(&at);
}

static void what_an_exception_stopped_is_shown_after_its_process_has_ended(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    at.rig.gpu->next_exception = 14;
    at.rig.gpu->next_shows = FAKE_SHOWS_AS_EVENT;
    rig_order(&at.rig, 'f');
    for (int i = 0; i < 500 && !rig_has_obeyed(&at.rig); i++, usleep(20000))
        step(&at, false);
    rig_finish(&at.rig);
    await_alone(&at);
    struct wsdbg_snapshot snapshot = inspect(&at);
    assert_int_equal(snapshot.look_count, 1);
    assert_int_equal(snapshot.grid_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    at.source->ops->close(at.source);
}

static void a_program_executed_in_the_same_process_gets_an_inspector_of_its_own(void **state)
{
    (void)state;
    struct attended at = start();
    await_attended(&at);
    const pid_t first = helpers_inspector(&at.rig);
    rig_order(&at.rig, 'r');
    at.rig.orders = 0;
    for (int i = 0; i < 500 && (!at.is_attended || at.rig.gpu->attaches < 2); i++, usleep(20000))
        step(&at, false);
    assert_true(at.is_attended);
    assert_int_equal(at.rig.gpu->attaches, 2);
    helpers_assert(&at.rig, 2);
    assert_int_equal(kill(first, 0), -1);
    struct wsdbg_snapshot snapshot = inspect(&at);
    assert_int_equal(snapshot.look_count, 2);
    assert_true(snapshot.looks[0].held_nothing_back);
    wsdbg_snapshot_deinit(&snapshot);
    step(&at, true);
    assert_non_null(strstr(at.line, "attached to 2 processes for "));
    finish(&at);
}

/* One that only comes for a look, and to whom a thread waits for the GPU. */
static void an_inspector_is_made_ready_before_it_is_sent(void **state)
{
    (void)state;
    struct attended at = start();
    const uint32_t process_id = (uint32_t)at.rig.run.pid;
    const struct wsdbg_join join = {.root = "", .process_ids = &process_id, .process_count = 1, .never_stays = true};
    at.source->ops->join(at.source, &join);
    steps_for_ms(&at, 100);
    helpers_assert(&at.rig, 0);
    struct wsdbg_snapshot snapshot;
    char line[256];
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    rig_ok(at.source->ops->poll(at.source, now_ns, &snapshot));
    free(snapshot.threads);
    snapshot.threads = calloc(1, sizeof *snapshot.threads);
    snapshot.threads[0] = (struct wsdbg_host_thread){.process_id = process_id, .since_ns = now_ns};
    snapshot.thread_count = 1;
    at.source->ops->attend(at.source, &snapshot, now_ns, false, line, sizeof line);
    wsdbg_snapshot_deinit(&snapshot);
    helpers_assert(&at.rig, 2);
    assert_int_equal(at.rig.gpu->attaches, 0);
    rig_ok(at.source->ops->inspect(at.source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    assert_int_equal(snapshot.look_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    at.source->ops->await_leave(at.source, NULL);
    assert_int_equal(at.rig.gpu->attaches, 1);
    finish(&at);
}

int main(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, where they are seen */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_of_one_that_stays_holds_nothing_back),
        cmocka_unit_test(an_inspector_is_made_ready_before_it_is_sent),
        cmocka_unit_test(a_look_taken_ahead_is_compared_with_the_next),
        cmocka_unit_test(nobody_comes_in_to_look_ahead),
        cmocka_unit_test(what_will_stay_in_the_way_is_said_once_and_not_tried_again),
        cmocka_unit_test(work_of_the_program_is_waited_for_in_silence),
        cmocka_unit_test(it_comes_back_after_the_program_has_made_a_context),
        cmocka_unit_test(what_an_exception_stopped_is_looked_at_and_the_program_gets_its_error),
        cmocka_unit_test(nobody_is_left_of_wsdbgs_where_a_process_has_ended),
        cmocka_unit_test(what_an_exception_stopped_is_shown_after_its_process_has_ended),
        cmocka_unit_test(a_program_executed_in_the_same_process_gets_an_inspector_of_its_own),
    };
    return cmocka_run_group_tests_name("live_attend", tests, NULL, free_texts);
}
