/* harness.c - see harness.h. */
#include "cmd/harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINISH_MS = 60000, WORDS_MS = 30000 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int scratch_setup(void **state)
{
    char *folder = strdup("/tmp/wsdbg-test.XXXXXX");
    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder) < 0 ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

int scratch_teardown(void **state)
{
    int failed = chdir("/") < 0 || nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0;
    free(*state);
    return failed ? -1 : 0;
}

/* A file without a name: its content needs nobody to read while the program runs. */
static int nameless_file(void)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

struct running start(const char *input, const char *const *words)
{
    const char *argv[32] = {WSDBG_BINARY};
    size_t count = 1;
    for (; *words; words++)
        argv[count++] = *words;
    struct running running = {.out = nameless_file(), .err = nameless_file()};
    int in = nameless_file();
    if (input) {
        assert_int_equal(write(in, input, strlen(input)), (ssize_t)strlen(input));
        lseek(in, 0, SEEK_SET);
    }
    running.pid = fork();
    assert_true(running.pid >= 0);
    if (running.pid == 0) {
        /* A group of its own, as a shell gives: group signals must not reach the test.  And no terminal. */
        setsid();
        dup2(in, STDIN_FILENO);
        dup2(running.out, STDOUT_FILENO);
        dup2(running.err, STDERR_FILENO);
        execv(WSDBG_BINARY, (char **)(uintptr_t)argv);
        _exit(99);
    }
    close(in);
    return running;
}

static char *read_all(int fd)
{
    off_t bytes = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)bytes + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)bytes, 0), bytes);
    return text;
}

void wait_for_words(struct running running, const char *words)
{
    const int64_t limit = now_ms() + WORDS_MS;
    for (bool said = false; !said && now_ms() < limit; poll(NULL, 0, 5)) {
        char *text = read_all(running.err);
        said = strstr(text, words) != NULL;
        free(text);
    }
}

struct outcome finish(struct running running)
{
    int status = 0;
    int64_t limit = now_ms() + FINISH_MS;
    pid_t ended;
    while ((ended = waitpid(running.pid, &status, WNOHANG)) == 0 && now_ms() < limit)
        poll(NULL, 0, 5);
    if (ended == 0) {
        kill(-running.pid, SIGKILL);
        waitpid(running.pid, &status, 0);
        print_error("wsdbg did not end; it said: %s\n", read_all(running.err));
        fail();
    }
    struct outcome outcome = {.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
                              .out = read_all(running.out),
                              .err = read_all(running.err)};
    close(running.out);
    close(running.err);
    return outcome;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

void wait_for_file(const char *path)
{
    struct stat info;
    int64_t limit = now_ms() + WORDS_MS;
    while (stat(path, &info) < 0 || info.st_size == 0) {
        if (now_ms() > limit)
            fail_msg("%s did not appear", path);
        poll(NULL, 0, 5);
    }
}

char *read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("%s cannot be read", path);
    char *text = read_all(fd);
    close(fd);
    return text;
}

void write_file(const char *path, const char *content, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, bytes), (ssize_t)bytes);
    close(fd);
}

size_t count_files(const char *pattern)
{
    glob_t found;
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

bool process_lives(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *state = strrchr(text, ')');
    return state && state[2] != 'Z';
}

pid_t read_pid(const char *path)
{
    wait_for_file(path);
    char *text = read_file(path);
    pid_t pid = (pid_t)atoi(text);
    free(text);
    assert_true(pid > 1);
    return pid;
}

size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

char *without_account(char *text)
{
    static const char begin[] = "wsdbg: attached to ";
    for (char *line; (line = strstr(text, begin));) {
        const char *end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        memmove(line, end, strlen(end) + 1);
    }
    return text;
}
