/* export.c - `wsdbg export`: a finished session as a file for another program.
 * Reads: its database.  Writes: a Perfetto trace, a Graphviz graph. */
#include "cmd/command.h"

#include <string.h>

#include "cmd/limits.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "base/progress_line.h"
#include "store/export.h"

static const struct wsdbg_option options[] = {
    {0, "perfetto", "OUT.json", "a trace for ui.perfetto.dev (Chrome's trace events)", NULL, NULL},
    {0, "dot", "OUT.dot", "the wait-for graph for Graphviz", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
};

static struct wsdbg_error *write_perfetto(struct wsdbg_store *store, const char *path)
{
    struct wsdbg_output output;
    struct wsdbg_progress_line line;
    struct wsdbg_error *error = wsdbg_output_open(path, &output);
    if (error)
        return error;
    wsdbg_progress_begin(&line, "exporting", 0);
    error = wsdbg_export_perfetto(store, &line.progress, output.file);
    wsdbg_progress_end(&line);
    return wsdbg_output_close(&output, error);
}

static struct wsdbg_error *write_dot(struct wsdbg_store *store, const char *path)
{
    struct wsdbg_output output;
    struct wsdbg_error *error = wsdbg_output_open(path, &output);
    return error ? error : wsdbg_output_close(&output, wsdbg_export_dot(store, output.file));
}

static struct wsdbg_error *export_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *perfetto = wsdbg_option_value(invocation, "perfetto"), *dot = wsdbg_option_value(invocation, "dot");
    struct wsdbg_store *store;
    if (!perfetto && !dot)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "nothing to write: give --perfetto or --dot");
    if (perfetto && dot && strcmp(perfetto, dot) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--perfetto and --dot both write to %s", dot);
    struct wsdbg_error *error = wsdbg_store_open(invocation->operands[0], &store);
    if (error)
        return error;
    if (perfetto)
        error = write_perfetto(store, perfetto);
    if (!error && dot)
        error = write_dot(store, dot);
    wsdbg_store_close(store);
    *status = 0;
    return error;
}

const struct wsdbg_command wsdbg_command_export = {
    .name = "export",
    .summary = "Write a session as a file for another program",
    .usage = "FILE.db [--perfetto OUT.json] [--dot OUT.dot] [--time-limit SECONDS]",
    .description =
        "Writes what a session database holds in the format of another program: a trace, a graph or both; -\n"
        "is stdout. The trace opens in the Perfetto UI: one process for each rank, or without ranks for each\n"
        "grid, one track for each warp, waits as slices, mbarriers as counters. The clocks of host, GPU and\n"
        "CUPTI are not aligned with one another: each process, or of a rank each track, says which it has.\n"
        "An existing file is not overwritten.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = 1,
    .run = export_run,
};
