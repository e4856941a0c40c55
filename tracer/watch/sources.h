/* sources.h - the sources of probed modules, read while the program runs and kept in the session's database: it may be
 * looked at on another machine, or after the file has changed.  Where there is no source, the module's PTX. */
#ifndef WSDBG_WATCH_SOURCES_H
#define WSDBG_WATCH_SOURCES_H

#include "sass/holds.h"
#include "store/store.h"

/* What can be read of a module now: its source file or, without one, the PTX of its image in the folder `spool` (NULL =
 * none); and why something cannot.  The caller owns the strings. */
struct wsdbg_error *wsdbg_source_read(const char *spool, const struct wsdbg_module *module,
                                      struct wsdbg_source_file *out);
/* For which architectures a file of machine code or PTX holds code. */
struct wsdbg_error *wsdbg_file_holds(const char *path, struct wsdbg_holds *out);

/* What the database has already; begins as zero. */
struct wsdbg_sources {
    struct wsdbg_kept_source *kept;
    size_t count, capacity;
};

/* Stores that for every module that is probed or has a grid, once.  Stores it again when an image comes, or when another
 * source file shows the module better.  `snapshot` is the one stored last. */
struct wsdbg_error *wsdbg_sources_keep(struct wsdbg_sources *sources, struct wsdbg_store *store,
                                       const struct wsdbg_snapshot *snapshot, const char *spool);
void wsdbg_sources_deinit(struct wsdbg_sources *sources);

#endif
