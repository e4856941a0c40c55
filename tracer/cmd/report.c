/* report.c - `wsdbg report`: the report of a finished session.  Reads: its database.  Writes: stdout or a file. */
#include "cmd/command.h"

#include <stdlib.h>

#include "base/console.h"
#include "cmd/limits.h"
#include "cmd/newest.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "store/export.h"
#include "store/store.h"

static const struct wsdbg_option options[] = {
    {0, "json", NULL, "as JSON", NULL, NULL},
    {0, "html", NULL, "as one HTML page", NULL, NULL},
    {'o', "output", "FILE", "write it there (default stdout)", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
};

static struct wsdbg_error *report_run(const struct wsdbg_invocation *invocation, int *status)
{
    const bool json = wsdbg_option_value(invocation, "json"), html = wsdbg_option_value(invocation, "html");
    struct wsdbg_store *store;
    struct wsdbg_output output;
    char *path;
    if (json && html)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--json and --html exclude each other");
    struct wsdbg_error *error = wsdbg_session_file(invocation, invocation->operand_count > 0, &path);
    if (!error)
        error = wsdbg_session_hint(wsdbg_store_open(path, &store), invocation->operand_count > 0);
    free(path);
    if (error)
        return error;
    error = wsdbg_output_open(wsdbg_option_value(invocation, "output"), &output);
    if (!error) {
        const struct wsdbg_sheet sheet = wsdbg_sheet_on(output.file, output.file);
        if (json)
            error = wsdbg_report_json(store, output.file);
        else if (html)
            error = wsdbg_report_html(store, output.file);
        else
            error = wsdbg_report_text(store, &sheet);
        error = wsdbg_output_close(&output, error);
    }
    wsdbg_store_close(store);
    *status = 0;
    return error;
}

const struct wsdbg_command wsdbg_command_report = {
    .name = "report",
    .summary = "Show the report of a finished session",
    .usage = "[FILE.db] [--json|--html] [-o FILE] [--time-limit SECONDS]",
    .description =
        "Prints the report of a session database that wsdbg run wrote. Without FILE.db it takes the newest\n"
        "session in the current folder. The HTML page needs no script and no other file. An existing file is\n"
        "not overwritten.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 0,
    .operands_max = 1,
    .run = report_run,
};
