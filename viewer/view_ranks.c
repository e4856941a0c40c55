/* view_ranks.c - the member processes of the run, one line each: which rank, where, what it does and for which rank it
 * waits.  Reads the picture; Enter on a process whose kernel runs goes to the warps of that kernel. */
#include "viewer/columns.h"
#include "viewer/phrases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/host_stack.h"
#include "model/process.h"
#include "model/symbol.h"

enum column { RANK, HOST, PID, STATE, DOES, PYTHON, CAUSE, WAITS, COLUMN_COUNT };
static const struct viewer_column columns[COLUMN_COUNT] = {
    [RANK] = {"RANK", -4, 0, false},
    [HOST] = {"HOST", 10, 4, false},
    [PID] = {"PID", -7, 3, false},
    [STATE] = {"STATE", 9, 0, false},
    [DOES] = {"KERNEL OR CALL", 19, 6, false},
    [PYTHON] = {"PYTHON LINE", 14, 5, true},
    [CAUSE] = {"CAUSE", 16, 2, false},
    [WAITS] = {"WAITS FOR", 9, 7, false},
};
/* A screen that shows them all has room for longer names. */
static const struct viewer_column wide_columns[COLUMN_COUNT] = {
    [RANK] = {"RANK", -5, 0, false},
    [HOST] = {"HOST", 20, 4, false},
    [PID] = {"PID", -7, 3, false},
    [STATE] = {"STATE", 9, 0, false},
    [DOES] = {"KERNEL OR CALL", 32, 6, false},
    [PYTHON] = {"PYTHON LINE", 24, 5, true},
    [CAUSE] = {"CAUSE", 23, 2, false},
    [WAITS] = {"WAITS FOR", 20, 7, false},
};
enum { WIDE_COLUMNS = 150 };

static const struct viewer_column *columns_for(int width)
{
    return width >= WIDE_COLUMNS ? wide_columns : columns;
}

/* ---- rows ---- */

enum sort { BY_RANK, BY_BLAME };
static const char *const sorts[] = {"rank", "blame", NULL};

struct order {
    const struct viewer_picture *picture;
    unsigned char *places; /* by process: who is at fault, who waits for these, the others */
};

static enum wsdbg_blame blame_of(const struct viewer_picture *picture, uint32_t process)
{
    return picture->diagnosis ? wsdbg_blame_of(picture->snapshot, picture->diagnosis, process) : WSDBG_BLAME_UNKNOWN;
}

static unsigned char place_of(const struct viewer_picture *picture, uint32_t process)
{
    const enum wsdbg_blame blame = blame_of(picture, process);
    return blame == WSDBG_BLAME_ORIGIN ? 0 : blame == WSDBG_BLAME_VICTIM ? 1 : 2;
}

/* Processes without a rank come last. */
static int compare(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct wsdbg_process *x = &order->picture->snapshot->processes[a],
                               *y = &order->picture->snapshot->processes[b];
    if (order->places[a] != order->places[b])
        return order->places[a] < order->places[b] ? -1 : 1;
    if (x->rank.known != y->rank.known)
        return x->rank.known ? -1 : 1;
    if (x->rank.known && x->rank.value != y->rank.value)
        return x->rank.value < y->rank.value ? -1 : 1;
    const int hosts = strcmp(x->host, y->host);
    return hosts ? hosts : (x->pid > y->pid) - (x->pid < y->pid);
}

static bool add(struct viewer_context *context, uint32_t process, struct viewer_rows *rows)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const uint32_t grid = wsdbg_process_work(s, process).grid;
    struct viewer_row row = {.data = process};
    if (grid != WSDBG_NONE)
        row.object = (struct viewer_object){VIEWER_OBJECT_GRID, grid, 0};
    if (context->filter->kernel[0] && (grid == WSDBG_NONE || !viewer_filter_grid(context->filter, s, grid)))
        return true;
    return viewer_rows_add(rows, &row);
}

static bool add_in_order(struct viewer_context *context, uint32_t *numbers, struct order *order,
                         struct viewer_rows *rows)
{
    const size_t count = context->picture->snapshot->process_count;
    bool fine = true;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
        order->places[i] = context->sort == BY_BLAME ? place_of(context->picture, i) : 0;
    }
    qsort_r(numbers, count, sizeof *numbers, compare, order);
    for (size_t i = 0; fine && i < count; i++)
        fine = add(context, numbers[i], rows);
    return fine;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    if (!s || s->process_count == 0)
        return NULL;
    uint32_t *numbers = malloc(s->process_count * sizeof *numbers);
    struct order order = {context->picture, malloc(s->process_count)};
    const bool fine = numbers && order.places && add_in_order(context, numbers, &order, rows);
    free(numbers);
    free(order.places);
    return fine ? NULL : &wsdbg_error_no_memory;
}

static const char *nothing(const struct viewer_context *context)
{
    if (!context->picture->snapshot)
        return "No picture of the program yet.";
    return context->picture->snapshot->process_count ? "Nothing passes the filter."
                                                     : "No process that uses CUDA is in the picture.";
}

/* ---- cells ---- */

static enum viewer_style state_style(enum wsdbg_process_state state)
{
    static const enum viewer_style styles[WSDBG_PROCESS_STATE_COUNT] = {
        [WSDBG_PROCESS_GONE] = VIEWER_STYLE_GONE,     [WSDBG_PROCESS_FAULT] = VIEWER_STYLE_BAD,
        [WSDBG_PROCESS_KERNEL] = VIEWER_STYLE_MOVING, [WSDBG_PROCESS_CALL] = VIEWER_STYLE_WAITING,
        [WSDBG_PROCESS_NO_WORK] = VIEWER_STYLE_DIM,   [WSDBG_PROCESS_UNKNOWN] = VIEWER_STYLE_UNKNOWN};
    return styles[state];
}

/* The kernel that runs, the call of the driver that a thread is in, how the process ended. */
static void does_text(const struct wsdbg_snapshot *s, uint32_t process, const struct wsdbg_process_work *work,
                      int width, char *out, size_t bytes)
{
    const char *symbol = work->grid == WSDBG_NONE ? NULL : wsdbg_snapshot_grid_name(s, &s->grids[work->grid]);
    char end[WSDBG_PROCESS_BYTES];
    snprintf(out, bytes, "%s", work->state == WSDBG_PROCESS_KERNEL ? "?" : "");
    if (work->state == WSDBG_PROCESS_GONE) {
        wsdbg_process_end_text(s->processes[process].end, end);
        snprintf(out, bytes, "%s", end);
    } else if (work->state == WSDBG_PROCESS_CALL) {
        snprintf(out, bytes, "%s", s->threads[work->thread].call[0] ? s->threads[work->thread].call : "?");
    } else if (work->state == WSDBG_PROCESS_KERNEL && symbol) {
        wsdbg_symbol_name(symbol, out, bytes);
        wsdbg_text_cut_middle(out, width > 0 ? (size_t)width : 1);
    }
}

static void draw_blame(const struct viewer_picture *picture, uint32_t process, enum wsdbg_process_state state,
                       const struct viewer_place *at, struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    const struct wsdbg_diagnosis *d = picture->diagnosis;
    char text[WSDBG_PROCESS_BYTES];
    if (!d)
        return;
    const enum wsdbg_blame blame = wsdbg_blame_of(s, d, process);
    const uint32_t finding = wsdbg_finding_of_process(s, d, s->processes[process].process_id);
    if (finding != WSDBG_NONE)
        viewer_columns_cell(canvas, at[CAUSE], blame == WSDBG_BLAME_ORIGIN ? VIEWER_STYLE_BAD : VIEWER_STYLE_TEXT,
                            wsdbg_cause_name(d->findings[finding].cause));
    wsdbg_blame_waits_for(s, d, process, text, sizeof text);
    if (text[0])
        viewer_columns_cell(canvas, at[WAITS], VIEWER_STYLE_WAITING, text);
    else if (blame == WSDBG_BLAME_UNKNOWN && state == WSDBG_PROCESS_KERNEL)
        viewer_columns_cell(canvas, at[WAITS], VIEWER_STYLE_UNKNOWN, "?");
}

static void draw_identity(const struct viewer_picture *picture, const struct wsdbg_process *process,
                          const struct viewer_place *at, struct viewer_canvas *canvas)
{
    const char *host = process->host[0] ? process->host : picture->info ? picture->info->hostname : NULL;
    char text[24] = "?";
    if (process->rank.known)
        snprintf(text, sizeof text, "%" PRIu32, process->rank.value);
    viewer_columns_cell(canvas, at[RANK], process->rank.known ? VIEWER_STYLE_STRONG : VIEWER_STYLE_UNKNOWN, text);
    viewer_columns_cell(canvas, at[HOST], VIEWER_STYLE_TEXT, host && *host ? host : "?");
    snprintf(text, sizeof text, "%" PRIu32, process->pid);
    viewer_columns_cell(canvas, at[PID], VIEWER_STYLE_TEXT, text);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const uint32_t process = (uint32_t)row->data;
    const int width = viewer_canvas_columns(canvas);
    struct viewer_place at[COLUMN_COUNT];
    char text[512];
    const struct wsdbg_process_work work = wsdbg_process_work(s, process);
    viewer_columns_place(columns_for(width), COLUMN_COUNT, width, at);
    draw_identity(context->picture, &s->processes[process], at, canvas);
    viewer_columns_cell(canvas, at[STATE], state_style(work.state), wsdbg_process_state_name(work.state));
    does_text(s, process, &work, at[DOES].width, text, sizeof text);
    viewer_columns_cell(canvas, at[DOES], VIEWER_STYLE_TEXT, text);
    const bool known = wsdbg_host_python_line(s, process, text, sizeof text);
    viewer_columns_cell(canvas, at[PYTHON], known ? VIEWER_STYLE_TEXT : VIEWER_STYLE_UNKNOWN, known ? text : "?");
    draw_blame(context->picture, process, work.state, at, canvas);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    (void)context;
    viewer_columns_header(canvas, 0, columns_for(viewer_canvas_columns(canvas)), COLUMN_COUNT);
}

const struct viewer_view viewer_ranks = {
    .name = "ranks",
    .tab = "rank",
    .key = 'R',
    .summary = "the processes that use CUDA: which rank each is, what it does, for whom it waits",
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .sorts = sorts,
};
