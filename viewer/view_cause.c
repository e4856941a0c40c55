/* view_cause.c - the findings: how sure, the sentence, what to change, what it rests on.  Before there are any: what is
 * known of the session's progress.  Reads the picture's diagnosis; Enter on evidence goes to its warp or barrier. */
#include "viewer/phrases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/report.h"

/* What a row shows; its data is kind, first byte and bytes of the text shown. */
enum part { TITLE, SENTENCE, FIX, EVIDENCE_TITLE, EVIDENCE, PROGRESS };

#define DATA(part, first, bytes) ((uint64_t)(part) << 32 | (uint64_t)(first) << 16 | (uint64_t)(bytes))
#define PART(row) ((enum part)((row)->data >> 32))
#define FIRST(row) ((size_t)((row)->data >> 16 & 0xffff))
#define BYTES(row) ((size_t)((row)->data & 0xffff))

#define INDENT 3
#define FIX_COLUMNS 5 /* "Fix: " */
#define PROGRESS_LINES 4

struct cause {
    char progress[PROGRESS_LINES][256]; /* without a finding */
    size_t line_count;
};

static void say_end(const struct viewer_picture *p, struct cause *cause)
{
    char *line = cause->progress[cause->line_count++];
    if (p->end)
        snprintf(line, sizeof *cause->progress, "The session has ended: %s.", p->end->outcome ? p->end->outcome : "?");
    else if (p->live)
        snprintf(line, sizeof *cause->progress, "No verdict: nothing has stalled for long enough.");
    else
        snprintf(line, sizeof *cause->progress,
                 "No verdict and no end are stored: the session still runs, or wsdbg was killed.");
}

static size_t running_grids(const struct wsdbg_snapshot *s)
{
    size_t running = 0;
    for (size_t i = 0; i < s->grid_count; i++)
        running += s->grids[i].running;
    return running;
}

/* What the watchdog goes by: grids that run, and when a slot of theirs last changed. */
static void say_progress(const struct viewer_picture *p, struct cause *cause)
{
    const struct wsdbg_snapshot *s = p->snapshot;
    const size_t running = running_grids(s);
    char age[24];
    if (running == 0) {
        snprintf(cause->progress[cause->line_count++], sizeof *cause->progress, "No kernel with probes was running%s.",
                 p->live ? "" : " in the last picture");
        return;
    }
    const uint64_t now_ns = p->live ? p->now_ns : s->time_ns;
    viewer_duration_text(now_ns > s->progress_ns ? now_ns - s->progress_ns : 0, age, sizeof age);
    snprintf(cause->progress[cause->line_count++], sizeof *cause->progress,
             "%zu grid%s running; a warp was last seen to move %s before %s.", running, running == 1 ? "" : "s",
             s->progress_ns ? age : "?", p->live ? "now" : "the last picture");
    if (p->live && p->info && p->info->stall_seconds > 0)
        snprintf(cause->progress[cause->line_count++], sizeof *cause->progress,
                 "A cause is looked for after %.1f s without a move.", p->info->stall_seconds);
}

static bool add(struct viewer_rows *rows, struct viewer_object object, uint64_t data, uint8_t depth)
{
    const struct viewer_row row = {.object = object, .data = data, .depth = depth};
    return viewer_rows_add(rows, &row);
}

/* One row for each line that the text takes. */
static bool add_wrapped(struct viewer_rows *rows, uint32_t finding, enum part part, const char *text, int columns)
{
    const size_t room = columns > INDENT + 16 ? (size_t)(columns - INDENT) : 16;
    for (size_t first = 0, bytes; text[first]; first += bytes) {
        bytes = wsdbg_text_line_bytes(text + first, room);
        if (!add(rows, (struct viewer_object){VIEWER_OBJECT_FINDING, finding, 0}, DATA(part, first, bytes), 1))
            return false;
    }
    return true;
}

static struct viewer_object object_of(const struct wsdbg_evidence_row *evidence)
{
    if (evidence->kind == WSDBG_EVIDENCE_BARRIER && evidence->barrier != WSDBG_NONE)
        return (struct viewer_object){VIEWER_OBJECT_BARRIER, evidence->barrier, 0};
    if (evidence->warp != WSDBG_NONE)
        return (struct viewer_object){VIEWER_OBJECT_WARP, evidence->warp, 0};
    if (evidence->barrier != WSDBG_NONE)
        return (struct viewer_object){VIEWER_OBJECT_BARRIER, evidence->barrier, 0};
    return (struct viewer_object){VIEWER_OBJECT_NONE, 0, 0};
}

static bool add_evidence(struct viewer_rows *rows, uint32_t index, const struct wsdbg_finding *finding)
{
    const struct viewer_object object = {VIEWER_OBJECT_FINDING, index, 0};
    if (finding->evidence_count > 0 && !add(rows, object, DATA(EVIDENCE_TITLE, 0, 0), 1))
        return false;
    for (size_t i = 0; i < finding->evidence_count; i++)
        if (!add(rows, object_of(&finding->evidence[i]), DATA(EVIDENCE, index, i), 1))
            return false;
    return true;
}

/* The first finding is the verdict and always open; the others open on demand. */
static bool add_finding(struct viewer_context *context, struct viewer_rows *rows, uint32_t index)
{
    const struct wsdbg_finding *finding = &context->picture->diagnosis->findings[index];
    struct viewer_row title = {.object = {VIEWER_OBJECT_FINDING, index, 0}, .data = DATA(TITLE, 0, 0)};
    title.foldable = index > 0;
    title.open = index == 0 || viewer_is_open(context, &title);
    if (!viewer_rows_add(rows, &title))
        return false;
    return !title.open || (add_wrapped(rows, index, SENTENCE, finding->sentence, context->columns) &&
                           add_wrapped(rows, index, FIX, finding->fix, context->columns - FIX_COLUMNS) &&
                           add_evidence(rows, index, finding));
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct cause *cause = context->state;
    const struct viewer_picture *p = context->picture;
    bool fine = true;
    cause->line_count = 0;
    for (uint32_t i = 0; fine && p->diagnosis && i < p->diagnosis->finding_count; i++)
        fine = add_finding(context, rows, i);
    if (rows->count == 0) {
        say_end(p, cause);
        if (p->snapshot)
            say_progress(p, cause);
        for (size_t i = 0; fine && i < cause->line_count; i++)
            fine = add(rows, (struct viewer_object){VIEWER_OBJECT_NONE, 0, 0}, DATA(PROGRESS, 0, i), 0);
    }
    return fine ? NULL : &wsdbg_error_no_memory;
}

/* "4 CTAs, CTA (0,0,0) is the example". */
static void extent_text(const struct wsdbg_snapshot *s, const struct wsdbg_finding *finding, char *out, size_t bytes)
{
    char cta[48];
    if (finding->cta >= s->cta_count) {
        out[0] = '\0';
        return;
    }
    viewer_cta_text(s, finding->cta, cta, sizeof cta);
    if (finding->cta_count > 1)
        snprintf(out, bytes, "%" PRIu32 " CTAs, the example is %s", finding->cta_count, cta);
    else
        snprintf(out, bytes, "%s", cta);
}

static void draw_title(const struct viewer_context *context, const struct viewer_row *row,
                       const struct wsdbg_finding *finding, struct viewer_canvas *canvas)
{
    char extent[96] = "";
    const enum viewer_style style = row->object.index == 0 ? VIEWER_STYLE_BAD : VIEWER_STYLE_STRONG;
    if (row->foldable)
        viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_DIM, row->open ? VIEWER_GLYPH_OPEN : VIEWER_GLYPH_CLOSED);
    char title[WSDBG_TITLE_BYTES];
    const struct wsdbg_diagnosis *d = context->picture->diagnosis;
    const bool is_fault = !d->hang && context->picture->snapshot && wsdbg_fault_count(context->picture->snapshot) > 0;
    wsdbg_finding_title(finding->cause, finding->confidence,
                        wsdbg_title_place(row->object.index, d->findings[0].cause, is_fault), title);
    const int at = viewer_put(canvas, 0, 2, style, title);
    if (context->picture->snapshot)
        extent_text(context->picture->snapshot, finding, extent, sizeof extent);
    viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, extent);
}

static void draw_evidence(const struct wsdbg_snapshot *s, const struct wsdbg_evidence_row *row,
                          struct viewer_canvas *canvas)
{
    static const struct wsdbg_snapshot nothing;
    struct wsdbg_report_evidence evidence;
    char text[WSDBG_PLACE_BYTES + 260];
    wsdbg_report_evidence(s ? s : &nothing, row, &evidence);
    wsdbg_report_evidence_text(&evidence, text, sizeof text);
    viewer_print(canvas, 0, INDENT, VIEWER_STYLE_TEXT, "- %s", text);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct cause *cause = context->state;
    if (PART(row) == PROGRESS) {
        viewer_put(canvas, 0, 2, VIEWER_STYLE_TEXT, cause->progress[BYTES(row)]);
        return;
    }
    const struct wsdbg_finding *findings = context->picture->diagnosis->findings;
    const struct wsdbg_finding *finding = &findings[PART(row) == EVIDENCE ? FIRST(row) : row->object.index];
    const int bytes = (int)BYTES(row);
    switch (PART(row)) {
    case TITLE:
        draw_title(context, row, finding, canvas);
        break;
    case SENTENCE:
        viewer_print(canvas, 0, INDENT, VIEWER_STYLE_TEXT, "%.*s", bytes, finding->sentence + FIRST(row));
        break;
    case FIX:
        viewer_put(canvas, 0, INDENT, VIEWER_STYLE_GOOD, FIRST(row) == 0 ? "Fix:" : "");
        viewer_print(canvas, 0, INDENT + FIX_COLUMNS, VIEWER_STYLE_TEXT, "%.*s", bytes, finding->fix + FIRST(row));
        break;
    case EVIDENCE_TITLE:
        viewer_put(canvas, 0, INDENT, VIEWER_STYLE_DIM, "Evidence:");
        break;
    default:
        draw_evidence(context->picture->snapshot, &finding->evidence[BYTES(row)], canvas);
    }
}

const struct viewer_view viewer_cause = {
    .name = "cause",
    .key = 'c',
    .summary = "the findings: why it hangs, what to change, the evidence",
    .state_bytes = sizeof(struct cause),
    .build = build,
    .draw_row = draw_row,
};
