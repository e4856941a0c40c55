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

static void put(FILE *out, const char *colour, const char *text)
{
    if (colour)
        fprintf(out, "\033[%sm%s\033[0m\n", colour, text);
    else
        fprintf(out, "%s\n", text);
}

static void trim_end(char *text)
{
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--)
        text[end - 1] = '\0';
}

void wsdbg_report_line(FILE *out, const char *colour, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char *line = wsdbg_text_escape(text);
    if (line) {
        trim_end(line);
        wsdbg_text_cut(line, LINE_COLUMNS);
        put(out, colour, line);
    }
    free(line);
    free(text);
}

/* Bytes of `text` that go on one line of `columns`, cut after a space where there is one. */
static size_t line_bytes(const char *text, size_t columns)
{
    size_t bytes = 0, last_space = 0, width = 0;
    while (text[bytes]) {
        unsigned character;
        const size_t next = wsdbg_text_next(text + bytes, &character);
        char one[5] = "";
        memcpy(one, text + bytes, next);
        width += wsdbg_text_width(one);
        if (width > columns)
            return last_space ? last_space : bytes;
        bytes += next;
        if (character == ' ')
            last_space = bytes;
    }
    return bytes;
}

void wsdbg_report_wrap(FILE *out, const char *colour, const char *first, const char *text)
{
    char *whole = wsdbg_text_escape(text);
    const size_t indent = strlen(first);
    for (const char *at = whole; at && *at;) {
        const size_t bytes = line_bytes(at, WRAP_COLUMNS - indent);
        char *line = NULL;
        if (asprintf(&line, "%*s%.*s", (int)indent, at == whole ? first : "", (int)bytes, at) < 0)
            break;
        trim_end(line);
        put(out, colour, line);
        free(line);
        at += bytes;
    }
    free(whole);
}

void wsdbg_range_text(struct wsdbg_range range, char *out, size_t bytes)
{
    if (!range.known)
        snprintf(out, bytes, "?");
    else if (range.low == range.high)
        snprintf(out, bytes, "%" PRId64, range.low);
    else
        snprintf(out, bytes, "%" PRId64 "-%" PRId64, range.low, range.high);
}

static bool member(const struct wsdbg_members *members, int i)
{
    return i < 256 && (members->bits[i / 64] >> (i % 64) & 1);
}

void wsdbg_members_text(const struct wsdbg_members *members, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < 256 && used + 1 < bytes; i++) {
        if (!member(members, i))
            continue;
        const int first = i;
        while (member(members, i + 1))
            i++;
        used += (size_t)snprintf(out + used, bytes - used, "%s%d", used ? "," : "", first);
        if (i > first && used + 1 < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "-%d", i);
    }
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

static void cta_text(uint32_t count, const uint32_t *cta, char *out, size_t bytes)
{
    if (count == 1)
        snprintf(out, bytes, "CTA (%u,%u,%u)", cta[0], cta[1], cta[2]);
    else
        snprintf(out, bytes, "%u CTAs", count);
}

static void role_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    if (w->role_name[0])
        snprintf(out, bytes, "%s", w->role_name);
    else if (w->role.known)
        snprintf(out, bytes, "role %u", w->role.value);
    else
        snprintf(out, bytes, "?");
}

/* "empty[0] parity 1", "named barrier 3", "asks 232, holds 168 registers". */
static void print_object(FILE *text, const struct wsdbg_report_warps *w)
{
    char id[48], stage[48], parity[48];
    wsdbg_range_text(w->barrier_id, id, sizeof id);
    wsdbg_range_text(w->stage, stage, sizeof stage);
    wsdbg_range_text(w->parity, parity, sizeof parity);
    if (w->state == WSDBG_WARP_WAIT_MBARRIER) {
        if (w->barrier_name[0])
            fprintf(text, "%s[%s] parity %s", w->barrier_name, stage, parity);
        else
            fprintf(text, "mbarrier %s[%s] parity %s", id, stage, parity);
    } else if (w->state == WSDBG_WARP_WAIT_REGISTERS) {
        wsdbg_range_text(w->registers_asked, id, sizeof id);
        wsdbg_range_text(w->registers_held, stage, sizeof stage);
        fprintf(text, "asks %s, holds %s registers", id, stage);
    } else if (w->state == WSDBG_WARP_WAIT_NAMED) {
        fprintf(text, "%s (id %s)", w->barrier_name[0] ? w->barrier_name : "named barrier", id);
    } else if (wsdbg_warp_state_waits(w->state)) {
        fprintf(text, "%s", w->barrier_kind[0] ? w->barrier_kind : "?");
    } else if (w->last_event.known && w->state != WSDBG_WARP_EXITED) {
        const bool one = w->last_event.low == w->last_event.high;
        fprintf(text, "last: %s", one ? wsdbg_event_kind_name((enum wsdbg_event_kind)w->last_event.low) : "various");
    }
}

static char *detail_text(const struct wsdbg_report_warps *w)
{
    char number[48];
    char *result = NULL;
    size_t length;
    FILE *text = open_memstream(&result, &length);
    if (!text)
        return NULL;
    print_object(text, w);
    if (w->state != WSDBG_WARP_EXITED) {
        if (w->iteration.known) {
            wsdbg_range_text(w->iteration, number, sizeof number);
            fprintf(text, ", iteration %s", number);
        }
        if (w->line.known) {
            wsdbg_range_text(w->line, number, sizeof number);
            fprintf(text, ", line %s", number);
        }
        wsdbg_duration_text((uint64_t)w->waiting_ns.high, number, sizeof number);
        fprintf(text, ", %s", w->waiting_ns.known ? number : "? s");
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
    char text[128];
    for (size_t i = 0; i < r->row_count; i++) {
        const struct wsdbg_report_warps *w = &r->rows[i];
        if (w->grid != grid)
            continue;
        cta_text(w->cta_count, w->cta, text, sizeof text);
        columns.cta = larger(columns.cta, text);
        wsdbg_members_text(&w->members, text, sizeof text);
        columns.members = larger(columns.members, text);
        role_text(w, text, sizeof text);
        columns.role = larger(columns.role, text);
        columns.state = larger(columns.state, wsdbg_warp_state_name(w->state));
    }
    return columns;
}

void wsdbg_report_warp_lines(const struct wsdbg_report *r, uint32_t grid, bool colour, FILE *out)
{
    const struct warp_columns columns = measure(r, grid);
    int printed = 0, left = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct wsdbg_report_warps *w = &r->rows[i];
        char cta[64], members[128], role[WSDBG_REPORT_LABEL_BYTES];
        if (w->grid != grid || printed >= 2 * WSDBG_REPORT_WARP_LINES) {
            left += w->grid == grid;
            continue;
        }
        cta_text(w->cta_count, w->cta, cta, sizeof cta);
        wsdbg_members_text(&w->members, members, sizeof members);
        role_text(w, role, sizeof role);
        char *detail = detail_text(w);
        const int pad = columns.role - (int)wsdbg_text_width(role) + (int)strlen(role);
        const char *tint = !colour ? NULL : wsdbg_warp_state_waits(w->state) ? "33" : "2";
        wsdbg_report_line(out, tint, "  %-*s  warps %-*s  %-*s  %-*s  %s", columns.cta, cta, columns.members, members,
                          pad, role, columns.state, wsdbg_warp_state_name(w->state), detail ? detail : "");
        free(detail);
        printed++;
    }
    if (left)
        wsdbg_report_line(out, NULL, "  … and %d more states (@waits)", left);
}

static void barrier_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char id[48], stages[128];
    wsdbg_range_text(b->id, id, sizeof id);
    wsdbg_members_text(&b->members, stages, sizeof stages);
    if (b->kind == WSDBG_BARRIER_MBARRIER && b->name[0])
        snprintf(out, bytes, "%s[%s]", b->name, stages);
    else if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out, bytes, "mbarrier %s[%s]", id, stages);
    else if (b->kind == WSDBG_BARRIER_NAMED)
        snprintf(out, bytes, "%s (id %s)", b->name[0] ? b->name : "named barrier", id);
    else
        snprintf(out, bytes, "%s", wsdbg_barrier_kind_name(b->kind));
}

static void tx_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    if (!b->pending_tx_known)
        snprintf(out, bytes, "?");
    else if (b->pending_tx_bytes.low < 0)
        snprintf(out, bytes, "%" PRId64 " early", -b->pending_tx_bytes.low);
    else
        wsdbg_range_text(b->pending_tx_bytes, out, bytes);
}

static void barrier_line(const struct wsdbg_report_barriers *b, FILE *out)
{
    char cta[64], name[256], phase[48], pending[48], expected[48], tx[64], waiters[48];
    cta_text(b->cta_count, b->cta, cta, sizeof cta);
    barrier_text(b, name, sizeof name);
    wsdbg_range_text(b->phase, phase, sizeof phase);
    wsdbg_range_text(b->pending_arrivals, pending, sizeof pending);
    wsdbg_range_text(b->expected_arrivals, expected, sizeof expected);
    wsdbg_range_text(b->waiters, waiters, sizeof waiters);
    tx_text(b, tx, sizeof tx);
    if (b->kind == WSDBG_BARRIER_MBARRIER)
        wsdbg_report_line(out, NULL, "  %s  %s  phase %s, pending %s of %s arrivals, %s bytes; waiting warps: %s", cta,
                          name, phase, pending, expected, tx, waiters);
    else if (b->kind == WSDBG_BARRIER_NAMED)
        wsdbg_report_line(out, NULL, "  %s  %s  %s threads expected; waiting warps: %s", cta, name, expected, waiters);
    else
        wsdbg_report_line(out, NULL, "  %s  %s  waiting warps: %s", cta, name, waiters);
}

void wsdbg_report_barrier_lines(const struct wsdbg_report *r, uint32_t grid, bool colour, FILE *out)
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
            wsdbg_report_line(out, colour ? "1" : NULL, "Barriers");
        barrier_line(&r->barrier_rows[i], out);
    }
    if (left)
        wsdbg_report_line(out, NULL, "  … and %d more (@barriers)", left);
}
