/* explore_test.c - wsdbg explore: a hang of few schedules is found, said, repeated from its number; and run to be seen.
 */
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "cmd/harness.h"
#include "store/json_schema.h"

static void a_hang_is_found_and_run(void **state)
{
    (void)state;
    struct outcome run = WSDBG("explore", "--schedules", "2000", "-o", "lost.db", SIM_APP, "lost");
    assert_int_equal(run.status, 124);
    assert_string_equal(run.out, "");
    assert_non_null(strstr(run.err, "wsdbg: hang in schedule "));
    assert_non_null(strstr(run.err, " of launch 0 (lost), the "));
    assert_non_null(strstr(run.err, "  1 warp waiting at PTX line "));
    assert_non_null(strstr(run.err, "it takes 1 context switch (of "));
    assert_non_null(strstr(run.err, "    warp 1 of CTA (0,0,0), after "));
    assert_non_null(strstr(run.err, "warp 0 of CTA (0,0,0) goes on\n"));
    /* What is proven needs no time-out. */
    assert_non_null(strstr(run.err, " after the simulator proved that nothing can move"));
    assert_non_null(strstr(run.err, "session in lost.db"));
    assert_non_null(strstr(run.err, "to repeat it: wsdbg explore --replay "));
    assert_non_null(strstr(run.err, " --launch 0 -- "));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "lost.db", "--csv", "SELECT device FROM session");
    assert_string_equal(query.out, "device\r\nsim\r\n");
    outcome_free(&query);
    /* The session keeps what the hang takes. */
    query =
        WSDBG("query", "lost.db", "--csv",
              "SELECT text FROM log WHERE origin = 'schedule' AND text LIKE '%It takes 1 switch: stop warp 1 at %'");
    assert_int_equal(count_lines(query.out), 2);
    assert_non_null(strstr(query.out, " of launch 0 (lost): It takes 1 switch: stop warp 1 at PTX line "));
    outcome_free(&query);
    struct outcome reports[] = {WSDBG("report", "lost.db"), WSDBG("report", "lost.db", "--json"),
                                WSDBG("report", "lost.db", "--html")};
    static const char *const names[] = {"\nSchedule: ", "\"schedules\": [", "<dt>Schedule</dt>"};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        assert_non_null(strstr(reports[i].out, names[i]));
        assert_non_null(strstr(reports[i].out, " of launch 0 (lost): It takes 1 switch: stop"));
        outcome_free(&reports[i]);
    }
}

static json_t *parse(const struct outcome *run)
{
    json_t *root = json_loads(run->out, 0, NULL);
    assert_non_null(root);
    return root;
}

static json_int_t only_seed(const json_t *root)
{
    const json_t *findings = json_object_get(json_array_get(json_object_get(root, "launches"), 0), "findings");
    assert_int_equal(json_array_size(findings), 1);
    return json_integer_value(json_object_get(json_array_get(findings, 0), "seed"));
}

static void its_number_repeats_it(void **state)
{
    char seed[32];
    (void)state;
    struct outcome first = WSDBG("explore", "--json", "--schedules", "2000", SIM_APP, "lost");
    assert_int_equal(first.status, 124);
    json_t *found = parse(&first);
    snprintf(seed, sizeof seed, "%lld", (long long)only_seed(found));
    struct outcome second = WSDBG("explore", "--json", "--replay", seed, SIM_APP, "lost");
    assert_int_equal(second.status, 124);
    json_t *again = parse(&second);
    assert_int_equal(only_seed(again), only_seed(found));
    assert_int_equal(json_integer_value(json_object_get(again, "status")), 124);
    json_t *schema = schema_load("explore.schema.json");
    schema_check(schema, found, "first");
    schema_check(schema, again, "second");
    json_decref(schema);
    json_decref(found);
    json_decref(again);
    outcome_free(&first);
    outcome_free(&second);
}

static void without_a_hang_the_program_ends_as_it_does(void **state)
{
    (void)state;
    struct outcome run = WSDBG("explore", "--schedules", "200", SIM_APP, "kept");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "0 on wsdbg simulated sm_90\n");
    assert_non_null(strstr(run.err, "wsdbg: no hang in 200 schedules of launch 0 (kept): "));
    assert_int_equal(count_lines(run.err), 1);
    outcome_free(&run);
    run = WSDBG("explore", "--schedules", "20", SIM_APP, "fault");
    assert_int_equal(run.status, 3);
    assert_non_null(strstr(run.err, "wsdbg: fault in the usual schedule of launch 0 (fault)"));
    outcome_free(&run);
}

static void what_the_host_helps_is_no_hang(void **state)
{
    (void)state;
    struct outcome run = WSDBG("explore", "--schedules", "20", SIM_APP, "helped");
    assert_int_equal(run.status, 125);
    assert_string_equal(run.out, "1 on wsdbg simulated sm_90\n");
    assert_non_null(strstr(run.err, "wsdbg: launch 0 (poll) is not explored: in the usual schedule it waits for memory "
                                    "that the host or another launch could still write\n"));
    assert_non_null(strstr(run.err, "wsdbg:   1 warp in a loop at PTX line "));
    assert_non_null(strstr(run.err, "wsdbg: no launch was explored, for the reasons above\n"));
    assert_int_equal(count_lines(run.err), 3);
    outcome_free(&run);
}

/* As usual the launch comes to its end; the host, which only waits for it, helps it in no schedule. */
static void what_only_the_host_could_help_is_said_as_that(void **state)
{
    (void)state;
    struct outcome run = WSDBG("explore", "--schedules", "2000", "-o", "word.db", SIM_APP, "lost_word");
    assert_int_equal(run.status, 124);
    assert_non_null(strstr(run.err, "wsdbg: possible hang in schedule "));
    assert_non_null(strstr(run.err, "some look at memory that the host or another launch could still write; not so in "
                                    "the usual schedule\n"));
    outcome_free(&run);
}

/* Of a hang, a fault, a launch without either and none at all. */
static void its_json_follows_the_schema(void **state)
{
    static const char *const rows[] = {"fault", "kept", "number"};
    (void)state;
    json_t *schema = schema_load("explore.schema.json");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome run = WSDBG("explore", "--json", "--schedules", "20", "--all", SIM_APP, rows[i]);
        const char *object = strchr(run.out, '{');
        json_t *root = object ? json_loads(object, 0, NULL) : NULL;
        assert_non_null(root);
        schema_check(schema, root, rows[i]);
        json_decref(root);
        outcome_free(&run);
    }
    struct outcome run = WSDBG("explore", "--json", "sh", "-c", "exit 5");
    json_t *root = parse(&run);
    schema_check(schema, root, "nothing");
    assert_int_equal(json_array_size(json_object_get(root, "launches")), 0);
    json_decref(root);
    outcome_free(&run);
    json_decref(schema);
}

static void a_signal_ends_it_with_what_was_found(void **state)
{
    (void)state;
    struct running running =
        WSDBG_START("explore", "--json", "--seconds", "60", "--all", "-o", "ended.db", SIM_APP, "lost");
    wait_for_file("ended.db");
    usleep(700000);
    kill(running.pid, SIGINT);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 124); /* some schedules hang */
    assert_non_null(strstr(run.err, "of launch 0 (lost)"));
    assert_non_null(strstr(run.err, "; ended by a signal"));
    json_t *root = parse(&run);
    const json_t *launch = json_array_get(json_object_get(root, "launches"), 0);
    assert_string_equal(json_string_value(json_object_get(launch, "ended_by")), "asked");
    assert_true(json_integer_value(json_object_get(launch, "schedules")) > 1);
    json_decref(root);
    outcome_free(&run);
}

/* Nothing of it stays there. */
static void a_terminal_sees_how_far_it_is(void **state)
{
    int terminal;
    char screen[1 << 16];
    size_t have = 0;
    ssize_t got;
    (void)state;
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        execl(WSDBG_BINARY, "wsdbg", "explore", "--seconds", "1", SIM_APP, "kept", (char *)NULL);
        _exit(99);
    }
    while (have + 1 < sizeof screen && (got = read(terminal, screen + have, sizeof screen - have - 1)) > 0)
        have += (size_t)got;
    screen[have] = '\0';
    waitpid(child, NULL, 0);
    close(terminal);
    assert_non_null(strstr(screen, "\r\033[Klaunch 0 (kept): "));
    assert_non_null(strstr(screen, "/s, 0 found, "));
    assert_non_null(strstr(screen, "\r\033[Kwsdbg: no hang in "));
}

/* It is no success: a status of 0 would say that something was tried. */
static void what_explores_nothing_fails(void **state)
{
    (void)state;
    struct outcome run = WSDBG("explore", "--json", "true");
    assert_int_equal(run.status, 125);
    assert_string_equal(run.err, "wsdbg: no launch was explored: the program made none that the simulator can run (it "
                                 "needs PTX)\n");
    json_t *root = parse(&run);
    assert_int_equal(json_integer_value(json_object_get(root, "status")), 125);
    assert_true(json_is_false(json_object_get(root, "hang")));
    json_decref(root);
    outcome_free(&run);
    run = WSDBG("explore", "--launch", "7", "--schedules", "2", SIM_APP, "kept");
    assert_int_equal(run.status, 125);
    assert_string_equal(run.err, "wsdbg: no launch was explored: the program made none with number 7\n");
    outcome_free(&run);
    run = WSDBG("explore", "sh", "-c", "exit 5");
    assert_int_equal(run.status, 5);
    outcome_free(&run);
}

static void what_cannot_be_followed_is_refused(void **state)
{
    static const char *const rows[][3] = {
        {"--schedules", "0", "--schedules: '0' is not a whole number from 1 to "},
        {"--jobs", "257", "--jobs: '257' is not a whole number from 1 to 256"},
        {"--schedule", "fair", "--schedule: 'fair' is not one of mix|random|priority"},
        {"--seconds", "-1", "--seconds: '-1' is not a number of seconds"},
        {"--replay", "first", "--replay: 'first' is not a whole number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome run = WSDBG("explore", rows[i][0], rows[i][1], SIM_APP, "kept");
        assert_int_equal(run.status, 125);
        assert_non_null(strstr(run.err, rows[i][2]));
        assert_int_equal(count_lines(run.err), 1);
        outcome_free(&run);
    }
    struct outcome run = WSDBG("explore", "--replay", "3", "--all", SIM_APP, "kept");
    assert_int_equal(run.status, 125);
    assert_non_null(strstr(run.err, "--replay: one schedule; not with --all"));
    outcome_free(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_hang_is_found_and_run),
        TEST(its_number_repeats_it),
        TEST(without_a_hang_the_program_ends_as_it_does),
        TEST(what_the_host_helps_is_no_hang),
        TEST(what_only_the_host_could_help_is_said_as_that),
        TEST(its_json_follows_the_schema),
        TEST(a_signal_ends_it_with_what_was_found),
        TEST(a_terminal_sees_how_far_it_is),
        TEST(what_explores_nothing_fails),
        TEST(what_cannot_be_followed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
