/* source_live.h - what a session that runs looks like: pictures as they are made, the log as it is written.
 *
 * The one who makes the pictures (the watch of this process, or a reader of another's session) fills a
 * struct viewer_feed; the viewer asks it when it is about to draw, so nothing is copied that nobody sees.
 * Not thread-safe: feed and viewer share one thread.
 */
#ifndef VIEWER_SOURCE_LIVE_H
#define VIEWER_SOURCE_LIVE_H

#include "viewer/log_ring.h"
#include "viewer/picture.h"

/* A picture on its way to the viewer; the receiver owns what is inside. */
struct viewer_fresh {
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    bool diagnosed;
};

struct viewer_feed {
    /* Moves the newest picture into *fresh if it is newer than the one given last.  Never blocks. */
    struct wsdbg_error *(*take)(struct viewer_feed *feed, uint64_t now_ns, bool *newer, struct viewer_fresh *fresh);
    /* As in struct viewer_source_ops, all of them or none: the program can be reached. */
    void (*input)(struct viewer_feed *feed, const char *bytes, size_t count);
    const char *(*question)(struct viewer_feed *feed);
    bool (*answer)(struct viewer_feed *feed, int key);
    void (*interrupt)(struct viewer_feed *feed);
    void (*stop)(struct viewer_feed *feed);
    void (*look)(struct viewer_feed *feed); /* NULL = it cannot be asked for; also without the others */
    /* What can be read of a module; the receiver owns the strings. */
    struct wsdbg_error *(*read_source)(struct viewer_feed *feed, const struct wsdbg_module *module,
                                       struct wsdbg_source_file *out);
    void (*close)(struct viewer_feed *feed);
    const struct wsdbg_session_info *info; /* stays valid as long as the feed; NULL = not known */
    const struct viewer_log_ring *log;     /* NULL = none */
    char unfinished[256];                  /* what the program wrote after its last newline, "" = nothing */
};

/* Takes the feed and closes it with the source, also when this fails. */
struct wsdbg_error *viewer_source_open_live(struct viewer_feed *feed, struct viewer_source **out);
/* The session is over: the picture stays as it is.  `end` and its text are copied; NULL = how is not known yet. */
void viewer_live_end(struct viewer_source *source, const struct wsdbg_session_end *end);
/* The line that pictures carry as their status. */
void viewer_live_set_status(struct viewer_source *source, const char *status);

#endif
