/* load.h - a stored session back in memory: the shown picture as the snapshot it was written from.
 *
 * Differs from it only in what the report and the viewer need not: histories are left out unless asked for,
 * and tables of the session hold what was seen until then, ordered by their ids.
 */
#ifndef WSDBG_STORE_LOAD_H
#define WSDBG_STORE_LOAD_H

#include "store/store.h"

struct wsdbg_loaded {
    struct wsdbg_session_info info;
    struct wsdbg_session_end end;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    bool ended; /* false: still running, or wsdbg was killed */
    bool has_snapshot;
    bool diagnosed;
    char **strings; /* what the plain pointers above point to */
    size_t string_count;
};

/* `out` is owned by the caller; untouched on error. */
struct wsdbg_error *wsdbg_store_load(struct wsdbg_store *store, bool histories, struct wsdbg_loaded *out);
void wsdbg_loaded_deinit(struct wsdbg_loaded *loaded);

#endif
