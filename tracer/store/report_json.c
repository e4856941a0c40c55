/* report_json.c - renders a report as JSON, as docs/report.schema.json says: unknown is null, never 0.
 * Reads a report, writes one JSON object. */
#include "store/report_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "store/symbol.h"
#include "store/words.h"
#include "base/text.h"

#define REPORT_SCHEMA_VERSION 2

/* "" and NULL are null; bytes that are not UTF-8 become U+FFFD. */
static json_t *text_or_null(const char *text)
{
    if (!text || !*text)
        return json_null();
    char *clean = wsdbg_text_utf8(text);
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *number_or_null(bool known, uint64_t value)
{
    return known ? number(value) : json_null();
}

static json_t *u32_or_null(struct wsdbg_optional_u32 value)
{
    return value.known ? json_integer(value.value) : json_null();
}

static json_t *u64_or_null(struct wsdbg_optional_u64 value)
{
    return value.known ? number(value.value) : json_null();
}

/* A folded group keeps its smallest and largest value; in an exact group they agree. */
static json_t *range_or_null(struct wsdbg_range range)
{
    return range.known ? json_integer(range.low) : json_null();
}

static json_t *seconds_or_null(struct wsdbg_range range_ns)
{
    return range_ns.known ? json_real((double)range_ns.high / 1e9) : json_null();
}

static json_t *index_or_null(uint32_t index, size_t count)
{
    return index < count ? json_integer(index) : json_null();
}

/* 64 bits do not fit what many JSON readers make of a number. */
static json_t *word_or_null(struct wsdbg_optional_u64 word, int digits)
{
    return word.known ? json_sprintf("%0*llx", digits, (unsigned long long)word.value) : json_null();
}

static json_t *address_or_null(struct wsdbg_range range)
{
    const bool one = range.known && range.low == range.high;
    return one ? json_sprintf("%llx", (unsigned long long)range.low) : json_null();
}

static json_t *triple(const uint32_t *values)
{
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *members(const struct wsdbg_members *set)
{
    json_t *array = json_array();
    for (int i = 0; i < 256; i++)
        if (set->bits[i / 64] >> (i % 64) & 1)
            json_array_append_new(array, json_integer(i));
    return array;
}

static json_t *kernel_name(const char *symbol)
{
    char name[512];
    wsdbg_symbol_name(symbol, name, sizeof name);
    return text_or_null(name);
}

static json_t *session_json(const struct wsdbg_report *r)
{
    const bool watched = wsdbg_report_was_watched(r);
    json_t *s = json_object();
    json_object_set_new(s, "command", text_or_null(r->command));
    json_object_set_new(s, "wsdbg_version", text_or_null(r->wsdbg_version));
    json_object_set_new(s, "device", text_or_null(r->device));
    json_object_set_new(s, "observer", text_or_null(r->observer));
    json_object_set_new(s, "evidence", text_or_null(r->evidence));
    json_object_set_new(s, "hostname", text_or_null(r->hostname));
    json_object_set_new(s, "started_unix_ns", number(r->started_unix_ns));
    json_object_set_new(s, "stall_seconds", watched ? json_real(r->stall_seconds) : json_null());
    json_object_set_new(s, "ended", json_boolean(r->ended));
    json_object_set_new(s, "exit_status", r->ended ? json_integer(r->exit_status) : json_null());
    json_object_set_new(s, "hang", r->ended ? json_boolean(r->ended_hang) : json_null());
    json_object_set_new(s, "outcome", text_or_null(r->outcome));
    json_object_set_new(s, "duration_ns", r->ended && watched ? number(r->duration_ns) : json_null());
    json_object_set_new(s, "verdict_delay_ns", u64_or_null(r->verdict_delay_ns));
    return s;
}

static json_t *snapshot_json(const struct wsdbg_report *r)
{
    if (!r->has_snapshot)
        return json_null();
    json_t *s = json_object();
    json_object_set_new(s, "time_ns", number(r->time_ns));
    json_object_set_new(s, "source", text_or_null(r->source));
    json_object_set_new(s, "torn_events", number(r->torn_events));
    json_object_set_new(s, "foreign_slots", number(r->foreign_slots));
    json_object_set_new(s, "lost_rows", number(r->lost_rows));
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
        json_object_set_new(row, "text", text_or_null(f->evidence[i].text));
        json_object_set_new(row, "site", index_or_null(f->evidence[i].site, WSDBG_NONE));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *role_json(const char *name, struct wsdbg_optional_u32 role)
{
    return name[0] || !role.known ? text_or_null(name) : json_sprintf("role %u", role.value);
}

static json_t *findings_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct wsdbg_report_finding *f = &r->findings[i];
        json_t *row = json_object();
        json_object_set_new(row, "cause", json_string(wsdbg_cause_name(f->cause)));
        json_object_set_new(row, "confidence", json_string(wsdbg_confidence_name(f->confidence)));
        json_object_set_new(row, "sentence", text_or_null(f->sentence));
        json_object_set_new(row, "fix", text_or_null(f->fix));
        json_object_set_new(row, "grid", u32_or_null(f->grid));
        json_object_set_new(row, "cta", f->cta_known ? triple(f->cta) : json_null());
        json_object_set_new(row, "cta_count", json_integer(f->cta_count));
        json_object_set_new(row, "role", role_json(f->role_name, f->role));
        json_object_set_new(row, "barrier", text_or_null(f->barrier));
        json_object_set_new(row, "evidence", evidence_json(f));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *launch_json(const struct wsdbg_report_launch *l)
{
    if (!l->known)
        return json_null();
    const bool cluster = l->cluster[0].known && l->cluster[1].known && l->cluster[2].known;
    json_t *row = json_object();
    json_object_set_new(row, "process_id", json_integer(l->process_id));
    json_object_set_new(row, "sequence", number(l->sequence));
    json_object_set_new(row, "kernel", kernel_name(l->kernel));
    json_object_set_new(row, "grid", triple(l->grid));
    json_object_set_new(row, "block", triple(l->block));
    json_object_set_new(row, "cluster",
                        cluster ? triple((uint32_t[]){l->cluster[0].value, l->cluster[1].value, l->cluster[2].value})
                                : json_null());
    json_object_set_new(row, "dynamic_shared_bytes", json_integer(l->dynamic_shared_bytes));
    json_object_set_new(row, "stream", number(l->stream));
    json_object_set_new(row, "time_ns", number(l->time_ns));
    json_object_set_new(row, "result", json_integer(l->result));
    return row;
}

static json_t *grids_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->grid_count; i++) {
        const struct wsdbg_report_grid *g = &r->grids[i];
        json_t *row = json_object();
        json_object_set_new(row, "kernel", kernel_name(g->kernel));
        json_object_set_new(row, "symbol", text_or_null(g->kernel));
        json_object_set_new(row, "process_id", u32_or_null(g->process_id));
        json_object_set_new(row, "device", text_or_null(g->device_name));
        json_object_set_new(row, "hardware_grid_id", number(g->grid_id));
        json_object_set_new(row, "registers", u32_or_null(g->registers));
        json_object_set_new(row, "ctas_total", json_integer(g->cta_total));
        json_object_set_new(row, "ctas_seen", json_integer(g->cta_seen));
        json_object_set_new(row, "warps_per_cta", json_integer(g->warps_per_cta));
        json_object_set_new(row, "warps_seen", json_integer(g->warps_seen));
        json_object_set_new(row, "warps_live", json_integer(g->warps_live));
        json_object_set_new(row, "warps_exited", json_integer(g->warps_exited));
        json_object_set_new(row, "running", json_boolean(g->running));
        json_object_set_new(row, "context_error", g->context_error > 0 ? json_integer(g->context_error) : json_null());
        json_object_set_new(row, "launch", launch_json(&g->launch));
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
        json_object_set_new(row, "device", text_or_null(f->device_name));
        json_object_set_new(row, "error", f->error > 0 ? json_integer(f->error) : json_null());
        json_object_set_new(row, "exception", f->error < 0 ? json_integer(-(json_int_t)f->error) : json_null());
        json_object_set_new(row, "words", text_or_null(wsdbg_fault_words(f->error)));
        json_object_set_new(row, "state_age_ns", u64_or_null(f->state_age_ns));
        json_object_set_new(row, "sentence", text_or_null(f->sentence));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *part_json(const struct wsdbg_report *r, const struct wsdbg_report_part *p)
{
    json_t *row = json_object();
    json_object_set_new(row, "lanes", json_sprintf("%08x", p->part.lanes));
    json_object_set_new(row, "state", json_string(wsdbg_warp_state_name(p->part.state)));
    json_object_set_new(row, "site", index_or_null(p->part.site, r->site_count));
    json_object_set_new(row, "barrier", text_or_null(p->barrier));
    json_object_set_new(row, "parity", u32_or_null(p->part.parity));
    json_object_set_new(row, "count", u32_or_null(p->part.count));
    json_object_set_new(row, "polled_address", word_or_null(p->part.address, 1));
    json_object_set_new(row, "polled_value", word_or_null(p->part.value, 1));
    json_object_set_new(row, "polled_bytes", u32_or_null(p->part.width_bytes));
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

static json_t *warps_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->warps_count; i++) {
        const struct wsdbg_report_warps *w = &r->warps[i];
        const bool one_event = w->last_event.known && w->last_event.low == w->last_event.high;
        json_t *row = json_object();
        json_object_set_new(row, "grid", json_integer(w->grid));
        json_object_set_new(row, "cta_count", json_integer(w->cta_count));
        json_object_set_new(row, "cta", triple(w->cta));
        json_object_set_new(row, "warps", members(&w->members));
        json_object_set_new(row, "state", json_string(wsdbg_warp_state_name(w->state)));
        json_object_set_new(row, "role", role_json(w->role_name, w->role));
        json_object_set_new(row, "barrier_kind", text_or_null(w->barrier_kind));
        json_object_set_new(row, "barrier_name", text_or_null(w->barrier_name));
        json_object_set_new(row, "barrier_id", range_or_null(w->barrier_id));
        json_object_set_new(row, "stage", range_or_null(w->stage));
        json_object_set_new(row, "parity", range_or_null(w->parity));
        json_object_set_new(row, "iteration", range_or_null(w->iteration));
        json_object_set_new(row, "line", range_or_null(w->line));
        json_object_set_new(row, "registers_held", range_or_null(w->registers_held));
        json_object_set_new(row, "registers_asked", range_or_null(w->registers_asked));
        json_object_set_new(row, "quiet_seconds", seconds_or_null(w->waiting_ns));
        json_object_set_new(row, "last_event",
                            one_event ? json_string(wsdbg_event_kind_name((enum wsdbg_event_kind)w->last_event.low))
                                      : json_null());
        json_object_set_new(row, "site", index_or_null(w->site, r->site_count));
        json_object_set_new(row, "place", text_or_null(w->place));
        json_object_set_new(row, "polled_address", address_or_null(w->address));
        json_object_set_new(row, "polled_value", address_or_null(w->value));
        json_object_set_new(row, "polled_bytes", u32_or_null(w->width_bytes));
        json_object_set_new(row, "parts", parts_json(r, w));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *barriers_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->barriers_count; i++) {
        const struct wsdbg_report_barriers *b = &r->barriers[i];
        json_t *row = json_object();
        json_object_set_new(row, "grid", json_integer(b->grid));
        json_object_set_new(row, "cta_count", json_integer(b->cta_count));
        json_object_set_new(row, "cta", triple(b->cta));
        json_object_set_new(row, "kind", json_string(wsdbg_barrier_kind_name(b->kind)));
        json_object_set_new(row, "name", text_or_null(b->name));
        json_object_set_new(row, "id", range_or_null(b->id));
        json_object_set_new(row, "stages", b->kind == WSDBG_BARRIER_MBARRIER ? members(&b->members) : json_null());
        json_object_set_new(row, "phase", range_or_null(b->phase));
        json_object_set_new(row, "pending_arrivals", range_or_null(b->pending_arrivals));
        json_object_set_new(row, "expected_arrivals", range_or_null(b->expected_arrivals));
        json_object_set_new(row, "completed_phases", range_or_null(b->completed_phases));
        json_object_set_new(row, "pending_tx_bytes", range_or_null(b->pending_tx_bytes));
        json_object_set_new(row, "waiters", range_or_null(b->waiters));
        json_object_set_new(row, "shared_offset", range_or_null(b->shared_offset));
        json_object_set_new(row, "word", word_or_null(b->word, 16));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *sites_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->site_count; i++) {
        const struct wsdbg_site *site = &r->sites[i].site;
        json_t *row = json_object();
        json_object_set_new(row, "symbol", text_or_null(r->sites[i].function));
        json_object_set_new(row, "offset_bytes", u32_or_null(site->offset_bytes));
        json_object_set_new(row, "instruction", text_or_null(site->instruction));
        json_object_set_new(row, "file", text_or_null(site->file));
        json_object_set_new(row, "line", u32_or_null(site->line));
        json_object_set_new(row, "inlined_at", index_or_null(site->inlined_at, r->site_count));
        json_object_set_new(row, "place", text_or_null(r->sites[i].place));
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
        json_object_set_new(row, "grid", index_or_null(a->grid, r->grid_count));
        json_object_set_new(row, "site", index_or_null(a->site, r->site_count));
        json_object_set_new(row, "kind", json_string(wsdbg_access_word(a->kind)));
        json_object_set_new(row, "certain", json_boolean(a->certain));
        json_object_set_new(row, "any_rank", json_boolean(a->any_rank));
        json_object_set_new(row, "lanes", text_or_null(wsdbg_lanes_word(a->lanes)));
        json_object_set_new(row, "address", u32_or_null(a->address));
        json_object_set_new(row, "stride", json_integer(a->stride));
        json_object_set_new(row, "places", json_integer(a->places));
        json_object_set_new(row, "count", u32_or_null(a->count));
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
        json_object_set_new(row, "time_ns", number_or_null(l->time_ns != 0, l->time_ns));
        json_object_set_new(row, "attach_ns", number_or_null(lengths_known, l->attach_ns));
        json_object_set_new(row, "suspend_ns", number_or_null(lengths_known, l->suspend_ns));
        json_object_set_new(row, "read_ns", number_or_null(lengths_known, l->read_ns));
        json_object_set_new(row, "resume_ns", number_or_null(lengths_known, l->resume_ns));
        json_object_set_new(row, "detach_ns", number_or_null(lengths_known, l->detach_ns));
        json_object_set_new(row, "warps", json_integer(l->warps));
        json_object_set_new(row, "warps_read", json_integer(l->warps_read));
        json_object_set_new(row, "warps_moved", number_or_null(i > 0, l->moved));
        json_object_set_new(row, "barriers_changed", u32_or_null(l->barriers_changed));
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
        json_object_set_new(row, "call", text_or_null(t->call));
        json_object_set_new(row, "waiting_ns", u64_or_null(t->waiting_ns));
        json_object_set_new(row, "stream", u64_or_null(t->stream));
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
        json_object_set_new(row, "symbol", text_or_null(r->functions[i].name));
        json_object_set_new(row, "registers", u32_or_null(r->functions[i].registers));
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
    json_object_set_new(row, "kernels", number(a->kernels));
    json_object_set_new(row, "kernel_ns", number(a->kernel_ns));
    json_object_set_new(row, "copies", number(a->copies));
    json_object_set_new(row, "copy_ns", number(a->copy_ns));
    json_object_set_new(row, "copy_bytes", number(a->copy_bytes));
    json_object_set_new(row, "sets", number(a->sets));
    return row;
}

static json_t *notes_json(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->note_count; i++)
        json_array_append_new(array, text_or_null(r->notes[i]));
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
    json_object_set_new(root, "faults", faults_json(r));
    json_object_set_new(root, "session", session_json(r));
    json_object_set_new(root, "snapshot", snapshot_json(r));
    json_object_set_new(root, "launches_total", r->has_snapshot ? number(r->launches_total) : json_null());
    json_object_set_new(root, "newest_launch", launch_json(&r->newest));
    json_object_set_new(root, "grids", grids_json(r));
    json_object_set_new(root, "warps", warps_json(r));
    json_object_set_new(root, "barriers", barriers_json(r));
    json_object_set_new(root, "names_inferred", r->has_snapshot ? json_boolean(r->names_inferred) : json_null());
    json_object_set_new(root, "sites", sites_json(r));
    json_object_set_new(root, "accesses", accesses_json(r));
    json_object_set_new(root, "looks", looks_json(r));
    json_object_set_new(root, "host_threads", threads_json(r));
    json_object_set_new(root, "functions", functions_json(r));
    json_object_set_new(root, "activity", activity_json(r));
    json_object_set_new(root, "notes", notes_json(r));
    return root;
}

struct wsdbg_error *wsdbg_report_render_json(const struct wsdbg_report *report, FILE *out)
{
    json_t *root = report_json(report);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return &wsdbg_error_no_memory;
    fprintf(out, "%s\n", text);
    free(text);
    return NULL;
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
