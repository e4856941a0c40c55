/* guard.h - private to the room: what keeps a database of unknown origin from costing more than reading it does. */
#ifndef WSDBG_STORE_GUARD_H
#define WSDBG_STORE_GUARD_H

#include "store/database.h"

/* For each connection that reads: no trigger runs, no cell is longer than wsdbg would read, and statements end when the
 * time of base/limits.h is over.  Every reading error then says so. */
void wsdbg_guard_connection(struct wsdbg_store *store);
/* Before anything else is read: each of our tables is one, and no table is made by code (a virtual one). */
struct wsdbg_error *wsdbg_guard_check_tables(struct wsdbg_store *store);
/* Puts the program's own views before the file's: those may be of another version, or of somebody who means harm. */
struct wsdbg_error *wsdbg_guard_use_own_views(struct wsdbg_store *store);

#endif
