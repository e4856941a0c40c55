/* attach_watchdog_test.c - a program is never left stopped, on the fake driver: whoever dies, at whichever step and in
 * whichever order, somebody lets the GPU go on, once, and nobody stays behind. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

static void finish(struct rig *rig)
{
    rig_finish(rig);
    helpers_assert(rig, 0);
}

/* ---- one dies ---- */

static void steps_to(struct rig *rig, int last)
{
    for (int step = 0; step <= last; step++)
        rig_ok(rig_step(rig, step));
}

static void a_whole_look_works(struct rig *rig)
{
    steps_to(rig, RIG_DETACH);
    rig_assert_left_alone(rig);
}

static bool is_stopped_after(int last)
{
    return last >= RIG_SUSPEND && last <= RIG_READ;
}

static void the_inspector_may_die_at_every_step(void **state)
{
    (void)state;
    for (int last = RIG_ATTACH; last < RIG_STEPS; last++) {
        struct rig rig = rig_start(NULL);
        steps_to(&rig, last);
        assert_int_equal(rig.gpu->suspended, is_stopped_after(last));
        kill(helpers_inspector(&rig), SIGKILL);
        helpers_assert(&rig, 0);
        rig_assert_left_alone(&rig);
        assert_int_equal(rig.gpu->attaches, last < RIG_DETACH ? 2 : 1);
        assert_int_equal(rig.gpu->cleanups, 1);
        if (last < RIG_DETACH)
            rig_says(rig_step(&rig, last + 1), "broke off");
        wsdbg_live_machine_await_rescue(rig.machine, LIMIT_NS);
        a_whole_look_works(&rig);
        finish(&rig);
    }
}

/* ---- wsdbg dies ---- */

/* Another wsdbg, which has taken the steps and then waits to be killed. */
static pid_t start_wsdbg(struct rig *rig, int last)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int step = 0; step <= last; step++)
            wsdbg_error_destroy(rig_step(rig, step));
        if (write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void wsdbg_may_die_at_every_step(void **state)
{
    (void)state;
    for (int last = RIG_ATTACH; last < RIG_STEPS; last++) {
        struct rig rig = rig_start(NULL);
        end(start_wsdbg(&rig, last));
        rig_assert_left_alone(&rig);
        helpers_assert(&rig, 0);
        assert_int_equal(rig.gpu->attaches, 1); /* by its inspector: nobody had to come to the rescue */
        assert_int_equal(rig.gpu->cleanups, 1);
        finish(&rig);
    }
}

/* An inspector that is to die second must not have the time to clean up, nor seem to have been stopped for long. */
static void end_both(const struct rig *rig, pid_t wsdbg, bool wsdbg_first)
{
    const pid_t inspector = helpers_inspector(rig);
    if (wsdbg_first) {
        kill(inspector, SIGSTOP);
        wsdbg_attach_hold(&rig->attach, 10000 * MS);
        end(wsdbg);
        kill(inspector, SIGKILL);
    } else {
        kill(inspector, SIGKILL);
        end(wsdbg);
    }
}

static void wsdbg_and_its_inspector_may_die_together(void **state)
{
    (void)state;
    for (int last = RIG_ATTACH; last < RIG_STEPS; last++) {
        for (int wsdbg_first = 0; wsdbg_first < 2; wsdbg_first++) {
            struct rig rig = rig_start(NULL);
            const pid_t wsdbg = start_wsdbg(&rig, last);
            assert_int_equal(rig.gpu->suspended, is_stopped_after(last));
            end_both(&rig, wsdbg, wsdbg_first);
            rig_assert_left_alone(&rig);
            helpers_assert(&rig, 0);
            assert_int_equal(rig.gpu->attaches, last < RIG_DETACH ? 2 : 1);
            assert_int_equal(rig.gpu->suspensions, rig.gpu->attaches - (last < RIG_SUSPEND));
            finish(&rig);
        }
    }
}

/* ---- one stands still ---- */

static void an_inspector_that_was_stopped_goes_on(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    steps_to(&rig, RIG_ATTACH);
    kill(helpers_inspector(&rig), SIGSTOP);
    for (int step = RIG_ATTACH + 1; step <= RIG_DETACH; step++)
        rig_ok(rig_step(&rig, step));
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 1);
    finish(&rig);
}

static void an_inspector_that_stands_still_is_ended(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    steps_to(&rig, RIG_WARPS);
    const pthread_t stops = helpers_keep_stopped(helpers_inspector(&rig));
    helpers_assert(&rig, 0);
    pthread_join(stops, NULL);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 2);
    finish(&rig);
}

static void one_that_was_stopped_leaves_when_wsdbg_is_no_more(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    const pid_t wsdbg = start_wsdbg(&rig, RIG_WARPS);
    kill(helpers_inspector(&rig), SIGSTOP);
    end(wsdbg);
    helpers_assert(&rig, 0);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 1);
    finish(&rig);
}

/* ---- the attach watchdog's own life ---- */

static void in_good_order_the_attach_watchdog_only_ends(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    a_whole_look_works(&rig);
    helpers_assert(&rig, 2);
    rig.machine->ops->close(rig.machine);
    helpers_assert(&rig, 0);
    assert_int_equal(rig.gpu->attaches, 1);
    rig_ok(wsdbg_live_machine_open(&rig.attach, &rig.machine));
    finish(&rig);
}

static void when_the_program_has_ended_so_has_the_attach_watchdog(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    siginfo_t ended;
    steps_to(&rig, RIG_WARPS);
    helpers_assert(&rig, 2);
    kill(helpers_inspector(&rig), SIGSTOP);
    close(rig.run.in);
    rig.run.in = -1;
    assert_int_equal(waitid(P_PID, (id_t)rig.run.pid, &ended, WEXITED | WNOWAIT), 0);
    helpers_assert(&rig, 1);
    assert_int_equal(waitpid(helpers_inspector(&rig), NULL, WNOHANG), 0);
    kill(helpers_inspector(&rig), SIGCONT);
    assert_int_equal(rig.gpu->attaches, 1);
    finish(&rig);
}

static int count_lines(const char *command)
{
    char line[4096];
    int count = 0;
    FILE *lines = popen(command, "re");
    assert_non_null(lines);
    while (fgets(line, sizeof line, lines))
        count++;
    pclose(lines);
    return count;
}

static void an_attach_watchdog_that_waits_holds_two_descriptors_and_no_driver(void **state)
{
    (void)state;
    char command[128];
    struct rig rig = rig_start(NULL);
    steps_to(&rig, RIG_ATTACH);
    const pid_t attach_watchdog = helpers_attach_watchdog(&rig);
    snprintf(command, sizeof command, "ls /proc/%d/fd", (int)attach_watchdog);
    for (int i = 0; i < 1000 && count_lines(command) != 3 + 2; i++)
        usleep(10000); /* it may just have been forked */
    assert_int_equal(count_lines(command), 3 + 2);
    snprintf(command, sizeof command, "grep libcuda /proc/%d/maps", (int)attach_watchdog);
    assert_int_equal(count_lines(command), 0);
    snprintf(command, sizeof command, "grep libcuda /proc/%d/maps", (int)helpers_inspector(&rig));
    assert_true(count_lines(command) > 0);
    rig_ok(rig_step(&rig, RIG_DETACH));
    finish(&rig);
}

static void assert_name(pid_t pid, const char *expected)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(name, sizeof name, file));
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    assert_string_equal(name, expected);
}

/* `pkill wsdbg` must not kill an inspector: that may harm the program. */
static void pkill_wsdbg_finds_neither_of_them(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    steps_to(&rig, RIG_ATTACH);
    assert_name(helpers_inspector(&rig), "gpu-inspector");
    assert_name(helpers_attach_watchdog(&rig), "attach-watchdog");
    rig_ok(rig_step(&rig, RIG_DETACH));
    finish(&rig);
}

static void what_the_terminal_sends_does_not_end_it(void **state)
{
    (void)state;
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    struct rig rig = rig_start(NULL);
    steps_to(&rig, RIG_SUSPEND);
    const pid_t attach_watchdog = helpers_attach_watchdog(&rig);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        kill(attach_watchdog, numbers[i]);
    kill(helpers_inspector(&rig), SIGKILL);
    rig_assert_left_alone(&rig);
    assert_int_equal(rig.gpu->attaches, 2);
    finish(&rig);
}

/* ---- where the rescue fails as well ---- */

static void the_next_look_frees_what_an_attach_watchdog_that_crashed_did_not(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    setenv("FAKE_CUDA_CRASH", "resumeDevice", 1);
    steps_to(&rig, RIG_READ);
    rig_says(rig_step(&rig, RIG_RESUME), "broke off");
    unsetenv("FAKE_CUDA_CRASH");
    helpers_assert(&rig, 0);
    assert_int_equal(rig.gpu->suspended, 1);
    assert_int_equal(rig.attach.row->stopped_devices, 1);
    a_whole_look_works(&rig);
    finish(&rig);
}

static void nobody_attaches_beside_an_attach_watchdog_and_one_that_hangs_ends(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    setenv("FAKE_CUDA_HANG", "resumeDevice", 1);
    steps_to(&rig, RIG_READ);
    rig.limit_ns = 300 * MS;
    rig_says(rig_step(&rig, RIG_RESUME), "did not answer in time");
    unsetenv("FAKE_CUDA_HANG");
    rig_says(rig_step(&rig, RIG_ATTACH), "not freed from its inspector yet");
    assert_true(rig.gpu->attaches <= 2);
    helpers_assert(&rig, 0);
    rig.limit_ns = LIMIT_NS;
    a_whole_look_works(&rig);
    finish(&rig);
}

static void what_is_named_as_stopped_is_resumed_though_its_code_is_not_seen(void **state)
{
    (void)state;
    setenv("FAKE_DEBUG_ORDER", "10", 1); /* no image on any device */
    struct rig rig = rig_start(NULL);
    rig.attach.row->stopped_devices = 1;
    rig.gpu->suspended = 1;
    steps_to(&rig, RIG_ATTACH);
    kill(helpers_inspector(&rig), SIGKILL);
    rig_assert_left_alone(&rig);
    unsetenv("FAKE_DEBUG_ORDER");
    finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inspector_may_die_at_every_step),
        cmocka_unit_test(wsdbg_may_die_at_every_step),
        cmocka_unit_test(wsdbg_and_its_inspector_may_die_together),
        cmocka_unit_test(an_inspector_that_was_stopped_goes_on),
        cmocka_unit_test(an_inspector_that_stands_still_is_ended),
        cmocka_unit_test(one_that_was_stopped_leaves_when_wsdbg_is_no_more),
        cmocka_unit_test(in_good_order_the_attach_watchdog_only_ends),
        cmocka_unit_test(when_the_program_has_ended_so_has_the_attach_watchdog),
        cmocka_unit_test(an_attach_watchdog_that_waits_holds_two_descriptors_and_no_driver),
        cmocka_unit_test(pkill_wsdbg_finds_neither_of_them),
        cmocka_unit_test(what_the_terminal_sends_does_not_end_it),
        cmocka_unit_test(the_next_look_frees_what_an_attach_watchdog_that_crashed_did_not),
        cmocka_unit_test(nobody_attaches_beside_an_attach_watchdog_and_one_that_hangs_ends),
        cmocka_unit_test(what_is_named_as_stopped_is_resumed_though_its_code_is_not_seen),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, where they are seen */
    return cmocka_run_group_tests_name("attach watchdog", tests, NULL, free_texts);
}
