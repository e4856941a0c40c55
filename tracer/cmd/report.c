/* report.c - `wsdbg report`: the report of a finished session.  Reads: its database.  Writes: stdout. */
#include "cmd/command.h"
#include "cmd/console.h"
#include "cmd/options.h"
#include "store/store.h"

static const struct wsdbg_option options[] = {
    {0, "json", NULL, "as JSON", NULL, NULL},
    {0, "html", NULL, "as one HTML page", NULL, "HTML reports"},
};

static struct wsdbg_error *report_run(const struct wsdbg_invocation *invocation, int *status)
{
    struct wsdbg_store *store;
    struct wsdbg_error *error = wsdbg_store_open(invocation->operands[0], &store);
    if (error)
        return error;
    if (wsdbg_option_value(invocation, "json"))
        error = wsdbg_report_json(store, stdout);
    else
        error = wsdbg_report_text(store, wsdbg_console_colour(stdout), stdout);
    wsdbg_store_close(store);
    *status = 0;
    return error;
}

const struct wsdbg_command wsdbg_command_report = {
    .name = "report",
    .summary = "Show the report of a finished session",
    .usage = "FILE.db [--json]",
    .description = "Prints the report of a session database that wsdbg run wrote, from the database alone.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = 1,
    .run = report_run,
};
