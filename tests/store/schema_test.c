/* schema_test.c - docs/SCHEMA.md has a section for every table and view, and a row for every column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"

static char *read_document(void)
{
    FILE *file = fopen(WSDBG_DOCS_DIR "/SCHEMA.md", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 18);
    assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The text from "## NAME\n" to the next "\n## ". */
static char *section(const char *document, const char *name)
{
    char heading[128];
    snprintf(heading, sizeof heading, "\n## %s\n", name);
    const char *start = strstr(document, heading);
    if (!start)
        fail_msg("docs/SCHEMA.md has no section \"## %s\"", name);
    const char *end = strstr(start + 4, "\n## ");
    return end ? strndup(start, (size_t)(end - start) + 1) : strdup(start);
}

static void every_table_and_column_is_documented(void **state)
{
    (void)state;
    sqlite3 *db;
    sqlite3_stmt *statement;
    char *document = read_document();
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, wsdbg_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, wsdbg_views_sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
                                        "WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%'",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    int columns = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; columns++) {
        char row[128];
        const char *table = (const char *)sqlite3_column_text(statement, 0);
        char *text = section(document, table);
        snprintf(row, sizeof row, "\n| %s |", (const char *)sqlite3_column_text(statement, 1));
        if (!strstr(text, row))
            fail_msg("docs/SCHEMA.md: table %s has no row%s", table, row);
        free(text);
    }
    assert_true(columns > 150);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    free(document);
}

/* All statements of the ```sql blocks. */
static void the_examples_can_be_asked(void **state)
{
    (void)state;
    sqlite3 *db;
    char *document = read_document(), *block = strstr(document, "\n```sql\n");
    int statements = 0;
    assert_non_null(block);
    block += strlen("\n```sql\n");
    *strstr(block, "\n```\n") = '\0';
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, wsdbg_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, wsdbg_views_sql, NULL, NULL, NULL), SQLITE_OK);
    for (const char *at = block; *at;) {
        sqlite3_stmt *statement;
        if (sqlite3_prepare_v2(db, at, -1, &statement, &at) != SQLITE_OK)
            fail_msg("docs/SCHEMA.md: %s", sqlite3_errmsg(db));
        statements += statement != NULL;
        sqlite3_finalize(statement);
    }
    assert_true(statements >= 3);
    sqlite3_close(db);
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_table_and_column_is_documented),
                                       cmocka_unit_test(the_examples_can_be_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
