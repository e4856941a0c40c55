/* svg_timeline.c - the last events of one CTA as SVG: a lane for warps in one state, waits as bars, the stall at the
 * right.  Reads the histories of one warp a lane; writes SVG that the page's style sheet colours.
 *
 * The time axis is the GPU's and ends with the newest event shown; the stall's length is the host's, so its band has
 * no scale.
 */
#include "store/html_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "store/fold.h"
#include "store/quote.h"
#include "store/report_internal.h"
#include "store/spans.h"

enum { LANES_MAX = 12, EVENTS_MAX = 128 };
enum {
    WIDTH = 960,
    LEFT = 200,
    RIGHT = 780,
    TOP = 34,
    LANE_HEIGHT = 34,
    BAR_HEIGHT = 18,
    FOOT = 34,
    LABEL_COLUMNS = 26,
    WORDS_COLUMNS = 24
};

struct lane {
    struct wsdbg_report_warps warps;
    struct wsdbg_history_event events[EVENTS_MAX];
    uint32_t count, left_out; /* events of the warp before these */
};

struct timeline {
    struct wsdbg_store *store;
    const struct wsdbg_loaded *loaded;
    uint32_t cta;
    struct lane *lanes;
    uint32_t lane_count, lanes_left_out, longest_left_out;
    uint64_t first_ns, last_ns; /* GPU times of the axis */
    bool whole;                 /* every history starts with the kernel's begin */
};

static struct wsdbg_error *read_lane(struct timeline *t, const struct wsdbg_fold_group *group)
{
    struct lane *lane = &t->lanes[t->lane_count];
    const uint32_t total = t->loaded->events[group->source].count;
    wsdbg_fold_warps_row(&t->loaded->snapshot, group, &lane->warps);
    lane->left_out = total > EVENTS_MAX ? total - EVENTS_MAX : 0;
    struct wsdbg_error *error =
        wsdbg_store_events(t->store, t->loaded, group->source, lane->left_out, EVENTS_MAX, lane->events, &lane->count);
    if (error)
        return error;
    t->lane_count++;
    t->whole = t->whole && t->loaded->snapshot.warps[group->source].history_whole;
    t->longest_left_out = lane->left_out > t->longest_left_out ? lane->left_out : t->longest_left_out;
    if (lane->count == 0)
        return NULL;
    const uint64_t first_ns = lane->events[0].gpu_time_ns, last_ns = lane->events[lane->count - 1].gpu_time_ns;
    t->first_ns = first_ns < t->first_ns ? first_ns : t->first_ns;
    t->last_ns = last_ns > t->last_ns ? last_ns : t->last_ns;
    return NULL;
}

static struct wsdbg_error *read_lanes(struct timeline *t)
{
    const struct wsdbg_cta *cta = &t->loaded->snapshot.ctas[t->cta];
    struct wsdbg_fold_row *rows = calloc(cta->warp_count + 1, sizeof *rows);
    struct wsdbg_fold_group *groups = NULL;
    size_t count = 0;
    uint32_t ignored;
    t->lanes = calloc(LANES_MAX, sizeof *t->lanes);
    struct wsdbg_error *error = rows && t->lanes ? NULL : &wsdbg_error_no_memory;
    for (uint32_t i = 0; !error && i < cta->warp_count; i++)
        wsdbg_fold_warp(&t->loaded->snapshot, cta->warp_first + i, &rows[i]);
    if (!error)
        error = wsdbg_fold_fit(rows, cta->warp_count, wsdbg_fold_warp_levels, LANES_MAX, &groups, &count, &ignored);
    for (size_t i = 0; !error && i < count && i < LANES_MAX; i++)
        error = read_lane(t, &groups[i]);
    t->lanes_left_out = count > LANES_MAX ? (uint32_t)(count - LANES_MAX) : 0;
    free(groups);
    free(rows);
    return error;
}

static double x_of(const struct timeline *t, uint64_t gpu_time_ns)
{
    const double span = t->last_ns > t->first_ns ? (double)(t->last_ns - t->first_ns) : 1;
    const double at = gpu_time_ns > t->first_ns ? (double)(gpu_time_ns - t->first_ns) : 0;
    return LEFT + (RIGHT - LEFT) * at / span;
}

static const char *style_of(const struct wsdbg_wait_span *span)
{
    if (span->kind == WSDBG_SPAN_OPEN)
        return "open";
    if (span->event.kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN)
        return "mbarrier";
    if (span->event.kind == WSDBG_EVENT_REGISTERS_REQUEST)
        return "registers";
    if (span->event.kind == WSDBG_EVENT_WGMMA_WAIT_BEGIN || span->event.kind == WSDBG_EVENT_BULK_WAIT_BEGIN)
        return "async";
    return "sync";
}

static void put_title(const struct timeline *t, const struct wsdbg_wait_span *span, FILE *out)
{
    const struct wsdbg_snapshot *s = &t->loaded->snapshot;
    char object[128];
    wsdbg_event_object_text(s, s->grids[s->ctas[t->cta].grid].module, &span->event, object, sizeof object);
    fputs("<title>", out);
    wsdbg_print_xml(out, "%s %s", wsdbg_event_kind_name((enum wsdbg_event_kind)span->event.kind), object);
    if (span->kind == WSDBG_SPAN_WAIT)
        fprintf(out, ", %" PRIu64 " ns", span->end_gpu_ns - span->event.gpu_time_ns);
    if (span->kind == WSDBG_SPAN_OPEN)
        fprintf(out, ", %s", wsdbg_open_words(t->loaded, s->ctas[t->cta].grid));
    fputs("</title>", out);
}

static void put_bar(const struct timeline *t, const struct wsdbg_wait_span *span, int y, FILE *out)
{
    const double from = x_of(t, span->event.gpu_time_ns);
    const double to = span->kind == WSDBG_SPAN_OPEN ? WIDTH - 8 : x_of(t, span->end_gpu_ns);
    fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\">", style_of(span), from,
            y, to - from > 1.5 ? to - from : 1.5, BAR_HEIGHT);
    put_title(t, span, out);
    fputs("</rect>", out);
}

/* What the lane waits on at last, in its bar where that lies in the stall's band. */
static void put_open_words(const struct timeline *t, const struct wsdbg_wait_span *span, int y, FILE *out)
{
    const struct wsdbg_snapshot *s = &t->loaded->snapshot;
    char text[128];
    wsdbg_wait_object_text(s, s->grids[s->ctas[t->cta].grid].module, &span->event, text, sizeof text - 4);
    wsdbg_text_cut(text, WORDS_COLUMNS);
    fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"on-open\">", RIGHT + 8, y + 13);
    wsdbg_put_xml(out, text);
    fputs("</text>", out);
}

static void put_span(const struct timeline *t, const struct wsdbg_wait_span *span, int y, FILE *out)
{
    if (span->kind == WSDBG_SPAN_WAIT || span->kind == WSDBG_SPAN_OPEN) {
        put_bar(t, span, y, out);
        if (span->kind == WSDBG_SPAN_OPEN)
            put_open_words(t, span, y, out);
    } else if (span->kind == WSDBG_SPAN_MOMENT) {
        const double x = x_of(t, span->event.gpu_time_ns);
        fprintf(out, "<path class=\"tick\" d=\"M%.1f %dv7\">", x, y + BAR_HEIGHT + 2);
        put_title(t, span, out);
        fputs("</path>", out);
    }
}

static void put_label(const struct lane *lane, int y, FILE *out)
{
    char text[224];
    wsdbg_report_who_text(&lane->warps, text, sizeof text - 4);
    wsdbg_text_cut(text, LABEL_COLUMNS);
    fprintf(out, "<text x=\"8\" y=\"%d\">", y + 14);
    wsdbg_put_xml(out, text);
    fputs("</text>", out);
}

static void put_lane(const struct timeline *t, uint32_t index, FILE *out)
{
    const struct lane *lane = &t->lanes[index];
    const int y = TOP + (int)index * LANE_HEIGHT + 4;
    struct wsdbg_spans spans = {0};
    struct wsdbg_wait_span done[WSDBG_SPANS_AN_EVENT];
    fprintf(out, "<path class=\"lane\" d=\"M8 %dH%d\"/>", y + LANE_HEIGHT - 4, WIDTH - 8);
    put_label(lane, y, out);
    for (uint32_t i = 0; i < lane->count; i++) {
        const size_t count = wsdbg_spans_add(&spans, &lane->events[i], done);
        for (size_t k = 0; k < count; k++)
            put_span(t, &done[k], y, out);
    }
    if (wsdbg_spans_end(&spans, done))
        put_span(t, done, y, out);
    if (lane->warps.state == WSDBG_WARP_EXITED)
        fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"small\">exited</text>", RIGHT + 12, y + 13);
    putc('\n', out);
}

/* Round steps of 1, 2 or 5 times a power of ten, about six of them. */
static void put_axis(const struct timeline *t, int bottom, FILE *out)
{
    const double span_us = (double)(t->last_ns - t->first_ns) / 1000;
    double step_us = 0.01;
    for (int i = 0; step_us * 6 < span_us; i++)
        step_us *= i % 3 == 1 ? 2.5 : 2;
    for (double at_us = 0; at_us <= span_us * 0.97; at_us += step_us) {
        const double x = x_of(t, t->first_ns + (uint64_t)(at_us * 1000));
        fprintf(out, "<path class=\"lane\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" class=\"small\">%g µs</text>",
                x, TOP - 6, bottom, x + 3, TOP - 12, at_us);
    }
    putc('\n', out);
}

static void put_stall(const struct timeline *t, int bottom, FILE *out)
{
    const uint64_t stall_ns = wsdbg_stall_ns(t->loaded, t->loaded->snapshot.ctas[t->cta].grid);
    char length[32];
    if (!t->loaded->diagnosed || stall_ns == 0)
        return;
    wsdbg_duration_text(stall_ns, length, sizeof length);
    fprintf(out,
            "<rect class=\"stall\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><path class=\"edge-of-stall\" d=\"M%d "
            "%dV%d\"/><text x=\"%d\" y=\"%d\" class=\"small bad\">stall: %s, not to scale</text>\n",
            RIGHT, TOP - 6, WIDTH - 8 - RIGHT, bottom - TOP + 6, RIGHT, TOP - 6, bottom, RIGHT + 6, TOP - 12, length);
}

static void put_legend(int y, FILE *out)
{
    static const struct {
        const char *style, *words;
        int width;
    } entries[] = {{"mbarrier", "mbarrier wait", 120},
                   {"sync", "named barrier, cluster", 170},
                   {"async", "wgmma, bulk store", 140},
                   {"registers", "registers", 95},
                   {"open", "not over", 90}};
    int x = LEFT;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"10\" rx=\"2\"/>", entries[i].style, x,
                y - 9);
        fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"small\">%s</text>", x + 17, y, entries[i].words);
        x += entries[i].width;
    }
    fprintf(out, "<path class=\"tick\" d=\"M%d %dv9\"/><text x=\"%d\" y=\"%d\" class=\"small\">other event</text>\n", x,
            y - 9, x + 8, y);
}

static void put_words(const struct timeline *t, FILE *out)
{
    const struct wsdbg_snapshot *s = &t->loaded->snapshot;
    const struct wsdbg_cta *cta = &s->ctas[t->cta];
    fprintf(out,
            "<p class=\"soft\">CTA (%u,%u,%u), one of %u seen in its grid. A lane shows the first of its warps, on "
            "the GPU's clock.",
            cta->x, cta->y, cta->z, s->grids[cta->grid].cta_count);
    if (t->longest_left_out > 0)
        fprintf(out, " Only the last %d events of a warp are drawn; up to %u before them are left out.", EVENTS_MAX,
                t->longest_left_out);
    if (!t->whole)
        fputs(" Histories hold the last events of a warp: what came before them is not on record.", out);
    if (t->lanes_left_out > 0)
        fprintf(out, " %u more lanes are left out.", t->lanes_left_out);
    fputs("</p>\n", out);
}

static void put_timeline(const struct timeline *t, FILE *out)
{
    const int bottom = TOP + (int)t->lane_count * LANE_HEIGHT;
    put_words(t, out);
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline\">\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-labelledby=\"timeline-title\">\n<title id=\"timeline-title\">The last events of one CTA: %u lanes"
            "</title>\n",
            WIDTH, bottom + FOOT, t->lane_count);
    put_stall(t, bottom, out);
    put_axis(t, bottom, out);
    for (uint32_t i = 0; i < t->lane_count; i++)
        put_lane(t, i, out);
    put_legend(bottom + 22, out);
    fputs("</svg>\n</div>\n", out);
}

struct wsdbg_error *wsdbg_svg_timeline(struct wsdbg_store *store, const struct wsdbg_loaded *loaded, uint32_t cta,
                                       FILE *out, bool *drawn)
{
    struct timeline t = {.store = store, .loaded = loaded, .cta = cta, .first_ns = UINT64_MAX, .whole = true};
    struct wsdbg_error *error = read_lanes(&t);
    if (!error && t.first_ns <= t.last_ns)
        put_timeline(&t, out);
    if (!error)
        *drawn = t.first_ns <= t.last_ns;
    free(t.lanes);
    return error;
}
