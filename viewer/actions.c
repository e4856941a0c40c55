/* actions.c - what keys do: moving, folding, jumping, searching, filtering.  Reads keys, writes the viewer's state. */
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "viewer/viewer_internal.h"

#define WHEEL_ROWS 3
#define DOUBLE_CLICK_NS 400000000u

struct viewer_pane *viewer_current(struct viewer *viewer)
{
    return &viewer->panes[viewer->current];
}

void viewer_set_stale(struct viewer *viewer)
{
    for (size_t i = 0; i < viewer->pane_count; i++) {
        struct viewer_context *context = &viewer->panes[i].context;
        viewer->panes[i].stale = true;
        context->picture = viewer->source->ops->picture(viewer->source);
        context->source = viewer->source;
        context->filter = &viewer->filter;
        context->samples = viewer->samples;
    }
    viewer_lay_out(viewer);
    viewer->dirty = true;
}

static void say(struct viewer *viewer, const char *text)
{
    snprintf(viewer->message, sizeof viewer->message, "%s", text);
}

/* ---- from view to view ---- */

/* What the cursor stands on; a folded row stands for the warp or barrier that is its example. */
static struct viewer_object stood_on(const struct viewer_pane *pane)
{
    struct viewer_object object = pane->context.selected;
    if (object.kind == VIEWER_OBJECT_GROUP)
        object.kind = pane->view == &viewer_barriers ? VIEWER_OBJECT_BARRIER : VIEWER_OBJECT_WARP;
    return object;
}

static void open_view(struct viewer *viewer, size_t view)
{
    const bool comes = view != viewer->current;
    const struct viewer_object from = stood_on(viewer_current(viewer));
    viewer->current = view;
    viewer_pane_refresh(viewer_current(viewer));
    if (comes)
        viewer_pane_arrive(viewer_current(viewer), from);
}

static size_t view_number(const struct viewer *viewer, const struct viewer_view *view)
{
    for (size_t i = 0; i < viewer->pane_count; i++)
        if (viewer->panes[i].view == view)
            return i;
    return viewer->current;
}

static void remember(struct viewer *viewer)
{
    const struct viewer_row *row = viewer_pane_row(viewer_current(viewer));
    if (viewer->back_count == VIEWER_BACK_MAX)
        memmove(viewer->back, viewer->back + 1, --viewer->back_count * sizeof *viewer->back);
    struct viewer_back back = {.view = viewer->current, .on_row = row != NULL};
    if (row)
        back.row = *row;
    viewer->back[viewer->back_count++] = back;
}

static void go_back(struct viewer *viewer)
{
    if (viewer->back_count == 0) {
        say(viewer, "nowhere to go back to");
        return;
    }
    const struct viewer_back back = viewer->back[--viewer->back_count];
    open_view(viewer, back.view);
    struct viewer_pane *pane = viewer_current(viewer);
    for (size_t i = 0; back.on_row && i < pane->rows.count; i++)
        if (memcmp(&pane->rows.rows[i].object, &back.row.object, sizeof back.row.object) == 0 &&
            pane->rows.rows[i].data == back.row.data) {
            viewer_pane_select(pane, i);
            return;
        }
}

/* The view that shows an object best, and what to look for there. */
static const struct viewer_view *view_of(struct viewer_object *object, const struct wsdbg_snapshot *snapshot,
                                         const struct wsdbg_diagnosis *diagnosis)
{
    switch (object->kind) {
    case VIEWER_OBJECT_GRID:
    case VIEWER_OBJECT_CTA:
    case VIEWER_OBJECT_WARPGROUP:
    case VIEWER_OBJECT_WARP:
        return &viewer_warps;
    case VIEWER_OBJECT_BARRIER:
        return &viewer_barriers;
    case VIEWER_OBJECT_FINDING:
        return &viewer_cause;
    case VIEWER_OBJECT_SOURCE_LINE:
        return &viewer_source_lines;
    case VIEWER_OBJECT_EDGE:
        if (!diagnosis || object->index >= diagnosis->edge_count)
            return NULL;
        *object = (struct viewer_object){VIEWER_OBJECT_WARP, diagnosis->edges[object->index].waiter, 0};
        return &viewer_warps;
    default:
        (void)snapshot;
        return NULL;
    }
}

/* From the view that is an object's own, on to what it waits for. */
static bool next_object(struct viewer_object *object, const struct wsdbg_snapshot *snapshot)
{
    if (object->kind != VIEWER_OBJECT_WARP || !snapshot || object->index >= snapshot->warp_count)
        return false;
    const uint32_t barrier = snapshot->warps[object->index].barrier;
    if (barrier >= snapshot->barrier_count)
        return false;
    *object = (struct viewer_object){VIEWER_OBJECT_BARRIER, barrier, 0};
    return true;
}

static void jump(struct viewer *viewer, struct viewer_object object)
{
    const struct viewer_picture *picture = viewer->source->ops->picture(viewer->source);
    const struct viewer_view *view = view_of(&object, picture->snapshot, picture->diagnosis);
    if (view == viewer_current(viewer)->view)
        view = next_object(&object, picture->snapshot) ? view_of(&object, picture->snapshot, picture->diagnosis) : NULL;
    if (!view) {
        say(viewer, "there is nothing more to show of it");
        return;
    }
    const size_t number = view_number(viewer, view);
    if (!viewer_pane_find(&viewer->panes[number], object) && object.kind != VIEWER_OBJECT_GRID) {
        say(viewer, viewer->filter.text[0] ? "the filter hides it" : "it is not shown there");
        return;
    }
    remember(viewer);
    open_view(viewer, number);
}

static void enter(struct viewer *viewer)
{
    struct viewer_pane *pane = viewer_current(viewer);
    const struct viewer_row *row = viewer_pane_row(pane);
    if (!row)
        return;
    if (row->foldable)
        viewer_pane_fold(pane, !row->open);
    else
        jump(viewer, row->object);
}

static void close_or_parent(struct viewer *viewer)
{
    struct viewer_pane *pane = viewer_current(viewer);
    if (!viewer_pane_fold(pane, false))
        viewer_pane_parent(pane);
}

/* ---- search and filter ---- */

static void search(struct viewer *viewer, int direction)
{
    if (!viewer->search[0])
        say(viewer, "nothing to search for yet: /");
    else if (!viewer_pane_search(viewer_current(viewer), viewer->search, direction))
        snprintf(viewer->message, sizeof viewer->message, "\"%s\" is in no row that is open here", viewer->search);
}

/* A filter that was not understood stays in the prompt, with the reason. */
static void take_filter(struct viewer *viewer)
{
    const struct viewer_picture *picture = viewer->source->ops->picture(viewer->source);
    struct wsdbg_error *error = viewer_filter_parse(viewer->prompt.text, picture->snapshot, &viewer->filter);
    if (error) {
        snprintf(viewer->prompt.error, sizeof viewer->prompt.error, "%s", wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        return;
    }
    viewer->prompt.kind = VIEWER_PROMPT_NONE;
    viewer_set_stale(viewer);
}

static void press_in_prompt(struct viewer *viewer, int key)
{
    const enum viewer_prompt_result result = viewer_prompt_press(&viewer->prompt, key);
    if (result == VIEWER_PROMPT_GIVEN_UP)
        viewer->prompt.kind = VIEWER_PROMPT_NONE;
    if (result != VIEWER_PROMPT_DONE)
        return;
    if (viewer->prompt.kind == VIEWER_PROMPT_FILTER) {
        take_filter(viewer);
        return;
    }
    viewer->prompt.kind = VIEWER_PROMPT_NONE;
    snprintf(viewer->search, sizeof viewer->search, "%s", viewer->prompt.text);
    if (viewer->search[0])
        search(viewer, 1);
}

static void next_sort(struct viewer *viewer)
{
    struct viewer_pane *pane = viewer_current(viewer);
    if (!pane->view->sorts) {
        say(viewer, "this view has one order only");
        return;
    }
    pane->context.sort++;
    if (!pane->view->sorts[pane->context.sort])
        pane->context.sort = 0;
    pane->stale = true;
}

/* ---- mouse ---- */

static void click(struct viewer *viewer, int column, int line)
{
    struct viewer_pane *pane = viewer_current(viewer);
    for (size_t i = 0; line == 1 && i < viewer->pane_count; i++)
        if (column >= viewer->tabs[i].from && column < viewer->tabs[i].to) {
            open_view(viewer, i);
            return;
        }
    const size_t row = line < viewer->body_top ? SIZE_MAX : viewer_pane_row_at(pane, line - viewer->body_top);
    if (row == SIZE_MAX)
        return;
    const bool again = row == viewer->clicked_row && viewer->now_ns - viewer->clicked_ns < DOUBLE_CLICK_NS;
    viewer->clicked_ns = again ? 0 : viewer->now_ns;
    viewer->clicked_row = row;
    viewer_pane_select(pane, row);
    if (again)
        enter(viewer);
}

static void take_mouse(struct viewer *viewer)
{
    MEVENT event;
    if (getmouse(&event) != OK)
        return;
    if (event.bstate & BUTTON4_PRESSED)
        viewer_pane_move(viewer_current(viewer), -WHEEL_ROWS);
    else if (event.bstate & BUTTON5_PRESSED)
        viewer_pane_move(viewer_current(viewer), WHEEL_ROWS);
    else if (event.bstate & BUTTON1_PRESSED)
        click(viewer, event.x, event.y);
}

/* ---- leaving ---- */

static void want_to_leave(struct viewer *viewer)
{
    const struct viewer_source_ops *ops = viewer->source->ops;
    viewer->question = ops->question ? ops->question(viewer->source) : NULL;
    viewer->leave = !viewer->question;
}

static void interrupt(struct viewer *viewer)
{
    const struct viewer_source_ops *ops = viewer->source->ops;
    if (ops->interrupt)
        ops->interrupt(viewer->source);
    else
        viewer->leave = true;
}

static void look_now(struct viewer *viewer)
{
    const struct viewer_source_ops *ops = viewer->source->ops;
    if (!ops->look || !ops->look(viewer->source))
        say(viewer, "there is no GPU to look at");
}

static void begin_input(struct viewer *viewer)
{
    if (!viewer->source->ops->input) {
        say(viewer, "there is no program to type to");
    } else if (viewer->source->ops->picture(viewer->source)->end) {
        say(viewer, "the program has ended");
    } else {
        viewer->input = true;
        open_view(viewer, view_number(viewer, &viewer_log));
    }
}

static void help(struct viewer *viewer)
{
    const size_t number = view_number(viewer, &viewer_help);
    if (viewer->current == number) {
        go_back(viewer);
        return;
    }
    remember(viewer);
    open_view(viewer, number);
}

/* ---- the keys' table of deeds ---- */

static void begin_search(struct viewer *viewer)
{
    viewer_prompt_begin(&viewer->prompt, VIEWER_PROMPT_SEARCH, "");
}

static void begin_filter(struct viewer *viewer)
{
    viewer_prompt_begin(&viewer->prompt, VIEWER_PROMPT_FILTER, viewer->filter.text);
}

static void search_on(struct viewer *viewer)
{
    search(viewer, 1);
}

static void search_back(struct viewer *viewer)
{
    search(viewer, -1);
}

static void pause_or_go_on(struct viewer *viewer)
{
    viewer->paused = !viewer->paused;
}

static void next_view(struct viewer *viewer)
{
    open_view(viewer, (viewer->current + 1) % viewer->pane_count);
}

static void previous_view(struct viewer *viewer)
{
    open_view(viewer, (viewer->current + viewer->pane_count - 1) % viewer->pane_count);
}

static void open_row(struct viewer *viewer)
{
    viewer_pane_fold(viewer_current(viewer), true);
}

static void redraw(struct viewer *viewer)
{
    (void)viewer;
    clearok(curscr, TRUE);
}

static void (*const deeds[])(struct viewer *viewer) = {
    [VIEWER_DO_CLOSE] = close_or_parent,
    [VIEWER_DO_OPEN] = open_row,
    [VIEWER_DO_ENTER] = enter,
    [VIEWER_DO_BACK] = go_back,
    [VIEWER_DO_SEARCH] = begin_search,
    [VIEWER_DO_NEXT] = search_on,
    [VIEWER_DO_PREVIOUS] = search_back,
    [VIEWER_DO_FILTER] = begin_filter,
    [VIEWER_DO_SORT] = next_sort,
    [VIEWER_DO_PAUSE] = pause_or_go_on,
    [VIEWER_DO_NEXT_VIEW] = next_view,
    [VIEWER_DO_PREVIOUS_VIEW] = previous_view,
    [VIEWER_DO_HELP] = help,
    [VIEWER_DO_INPUT] = begin_input,
    [VIEWER_DO_REDRAW] = redraw,
    [VIEWER_DO_MOUSE] = take_mouse,
    [VIEWER_DO_INTERRUPT] = interrupt,
    [VIEWER_DO_STOP] = viewer_stop,
    [VIEWER_DO_LOOK] = look_now,
    [VIEWER_DO_LEAVE] = want_to_leave,
};

/* Rows the cursor moves by; false for an action that does something else. */
static bool move_of(const struct viewer_pane *pane, enum viewer_action action, long *rows)
{
    const long page = pane->context.lines > 1 ? pane->context.lines - 1 : 1;
    const long all = (long)pane->rows.count;
    switch (action) {
    case VIEWER_DO_UP:
        *rows = -1;
        return true;
    case VIEWER_DO_DOWN:
        *rows = 1;
        return true;
    case VIEWER_DO_PAGE_UP:
        *rows = -page;
        return true;
    case VIEWER_DO_PAGE_DOWN:
        *rows = page;
        return true;
    case VIEWER_DO_FIRST:
        *rows = -all;
        return true;
    case VIEWER_DO_LAST:
        *rows = all;
        return true;
    default:
        return false;
    }
}

static void act(struct viewer *viewer, enum viewer_action action)
{
    struct viewer_pane *pane = viewer_current(viewer);
    long rows;
    if (move_of(pane, action, &rows))
        viewer_pane_move(pane, rows);
    else if (deeds[action])
        deeds[action](viewer);
}

/* A digit or a view's letter opens it. */
static bool press_tab(struct viewer *viewer, int key)
{
    for (size_t i = 0; i < viewer->pane_count; i++)
        if (key != 0 && (key == viewer_digit(i) || key == viewer->panes[i].view->key)) {
            open_view(viewer, i);
            return true;
        }
    return false;
}

/* A key of the view's own; it may have chosen another object to stand on. */
static bool press_in_view(struct viewer_pane *pane, int key)
{
    const struct viewer_object before = pane->context.selected;
    if (!pane->view->press || !pane->view->press(&pane->context, key))
        return false;
    const struct viewer_object wanted = pane->context.selected;
    pane->stale = true;
    if (memcmp(&wanted, &before, sizeof wanted) != 0)
        viewer_pane_find(pane, wanted);
    return true;
}

void viewer_press(struct viewer *viewer, int key)
{
    struct viewer_pane *pane = viewer_current(viewer);
    viewer->dirty = true;
    viewer->message[0] = '\0';
    if (viewer->question) {
        viewer->question = NULL;
        viewer->leave = viewer->source->ops->answer(viewer->source, key);
        return;
    }
    if (viewer->prompt.kind) {
        press_in_prompt(viewer, key);
        return;
    }
    if (press_in_view(pane, key))
        return;
    const enum viewer_action action = viewer_action_of(key);
    if (action)
        act(viewer, action);
    else
        press_tab(viewer, key);
}
