/* spool.h - a private folder (0700) for the module images that the observer keeps. */
#ifndef WSDBG_CMD_SPOOL_H
#define WSDBG_CMD_SPOOL_H

#include "base/error.h"

/* Creates the folder under TMPDIR or /tmp.  The caller frees *out. */
struct wsdbg_error *wsdbg_spool_create(char **out);
/* Removes the files in it and the folder, and frees the name.  NULL is fine. */
void wsdbg_spool_destroy(char *folder);

#endif
