/* migrate.h - private to the room: a database of an older schema version, read as one of today's. */
#ifndef WSDBG_STORE_MIGRATE_H
#define WSDBG_STORE_MIGRATE_H

#include "store/database.h"

/* Exchanges the store's connection for one to a private copy that is brought from schema version `from` (1 or later)
 * to the present one.  The file is not changed; the copy has no name and goes with the connection. */
struct wsdbg_error *wsdbg_store_migrate(struct wsdbg_store *store, int64_t from);

#endif
