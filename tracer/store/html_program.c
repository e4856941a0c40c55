/* html_program.c - the tables of the HTML report about the program: its processes, its host threads and their stacks,
 * launch sites, facts of the session.
 *
 * Reads: a report.  Writes: well-formed XML.
 */
#include "store/html_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "model/host_stack.h"
#include "model/symbol.h"
#include "store/html_table.h"
#include "store/quote.h"
#include "store/report_internal.h"

static void process_row(const struct wsdbg_report *r, const struct wsdbg_report_process *p, FILE *out)
{
    char text[256];
    const char *blame = wsdbg_blame_name(p->blame);
    fputs("<tr>", out);
    wsdbg_html_u32_cell(out, p->process.rank);
    wsdbg_html_u32_cell(out, p->process.local_rank);
    wsdbg_html_cell(out, p->process.host);
    fprintf(out, "<td>%u</td>", p->process.pid);
    wsdbg_html_cell(out, p->does);
    if (p->python[0])
        wsdbg_html_cell(out, p->python);
    else
        wsdbg_html_blank_cell(out);
    if (p->finding.known) {
        snprintf(text, sizeof text, "%s (%s)", wsdbg_cause_name(r->findings[p->finding.value].cause),
                 wsdbg_confidence_name(r->findings[p->finding.value].confidence));
        wsdbg_html_cell(out, text);
    } else {
        wsdbg_html_blank_cell(out);
    }
    if (blame)
        wsdbg_html_cell(out, blame);
    else
        wsdbg_html_blank_cell(out);
    if (p->waits_for[0])
        wsdbg_html_cell(out, p->waits_for);
    else
        wsdbg_html_blank_cell(out);
    fputs("</tr>\n", out);
}

void wsdbg_html_processes(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Rank",        "Local rank", "Host",  "Process",   "Does",
                                        "Python line", "Cause",      "Blame", "Waits for", NULL};
    uint32_t *order = r->has_ranks ? wsdbg_report_process_order(r) : NULL;
    if (!order)
        return;
    wsdbg_html_begin_table("Ranks", "Processes that use CUDA: whose fault it is first, then who waits for these", heads,
                           out);
    for (size_t i = 0; i < r->process_count && i < WSDBG_HTML_ROWS_MAX; i++)
        process_row(r, &r->processes[order[i]], out);
    wsdbg_html_end_table(r->process_count > WSDBG_HTML_ROWS_MAX ? r->process_count - WSDBG_HTML_ROWS_MAX : 0, out);
    free(order);
}

void wsdbg_html_threads(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Process", "Thread", "Call", "For", NULL};
    if (r->thread_count == 0)
        return;
    wsdbg_html_begin_table("Host threads", "Host threads inside a call that waits for the GPU", heads, out);
    for (size_t i = 0; i < r->thread_count && i < WSDBG_HTML_ROWS_MAX; i++) {
        const struct wsdbg_report_thread *t = &r->threads[i];
        char text[32];
        fputs("<tr>", out);
        wsdbg_html_cell(out, t->process);
        fprintf(out, "<td>%u</td>", t->thread_id);
        wsdbg_html_cell(out, t->call);
        if (t->waiting_ns.known)
            wsdbg_duration_text(t->waiting_ns.value, text, sizeof text);
        wsdbg_html_cell(out, t->waiting_ns.known ? text : NULL);
        fputs("</tr>\n", out);
    }
    wsdbg_html_end_table(r->thread_count > WSDBG_HTML_ROWS_MAX ? r->thread_count - WSDBG_HTML_ROWS_MAX : 0, out);
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
    wsdbg_html_cell(out, thread);
    frames_cell(text, &r->frames[stack->row.frame_first], stack->row.frame_count, out);
    fputs("</tr>\n", out);
}

static void launch_site_row(const struct wsdbg_report *r, const struct wsdbg_report_launch_site *site, FILE *out)
{
    char text[512];
    const size_t first = site->row.frame_first, room = first < r->site_frame_count ? r->site_frame_count - first : 0;
    fputs("<tr>", out);
    wsdbg_html_kernel(site->kernel, text, sizeof text);
    wsdbg_html_cell(out, site->call[0] ? site->call : site->kernel[0] ? text : NULL);
    wsdbg_html_cell(out, wsdbg_launch_site_kind_name(site->row.kind));
    snprintf(text, sizeof text, site->row.count ? "%u" : "?", site->row.count);
    wsdbg_html_cell(out, text);
    frames_cell(site->place, &r->site_frames[room ? first : 0],
                site->row.frame_count < room ? site->row.frame_count : (uint32_t)room, out);
    wsdbg_html_cell(out, site->row.end[0] ? site->row.end : "");
    fputs("</tr>\n", out);
}

void wsdbg_html_launch_sites(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Kernel or call", "Kind", "Launches", "Place", "Not whole", NULL};
    if (r->launch_site_count == 0)
        return;
    wsdbg_html_begin_table("Launch sites",
                           "Where in the program these began; the frames of each, innermost first, are folded", heads,
                           out);
    for (size_t i = 0; i < r->launch_site_count && i < WSDBG_HTML_ROWS_MAX; i++)
        launch_site_row(r, &r->launch_sites[i], out);
    wsdbg_html_end_table(r->launch_site_count > WSDBG_HTML_ROWS_MAX ? r->launch_site_count - WSDBG_HTML_ROWS_MAX : 0,
                         out);
}

void wsdbg_html_stacks(const struct wsdbg_report *r, FILE *out)
{
    static const char *const heads[] = {"Thread", "Stack, from the outside in", NULL};
    if (r->host_process_count == 0)
        return;
    wsdbg_html_begin_table(
        "Host stacks", "What threads of the program did; the frames of each, innermost first, are folded", heads, out);
    for (size_t i = 0; i < r->stack_count && i < WSDBG_HTML_ROWS_MAX; i++)
        stack_row(r, &r->stacks[i], out);
    wsdbg_html_end_table(r->stack_count > WSDBG_HTML_ROWS_MAX ? r->stack_count - WSDBG_HTML_ROWS_MAX : 0, out);
    for (size_t i = 0; i < r->host_process_count && i < WSDBG_HTML_ROWS_MAX; i++)
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
