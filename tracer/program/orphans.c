/* orphans.c - see orphans.h.
 *
 * Reads: a pipe whose other end this wsdbg alone holds; /proc/<pid>/environ.  Writes: SIGTERM.
 *
 * The kernel ends the program's first process with wsdbg (PR_SET_PDEATHSIG), but not the processes that this one had
 * started, and a dead wsdbg has no descendants by which they could be found.  So they are known by the name of the
 * session in their environment.
 */
#include "program/orphans.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE_BYTES = 65536, MARK_BYTES = 256, ROUNDS = 3, ROUND_US = 20000 };

/* Whether the environment, which is read in pieces, has the mark from one zero byte to the next. */
static bool has_mark(const char *process, const char *mark, size_t length)
{
    char path[64], text[MARK_BYTES + PIECE_BYTES];
    size_t kept = 1;
    ssize_t got;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", process);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    text[0] = '\0'; /* as if one had ended before the first */
    while (fd >= 0 && !found && (got = read(fd, text + kept, PIECE_BYTES)) > 0) {
        const size_t bytes = kept + (size_t)got;
        for (const char *at = text; !found && (at = memmem(at, bytes - (size_t)(at - text), mark, length)); at++)
            found = at > text && at[-1] == '\0' && (at + length == text + bytes || at[length] == '\0');
        kept = bytes < MARK_BYTES ? bytes : MARK_BYTES;
        memmove(text, text + bytes - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static void end_marked(const char *mark)
{
    DIR *const folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && has_mark(entry->d_name, mark, strlen(mark)))
            kill((pid_t)atoi(entry->d_name), SIGTERM);
    if (folder)
        closedir(folder);
}

/* One that is just being started has the mark a moment later. */
static void end_all(const char *mark)
{
    for (int round = 0; round < ROUNDS; round++) {
        end_marked(mark);
        usleep(ROUND_US);
    }
}

/* No key of the terminal and no signal to the group reaches it, and it keeps nothing open. */
static void keep_apart(int keep)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "wsdbg-orphans");
    if (chdir("/") != 0)
        return; /* it holds a folder: no harm */
    if (keep > 0)
        syscall(SYS_close_range, 0, keep - 1, 0);
    syscall(SYS_close_range, keep + 1, ~0u, 0);
}

static _Noreturn void wait_for_end(int from, const char *mark)
{
    char dismissed;
    ssize_t got;
    keep_apart(from);
    do
        got = read(from, &dismissed, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        end_all(mark);
    _exit(0);
}

int wsdbg_orphans_watch(const char *mark)
{
    int ends[2];
    if (strlen(mark) >= MARK_BYTES || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const pid_t between = fork();
    if (between == 0) {
        close(ends[1]);
        if (fork() != 0)
            _exit(0);
        wait_for_end(ends[0], mark);
    }
    close(ends[0]);
    if (between < 0) {
        close(ends[1]);
        return -1;
    }
    while (waitpid(between, NULL, 0) < 0 && errno == EINTR)
        ;
    return ends[1];
}

void wsdbg_orphans_dismiss(int watch)
{
    if (watch < 0)
        return;
    const ssize_t told = write(watch, "", 1);
    (void)told; /* -1: it has ended, and nobody is left to be told */
    close(watch);
}
