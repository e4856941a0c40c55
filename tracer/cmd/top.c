/* top.c - `wsdbg top`: the viewer on a session that another wsdbg watches.
 *
 * Reads: the published sessions, then one session (attach.h).  Writes: the terminal; nothing of the session.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/attach.h"
#include "cmd/top.h"
#include "cmd/command.h"
#include "base/console.h"
#include "cmd/options.h"
#include "viewer/viewer.h"

/* "running", "hang: WAKER_EXITED", as the session's database has it; "?" where it cannot be read.  A verdict counts
 * only while nothing moved after it. */
static void state_text(const struct wsdbg_running *session, char *out, size_t bytes)
{
    struct wsdbg_store *store;
    struct wsdbg_store_state state = {0};
    struct wsdbg_loaded loaded = {0};
    struct wsdbg_error *error = wsdbg_store_open(session->database, &store);
    snprintf(out, bytes, "?");
    if (!error) {
        error = wsdbg_store_get_state(store, &state);
        if (!error && state.diagnosed && !state.moved_since)
            error = wsdbg_store_load(store, false, &loaded);
        wsdbg_store_close(store);
    }
    if (!error && loaded.diagnosis.hang && loaded.diagnosis.finding_count > 0)
        snprintf(out, bytes, "hang: %s", wsdbg_cause_name(loaded.diagnosis.findings[0].cause));
    else if (!error)
        snprintf(out, bytes, "running");
    wsdbg_error_destroy(error);
    wsdbg_loaded_deinit(&loaded);
}

static void list(const struct wsdbg_running *sessions, size_t count)
{
    printf("%-24s  %7s  %7s  %6s  %-24s  %s\n", "SESSION", "WSDBG", "PROGRAM", "AGE", "STATE", "COMMAND");
    for (size_t i = 0; i < count; i++) {
        char state[40], command[4096];
        state_text(&sessions[i], state, sizeof state);
        wsdbg_text_escape_into(sessions[i].command, command, sizeof command);
        printf("%-24s  %7d  %7d  %4" PRIu64 " s  %-24s  %s\n", sessions[i].name, (int)sessions[i].wsdbg_pid,
               (int)sessions[i].program_pid, (wsdbg_monotonic_ns() - sessions[i].started_ns) / 1000000000u, state,
               command);
    }
    fflush(stdout);
}

static struct wsdbg_error *no_such_session(const char *word)
{
    if (!word)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no session of yours runs; start one with: wsdbg run PROGRAM");
    if (access(word, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: not of a session that runs; see it with: wsdbg view %s",
                                  word, word);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: no running session of yours has this name, process or file",
                              word);
}

/* The one session that is meant. */
static struct wsdbg_error *choose(const struct wsdbg_running *sessions, size_t count, const char *word,
                                  const struct wsdbg_running **out)
{
    const struct wsdbg_running *chosen = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < count; i++)
        if (!word || wsdbg_session_matches(&sessions[i], word)) {
            chosen = &sessions[i];
            matches++;
        }
    if (matches == 0)
        return no_such_session(word);
    if (matches > 1) {
        list(sessions, count);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%zu sessions run; say which: wsdbg top SESSION (or a process id, or its FILE.db)",
                                  matches);
    }
    *out = chosen;
    return NULL;
}

struct wsdbg_error *wsdbg_top_show(const struct wsdbg_running *session, uint64_t look_every_ns, int *status)
{
    struct viewer_source *source;
    struct viewer *viewer;
    struct wsdbg_error *error = wsdbg_attach(session, look_every_ns, &source);
    if (error)
        return error;
    struct viewer_options options = {.title = session->command};
    error = viewer_open(&options, source, &viewer);
    if (error)
        return error;
    int signal_number = 0;
    error = viewer_run(viewer, &signal_number);
    viewer_close(viewer);
    *status = -signal_number;
    return error;
}

static struct wsdbg_error *parse_look(const char *word, uint64_t *out_ns)
{
    *out_ns = 0;
    return word && strcmp(word, "never") == 0 ? NULL : wsdbg_parse_seconds("look", word ? word : "1", out_ns);
}

static struct wsdbg_error *top_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *word = invocation->operands[0];
    struct wsdbg_running *sessions;
    size_t count;
    const struct wsdbg_running *chosen = NULL;
    uint64_t look_every_ns;
    struct wsdbg_error *error = parse_look(wsdbg_option_value(invocation, "look"), &look_every_ns);
    if (!error)
        error = wsdbg_sessions_list(&sessions, &count);
    if (error)
        return error;
    *status = 0;
    if (wsdbg_option_value(invocation, "list")) {
        list(sessions, count);
    } else {
        error = choose(sessions, count, word, &chosen);
        if (!error && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
            error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "needs a terminal as its input and output");
        if (!error)
            error = wsdbg_top_show(chosen, look_every_ns, status);
    }
    wsdbg_sessions_free(sessions, count);
    return error;
}

static const struct wsdbg_option options[] = {
    {0, "look", "SECONDS|never", "take a look at kernels without probes so often (default 1)", NULL, NULL},
    {'l', "list", NULL, "list the sessions that run", NULL, NULL},
};

const struct wsdbg_command wsdbg_command_top = {
    .name = "top",
    .summary = "Show a running session from another terminal",
    .usage = "[SESSION|PID|FILE.db] [--look SECONDS|never] [--list]",
    .description =
        "Shows the live view of a session that wsdbg run watches, started by the same user on this machine.\n"
        "It only reads, so several can watch one session. The state of warps and barriers comes from the\n"
        "session's shared memory, the verdict and the log from its database. When the session ends, its last\n"
        "screen stays.\n"
        "\n"
        "Kernels without probes are visible only in snapshots of the GPU. While somebody watches and the GPU\n"
        "is busy, wsdbg run takes one every second, or as often as --look says. Each one stops the GPU for\n"
        "some hundredths of a second (the first line says how long). Driver calls that begin meanwhile wait.\n"
        "If wsdbg is not attached yet, they wait some tenths of a second, and the driver then holds back all\n"
        "new work until the running kernels end. A kernel that waits for such work stands still until then.\n"
        "With --look never no snapshots are taken. Kernels with probes need none. Ctrl-\\ takes one now.\n"
        "\n"
        "Without an argument wsdbg top shows the only running session. If there are several, it lists them.\n"
        "Name one by its session name or the beginning of that, by the process id of wsdbg or of the program,\n"
        "or by its database.",
    .needs = "a terminal; not with --list",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_max = 1,
    .lives_on = true,
    .run = top_run,
};
