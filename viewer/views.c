/* views.c - the views, in the order of the tabs.  A new view is a new file and its line here. */
#include "viewer/keys.h"

const struct viewer_view *const viewer_views[] = {
    &viewer_overview,     &viewer_cause,     &viewer_warps, &viewer_barriers, &viewer_graph, &viewer_timeline,
    &viewer_source_lines, &viewer_registers, &viewer_log,   &viewer_help,     NULL,
};
