/* report_json_gpu.c - the parts of a report about the GPU as JSON: grids, warps, barriers, code, looks, faults.  See
 * report_json.h.
 *
 * Reads: a report.
 */
#include "store/report_json.h"

#include "store/json_rows.h"
#include "store/report_internal.h"
#include "store/words.h"

json_t *wsdbg_report_json_launch(const struct wsdbg_report_launch *l)
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

json_t *wsdbg_report_json_grids(const struct wsdbg_report *r)
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
        json_object_set_new(row, "launch", wsdbg_report_json_launch(&g->launch));
        if (g->launched_at[0])
            json_object_set_new(row, "launched_at", wsdbg_json_text(g->launched_at));
        json_array_append_new(array, row);
    }
    return array;
}

json_t *wsdbg_report_json_faults(const struct wsdbg_report *r)
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

static json_t *known_real(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

json_t *wsdbg_report_json_overlaps(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->overlap_count; i++) {
        const struct wsdbg_report_overlap *o = &r->overlaps[i];
        const bool known = o->round_ns.known;
        json_t *row = json_object();
        json_object_set_new(row, "grid", wsdbg_json_index(o->grid, r->grid_count));
        json_object_set_new(row, "role", wsdbg_report_json_role(o->role_name, o->role));
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
    json_object_set_new(row, "role", wsdbg_report_json_role(w->role_name, w->role));
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

json_t *wsdbg_report_json_warps(const struct wsdbg_report *r)
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

json_t *wsdbg_report_json_barriers(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->barriers_count; i++)
        json_array_append_new(array, wsdbg_json_barriers(&r->barriers[i]));
    return array;
}

json_t *wsdbg_report_json_sites(const struct wsdbg_report *r)
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

json_t *wsdbg_report_json_accesses(const struct wsdbg_report *r)
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

json_t *wsdbg_report_json_looks(const struct wsdbg_report *r)
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
