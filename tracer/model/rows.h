/* rows.h - all tables of a snapshot at once: room for rows, rows of another snapshot, rows that go.  tables.def has the
 * tables and which of their members refer to rows of others; what is here follows from it.
 *
 * Reads and writes: snapshots.  wsdbg_snapshot_copy and wsdbg_snapshot_deinit of snapshot.h are in rows.c too.
 */
#ifndef WSDBG_MODEL_ROWS_H
#define WSDBG_MODEL_ROWS_H

#include "model/snapshot.h"

/* A number for each table: how many rows, or for how many there is room. */
struct wsdbg_table_counts {
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) size_t rows;
#include "model/tables.def"
};

/* Rows for each table that are chosen: a bool for each row; NULL = none. */
struct wsdbg_table_choice {
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) const bool *rows;
#include "model/tables.def"
};

/* What numbers the rows of a table get. */
struct wsdbg_table_map {
    uint32_t *numbers; /* by the old number, WSDBG_NONE = the row is not there; NULL = as it was, and: */
    uint32_t shift;    /* so much higher */
};

struct wsdbg_table_maps {
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) struct wsdbg_table_map rows;
#include "model/tables.def"
};

/* Kinds of tables, as tables.def says them. */
enum wsdbg_table_kind { WSDBG_TABLES_SHARED = 1, WSDBG_TABLES_HOST = 2, WSDBG_TABLES_PICTURE = 4 };

/* Makes room for so many rows more than there are in each table.  Error: out of memory, no row is lost. */
struct wsdbg_error *wsdbg_rows_reserve(struct wsdbg_snapshot *snapshot, const struct wsdbg_table_counts *more);

/* Adds the rows of `from` behind those of `to`, table by table, and makes them refer to one another.  A table that has
 * a map in `found` is not added: the map says which rows of `to` its rows are.  Error: out of memory, `to` is as it
 * was. */
struct wsdbg_error *wsdbg_rows_append(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from,
                                      const struct wsdbg_table_maps *found);

/* Takes out the chosen rows and all that belong to them.  What else refers to them refers to none.  Error: out of
 * memory, the snapshot is as it was. */
struct wsdbg_error *wsdbg_rows_drop(struct wsdbg_snapshot *snapshot, const struct wsdbg_table_choice *chosen);

/* Gives `view` the tables of these kinds (enum wsdbg_table_kind) that `snapshot` has, which owns them still, and no
 * others: something to copy.  What `view` had is not freed. */
void wsdbg_rows_borrow(const struct wsdbg_snapshot *snapshot, unsigned kinds, struct wsdbg_snapshot *view);

#endif
