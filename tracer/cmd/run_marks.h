/* run_marks.h - `wsdbg run --mark`: what a run does about hangs that other wsdbg have found, and they about its own. */
#ifndef WSDBG_CMD_RUN_MARKS_H
#define WSDBG_CMD_RUN_MARKS_H

#include "program/marks.h"
#include "program/supervise.h"
#include "watch/watch.h"

struct wsdbg_run_marks {
    struct wsdbg_marks *files; /* NULL = without --mark */
    bool picture_due;          /* asked for, at the wait before */
    uint64_t picture_ns;       /* when the newest one was asked for; 0 = never */
};

/* `folder` NULL = without --mark. */
struct wsdbg_error *wsdbg_run_marks_open(const char *folder, struct wsdbg_run_marks *out);
/* Looks for new marks of other nodes.  The watch calls it between two looks; true: it must take its picture now. */
bool wsdbg_run_marks_look(struct wsdbg_run_marks *marks, const struct wsdbg_watch *watch, uint64_t now_ns);
/* Before the program is ended: the others get time to take theirs, ten seconds at most. */
void wsdbg_run_marks_wait(struct wsdbg_run_marks *marks, const struct wsdbg_watch *watch, struct wsdbg_child *child);
void wsdbg_run_marks_close(struct wsdbg_run_marks *marks);

#endif
