/* queries_test.c - docs/QUERIES.md is the table of canned queries with what they print for a session recorded on an
 * H200.  UPDATE_GOLDEN=1 writes it anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"
#include "store/opened.h"
#include "store/query.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_SHOWN = 12 };

static const char head[] =
    "# The canned queries\n"
    "\n"
    "`wsdbg query FILE.db` lists them, `wsdbg query FILE.db @NAME` asks one; `--csv` and `--json` give the same rows "
    "to "
    "programs,\n"
    "with kernels' names as the tables have them (`_Z4pipePKfPfi`). On a terminal that is too narrow, up to three rows "
    "are shown whole, with a line a column.\n"
    "Words after the name are the query's arguments. Any SQL works as well: [SCHEMA.md](SCHEMA.md) has the tables and "
    "views.\n"
    "All of them are about the shown picture: the newest one that was diagnosed, else the newest. `?` is what is not "
    "known.\n"
    "\n"
    "The samples are from sessions recorded on an H200 (`tests/recorded/`, made into a database by `wsdbg replay "
    "X.wsrec "
    "-o X.db`),\n"
    "those about machine code from a session made up for the tests,\n"
    "cut after 12 rows. Made from the query table by a test: `UPDATE_GOLDEN=1 ctest -R store_queries`.\n";

/* Where another session than the first shows more. */
static const struct {
    const char *query, *session, *arguments;
} samples[] = {
    {"exited-early", "waker-exited", ""},
    {"exited", "waker-exited", ""},
    {"registers", "regs-partial", ""},
    {"never-released", "regs-no-release", ""},
    {"bytes", "tx-mismatch", ""},
    {"odd-ctas", "regs-exhausted", ""},
    {"diff", "regs-exhausted", " 0 2"},
    {"iterations", "regs-exhausted", ""},
    {"barrier-waits", "shared-full-barrier", ""},
    {"sites", "made-up", ""},
    {"parts", "made-up", ""},
    {"looks", "made-up", ""},
    {"compare-looks", "made-up", ""},
    {"wakers", "made-up", ""},
    {"words", "made-up", ""},
    {"excerpts", "made-up", ""},
    {"refused", "made-up", ""},
    {"memory", "made-up", ""},
    {"work", "made-up", ""},
};

static const char *session_of(const char *query, const char **arguments)
{
    *arguments = "";
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (strcmp(samples[i].query, query) == 0) {
            *arguments = samples[i].arguments;
            return samples[i].session;
        }
    }
    return "arrive-missing";
}

/* Two CTAs as the machine's own state shows them. */
static struct wsdbg_store *made_up(const char *folder)
{
    struct example e;
    example_machine(&e, 2);
    struct wsdbg_store *store = stored(folder, &e);
    example_free(&e);
    return store;
}

/* The same, and a launch that was refused. */
static struct wsdbg_store *made_up_with_refusal(const char *folder)
{
    struct example e;
    sqlite3 *db;
    struct wsdbg_store *store;
    const char *path = example_path(folder, "refused.db");
    example_machine(&e, 2);
    example_store(&e, path);
    example_free(&e);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "INSERT INTO refusal SELECT 1, process_id, 0, first_seen_ns, 2, 'cuLaunchKernel', 701, "
                     "'LAUNCH_TOO_MANY_REGS', 'gemm', 'gemm, grid 132x1x1, block 384x1x1', '170 → 176 registers × 384 "
                     "threads = 67,584 > 65,536; largest that launches: 168', 'Compile the kernel with "
                     "__launch_bounds__(384) or -maxrregcount=168, …' FROM process",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    example_ok(wsdbg_store_open(path, &store));
    unlink(path);
    return store;
}

static struct wsdbg_store *open_sample(const char *folder, const char *session, const char *query)
{
    if (strcmp(query, "refused") == 0)
        return made_up_with_refusal(folder);
    return strcmp(session, "made-up") == 0 ? made_up(folder) : replayed(folder, session);
}

static void print_cut(FILE *out, char *rows)
{
    int lines = 0;
    for (char *line = strtok(rows, "\n"); line; line = strtok(NULL, "\n"), lines++)
        if (lines <= LINES_SHOWN)
            fprintf(out, "%s\n", line);
    if (lines > LINES_SHOWN + 1)
        fprintf(out, "… and %d more rows\n", lines - LINES_SHOWN - 1);
}

static void print_section(FILE *out, const char *folder, const struct wsdbg_canned_query *query)
{
    const char *arguments, *session = session_of(query->name, &arguments);
    char call[64];
    snprintf(call, sizeof call, "@%s%s", query->name, arguments);
    struct wsdbg_store *store = open_sample(folder, session, query->name);
    char *rows = example_query(store, call, WSDBG_QUERY_ALIGNED);
    fprintf(out, "\n## @%s%s%s\n\n**%s** %s\n\n```\n$ wsdbg query %s.db %s\n", query->name, query->arguments ? " " : "",
            query->arguments ? query->arguments : "", query->question, query->when, session, call);
    print_cut(out, rows);
    fputs("```\n", out);
    free(rows);
    wsdbg_store_close(store);
}

static char *read_document(void)
{
    char *text = calloc(1, 1 << 18);
    FILE *file = fopen(WSDBG_DOCS_DIR "/QUERIES.md", "r");
    if (file) {
        assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
        fclose(file);
    }
    return text;
}

static void write_document(const char *text)
{
    FILE *file = fopen(WSDBG_DOCS_DIR "/QUERIES.md", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void every_query_is_documented_with_what_it_prints(void **state)
{
    (void)state;
    char *folder = example_folder(), *expected = NULL;
    size_t length;
    FILE *out = open_memstream(&expected, &length);
    fputs(head, out);
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++)
        print_section(out, folder, query);
    fclose(out);
    if (getenv("UPDATE_GOLDEN"))
        write_document(expected);
    char *document = read_document();
    assert_string_equal(document, expected);
    free(document);
    free(expected);
    example_clean(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_query_is_documented_with_what_it_prints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
