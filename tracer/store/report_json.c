/* report_json.c - renders a report as JSON, as docs/report.schema.json says: unknown is null, never 0.
 * Reads a report, writes one JSON object. */
#include "store/json_rows.h"
#include "store/report_json.h"
#include "store/report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "store/words.h"

#define REPORT_SCHEMA_VERSION 4

static json_t *session_json(const struct wsdbg_report *r)
{
    const bool watched = wsdbg_report_was_watched(r);
    json_t *s = json_object();
    json_object_set_new(s, "command", wsdbg_json_text(r->command));
    json_object_set_new(s, "wsdbg_version", wsdbg_json_text(r->wsdbg_version));
    json_object_set_new(s, "device", wsdbg_json_text(r->device));
    json_object_set_new(s, "observer", wsdbg_json_text(r->observer));
    json_object_set_new(s, "evidence", wsdbg_json_text(r->evidence));
    json_object_set_new(s, "ring", wsdbg_json_text(r->ring));
    json_object_set_new(s, "hostname", wsdbg_json_text(r->hostname));
    json_object_set_new(s, "started_unix_ns", wsdbg_json_number(r->started_unix_ns));
    json_object_set_new(s, "stall_seconds", watched ? json_real(r->stall_seconds) : json_null());
    json_object_set_new(s, "ended", json_boolean(r->ended));
    json_object_set_new(s, "exit_status", r->ended ? json_integer(r->exit_status) : json_null());
    json_object_set_new(s, "hang", r->ended ? json_boolean(r->ended_hang) : json_null());
    json_object_set_new(s, "outcome", wsdbg_json_text(r->outcome));
    json_object_set_new(s, "duration_ns", r->ended && watched ? wsdbg_json_number(r->duration_ns) : json_null());
    json_object_set_new(s, "verdict_delay_ns", wsdbg_json_u64(r->verdict_delay_ns));
    return s;
}

static json_t *snapshot_json(const struct wsdbg_report *r)
{
    if (!r->has_snapshot)
        return json_null();
    json_t *s = json_object();
    json_object_set_new(s, "time_ns", wsdbg_json_number(r->time_ns));
    json_object_set_new(s, "source", wsdbg_json_text(r->source));
    json_object_set_new(s, "torn_events", wsdbg_json_number(r->torn_events));
    json_object_set_new(s, "foreign_slots", wsdbg_json_number(r->foreign_slots));
    json_object_set_new(s, "lost_rows", wsdbg_json_number(r->lost_rows));
    return s;
}

static json_t *evidence_json(const struct wsdbg_report_finding *f)
{
    static const char *const kinds[] = {"text", [WSDBG_EVIDENCE_WARP] = "warp", "barrier",
                                        "event", [WSDBG_EVIDENCE_TEXT] = "text"};
    json_t *array = json_array();
    for (size_t i = 0; i < f->evidence_count; i++) {
        const unsigned kind = (unsigned)f->evidence[i].kind;
        json_t *row = json_object();
        json_object_set_new(row, "kind", json_string(kinds[kind <= WSDBG_EVIDENCE_TEXT ? kind : 0]));
        json_object_set_new(row, "text", wsdbg_json_text(f->evidence[i].text));
        json_object_set_new(row, "site", wsdbg_json_index(f->evidence[i].site, WSDBG_NONE));
        json_array_append_new(array, row);
    }
    return array;
}

json_t *wsdbg_report_json_role(const char *name, struct wsdbg_optional_u32 role)
{
    return name[0] || !role.known ? wsdbg_json_text(name) : json_sprintf("role %u", role.value);
}

json_t *wsdbg_json_finding(const struct wsdbg_report_finding *f)
{
    json_t *row = json_object();
    json_object_set_new(row, "cause", json_string(wsdbg_cause_name(f->cause)));
    json_object_set_new(row, "confidence", json_string(wsdbg_confidence_name(f->confidence)));
    json_object_set_new(row, "sentence", wsdbg_json_text(f->sentence));
    json_object_set_new(row, "fix", wsdbg_json_text(f->fix));
    json_object_set_new(row, "grid", wsdbg_json_u32(f->grid));
    json_object_set_new(row, "process", wsdbg_json_index(f->process, WSDBG_NONE));
    json_object_set_new(row, "cta", f->cta_known ? wsdbg_json_triple(f->cta) : json_null());
    json_object_set_new(row, "cta_count", json_integer(f->cta_count));
    json_object_set_new(row, "role", wsdbg_report_json_role(f->role_name, f->role));
    json_object_set_new(row, "barrier", wsdbg_json_text(f->barrier));
    json_object_set_new(row, "evidence", evidence_json(f));
    return row;
}

static json_t *findings_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->finding_count; i++)
        json_array_append_new(array, wsdbg_json_finding(&r->findings[i]));
    return array;
}

static json_t *process_json(const struct wsdbg_report *r, const struct wsdbg_report_process *p)
{
    const struct wsdbg_process_end end = p->process.end;
    json_t *row = json_object();
    json_object_set_new(row, "process_id", json_integer(p->process_id));
    json_object_set_new(row, "pid", json_integer(p->process.pid));
    json_object_set_new(row, "hostname", wsdbg_json_text(p->process.host));
    json_object_set_new(row, "rank", wsdbg_json_u32(p->process.rank));
    json_object_set_new(row, "local_rank", wsdbg_json_u32(p->process.local_rank));
    json_object_set_new(row, "world_size", wsdbg_json_u32(p->process.world_size));
    json_object_set_new(row, "rank_from", wsdbg_json_text(p->process.rank_from));
    json_object_set_new(row, "state", json_string(wsdbg_process_state_name(p->state)));
    json_object_set_new(row, "grid", wsdbg_json_u32(p->grid));
    json_object_set_new(row, "call", wsdbg_json_text(p->call));
    json_object_set_new(row, "waiting_ns", wsdbg_json_u64(p->waiting_ns));
    json_object_set_new(row, "polls_peers", json_boolean(p->polls_peers));
    json_object_set_new(row, "exit_status", end.kind == WSDBG_END_EXITED ? json_integer(end.value) : json_null());
    json_object_set_new(row, "signal", end.kind == WSDBG_END_SIGNAL ? json_integer(end.value) : json_null());
    json_object_set_new(row, "finding", wsdbg_json_u32(p->finding));
    json_object_set_new(row, "blame", r->diagnosed ? wsdbg_json_text(wsdbg_blame_name(p->blame)) : json_null());
    return row;
}

static json_t *processes_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->process_count; i++)
        json_array_append_new(array, process_json(r, &r->processes[i]));
    return array;
}

static json_t *refusals_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->refusal_count; i++) {
        const struct wsdbg_report_refusal *f = &r->refusals[i];
        json_t *row = json_object();
        json_object_set_new(row, "process_id", json_integer(f->process_id));
        json_object_set_new(row, "time_ns", wsdbg_json_number(f->time_ns));
        json_object_set_new(row, "times", wsdbg_json_number(f->times));
        json_object_set_new(row, "call", wsdbg_json_text(f->call));
        json_object_set_new(row, "result", json_integer(f->result));
        json_object_set_new(row, "cause", wsdbg_json_text(f->cause));
        json_object_set_new(row, "kernel", wsdbg_json_kernel(f->kernel));
        json_object_set_new(row, "subject", wsdbg_json_text(f->subject));
        json_object_set_new(row, "sentence", wsdbg_json_text(f->sentence));
        json_object_set_new(row, "fix", wsdbg_json_text(f->fix));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *threads_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct wsdbg_report_thread *t = &r->threads[i];
        json_t *row = json_object();
        json_object_set_new(row, "process_id", json_integer(t->process_id));
        json_object_set_new(row, "thread_id", json_integer(t->thread_id));
        json_object_set_new(row, "call", wsdbg_json_text(t->call));
        json_object_set_new(row, "waiting_ns", wsdbg_json_u64(t->waiting_ns));
        json_object_set_new(row, "stream", wsdbg_json_u64(t->stream));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *functions_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->function_count; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "process_id", json_integer(r->functions[i].process_id));
        json_object_set_new(row, "symbol", wsdbg_json_text(r->functions[i].name));
        json_object_set_new(row, "registers", wsdbg_json_u32(r->functions[i].registers));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *activity_json(const struct wsdbg_report *r)
{
    const struct wsdbg_report_activity *a = &r->activity;
    if (a->kernels + a->copies + a->sets == 0)
        return json_null();
    json_t *row = json_object();
    json_object_set_new(row, "kernels", wsdbg_json_number(a->kernels));
    json_object_set_new(row, "kernel_ns", wsdbg_json_number(a->kernel_ns));
    json_object_set_new(row, "copies", wsdbg_json_number(a->copies));
    json_object_set_new(row, "copy_ns", wsdbg_json_number(a->copy_ns));
    json_object_set_new(row, "copy_bytes", wsdbg_json_number(a->copy_bytes));
    json_object_set_new(row, "sets", wsdbg_json_number(a->sets));
    return row;
}

static json_t *notes_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->note_count; i++)
        json_array_append_new(array, wsdbg_json_text(r->notes[i]));
    return array;
}

static json_t *report_json(const struct wsdbg_report *r)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(root, "cause",
                        r->finding_count ? json_string(wsdbg_cause_name(r->findings[0].cause)) : json_null());
    json_object_set_new(root, "hang", r->diagnosed ? json_boolean(r->hang) : json_null());
    json_object_set_new(root, "findings", findings_json(r));
    json_object_set_new(root, "processes", processes_json(r));
    json_object_set_new(root, "faults", wsdbg_report_json_faults(r));
    json_object_set_new(root, "refusals", refusals_json(r));
    for (size_t i = 0; i < r->schedule_count; i++) {
        if (i == 0)
            json_object_set_new(root, "schedules", json_array());
        json_array_append_new(json_object_get(root, "schedules"), wsdbg_json_text(r->schedules[i]));
    }
    json_object_set_new(root, "wgmma_overlap", wsdbg_report_json_overlaps(r));
    json_object_set_new(root, "session", session_json(r));
    json_object_set_new(root, "snapshot", snapshot_json(r));
    json_object_set_new(root, "launches_total", r->has_snapshot ? wsdbg_json_number(r->launches_total) : json_null());
    json_object_set_new(root, "newest_launch", wsdbg_report_json_launch(&r->newest));
    json_object_set_new(root, "grids", wsdbg_report_json_grids(r));
    json_object_set_new(root, "warps", wsdbg_report_json_warps(r));
    json_object_set_new(root, "barriers", wsdbg_report_json_barriers(r));
    json_object_set_new(root, "names_inferred", r->has_snapshot ? json_boolean(r->names_inferred) : json_null());
    json_object_set_new(root, "sites", wsdbg_report_json_sites(r));
    json_object_set_new(root, "accesses", wsdbg_report_json_accesses(r));
    json_object_set_new(root, "looks", wsdbg_report_json_looks(r));
    json_object_set_new(root, "host_threads", threads_json(r));
    if (r->host_process_count > 0)
        json_object_set_new(root, "host_stacks", wsdbg_json_host(r));
    if (r->launch_site_count > 0)
        json_object_set_new(root, "launch_sites", wsdbg_json_launch_sites(r));
    json_object_set_new(root, "functions", functions_json(r));
    json_object_set_new(root, "activity", activity_json(r));
    json_object_set_new(root, "notes", notes_json(r));
    return root;
}

struct wsdbg_error *wsdbg_report_render_json(const struct wsdbg_report *report, FILE *out)
{
    return wsdbg_json_print(report_json(report), out);
}

struct wsdbg_error *wsdbg_report_json(struct wsdbg_store *store, FILE *out)
{
    struct wsdbg_report report;
    struct wsdbg_error *error = wsdbg_report_load(store, &report);
    if (error)
        return error;
    error = wsdbg_report_render_json(&report, out);
    wsdbg_report_deinit(&report);
    return error;
}
