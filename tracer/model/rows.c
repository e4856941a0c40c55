/* rows.c - see rows.h and tables.def.  Each operation goes through the list of tables, or follows the references.
 *
 * Special are `before` and `record`, which a snapshot owns beside its tables: copying and freeing know them.
 */
#include "model/rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- references ---- */

/* The same member of neighbouring rows. */
struct column {
    size_t count, row_bytes;
};

enum {
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    IS_SHARED_##rows = WSDBG_TABLES_##kind == WSDBG_TABLES_SHARED,
#include "model/tables.def"
};

static const struct wsdbg_table_counts from_the_first;
static const struct wsdbg_table_maps same_numbers;

static bool changes(struct wsdbg_table_map map)
{
    return map.numbers || map.shift;
}

static uint32_t mapped(uint32_t row, struct wsdbg_table_map map)
{
    if (row == WSDBG_NONE)
        return WSDBG_NONE;
    return map.numbers ? map.numbers[row] : row + map.shift;
}

static void follow_row(uint32_t *member, struct column column, struct wsdbg_table_map map)
{
    char *at = (char *)member, *const end = at + column.count * column.row_bytes;
    if (map.numbers)
        for (; at < end; at += column.row_bytes)
            *(uint32_t *)at = mapped(*(uint32_t *)at, map);
    else if (map.shift)
        for (; at < end; at += column.row_bytes)
            *(uint32_t *)at += *(uint32_t *)at != WSDBG_NONE ? map.shift : 0;
}

static void follow_known_row(struct wsdbg_optional_u32 *member, struct column column, struct wsdbg_table_map map)
{
    char *at = (char *)member;
    for (size_t i = 0; changes(map) && i < column.count; i++, at += column.row_bytes) {
        struct wsdbg_optional_u32 *value = (struct wsdbg_optional_u32 *)at;
        const uint32_t row = value->known ? mapped(value->value, map) : WSDBG_NONE;
        *value = row != WSDBG_NONE ? wsdbg_known_u32(row) : (struct wsdbg_optional_u32){0};
    }
}

/* What is left of a span is a span: rows keep their order. */
static void map_span(uint32_t *first, uint32_t *count, const uint32_t *rows)
{
    const uint32_t end = *first + *count;
    uint32_t left = 0;
    for (uint32_t i = *first; i < end; i++)
        if (rows[i] != WSDBG_NONE && left++ == 0)
            *first = rows[i];
    *count = left;
}

static void follow_span(uint32_t *first, uint32_t *count, struct column column, struct wsdbg_table_map map)
{
    char *at_first = (char *)first, *at_count = (char *)count;
    for (size_t i = 0; changes(map) && i < column.count; i++) {
        if (map.numbers)
            map_span((uint32_t *)at_first, (uint32_t *)at_count, map.numbers);
        else
            *(uint32_t *)at_first += map.shift;
        at_first += column.row_bytes;
        at_count += column.row_bytes;
    }
}

/* From a table whose rows are at `old` to one whose rows are at `now`. */
static void follow_pointer(void *member, struct column column, const char *old, const char *now, size_t bytes,
                           struct wsdbg_table_map map)
{
    char *at = member;
    for (size_t i = 0; (old != now || changes(map)) && i < column.count; i++, at += column.row_bytes) {
        const char *pointer;
        memcpy(&pointer, at, sizeof pointer);
        const uint32_t row = pointer ? mapped((uint32_t)((size_t)(pointer - old) / bytes), map) : WSDBG_NONE;
        pointer = row != WSDBG_NONE ? now + row * bytes : NULL;
        memcpy(at, &pointer, sizeof pointer);
    }
}

/* The first row's member as the first of a column: of the rows, not of that member alone. */
#define COLUMN(member) ((void *)((char *)row + offsetof(__typeof__(*row), member)))

/* Brings the references of the rows from `first` on up to date: their numbers are from before the maps, their pointers
 * go to the rows of `old`. */
static void follow(struct wsdbg_snapshot *s, const struct wsdbg_table_counts *first, const struct wsdbg_snapshot *old,
                   const struct wsdbg_table_maps *maps)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)         \
    if (s->count > first->rows) {                                           \
        row_type *const row = &s->rows[first->rows];                        \
        const struct column column = {s->count - first->rows, sizeof *row}; \
        (void)row, (void)column;                                            \
        references;                                                         \
    }
#define WSDBG_OWNER(member, table) follow_row(COLUMN(member), column, maps->table);
#define WSDBG_ROW(member, table) follow_row(COLUMN(member), column, maps->table);
#define WSDBG_KNOWN_ROW(member, table) follow_known_row(COLUMN(member), column, maps->table);
#define WSDBG_SPAN(first, count, table) follow_span(COLUMN(first), COLUMN(count), column, maps->table);
#define WSDBG_POINTER(member, table)                                                                           \
    _Static_assert(IS_SHARED_##table, "wsdbg_rows_reserve keeps these alone");                                 \
    follow_pointer(COLUMN(member), column, (const char *)old->table, (const char *)s->table, sizeof *s->table, \
                   maps->table);
#include "model/tables.def"
}

/* ---- copy, end, part ---- */

/* NULL for no room, and where there is no memory. */
static void *copy_of(const void *rows, size_t count, size_t room, size_t row_bytes, bool *whole)
{
    void *copy = room > 0 ? reallocarray(NULL, room, row_bytes) : NULL;
    if (copy && count > 0)
        memcpy(copy, rows, count * row_bytes);
    *whole = *whole && (copy || room == 0);
    return copy;
}

/* A snapshot that belongs to another one. */
static struct wsdbg_snapshot *copy_of_other(const struct wsdbg_snapshot *other, bool *whole)
{
    struct wsdbg_snapshot *copy = other ? calloc(1, sizeof *copy) : NULL;
    if (other && (!copy || wsdbg_snapshot_copy(other, copy)))
        *whole = false;
    return copy;
}

struct wsdbg_error *wsdbg_snapshot_copy(const struct wsdbg_snapshot *snapshot, struct wsdbg_snapshot *out)
{
    struct wsdbg_snapshot copy = *snapshot;
    bool whole = true;
    copy.before = copy_of_other(snapshot->before, &whole);
    copy.record = copy_of_other(snapshot->record, &whole);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    copy.rows = copy_of(snapshot->rows, snapshot->count, snapshot->count, sizeof(row_type), &whole);
#include "model/tables.def"
    if (whole) {
        follow(&copy, &from_the_first, snapshot, &same_numbers);
        *out = copy;
        return NULL;
    }
    wsdbg_snapshot_deinit(&copy);
    return &wsdbg_error_no_memory;
}

void wsdbg_snapshot_deinit(struct wsdbg_snapshot *snapshot)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) free(snapshot->rows);
#include "model/tables.def"
    struct wsdbg_snapshot *others[] = {snapshot->before, snapshot->record};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i])
            wsdbg_snapshot_deinit(others[i]);
        free(others[i]);
    }
    memset(snapshot, 0, sizeof *snapshot);
}

void wsdbg_rows_borrow(const struct wsdbg_snapshot *snapshot, unsigned kinds, struct wsdbg_snapshot *view)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)   \
    view->rows = kinds & WSDBG_TABLES_##kind ? snapshot->rows : NULL; \
    view->count = kinds & WSDBG_TABLES_##kind ? snapshot->count : 0;
#include "model/tables.def"
}

/* ---- room, more rows ---- */

/* Rows that pointers may go to are still there behind this: the caller frees them. */
static void *larger(void *rows, size_t count, size_t more, size_t row_bytes, bool pointed, bool *whole)
{
    if (!*whole || more == 0)
        return rows;
    void *room =
        pointed ? copy_of(rows, count, count + more, row_bytes, whole) : reallocarray(rows, count + more, row_bytes);
    *whole = room != NULL;
    return room ? room : rows;
}

struct wsdbg_error *wsdbg_rows_reserve(struct wsdbg_snapshot *snapshot, const struct wsdbg_table_counts *more)
{
    const struct wsdbg_snapshot old = *snapshot;
    bool whole = true;
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    snapshot->rows = larger(snapshot->rows, snapshot->count, more->rows, sizeof(row_type), IS_SHARED_##rows, &whole);
#include "model/tables.def"
    follow(snapshot, &from_the_first, &old, &same_numbers);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    if (IS_SHARED_##rows && snapshot->rows != old.rows)             \
        free(old.rows);
#include "model/tables.def"
    return whole ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_rows_append(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from,
                                      const struct wsdbg_table_maps *found)
{
    struct wsdbg_table_maps maps = *found;
    struct wsdbg_table_counts first, more;
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    first.rows = to->count;                                         \
    more.rows = maps.rows.numbers ? 0 : from->count;                \
    maps.rows.shift = (uint32_t)to->count;
#include "model/tables.def"
    struct wsdbg_error *error = wsdbg_rows_reserve(to, &more);
    if (error)
        return error;
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)             \
    if (more.rows > 0)                                                          \
        memcpy(&to->rows[to->count], from->rows, more.rows * sizeof(row_type)); \
    to->count += more.rows;
#include "model/tables.def"
    follow(to, &first, from, &maps);
    return NULL;
}

/* ---- fewer rows ---- */

static bool is_gone(uint32_t row, struct wsdbg_table_map map)
{
    return row != WSDBG_NONE && map.numbers && map.numbers[row] == WSDBG_NONE;
}

/* Room for new numbers of those tables of which rows may go. */
static bool make_maps(const struct wsdbg_snapshot *snapshot, const struct wsdbg_table_choice *chosen,
                      struct wsdbg_table_maps *maps)
{
    bool whole = true;
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)                           \
    if (snapshot->count > 0 && (chosen->rows references)) {                                   \
        maps->rows.numbers = reallocarray(NULL, snapshot->count, sizeof *maps->rows.numbers); \
        whole = whole && maps->rows.numbers;                                                  \
    }
#define WSDBG_OWNER(member, table) || maps->table.numbers
#include "model/tables.def"
    return whole;
}

/* Moves the rows that stay together, owners before what belongs to them. */
static void keep_others(struct wsdbg_snapshot *snapshot, const struct wsdbg_table_choice *chosen,
                        const struct wsdbg_table_maps *maps)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)     \
    if (maps->rows.numbers) {                                           \
        enum { THIS_TABLE = offsetof(struct wsdbg_snapshot, rows) };    \
        size_t kept = 0;                                                \
        for (size_t i = 0; i < snapshot->count; i++) {                  \
            row_type *const row = &snapshot->rows[i];                   \
            bool gone = chosen->rows && chosen->rows[i];                \
            references;                                                 \
            maps->rows.numbers[i] = gone ? WSDBG_NONE : (uint32_t)kept; \
            if (!gone)                                                  \
                memmove(&snapshot->rows[kept++], row, sizeof *row);     \
        }                                                               \
        snapshot->count = kept;                                         \
    }
#define WSDBG_OWNER(member, table)                                                                              \
    _Static_assert(offsetof(struct wsdbg_snapshot, table) < THIS_TABLE, "an owner's table stands before this"); \
    gone = gone || is_gone(row->member, maps->table);
#include "model/tables.def"
}

struct wsdbg_error *wsdbg_rows_drop(struct wsdbg_snapshot *snapshot, const struct wsdbg_table_choice *chosen)
{
    struct wsdbg_table_maps maps = {0};
    const bool whole = make_maps(snapshot, chosen, &maps);
    if (whole) {
        keep_others(snapshot, chosen, &maps);
        follow(snapshot, &from_the_first, snapshot, &maps);
    }
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) free(maps.rows.numbers);
#include "model/tables.def"
    return whole ? NULL : &wsdbg_error_no_memory;
}
