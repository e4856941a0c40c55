/* database_place.h - where a session database lies: the file that was asked for, or one in a private folder. */
#ifndef WSDBG_WATCH_DATABASE_PLACE_H
#define WSDBG_WATCH_DATABASE_PLACE_H

#include <stdbool.h>

#include "base/error.h"

struct wsdbg_database_place {
    char *path;
    char *private_folder; /* NULL = the caller wanted the file */
};

/* wanted: NULL = a private file under TMPDIR or /tmp.  Creates no database. */
struct wsdbg_error *wsdbg_database_place_choose(const char *wanted, struct wsdbg_database_place *out);
/* No file of ours lies at the place: what may lie there is somebody else's and stays. */
void wsdbg_database_place_disown(struct wsdbg_database_place *place);
/* Frees; removes the database where it is private, or is to be discarded. */
void wsdbg_database_place_deinit(struct wsdbg_database_place *place, bool discard);

#endif
