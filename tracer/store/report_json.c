/* report_json.c - renders a report as JSON, as docs/report.schema.json says: unknown is null, never 0.
 * Reads a report, writes one JSON object. */
#include "store/json_rows.h"
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

static json_t *role_json(const char *name, struct wsdbg_optional_u32 role)
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
    json_object_set_new(row, "role", role_json(f->role_name, f->role));
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

static json_t *launch_json(const struct wsdbg_report_launch *l)
{
    if (!l->known)
        return json_null();
    const bool cluster = l->cluster[0].known && l->cluster[1].known && l->cluster[2].known;
    json_t *row = json_object();
    json_object_set_new(row, "process_id", json_integer(l->process_id));
    json_object_set_new(row, "sequence", wsdbg_json_number(l->sequence));
    json_object_set_new(row, "kernel", wsdbg_json_kernel(l->kernel));
    json_object_set_new(row, "grid", wsdbg_json_triple(l->grid));
    json_object_set_new(row, "block", wsdbg_json_triple(l->block));
    json_object_set_new(
        row, "cluster",
        cluster ? wsdbg_json_triple((uint32_t[]){l->cluster[0].value, l->cluster[1].value, l->cluster[2].value})
                : json_null());
    json_object_set_new(row, "dynamic_shared_bytes", json_integer(l->dynamic_shared_bytes));
    json_object_set_new(row, "stream", wsdbg_json_number(l->stream));
    json_object_set_new(row, "time_ns", wsdbg_json_number(l->time_ns));
    json_object_set_new(row, "graph", json_boolean(l->graph));
    json_object_set_new(row, "result", json_integer(l->result));
    return row;
}

static json_t *grids_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->grid_count; i++) {
        const struct wsdbg_report_grid *g = &r->grids[i];
        json_t *row = json_object();
        json_object_set_new(row, "kernel", wsdbg_json_kernel(g->kernel));
        json_object_set_new(row, "symbol", wsdbg_json_text(g->kernel));
        json_object_set_new(row, "process_id", wsdbg_json_u32(g->process_id));
        json_object_set_new(row, "device", wsdbg_json_text(g->device_name));
        json_object_set_new(row, "hardware_grid_id", wsdbg_json_number(g->grid_id));
        json_object_set_new(row, "registers", wsdbg_json_u32(g->registers));
        json_object_set_new(row, "ctas_total", g->cta_total ? json_integer(g->cta_total) : json_null());
        json_object_set_new(row, "ctas_seen", json_integer(g->cta_seen));
        json_object_set_new(row, "warps_per_cta", json_integer(g->warps_per_cta));
        json_object_set_new(row, "warps_seen", json_integer(g->warps_seen));
        json_object_set_new(row, "warps_live", json_integer(g->warps_live));
        json_object_set_new(row, "warps_exited", json_integer(g->warps_exited));
        json_object_set_new(row, "running", json_boolean(g->running));
        json_object_set_new(row, "context_error", g->context_error > 0 ? json_integer(g->context_error) : json_null());
        json_object_set_new(row, "launch", launch_json(&g->launch));
        if (g->launched_at[0])
            json_object_set_new(row, "launched_at", wsdbg_json_text(g->launched_at));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *faults_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->fault_count; i++) {
        const struct wsdbg_report_fault *f = &r->faults[i];
        json_t *row = json_object();
        json_object_set_new(row, "process_id", json_integer(f->process_id));
        json_object_set_new(row, "context", json_integer(f->context));
        json_object_set_new(row, "device", wsdbg_json_text(f->device_name));
        json_object_set_new(row, "error", f->error > 0 ? json_integer(f->error) : json_null());
        json_object_set_new(row, "exception", f->error < 0 ? json_integer(-(json_int_t)f->error) : json_null());
        json_object_set_new(row, "words", wsdbg_json_text(wsdbg_fault_words(f->error)));
        json_object_set_new(row, "state_age_ns", wsdbg_json_u64(f->state_age_ns));
        json_object_set_new(row, "sentence", wsdbg_json_text(f->sentence));
        json_array_append_new(array, row);
    }
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

static json_t *known_real(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *overlaps_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->overlap_count; i++) {
        const struct wsdbg_report_overlap *o = &r->overlaps[i];
        const bool known = o->round_ns.known;
        json_t *row = json_object();
        json_object_set_new(row, "grid", wsdbg_json_index(o->grid, r->grid_count));
        json_object_set_new(row, "role", role_json(o->role_name, o->role));
        json_object_set_new(row, "warpgroup", json_integer(o->warpgroup));
        json_object_set_new(row, "stages", wsdbg_json_number(o->stages));
        json_object_set_new(row, "rounds", known_real(known, o->rounds));
        json_object_set_new(row, "round_ns", wsdbg_json_u64(o->round_ns));
        json_object_set_new(row, "wait_ns", wsdbg_json_number(o->wait_ns));
        json_object_set_new(row, "rounds_in_flight", known_real(known, o->in_flight));
        json_object_set_new(row, "rounds_in_flight_least", known_real(known, o->least));
        json_object_set_new(row, "rounds_in_flight_most", known_real(known, o->most));
        json_object_set_new(row, "earlier_waits", wsdbg_json_number(o->earlier_waits));
        json_object_set_new(row, "earlier_wait_ns", wsdbg_json_u64(o->earlier_wait_ns));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *part_json(const struct wsdbg_report *r, const struct wsdbg_report_part *p)
{
    json_t *row = json_object();
    json_object_set_new(row, "lanes", json_sprintf("%08x", p->part.lanes));
    json_object_set_new(row, "state", json_string(wsdbg_warp_state_name(p->part.state)));
    json_object_set_new(row, "site", wsdbg_json_index(p->part.site, r->site_count));
    json_object_set_new(row, "barrier", wsdbg_json_text(p->barrier));
    json_object_set_new(row, "parity", wsdbg_json_u32(p->part.parity));
    json_object_set_new(row, "count", wsdbg_json_u32(p->part.count));
    json_object_set_new(row, "polled_address", wsdbg_json_word(p->part.address, 1));
    json_object_set_new(row, "polled_value", wsdbg_json_word(p->part.value, 1));
    json_object_set_new(row, "polled_bytes", wsdbg_json_u32(p->part.width_bytes));
    json_object_set_new(row, "operands_read", json_boolean(p->part.seen));
    return row;
}

static json_t *parts_json(const struct wsdbg_report *r, const struct wsdbg_report_warps *w)
{
    if (w->part_count == 0)
        return json_null();
    json_t *array = json_array();
    for (uint32_t i = 0; i < w->part_count && w->part_first + i < r->part_count; i++)
        json_array_append_new(array, part_json(r, &r->parts[w->part_first + i]));
    return array;
}

json_t *wsdbg_json_warps(const struct wsdbg_report *r, const struct wsdbg_report_warps *w)
{
    const bool one_event = w->last_event.known && w->last_event.low == w->last_event.high;
    json_t *row = json_object();
    json_object_set_new(row, "grid", json_integer(w->grid));
    json_object_set_new(row, "cta_count", json_integer(w->cta_count));
    json_object_set_new(row, "cta", wsdbg_json_triple(w->cta));
    json_object_set_new(row, "warps", wsdbg_json_members(&w->members));
    json_object_set_new(row, "state", json_string(wsdbg_warp_state_name(w->state)));
    json_object_set_new(row, "role", role_json(w->role_name, w->role));
    json_object_set_new(row, "barrier_kind", wsdbg_json_text(w->barrier_kind));
    json_object_set_new(row, "barrier_name", wsdbg_json_text(w->barrier_name));
    json_object_set_new(row, "barrier_id", wsdbg_json_range(w->barrier_id));
    json_object_set_new(row, "stage", wsdbg_json_range(w->stage));
    json_object_set_new(row, "parity", wsdbg_json_range(w->parity));
    json_object_set_new(row, "iteration", wsdbg_json_range(w->iteration));
    json_object_set_new(row, "line", wsdbg_json_range(w->line));
    json_object_set_new(row, "registers_held", wsdbg_json_range(w->registers_held));
    json_object_set_new(row, "registers_asked", wsdbg_json_range(w->registers_asked));
    json_object_set_new(row, "quiet_seconds", wsdbg_json_seconds(w->waiting_ns));
    json_object_set_new(row, "last_event",
                        one_event ? json_string(wsdbg_event_kind_name((enum wsdbg_event_kind)w->last_event.low))
                                  : json_null());
    json_object_set_new(row, "site", wsdbg_json_index(w->site, r->site_count));
    json_object_set_new(row, "place", wsdbg_json_text(w->place));
    json_object_set_new(row, "polled_address", wsdbg_json_address(w->address));
    json_object_set_new(row, "polled_value", wsdbg_json_address(w->value));
    json_object_set_new(row, "polled_bytes", wsdbg_json_u32(w->width_bytes));
    json_object_set_new(row, "parts", parts_json(r, w));
    return row;
}

static json_t *warps_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->warps_count; i++)
        json_array_append_new(array, wsdbg_json_warps(r, &r->warps[i]));
    return array;
}

json_t *wsdbg_json_barriers(const struct wsdbg_report_barriers *b)
{
    json_t *row = json_object();
    json_object_set_new(row, "grid", json_integer(b->grid));
    json_object_set_new(row, "cta_count", json_integer(b->cta_count));
    json_object_set_new(row, "cta", wsdbg_json_triple(b->cta));
    json_object_set_new(row, "kind", json_string(wsdbg_barrier_kind_name(b->kind)));
    json_object_set_new(row, "name", wsdbg_json_text(b->name));
    json_object_set_new(row, "id", wsdbg_json_range(b->id));
    json_object_set_new(row, "stages",
                        b->kind == WSDBG_BARRIER_MBARRIER ? wsdbg_json_members(&b->members) : json_null());
    json_object_set_new(row, "phase", wsdbg_json_range(b->phase));
    json_object_set_new(row, "pending_arrivals", wsdbg_json_range(b->pending_arrivals));
    json_object_set_new(row, "expected_arrivals", wsdbg_json_range(b->expected_arrivals));
    json_object_set_new(row, "completed_phases", wsdbg_json_range(b->completed_phases));
    json_object_set_new(row, "pending_tx_bytes", wsdbg_json_range(b->pending_tx_bytes));
    json_object_set_new(row, "waiters", wsdbg_json_range(b->waiters));
    json_object_set_new(row, "shared_offset", wsdbg_json_range(b->shared_offset));
    json_object_set_new(row, "word", wsdbg_json_word(b->word, 16));
    return row;
}

static json_t *barriers_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->barriers_count; i++)
        json_array_append_new(array, wsdbg_json_barriers(&r->barriers[i]));
    return array;
}

static json_t *sites_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->site_count; i++) {
        const struct wsdbg_site *site = &r->sites[i].site;
        json_t *row = json_object();
        json_object_set_new(row, "symbol", wsdbg_json_text(r->sites[i].function));
        json_object_set_new(row, "offset_bytes", wsdbg_json_u32(site->offset_bytes));
        json_object_set_new(row, "instruction", wsdbg_json_text(site->instruction));
        json_object_set_new(row, "file", wsdbg_json_text(site->file));
        json_object_set_new(row, "line", wsdbg_json_u32(site->line));
        json_object_set_new(row, "inlined_at", wsdbg_json_index(site->inlined_at, r->site_count));
        json_object_set_new(row, "place", wsdbg_json_text(r->sites[i].place));
        json_object_set_new(row, "lines", wsdbg_json_text(r->sites[i].lines));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *accesses_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->access_count; i++) {
        const struct wsdbg_access_row *a = &r->accesses[i];
        json_t *row = json_object();
        json_object_set_new(row, "grid", wsdbg_json_index(a->grid, r->grid_count));
        json_object_set_new(row, "site", wsdbg_json_index(a->site, r->site_count));
        json_object_set_new(row, "kind", json_string(wsdbg_access_word(a->kind)));
        json_object_set_new(row, "certain", json_boolean(a->certain));
        json_object_set_new(row, "any_rank", json_boolean(a->any_rank));
        json_object_set_new(row, "lanes", wsdbg_json_text(wsdbg_lanes_word(a->lanes)));
        json_object_set_new(row, "address", wsdbg_json_u32(a->address));
        json_object_set_new(row, "stride", json_integer(a->stride));
        json_object_set_new(row, "places", json_integer(a->places));
        json_object_set_new(row, "count", wsdbg_json_u32(a->count));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *looks_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->look_count; i++) {
        const struct wsdbg_look_row *l = &r->looks[i];
        const bool lengths_known = wsdbg_look_lengths_known(l);
        json_t *row = json_object();
        json_object_set_new(row, "time_ns", wsdbg_json_number_or_null(l->time_ns != 0, l->time_ns));
        json_object_set_new(row, "attach_ns", wsdbg_json_number_or_null(lengths_known, l->attach_ns));
        json_object_set_new(row, "suspend_ns", wsdbg_json_number_or_null(lengths_known, l->suspend_ns));
        json_object_set_new(row, "read_ns", wsdbg_json_number_or_null(lengths_known, l->read_ns));
        json_object_set_new(row, "resume_ns", wsdbg_json_number_or_null(lengths_known, l->resume_ns));
        json_object_set_new(row, "detach_ns", wsdbg_json_number_or_null(lengths_known, l->detach_ns));
        json_object_set_new(row, "warps", json_integer(l->warps));
        json_object_set_new(row, "warps_read", json_integer(l->warps_read));
        json_object_set_new(row, "warps_moved", wsdbg_json_number_or_null(i > 0, l->moved));
        json_object_set_new(row, "barriers_changed", wsdbg_json_u32(l->barriers_changed));
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
    json_object_set_new(root, "faults", faults_json(r));
    json_object_set_new(root, "refusals", refusals_json(r));
    for (size_t i = 0; i < r->schedule_count; i++) {
        if (i == 0)
            json_object_set_new(root, "schedules", json_array());
        json_array_append_new(json_object_get(root, "schedules"), wsdbg_json_text(r->schedules[i]));
    }
    json_object_set_new(root, "wgmma_overlap", overlaps_json(r));
    json_object_set_new(root, "session", session_json(r));
    json_object_set_new(root, "snapshot", snapshot_json(r));
    json_object_set_new(root, "launches_total", r->has_snapshot ? wsdbg_json_number(r->launches_total) : json_null());
    json_object_set_new(root, "newest_launch", launch_json(&r->newest));
    json_object_set_new(root, "grids", grids_json(r));
    json_object_set_new(root, "warps", warps_json(r));
    json_object_set_new(root, "barriers", barriers_json(r));
    json_object_set_new(root, "names_inferred", r->has_snapshot ? json_boolean(r->names_inferred) : json_null());
    json_object_set_new(root, "sites", sites_json(r));
    json_object_set_new(root, "accesses", accesses_json(r));
    json_object_set_new(root, "looks", looks_json(r));
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
