/* keys.c - see keys.h.  The conventions are those of htop and tig. */
#include "viewer/keys.h"

#include <ncurses.h>

#define CONTROL(letter) ((letter)&0x1f)

const struct viewer_binding viewer_bindings[] = {
    {{KEY_UP, 'k'}, VIEWER_DO_UP, {"Up k", "up"}},
    {{KEY_DOWN, 'j'}, VIEWER_DO_DOWN, {"Down j", "down"}},
    {{KEY_PPAGE, CONTROL('b')}, VIEWER_DO_PAGE_UP, {"PgUp", "a page up"}},
    {{KEY_NPAGE, CONTROL('f')}, VIEWER_DO_PAGE_DOWN, {"PgDn", "a page down"}},
    {{KEY_HOME, 'g'}, VIEWER_DO_FIRST, {"Home g", "to the first row"}},
    {{KEY_END, 'G'}, VIEWER_DO_LAST, {"End G", "to the last row"}},
    {{KEY_LEFT, 'h'}, VIEWER_DO_CLOSE, {"Left h", "close the row, or go to the one it belongs to"}},
    {{KEY_RIGHT, 'l'}, VIEWER_DO_OPEN, {"Right l", "open the row"}},
    {{'\n', '\r', KEY_ENTER}, VIEWER_DO_ENTER, {"Enter", "open or close the row, or go to what it shows"}},
    {{KEY_BACKSPACE, 127, CONTROL('h')}, VIEWER_DO_BACK, {"Backspace", "back to where Enter came from"}},
    {{'/'}, VIEWER_DO_SEARCH, {"/", "search in this view"}},
    {{'n'}, VIEWER_DO_NEXT, {"n", "next match"}},
    {{'N'}, VIEWER_DO_PREVIOUS, {"N", "previous match"}},
    {{'f'}, VIEWER_DO_FILTER, {"f", "filter: kernel=… role=… cta=0-15 state=… or a bare word; empty = all"}},
    {{'s'}, VIEWER_DO_SORT, {"s", "next order of the rows"}},
    {{' '}, VIEWER_DO_PAUSE, {"Space", "pause and go on"}},
    {{'\t'}, VIEWER_DO_NEXT_VIEW, {"Tab", "next view"}},
    {{KEY_BTAB}, VIEWER_DO_PREVIOUS_VIEW, {"Shift-Tab", "previous view"}},
    {{'?', KEY_F(1)}, VIEWER_DO_HELP, {"? F1", "this help"}},
    {{'i'}, VIEWER_DO_INPUT, {"i", "keys go to the program, until Ctrl-]"}},
    {{CONTROL('l')}, VIEWER_DO_REDRAW, {"Ctrl-L", "draw anew"}},
    {{CONTROL('c')}, VIEWER_DO_INTERRUPT, {"Ctrl-C", "interrupt the program; without one, leave"}},
    {{CONTROL('\\')}, VIEWER_DO_LOOK, {NULL, NULL}},
    {{CONTROL('z')}, VIEWER_DO_STOP, {"Ctrl-Z", "back to the shell for a while"}},
    {{'q'}, VIEWER_DO_LEAVE, {"q", "leave"}},
    {{KEY_MOUSE}, VIEWER_DO_MOUSE, {"Mouse", "click: select; again: as Enter; wheel: scroll; on a tab: its view"}},
    {{0}, VIEWER_DO_NOTHING, {NULL, NULL}},
};

char viewer_digit(size_t view)
{
    if (view < 9)
        return (char)('1' + view);
    return viewer_views[view + 1] ? '\0' : '0';
}

enum viewer_action viewer_action_of(int code)
{
    for (const struct viewer_binding *binding = viewer_bindings; binding->action; binding++)
        for (int i = 0; i < 4 && binding->codes[i]; i++)
            if (binding->codes[i] == code)
                return binding->action;
    return VIEWER_DO_NOTHING;
}
