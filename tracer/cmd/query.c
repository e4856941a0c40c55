/* query.c - `wsdbg query`: SQL on a session database, opened read-only.  Writes: stdout. */
#include "cmd/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/limits.h"
#include "cmd/newest.h"
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

/* A canned query's arguments are words of their own on the command line; SQL is one word, the operand `first`. */
static struct wsdbg_error *ask(struct wsdbg_store *store, const struct wsdbg_invocation *invocation, int first,
                               enum wsdbg_query_format format)
{
    char *query = NULL;
    size_t length;
    if (invocation->operands[first][0] != '@' && invocation->operand_count > first + 1)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "more than one statement: quote it as one word");
    FILE *words = open_memstream(&query, &length);
    if (!words)
        return &wsdbg_error_no_memory;
    for (int i = first; i < invocation->operand_count; i++)
        fprintf(words, "%s%s", i > first ? " " : "", invocation->operands[i]);
    fclose(words);
    /* A user's own statement has no time limit unless the user sets one. */
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

/* A canned query, or SQL of several words that is no file's name. */
static bool is_question(const char *word)
{
    return word[0] == '@' || (strchr(word, ' ') && access(word, F_OK) != 0);
}

static struct wsdbg_error *query_run(const struct wsdbg_invocation *invocation, int *status)
{
    bool csv = wsdbg_option_value(invocation, "csv"), json = wsdbg_option_value(invocation, "json");
    struct wsdbg_store *store;
    char *path;
    if (csv && json)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--csv and --json exclude each other");
    *status = 0;
    if (!invocation->operand_count) {
        wsdbg_store_list_queries(stdout);
        return NULL;
    }
    const bool named = !is_question(invocation->operands[0]);
    struct wsdbg_error *error = wsdbg_session_file(invocation, named, &path);
    if (!error)
        error = wsdbg_session_hint(wsdbg_store_open(path, &store), named);
    if (error) {
        free(path);
        return error;
    }
    if (named && invocation->operand_count < 2)
        wsdbg_store_list_queries(stdout);
    else
        error = ask(store, invocation, named, csv ? WSDBG_QUERY_CSV : json ? WSDBG_QUERY_JSON : WSDBG_QUERY_ALIGNED);
    wsdbg_store_close(store);
    error = wsdbg_error_prefix(error, "%s", path);
    free(path);
    return error;
}

const struct wsdbg_command wsdbg_command_query = {
    .name = "query",
    .summary = "Ask a session database with SQL or a canned query",
    .usage = "[FILE.db] [SQL|@NAME [ARGUMENT...]] [--csv|--json] [--time-limit SECONDS]",
    .description =
        "Runs one SQL statement, or the canned query of that name, on a session database. The file is opened\n"
        "read-only. Without a statement it lists the canned queries. Without FILE.db it takes the newest\n"
        "session in the current folder. On a terminal, texts that do not fit are cut; up to three rows are\n"
        "shown whole, with a line a column.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 0,
    .operands_max = -1,
    .operand = WSDBG_OPERAND_QUERY,
    .run = query_run,
};
