/* join_top.c - `wsdbg attach --top`: the watch in a process of its own, the viewer in this one.
 *
 * Reads: the watch's database and the tables of the processes.  Writes: the terminal; a database that goes with it
 * where none was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/join.h"
#include "cmd/top.h"
#include "evidence/evidence.h"
#include "program/spool.h"

enum { OPEN_LOOKS = 250, OPEN_LOOK_NS = 20000000 };

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

/* The viewer reads the database from its first moment on. */
static bool await_database(const char *path, pid_t watcher)
{
    struct stat status;
    for (int i = 0; i < OPEN_LOOKS; i++) {
        if (stat(path, &status) == 0 && status.st_size > 0)
            return true;
        if (waitpid(watcher, NULL, WNOHANG) == watcher)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = OPEN_LOOK_NS}, NULL);
    }
    return false;
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
    int shown = 0, ended = 0;
    const pid_t parent = getpid(), watcher = fork();
    if (watcher < 0)
        return wsdbg_error_os(errno, "cannot start a process");
    if (watcher == 0)
        watch(options, parent);
    if (!await_database(options->output, watcher))
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "the watch did not begin");
    struct wsdbg_error *error = show(options, watcher, &shown);
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
