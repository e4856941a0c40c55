/* view.c - `wsdbg view`: the viewer on a session's database.  Reads: the file.  Writes: the terminal. */
#include "cmd/command.h"
#include "cmd/limits.h"
#include "store/store.h"
#include "viewer/viewer.h"

static struct wsdbg_error *view_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *path = invocation->operands[0];
    struct wsdbg_store *store;
    struct viewer_source *source;
    struct viewer *viewer;
    struct wsdbg_error *error = wsdbg_store_open(path, &store);
    if (!error)
        error = viewer_source_open_database(store, &source);
    if (!error)
        error = viewer_open(&(struct viewer_options){.title = path}, source, &viewer);
    if (error)
        return error;
    int signal_number = 0;
    error = viewer_run(viewer, &signal_number);
    viewer_close(viewer);
    *status = -signal_number;
    return error;
}

static const struct wsdbg_option options[] = {
    WSDBG_OPTION_TIME_LIMIT,
};

const struct wsdbg_command wsdbg_command_view = {
    .name = "view",
    .summary = "Look at a session: the same views as top, from its database",
    .usage = "FILE.db [--time-limit SECONDS]",
    .description = "Shows a session database on the terminal: overview, cause, warps, barriers, wait-for graph, "
                   "timeline, source,\n"
                   "registers, log. The file is opened read-only; one that is still being written is followed. The key "
                   "? explains\n"
                   "the keys.",
    .needs = "a terminal",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = 1,
    .lives_on = true,
    .run = view_run,
};
