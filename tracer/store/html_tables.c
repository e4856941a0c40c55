/* html_tables.c - the tables of the HTML report: grids, warps, barriers, blocked threads, facts of the session.
 * Reads a report, writes well-formed XML. */
#include "store/html_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "store/quote.h"
#include "store/report_internal.h"
#include "model/host_stack.h"
#include "model/symbol.h"

enum { ROWS_MAX = 100 };

void wsdbg_html_kernel(const char *symbol, char *out, size_t bytes)
{
    wsdbg_symbol_name(symbol, out, bytes);
    if (!out[0])
        snprintf(out, bytes, "?");
}

static void begin_table(const char *label, const char *caption, const char *const *heads, FILE *out)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n<caption>%s</caption>\n"
            "<thead><tr>",
            label, caption);
    for (; *heads; heads++)
        fprintf(out, "<th scope=\"col\">%s</th>", *heads);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(size_t left_out, FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (left_out > 0)
        fprintf(out, "<p class=\"soft\">%zu more rows are left out.</p>\n", left_out);
}

static void cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    wsdbg_put_xml(out, text && *text ? text : "?");
    fputs("</td>", out);
}

/* Empty where a value would make no sense; "?" is for what is not known. */
static void blank_cell(FILE *out)
{
    fputs("<td></td>", out);
}

static void range_cell(FILE *out, struct wsdbg_range range)
{
    char text[48];
    wsdbg_range_text(range, text, sizeof text);
    cell(out, text);
}

static void u32_cell(FILE *out, struct wsdbg_optional_u32 value)
{
    range_cell(out, (struct wsdbg_range){value.known, value.value, value.value});
}

static void grid_row(const struct wsdbg_report *r, const struct wsdbg_report_grid *g, FILE *out)
{
    char text[512];
    fputs("<tr>", out);
    wsdbg_html_kernel(g->kernel, text, sizeof text);
    cell(out, text);
    if (g->launch.known) {
        snprintf(text, sizeof text, "%ux%ux%u", g->launch.grid[0], g->launch.grid[1], g->launch.grid[2]);
        cell(out, text);
        snprintf(text, sizeof text, "%ux%ux%u", g->launch.block[0], g->launch.block[1], g->launch.block[2]);
        cell(out, text);
        snprintf(text, sizeof text, "%u", g->launch.dynamic_shared_bytes);
        cell(out, text);
    } else {
        cell(out, NULL);
        cell(out, NULL);
        cell(out, NULL);
    }
    u32_cell(out, g->registers);
    if (g->cta_total)
        snprintf(text, sizeof text, "%u of %u", g->cta_seen, g->cta_total);
    else
        snprintf(text, sizeof text, "%u of ?", g->cta_seen);
    cell(out, text);
    snprintf(text, sizeof text, "%u of %u, %u exited", g->warps_seen, g->cta_seen * g->warps_per_cta, g->warps_exited);
    cell(out, text);
    cell(out, g->device_name);
    cell(out, !g->running ? "does not run" : r->hang ? "hangs" : r->ended ? "ran at the end" : "runs");
    fputs("</tr>\n", out);
}

void wsdbg_html_grids(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Kernel",    "Grid",      "Block",      "Dynamic shared bytes",
                                        "Registers", "CTAs seen", "Warps seen", "Device",
                                        "State",     NULL};
    if (r->grid_count == 0)
        return;
    begin_table("Launches", "Grids whose warps were seen, and the launches they came from", heads, out);
    for (size_t i = 0; i < r->grid_count && i < ROWS_MAX; i++)
        grid_row(r, &r->grids[i], out);
    end_table(r->grid_count > ROWS_MAX ? r->grid_count - ROWS_MAX : 0, out);
}

static void time_cell(const struct wsdbg_report_warps *w, FILE *out)
{
    char text[32];
    if (w->state == WSDBG_WARP_EXITED) {
        blank_cell(out);
        return;
    }
    if (w->waiting_ns.known)
        wsdbg_duration_text((uint64_t)w->waiting_ns.high, text, sizeof text);
    cell(out, w->waiting_ns.known ? text : NULL);
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
    cell(out, text);
    wsdbg_members_text(&w->members, text, sizeof text);
    cell(out, text);
    wsdbg_report_role_beside_warps(w, text, sizeof text);
    cell(out, text);
    fprintf(out, "<td class=\"state mono\">%s</td>", wsdbg_warp_state_name(w->state));
    wsdbg_report_wait_text(w, text, sizeof text);
    if (text[0])
        cell(out, text);
    else
        blank_cell(out);
    if (w->state == WSDBG_WARP_EXITED) {
        fputs("<td></td><td></td><td></td>", out);
    } else {
        range_cell(out, w->iteration);
        if (w->place[0])
            cell(out, w->place);
        else
            range_cell(out, w->line);
        range_cell(out, w->registers_held);
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
    const bool exact = r->warps_count <= ROWS_MAX;
    const struct wsdbg_report_warps *rows = exact ? r->warps : r->rows;
    const size_t count = exact ? r->warps_count : r->row_count;
    if (count == 0)
        return;
    begin_table("Warps", "Warps in the same state are one row", heads, out);
    for (size_t i = 0; i < count && i < ROWS_MAX; i++)
        warps_row(r, &rows[i], out);
    end_table(count > ROWS_MAX ? count - ROWS_MAX : 0, out);
}

static void memory_cells(const struct wsdbg_report_barriers *b, FILE *out)
{
    char text[64];
    if (b->kind != WSDBG_BARRIER_MBARRIER) {
        fputs("<td></td><td></td>", out);
        return;
    }
    wsdbg_report_offset_text(b, text, sizeof text);
    cell(out, text);
    snprintf(text, sizeof text, "%016" PRIx64, b->word.value);
    cell(out, b->word.known ? text : NULL);
}

static void barrier_row(const struct wsdbg_report_barriers *b, bool in_memory, FILE *out)
{
    const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
    char text[256];
    fputs("<tr>", out);
    wsdbg_report_cta_text(b->cta_count, b->cta, text, sizeof text);
    cell(out, text);
    wsdbg_report_barrier_waited_text(b, text, sizeof text);
    cell(out, text);
    cell(out, wsdbg_barrier_kind_name(b->kind));
    if (mbarrier) {
        range_cell(out, b->phase);
        range_cell(out, b->pending_arrivals);
    } else {
        fputs("<td></td><td></td>", out);
    }
    if (mbarrier || b->kind == WSDBG_BARRIER_NAMED)
        range_cell(out, b->expected_arrivals);
    else
        blank_cell(out);
    if (mbarrier) {
        wsdbg_report_tx_text(b, text, sizeof text);
        cell(out, text);
    } else {
        blank_cell(out);
    }
    range_cell(out, b->waiters);
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
    const bool exact = r->barriers_count <= ROWS_MAX;
    const struct wsdbg_report_barriers *rows = exact ? r->barriers : r->barrier_rows;
    const size_t count = exact ? r->barriers_count : r->barrier_row_count;
    if (count == 0)
        return;
    begin_table("Barriers", "Barriers in the same state are one row; waiters are warps of a CTA", heads, out);
    /* Those that somebody waits on come first. */
    for (int waited = 1; waited >= 0; waited--)
        for (size_t i = 0; i < count && i < ROWS_MAX; i++)
            if ((rows[i].waiters.high > 0) == (waited == 1))
                barrier_row(&rows[i], in_memory, out);
    end_table(count > ROWS_MAX ? count - ROWS_MAX : 0, out);
}

static void rounds_cell(FILE *out, bool known, double rounds)
{
    char text[48];
    snprintf(text, sizeof text, "%.2f", rounds);
    cell(out, known ? text : NULL);
}

static void u64_cell(FILE *out, bool known, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cell(out, known ? text : NULL);
}

static void overlap_row(const struct wsdbg_report *r, const struct wsdbg_report_overlap *o, FILE *out)
{
    const bool known = o->round_ns.known;
    char text[512];
    fputs("<tr>", out);
    wsdbg_html_kernel(o->grid < r->grid_count ? r->grids[o->grid].kernel : "", text, sizeof text);
    cell(out, text);
    snprintf(text, sizeof text, "%u-%u", o->warpgroup * 4, o->warpgroup * 4 + 3);
    cell(out, text);
    wsdbg_report_overlap_role(o, text, sizeof text);
    cell(out, text);
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
        blank_cell(out);
    fputs("</tr>\n", out);
}

void wsdbg_html_overlaps(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {
        "Kernel",     "Warps",  "Role",           "Rounds in flight", "Least",       "Most", "Round, ns",
        "Waited, ns", "Stages", "Rounds a stage", "Earlier waits",    "Earlier, ns", NULL};
    if (r->overlap_count == 0)
        return;
    begin_table("wgmma in flight", wsdbg_report_overlap_caption(), heads, out);
    for (size_t i = 0; i < r->overlap_count && i < ROWS_MAX; i++)
        overlap_row(r, &r->overlaps[i], out);
    end_table(r->overlap_count > ROWS_MAX ? r->overlap_count - ROWS_MAX : 0, out);
    if (wsdbg_report_overlap_note(r)[0])
        fprintf(out, "<p class=\"soft\">%s</p>\n", wsdbg_report_overlap_note(r));
}

static void process_row(const struct wsdbg_report *r, const struct wsdbg_report_process *p, FILE *out)
{
    char text[256];
    const char *blame = wsdbg_blame_name(p->blame);
    fputs("<tr>", out);
    u32_cell(out, p->process.rank);
    u32_cell(out, p->process.local_rank);
    cell(out, p->process.host);
    fprintf(out, "<td>%u</td>", p->process.pid);
    cell(out, p->does);
    if (p->python[0])
        cell(out, p->python);
    else
        blank_cell(out);
    if (p->finding.known) {
        snprintf(text, sizeof text, "%s (%s)", wsdbg_cause_name(r->findings[p->finding.value].cause),
                 wsdbg_confidence_name(r->findings[p->finding.value].confidence));
        cell(out, text);
    } else {
        blank_cell(out);
    }
    if (blame)
        cell(out, blame);
    else
        blank_cell(out);
    if (p->waits_for[0])
        cell(out, p->waits_for);
    else
        blank_cell(out);
    fputs("</tr>\n", out);
}

void wsdbg_html_processes(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Rank",        "Local rank", "Host",  "Process",   "Does",
                                        "Python line", "Cause",      "Blame", "Waits for", NULL};
    uint32_t *order = r->has_ranks ? wsdbg_report_process_order(r) : NULL;
    if (!order)
        return;
    begin_table("Ranks", "Processes that use CUDA: whose fault it is first, then who waits for these", heads, out);
    for (size_t i = 0; i < r->process_count && i < ROWS_MAX; i++)
        process_row(r, &r->processes[order[i]], out);
    end_table(r->process_count > ROWS_MAX ? r->process_count - ROWS_MAX : 0, out);
    free(order);
}

void wsdbg_html_threads(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Process", "Thread", "Call", "For", NULL};
    if (r->thread_count == 0)
        return;
    begin_table("Host threads", "Host threads inside a call that waits for the GPU", heads, out);
    for (size_t i = 0; i < r->thread_count && i < ROWS_MAX; i++) {
        const struct wsdbg_report_thread *t = &r->threads[i];
        char text[32];
        fputs("<tr>", out);
        cell(out, t->process);
        fprintf(out, "<td>%u</td>", t->thread_id);
        cell(out, t->call);
        if (t->waiting_ns.known)
            wsdbg_duration_text(t->waiting_ns.value, text, sizeof text);
        cell(out, t->waiting_ns.known ? text : NULL);
        fputs("</tr>\n", out);
    }
    end_table(r->thread_count > ROWS_MAX ? r->thread_count - ROWS_MAX : 0, out);
}

/* One line, under which the frames are folded. */
static void frames_cell(const char *line, const struct wsdbg_host_frame *frames, uint32_t count, FILE *out)
{
    char text[WSDBG_HOST_STACK_TEXT_BYTES];
    fputs("<td><details><summary>", out);
    wsdbg_put_xml(out, line);
    fputs("</summary>\n<ol>\n", out);
    for (uint32_t i = 0; i < count; i++) {
        wsdbg_host_frame_text(&frames[i], text, sizeof text);
        fputs("<li>", out);
        wsdbg_put_xml(out, text);
        fputs("</li>\n", out);
    }
    fputs("</ol></details></td>", out);
}

static void stack_row(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack, FILE *out)
{
    char thread[WSDBG_HOST_THREAD_TEXT_BYTES + WSDBG_HOST_MOTION_TEXT_BYTES], text[WSDBG_HOST_STACK_TEXT_BYTES];
    wsdbg_report_stack_words(r, stack, thread, sizeof thread, text, sizeof text);
    fputs("<tr>", out);
    cell(out, thread);
    frames_cell(text, &r->frames[stack->row.frame_first], stack->row.frame_count, out);
    fputs("</tr>\n", out);
}

static void launch_site_row(const struct wsdbg_report *r, const struct wsdbg_report_launch_site *site, FILE *out)
{
    char text[512];
    const size_t first = site->row.frame_first, room = first < r->site_frame_count ? r->site_frame_count - first : 0;
    fputs("<tr>", out);
    wsdbg_html_kernel(site->kernel, text, sizeof text);
    cell(out, site->call[0] ? site->call : site->kernel[0] ? text : NULL);
    cell(out, wsdbg_launch_site_kind_name(site->row.kind));
    snprintf(text, sizeof text, site->row.count ? "%u" : "?", site->row.count);
    cell(out, text);
    frames_cell(site->place, &r->site_frames[room ? first : 0],
                site->row.frame_count < room ? site->row.frame_count : (uint32_t)room, out);
    cell(out, site->row.end[0] ? site->row.end : "");
    fputs("</tr>\n", out);
}

void wsdbg_html_launch_sites(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Kernel or call", "Kind", "Launches", "Place", "Not whole", NULL};
    if (r->launch_site_count == 0)
        return;
    begin_table("Launch sites", "Where in the program these began; the frames of each, innermost first, are folded",
                heads, out);
    for (size_t i = 0; i < r->launch_site_count && i < ROWS_MAX; i++)
        launch_site_row(r, &r->launch_sites[i], out);
    end_table(r->launch_site_count > ROWS_MAX ? r->launch_site_count - ROWS_MAX : 0, out);
}

void wsdbg_html_stacks(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Thread", "Stack, from the outside in", NULL};
    if (r->host_process_count == 0)
        return;
    begin_table("Host stacks", "What threads of the program did; the frames of each, innermost first, are folded",
                heads, out);
    for (size_t i = 0; i < r->stack_count && i < ROWS_MAX; i++)
        stack_row(r, &r->stacks[i], out);
    end_table(r->stack_count > ROWS_MAX ? r->stack_count - ROWS_MAX : 0, out);
    for (size_t i = 0; i < r->host_process_count && i < ROWS_MAX; i++)
        if (r->host_processes[i].obstacle[0]) {
            char process[WSDBG_PROCESS_BYTES];
            wsdbg_report_process_words(r, r->host_processes[i].process_id, process);
            process[0] = (char)toupper((unsigned char)process[0]);
            fputs("<p class=\"soft\">", out);
            wsdbg_put_xml(out, process);
            fputs(": ", out);
            wsdbg_put_xml(out, r->host_processes[i].obstacle);
            fputs("</p>\n", out);
        }
}

static void fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    wsdbg_put_xml(out, value && *value ? value : "?");
    fputs("</dd>\n", out);
}

/* How it ended and when, as far as it did. */
static void end_facts(const struct wsdbg_report *r, FILE *out)
{
    char text[64], duration[32];
    if (!r->ended) {
        fact(out, "Ended", "not yet, or wsdbg was killed");
        return;
    }
    fact(out, "Ended", r->outcome);
    snprintf(text, sizeof text, "%d", r->exit_status);
    fact(out, "Exit status", text);
    wsdbg_duration_text(r->duration_ns, duration, sizeof duration);
    if (wsdbg_report_was_watched(r))
        fact(out, "Ran for", duration);
    if (r->verdict_delay_ns.known) {
        wsdbg_duration_text(r->verdict_delay_ns.value, duration, sizeof duration);
        snprintf(text, sizeof text, "%s after the stall", duration);
        fact(out, "Verdict", text);
    }
}

void wsdbg_html_session(const struct wsdbg_report *r, FILE *out)
{
    char text[64] = "?";
    const time_t started = (time_t)(r->started_unix_ns / 1000000000u);
    struct tm utc;
    if (r->started_unix_ns != 0 && gmtime_r(&started, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    fputs("<dl>\n<dt>Program</dt><dd><code>", out);
    wsdbg_put_xml(out, r->command ? r->command : "?");
    fputs("</code></dd>\n", out);
    fact(out, "Started", text);
    end_facts(r, out);
    fact(out, "Machine", r->hostname);
    fact(out, "Device", r->device);
    fact(out, "Observer", r->observer);
    char evidence[128];
    wsdbg_report_evidence_used(r, evidence, sizeof evidence);
    fact(out, "Evidence", r->evidence ? evidence : NULL);
    if (r->stall_proven)
        snprintf(text, sizeof text, "proven by the simulator");
    else
        snprintf(text, sizeof text, "after %g s without progress", r->stall_seconds);
    if (wsdbg_report_was_watched(r))
        fact(out, "Stall", text);
    if (r->has_snapshot)
        snprintf(text, sizeof text, "%" PRIu64 ", of %zu function%s", r->launches_total, r->function_count,
                 r->function_count == 1 ? "" : "s");
    fact(out, "Launches", r->has_snapshot ? text : NULL);
    if (r->look_count > 0) {
        char looks[128];
        wsdbg_report_looks_text(r->looks, r->look_count, looks, sizeof looks);
        fact(out, "Looked at the GPU", looks);
    }
    for (size_t i = 0; i < r->schedule_count; i++)
        fact(out, "Schedule", r->schedules[i]);
    if (wsdbg_report_names_text(r))
        fact(out, "Names", wsdbg_report_names_text(r));
    fact(out, "wsdbg", r->wsdbg_version);
    fputs("</dl>\n", out);
}
