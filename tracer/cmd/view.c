/* view.c - `wsdbg view`: the viewer on a session's database.  Reads: the file.  Writes: the terminal. */
#include "cmd/command.h"

#include <stdlib.h>

#include "cmd/limits.h"
#include "cmd/newest.h"
#include "store/store.h"
#include "viewer/viewer.h"

static struct wsdbg_error *view_run(const struct wsdbg_invocation *invocation, int *status)
{
    char *path;
    struct wsdbg_store *store;
    struct viewer_source *source;
    struct viewer *viewer = NULL;
    int signal_number = 0;
    struct wsdbg_error *error = wsdbg_session_file(invocation, invocation->operand_count > 0, &path);
    if (!error)
        error = wsdbg_session_hint(wsdbg_store_open(path, &store), invocation->operand_count > 0);
    if (!error)
        error = viewer_source_open_database(store, &source);
    if (!error)
        error = viewer_open(&(struct viewer_options){.title = path}, source, &viewer);
    if (viewer)
        error = viewer_run(viewer, &signal_number);
    viewer_close(viewer);
    free(path);
    *status = -signal_number;
    return error;
}

static const struct wsdbg_option options[] = {
    WSDBG_OPTION_TIME_LIMIT,
};

const struct wsdbg_command wsdbg_command_view = {
    .name = "view",
    .summary = "Show a session: the same views as top, from its database",
    .usage = "[FILE.db] [--time-limit SECONDS]",
    .description = "Shows a session database on the terminal: overview, cause, warps, barriers, wait-for graph,\n"
                   "timeline, source, registers, log, ranks. The file is opened read-only. If it is still being\n"
                   "written, the screen follows it. The key ? explains the keys. Without FILE.db it shows the newest\n"
                   "session in the current folder.",
    .needs = "a terminal",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 0,
    .operands_max = 1,
    .lives_on = true,
    .run = view_run,
};
