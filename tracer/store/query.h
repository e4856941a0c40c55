/* query.h - private to the room: the canned queries, and printing the rows of a statement. */
#ifndef WSDBG_STORE_QUERY_H
#define WSDBG_STORE_QUERY_H

#include "store/database.h"

struct wsdbg_canned_query {
    const char *name;     /* without the @ */
    const char *question; /* what it answers */
    const char *when;     /* a sentence on when to ask it */
    const char *sql;
    const char *arguments; /* names of ?1, ?2, … for people, NULL = takes none */
};

/* Ends with a row whose name is NULL. */
extern const struct wsdbg_canned_query wsdbg_canned_queries[];
/* The names of those that have rows only where histories are kept; ends with NULL. */
extern const char *const wsdbg_queries_of_histories[];

/* The rows of a statement, and how they are shown. */
struct wsdbg_query_rows {
    sqlite3_stmt *statement;
    size_t columns;   /* of the terminal that an aligned table must fit in, 0 = it may be of any width */
    bool short_names; /* kernels' names as their authors wrote them, not as tables have them */
    FILE *out;
};

/* Steps the statement and prints its rows.  Returns SQLITE_DONE, or the status that stopped it. */
int wsdbg_query_print(const struct wsdbg_query_rows *rows, enum wsdbg_query_format format);
/* The aligned one of the three formats.  Runs the statement twice. */
int wsdbg_query_print_aligned(const struct wsdbg_query_rows *rows);
/* A cell that is not NULL as text: numbers short but exact enough, blobs as hexadecimal.  NULL = no memory. */
char *wsdbg_query_cell(const struct wsdbg_query_rows *rows, int column);

#endif
