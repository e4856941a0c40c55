/* event_rows.h - private to the room: a snapshot's histories as a table that SQL can read.
 *
 * One INSERT … SELECT stores ten million events in two thirds of the time of as many INSERTs, whose cost is the
 * statement, not the row.
 */
#ifndef WSDBG_STORE_EVENT_ROWS_H
#define WSDBG_STORE_EVENT_ROWS_H

#include "store/database.h"

/* Columns of the table event, in its order. */
enum wsdbg_event_column {
    WSDBG_EVENT_ID,
    WSDBG_EVENT_WARP,
    WSDBG_EVENT_KIND,
    WSDBG_EVENT_BARRIER,
    WSDBG_EVENT_STAGE,
    WSDBG_EVENT_PARITY,
    WSDBG_EVENT_ITERATION,
    WSDBG_EVENT_VALUE,
    WSDBG_EVENT_LINE,
    WSDBG_EVENT_TIME,
};

/* The value of a column from KIND on; false = NULL: this kind of event has none. */
bool wsdbg_event_value(const struct wsdbg_history_event *event, enum wsdbg_event_column column, int64_t *out);

/* The part of a warp's history that the snapshot has. */
uint32_t wsdbg_stored_events(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp);

/* Writes the histories of every warp of the snapshot into the table event, with the ids that store->first says. */
struct wsdbg_error *wsdbg_write_events(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot);

#endif
