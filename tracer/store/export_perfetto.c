/* export_perfetto.c - the shown picture as a trace for the Perfetto UI: a process a grid, or a process a rank where
 * there are several; a track a warp.
 *
 * Reads a session database, one CTA's histories at a time; writes JSON trace events (docs/trace.schema.json).
 * Every clock has processes of its own, or tracks of its own in a rank's process, and starts at its own zero; nothing
 * aligns them.  Only the stall's length,
 * measured on the host, lengthens the waits that are not over: they last at least so long.
 */
#include "store/export.h"

#include <inttypes.h>
#include <stdlib.h>

#include "store/event_fields.h"
#include "store/export_internal.h"
#include "store/spans.h"
#include "model/symbol.h"

enum { ARROWS_MAX = 512 };

static uint32_t context_of(const struct wsdbg_trace_export *e, uint32_t grid)
{
    const uint32_t context = e->loaded.snapshot.grids[grid].context;
    return context < e->loaded.snapshot.context_count ? context : (uint32_t)e->loaded.snapshot.context_count;
}

uint64_t wsdbg_export_gpu_time(const struct wsdbg_trace_export *e, uint32_t grid, uint64_t gpu_time_ns)
{
    const uint64_t zero_ns = e->gpu_zero_ns[context_of(e, grid)];
    return gpu_time_ns > zero_ns ? gpu_time_ns - zero_ns : 0;
}

struct wsdbg_track wsdbg_export_warp_track(const struct wsdbg_trace_export *e, uint32_t warp)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    return (struct wsdbg_track){wsdbg_export_grid_pid(e, s->ctas[s->warps[warp].cta].grid),
                                WSDBG_TID_WARP + (uint64_t)warp};
}

/* Where waits that are not over end: the newest time stamp and the stall after it. */
static uint64_t end_of_trace(const struct wsdbg_trace_export *e, uint32_t grid)
{
    const uint32_t context = context_of(e, grid);
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const uint64_t newest_ns = context < s->context_count ? s->contexts[context].gpu_now_ns : 0;
    return wsdbg_export_gpu_time(e, grid, newest_ns) + wsdbg_stall_ns(&e->loaded, grid);
}

/* Histories begin with their oldest event, so one event a warp is enough. */
static struct wsdbg_error *find_gpu_zero(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    e->gpu_zero_ns = malloc((s->context_count + 1) * sizeof *e->gpu_zero_ns);
    if (!e->gpu_zero_ns)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i <= s->context_count; i++)
        e->gpu_zero_ns[i] = UINT64_MAX;
    for (uint32_t i = 0; i < s->warp_count; i++) {
        struct wsdbg_history_event first;
        uint32_t got;
        struct wsdbg_error *error = wsdbg_store_events(e->store, &e->loaded, i, 0, 1, &first, &got);
        if (error)
            return error;
        uint64_t *zero_ns = &e->gpu_zero_ns[context_of(e, s->ctas[s->warps[i].cta].grid)];
        const uint64_t oldest_ns = got ? first.gpu_time_ns : s->warps[i].last.gpu_time_ns;
        if ((got || s->warps[i].last.kind != WSDBG_EVENT_NONE) && oldest_ns < *zero_ns)
            *zero_ns = oldest_ns;
    }
    return NULL;
}

static struct wsdbg_error *read_cta(struct wsdbg_trace_export *e, uint32_t cta, struct wsdbg_cta_events *events)
{
    const struct wsdbg_cta *c = &e->loaded.snapshot.ctas[cta];
    size_t needed = 0;
    for (uint32_t i = 0; i < c->warp_count; i++)
        needed += e->loaded.events[c->warp_first + i].count;
    if (needed > events->capacity || c->warp_count >= events->start_capacity) {
        free(events->events);
        free(events->starts);
        events->events = malloc((needed + 1) * sizeof *events->events);
        events->starts = malloc((c->warp_count + 1) * sizeof *events->starts);
        if (!events->events || !events->starts)
            return &wsdbg_error_no_memory;
        events->capacity = needed;
        events->start_capacity = c->warp_count + 1;
    }
    events->count = 0;
    for (uint32_t i = 0; i < c->warp_count; i++) {
        uint32_t got;
        events->starts[i] = (uint32_t)events->count;
        struct wsdbg_error *error =
            wsdbg_store_events(e->store, &e->loaded, c->warp_first + i, 0, e->loaded.events[c->warp_first + i].count,
                               events->events + events->count, &got);
        if (error)
            return error;
        events->count += got;
    }
    events->starts[c->warp_count] = (uint32_t)events->count;
    return NULL;
}

static void put_event_arguments(struct wsdbg_trace_file *t, const struct wsdbg_history_event *event)
{
    const unsigned fields = wsdbg_event_fields(event->kind);
    if (wsdbg_event_has_iteration(event))
        wsdbg_trace_number(t, "iteration", event->iteration);
    if ((fields & WSDBG_FIELD_SITE) && WSDBG_SITE_LINE(event->value) != 0)
        wsdbg_trace_number(t, "line", WSDBG_SITE_LINE(event->value));
    else if (event->kind == WSDBG_EVENT_TMA_ISSUE)
        wsdbg_trace_number(t, "bytes", WSDBG_TMA_BYTES(event->value));
    else if (fields & WSDBG_FIELD_VALUE)
        wsdbg_trace_number(t, "value", event->value);
}

/* "wait empty[3] parity 1", "mbarrier arrive full[0]", "wgmma" */
static void span_name(const struct wsdbg_snapshot *s, uint32_t module, const struct wsdbg_wait_span *span, char *out,
                      size_t bytes)
{
    char object[128];
    const bool waits = span->kind == WSDBG_SPAN_WAIT || span->kind == WSDBG_SPAN_OPEN;
    if (waits)
        wsdbg_wait_object_text(s, module, &span->event, object, sizeof object);
    else
        wsdbg_event_object_text(s, module, &span->event, object, sizeof object);
    if (span->kind == WSDBG_SPAN_WGMMA)
        snprintf(out, bytes, "wgmma in flight");
    else if (waits && object[0])
        snprintf(out, bytes, "wait %s", object);
    else if (span->event.kind == WSDBG_EVENT_MBARRIER_WAIT_END)
        snprintf(out, bytes, "passed %s", object);
    else
        snprintf(out, bytes, "%s%s%s", wsdbg_event_kind_name((enum wsdbg_event_kind)span->event.kind),
                 object[0] ? " " : "", object);
}

static void put_span(struct wsdbg_trace_export *e, uint32_t warp, const struct wsdbg_wait_span *span)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const uint32_t grid = s->ctas[s->warps[warp].cta].grid;
    const struct wsdbg_track track = wsdbg_export_warp_track(e, warp);
    const uint64_t start_ns = wsdbg_export_gpu_time(e, grid, span->event.gpu_time_ns);
    uint64_t end_ns = wsdbg_export_gpu_time(e, grid, span->end_gpu_ns);
    char name[192];
    span_name(s, s->grids[grid].module, span, name, sizeof name);
    if (span->kind == WSDBG_SPAN_MOMENT) {
        wsdbg_trace_moment(&e->trace, track, name, start_ns, "t");
    } else {
        if (span->kind == WSDBG_SPAN_OPEN)
            end_ns = end_of_trace(e, grid);
        wsdbg_trace_slice(&e->trace, track, name, start_ns, end_ns > start_ns ? end_ns - start_ns : 0);
    }
    put_event_arguments(&e->trace, &span->event);
    if (span->kind == WSDBG_SPAN_OPEN)
        wsdbg_trace_text(&e->trace, "end", wsdbg_open_words(&e->loaded, grid));
    wsdbg_trace_end(&e->trace);
}

static void put_warp(struct wsdbg_trace_export *e, uint32_t warp, const struct wsdbg_history_event *events,
                     uint32_t count)
{
    struct wsdbg_spans spans = {0};
    struct wsdbg_wait_span done[WSDBG_SPANS_AN_EVENT];
    for (uint32_t i = 0; i < count; i++) {
        const size_t got = wsdbg_spans_add(&spans, &events[i], done);
        for (size_t k = 0; k < got; k++)
            put_span(e, warp, &done[k]);
    }
    if (wsdbg_spans_end(&spans, done))
        put_span(e, warp, done);
}

static void name_warp(struct wsdbg_trace_export *e, uint32_t warp)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_warp_row *w = &s->warps[warp];
    const struct wsdbg_cta *c = &s->ctas[w->cta];
    const char *role = wsdbg_snapshot_role_name(s, w);
    const struct wsdbg_track track = wsdbg_export_warp_track(e, warp);
    char place[128], grid[320], name[480], number[24] = "?";
    if (w->role.known)
        snprintf(number, sizeof number, "role %u", w->role.value);
    snprintf(place, sizeof place, "CTA (%u,%u,%u) warp %u %s", c->x, c->y, c->z, w->warp, role ? role : number);
    wsdbg_export_grid_text(e, c->grid, grid, sizeof grid);
    snprintf(name, sizeof name, "%s: %s (GPU clock)", grid, place);
    wsdbg_trace_name(&e->trace, "thread_name", track, wsdbg_export_is_of_rank(e, c->grid) ? name : place, track.tid);
}

static struct wsdbg_error *put_cta(struct wsdbg_trace_export *e, uint32_t cta, struct wsdbg_cta_events *events)
{
    const struct wsdbg_cta *c = &e->loaded.snapshot.ctas[cta];
    struct wsdbg_error *error = read_cta(e, cta, events);
    if (error)
        return error;
    for (uint32_t i = 0; i < c->warp_count; i++) {
        name_warp(e, c->warp_first + i);
        /* With histories off the last event is all there is. */
        if (events->starts[i] == events->starts[i + 1] &&
            e->loaded.snapshot.warps[c->warp_first + i].last.kind != WSDBG_EVENT_NONE)
            put_warp(e, c->warp_first + i, &e->loaded.snapshot.warps[c->warp_first + i].last, 1);
        else
            put_warp(e, c->warp_first + i, events->events + events->starts[i],
                     events->starts[i + 1] - events->starts[i]);
    }
    return wsdbg_export_counters(e, cta, events);
}

static void name_grid(struct wsdbg_trace_export *e, uint32_t grid)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_grid *g = &s->grids[grid];
    const uint32_t process = wsdbg_snapshot_grid_process(s, grid);
    char text[320], name[640], rank[WSDBG_PROCESS_BYTES] = "";
    if (wsdbg_export_is_of_rank(e, grid))
        return;
    wsdbg_export_grid_text(e, grid, text, sizeof text);
    if (process != WSDBG_NONE && s->processes[process].rank.known)
        wsdbg_process_short_text(s, s->processes[process].process_id, rank);
    snprintf(name, sizeof name, "%s%s%s%s (GPU clock)", rank, rank[0] ? ": " : "", text, g->running ? ", running" : "");
    wsdbg_trace_name(&e->trace, "process_name", (struct wsdbg_track){WSDBG_PID_GRID + grid, 0}, name, grid);
}

/* Its last event, and that nothing came after it. */
static void mark_stall(struct wsdbg_trace_export *e, uint32_t grid, uint32_t warp)
{
    const uint64_t stall_ns = wsdbg_stall_ns(&e->loaded, grid);
    if (!e->loaded.diagnosed || stall_ns == 0)
        return;
    wsdbg_trace_moment(&e->trace, wsdbg_export_warp_track(e, warp), "the last event before the stall",
                       end_of_trace(e, grid) - stall_ns, wsdbg_export_is_of_rank(e, grid) ? "t" : "p");
    wsdbg_trace_end(&e->trace);
}

/* Both slices of an arrow last from the last event to the end; it is drawn half way. */
static void put_arrows(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_diagnosis *d = &e->loaded.diagnosis;
    uint64_t id = 0;
    for (size_t i = 0; i < d->edge_count && id < ARROWS_MAX; i++) {
        const struct wsdbg_edge *edge = &d->edges[i];
        if (!edge->in_cycle || edge->waiter >= s->warp_count || edge->waker >= s->warp_count ||
            !wsdbg_warp_state_waits(s->warps[edge->waker].state))
            continue;
        const uint32_t grid = s->ctas[s->warps[edge->waiter].cta].grid;
        wsdbg_trace_arrow(&e->trace, ++id, wsdbg_export_warp_track(e, edge->waiter),
                          wsdbg_export_warp_track(e, edge->waker),
                          end_of_trace(e, grid) - wsdbg_stall_ns(&e->loaded, grid) / 2);
    }
}

static struct wsdbg_error *put_grids(struct wsdbg_trace_export *e, struct wsdbg_progress *progress)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    struct wsdbg_cta_events events = {0};
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; grid < s->grid_count; grid++)
        name_grid(e, grid);
    for (uint32_t cta = 0; !error && cta < s->cta_count; cta++) {
        error = put_cta(e, cta, &events);
        wsdbg_progress_advance(progress, cta + 1, s->cta_count);
    }
    for (uint32_t grid = 0; !error && grid < s->grid_count; grid++)
        if (s->grids[grid].running && s->grids[grid].cta_count > 0 && s->ctas[s->grids[grid].cta_first].warp_count > 0)
            mark_stall(e, grid, s->ctas[s->grids[grid].cta_first].warp_first);
    if (!error)
        put_arrows(e);
    free(events.events);
    free(events.starts);
    return error;
}

static void begin_file(FILE *out)
{
    fputs(
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"wsdbg\",\"clocks\":\"Each clock has processes of its "
        "own, or tracks of its own in the one process of a rank, and starts at its own zero: host (CLOCK_MONOTONIC, "
        "from the start of the session), GPU (%globaltimer, from the oldest event of a context), CUPTI. They are not "
        "aligned with one another. A wait that is not over "
        "is drawn to the newest GPU time stamp plus the stall's length on the host: it lasts at least so long.\","
        "\"counters\":\"Arrivals as the histories of a CTA's own warps tell; left out for clusters and where a "
        "history does not start with the kernel's begin.\"},\"traceEvents\":[",
        out);
}

struct wsdbg_error *wsdbg_export_perfetto(struct wsdbg_store *store, struct wsdbg_progress *progress, FILE *out)
{
    struct wsdbg_trace_export e = {.store = store, .trace = {.out = out}};
    struct wsdbg_error *error = wsdbg_store_load(store, false, &e.loaded);
    if (error)
        return error;
    begin_file(out);
    error = wsdbg_export_host(&e);
    if (!error)
        error = find_gpu_zero(&e);
    if (!error)
        error = put_grids(&e, progress);
    fputs("\n]}\n", out);
    free(e.gpu_zero_ns);
    wsdbg_loaded_deinit(&e.loaded);
    return error;
}
