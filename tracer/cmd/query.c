/* query.c - `wsdbg query`: SQL on a session database, opened read-only.  Writes: stdout. */
#include "cmd/command.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/console.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "store/store.h"

static const struct wsdbg_option options[] = {
    {0, "csv", NULL, "comma-separated values", NULL, NULL},
    {0, "json", NULL, "a JSON array with one object a row", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
};

/* Columns of the terminal that stdout is; 0 where it is none. */
static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* A canned query's arguments are words of their own on the command line; SQL is one word. */
static struct wsdbg_error *ask(struct wsdbg_store *store, const struct wsdbg_invocation *invocation,
                               enum wsdbg_query_format format)
{
    char *query = NULL;
    size_t length;
    if (invocation->operands[1][0] != '@' && invocation->operand_count > 2)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "more than one statement: quote it as one word");
    FILE *words = open_memstream(&query, &length);
    if (!words)
        return &wsdbg_error_no_memory;
    for (int i = 1; i < invocation->operand_count; i++)
        fprintf(words, "%s%s", i > 1 ? " " : "", invocation->operands[i]);
    fclose(words);
    /* How long somebody's own question may take is theirs to say. */
    if (query[0] != '@' && !wsdbg_option_value(invocation, "time-limit"))
        wsdbg_store_lift_time_limit(store);
    bool lacks_histories = false;
    struct wsdbg_error *error = wsdbg_store_query(store, query, format, terminal_columns(), stdout);
    if (!error)
        error = wsdbg_store_lacks_histories(store, query, &lacks_histories);
    free(query);
    fflush(stdout);
    if (lacks_histories)
        wsdbg_say("no rows: this session holds no histories; those of kernels with probes are kept of a hang, or with "
                  "wsdbg run --keep-history");
    return error;
}

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
        error = ask(store, invocation, csv ? WSDBG_QUERY_CSV : json ? WSDBG_QUERY_JSON : WSDBG_QUERY_ALIGNED);
    wsdbg_store_close(store);
    *status = 0;
    return wsdbg_error_prefix(error, "%s", invocation->operands[0]);
}

const struct wsdbg_command wsdbg_command_query = {
    .name = "query",
    .summary = "Ask a session database with SQL or a canned query",
    .usage = "FILE.db [SQL|@NAME [ARGUMENT...]] [--csv|--json] [--time-limit SECONDS]",
    .description =
        "Runs one SQL statement, or the canned query of that name, on a session database; the file is opened\n"
        "read-only. Without a statement the canned queries are listed. On a terminal, texts that do not fit are cut.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = -1,
    .operand = WSDBG_OPERAND_QUERY,
    .run = query_run,
};
