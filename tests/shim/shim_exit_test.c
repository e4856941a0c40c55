/* shim_exit_test.c - a program's exit waits while wsdbg says that a GPU core dump of it is being written, and a moment
 * for the observer's own calls, and no longer; on the fake libcuda. */
#include "harness.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define FOR_EVER UINT64_MAX

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A program that waits at its end, with this word in its segment. */
static uint64_t *start(struct run *run, uint64_t hold_until_ns)
{
    *run =
        (struct run){.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "plain", .environment = {"APP_WAITS=1"}};
    run_start(run);
    run_wait_line(run, "ready");
    struct wsdbg_segment *segment = (struct wsdbg_segment *)segment_of(run->pid);
    assert_non_null(segment);
    __atomic_store_n(&segment->hold_exit_until_ns, hold_until_ns, __ATOMIC_RELEASE);
    return &segment->hold_exit_until_ns;
}

static void end(struct run *run)
{
    run_finish(run);
    assert_exit(run, 0);
    assert_string_equal(run->errors, "");
    segment_remove(run->pid);
}

static bool has_ended(const struct run *run)
{
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == run->pid;
}

static void exit_waits_until_the_dump_is_there(void **state)
{
    (void)state;
    struct run run;
    uint64_t *hold = start(&run, FOR_EVER);
    close(run.in);
    run.in = -1;
    usleep(300000); /* it would have been gone long ago */
    assert_false(has_ended(&run));
    __atomic_store_n(hold, 0, __ATOMIC_RELEASE);
    end(&run);
}

/* A wsdbg that was killed renews the word no more. */
static void exit_waits_no_longer_than_was_said(void **state)
{
    (void)state;
    struct run run;
    start(&run, now_ns() + 100 * MS);
    end(&run);
}

/* Not for ever, whatever the word says. */
static void exit_comes_in_the_end(void **state)
{
    (void)state;
    struct run run;
    start(&run, FOR_EVER);
    end(&run);
}

/* The observer's thread copies for as long as the program lives, two milliseconds at a time. */
static bool ends_well_beside_copies(void)
{
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "history",
                      .environment = {"FAKE_CUDA_SLOW=cuMemcpyDtoHAsync_v2,2"}};
    struct wsdbg_segment *segment = run_and_look(&run);
    for (int i = 0; !has_ended(&run); i++) {
        if (i == 100)
            close(run.in);
        run.in = i < 100 ? run.in : -1;
        __atomic_store_n(&segment->history_request, segment->history_done + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &segment->history_request, FUTEX_WAKE, 1, NULL, NULL, 0);
        usleep(100);
    }
    run_finish(&run);
    segment_remove(run.pid);
    return run.status == 0;
}

/* The fake driver's own exit handler says when a call is under way, which it is in most runs where nobody waits.
 * On a busy machine the moment may be too short. */
static void the_drivers_exit_finds_no_call_of_the_observers(void **state)
{
    int well = 0;
    (void)state;
    for (int i = 0; i < 16; i++)
        well += ends_well_beside_copies();
    assert_true(well >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_waits_until_the_dump_is_there),
        cmocka_unit_test(exit_waits_no_longer_than_was_said),
        cmocka_unit_test(exit_comes_in_the_end),
        cmocka_unit_test(the_drivers_exit_finds_no_call_of_the_observers),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
