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

/* Steps the statement and prints its rows.  Returns SQLITE_DONE, or the status that stopped it.  `columns`: width of
 * the terminal that an aligned table must fit in, 0 = it may be of any width. */
int wsdbg_query_print(sqlite3_stmt *statement, enum wsdbg_query_format format, size_t columns, FILE *out);
/* The aligned one of the three formats.  Runs the statement twice. */
int wsdbg_query_print_aligned(sqlite3_stmt *statement, size_t columns, FILE *out);
/* A cell that is not NULL as text: numbers short but exact enough, blobs as hexadecimal.  NULL = no memory. */
char *wsdbg_query_cell(sqlite3_stmt *statement, int column);

#endif
