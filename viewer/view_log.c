/* view_log.c - what the program and wsdbg have written, line by line.  Reads the log through the source.
 *
 * The cursor follows the newest line as long as it stands on the last one.
 */
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "viewer/view.h"

/* More lines than this are reached by the database alone: a row costs 32 bytes. */
#define ROWS_MAX 1000000u
#define SHIFT_COLUMNS 16

struct log {
    int shift; /* columns the text was moved to the left */
};

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct viewer_source *source = context->source;
    const size_t count = source->ops->log_count ? source->ops->log_count(source) : 0;
    for (size_t i = count > ROWS_MAX ? count - ROWS_MAX : 0; i < count; i++)
        if (!viewer_rows_add(rows, &(struct viewer_row){.data = i}))
            return &wsdbg_error_no_memory;
    return NULL;
}

static const char *origin_word(enum wsdbg_log_origin origin)
{
    static const char *const words[] = {[WSDBG_LOG_WSDBG] = "wsdbg",
                                        [WSDBG_LOG_STDOUT] = "out",
                                        [WSDBG_LOG_STDERR] = "err",
                                        [WSDBG_LOG_TERMINAL] = "",
                                        [WSDBG_LOG_SCHEDULE] = "wsdbg"};
    return (unsigned)origin < sizeof words / sizeof *words ? words[origin] : "?";
}

static void time_text(const struct viewer_context *context, uint64_t time_ns, char *out, size_t bytes)
{
    const struct wsdbg_session_info *info = context->picture->info;
    if (info && time_ns >= info->started_ns)
        snprintf(out, bytes, "%.3f", (double)(time_ns - info->started_ns) / 1e9);
    else
        snprintf(out, bytes, "?");
}

/* The text from display column `shift` on. */
static const char *shifted(const char *text, int shift)
{
    while (shift > 0 && *text) {
        unsigned value;
        text += wsdbg_text_next(text, &value);
        shift--;
    }
    return text;
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct log *log = context->state;
    struct wsdbg_log_line line;
    char when[32];
    if (!context->source->ops->log_line(context->source, (size_t)row->data, &line)) {
        viewer_put(canvas, 0, 0, VIEWER_STYLE_UNKNOWN, "?");
        return;
    }
    time_text(context, line.time_ns, when, sizeof when);
    int at = viewer_cell(canvas, 0, 0, -9, VIEWER_STYLE_DIM, when);
    at = viewer_cell(canvas, 0, at + 1, 5, VIEWER_STYLE_TITLE, origin_word(line.origin));
    const enum viewer_style style = line.origin == WSDBG_LOG_STDERR ? VIEWER_STYLE_WAITING : VIEWER_STYLE_TEXT;
    const char *text = shifted(line.text, log->shift);
    const int room = canvas ? viewer_canvas_columns(canvas) - at - 1 : 0;
    if (room > 0)
        viewer_cell(canvas, 0, at + 1, room, style, text);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    const struct log *log = context->state;
    viewer_put(canvas, 0, 0, VIEWER_STYLE_HEADER, "  SECONDS FROM  LINE");
    if (log->shift)
        viewer_print(canvas, 0, 22, VIEWER_STYLE_DIM, "from column %d", log->shift + 1);
}

static bool press(struct viewer_context *context, int key)
{
    struct log *log = context->state;
    if (key == KEY_RIGHT || key == 'l')
        log->shift += SHIFT_COLUMNS;
    else if (key == KEY_LEFT || key == 'h')
        log->shift = log->shift > SHIFT_COLUMNS ? log->shift - SHIFT_COLUMNS : 0;
    else
        return false;
    return true;
}

static const char *nothing(const struct viewer_context *context)
{
    return context->picture->live ? "nothing was written yet"
                                  : "no lines: wsdbg keeps the program's own output only with --tui";
}

static const struct viewer_key keys[] = {{"Left Right", "scroll long lines sideways"}, {NULL, NULL}};

const struct viewer_view viewer_log = {
    .name = "log",
    .key = 'L',
    .summary = "what the program (with --tui) and wsdbg wrote",
    .state_bytes = sizeof(struct log),
    .header_lines = 1,
    .follows = true,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .press = press,
    .keys = keys,
};
