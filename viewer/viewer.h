/* viewer.h - the terminal program: views on a source, until the reader leaves.
 *
 * Reads: a source, keys.  Writes: the terminal, and puts it back at the end, also when a signal ends the program.
 * Single-threaded; one viewer a process (ncurses).
 */
#ifndef VIEWER_VIEWER_H
#define VIEWER_VIEWER_H

#include "viewer/picture.h"

struct viewer;

struct viewer_options {
    const char *title;    /* file or session name, for the top line */
    const char *terminal; /* device to draw on, NULL = standard input and output */
    const char *start;    /* name of the view to begin with, NULL = overview */
};

/* Takes the terminal.  Takes the source and closes it in viewer_close, also when this fails. */
struct wsdbg_error *viewer_open(const struct viewer_options *options, struct viewer_source *source,
                                struct viewer **out);
/* Readable when keys wait. */
int viewer_descriptor(const struct viewer *viewer);
/* When the next viewer_step is due without a key (monotonic ns). */
uint64_t viewer_due_ns(const struct viewer *viewer);
/* Takes pending keys, updates the source, draws what changed.  Never blocks.  False: the reader wants to leave. */
bool viewer_step(struct viewer *viewer, uint64_t now_ns);
/* The step's loop for callers who have nothing else to wait for.  Returns when the reader leaves or one of
 * SIGTERM, SIGHUP, SIGINT, SIGQUIT says so: its number, else 0. */
struct wsdbg_error *viewer_run(struct viewer *viewer, int *signal_number);
/* Gives the terminal back. NULL is fine. */
void viewer_close(struct viewer *viewer);

#endif
