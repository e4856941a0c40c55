/* report_gather.c - fills a struct wsdbg_report from memory or from a stored session.
 * Reads session info, a snapshot, a diagnosis; a stored session is loaded back into those first, so both ways
 * are one. */
#include "store/load.h"
#include "store/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wsdbg/session.h"

static bool copy_string(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

static bool gather_session(const struct wsdbg_session_info *info, const struct wsdbg_session_end *end,
                           struct wsdbg_report *r)
{
    r->started_unix_ns = info->started_unix_ns;
    r->stall_seconds = info->stall_seconds;
    r->stall_proven = info->stall_proven;
    if (end) {
        r->ended = true;
        r->exit_status = end->exit_status;
        r->ended_hang = end->hang;
        r->duration_ns = end->ended_ns > info->started_ns ? end->ended_ns - info->started_ns : 0;
        if (end->stalled_ns && end->verdict_ns >= end->stalled_ns)
            r->verdict_delay_ns = wsdbg_known_u64(end->verdict_ns - end->stalled_ns);
    }
    return copy_string(&r->command, info->command) && copy_string(&r->wsdbg_version, info->wsdbg_version) &&
           copy_string(&r->device, info->device) && copy_string(&r->observer, info->observer) &&
           copy_string(&r->evidence, info->evidence) && copy_string(&r->hostname, info->hostname) &&
           copy_string(&r->outcome, end ? end->outcome : NULL);
}

static void *rows(size_t count, size_t bytes, size_t *out_count)
{
    void *array = calloc(count + 1, bytes);
    *out_count = array ? count : 0;
    return array;
}

static void gather_launch(const struct wsdbg_snapshot *s, const struct wsdbg_launch *l, struct wsdbg_report_launch *out)
{
    *out = (struct wsdbg_report_launch){.known = true,
                                        .process_id = l->process_id,
                                        .sequence = l->sequence,
                                        .dynamic_shared_bytes = l->dynamic_shared_bytes,
                                        .stream = l->stream,
                                        .time_ns = l->time_ns,
                                        .result = l->result,
                                        .graph = (l->flags & WSDBG_LAUNCH_GRAPH) != 0};
    memcpy(out->grid, l->grid, sizeof out->grid);
    memcpy(out->block, l->block, sizeof out->block);
    memcpy(out->cluster, l->cluster, sizeof out->cluster);
    if (l->function < s->function_count) {
        snprintf(out->kernel, sizeof out->kernel, "%s", s->functions[l->function].name);
        out->registers = s->functions[l->function].registers;
    }
}

static void gather_grid(const struct wsdbg_snapshot *s, const struct wsdbg_grid *g, struct wsdbg_report_grid *out)
{
    *out = (struct wsdbg_report_grid){.grid_id = g->grid_id,
                                      .cta_total = g->cta_total,
                                      .cta_seen = g->cta_count,
                                      .warps_per_cta = g->warps_per_cta,
                                      .warps_live = g->warps_live,
                                      .warps_exited = g->warps_exited,
                                      .running = g->running};
    const char *name = wsdbg_snapshot_grid_name(s, g);
    snprintf(out->kernel, sizeof out->kernel, "%s", name ? name : "");
    if (g->function < s->function_count)
        out->registers = s->functions[g->function].registers;
    if (g->context < s->context_count) {
        const struct wsdbg_context *c = &s->contexts[g->context];
        memcpy(out->device_name, c->device_name, sizeof out->device_name);
        out->process_id = wsdbg_known_u32(c->process_id);
        out->context_error = c->error;
    }
    out->process = wsdbg_snapshot_grid_process(s, (uint32_t)(g - s->grids));
    for (uint32_t i = 0; i < g->cta_count && g->cta_first + i < s->cta_count; i++)
        out->warps_seen += s->ctas[g->cta_first + i].warp_count;
    if (g->launch < s->launch_count)
        gather_launch(s, &s->launches[g->launch], &out->launch);
}

static bool gather_faults(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->faults = rows(s->context_count, sizeof *r->faults, &r->fault_count);
    r->fault_count = 0;
    for (size_t i = 0; r->faults && i < s->context_count; i++) {
        const struct wsdbg_context *c = &s->contexts[i];
        if (c->error == 0)
            continue;
        struct wsdbg_report_fault *f = &r->faults[r->fault_count++];
        *f = (struct wsdbg_report_fault){.process_id = c->process_id,
                                         .context = wsdbg_context_number(s, i),
                                         .error = c->error,
                                         .state_age_ns = c->state_age_ns};
        memcpy(f->device_name, c->device_name, sizeof f->device_name);
        wsdbg_fault_sentence(s, i, f->sentence);
    }
    return r->faults;
}

/* Contexts that have no ring say nothing. */
static const char *ring_of(const struct wsdbg_snapshot *s)
{
    bool on_device = false, in_host = false;
    for (size_t i = 0; i < s->context_count; i++) {
        on_device |= s->contexts[i].ring == WSDBG_RING_IN_DEVICE;
        in_host |= s->contexts[i].ring == WSDBG_RING_IN_HOST;
    }
    if (on_device && in_host)
        return "partly mapped";
    return in_host ? "mapped" : on_device ? "device" : NULL;
}

static bool gather_grids(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->grids = rows(s->grid_count, sizeof *r->grids, &r->grid_count);
    for (size_t i = 0; i < r->grid_count; i++)
        gather_grid(s, &s->grids[i], &r->grids[i]);
    return r->grids;
}

/* The launch made last; by time, and where two have the same, by sequence. */
static void gather_newest(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    const struct wsdbg_launch *newest = NULL;
    for (size_t i = 0; i < s->launch_count; i++) {
        const struct wsdbg_launch *l = &s->launches[i];
        if (!newest || l->time_ns > newest->time_ns ||
            (l->time_ns == newest->time_ns && l->sequence > newest->sequence))
            newest = l;
    }
    if (newest)
        gather_launch(s, newest, &r->newest);
}

static int compare_processes(const void *left, const void *right)
{
    const struct wsdbg_report_function *a = left, *b = right;
    return (a->process_id > b->process_id) - (a->process_id < b->process_id);
}

/* Functions of the newest launches come from many processes in any order: glibc's qsort is stable. */
static bool gather_functions(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->functions = rows(s->function_count, sizeof *r->functions, &r->function_count);
    for (size_t i = 0; i < r->function_count; i++) {
        struct wsdbg_report_function *f = &r->functions[i];
        f->process_id = s->functions[i].process_id;
        f->registers = s->functions[i].registers;
        memcpy(f->name, s->functions[i].name, sizeof f->name);
    }
    if (r->functions)
        qsort(r->functions, r->function_count, sizeof *r->functions, compare_processes);
    return r->functions;
}

static bool gather_threads(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->threads = rows(s->thread_count, sizeof *r->threads, &r->thread_count);
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct wsdbg_host_thread *t = &s->threads[i];
        struct wsdbg_report_thread *out = &r->threads[i];
        *out =
            (struct wsdbg_report_thread){.process_id = t->process_id, .thread_id = t->thread_id, .stream = t->stream};
        memcpy(out->call, t->call, sizeof out->call);
        wsdbg_process_short_text(s, t->process_id, out->process);
        out->is_main = wsdbg_process_is_main(s, t->process_id, t->thread_id);
        const uint64_t seen_ns = wsdbg_snapshot_seen_ns(s, t->process_id);
        if (t->since_ns && t->since_ns <= seen_ns)
            out->waiting_ns = wsdbg_known_u64(seen_ns - t->since_ns);
    }
    return r->threads;
}

static void gather_activity(const struct wsdbg_snapshot *s, struct wsdbg_report_activity *out)
{
    for (size_t i = 0; i < s->activity_count; i++) {
        const struct wsdbg_activity *a = &s->activities[i];
        const uint64_t time_ns = a->end_ns > a->start_ns ? a->end_ns - a->start_ns : 0;
        if (a->kind == WSDBG_ACTIVITY_KERNEL) {
            out->kernels++;
            out->kernel_ns += time_ns;
        } else if (a->kind == WSDBG_ACTIVITY_COPY) {
            out->copies++;
            out->copy_ns += time_ns;
            out->copy_bytes += a->bytes;
        } else if (a->kind == WSDBG_ACTIVITY_SET) {
            out->sets++;
        }
    }
}

static bool gather_notes(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->notes = rows(s->note_count, sizeof *r->notes, &r->note_count);
    if (r->notes && s->note_count)
        memcpy(r->notes, s->notes, s->note_count * sizeof *r->notes);
    return r->notes;
}

static void barrier_label(const struct wsdbg_barrier *b, char *out, size_t bytes)
{
    const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
    if (b->name && mbarrier)
        snprintf(out, bytes, "%s[%u]", b->name->name, b->stage);
    else if (mbarrier)
        snprintf(out, bytes, "mbarrier %u[%u]", b->id, b->stage);
    else if (b->kind == WSDBG_BARRIER_NAMED && !b->name)
        snprintf(out, bytes, "named barrier %u", b->id);
    else
        snprintf(out, bytes, "%s", b->name ? b->name->name : wsdbg_barrier_kind_name(b->kind));
}

void wsdbg_report_place(const struct wsdbg_report *r, uint32_t site, char out[WSDBG_PLACE_BYTES])
{
    snprintf(out, WSDBG_PLACE_BYTES, "%s", site < r->site_count ? r->sites[site].place : "");
}

static void fill_evidence(const struct wsdbg_snapshot *s, const struct wsdbg_evidence_row *row,
                          struct wsdbg_report_evidence *out)
{
    *out = (struct wsdbg_report_evidence){.kind = row->kind, .site = WSDBG_NONE};
    memcpy(out->text, row->text, sizeof out->text);
    /* An event may be an earlier one than that which the warp stands at. */
    if (row->kind != WSDBG_EVIDENCE_EVENT && row->warp < s->warp_count && s->warps[row->warp].site < s->site_count)
        out->site = s->warps[row->warp].site;
}

void wsdbg_report_evidence(const struct wsdbg_snapshot *s, const struct wsdbg_evidence_row *row,
                           struct wsdbg_report_evidence *out)
{
    fill_evidence(s, row, out);
    wsdbg_place_text(s, out->site, out->place);
}

static bool gather_finding(const struct wsdbg_snapshot *s, const struct wsdbg_finding *f, const struct wsdbg_report *r,
                           struct wsdbg_report_finding *out)
{
    *out = (struct wsdbg_report_finding){
        .cause = f->cause, .confidence = f->confidence, .cta_count = f->cta_count, .role = f->role};
    const struct wsdbg_optional_u32 whose = wsdbg_finding_process_id(s, f);
    out->process = whose.known ? wsdbg_snapshot_process(s, whose.value) : WSDBG_NONE;
    memcpy(out->sentence, f->sentence, sizeof out->sentence);
    memcpy(out->fix, f->fix, sizeof out->fix);
    if (f->grid < s->grid_count) {
        out->grid = wsdbg_known_u32(f->grid);
        const struct wsdbg_name *name =
            f->role.known ? wsdbg_snapshot_name(s, s->grids[f->grid].module, WSDBG_NAME_ROLE, f->role.value) : NULL;
        snprintf(out->role_name, sizeof out->role_name, "%s", name ? name->name : "");
    }
    if (f->cta < s->cta_count) {
        out->cta_known = true;
        memcpy(out->cta, (uint32_t[]){s->ctas[f->cta].x, s->ctas[f->cta].y, s->ctas[f->cta].z}, sizeof out->cta);
    }
    if (f->barrier < s->barrier_count)
        barrier_label(&s->barriers[f->barrier], out->barrier, sizeof out->barrier);
    out->evidence = rows(f->evidence_count, sizeof *out->evidence, &out->evidence_count);
    for (size_t i = 0; i < out->evidence_count; i++) {
        fill_evidence(s, &f->evidence[i], &out->evidence[i]);
        wsdbg_report_place(r, out->evidence[i].site, out->evidence[i].place);
    }
    return out->evidence && wsdbg_report_fold_evidence(out);
}

static bool gather_findings(const struct wsdbg_snapshot *s, const struct wsdbg_diagnosis *d, struct wsdbg_report *r)
{
    bool whole = (r->findings = rows(d->finding_count, sizeof *r->findings, &r->finding_count));
    r->diagnosed = true;
    r->hang = d->hang;
    for (size_t i = 0; whole && i < r->finding_count; i++)
        whole = gather_finding(s, &d->findings[i], r, &r->findings[i]);
    return whole;
}

static bool gather_sites(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->sites = rows(s->site_count, sizeof *r->sites, &r->site_count);
    if (!r->sites)
        return false;
    for (uint32_t i = 0; i < r->site_count; i++) {
        struct wsdbg_report_site *out = &r->sites[i];
        out->site = s->sites[i];
        wsdbg_place_text(s, i, out->place);
        wsdbg_place_levels(s, i, out->lines, sizeof out->lines);
        if (out->site.function < s->function_count)
            memcpy(out->function, s->functions[out->site.function].name, sizeof out->function);
    }
    return true;
}

static void fill_part(const struct wsdbg_snapshot *s, size_t index, struct wsdbg_report_part *out)
{
    *out = (struct wsdbg_report_part){.part = s->parts[index]};
    if (out->part.barrier < s->barrier_count)
        barrier_label(&s->barriers[out->part.barrier], out->barrier, sizeof out->barrier);
}

void wsdbg_report_part(const struct wsdbg_snapshot *s, uint32_t index, struct wsdbg_report_part *out)
{
    fill_part(s, index, out);
    wsdbg_place_text(s, out->part.site, out->place);
}

static bool gather_parts(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->parts = rows(s->part_count, sizeof *r->parts, &r->part_count);
    for (size_t i = 0; i < r->part_count; i++) {
        fill_part(s, i, &r->parts[i]);
        wsdbg_report_place(r, s->parts[i].site, r->parts[i].place);
    }
    return r->parts;
}

static bool gather_machine(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->names_inferred = s->names_inferred;
    r->accesses = rows(s->access_count, sizeof *r->accesses, &r->access_count);
    r->looks = rows(s->look_count, sizeof *r->looks, &r->look_count);
    if (!r->accesses || !r->looks)
        return false;
    if (s->access_count)
        memcpy(r->accesses, s->accesses, s->access_count * sizeof *r->accesses);
    if (s->look_count)
        memcpy(r->looks, s->looks, s->look_count * sizeof *r->looks);
    return gather_sites(s, r) && gather_parts(s, r);
}

static struct wsdbg_error *gather_snapshot(const struct wsdbg_snapshot *s, const struct wsdbg_diagnosis *diagnosis,
                                           struct wsdbg_report *r)
{
    r->has_snapshot = true;
    r->ring = ring_of(s);
    r->time_ns = s->time_ns;
    r->launches_total = s->launches_total;
    r->torn_events = s->torn_events;
    r->foreign_slots = s->foreign_slots;
    r->lost_rows = s->lost_rows;
    gather_newest(s, r);
    gather_activity(s, &r->activity);
    if (!copy_string(&r->source, s->source) || !wsdbg_report_gather_processes(s, diagnosis, r) || !gather_grids(s, r) ||
        !gather_functions(s, r) || !gather_threads(s, r) || !wsdbg_report_gather_host(s, r) ||
        !wsdbg_report_gather_sites(s, r) || !gather_notes(s, r) || !gather_faults(s, r) || !gather_machine(s, r) ||
        (diagnosis && !gather_findings(s, diagnosis, r)))
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_report_fold_warps(s, r);
    return error ? error : wsdbg_report_fold_barriers(s, r);
}

struct wsdbg_error *wsdbg_report_gather(const struct wsdbg_session_info *info, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_session_end *end,
                                        struct wsdbg_report *out)
{
    struct wsdbg_report report = {0};
    struct wsdbg_error *error = gather_session(info, end, &report) ? NULL : &wsdbg_error_no_memory;
    if (!error && snapshot)
        error = gather_snapshot(snapshot, diagnosis, &report);
    if (error)
        wsdbg_report_deinit(&report);
    else
        *out = report;
    return error;
}

struct wsdbg_error *wsdbg_report_of_loaded(struct wsdbg_store *store, const struct wsdbg_loaded *l,
                                           struct wsdbg_report *out)
{
    struct wsdbg_report report;
    struct wsdbg_error *error =
        wsdbg_report_gather(&l->info, l->has_snapshot ? &l->snapshot : NULL, l->diagnosed ? &l->diagnosis : NULL,
                            l->ended ? &l->end : NULL, &report);
    if (error)
        return error;
    error = wsdbg_report_load_refusals(store, &report);
    if (!error)
        error = wsdbg_report_load_schedules(store, &report);
    if (!error)
        error = wsdbg_report_load_overlaps(store, &report);
    if (error)
        wsdbg_report_deinit(&report);
    else
        *out = report;
    return error;
}

struct wsdbg_error *wsdbg_report_load(struct wsdbg_store *store, struct wsdbg_report *out)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_error *error = wsdbg_store_load(store, false, &loaded);
    if (error)
        return error;
    error = wsdbg_report_of_loaded(store, &loaded, out);
    wsdbg_loaded_deinit(&loaded);
    return error;
}

void wsdbg_report_deinit(struct wsdbg_report *r)
{
    char *strings[] = {r->command,  r->wsdbg_version, r->device,  r->observer,
                       r->evidence, r->hostname,      r->outcome, r->source};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        free(strings[i]);
    for (size_t i = 0; i < r->finding_count; i++) {
        free(r->findings[i].evidence);
        free(r->findings[i].lines);
    }
    for (size_t i = 0; i < r->schedule_count; i++)
        free(r->schedules[i]);
    void *arrays[] = {r->schedules,      r->findings, r->grids,     r->warps,        r->rows,       r->barriers,
                      r->barrier_rows,   r->threads,  r->functions, r->notes,        r->faults,     r->sites,
                      r->parts,          r->accesses, r->looks,     r->refusals,     r->overlaps,   r->processes,
                      r->host_processes, r->stacks,   r->frames,    r->launch_sites, r->site_frames};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *r = (struct wsdbg_report){0};
}
