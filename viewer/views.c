/* views.c - the views, in the order of the tabs.  A new view is a new file and its line here.  Help is the last one: it
 * has the digit 0. */
#include "viewer/keys.h"

const struct viewer_view *const viewer_views[] = {
    &viewer_overview,     &viewer_cause,     &viewer_warps, &viewer_barriers, &viewer_graph, &viewer_timeline,
    &viewer_source_lines, &viewer_registers, &viewer_log,   &viewer_ranks,    &viewer_help,  NULL,
};
_Static_assert(sizeof viewer_views / sizeof *viewer_views <= VIEWER_VIEWS_MAX + 1, "VIEWER_VIEWS_MAX is too small");
