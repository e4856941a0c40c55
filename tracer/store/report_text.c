/* report_text.c - renders a report as one screen of text: the cause, the fix, who is where, the barriers, the
 * evidence, the host, what could not be seen.  Reads a report, writes text. */
#include "store/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/symbol.h"

#define KERNEL_COLUMNS 64 /* of a name in a line that has more to say */
#define KERNEL_BYTES 512
#define COMMAND_COLUMNS 480
#define LIST_LINES 5
#define OVERLAP_LINES 8
#define PROCESS_LINES 8

static const char *heading(const struct wsdbg_sheet *out)
{
    return out->colour ? "1" : NULL;
}

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "?";
}

/* A kernel's name, short enough for a line with other facts. */
static void kernel_text(const char *symbol, char *out, size_t bytes)
{
    char name[KERNEL_BYTES];
    wsdbg_symbol_name(symbol, name, sizeof name);
    wsdbg_text_cut_middle(name, KERNEL_COLUMNS);
    snprintf(out, bytes, "%s", or_unknown(name));
}

void wsdbg_report_title(const struct wsdbg_report *r, size_t finding, char out[WSDBG_TITLE_BYTES])
{
    const struct wsdbg_report_finding *f = &r->findings[finding];
    const bool is_fault = !r->hang && r->fault_count > 0;
    wsdbg_finding_title(f->cause, f->confidence, wsdbg_title_place(finding, r->findings[0].cause, is_fault), out);
}

/* Whose finding it is, before its cause. */
static const char *rank_before(const struct wsdbg_report *r, uint32_t process, char out[WSDBG_PROCESS_BYTES + 2])
{
    const char *rank = r->has_ranks ? wsdbg_report_rank(r, process) : "";
    snprintf(out, WSDBG_PROCESS_BYTES + 2, "%s%s", rank, rank[0] ? ": " : "");
    return out;
}

/* A finding beside the first. */
static void also_lines(const struct wsdbg_report *r, const struct wsdbg_report_finding *f,
                       const struct wsdbg_sheet *out)
{
    char rank[WSDBG_PROCESS_BYTES + 2], title[WSDBG_TITLE_BYTES], *text = NULL;
    wsdbg_report_title(r, (size_t)(f - r->findings), title);
    if (asprintf(&text, "%s%s: %s", rank_before(r, f->process, rank), title, f->sentence) < 0)
        return;
    wsdbg_report_wrap(out, NULL, "Also: ", text);
    free(text);
}

static void findings_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    const struct wsdbg_report_finding *first = &r->findings[0];
    const bool fault = !r->hang && r->fault_count > 0;
    const char *colours = !out->colour ? NULL : r->hang || fault ? "1;31" : "1;33";
    char title[WSDBG_TITLE_BYTES];
    wsdbg_report_title(r, 0, title);
    if (wsdbg_report_rank(r, first->process)[0])
        wsdbg_report_line(out, heading(out), "%s", r->processes[first->process].name);
    if (fault && first->cause == WSDBG_CAUSE_UNKNOWN)
        wsdbg_report_line(out, colours, "FAULT: UNKNOWN (the %s says where, nothing says why)",
                          r->device && strcmp(r->device, "sim") == 0 ? "simulator" : "GPU");
    else
        wsdbg_report_line(out, colours, "%s: %s", r->hang ? "HANG" : fault ? "FAULT" : "STALL", title);
    wsdbg_report_wrap(out, NULL, "  ", first->sentence);
    if (first->fix[0])
        wsdbg_report_wrap(out, out->colour ? "32" : NULL, "Fix: ", first->fix);
    for (size_t i = 1; i < r->finding_count && i <= 2; i++)
        also_lines(r, &r->findings[i], out);
    if (r->finding_count > 3)
        wsdbg_report_line(out, NULL, "… and %zu more findings (@verdict)", r->finding_count - 3);
}

static void process_line(const struct wsdbg_report *r, const struct wsdbg_report_process *p,
                         const struct wsdbg_sheet *out)
{
    char cause[64] = "";
    const char *blame = wsdbg_blame_name(p->blame);
    if (p->finding.known)
        snprintf(cause, sizeof cause, "%s (%s); ", wsdbg_cause_name(r->findings[p->finding.value].cause),
                 wsdbg_confidence_name(r->findings[p->finding.value].confidence));
    wsdbg_report_line(out, NULL, "  %s%s: %s%s%s%s", p->blame == WSDBG_BLAME_VICTIM ? "  " : "", p->name,
                      blame ? blame : "", blame ? "; " : "", cause, p->does);
}

/* The origin first, and its victims under it. */
static void processes_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    uint32_t *order = r->has_ranks ? wsdbg_report_process_order(r) : NULL;
    if (!order)
        return;
    wsdbg_report_line(out, heading(out), "Ranks");
    for (size_t i = 0; i < r->process_count && i < PROCESS_LINES; i++)
        process_line(r, &r->processes[order[i]], out);
    if (r->process_count > PROCESS_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (@ranks)", r->process_count - PROCESS_LINES);
    free(order);
}

static void print_launch(FILE *text, const struct wsdbg_report_launch *l)
{
    fprintf(text, ", grid %ux%ux%u, block %ux%ux%u", l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
            l->block[2]);
    if (l->cluster[0].known && l->cluster[1].known && l->cluster[2].known)
        fprintf(text, ", cluster %ux%ux%u", l->cluster[0].value, l->cluster[1].value, l->cluster[2].value);
    fprintf(text, ", %u B dynamic shared, %slaunch %" PRIu64 " on stream 0x%" PRIx64, l->dynamic_shared_bytes,
            l->graph ? "graph " : "", l->sequence, l->stream);
    if (l->result != 0)
        fprintf(text, " (refused, error %d)", l->result);
}

static void grid_heading(const struct wsdbg_report *r, const struct wsdbg_report_grid *g, const struct wsdbg_sheet *out)
{
    char kernel[KERNEL_BYTES];
    char *facts = NULL;
    size_t length;
    FILE *text = open_memstream(&facts, &length);
    if (!text)
        return;
    if (g->launch.known)
        print_launch(text, &g->launch);
    else
        fprintf(text, ", launch ?");
    fclose(text);
    kernel_text(g->kernel, kernel, sizeof kernel);
    wsdbg_report_line(out, heading(out), "%s%s", kernel, facts ? facts : "");
    free(facts);
    char registers[16] = "?", ctas[16] = "?";
    if (g->registers.known)
        snprintf(registers, sizeof registers, "%u", g->registers.value);
    if (g->cta_total)
        snprintf(ctas, sizeof ctas, "%u", g->cta_total);
    const char *rank = r->has_ranks ? wsdbg_report_rank(r, g->process) : "";
    if (g->launched_at[0])
        wsdbg_report_wrap(out, NULL, "  ", g->launched_at);
    wsdbg_report_line(out, NULL,
                      "  %s%son %s, %s registers a thread at launch, %u of %s CTAs %s, %u of %u warps, %u exited", rank,
                      rank[0] ? " " : "", or_unknown(g->device_name), registers, g->cta_seen, ctas,
                      wsdbg_report_lacks_ctas(r, g) ? "there now" : "seen", g->warps_seen,
                      g->cta_seen * g->warps_per_cta, g->warps_exited);
    if (wsdbg_report_lacks_ctas(r, g))
        wsdbg_report_line(out, NULL, "  (the other CTAs have ended, or have not begun)");
}

static void names_line(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    const char *names = wsdbg_report_names_text(r);
    if (names)
        wsdbg_report_line(out, NULL, "  (names %s)", names);
}

/* Grids that run come before those that ended; of the latter only the first is shown beside running ones. */
static void grids_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    size_t shown = 0;
    for (int running = 1; running >= 0; running--) {
        for (uint32_t i = 0; i < r->grid_count; i++) {
            if (r->grids[i].running != (running == 1) || (!running && shown > 0) || shown >= 3)
                continue;
            grid_heading(r, &r->grids[i], out);
            if (shown == 0)
                names_line(r, out);
            wsdbg_report_warp_lines(r, i, out);
            wsdbg_report_barrier_lines(r, i, out);
            shown++;
        }
    }
    if (shown < r->grid_count)
        wsdbg_report_line(out, NULL, "… and %zu more grid%s (table grid)", r->grid_count - shown,
                          r->grid_count - shown == 1 ? "" : "s");
}

static void evidence_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    const struct wsdbg_report_finding *f = r->finding_count ? &r->findings[0] : NULL;
    if (!f || f->evidence_count == 0)
        return;
    char text[WSDBG_PLACE_BYTES + 400];
    wsdbg_report_line(out, heading(out), "Evidence");
    for (size_t i = 0; i < f->line_count && i < LIST_LINES; i++) {
        wsdbg_report_evidence_line_text(&f->lines[i], text, sizeof text);
        wsdbg_report_line(out, NULL, "  - %s", text);
    }
    if (f->line_count > LIST_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (table evidence)", f->line_count - LIST_LINES);
}

static void host_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    if (r->host_process_count > 0) {
        wsdbg_report_host_lines(r, heading(out), out);
        return;
    }
    if (r->thread_count == 0)
        return;
    wsdbg_report_line(out, heading(out), "Host threads blocked");
    for (size_t i = 0; i < r->thread_count && i < LIST_LINES; i++) {
        const struct wsdbg_report_thread *t = &r->threads[i];
        char time[32] = "?";
        if (t->waiting_ns.known)
            wsdbg_duration_text(t->waiting_ns.value, time, sizeof time);
        if (t->is_main)
            wsdbg_report_line(out, NULL, "  main thread of %s in %s for %s", t->process, or_unknown(t->call), time);
        else
            wsdbg_report_line(out, NULL, "  thread %u of %s in %s for %s", t->thread_id, t->process,
                              or_unknown(t->call), time);
    }
    if (r->thread_count > LIST_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (@threads)", r->thread_count - LIST_LINES);
}

static void unseen_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    if (r->note_count + r->torn_events + r->foreign_slots + r->lost_rows == 0)
        return;
    wsdbg_report_line(out, heading(out), "Not seen");
    for (size_t i = 0; i < r->note_count && i < LIST_LINES; i++)
        wsdbg_report_line(out, NULL, "  - %s", r->notes[i]);
    if (r->note_count > LIST_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (table note)", r->note_count - LIST_LINES);
    for (unsigned kind = 0; kind < WSDBG_REPORT_UNSEEN_KINDS; kind++) {
        uint64_t count;
        const char *words = wsdbg_report_unseen_words(r, kind, &count);
        if (count)
            wsdbg_report_line(out, NULL, "  - %" PRIu64 " %s", count, words);
    }
}

static void overlaps_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    char kernel[KERNEL_BYTES], role[WSDBG_REPORT_LABEL_BYTES], text[256];
    const char *note = wsdbg_report_overlap_note(r);
    if (r->overlap_count == 0)
        return;
    wsdbg_report_line(out, heading(out), "%s", wsdbg_report_overlap_caption());
    for (size_t i = 0; i < r->overlap_count && i < OVERLAP_LINES; i++) {
        const struct wsdbg_report_overlap *o = &r->overlaps[i];
        if (i == 0 || o->grid != o[-1].grid) {
            kernel_text(o->grid < r->grid_count ? r->grids[o->grid].kernel : "", kernel, sizeof kernel);
            wsdbg_report_line(out, NULL, "  %s", kernel);
        }
        wsdbg_report_overlap_role(o, role, sizeof role);
        wsdbg_report_overlap_text(o, text, sizeof text);
        wsdbg_report_line(out, NULL, "  warps %u-%u  %s  %s", o->warpgroup * 4, o->warpgroup * 4 + 3, role, text);
    }
    if (r->overlap_count > OVERLAP_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (@overlap)", r->overlap_count - OVERLAP_LINES);
    if (note[0])
        wsdbg_report_wrap(out, NULL, "  ", note);
}

static void activity_line(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    const struct wsdbg_report_activity *a = &r->activity;
    char kernels[32], copies[32];
    if (a->kernels + a->copies + a->sets == 0)
        return;
    wsdbg_duration_text(a->kernel_ns, kernels, sizeof kernels);
    wsdbg_duration_text(a->copy_ns, copies, sizeof copies);
    wsdbg_report_line(out, NULL,
                      "GPU activity, newest records: %" PRIu64 " kernels in %s; %" PRIu64 " copies, %.1f MB in %s; "
                      "%" PRIu64 " memory sets",
                      a->kernels, kernels, a->copies, (double)a->copy_bytes / 1e6, copies, a->sets);
}

static void faults_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    for (size_t i = 0; i < r->fault_count && i < LIST_LINES; i++)
        wsdbg_report_wrap(out, heading(out), "", r->faults[i].sentence);
}

/* What a library asks for and does not need is no alarm: a refused question is shown as one where the program ended
 * badly by itself, or where a launch of that kernel, or one for the same reason, was refused too. */
static bool is_alarm(const struct wsdbg_report *r, const struct wsdbg_report_refusal *f)
{
    const bool bad_end = r->ended && r->exit_status != 0 && !r->ended_hang;
    if (wsdbg_refused_is_launch(f->call) || (bad_end && !wsdbg_refused_is_inventory(f->call, f->kernel)))
        return true;
    for (size_t i = 0; i < r->refusal_count; i++) {
        const struct wsdbg_report_refusal *other = &r->refusals[i];
        const bool same_kernel = f->kernel[0] && strcmp(f->kernel, other->kernel) == 0;
        if (other->process_id == f->process_id && wsdbg_refused_is_launch(other->call) &&
            (same_kernel || strcmp(f->cause, other->cause) == 0))
            return true;
    }
    return false;
}

static void refusal_lines(const struct wsdbg_report_refusal *f, const struct wsdbg_sheet *out)
{
    char head[96], text[sizeof f->subject + sizeof f->sentence + 96];
    snprintf(head, sizeof head, "REFUSED: %s", f->cause);
    wsdbg_report_line(out, heading(out), "%s", head);
    snprintf(text, sizeof text, "%s: %s (%s: error %d; %" PRIu64 " time%s)", f->subject, f->sentence, f->call,
             f->result, f->times, f->times == 1 ? "" : "s");
    wsdbg_report_wrap(out, NULL, "  ", text);
    if (f->fix[0])
        wsdbg_report_wrap(out, NULL, "Fix: ", f->fix);
}

static void refusals_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    size_t alarms = 0, quiet = 0;
    for (size_t i = 0; i < r->refusal_count; i++)
        if (!is_alarm(r, &r->refusals[i]))
            quiet++;
        else if (++alarms <= LIST_LINES)
            refusal_lines(&r->refusals[i], out);
    if (alarms > LIST_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more (table refusal)", alarms - LIST_LINES);
    if (quiet > 0)
        wsdbg_report_line(out, NULL, "Asked:   %zu refused look-up%s or setting%s, no refused launch for it (@refused)",
                          quiet, quiet == 1 ? "" : "s", quiet == 1 ? "" : "s");
}

/* A command line may hold a whole script. */
static void program_line(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    char command[COMMAND_COLUMNS * 4 + 4];
    wsdbg_text_escape_into(or_unknown(r->command), command, sizeof command - 4);
    wsdbg_text_cut(command, COMMAND_COLUMNS);
    wsdbg_report_line(out, NULL, "Program: %s", command);
}

static void ran_block(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    char kernel[KERNEL_BYTES];
    if (r->ended)
        wsdbg_report_line(out, heading(out),
                          r->ended_hang ? "A hang was found, but no diagnosis is stored." : "No stall seen.");
    else
        wsdbg_report_line(out, heading(out), "No stall seen so far: the run goes on, or wsdbg was killed.");
    program_line(r, out);
    if (!r->has_snapshot) {
        wsdbg_report_line(out, NULL, "Launches: ? (nothing of the program's GPU work was seen)");
        return;
    }
    if (r->newest.known) {
        kernel_text(r->newest.kernel, kernel, sizeof kernel);
        wsdbg_report_line(out, NULL, "Launches: %" PRIu64 ", of %zu function%s; the last: %s, grid %ux%ux%u",
                          r->launches_total, r->function_count, r->function_count == 1 ? "" : "s", kernel,
                          r->newest.grid[0], r->newest.grid[1], r->newest.grid[2]);
    } else {
        wsdbg_report_line(out, NULL, "Launches: %" PRIu64, r->launches_total);
    }
}

/* "; 12 of 1584 warps read, 3 moved, 0 barriers changed": of the newest of `count` looks. */
static const char *looked_text(const struct wsdbg_look_row *looks, size_t count, char out[96])
{
    const struct wsdbg_look_row *newest = &looks[count - 1];
    size_t used = (size_t)snprintf(out, 96, "; %u of %u warps read", newest->warps_read, newest->warps);
    if (count > 1)
        used += (size_t)snprintf(out + used, 96 - used, ", %u moved", newest->moved);
    if (count > 1 && newest->barriers_changed.known)
        snprintf(out + used, 96 - used, ", %u barriers changed", newest->barriers_changed.value);
    return out;
}

const char *wsdbg_report_unseen_words(const struct wsdbg_report *r, unsigned kind, uint64_t *count)
{
    static const char *const one[WSDBG_REPORT_UNSEEN_KINDS] = {
        "event or slot was torn", "slot failed its identity check", "table row was lost by the observer"};
    static const char *const many[WSDBG_REPORT_UNSEEN_KINDS] = {
        "events or slots were torn", "slots failed their identity check", "table rows were lost by the observer"};
    const uint64_t counts[WSDBG_REPORT_UNSEEN_KINDS] = {r->torn_events, r->foreign_slots, r->lost_rows};
    *count = counts[kind];
    return *count == 1 ? one[kind] : many[kind];
}

bool wsdbg_report_was_watched(const struct wsdbg_report *r)
{
    return r->stall_seconds > 0;
}

void wsdbg_report_evidence_used(const struct wsdbg_report *r, char *out, size_t bytes)
{
    const bool says_ring = r->evidence && strcmp(r->evidence, "ring") == 0;
    const bool is_device = !r->ring || strcmp(r->ring, "device") == 0;
    snprintf(out, bytes, "%s%s%s", or_unknown(r->evidence),
             is_device   ? ""
             : says_ring ? ", "
                         : ", ring ",
             is_device ? "" : r->ring);
}

static void session_lines(const struct wsdbg_report *r, const struct wsdbg_sheet *out)
{
    char duration[32], delay[64] = "", moved[96], evidence[128], stall[48];
    wsdbg_report_evidence_used(r, evidence, sizeof evidence);
    if (r->diagnosed)
        program_line(r, out);
    if (r->verdict_delay_ns.known) {
        wsdbg_duration_text(r->verdict_delay_ns.value, duration, sizeof duration);
        snprintf(delay, sizeof delay, ", verdict %s after the stall", duration);
    }
    wsdbg_duration_text(r->duration_ns, duration, sizeof duration);
    if (r->ended && wsdbg_report_was_watched(r))
        wsdbg_report_line(out, NULL, "Ended:   %s, status %d, after %s%s", or_unknown(r->outcome), r->exit_status,
                          duration, delay);
    if (r->stall_proven)
        snprintf(stall, sizeof stall, "stall: proven by the simulator");
    else
        snprintf(stall, sizeof stall, "stall after %g s", r->stall_seconds);
    if (wsdbg_report_was_watched(r))
        wsdbg_report_line(out, NULL, "Session: device %s, observer %s, evidence %s, %s", or_unknown(r->device),
                          or_unknown(r->observer), evidence, stall);
    else
        wsdbg_report_line(out, NULL, "Session: device %s, evidence %s", or_unknown(r->device), evidence);
    if (r->look_count > 0) {
        char looks[128];
        wsdbg_report_looks_text(r->looks, r->look_count, looks, sizeof looks);
        wsdbg_report_line(out, NULL, "Looked:  %s%s", looks, looked_text(r->looks, r->look_count, moved));
    }
}

void wsdbg_report_render_text(const struct wsdbg_report *report, const struct wsdbg_sheet *out)
{
    faults_block(report, out);
    if (report->diagnosed && report->finding_count > 0)
        findings_block(report, out);
    else if (report->diagnosed && report->fault_count == 0)
        wsdbg_report_line(out, heading(out),
                          wsdbg_report_was_watched(report) ? "STALL: no cause found" : "No cause found");
    else if (report->diagnosed)
        wsdbg_report_line(out, heading(out), "FAULT: no cause found");
    else
        ran_block(report, out);
    processes_block(report, out);
    if (report->diagnosed || report->fault_count > 0)
        grids_block(report, out);
    if (report->diagnosed) {
        evidence_block(report, out);
        host_block(report, out);
    }
    overlaps_block(report, out);
    refusals_block(report, out);
    for (size_t i = 0; i < report->schedule_count; i++)
        wsdbg_report_wrap(out, NULL, "Schedule: ", or_unknown(report->schedules[i]));
    activity_line(report, out);
    unseen_block(report, out);
    session_lines(report, out);
}

void wsdbg_report_render_picture(const struct wsdbg_report *report, const struct wsdbg_sheet *out)
{
    processes_block(report, out);
    grids_block(report, out);
    host_block(report, out);
    unseen_block(report, out);
    session_lines(report, out);
}

struct wsdbg_error *wsdbg_report_text(struct wsdbg_store *store, const struct wsdbg_sheet *out)
{
    struct wsdbg_report report;
    struct wsdbg_error *error = wsdbg_report_load(store, &report);
    if (error)
        return error;
    wsdbg_report_render_text(&report, out);
    wsdbg_report_deinit(&report);
    return NULL;
}
