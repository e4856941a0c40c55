/* progress_line.h - a line on the terminal that says how far long work is, and goes away when it is done. */
#ifndef WSDBG_BASE_PROGRESS_LINE_H
#define WSDBG_BASE_PROGRESS_LINE_H

#include <stdbool.h>

#include "base/progress.h"

struct wsdbg_progress_line {
    struct wsdbg_progress progress; /* first: a wsdbg_progress is one of these */
    const char *doing;              /* "exporting"; printable as it is */
    uint64_t patience_ns;           /* work that is done sooner shows nothing */
    bool terminal;                  /* stderr is one; in a pipe nothing is shown */
    uint64_t begun_ns;              /* 0 = no work goes on */
    uint64_t shown_ns;              /* when the line was written last, 0 = not yet */
};

/* `doing` stays the caller's.  The line may show one work after another: all done ends each. */
void wsdbg_progress_begin(struct wsdbg_progress_line *line, const char *doing, uint64_t patience_ns);
/* A text that is the caller's, of work that does not count what is done: shown where stderr is a terminal. */
void wsdbg_progress_show(struct wsdbg_progress_line *line, const char *text);
/* Takes the line off the terminal until it is shown the next time: something else is to be printed. */
void wsdbg_progress_hide(struct wsdbg_progress_line *line);
/* Takes the line off the terminal again, where the work ended before all was done. */
void wsdbg_progress_end(struct wsdbg_progress_line *line);

#endif
