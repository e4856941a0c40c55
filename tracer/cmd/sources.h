/* sources.h - the source files of probed modules, read while the program runs and kept in the session's database: it
 * may be looked at on another machine, or after the file has changed. */
#ifndef WSDBG_CMD_SOURCES_H
#define WSDBG_CMD_SOURCES_H

#include "store/store.h"

/* The text of a source file, which the caller frees; NULL with *why (static) where there is none: not found, too
 * large, no text. */
char *wsdbg_source_read(const char *path, const char **why);
/* Stores the files of the modules that name one; `snapshot` is the one stored last.  *kept counts those of the last
 * call: nothing is done while it stays the same. */
struct wsdbg_error *wsdbg_sources_keep(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot, size_t *kept);

#endif
