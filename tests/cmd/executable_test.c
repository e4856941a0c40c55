/* executable_test.c - `wsdbg run` of programs into which the loader does not put the observer: refused in words, before
 * they begin. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"

static void copy_program(const char *path, const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "cp /bin/%s %s", name, path);
    assert_int_equal(system(command), 0);
}

/* Its loader is another one; the name of glibc's is longer. */
static void make_musl_program(const char *path)
{
    static const char loader[] = "/lib64/ld-linux-x86-64.so.2", other[sizeof loader] = "/lib/ld-musl-x86_64.so.1";
    copy_program(path, "true");
    const int file = open(path, O_RDWR | O_CLOEXEC);
    char head[4096];
    assert_int_equal(pread(file, head, sizeof head, 0), sizeof head);
    const char *at = memmem(head, sizeof head, loader, sizeof loader);
    if (!at)
        skip(); /* not on x86-64, or `true` is no program of glibc's */
    assert_int_equal(pwrite(file, other, sizeof other, at - head), sizeof other);
    close(file);
}

static void assert_refused(const char *program, const char *words)
{
    struct outcome run = WSDBG("run", "-o", "x.db", program);
    assert_int_equal(run.status, 125);
    if (!strstr(run.err, words))
        fail_msg("no \"%s\" in: %s", words, run.err);
    assert_string_equal(run.out, "");
    assert_int_equal(count_files("x.db"), 0);
    outcome_free(&run);
}

static void assert_runs(const char *program)
{
    struct outcome run = WSDBG("run", "-o", "x.db", program);
    if (run.status != 0)
        fail_msg("%s: %d, %s", program, run.status, run.err);
    outcome_free(&run);
    assert_int_equal(unlink("x.db"), 0);
}

static void a_program_of_another_c_library(void **state)
{
    (void)state;
    make_musl_program("musl");
    assert_refused("./musl", "./musl is made for musl (its loader is /lib/ld-musl-x86_64.so.1)");
}

static void a_program_with_another_users_rights(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    copy_program("owned", "true");
    assert_int_equal(chown("owned", 65534, 65534), 0);
    assert_int_equal(chmod("owned", 04755), 0);
    assert_refused("./owned", "./owned is set-user-ID");
    assert_int_equal(chmod("owned", 02755), 0);
    assert_refused("./owned", "./owned is set-group-ID");
    assert_int_equal(chmod("owned", 0755), 0);
    assert_runs("./owned");
}

/* Nothing changes for its caller. */
static void ones_own_set_user_id_program_runs(void **state)
{
    (void)state;
    copy_program("own", "true");
    assert_int_equal(chmod("own", 06755), 0);
    assert_runs("./own");
}

static void a_name_is_looked_for_in_the_path(void **state)
{
    (void)state;
    char path[4096];
    assert_int_equal(mkdir("bin", 0755), 0);
    make_musl_program("bin/sought");
    snprintf(path, sizeof path, "nothing:bin:%s", getenv("PATH"));
    char *const before = strdup(getenv("PATH"));
    setenv("PATH", path, 1);
    assert_refused("sought", "bin/sought is made for musl");
    setenv("PATH", before, 1);
    free(before);
}

/* The kernel changes nothing for a script, nor for a program without new privileges, in many containers.  The last
 * test: the process cannot get them back. */
static void set_user_id_that_the_kernel_ignores(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    write_file("script", "#!/bin/sh\n", 10);
    assert_int_equal(chown("script", 65534, 65534), 0);
    assert_int_equal(chmod("script", 06755), 0);
    assert_runs("./script");
    copy_program("owned", "true");
    assert_int_equal(chown("owned", 65534, 65534), 0);
    assert_int_equal(chmod("owned", 06755), 0);
    assert_refused("./owned", "./owned is set-user-ID");
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_runs("./owned");
}

static void an_empty_name_is_said_to_be_empty(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-o", "x.db", "--", "");
    assert_int_equal(run.status, 127);
    assert_non_null(strstr(run.err, "the program's name is empty: No such file or directory"));
    outcome_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_program_of_another_c_library, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_program_with_another_users_rights, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ones_own_set_user_id_program_runs, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_name_is_looked_for_in_the_path, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(an_empty_name_is_said_to_be_empty, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(set_user_id_that_the_kernel_ignores, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("executable", tests, NULL, NULL);
}
