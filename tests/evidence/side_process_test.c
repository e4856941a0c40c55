/* side_process_test.c - what a side process is to the kernel: its name, and when it is ended for want of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/attach_link.h"
#include "evidence/side_process.h"

#define SCORE_FILE "/proc/self/oom_score_adj"
#define WAIT_NS UINT64_C(10000000000)

static void read_line(const char *path, char line[32])
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t count = file < 0 ? 0 : read(file, line, 31);
    line[count > 0 ? count : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    close(file);
}

/* What a process that asks for it has then: the kernel may refuse. */
static void score_of_who_asks(char line[32])
{
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(SCORE_FILE, O_WRONLY | O_CLOEXEC);
        (void)!write(file, WSDBG_SIDE_PROCESS_OOM_SCORE, strlen(WSDBG_SIDE_PROCESS_OOM_SCORE));
        read_line(SCORE_FILE, line);
        (void)!write(pipe_ends[1], line, 32);
        _exit(0);
    }
    assert_int_equal(read(pipe_ends[0], line, 32), 32);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void tell(const void *argument)
{
    char lines[2][32] = {"", ""};
    read_line("/proc/self/comm", lines[0]);
    read_line(SCORE_FILE, lines[1]);
    (void)!write(*(const int *)argument, lines, sizeof lines);
}

static void it_has_a_name_of_its_own_and_is_ended_nearly_last(void **state)
{
    struct wsdbg_side_process process;
    char lines[2][32], score[32] = "";
    int pipe_ends[2];
    (void)state;
    score_of_who_asks(score);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_null(
        wsdbg_side_process_start(&process, "gpu-inspector", (const int[]){pipe_ends[1], -1}, tell, &pipe_ends[1]));
    assert_int_equal(read(pipe_ends[0], lines, sizeof lines), sizeof lines);
    assert_true(wsdbg_side_process_wait(&process, wsdbg_attach_clock_ns() + WAIT_NS));
    wsdbg_side_process_release(&process);
    assert_string_equal(lines[0], "gpu-inspector");
    assert_string_equal(lines[1], score);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_has_a_name_of_its_own_and_is_ended_nearly_last)};
    return cmocka_run_group_tests_name("side_process", tests, NULL, NULL);
}
