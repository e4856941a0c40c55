/* connect.h - private to the room: a connection for reading, whatever the file's folder allows. */
#ifndef WSDBG_STORE_CONNECT_H
#define WSDBG_STORE_CONNECT_H

#include "store/database.h"

/* Opens store->path into store->db, read-only, and reads its first page.  Neither the file nor its folder is
 * changed, but for the index that SQLite keeps beside a WAL.  What the page says is the caller's to judge. */
struct wsdbg_error *wsdbg_store_connect(struct wsdbg_store *store);

#endif
