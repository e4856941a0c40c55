/* spool.h - the session's private folder (0700): module images, reasons, and segments where /dev/shm has little room.
 *
 * The run holds a lock on a file in it for as long as it lives, so a folder without a lock is what a killed run left.
 */
#ifndef WSDBG_PROGRAM_SPOOL_H
#define WSDBG_PROGRAM_SPOOL_H

#include "base/error.h"

/* A folder and its lock; {NULL, -1} = none. */
struct wsdbg_spool {
    char *path;
    int lock;
};

/* Creates the folder under TMPDIR or /tmp.  What killed runs of this user left there is removed. */
struct wsdbg_error *wsdbg_spool_create(struct wsdbg_spool *out);
/* Removes the files in it and the folder.  One without a path is fine. */
void wsdbg_spool_destroy(struct wsdbg_spool *spool);

#endif
