/* relay_test.c - the program's terminal: what goes in, what comes out, and its size. */
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "program/terminal_relay.h"

/* A terminal like the user's, and the relay made from it. */
struct fixture {
    int user_master, user_slave;
    struct wsdbg_relay *relay;
    char output[65536];
};

static void collect(void *owner, const char *bytes, size_t count)
{
    struct fixture *fixture = owner;
    strncat(fixture->output, bytes, count);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    const struct winsize size = {.ws_row = 30, .ws_col = 90};
    assert_int_equal(openpty(&fixture->user_master, &fixture->user_slave, NULL, NULL, &size), 0);
    assert_null(wsdbg_relay_create(fixture->user_slave, collect, fixture, &fixture->relay));
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    wsdbg_relay_destroy(fixture->relay);
    close(fixture->user_master);
    close(fixture->user_slave);
    free(fixture);
    return 0;
}

/* Serves until the output holds `text`, five seconds at most. */
static void expect_output(struct fixture *fixture, const char *text)
{
    for (int tries = 0; tries < 500 && !strstr(fixture->output, text); tries++) {
        struct pollfd poller = {.fd = wsdbg_relay_descriptor(fixture->relay),
                                .events = wsdbg_relay_events(fixture->relay)};
        poll(&poller, 1, 10);
        wsdbg_relay_serve(fixture->relay);
    }
    assert_non_null(strstr(fixture->output, text));
}

static struct winsize size_of(int terminal)
{
    struct winsize size = {0};
    assert_int_equal(ioctl(terminal, TIOCGWINSZ, &size), 0);
    return size;
}

static void the_program_sees_a_terminal_of_the_same_size(void **state)
{
    struct fixture *fixture = *state;
    int program = wsdbg_relay_slave(fixture->relay);
    assert_true(isatty(program));
    assert_int_equal(size_of(program).ws_row, 30);
    assert_int_equal(size_of(program).ws_col, 90);
}

static void a_new_size_reaches_the_program(void **state)
{
    struct fixture *fixture = *state;
    const struct winsize size = {.ws_row = 50, .ws_col = 200};
    assert_int_equal(ioctl(fixture->user_slave, TIOCSWINSZ, &size), 0);
    wsdbg_relay_serve(fixture->relay);
    assert_int_equal(size_of(wsdbg_relay_slave(fixture->relay)).ws_row, 50);
    assert_int_equal(size_of(wsdbg_relay_slave(fixture->relay)).ws_col, 200);
}

static void output_comes_out(void **state)
{
    struct fixture *fixture = *state;
    dprintf(wsdbg_relay_slave(fixture->relay), "hello\n");
    expect_output(fixture, "hello\r\n");
}

static void input_goes_in(void **state)
{
    struct fixture *fixture = *state;
    char line[16] = "";
    wsdbg_relay_write(fixture->relay, "typed\n", 6);
    wsdbg_relay_serve(fixture->relay);
    assert_int_equal(read(wsdbg_relay_slave(fixture->relay), line, sizeof line - 1), 6);
    assert_string_equal(line, "typed\n");
}

static void input_that_nobody_reads_is_lost_and_nothing_waits(void **state)
{
    struct fixture *fixture = *state;
    char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1000; i++)
        wsdbg_relay_write(fixture->relay, line, sizeof line);
    wsdbg_relay_serve(fixture->relay);
}

static void when_nobody_has_the_terminal_open_there_is_nothing_to_poll(void **state)
{
    struct fixture *fixture = *state;
    dprintf(wsdbg_relay_slave(fixture->relay), "last words\n");
    wsdbg_relay_release(fixture->relay);
    wsdbg_relay_drain(fixture->relay);
    assert_non_null(strstr(fixture->output, "last words"));
    assert_int_equal(wsdbg_relay_descriptor(fixture->relay), -1);
    wsdbg_relay_write(fixture->relay, "x", 1);
    wsdbg_relay_serve(fixture->relay);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_program_sees_a_terminal_of_the_same_size),
        TEST(a_new_size_reaches_the_program),
        TEST(output_comes_out),
        TEST(input_goes_in),
        TEST(input_that_nobody_reads_is_lost_and_nothing_waits),
        TEST(when_nobody_has_the_terminal_open_there_is_nothing_to_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
