/* frame.c - what stands around a view: the title, the tabs, the verdict, the bottom line.  Reads the viewer's state,
 * writes the screen. */
#include <ncurses.h>
#include <string.h>

#include "base/text.h"
#include "viewer/viewer_internal.h"

#define BANNER_LINES_MAX 6
#define BODY_LINES_MIN 4

static const char *condition(const struct viewer *viewer, const struct viewer_picture *picture)
{
    if (viewer->paused)
        return "paused";
    if (picture->live)
        return "live";
    return picture->end ? "finished" : "no end";
}

/* "  look 0.4 s ago, 14 ms"; "" where the GPU itself was not looked at. */
static void look_text(const struct viewer_picture *picture, char *out, size_t bytes)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    char age[32];
    out[0] = '\0';
    const struct wsdbg_look_row *look = s && s->look_count > 0 ? &s->looks[s->look_count - 1] : NULL;
    if (!look || look->read_ns == 0) /* of a dump nobody knows what it cost */
        return;
    viewer_duration_text(picture->now_ns > look->time_ns ? picture->now_ns - look->time_ns : 0, age, sizeof age);
    snprintf(out, bytes, "  look %s ago, %.0f ms", age,
             (double)(look->suspend_ns + look->read_ns + look->resume_ns) / 1e6);
}

static void draw_title(struct viewer *viewer, const struct viewer_picture *picture, struct viewer_canvas *canvas)
{
    char right[192], age[32] = "", look[64];
    const struct wsdbg_session_info *info = picture->info;
    const bool looked = picture->snapshot && picture->snapshot->look_count > 0;
    const char *evidence = looked ? picture->snapshot->source : info ? info->evidence : NULL;
    const uint64_t now_ns = picture->end && picture->end->ended_ns ? picture->end->ended_ns : picture->now_ns;
    if (picture->snapshot && info && now_ns > info->started_ns)
        viewer_duration_text(now_ns - info->started_ns, age, sizeof age);
    look_text(picture, look, sizeof look);
    snprintf(right, sizeof right, " %s%s%s%s  %s%s%s ", info && info->device ? info->device : "?", evidence ? "/" : "",
             evidence ? evidence : "", look, condition(viewer, picture), age[0] ? " at " : "", age);
    const int room = canvas->columns - (int)wsdbg_text_width(right);
    int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, "wsdbg ");
    const char *name = viewer->title[0] ? viewer->title : info && info->command ? info->command : "?";
    if (room > at)
        viewer_cell(canvas, 0, at, room - at, VIEWER_STYLE_STRONG, name);
    viewer_put(canvas, 0, room > at ? room : at, viewer->paused ? VIEWER_STYLE_BAD : VIEWER_STYLE_DIM, right);
}

/* How the tabs are written. */
struct tab_form {
    int digit_columns; /* 2: "4 barriers", 1: "4barriers", 0: "barriers" */
    int name_columns;  /* longer names are cut, but for that of the current view */
    bool short_names;  /* "regs" for "registers" */
};

enum { WHOLE_NAME = 99 };
/* The first one that fits is taken; the last one, where none fits. */
static const struct tab_form tab_forms[] = {
    {2, WHOLE_NAME, false}, {1, WHOLE_NAME, true}, {1, 7, true}, {1, 6, true},
    {1, 5, true},           {1, 4, true},          {1, 3, true}, {0, WHOLE_NAME, false},
};

/* What opens the view, as its tab shows it; 0 = Tab alone. */
static char tab_key(const struct viewer *viewer, size_t tab)
{
    return viewer_digit(tab) ? viewer_digit(tab) : viewer->panes[tab].view->key;
}

/* "4 " or "4"; a letter is apart, or it would read like one of the name's, and goes before names are cut. */
static int key_columns(const struct viewer *viewer, size_t tab, const struct tab_form *form)
{
    if (!form->digit_columns || !tab_key(viewer, tab))
        return 0;
    if (viewer_digit(tab))
        return form->digit_columns;
    return form->name_columns == WHOLE_NAME ? 2 : 0;
}

static const char *tab_name(const struct viewer_view *view, const struct tab_form *form)
{
    return form->short_names && view->tab ? view->tab : view->name;
}

static int name_columns(const struct viewer *viewer, size_t tab, const struct tab_form *form)
{
    const int whole = (int)strlen(tab_name(viewer->panes[tab].view, form));
    return tab == viewer->current || whole < form->name_columns ? whole : form->name_columns;
}

/* Columns of the tabs from `first` up to `last`: what each shows, and one column before, between and after them. */
static int tabs_width(const struct viewer *viewer, size_t first, size_t last, const struct tab_form *form)
{
    int width = 1;
    for (size_t i = first; i <= last; i++)
        width += key_columns(viewer, i, form) + name_columns(viewer, i, form) + 1;
    return width;
}

static const struct tab_form *tab_form(const struct viewer *viewer, int columns)
{
    const struct tab_form *form = tab_forms, *last = tab_forms + sizeof tab_forms / sizeof *tab_forms - 1;
    while (form < last && tabs_width(viewer, 0, viewer->pane_count - 1, form) > columns)
        form++;
    return form;
}

static int draw_tab(struct viewer *viewer, struct viewer_canvas *canvas, size_t tab, int at,
                    const struct tab_form *form)
{
    const bool current = tab == viewer->current;
    const enum viewer_style style = current ? VIEWER_STYLE_TITLE : VIEWER_STYLE_TEXT;
    if (current)
        viewer_put(canvas, 1, at, style, "[");
    viewer->tabs[tab].from = ++at;
    if (key_columns(viewer, tab, form))
        at =
            viewer_print(canvas, 1, at, VIEWER_STYLE_DIM, "%-*c", key_columns(viewer, tab, form), tab_key(viewer, tab));
    at = viewer_print(canvas, 1, at, style, "%.*s", name_columns(viewer, tab, form),
                      tab_name(viewer->panes[tab].view, form));
    viewer->tabs[tab].to = at;
    if (current)
        viewer_put(canvas, 1, at, style, "]");
    return at;
}

/* On a screen too narrow for all names the first ones are left out, so that the current one is visible. */
static void draw_tabs(struct viewer *viewer, struct viewer_canvas *canvas)
{
    const struct tab_form *form = tab_form(viewer, canvas->columns);
    size_t first = 0;
    int at = 0;
    while (first < viewer->current && tabs_width(viewer, first, viewer->current, form) > canvas->columns)
        first++;
    for (size_t i = 0; i < viewer->pane_count; i++) {
        viewer->tabs[i] = (struct viewer_tab){0, 0};
        if (i >= first)
            at = draw_tab(viewer, canvas, i, at, form);
    }
}

static const char *headline(const struct viewer_picture *picture)
{
    if (picture->diagnosis->hang)
        return "HANG";
    for (size_t i = 0; picture->snapshot && i < picture->snapshot->context_count; i++)
        if (picture->snapshot->contexts[i].error != 0)
            return "FAULT";
    return "STALL";
}

static size_t banner_columns(int columns)
{
    return columns > 4 ? (size_t)columns - 2 : 2;
}

/* Lines of the verdict and its sentence on a screen of that size. */
static int banner_lines(const struct viewer_picture *picture, int rows, int columns)
{
    const int spare = rows - 3 - BODY_LINES_MIN, most = spare < BANNER_LINES_MAX ? spare : BANNER_LINES_MAX;
    if (!picture->diagnosis || most < 1)
        return 0;
    int lines = 1;
    if (picture->diagnosis->finding_count == 0)
        return lines;
    for (const char *text = picture->diagnosis->findings[0].sentence; lines < most && *text; lines++)
        text += wsdbg_text_line_bytes(text, banner_columns(columns));
    return lines;
}

static void draw_banner(const struct viewer_picture *picture, struct viewer_canvas *canvas, int row, int lines)
{
    const struct wsdbg_diagnosis *diagnosis = picture->diagnosis;
    if (lines < 1)
        return;
    if (diagnosis->finding_count == 0) {
        viewer_print(canvas, row, 0, VIEWER_STYLE_BAD, "%s: no cause found", headline(picture));
        return;
    }
    const struct wsdbg_finding *first = &diagnosis->findings[0];
    char title[WSDBG_TITLE_BYTES];
    const char *word = headline(picture);
    wsdbg_finding_title(first->cause, first->confidence, wsdbg_title_place(0, first->cause, strcmp(word, "FAULT") == 0),
                        title);
    viewer_print(canvas, row, 0, VIEWER_STYLE_BAD, "%s: %s", word, title);
    const size_t columns = banner_columns(canvas->columns);
    const char *text = first->sentence;
    for (int line = 1; line < lines; line++) {
        const size_t bytes = wsdbg_text_line_bytes(text, columns);
        if (line + 1 == lines)
            viewer_cell(canvas, row + line, 2, (int)columns, VIEWER_STYLE_TEXT, text);
        else
            viewer_print(canvas, row + line, 2, VIEWER_STYLE_TEXT, "%.*s", (int)bytes, text);
        text += bytes;
    }
}

void viewer_lay_out(struct viewer *viewer)
{
    const struct viewer_picture *picture = viewer->source->ops->picture(viewer->source);
    viewer->body_top = 2 + banner_lines(picture, LINES, COLS);
    for (size_t i = 0; i < viewer->pane_count; i++)
        viewer_pane_fit(&viewer->panes[i], LINES - viewer->body_top - 1, COLS);
}

/* A filter is named first: it hides rows. */
static void draw_hints(struct viewer *viewer, const struct viewer_picture *picture, struct viewer_canvas *canvas,
                       int row)
{
    const struct viewer_view *view = viewer_current(viewer)->view;
    const struct viewer_context *context = &viewer_current(viewer)->context;
    int at = 0;
    if (viewer->filter.text[0])
        at = viewer_print(canvas, row, 0, VIEWER_STYLE_WAITING, "only %s  ", viewer->filter.text);
    at = viewer_put(canvas, row, at, VIEWER_STYLE_DIM, "q leave  / search  f filter  ? help");
    if (view->sorts)
        at = viewer_print(canvas, row, at, VIEWER_STYLE_DIM, "  s by %s", view->sorts[context->sort]);
    if (viewer->source->ops->input && !picture->end)
        viewer_put(canvas, row, at, VIEWER_STYLE_DIM, "  i input");
}

static void draw_bottom(struct viewer *viewer, const struct viewer_picture *picture, struct viewer_canvas *canvas)
{
    const int row = canvas->rows - 1;
    char where[32];
    const struct viewer_pane *pane = viewer_current(viewer);
    if (viewer->prompt.kind)
        viewer_prompt_draw(&viewer->prompt, canvas, row);
    else if (viewer->question)
        viewer_put(canvas, row, 0, VIEWER_STYLE_STRONG, viewer->question);
    else if (viewer->input)
        viewer_put(canvas, row, 0, VIEWER_STYLE_STRONG, "keys go to the program; Ctrl-] ends that");
    else if (viewer->message[0])
        viewer_put(canvas, row, 0, VIEWER_STYLE_STRONG, viewer->message);
    else if (viewer->trouble[0])
        viewer_put(canvas, row, 0, VIEWER_STYLE_BAD, viewer->trouble);
    else if (picture->status[0])
        viewer_put(canvas, row, 0, VIEWER_STYLE_DIM, picture->status);
    else
        draw_hints(viewer, picture, canvas, row);
    if (pane->rows.count == 0 || viewer->prompt.kind || viewer->question)
        return;
    snprintf(where, sizeof where, " %zu/%zu", pane->selected + 1, pane->rows.count);
    viewer_put(canvas, row, canvas->columns - (int)strlen(where), VIEWER_STYLE_DIM, where);
}

void viewer_draw(struct viewer *viewer)
{
    const struct viewer_picture *picture = viewer->source->ops->picture(viewer->source);
    struct viewer_canvas screen = viewer_canvas_of_screen(&viewer->look, 0, 0, LINES, COLS);
    viewer_lay_out(viewer);
    erase();
    draw_title(viewer, picture, &screen);
    draw_tabs(viewer, &screen);
    draw_banner(picture, &screen, 2, viewer->body_top - 2);
    struct viewer_canvas body =
        viewer_canvas_of_screen(&viewer->look, viewer->body_top, 0, screen.rows - viewer->body_top - 1, screen.columns);
    viewer_pane_draw(viewer_current(viewer), &body, viewer->search);
    if (screen.rows > 2)
        draw_bottom(viewer, picture, &screen);
    move(screen.rows > 0 ? screen.rows - 1 : 0, 0);
    refresh();
}
