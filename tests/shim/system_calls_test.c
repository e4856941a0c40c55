/* system_calls_test.c - permission to read the program's memory: the observer sets it only if the program has not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader.h"
#include "system_calls.h"

static int calls;
static unsigned long chosen; /* as the kernel keeps it */

static int kernel_prctl(int option, unsigned long process, unsigned long a, unsigned long b, unsigned long c)
{
    (void)a, (void)b, (void)c;
    calls++;
    assert_int_equal(option, PR_SET_PTRACER);
    chosen = process;
    return 0;
}

static long kernel_syscall(long number, long option, long process, long a, long b, long c, long d)
{
    (void)d;
    assert_int_equal(number, SYS_prctl);
    return kernel_prctl((int)option, (unsigned long)process, (unsigned long)a, (unsigned long)b, (unsigned long)c);
}

/* Replaces the function of loader.c. */
void *loader_libc_function(const char *name, uint32_t version)
{
    (void)version;
    return strcmp(name, "prctl") == 0 ? (void *)(uintptr_t)kernel_prctl : (void *)(uintptr_t)kernel_syscall;
}

static void wsdbg_is_let_in_and_out_again(void **state)
{
    (void)state;
    system_calls_let_read(0);
    assert_int_equal(calls, 0); /* nobody was in */
    system_calls_let_read(7);
    assert_int_equal(chosen, 7);
    system_calls_let_read(7); /* the observer's threads ask again and again */
    assert_int_equal(calls, 1);
    system_calls_let_read(8);
    assert_int_equal(chosen, 8);
    system_calls_let_read(0);
    assert_int_equal(chosen, 0);
    system_calls_let_read(0);
    assert_int_equal(calls, 3);
}

static void the_programs_own_choice_stays(void **state)
{
    (void)state;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    system_calls_let_read(7);
    assert_int_equal(chosen, PR_SET_PTRACER_ANY);
    prctl(PR_SET_PTRACER, 0, 0, 0, 0); /* taken back */
    system_calls_let_read(7);
    assert_int_equal(chosen, 7);
}

static void a_choice_that_comes_later_stays_too(void **state)
{
    (void)state;
    system_calls_let_read(7);
    syscall(SYS_prctl, PR_SET_PTRACER, 5, 0, 0, 0);
    system_calls_let_read(0);
    assert_int_equal(chosen, 5);
    system_calls_let_read(8);
    assert_int_equal(chosen, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wsdbg_is_let_in_and_out_again),
        cmocka_unit_test(the_programs_own_choice_stays),
        cmocka_unit_test(a_choice_that_comes_later_stays_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
