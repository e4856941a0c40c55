/* keys.h - private to the viewer's frame: the key table.  What a key does, and what the help says of it, is one row. */
#ifndef VIEWER_KEYS_H
#define VIEWER_KEYS_H

#include "viewer/view.h"

enum viewer_action {
    VIEWER_DO_NOTHING,
    VIEWER_DO_UP,
    VIEWER_DO_DOWN,
    VIEWER_DO_PAGE_UP,
    VIEWER_DO_PAGE_DOWN,
    VIEWER_DO_FIRST,
    VIEWER_DO_LAST,
    VIEWER_DO_CLOSE,
    VIEWER_DO_OPEN,
    VIEWER_DO_ENTER,
    VIEWER_DO_BACK,
    VIEWER_DO_SEARCH,
    VIEWER_DO_NEXT,
    VIEWER_DO_PREVIOUS,
    VIEWER_DO_FILTER,
    VIEWER_DO_SORT,
    VIEWER_DO_PAUSE,
    VIEWER_DO_NEXT_VIEW,
    VIEWER_DO_PREVIOUS_VIEW,
    VIEWER_DO_HELP,
    VIEWER_DO_INPUT,
    VIEWER_DO_REDRAW,
    VIEWER_DO_MOUSE,
    VIEWER_DO_INTERRUPT,
    VIEWER_DO_STOP,
    VIEWER_DO_LOOK,
    VIEWER_DO_LEAVE
};

struct viewer_binding {
    int codes[4]; /* ncurses codes, 0 ends */
    enum viewer_action action;
    struct viewer_key text; /* keys NULL = not in the help */
};

/* Ends with action NOTHING. */
extern const struct viewer_binding viewer_bindings[];
enum viewer_action viewer_action_of(int code);

/* The views, in the order of the tabs; ends with NULL.  At most VIEWER_VIEWS_MAX: with more, the digits no longer fit
 * on a screen of 80 columns. */
extern const struct viewer_view *const viewer_views[];
#define VIEWER_VIEWS_MAX 16
/* The digit that opens a view, as a character: 1 to 9 for the first nine, 0 for the last.  '\0' = it has none. */
char viewer_digit(size_t view);

#endif
