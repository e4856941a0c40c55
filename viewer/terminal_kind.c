/* terminal_kind.c - see terminal_kind.h.  A file of its own because term.h makes macros of plain words. */
#include "viewer/terminal_kind.h"

#include <stdbool.h>
#include <stdlib.h>

#include <ncurses.h>
#include <term.h>

struct wsdbg_error *viewer_terminal_check(int descriptor)
{
    const char *kind = getenv("TERM");
    int state = 0;
    if (!kind || !*kind)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "TERM is not set: it is not known what terminal this is");
    if (setupterm(NULL, descriptor, &state) != OK)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "TERM=%s: this machine has no description of that terminal; try TERM=xterm", kind);
    const bool places = cursor_address != NULL;
    del_curterm(cur_term);
    return places ? NULL
                  : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "TERM=%s: a terminal that cannot place its cursor", kind);
}
