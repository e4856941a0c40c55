/* progress.h - a line on the terminal that says how far long work is, and goes away when it is done. */
#ifndef WSDBG_CMD_PROGRESS_H
#define WSDBG_CMD_PROGRESS_H

#include <stdbool.h>

#include "base/progress.h"

struct wsdbg_progress_line {
    struct wsdbg_progress progress; /* first: a wsdbg_progress is one of these */
    const char *doing;              /* "exporting"; printable as it is */
    bool terminal;                  /* stderr is one; in a pipe nothing is shown */
    uint64_t shown_ns;              /* when the line was written last, 0 = not yet */
};

/* `doing` stays the caller's. */
void wsdbg_progress_begin(struct wsdbg_progress_line *line, const char *doing);
/* Takes the line off the terminal again; before anything else is said. */
void wsdbg_progress_end(struct wsdbg_progress_line *line);

#endif
