/* report_lines.c - the text report's small parts: single lines, wrapped text, the lines of warps and barriers.
 * Reads a report, writes text. */
#include "store/report_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LINE_COLUMNS 120
#define WRAP_COLUMNS 116
#define PART_LINES 4

/* Text under the first line of an item of a list stands under the item's own text; under another line it is set in. */
static size_t hanging_indent(const char *line)
{
    const size_t blanks = strspn(line, " ");
    return blanks + (strncmp(line + blanks, "- ", 2) == 0 ? 2 : 4);
}

static void put(const struct wsdbg_sheet *out, const char *colour, const char *line)
{
    const size_t blanks = strspn(line, " ");
    char *first = strndup(line, blanks);
    if (!first || !line[blanks])
        fputc('\n', out->file);
    else
        wsdbg_sheet_put(out, colour, first, hanging_indent(line), LINE_COLUMNS, line + blanks);
    free(first);
}

void wsdbg_report_line(const struct wsdbg_sheet *out, const char *colour, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char *line = wsdbg_text_escape(text);
    if (line)
        put(out, colour, line);
    free(line);
    free(text);
}

void wsdbg_report_wrap(const struct wsdbg_sheet *out, const char *colour, const char *first, const char *text)
{
    char *whole = wsdbg_text_escape(text);
    if (whole)
        wsdbg_sheet_put(out, colour, first, strlen(first), WRAP_COLUMNS, whole);
    free(whole);
}

void wsdbg_duration_text(uint64_t duration_ns, char *out, size_t bytes)
{
    if (duration_ns >= 1000000000u)
        snprintf(out, bytes, "%.1f s", (double)duration_ns / 1e9);
    else if (duration_ns >= 1000000u)
        snprintf(out, bytes, "%.0f ms", (double)duration_ns / 1e6);
    else
        snprintf(out, bytes, "%.0f us", (double)duration_ns / 1e3);
}

char *wsdbg_report_detail_text(const struct wsdbg_report_warps *w)
{
    char number[48], wait[256], where[2 * WSDBG_PLACE_BYTES];
    char *result = NULL;
    size_t length;
    FILE *text = open_memstream(&result, &length);
    if (!text)
        return NULL;
    wsdbg_report_wait_text(w, wait, sizeof wait);
    fputs(wait, text);
    if (w->state != WSDBG_WARP_EXITED) {
        if (w->iteration.known) {
            wsdbg_range_text(w->iteration, number, sizeof number);
            fprintf(text, ", iteration %s", number);
        }
        wsdbg_report_where_text(w, where, sizeof where);
        if (where[0])
            fprintf(text, "%s%s", wait[0] || w->iteration.known ? ", " : "", where);
        wsdbg_duration_text((uint64_t)w->waiting_ns.high, number, sizeof number);
        /* What was only looked at, or dumped, does not tell since when: it says where instead. */
        const bool timed = w->waiting_ns.known && w->waiting_ns.high > 0;
        if (timed || !w->place[0])
            fprintf(text, ", %s", timed ? number : "? s");
    }
    fclose(text);
    return result;
}

static int larger(int width, const char *text)
{
    const int own = (int)wsdbg_text_width(text);
    return own > width ? own : width;
}

struct warp_columns {
    int cta, members, role, state;
};

static struct warp_columns measure(const struct wsdbg_report *r, uint32_t grid)
{
    struct warp_columns columns = {0};
    char text[136];
    for (size_t i = 0; i < r->row_count; i++) {
        const struct wsdbg_report_warps *w = &r->rows[i];
        if (w->grid != grid)
            continue;
        wsdbg_report_cta_text(w->cta_count, w->cta, text, sizeof text);
        columns.cta = larger(columns.cta, text);
        wsdbg_report_members_text(&w->members, text, sizeof text);
        columns.members = larger(columns.members, text);
        wsdbg_report_role_beside_warps(w, text, sizeof text);
        columns.role = larger(columns.role, text);
        columns.state = larger(columns.state, wsdbg_warp_state_name(w->state));
    }
    return columns;
}

void wsdbg_report_part_lines(const struct wsdbg_report *r, const struct wsdbg_report_warps *w,
                             const struct wsdbg_sheet *out)
{
    char text[512];
    for (uint32_t i = 0; w->part_count > 1 && i < w->part_count && i < PART_LINES && w->part_first + i < r->part_count;
         i++) {
        wsdbg_report_part_text(&r->parts[w->part_first + i], text, sizeof text);
        wsdbg_report_line(out, NULL, "      %s", text);
    }
    if (w->part_count > PART_LINES)
        wsdbg_report_line(out, NULL, "      … and %u more (@parts)", w->part_count - PART_LINES);
}

void wsdbg_report_warp_lines(const struct wsdbg_report *r, uint32_t grid, const struct wsdbg_sheet *out)
{
    const struct warp_columns columns = measure(r, grid);
    int printed = 0, left = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct wsdbg_report_warps *w = &r->rows[i];
        char cta[64], members[136], role[WSDBG_REPORT_LABEL_BYTES];
        if (w->grid != grid || printed >= 2 * WSDBG_REPORT_WARP_LINES) {
            left += w->grid == grid;
            continue;
        }
        wsdbg_report_cta_text(w->cta_count, w->cta, cta, sizeof cta);
        wsdbg_report_members_text(&w->members, members, sizeof members);
        wsdbg_report_role_beside_warps(w, role, sizeof role);
        char *detail = wsdbg_report_detail_text(w);
        const int pad = columns.role - (int)wsdbg_text_width(role) + (int)strlen(role);
        const char *tint = !out->colour ? NULL : wsdbg_warp_state_waits(w->state) ? "33" : "2";
        wsdbg_report_line(out, tint, "  %-*s  %-*s  %-*s  %-*s  %s", columns.cta, cta, columns.members, members, pad,
                          role, columns.state, wsdbg_warp_state_name(w->state), detail ? detail : "");
        free(detail);
        wsdbg_report_part_lines(r, w, out);
        printed++;
    }
    if (left)
        wsdbg_report_line(out, NULL, "  … and %d more states (@waits)", left);
}

/* "8 warps wait": how many, where a bare number would read like a warp's. */
static void waiters_text(struct wsdbg_range waiters, char *out, size_t bytes)
{
    char count[48];
    wsdbg_range_text(waiters, count, sizeof count);
    const bool one = waiters.known && waiters.low == 1 && waiters.high == 1;
    if (waiters.known && waiters.high == 0)
        snprintf(out, bytes, "no warp waits");
    else
        snprintf(out, bytes, "%s %s", count, one ? "warp waits" : "warps wait");
}

static void barrier_line(const struct wsdbg_report_barriers *b, const struct wsdbg_sheet *out)
{
    char cta[64], name[256], state[256], waiters[64], at[160];
    wsdbg_report_cta_text(b->cta_count, b->cta, cta, sizeof cta);
    wsdbg_report_barrier_text(b, name, sizeof name);
    wsdbg_report_barrier_state_text(b, state, sizeof state);
    waiters_text(b->waiters, waiters, sizeof waiters);
    wsdbg_report_waited_text(b, at, sizeof at);
    wsdbg_report_line(out, NULL, "  %s  %s  %s%s%s%s%s", cta, name, state, state[0] ? "; " : "", waiters,
                      at[0] ? ", all at " : "", at);
}

void wsdbg_report_barrier_lines(const struct wsdbg_report *r, uint32_t grid, const struct wsdbg_sheet *out)
{
    int printed = 0, left = 0;
    for (size_t i = 0; i < r->barrier_row_count; i++) {
        if (r->barrier_rows[i].grid != grid)
            continue;
        if (printed >= WSDBG_REPORT_BARRIER_LINES) {
            left++;
            continue;
        }
        if (printed++ == 0)
            wsdbg_report_line(out, out->colour ? "1" : NULL, "Barriers");
        barrier_line(&r->barrier_rows[i], out);
    }
    if (left)
        wsdbg_report_line(out, NULL, "  … and %d more (@barriers)", left);
}
