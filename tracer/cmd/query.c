/* query.c - `wsdbg query`: SQL on a session database, opened read-only.  Writes: stdout. */
#include "cmd/command.h"
#include "cmd/options.h"
#include "store/store.h"

static const struct wsdbg_option options[] = {
    {0, "csv", NULL, "comma-separated values", NULL, NULL},
    {0, "json", NULL, "a JSON array with one object a row", NULL, NULL},
};

static struct wsdbg_error *query_run(const struct wsdbg_invocation *invocation, int *status)
{
    bool csv = wsdbg_option_value(invocation, "csv"), json = wsdbg_option_value(invocation, "json");
    struct wsdbg_store *store;
    if (csv && json)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--csv and --json exclude each other");
    struct wsdbg_error *error = wsdbg_store_open(invocation->operands[0], &store);
    if (error)
        return error;
    if (invocation->operand_count < 2)
        wsdbg_store_list_queries(stdout);
    else
        error = wsdbg_store_query(store, invocation->operands[1],
                                  csv    ? WSDBG_QUERY_CSV
                                  : json ? WSDBG_QUERY_JSON
                                         : WSDBG_QUERY_ALIGNED,
                                  stdout);
    wsdbg_store_close(store);
    *status = 0;
    return wsdbg_error_prefix(error, "%s", invocation->operands[0]);
}

const struct wsdbg_command wsdbg_command_query = {
    .name = "query",
    .summary = "Ask a session database with SQL or a canned query",
    .usage = "FILE.db [SQL|@NAME] [--csv|--json]",
    .description =
        "Runs one SQL statement, or the canned query of that name, on a session database; the file is opened\n"
        "read-only. Without a statement the canned queries are listed.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = 2,
    .run = query_run,
};
