/* live_source.c - the ring's evidence, completed by looks at the GPU's own state.
 *
 * Reads: what the ring source reads, and the GPU through the debug interface (live_looks.h).  Writes: nothing but the
 * attach rows.  Where an attach is not possible the snapshot says what is in the way and is the ring's otherwise.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/completion.h"
#include "evidence/evidence.h"
#include "evidence/live_processes.h"
#include "evidence/look_choice.h"
#include "evidence/look_round.h"
#include "evidence/ring_source.h"
#include "evidence/snapshot_drop.h"

struct live_source {
    struct wsdbg_evidence base;
    struct wsdbg_evidence *ring;
    struct wsdbg_live_processes processes;
    bool accounted; /* what staying has cost was said */
    char *spool;    /* folder for looks that only a recording keeps, NULL = there is none */
};

static struct live_source *live_of(struct wsdbg_evidence *base)
{
    return (struct live_source *)base;
}

/* ---- looking ---- */

/* What was seen goes into the snapshot, with what the ring has of the same warps.  Every drop comes before the first
 * look adds rows. */
static struct wsdbg_error *replace_grids(struct wsdbg_live_process *const *looked, size_t count,
                                         struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_snapshot *record = NULL;
    struct wsdbg_error *error = count ? wsdbg_completion_begin(snapshot, &record) : NULL;
    for (size_t i = 0; !error && i < count; i++)
        if (wsdbg_live_process_saw_warps(looked[i]))
            error = wsdbg_snapshot_drop_grids(snapshot, wsdbg_live_process_id(looked[i]));
    const size_t first = snapshot->grid_count;
    for (size_t i = 0; !error && i < count; i++) {
        if (!wsdbg_live_process_saw_warps(looked[i]) && !wsdbg_live_process_saw_fault(looked[i]))
            wsdbg_look_note_no_warps(snapshot, wsdbg_live_process_id(looked[i]));
        error = wsdbg_live_process_add(looked[i], snapshot);
        snapshot->source = "live";
    }
    return wsdbg_completion_end(error, snapshot, first, record);
}

/* By deadline_ns, CLOCK_MONOTONIC. */
static struct wsdbg_error *complete(struct live_source *source, enum wsdbg_attach_use use, uint64_t deadline_ns,
                                    struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_live_process **looked = NULL;
    size_t count = 0;
    struct wsdbg_error *error = wsdbg_look_round(&source->processes, use, deadline_ns, snapshot, &looked, &count);
    if (!error)
        error = replace_grids(looked, count, snapshot);
    free(looked);
    return error;
}

/* ---- staying ---- */

static void mark_attended(const struct live_source *source, struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        snapshot->contexts[i].attended =
            wsdbg_live_processes_is_attended(&source->processes, snapshot->contexts[i].process_id);
}

static void live_attend(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot, uint64_t now_ns, bool over,
                        char *line, size_t size)
{
    struct live_source *source = live_of(base);
    line[0] = '\0';
    if (!over)
        wsdbg_live_processes_attend(&source->processes, snapshot, now_ns, line, size);
    else if (!source->accounted)
        wsdbg_live_processes_account(&source->processes, line, size);
    source->accounted |= over;
}

static void live_look_ahead(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot)
{
    const struct wsdbg_live_processes *processes = &live_of(base)->processes;
    for (size_t i = 0; i < processes->count; i++) {
        struct wsdbg_live_process *looks = processes->list[i].looks;
        if (!processes->list[i].ended &&
            wsdbg_look_is_wanted(snapshot, wsdbg_live_process_id(looks), processes->use, false))
            wsdbg_live_process_look_ahead(looks);
    }
}

/* ---- the source ---- */

/* What exceptions had stopped when they were looked at. */
static struct wsdbg_error *add_faults(struct live_source *source, struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    struct wsdbg_live_process **faulted = calloc(source->processes.count + 1, sizeof(*faulted));
    if (!faulted)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < source->processes.count; i++) {
        const struct wsdbg_live_followed *process = &source->processes.list[i];
        if (wsdbg_live_process_saw_fault(process->looks) &&
            !wsdbg_live_processes_is_replaced(&source->processes, process))
            faulted[count++] = process->looks;
    }
    struct wsdbg_error *error = count ? replace_grids(faulted, count, snapshot) : NULL;
    free(faulted);
    return error;
}

static struct wsdbg_error *live_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    struct wsdbg_evidence *ring = live_of(base)->ring;
    struct wsdbg_error *error = ring->ops->poll(ring, now_ns, out);
    if (!error)
        mark_attended(live_of(base), out);
    return error;
}

static struct wsdbg_error *live_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                        struct wsdbg_snapshot *out)
{
    struct live_source *source = live_of(base);
    const uint64_t started_ns = wsdbg_attach_clock_ns();
    const uint64_t ring_ns = deadline_ns < WSDBG_RING_NS ? deadline_ns : WSDBG_RING_NS;
    struct wsdbg_snapshot snapshot = {0};
    source->processes.was_taken = false;
    struct wsdbg_error *error = source->ring->ops->inspect(source->ring, now_ns, ring_ns, &snapshot);
    if (!error)
        mark_attended(source, &snapshot);
    if (!error)
        error = add_faults(source, &snapshot);
    if (!error && deadline_ns >= WSDBG_ATTACH_NS)
        error = complete(source, source->processes.use, started_ns + deadline_ns, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static void live_await_leave(struct wsdbg_evidence *base, struct wsdbg_snapshot *snapshot)
{
    wsdbg_live_processes_await_leave(&live_of(base)->processes, snapshot);
}

static bool live_was_taken(const struct wsdbg_evidence *base)
{
    return ((const struct live_source *)base)->processes.was_taken;
}

static struct wsdbg_error *live_complete(struct wsdbg_evidence *base, uint64_t deadline_ns,
                                         struct wsdbg_snapshot *snapshot)
{
    return complete(live_of(base), WSDBG_ATTACH_ALWAYS, wsdbg_attach_clock_ns() + deadline_ns, snapshot);
}

/* Looks that were had since the last frame. */
static struct wsdbg_error *record_looks(struct live_source *source, struct wsdbg_live_process *process,
                                        bool only_recorded, uint64_t now_ns)
{
    struct wsdbg_error *error = NULL;
    for (char *kept; !error && (kept = wsdbg_live_process_next_kept(process));) {
        error =
            wsdbg_ring_record_look(source->ring, now_ns, wsdbg_live_process_id(process), WSDBG_RECORD_LOOK_CORE, kept);
        if (only_recorded)
            unlink(kept);
        free(kept);
    }
    return error;
}

static struct wsdbg_error *live_record(struct wsdbg_evidence *base, const char *path, uint64_t now_ns)
{
    struct live_source *source = live_of(base);
    struct wsdbg_error *error = source->ring->ops->record(source->ring, path, now_ns);
    source->processes.recorded = true;
    if (!error && !source->processes.kept &&
        source->spool) /* a recording begins with the first context, before looks */
        error = wsdbg_live_processes_keep(&source->processes, source->spool);
    const bool only_recorded = source->processes.kept == source->spool;
    for (size_t i = 0; !error && i < source->processes.count; i++)
        error = record_looks(source, source->processes.list[i].looks, only_recorded, now_ns);
    return error;
}

static void live_keep(struct wsdbg_evidence *base, const char *folder)
{
    live_of(base)->processes.kept = folder;
}

static void live_hold_record(struct wsdbg_evidence *base)
{
    struct wsdbg_evidence *ring = live_of(base)->ring;
    ring->ops->hold_record(ring);
}

static void live_join(struct wsdbg_evidence *base, const struct wsdbg_join *join)
{
    struct live_source *source = live_of(base);
    source->processes.never_stays = join->never_stays;
    source->ring->ops->join(source->ring, join);
}

static void live_close(struct wsdbg_evidence *base)
{
    struct live_source *source = live_of(base);
    wsdbg_live_processes_deinit(&source->processes);
    free(source->spool);
    if (source->ring)
        source->ring->ops->close(source->ring);
    free(source);
}

static const struct wsdbg_evidence_ops live_ops = {.name = "live",
                                                   .poll = live_poll,
                                                   .inspect = live_inspect,
                                                   .await_leave = live_await_leave,
                                                   .was_taken = live_was_taken,
                                                   .complete = live_complete,
                                                   .record = live_record,
                                                   .keep = live_keep,
                                                   .attend = live_attend,
                                                   .look_ahead = live_look_ahead,
                                                   .hold_record = live_hold_record,
                                                   .join = live_join,
                                                   .close = live_close};

struct wsdbg_error *wsdbg_evidence_open_live(const char *session, const char *spool, enum wsdbg_attach_use use,
                                             struct wsdbg_evidence **out)
{
    struct live_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = &live_ops;
    source->processes.use = use;
    source->processes.opened_ns = wsdbg_attach_clock_ns();
    source->spool = spool ? strdup(spool) : NULL;
    struct wsdbg_error *error =
        spool && !source->spool ? &wsdbg_error_no_memory : wsdbg_evidence_open_ring(session, spool, &source->ring);
    source->processes.ring = source->ring;
    if (error)
        live_close(&source->base);
    else
        *out = &source->base;
    return error;
}
