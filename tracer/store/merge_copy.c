/* merge_copy.c - copies the rows of one session database into another one that has rows already.
 *
 * Reads: an input; the output's own schema, which says which column is what.  Writes: the output's tables.
 *
 * Which columns refer to which table, and which rows hang on which picture, follows from the schema: a new table needs
 * nothing here, unless it has references that are not declared, or host times under new names.
 */
#include "store/merge_internal.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 48, TABLES_MOST = 64, NAME_BYTES = 48 };

/* What becomes of a column's value. */
enum column_kind {
    COLUMN_PLAIN,
    COLUMN_REFERENCE, /* an id of `table`: so much higher */
    COLUMN_PROCESS,
    COLUMN_FINDING,
    COLUMN_SNAPSHOT,
    COLUMN_FIRST, /* first picture that has the row: with the next column, the last one, a range */
    COLUMN_LAST,
    COLUMN_HOST_TIME,
    COLUMN_SEEN, /* a host time; NULL = that of the picture */
    COLUMN_TEXT, /* the node's name goes before it */
    COLUMN_NODE,
    COLUMN_HOST_NAME
};

struct column {
    char name[NAME_BYTES];
    enum column_kind kind;
    size_t table;  /* of a reference */
    bool is_owner; /* the row is there only with the one it refers to */
};

struct table {
    char name[NAME_BYTES];
    int64_t shift; /* added to ids */
    struct column columns[COLUMNS_MOST];
    size_t column_count;
};

struct copy {
    struct wsdbg_store *output;
    const struct wsdbg_merge_input *input;
    struct table *tables;
    size_t table_count;
};

/* Host times, by the names that the schema gives them; docs/SCHEMA.md has the units of all. */
static const char *const host_times[] = {"time_ns",  "first_seen_ns", "since_ns",      "changed_ns",
                                         "freed_ns", "given_ns",      "done_given_ns", "began_ns",
                                         "ready_ns", "closed_ns",     "issued_ns"};

/* What the schema does not declare. */
static const struct {
    const char *table, *column;
    enum column_kind kind;
    const char *to;
    bool is_owner;
} exceptions[] = {
    {"event", "warp_id", COLUMN_REFERENCE, "warp", true},
    {"reach", "access_id", COLUMN_REFERENCE, "access", false},
    {"warp", "event_first", COLUMN_REFERENCE, "event", false},
    {"finding", "id", COLUMN_FINDING, NULL, false},
    {"launch", "first_snapshot", COLUMN_FIRST, NULL, false},
    {"launch", "last_snapshot", COLUMN_LAST, NULL, false},
    {"activity", "first_snapshot", COLUMN_FIRST, NULL, false},
    {"activity", "last_snapshot", COLUMN_LAST, NULL, false},
    {"member", "seen_ns", COLUMN_SEEN, NULL, false},
    {"note", "text", COLUMN_TEXT, NULL, false},
    {"log", "text", COLUMN_TEXT, NULL, false},
    {"process", "process_id", COLUMN_PROCESS, NULL, false},
    {"process", "node_id", COLUMN_NODE, NULL, false},
    {"process", "hostname", COLUMN_HOST_NAME, NULL, false},
};

static bool is_left_out(const char *table)
{
    static const char *const names[] = {"session", "node", "snapshot", "event_kind"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], table) == 0)
            return true;
    return false;
}

static size_t find_table(const struct copy *copy, const char *name)
{
    size_t i = 0;
    while (i < copy->table_count && strcmp(copy->tables[i].name, name) != 0)
        i++;
    return i;
}

/* ---- what the schema says ---- */

static struct wsdbg_error *read_tables(struct copy *copy)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, copy->output,
                       "SELECT m.name, CASE WHEN EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'id') "
                       "THEN 1 ELSE 0 END FROM sqlite_schema m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' "
                       "ORDER BY m.name <> 'process', m.rowid",
                       0);
    while (copy->table_count < TABLES_MOST && wsdbg_select_next(&q)) {
        struct table *table = &copy->tables[copy->table_count++];
        wsdbg_select_text(&q, table->name, sizeof table->name);
        if (!wsdbg_select_number(&q))
            continue;
        char *sql = sqlite3_mprintf("SELECT max(id) FROM main.%Q", table->name);
        table->shift = sql ? wsdbg_db_number(copy->output->db, sql, 0) : 0;
        if (!sql)
            wsdbg_select_fail(&q, SQLITE_NOMEM);
        sqlite3_free(sql);
    }
    return wsdbg_select_end(&q);
}

static void set_reference(const struct copy *copy, struct column *column, const char *to, bool is_owner)
{
    column->is_owner = is_owner;
    column->table = find_table(copy, to);
    if (strcmp(to, "process") == 0)
        column->kind = COLUMN_PROCESS;
    else if (strcmp(to, "snapshot") == 0)
        column->kind = COLUMN_SNAPSHOT;
    else if (strcmp(to, "finding") == 0)
        column->kind = COLUMN_FINDING;
    else if (strcmp(to, "event_kind") != 0) /* whose rows are the same in all databases */
        column->kind = COLUMN_REFERENCE;
}

static void set_kind(const struct copy *copy, const struct table *table, struct column *column)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].table, table->name) == 0 && strcmp(exceptions[i].column, column->name) == 0) {
            column->kind = exceptions[i].kind;
            column->table = exceptions[i].to ? find_table(copy, exceptions[i].to) : 0;
            column->is_owner = exceptions[i].is_owner;
            return;
        }
    for (size_t i = 0; i < sizeof host_times / sizeof *host_times; i++)
        if (strcmp(host_times[i], column->name) == 0)
            column->kind = COLUMN_HOST_TIME;
    if (strcmp(column->name, "id") == 0)
        set_reference(copy, column, table->name, false);
}

static struct wsdbg_error *read_columns(struct copy *copy, struct table *table)
{
    struct wsdbg_select q;
    char *sql = sqlite3_mprintf("SELECT c.name, f.\"table\", f.on_delete = 'CASCADE' FROM pragma_table_info(%Q) c "
                                "LEFT JOIN pragma_foreign_key_list(%Q) f ON f.\"from\" = c.name ORDER BY c.cid",
                                table->name, table->name);
    if (!sql)
        return &wsdbg_error_no_memory;
    wsdbg_select_begin(&q, copy->output, sql, 0);
    while (table->column_count < COLUMNS_MOST && wsdbg_select_next(&q)) {
        struct column *column = &table->columns[table->column_count++];
        wsdbg_select_text(&q, column->name, sizeof column->name);
        const char *to = wsdbg_select_string(&q);
        if (to)
            set_reference(copy, column, to, wsdbg_select_or(&q, 0) != 0);
        set_kind(copy, table, column);
    }
    sqlite3_free(sql);
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *read_schema(struct copy *copy)
{
    copy->tables = calloc(TABLES_MOST, sizeof *copy->tables);
    struct wsdbg_error *error = copy->tables ? read_tables(copy) : &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < copy->table_count; i++)
        error = read_columns(copy, &copy->tables[i]);
    return error;
}

/* ---- which rows ---- */

/* The condition under which a table's rows hang on a picture that is kept; the way to it is short, the schema has no
 * circle. */
static void put_condition(const struct copy *copy, const struct table *table, sqlite3_str *sql)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (!column->is_owner)
            continue;
        if (column->kind == COLUMN_SNAPSHOT) {
            sqlite3_str_appendf(sql, " WHERE %s IN (%lld, %lld)", column->name, (long long)copy->input->shown,
                                (long long)copy->input->before);
        } else {
            const struct table *owner = &copy->tables[column->table];
            sqlite3_str_appendf(sql, " WHERE %s IN (SELECT id FROM main.%Q", column->name, owner->name);
            put_condition(copy, owner, sql);
            sqlite3_str_appendall(sql, ")");
        }
        return;
    }
}

static char *select_text(const struct copy *copy, const struct table *table)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT ");
    for (size_t i = 0; i < table->column_count; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", table->columns[i].name);
    sqlite3_str_appendf(sql, " FROM main.%Q", table->name);
    put_condition(copy, table, sql);
    return sqlite3_str_finish(sql);
}

static char *insert_text(const struct table *table)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT INTO main.%Q (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", table->columns[i].name);
    sqlite3_str_appendall(sql, ") VALUES (");
    for (size_t i = 0; i < table->column_count; i++)
        sqlite3_str_appendall(sql, i ? ", ?" : "?");
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

/* ---- what becomes of a value ---- */

static int compare_numbers(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* By the two lists; false = the number is not in the first one. */
static bool renumber(const int64_t *from, const int64_t *to, size_t count, int64_t *value)
{
    const int64_t *found = count ? bsearch(value, from, count, sizeof *from, compare_numbers) : NULL;
    if (found)
        *value = to[found - from];
    return found;
}

/* The pictures of a range that are kept, as numbers of the merged database: [2, 2], [1, 2]; [0, 0] for none. */
static int64_t range_end(const struct wsdbg_merge_input *input, sqlite3_stmt *row, int first_column, bool is_last)
{
    const int64_t first = sqlite3_column_int64(row, first_column), last = sqlite3_column_int64(row, first_column + 1);
    const bool has_before = input->before && first <= input->before && input->before <= last;
    const bool has_shown = input->shown && first <= input->shown && input->shown <= last;
    if (is_last)
        return has_shown ? WSDBG_MERGED_SHOWN : has_before ? WSDBG_MERGED_BEFORE : 0;
    return has_before ? WSDBG_MERGED_BEFORE : has_shown ? WSDBG_MERGED_SHOWN : 0;
}

/* The new value of a number; false: it refers to nothing, as in a damaged file. */
static bool change_number(const struct copy *copy, const struct column *column, sqlite3_stmt *row, int at,
                          int64_t *value)
{
    const struct wsdbg_merge_input *input = copy->input;
    switch (column->kind) {
    case COLUMN_REFERENCE:
        return !__builtin_add_overflow(*value, copy->tables[column->table].shift, value);
    case COLUMN_PROCESS:
        return renumber(input->processes, input->new_processes, input->process_count, value);
    case COLUMN_FINDING:
        return renumber(input->findings, input->new_findings, input->finding_count, value);
    case COLUMN_SNAPSHOT:
        *value = *value == input->shown ? WSDBG_MERGED_SHOWN : WSDBG_MERGED_BEFORE;
        return true;
    case COLUMN_FIRST:
        *value = range_end(input, row, at, false);
        return true;
    case COLUMN_LAST:
        *value = range_end(input, row, at - 1, true);
        return true;
    case COLUMN_HOST_TIME:
    case COLUMN_SEEN: /* 0: never */
        return *value == 0 || !__builtin_add_overflow(*value, input->shift_ns, value);
    default:
        return true;
    }
}

static int bind_label(const struct copy *copy, sqlite3_stmt *row, int at, sqlite3_stmt *insert)
{
    const unsigned char *text = sqlite3_column_text(row, at);
    char *labelled = sqlite3_mprintf("%s: %s", copy->input->node->label, text ? (const char *)text : "");
    return labelled ? sqlite3_bind_text(insert, at + 1, labelled, -1, sqlite3_free) : SQLITE_NOMEM;
}

static int bind_value(const struct copy *copy, const struct column *column, sqlite3_stmt *row, int at,
                      sqlite3_stmt *insert)
{
    const int type = sqlite3_column_type(row, at);
    if (column->kind == COLUMN_NODE)
        return sqlite3_bind_int64(insert, at + 1, copy->input->number);
    if (column->kind == COLUMN_HOST_NAME && type == SQLITE_NULL && copy->input->hostname[0])
        return sqlite3_bind_text(insert, at + 1, copy->input->hostname, -1, SQLITE_STATIC);
    if (column->kind == COLUMN_SEEN && type == SQLITE_NULL)
        return sqlite3_bind_int64(insert, at + 1, (int64_t)copy->input->shown_ns + copy->input->shift_ns);
    if (column->kind == COLUMN_TEXT)
        return bind_label(copy, row, at, insert);
    if (column->kind == COLUMN_PLAIN || column->kind == COLUMN_HOST_NAME || type == SQLITE_NULL)
        return sqlite3_bind_value(insert, at + 1, sqlite3_column_value(row, at));
    int64_t value = sqlite3_column_int64(row, at);
    if (type != SQLITE_INTEGER || !change_number(copy, column, row, at, &value))
        return SQLITE_CORRUPT;
    return sqlite3_bind_int64(insert, at + 1, value);
}

/* ---- rows ---- */

static struct wsdbg_error *damaged(const struct copy *copy, const struct table *table, const char *column)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: a row of table %s refers to nothing in column %s",
                              copy->input->store->path, table->name, column);
}

static struct wsdbg_error *copy_row(const struct copy *copy, const struct table *table, sqlite3_stmt *row,
                                    sqlite3_stmt *insert)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const int status = bind_value(copy, &table->columns[i], row, (int)i, insert);
        if (status == SQLITE_NOMEM)
            return &wsdbg_error_no_memory;
        if (status != SQLITE_OK)
            return damaged(copy, table, table->columns[i].name);
    }
    const bool added = sqlite3_step(insert) == SQLITE_DONE;
    struct wsdbg_error *error =
        added ? NULL : wsdbg_db_error(copy->output->db, copy->output->path, "add a row of table");
    sqlite3_reset(insert);
    return wsdbg_error_prefix(error, "%s: table %s", copy->input->store->path, table->name);
}

static struct wsdbg_error *copy_rows(const struct copy *copy, const struct table *table, sqlite3_stmt *rows,
                                     sqlite3_stmt *insert)
{
    struct wsdbg_error *error = NULL;
    int status = SQLITE_ROW;
    while (!error && (status = sqlite3_step(rows)) == SQLITE_ROW)
        error = copy_row(copy, table, rows, insert);
    if (!error && status != SQLITE_DONE)
        error = wsdbg_db_error(copy->input->store->db, copy->input->store->path, "read");
    return error;
}

static struct wsdbg_error *copy_table(const struct copy *copy, const struct table *table)
{
    sqlite3_stmt *rows = NULL, *insert = NULL;
    struct wsdbg_error *error = NULL;
    char *select = select_text(copy, table), *into = insert_text(table);
    if (!select || !into)
        error = &wsdbg_error_no_memory;
    else if (sqlite3_prepare_v2(copy->input->store->db, select, -1, &rows, NULL) != SQLITE_OK)
        error = wsdbg_db_error(copy->input->store->db, copy->input->store->path, "read");
    else if (sqlite3_prepare_v2(copy->output->db, into, -1, &insert, NULL) != SQLITE_OK)
        error = wsdbg_db_error(copy->output->db, copy->output->path, "write");
    else
        error = copy_rows(copy, table, rows, insert);
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    sqlite3_free(select);
    sqlite3_free(into);
    return error;
}

struct wsdbg_error *wsdbg_merge_copy(struct wsdbg_store *output, const struct wsdbg_merge_input *input)
{
    struct copy copy = {.output = output, .input = input};
    struct wsdbg_error *error = read_schema(&copy);
    for (size_t i = 0; !error && i < copy.table_count; i++)
        if (!is_left_out(copy.tables[i].name))
            error = copy_table(&copy, &copy.tables[i]);
    free(copy.tables);
    return error;
}
