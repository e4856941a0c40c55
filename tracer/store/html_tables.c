/* html_tables.c - the tables of the HTML report about the GPU: grids, warps, barriers, overlaps.
 * Reads a report, writes well-formed XML. */
#include "store/html_internal.h"

#include <inttypes.h>

#include "store/html_table.h"
#include "store/quote.h"
#include "store/report_internal.h"
#include "model/symbol.h"

void wsdbg_html_kernel(const char *symbol, char *out, size_t bytes)
{
    wsdbg_symbol_name(symbol, out, bytes);
    if (!out[0])
        snprintf(out, bytes, "?");
}

static void grid_row(const struct wsdbg_report *r, const struct wsdbg_report_grid *g, FILE *out)
{
    char text[512];
    fputs("<tr>", out);
    wsdbg_html_kernel(g->kernel, text, sizeof text);
    wsdbg_html_cell(out, text);
    if (g->launch.known) {
        snprintf(text, sizeof text, "%ux%ux%u", g->launch.grid[0], g->launch.grid[1], g->launch.grid[2]);
        wsdbg_html_cell(out, text);
        snprintf(text, sizeof text, "%ux%ux%u", g->launch.block[0], g->launch.block[1], g->launch.block[2]);
        wsdbg_html_cell(out, text);
        snprintf(text, sizeof text, "%u", g->launch.dynamic_shared_bytes);
        wsdbg_html_cell(out, text);
    } else {
        wsdbg_html_cell(out, NULL);
        wsdbg_html_cell(out, NULL);
        wsdbg_html_cell(out, NULL);
    }
    wsdbg_html_u32_cell(out, g->registers);
    if (g->cta_total)
        snprintf(text, sizeof text, "%u of %u%s", g->cta_seen, g->cta_total,
                 wsdbg_report_lacks_ctas(r, g) ? " there now" : "");
    else
        snprintf(text, sizeof text, "%u of ?", g->cta_seen);
    wsdbg_html_cell(out, text);
    snprintf(text, sizeof text, "%u of %u, %u exited", g->warps_seen, g->cta_seen * g->warps_per_cta, g->warps_exited);
    wsdbg_html_cell(out, text);
    wsdbg_html_cell(out, g->device_name);
    wsdbg_html_cell(out, !g->running ? "does not run" : r->hang ? "hangs" : r->ended ? "ran at the end" : "runs");
    fputs("</tr>\n", out);
}

void wsdbg_html_grids(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Kernel",    "Grid",      "Block",      "Dynamic shared bytes",
                                        "Registers", "CTAs seen", "Warps seen", "Device",
                                        "State",     NULL};
    if (r->grid_count == 0)
        return;
    wsdbg_html_begin_table("Launches", "Grids whose warps were seen, and the launches they came from", heads, out);
    for (size_t i = 0; i < r->grid_count && i < WSDBG_HTML_ROWS_MAX; i++)
        grid_row(r, &r->grids[i], out);
    wsdbg_html_end_table(r->grid_count > WSDBG_HTML_ROWS_MAX ? r->grid_count - WSDBG_HTML_ROWS_MAX : 0, out);
}

static void time_cell(const struct wsdbg_report_warps *w, FILE *out)
{
    char text[32];
    if (w->state == WSDBG_WARP_EXITED) {
        wsdbg_html_blank_cell(out);
        return;
    }
    if (w->waiting_ns.known)
        wsdbg_duration_text((uint64_t)w->waiting_ns.high, text, sizeof text);
    wsdbg_html_cell(out, w->waiting_ns.known ? text : NULL);
}

/* The parts of a warp whose lanes stand at different places. */
static void part_rows(const struct wsdbg_report *r, const struct wsdbg_report_warps *w, FILE *out)
{
    char text[512];
    for (uint32_t i = 0; w->part_count > 1 && i < w->part_count && w->part_first + i < r->part_count; i++) {
        wsdbg_report_part_text(&r->parts[w->part_first + i], text, sizeof text);
        fputs("<tr><td></td><td></td><td></td><td></td><td>", out);
        wsdbg_put_xml(out, text);
        fputs("</td><td></td><td></td><td></td><td></td></tr>\n", out);
    }
}

static void warps_row(const struct wsdbg_report *r, const struct wsdbg_report_warps *w, FILE *out)
{
    char text[256];
    fputs(wsdbg_warp_state_waits(w->state) ? "<tr class=\"waits\">" : "<tr>", out);
    wsdbg_report_cta_text(w->cta_count, w->cta, text, sizeof text);
    wsdbg_html_cell(out, text);
    wsdbg_members_text(&w->members, text, sizeof text);
    wsdbg_html_cell(out, text);
    wsdbg_report_role_beside_warps(w, text, sizeof text);
    wsdbg_html_cell(out, text);
    fprintf(out, "<td class=\"state mono\">%s</td>", wsdbg_warp_state_name(w->state));
    wsdbg_report_wait_text(w, text, sizeof text);
    if (text[0])
        wsdbg_html_cell(out, text);
    else
        wsdbg_html_blank_cell(out);
    if (w->state == WSDBG_WARP_EXITED) {
        fputs("<td></td><td></td><td></td>", out);
    } else {
        wsdbg_html_range_cell(out, w->iteration);
        wsdbg_report_where_text(w, text, sizeof text);
        if (text[0])
            wsdbg_html_cell(out, text);
        else
            wsdbg_html_range_cell(out, w->line);
        wsdbg_html_range_cell(out, w->registers_held);
    }
    time_cell(w, out);
    fputs("</tr>\n", out);
    part_rows(r, w, out);
}

void wsdbg_html_warps(const struct wsdbg_report *r, FILE *out)
{
    const char *const heads[] = {"CTAs",
                                 "Warps",
                                 "Role",
                                 "State",
                                 "Waits on, or did last",
                                 "Iteration",
                                 r->site_count > 0 ? "Stands at" : "Line",
                                 "Registers",
                                 "Quiet for",
                                 NULL};
    /* The exact states where a page can hold them, else those of the text report. */
    const bool exact = r->warps_count <= WSDBG_HTML_ROWS_MAX;
    const struct wsdbg_report_warps *rows = exact ? r->warps : r->rows;
    const size_t count = exact ? r->warps_count : r->row_count;
    if (count == 0)
        return;
    wsdbg_html_begin_table("Warps", "Warps in the same state are one row", heads, out);
    for (size_t i = 0; i < count && i < WSDBG_HTML_ROWS_MAX; i++)
        warps_row(r, &rows[i], out);
    wsdbg_html_end_table(count > WSDBG_HTML_ROWS_MAX ? count - WSDBG_HTML_ROWS_MAX : 0, out);
}

static void memory_cells(const struct wsdbg_report_barriers *b, FILE *out)
{
    char text[64];
    if (b->kind != WSDBG_BARRIER_MBARRIER) {
        fputs("<td></td><td></td>", out);
        return;
    }
    wsdbg_report_offset_text(b, text, sizeof text);
    wsdbg_html_cell(out, text);
    snprintf(text, sizeof text, "%016" PRIx64, b->word.value);
    wsdbg_html_cell(out, b->word.known ? text : NULL);
}

static void barrier_row(const struct wsdbg_report_barriers *b, bool in_memory, FILE *out)
{
    const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
    char text[256];
    fputs("<tr>", out);
    wsdbg_report_cta_text(b->cta_count, b->cta, text, sizeof text);
    wsdbg_html_cell(out, text);
    wsdbg_report_barrier_waited_text(b, text, sizeof text);
    wsdbg_html_cell(out, text);
    wsdbg_html_cell(out, wsdbg_barrier_kind_name(b->kind));
    if (mbarrier) {
        wsdbg_html_range_cell(out, b->phase);
        wsdbg_html_range_cell(out, b->pending_arrivals);
    } else {
        fputs("<td></td><td></td>", out);
    }
    if (mbarrier || b->kind == WSDBG_BARRIER_NAMED)
        wsdbg_html_range_cell(out, b->expected_arrivals);
    else
        wsdbg_html_blank_cell(out);
    if (mbarrier) {
        wsdbg_report_tx_text(b, text, sizeof text);
        wsdbg_html_cell(out, text);
    } else {
        wsdbg_html_blank_cell(out);
    }
    wsdbg_html_range_cell(out, b->waiters);
    if (in_memory)
        memory_cells(b, out);
    fputs("</tr>\n", out);
}

void wsdbg_html_barriers(const struct wsdbg_report *r, FILE *out)
{
    bool in_memory = false;
    for (size_t i = 0; i < r->barriers_count; i++)
        in_memory |= r->barriers[i].shared_offset.known;
    const char *const heads[] = {"CTAs",
                                 "Barrier",
                                 "Kind",
                                 "Phase",
                                 "Pending arrivals",
                                 "Expected",
                                 "Missing bytes",
                                 "Waiters",
                                 in_memory ? "Shared" : NULL,
                                 "Word",
                                 NULL};
    const bool exact = r->barriers_count <= WSDBG_HTML_ROWS_MAX;
    const struct wsdbg_report_barriers *rows = exact ? r->barriers : r->barrier_rows;
    const size_t count = exact ? r->barriers_count : r->barrier_row_count;
    if (count == 0)
        return;
    wsdbg_html_begin_table("Barriers", "Barriers in the same state are one row; waiters are warps of a CTA", heads,
                           out);
    /* Those that somebody waits on come first. */
    for (int waited = 1; waited >= 0; waited--)
        for (size_t i = 0; i < count && i < WSDBG_HTML_ROWS_MAX; i++)
            if ((rows[i].waiters.high > 0) == (waited == 1))
                barrier_row(&rows[i], in_memory, out);
    wsdbg_html_end_table(count > WSDBG_HTML_ROWS_MAX ? count - WSDBG_HTML_ROWS_MAX : 0, out);
}

static void rounds_cell(FILE *out, bool known, double rounds)
{
    char text[48];
    snprintf(text, sizeof text, "%.2f", rounds);
    wsdbg_html_cell(out, known ? text : NULL);
}

static void u64_cell(FILE *out, bool known, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    wsdbg_html_cell(out, known ? text : NULL);
}

static void overlap_row(const struct wsdbg_report *r, const struct wsdbg_report_overlap *o, FILE *out)
{
    const bool known = o->round_ns.known;
    char text[512];
    fputs("<tr>", out);
    wsdbg_html_kernel(o->grid < r->grid_count ? r->grids[o->grid].kernel : "", text, sizeof text);
    wsdbg_html_cell(out, text);
    snprintf(text, sizeof text, "%u-%u", o->warpgroup * 4, o->warpgroup * 4 + 3);
    wsdbg_html_cell(out, text);
    wsdbg_report_overlap_role(o, text, sizeof text);
    wsdbg_html_cell(out, text);
    rounds_cell(out, known, o->in_flight);
    rounds_cell(out, known, o->least);
    rounds_cell(out, known, o->most);
    u64_cell(out, known, o->round_ns.value);
    u64_cell(out, true, o->wait_ns);
    u64_cell(out, true, o->stages);
    rounds_cell(out, known, o->rounds);
    u64_cell(out, true, o->earlier_waits);
    if (o->earlier_waits > 0)
        u64_cell(out, o->earlier_wait_ns.known, o->earlier_wait_ns.value);
    else
        wsdbg_html_blank_cell(out);
    fputs("</tr>\n", out);
}

void wsdbg_html_overlaps(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {
        "Kernel",     "Warps",  "Role",           "Rounds in flight", "Least",       "Most", "Round, ns",
        "Waited, ns", "Stages", "Rounds a stage", "Earlier waits",    "Earlier, ns", NULL};
    if (r->overlap_count == 0)
        return;
    wsdbg_html_begin_table("wgmma in flight", wsdbg_report_overlap_caption(), heads, out);
    for (size_t i = 0; i < r->overlap_count && i < WSDBG_HTML_ROWS_MAX; i++)
        overlap_row(r, &r->overlaps[i], out);
    wsdbg_html_end_table(r->overlap_count > WSDBG_HTML_ROWS_MAX ? r->overlap_count - WSDBG_HTML_ROWS_MAX : 0, out);
    if (wsdbg_report_overlap_note(r)[0])
        fprintf(out, "<p class=\"soft\">%s</p>\n", wsdbg_report_overlap_note(r));
}
