/* load.h - a stored session back in memory: the shown picture as the snapshot it was written from.
 *
 * Differs from it only in what the report and the viewer need not: histories are left out unless asked for,
 * and tables of the session hold what was seen until then, ordered by their ids.
 */
#ifndef WSDBG_STORE_LOAD_H
#define WSDBG_STORE_LOAD_H

#include "store/store.h"

/* Where a warp's history lies in the database. */
struct wsdbg_event_range {
    int64_t first_id;
    uint32_t count;
};

struct wsdbg_loaded {
    struct wsdbg_session_info info;
    struct wsdbg_session_end end;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    bool ended; /* false: still running, or wsdbg was killed */
    bool has_snapshot;
    bool diagnosed;
    struct wsdbg_event_range *events; /* by warp index, also where histories were left out */
    char **strings; /* what the plain pointers above point to */
    size_t string_count;
};

/* `out` is owned by the caller; untouched on error. */
struct wsdbg_error *wsdbg_store_load(struct wsdbg_store *store, bool histories, struct wsdbg_loaded *out);
/* The same of the newest picture, whichever is shown; without a diagnosis. */
struct wsdbg_error *wsdbg_store_load_newest(struct wsdbg_store *store, struct wsdbg_loaded *out);
/* Another number when somebody has written to the file since. */
int64_t wsdbg_store_version(struct wsdbg_store *store);
void wsdbg_loaded_deinit(struct wsdbg_loaded *loaded);

/* Reads at most `count` events of warp index `warp` from number `first` of its history on, oldest first; *got says
 * how many there were. */
struct wsdbg_error *wsdbg_store_events(struct wsdbg_store *store, const struct wsdbg_loaded *loaded, uint32_t warp,
                                       uint32_t first, uint32_t count, struct wsdbg_history_event *out, uint32_t *got);

/* What a reader beside a run asks before it loads anything: is there something new, and is the verdict still true. */
struct wsdbg_store_state {
    int64_t shown;    /* number of the picture that wsdbg_store_load gives, 0 = none */
    bool diagnosed;   /* that picture is */
    bool moved_since; /* a newer picture shows that something moved after it */
    int64_t newest;   /* number of the newest picture, 0 = none */
    bool newest_looked; /* that one rests on a look at the GPU itself */
    bool ended;
    uint64_t log_lines;
};
struct wsdbg_error *wsdbg_store_get_state(struct wsdbg_store *store, struct wsdbg_store_state *out);

uint64_t wsdbg_store_log_count(struct wsdbg_store *store);
/* Line `number`, 0 = oldest; *found = false when there is none.  Its text stays valid until the next call with this
 * store. */
struct wsdbg_error *wsdbg_store_log_line(struct wsdbg_store *store, uint64_t number, struct wsdbg_log_line *out,
                                         bool *found);
/* What was kept of the source of a loaded module, as it was when the program ran: all NULL where nothing was.  The caller
 * owns the strings. */
struct wsdbg_error *wsdbg_store_source_file(struct wsdbg_store *store, const struct wsdbg_module *module,
                                            struct wsdbg_source_file *out);

#endif
