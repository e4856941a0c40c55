/* process_end_test.c - how a process ended, while its parent has not asked yet, and afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/process_end.h"

/* A child that ends with the status, or by the signal; its parent is told later. */
static pid_t ended_child(int status, int signal_number)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_NAME, "a) Z b(");
        if (signal_number) {
            signal(signal_number, SIG_DFL);
            kill(getpid(), signal_number);
        }
        _exit(status);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    return child;
}

static void check(int status, int signal_number, enum wsdbg_end_kind kind, int value)
{
    const pid_t child = ended_child(status, signal_number);
    const struct wsdbg_process_end end = wsdbg_process_end_read((uint32_t)child);
    assert_int_equal(end.kind, kind);
    assert_int_equal(end.value, value);
    waitpid(child, NULL, 0);
    assert_int_equal(wsdbg_process_end_read((uint32_t)child).kind, WSDBG_END_UNKNOWN);
}

static void its_status_or_its_signal_is_known_until_the_parent_asks(void **state)
{
    (void)state;
    check(0, 0, WSDBG_END_EXITED, 0);
    check(7, 0, WSDBG_END_EXITED, 7);
    check(0, SIGKILL, WSDBG_END_SIGNAL, SIGKILL);
    check(0, SIGTERM, WSDBG_END_SIGNAL, SIGTERM);
}

static void a_process_that_lives_has_no_end(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_process_end_read((uint32_t)getpid()).kind, WSDBG_END_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_status_or_its_signal_is_known_until_the_parent_asks),
        cmocka_unit_test(a_process_that_lives_has_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
