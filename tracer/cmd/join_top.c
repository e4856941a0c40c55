/* join_top.c - `wsdbg attach --top`: the watch in a process of its own, the viewer in this one.
 *
 * Reads: the watch's database and the tables of the processes.  Writes: the terminal; a database that goes with it
 * where none was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/join.h"
#include "cmd/top.h"
#include "evidence/evidence.h"
#include "program/spool.h"

enum { READY_MOST_MS = 5000 };

/* The words of the watch are in its log: the terminal is the viewer's. */
static _Noreturn void watch(const struct wsdbg_join_options *options, pid_t parent)
{
    int status = WSDBG_EXIT_FAILED;
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(WSDBG_EXIT_FAILED);
    for (int stream = 0; nothing >= 0 && stream <= STDERR_FILENO; stream++)
        dup2(nothing, stream);
    struct wsdbg_error *error = wsdbg_join_watch(options, &status);
    _exit(error ? WSDBG_EXIT_FAILED : status);
}

/* The viewer reads the database from its first moment on.  False: the watch has ended or takes too long to begin. */
static bool await_database(int ready_fd)
{
    char byte;
    struct pollfd poller = {.fd = ready_fd, .events = POLLIN};
    return poll(&poller, 1, READY_MOST_MS) == 1 && read(ready_fd, &byte, 1) == 1;
}

static struct wsdbg_error *show(const struct wsdbg_join_options *options, pid_t watcher, int *status)
{
    const struct wsdbg_join narrowed = {.root = options->place->root,
                                        .process_ids = options->process_ids,
                                        .process_count = options->process_count,
                                        .never_stays = true};
    char command[64];
    snprintf(command, sizeof command, "attach %u", options->process_ids[0]);
    const struct wsdbg_running running = {.name = (char *)options->place->session,
                                          .database = (char *)options->output,
                                          .command = command,
                                          .spool = (char *)options->place->folder,
                                          .wsdbg_pid = watcher,
                                          .program_pid = (pid_t)options->process_ids[0],
                                          .looks = true,
                                          .started_ns = wsdbg_monotonic_ns(),
                                          .join = &narrowed};
    return wsdbg_top_show(&running, 0, status);
}

static struct wsdbg_error *show_watched(const struct wsdbg_join_options *options, int *status)
{
    int shown = 0, ended = 0, ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return wsdbg_error_os(errno, "cannot make a pipe");
    const pid_t parent = getpid(), watcher = fork();
    if (watcher == 0) {
        struct wsdbg_join_options watched = *options;
        close(ready[0]);
        watched.ready_fd = ready[1];
        watch(&watched, parent);
    }
    struct wsdbg_error *error = watcher < 0 ? wsdbg_error_os(errno, "cannot start a process") : NULL;
    close(ready[1]);
    const bool is_ready = !error && await_database(ready[0]);
    close(ready[0]);
    if (error)
        return error;
    error =
        is_ready ? show(options, watcher, &shown) : wsdbg_error_create(WSDBG_ERROR_OTHER, "the watch did not begin");
    kill(watcher, SIGTERM);
    if (waitpid(watcher, &ended, 0) == watcher && WIFEXITED(ended))
        *status = WEXITSTATUS(ended);
    if (shown < 0)
        *status = shown;
    return error;
}

struct wsdbg_error *wsdbg_join_top(const struct wsdbg_join_options *options, int *status)
{
    struct wsdbg_join_options lasting = *options;
    struct wsdbg_spool spool = {.lock = -1};
    char *database = NULL;
    lasting.lives_on = true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--top needs a terminal as its input and output");
    if (options->output && access(options->output, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten; -o FILE names another",
                                  options->output);
    struct wsdbg_error *error = options->output ? NULL : wsdbg_spool_create(&spool);
    if (!error && !options->output && asprintf(&database, "%s/attach.db", spool.path) < 0)
        error = &wsdbg_error_no_memory;
    if (!options->output)
        lasting.output = database;
    if (!error)
        error = show_watched(&lasting, status);
    free(database);
    wsdbg_spool_destroy(&spool);
    return error;
}
