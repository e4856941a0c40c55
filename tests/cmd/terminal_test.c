/* terminal_test.c - `wsdbg run` in a terminal of its own: keys, job control, terminal modes. */
#include <poll.h>
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
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"

/* A terminal, a shell-like process in it, and what was written to the screen. */
struct terminal {
    int master;
    pid_t shell;
    char screen[8192];
};

/* What an interactive shell does: the job in the foreground; when it stops, say so and bring it back. */
static void act_as_shell(const char *script)
{
    int status;
    pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(STDIN_FILENO, getpid());
        signal(SIGTTOU, SIG_DFL);
        execl(WSDBG_BINARY, "wsdbg", "run", "-q", "--device", "gpu", "sh", "-c", script, (char *)NULL);
        _exit(99);
    }
    setpgid(job, job);
    signal(SIGTTOU, SIG_IGN);
    while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
        tcsetpgrp(STDIN_FILENO, getpgrp());
        dprintf(STDOUT_FILENO, "<stopped>");
        tcsetpgrp(STDIN_FILENO, job);
        kill(-job, SIGCONT);
    }
    dprintf(STDOUT_FILENO, "<exit %d>", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    /* The terminal's modes can be read as long as somebody holds it open. */
    pause();
    _exit(0);
}

static void open_terminal(struct terminal *terminal, const char *script)
{
    memset(terminal, 0, sizeof *terminal);
    terminal->shell = forkpty(&terminal->master, NULL, NULL, NULL);
    assert_true(terminal->shell >= 0);
    if (terminal->shell == 0)
        act_as_shell(script);
}

/* Reads the screen until it shows `text`, five seconds at most. */
static void expect(struct terminal *terminal, const char *text)
{
    for (int tries = 0; tries < 500 && !strstr(terminal->screen, text); tries++) {
        size_t have = strlen(terminal->screen);
        if (poll(&(struct pollfd){.fd = terminal->master, .events = POLLIN}, 1, 10) > 0 &&
            read(terminal->master, terminal->screen + have, sizeof terminal->screen - have - 1) < 0)
            break;
    }
    if (!strstr(terminal->screen, text))
        fail_msg("the terminal does not show '%s' but: %s", text, terminal->screen);
}

static void press(struct terminal *terminal, char key)
{
    assert_int_equal(write(terminal->master, &key, 1), 1);
}

static void close_terminal(struct terminal *terminal)
{
    kill(terminal->shell, SIGKILL);
    waitpid(terminal->shell, NULL, 0);
    close(terminal->master);
}

static size_t count(const char *text, const char *word)
{
    size_t found = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        found++;
    return found;
}

static void ctrl_c_reaches_the_program_once(void **state)
{
    struct terminal terminal;
    (void)state;
    open_terminal(&terminal, "trap 'echo caught' INT; echo ready; sleep 0.3; sleep 0.3; exit 3");
    expect(&terminal, "ready");
    press(&terminal, 3);
    expect(&terminal, "<exit 3>");
    assert_int_equal(count(terminal.screen, "caught"), 1);
    close_terminal(&terminal);
}

static void ctrl_c_ends_a_program_that_does_not_catch_it(void **state)
{
    struct terminal terminal;
    (void)state;
    open_terminal(&terminal, "echo ready; exec sleep 20");
    expect(&terminal, "ready");
    press(&terminal, 3);
    expect(&terminal, "<exit -2>");
    close_terminal(&terminal);
}

/* The kernel sends SIGQUIT to both; the program was started to ignore it. */
static void ctrl_backslash_asks_for_a_look_and_the_program_goes_on(void **state)
{
    struct terminal terminal;
    (void)state;
    open_terminal(&terminal, "echo ready; sleep 0.6; exit 3");
    expect(&terminal, "ready");
    press(&terminal, 28);
    expect(&terminal, "looked, and saw no warp of a kernel");
    expect(&terminal, "<exit 3>");
    close_terminal(&terminal);
}

static void ctrl_z_stops_both_and_fg_continues_both(void **state)
{
    struct terminal terminal;
    (void)state;
    open_terminal(&terminal, "echo ready; sleep 0.5; echo finished; exit 4");
    expect(&terminal, "ready");
    /* Not while the shell is between vfork and exec: a child stopped there keeps the shell from stopping. */
    usleep(150000);
    press(&terminal, 26);
    expect(&terminal, "<stopped>");
    expect(&terminal, "<exit 4>");
    assert_non_null(strstr(terminal.screen, "finished"));
    close_terminal(&terminal);
}

static void modes_come_back_when_the_program_dies(void **state)
{
    struct terminal terminal;
    struct termios before, after;
    (void)state;
    open_terminal(&terminal, "echo ready; read line; stty raw -echo; echo changed; read line; kill -KILL $$");
    expect(&terminal, "ready");
    assert_int_equal(tcgetattr(terminal.master, &before), 0);
    press(&terminal, '\n');
    expect(&terminal, "changed");
    assert_int_equal(tcgetattr(terminal.master, &after), 0);
    assert_int_equal(after.c_lflag & ECHO, 0);
    press(&terminal, '\n');
    expect(&terminal, "<exit -9>");
    assert_int_equal(tcgetattr(terminal.master, &after), 0);
    assert_int_equal(after.c_lflag, before.c_lflag);
    assert_int_equal(after.c_iflag, before.c_iflag);
    assert_int_equal(after.c_oflag, before.c_oflag);
    close_terminal(&terminal);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(ctrl_c_reaches_the_program_once),
        TEST(ctrl_c_ends_a_program_that_does_not_catch_it),
        TEST(ctrl_backslash_asks_for_a_look_and_the_program_goes_on),
        TEST(ctrl_z_stops_both_and_fg_continues_both),
        TEST(modes_come_back_when_the_program_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
