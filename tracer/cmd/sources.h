/* sources.h - the sources of probed modules, read while the program runs and kept in the session's database: it may be
 * looked at on another machine, or after the file has changed.  Where there is no source, the module's PTX. */
#ifndef WSDBG_CMD_SOURCES_H
#define WSDBG_CMD_SOURCES_H

#include "store/store.h"

/* What can be read of a module now: its source file or, without one, the PTX of its image in the folder `spool` (NULL =
 * none); and why something cannot.  The caller owns the strings. */
struct wsdbg_error *wsdbg_source_read(const char *spool, const struct wsdbg_module *module,
                                      struct wsdbg_source_file *out);
/* Stores that for every module that is probed or has a grid; `snapshot` is the one stored last.  *known counts what
 * the snapshot of the last call knew of its modules: nothing is done while it stays the same. */
struct wsdbg_error *wsdbg_sources_keep(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                       const char *spool, size_t *known);

#endif
