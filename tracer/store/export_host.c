/* export_host.c - the host's part of the Perfetto export: ranks; launches, blocked threads and the stall on the host's
 * clock; kernels and copies that CUPTI saw on CUPTI's.  Reads the loaded session, writes trace events. */
#include "store/export_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/finding.h"
#include "store/database.h"
#include "store/spans.h"
#include "model/host_stack.h"
#include "model/symbol.h"
#include "wsdbg/session.h"

static uint64_t since(uint64_t zero_ns, uint64_t time_ns)
{
    return time_ns > zero_ns ? time_ns - zero_ns : 0;
}

static void find_host_zero(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    uint64_t zero_ns = e->loaded.info.started_ns;
    for (size_t i = 0; i < s->launch_count; i++)
        zero_ns = s->launches[i].time_ns < zero_ns ? s->launches[i].time_ns : zero_ns;
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].since_ns != 0 && s->threads[i].since_ns < zero_ns)
            zero_ns = s->threads[i].since_ns;
    e->host_zero_ns = zero_ns;
}

/* ---- processes of the trace ---- */

bool wsdbg_export_is_rank(const struct wsdbg_trace_export *e, uint32_t process_id)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const uint32_t index = wsdbg_snapshot_process(s, process_id);
    return index != WSDBG_NONE && s->processes[index].rank.known && wsdbg_snapshot_has_ranks(s);
}

uint64_t wsdbg_export_grid_pid(const struct wsdbg_trace_export *e, uint32_t grid)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const uint32_t index = wsdbg_snapshot_grid_process(s, grid);
    const bool is_of_rank = index != WSDBG_NONE && wsdbg_export_is_rank(e, s->processes[index].process_id);
    return is_of_rank ? s->processes[index].process_id : WSDBG_PID_GRID + (uint64_t)grid;
}

void wsdbg_export_grid_text(const struct wsdbg_trace_export *e, uint32_t grid, char *out, size_t bytes)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const char *symbol = wsdbg_snapshot_grid_name(s, &s->grids[grid]);
    char kernel[256] = "kernel ?";
    if (symbol)
        wsdbg_symbol_name(symbol, kernel, sizeof kernel);
    snprintf(out, bytes, "%s, grid %" PRIu64, kernel, s->grids[grid].grid_id);
}

/* "rank 3 (node-a, 4243)", in the order of the ranks. */
static void name_ranks(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    for (size_t i = 0; i < s->process_count; i++) {
        const struct wsdbg_process *p = &s->processes[i];
        const char *host = p->host[0] ? p->host : e->loaded.info.hostname;
        char name[WSDBG_PROCESS_BYTES];
        if (!wsdbg_export_is_rank(e, p->process_id))
            continue;
        snprintf(name, sizeof name, "rank %" PRIu32 " (%.64s, %" PRIu32 ")", p->rank.value,
                 host && *host ? host : "host ?", p->pid);
        wsdbg_trace_name(&e->trace, "process_name", (struct wsdbg_track){p->process_id, 0}, name, p->rank.value);
    }
}

static void name_process(struct wsdbg_trace_export *e, uint32_t process_id)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const uint32_t index = wsdbg_snapshot_process(s, process_id);
    char process[WSDBG_PROCESS_BYTES], name[WSDBG_PROCESS_BYTES + 16];
    if (index != WSDBG_NONE)
        wsdbg_process_text(&s->processes[index], e->loaded.info.hostname, process);
    else
        wsdbg_process_short_text(s, process_id, process);
    snprintf(name, sizeof name, "%s (host clock)", process);
    wsdbg_trace_name(&e->trace, "process_name", (struct wsdbg_track){process_id, 0}, name, WSDBG_PID_GRID - 1);
}

/* ---- host threads ---- */

/* The tracks of host threads that have a name already. */
struct named_tracks {
    struct wsdbg_track *tracks;
    size_t count;
};

static bool is_named(const struct named_tracks *named, struct wsdbg_track track, bool any_thread)
{
    for (size_t i = 0; i < named->count; i++)
        if (named->tracks[i].pid == track.pid && (any_thread || named->tracks[i].tid == track.tid))
            return true;
    return false;
}

static bool name_thread(struct wsdbg_trace_export *e, struct named_tracks *named, struct wsdbg_track track)
{
    const bool is_rank = wsdbg_export_is_rank(e, (uint32_t)track.pid);
    char name[64];
    if (is_named(named, track, false))
        return true;
    if (!is_rank && !is_named(named, track, true))
        name_process(e, (uint32_t)track.pid);
    snprintf(name, sizeof name, "thread %" PRIu64 "%s", track.tid, is_rank ? " (host clock)" : "");
    wsdbg_trace_name(&e->trace, "thread_name", track, name, track.tid);
    if (!wsdbg_array_push(&named->tracks, &named->count, sizeof *named->tracks))
        return false;
    named->tracks[named->count - 1] = track;
    return true;
}

static void put_launch(struct wsdbg_trace_export *e, const struct wsdbg_launch *l)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    char kernel[256] = "kernel ?", name[320], grid[64];
    if (l->function < s->function_count)
        wsdbg_symbol_name(s->functions[l->function].name, kernel, sizeof kernel);
    snprintf(name, sizeof name, "launch %s", kernel);
    wsdbg_trace_moment(&e->trace, (struct wsdbg_track){l->process_id, l->thread_id}, name,
                       since(e->host_zero_ns, l->time_ns), "t");
    snprintf(grid, sizeof grid, "%ux%ux%u", l->grid[0], l->grid[1], l->grid[2]);
    wsdbg_trace_text(&e->trace, "grid", grid);
    snprintf(grid, sizeof grid, "%ux%ux%u", l->block[0], l->block[1], l->block[2]);
    wsdbg_trace_text(&e->trace, "block", grid);
    wsdbg_trace_number(&e->trace, "sequence", l->sequence);
    wsdbg_trace_end(&e->trace);
}

/* What the thread does, from the outside in. */
static void put_stack(struct wsdbg_trace_export *e, const struct wsdbg_host_thread *t)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    char text[WSDBG_HOST_STACK_TEXT_BYTES];
    for (size_t i = 0; i < s->host_stack_count; i++) {
        const struct wsdbg_host_stack *stack = &s->host_stacks[i];
        if (stack->thread_id != t->thread_id || stack->process >= s->host_process_count ||
            s->host_processes[stack->process].process_id != t->process_id)
            continue;
        wsdbg_host_stack_text(stack, s->host_frames, t->call, text, sizeof text);
        wsdbg_trace_text(&e->trace, "stack", text);
    }
}

/* A call that has not returned: from its entry to the picture. */
static void put_blocked_thread(struct wsdbg_trace_export *e, const struct wsdbg_host_thread *t)
{
    const uint64_t taken_ns = wsdbg_snapshot_seen_ns(&e->loaded.snapshot, t->process_id);
    if (t->since_ns == 0 || t->since_ns > taken_ns)
        return;
    wsdbg_trace_slice(&e->trace, (struct wsdbg_track){t->process_id, t->thread_id}, t->call,
                      since(e->host_zero_ns, t->since_ns), taken_ns - t->since_ns);
    wsdbg_trace_text(&e->trace, "end", "not over in the picture");
    put_stack(e, t);
    wsdbg_trace_end(&e->trace);
}

static struct wsdbg_error *put_threads(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    struct named_tracks named = {0};
    bool whole = true;
    for (size_t i = 0; whole && i < s->launch_count; i++) {
        const struct wsdbg_launch *l = &s->launches[i];
        whole = name_thread(e, &named, (struct wsdbg_track){l->process_id, l->thread_id});
        if (whole)
            put_launch(e, l);
    }
    for (size_t i = 0; whole && i < s->thread_count; i++) {
        const struct wsdbg_host_thread *t = &s->threads[i];
        whole = name_thread(e, &named, (struct wsdbg_track){t->process_id, t->thread_id});
        if (whole)
            put_blocked_thread(e, t);
    }
    free(named.tracks);
    return whole ? NULL : &wsdbg_error_no_memory;
}

/* Kernels that still run, from their launch to the picture: when the GPU began is not known. */
static void put_running(struct wsdbg_trace_export *e, uint32_t grid)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_grid *g = &s->grids[grid];
    const bool is_of_rank = wsdbg_export_is_of_rank(e, grid);
    const struct wsdbg_track track = {is_of_rank ? wsdbg_export_grid_pid(e, grid) : WSDBG_PID_SESSION,
                                      WSDBG_PID_SESSION + 2 + (uint64_t)grid};
    char kernel[256] = "kernel ?";
    if (!g->running || g->launch >= s->launch_count)
        return;
    const struct wsdbg_launch *launch = &s->launches[g->launch];
    const uint64_t seen_ns = wsdbg_snapshot_seen_ns(s, launch->process_id);
    if (launch->time_ns > seen_ns)
        return;
    const char *symbol = wsdbg_snapshot_grid_name(s, g);
    if (symbol)
        wsdbg_symbol_name(symbol, kernel, sizeof kernel);
    wsdbg_trace_name(&e->trace, "thread_name", track,
                     is_of_rank ? "kernel, from its launch (host clock)" : "kernel, from its launch", track.tid);
    wsdbg_trace_slice(&e->trace, track, kernel, since(e->host_zero_ns, launch->time_ns), seen_ns - launch->time_ns);
    wsdbg_trace_text(&e->trace, "end", "not over in the picture");
    wsdbg_trace_end(&e->trace);
}

/* From the last progress to the picture, and a line through the whole trace where it begins. */
static void put_stall(struct wsdbg_trace_export *e, struct wsdbg_track track)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_diagnosis *d = &e->loaded.diagnosis;
    char name[96];
    uint64_t stall_ns = 0;
    for (uint32_t i = 0; i < s->grid_count && stall_ns == 0; i++)
        stall_ns = wsdbg_stall_ns(&e->loaded, i);
    if (!e->loaded.diagnosed || stall_ns == 0)
        return;
    snprintf(name, sizeof name, "stall (host clock): %s",
             d->finding_count ? wsdbg_cause_name(d->findings[0].cause) : "?");
    wsdbg_trace_slice(&e->trace, track, name, since(e->host_zero_ns, s->progress_ns), stall_ns);
    wsdbg_trace_text(&e->trace, "cause", d->finding_count ? d->findings[0].sentence : "?");
    wsdbg_trace_end(&e->trace);
    wsdbg_trace_moment(&e->trace, track, name, since(e->host_zero_ns, s->progress_ns), "g");
    wsdbg_trace_end(&e->trace);
}

static void put_session(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    const struct wsdbg_track track = {WSDBG_PID_SESSION, WSDBG_PID_SESSION + 1};
    wsdbg_trace_name(&e->trace, "process_name", (struct wsdbg_track){WSDBG_PID_SESSION, 0},
                     "wsdbg session (host clock)", WSDBG_PID_GRID);
    wsdbg_trace_name(&e->trace, "thread_name", track, "session", 1);
    put_stall(e, track);
    for (uint32_t i = 0; i < s->grid_count; i++)
        put_running(e, i);
}

/* The track of a device's stream, named where it is new; the default stream's handle is 0. */
static bool activity_track(struct wsdbg_trace_export *e, struct named_tracks *streams, const struct wsdbg_activity *a,
                           struct wsdbg_track *out)
{
    const struct wsdbg_track stream = {a->device_ordinal, a->stream};
    char name[96];
    size_t i = 0;
    while (i < streams->count && memcmp(&streams->tracks[i], &stream, sizeof stream) != 0)
        i++;
    *out = (struct wsdbg_track){WSDBG_PID_ACTIVITY, WSDBG_PID_ACTIVITY + 1 + i};
    if (i < streams->count)
        return true;
    snprintf(name, sizeof name, "device %u, stream %" PRIu64, a->device_ordinal, a->stream);
    wsdbg_trace_name(&e->trace, "thread_name", *out, name, i);
    if (!wsdbg_array_push(&streams->tracks, &streams->count, sizeof *streams->tracks))
        return false;
    streams->tracks[i] = stream;
    return true;
}

static void put_activity(struct wsdbg_trace_export *e, const struct wsdbg_activity *a, struct wsdbg_track track,
                         uint64_t zero_ns)
{
    static const char *const words[] = {
        [WSDBG_ACTIVITY_KERNEL] = "kernel ?", [WSDBG_ACTIVITY_COPY] = "copy", [WSDBG_ACTIVITY_SET] = "memory set"};
    char name[256] = "activity ?";
    if (a->kind < sizeof words / sizeof *words && words[a->kind])
        snprintf(name, sizeof name, "%s", words[a->kind]);
    if (a->name[0])
        wsdbg_symbol_name(a->name, name, sizeof name);
    wsdbg_trace_slice(&e->trace, track, name, since(zero_ns, a->start_ns), since(a->start_ns, a->end_ns));
    if (a->kind != WSDBG_ACTIVITY_KERNEL)
        wsdbg_trace_number(&e->trace, "bytes", a->bytes);
    wsdbg_trace_end(&e->trace);
}

static struct wsdbg_error *put_activities(struct wsdbg_trace_export *e)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    struct named_tracks streams = {0};
    uint64_t zero_ns = UINT64_MAX;
    bool whole = true;
    for (size_t i = 0; i < s->activity_count; i++)
        zero_ns = s->activities[i].start_ns < zero_ns ? s->activities[i].start_ns : zero_ns;
    if (s->activity_count > 0)
        wsdbg_trace_name(&e->trace, "process_name", (struct wsdbg_track){WSDBG_PID_ACTIVITY, 0},
                         "GPU activity (CUPTI clock)", WSDBG_PID_GRID + 1);
    for (size_t i = 0; whole && i < s->activity_count; i++) {
        struct wsdbg_track track;
        whole = activity_track(e, &streams, &s->activities[i], &track);
        if (whole)
            put_activity(e, &s->activities[i], track, zero_ns);
    }
    free(streams.tracks);
    return whole ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_export_host(struct wsdbg_trace_export *e)
{
    find_host_zero(e);
    name_ranks(e);
    put_session(e);
    struct wsdbg_error *error = put_activities(e);
    return error ? error : put_threads(e);
}
