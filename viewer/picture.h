/* picture.h - what the views show: one moment of a session as plain data, and the source that it comes from.
 *
 * Sources: database (a finished session), live (snapshots of a run in this process), attached (a running session of
 * another wsdbg).  A view never asks which one it is.  What is not known is shown as ?.
 */
#ifndef VIEWER_PICTURE_H
#define VIEWER_PICTURE_H

#include "store/load.h"

/* Pointers belong to the source and stay valid until its next update. */
struct viewer_picture {
    uint64_t number;                         /* another one for another picture */
    const struct wsdbg_session_info *info;   /* NULL = not known */
    const struct wsdbg_session_end *end;     /* NULL = still running, or wsdbg was killed */
    const struct wsdbg_snapshot *snapshot;   /* NULL = none yet.  Histories are read through the source */
    const struct wsdbg_diagnosis *diagnosis; /* of this snapshot; NULL = nothing stalled */
    uint64_t now_ns;                         /* host time that "for how long" is counted to */
    bool live;                               /* the session goes on */
    char status[160];                        /* one line from the source, "" = nothing: "attached, read-only", … */
};

struct viewer_source;

/* Calls that a source lacks are NULL. */
struct viewer_source_ops {
    const char *name;
    /* Brings the picture up to date.  Never blocks.  *changed: it is another one. */
    struct wsdbg_error *(*update)(struct viewer_source *source, uint64_t now_ns, bool *changed);
    const struct viewer_picture *(*picture)(struct viewer_source *source);
    /* Number of events in the history of a warp (index in snapshot.warps). */
    uint32_t (*event_count)(struct viewer_source *source, uint32_t warp);
    /* Copies at most `count` events from number `first` on, oldest first; returns how many. */
    uint32_t (*events)(struct viewer_source *source, uint32_t warp, uint32_t first, uint32_t count,
                       struct wsdbg_history_event *out);
    size_t (*log_count)(struct viewer_source *source);
    /* Line `number` (0 = oldest); false when there is none. */
    bool (*log_line)(struct viewer_source *source, size_t number, struct wsdbg_log_line *out);
    /* What can be read of a module (index in snapshot.modules), NULL = nothing; valid until the next call. */
    const struct wsdbg_source_file *(*source_file)(struct viewer_source *source, uint32_t module);
    /* Gives the program input. */
    void (*input)(struct viewer_source *source, const char *bytes, size_t count);
    /* The reader wants to leave: a question to answer with one key first, or NULL. */
    const char *(*question)(struct viewer_source *source);
    /* The key of the answer.  True: leave. */
    bool (*answer)(struct viewer_source *source, int key);
    /* Ctrl-C: for the program.  NULL = it means leaving. */
    void (*interrupt)(struct viewer_source *source);
    /* Ctrl-Z, the terminal is given back: returns when the process was continued.  NULL = stop just this process. */
    void (*stop)(struct viewer_source *source);
    /* Ctrl-\: the reader wants to see now where warps stand; false: that cannot be.  NULL = likewise. */
    bool (*look)(struct viewer_source *source);
    void (*close)(struct viewer_source *source);
};

struct viewer_source {
    const struct viewer_source_ops *ops;
};

/* A finished session, or one that runs, from its database alone.  Takes the store and closes it. */
struct wsdbg_error *viewer_source_open_database(struct wsdbg_store *store, struct viewer_source **out);

#endif
