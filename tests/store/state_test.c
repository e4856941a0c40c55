/* state_test.c - a session database while its run goes on: what a reader beside it sees, and what it leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "store/example.h"

static char *folder;
static const char *path;
static struct example hang;
static struct wsdbg_store *run;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    path = example_path(folder, "live.db");
    example_hang(&hang, 2, 4);
    example_ok(wsdbg_store_create(path, &hang.info, &run));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsdbg_store_close(run);
    example_free(&hang);
    example_clean(folder);
    return 0;
}

static struct wsdbg_store_state state_now(void)
{
    struct wsdbg_store_state now;
    struct wsdbg_store *reader;
    example_ok(wsdbg_store_open(path, &reader));
    example_ok(wsdbg_store_get_state(reader, &now));
    wsdbg_store_close(reader);
    return now;
}

static void a_new_session_has_no_picture(void **state)
{
    (void)state;
    struct wsdbg_store_state now = state_now();
    assert_int_equal(now.shown, 0);
    assert_false(now.diagnosed || now.moved_since || now.ended);
    assert_int_equal(now.log_lines, 0);
}

static void a_verdict_stands_until_something_moves(void **state)
{
    (void)state;
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    struct wsdbg_store_state before = state_now();
    assert_false(before.diagnosed);
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    example_ok(wsdbg_store_diagnosis(run, &hang.snapshot, &hang.diagnosis));
    struct wsdbg_store_state judged = state_now();
    assert_true(judged.diagnosed);
    assert_false(judged.moved_since);
    assert_true(judged.shown > before.shown);
    hang.snapshot.time_ns += 1000;
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    assert_int_equal(state_now().shown, judged.shown);
    assert_false(state_now().moved_since);
    hang.snapshot.progress_ns += 1000;
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    assert_int_equal(state_now().shown, judged.shown);
    assert_true(state_now().moved_since);
}

/* A picture that rests on a look is there beside the verdict of an earlier one, for who looks on. */
static void the_newest_picture_says_whether_it_rests_on_a_look(void **state)
{
    (void)state;
    struct wsdbg_look_row look = {.time_ns = hang.snapshot.time_ns, .attach_ns = 60000000};
    struct wsdbg_loaded loaded;
    struct wsdbg_store *reader;
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    example_ok(wsdbg_store_diagnosis(run, &hang.snapshot, &hang.diagnosis));
    assert_int_equal(state_now().newest, state_now().shown);
    assert_false(state_now().newest_looked);
    struct wsdbg_snapshot looked = hang.snapshot;
    looked.time_ns += 1000;
    looked.looks = &look;
    looked.look_count = 1;
    example_ok(wsdbg_store_snapshot(run, &looked));
    assert_true(state_now().newest > state_now().shown);
    assert_true(state_now().newest_looked);
    example_ok(wsdbg_store_open(path, &reader));
    example_ok(wsdbg_store_load_newest(reader, &loaded));
    assert_int_equal(loaded.snapshot.time_ns, looked.time_ns);
    assert_int_equal(loaded.snapshot.look_count, 1);
    assert_false(loaded.diagnosed);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(reader);
}

static void the_end_and_the_log_are_seen(void **state)
{
    (void)state;
    example_ok(wsdbg_store_log(run, 1, WSDBG_LOG_WSDBG, "one"));
    example_ok(wsdbg_store_log(run, 2, WSDBG_LOG_WSDBG, "two"));
    assert_int_equal(state_now().log_lines, 2);
    assert_false(state_now().ended);
    example_ok(wsdbg_store_end(run, &hang.end));
    assert_true(state_now().ended);
}

/* The name of a file that SQLite keeps beside a database. */
static bool is_beside(const char *suffix)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

static void a_reader_that_came_and_went_leaves_one_file_at_the_end(void **state)
{
    (void)state;
    example_ok(wsdbg_store_snapshot(run, &hang.snapshot));
    state_now();
    wsdbg_store_close(run);
    run = NULL;
    assert_false(is_beside("-wal"));
    assert_false(is_beside("-shm"));
    assert_int_equal(state_now().shown, 1);
    assert_false(is_beside("-wal"));
    assert_false(is_beside("-shm"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_new_session_has_no_picture),
        TEST(a_verdict_stands_until_something_moves),
        TEST(the_newest_picture_says_whether_it_rests_on_a_look),
        TEST(the_end_and_the_log_are_seen),
        TEST(a_reader_that_came_and_went_leaves_one_file_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
