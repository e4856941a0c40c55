/* sessions_test.c - running sessions: published, found, and forgotten when their run is gone. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "cmd/sessions.h"
#include "segment_place.h"

/* Other sessions may run on this machine: the test looks for its own by name. */
static char name[64], path[128];

static int setup(void **state)
{
    snprintf(name, sizeof name, "test%d", (int)getpid());
    snprintf(path, sizeof path, "/dev/shm/wsdbg.%s.session", name);
    return scratch_setup(state);
}

static int teardown(void **state)
{
    unlink(path);
    return scratch_teardown(state);
}

static struct wsdbg_publication *publish(void)
{
    struct wsdbg_publication *publication = NULL;
    struct wsdbg_running running = {.name = name,
                                    .database = (char[]){"/somewhere/x.db"},
                                    .command = (char[]){"./app 'a b'"},
                                    .wsdbg_pid = 12345678,
                                    .program_pid = 12345679,
                                    .started_ns = 42};
    assert_null(wsdbg_session_publish(&running, &publication));
    return publication;
}

/* How many of the listed sessions are the test's; the last one's facts are checked. */
static size_t count_own(void)
{
    struct wsdbg_running *sessions;
    size_t count, own = 0;
    assert_null(wsdbg_sessions_list(&sessions, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sessions[i].name, name) != 0)
            continue;
        own++;
        assert_string_equal(sessions[i].database, "/somewhere/x.db");
        assert_string_equal(sessions[i].command, "./app 'a b'");
        assert_int_equal(sessions[i].wsdbg_pid, 12345678);
        assert_int_equal(sessions[i].program_pid, 12345679);
        assert_int_equal(sessions[i].started_ns, 42);
    }
    wsdbg_sessions_free(sessions, count);
    return own;
}

static void a_published_session_is_listed_until_it_is_withdrawn(void **state)
{
    struct stat status;
    (void)state;
    struct wsdbg_publication *publication = publish();
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(count_own(), 1);
    wsdbg_session_withdraw(publication);
    assert_int_equal(count_own(), 0);
    assert_int_equal(access(path, F_OK), -1);
}

/* A child publishes and is killed. */
static void leave_a_stale_file(void)
{
    pid_t child = fork();
    if (child == 0) {
        publish();
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(access(path, F_OK), 0);
}

static void what_a_killed_run_left_is_not_listed_and_the_next_run_removes_it(void **state)
{
    char other[64], segment[SEGMENT_PATH_BYTES];
    (void)state;
    leave_a_stale_file();
    close(segment_place_create(name, 1));
    segment_place(name, 1, segment);
    assert_int_equal(access(segment, F_OK), 0);
    assert_int_equal(count_own(), 0);
    snprintf(other, sizeof other, "other%d", (int)getpid());
    struct wsdbg_publication *publication = NULL;
    struct wsdbg_running running = {.name = other, .database = (char[]){"/x"}, .command = (char[]){"x"}};
    assert_null(wsdbg_session_publish(&running, &publication));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(segment, F_OK), -1);
    wsdbg_session_withdraw(publication);
}

static void the_session_of_another_user_is_not_listed(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct wsdbg_publication *publication = publish();
    assert_int_equal(count_own(), 1);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(count_own(), 0);
    wsdbg_session_withdraw(publication);
}

static void a_file_that_is_no_session_is_left_out(void **state)
{
    static const char *const contents[] = {"", "{", "[]", "{\"format\": 2}", "{\"format\": 1, \"name\": 7}"};
    (void)state;
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        struct wsdbg_publication *publication = publish();
        write_file(path, contents[i], strlen(contents[i]));
        assert_int_equal(count_own(), 0);
        wsdbg_session_withdraw(publication);
    }
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(count_own(), 0);
}

static void a_session_is_meant_by_name_process_or_database(void **state)
{
    (void)state;
    write_file("x.db", "", 0);
    char *database = realpath("x.db", NULL);
    struct wsdbg_running session = {
        .name = (char[]){"77-abc"}, .database = database, .wsdbg_pid = 77, .program_pid = 78};
    assert_true(wsdbg_session_matches(&session, "77-abc"));
    assert_true(wsdbg_session_matches(&session, "77-a"));
    assert_true(wsdbg_session_matches(&session, "77"));
    assert_true(wsdbg_session_matches(&session, "78"));
    assert_true(wsdbg_session_matches(&session, "x.db"));
    assert_true(wsdbg_session_matches(&session, "./x.db"));
    assert_false(wsdbg_session_matches(&session, "7"));
    assert_false(wsdbg_session_matches(&session, "79"));
    assert_false(wsdbg_session_matches(&session, "77-b"));
    assert_false(wsdbg_session_matches(&session, "y.db"));
    assert_false(wsdbg_session_matches(&session, ""));
    free(database);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_published_session_is_listed_until_it_is_withdrawn),
        TEST(what_a_killed_run_left_is_not_listed_and_the_next_run_removes_it),
        TEST(the_session_of_another_user_is_not_listed),
        TEST(a_file_that_is_no_session_is_left_out),
        TEST(a_session_is_meant_by_name_process_or_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
