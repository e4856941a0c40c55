/* query.h - private to the room: the canned queries, and printing the rows of a statement. */
#ifndef WSDBG_STORE_QUERY_H
#define WSDBG_STORE_QUERY_H

#include "store/database.h"

struct wsdbg_canned_query {
    const char *name;     /* without the @ */
    const char *question; /* what it answers */
    const char *sql;
};

/* Ends with a row whose name is NULL. */
extern const struct wsdbg_canned_query wsdbg_canned_queries[];

/* Steps the statement and prints its rows.  Returns SQLITE_DONE, or the status that stopped it. */
int wsdbg_query_print(sqlite3_stmt *statement, enum wsdbg_query_format format, FILE *out);

#endif
