/* terminal_kind.h - private to the viewer's frame: whether it can draw on this kind of terminal.  Reads TERM. */
#ifndef VIEWER_TERMINAL_KIND_H
#define VIEWER_TERMINAL_KIND_H

#include "base/error.h"

/* An error that says why not.  To be asked before ncurses starts, which draws on whatever has a description. */
struct wsdbg_error *viewer_terminal_check(int descriptor);

#endif
