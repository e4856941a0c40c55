/* live_source.c - the ring's evidence, completed by looks at the GPU's own state.
 *
 * Reads: what the ring source reads, and through the observers' doors the GPU (live_looks.h).  Writes: nothing but the
 * words of those doors.  Where a door is closed the snapshot says what is in the way and is the ring's otherwise.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "evidence/completion.h"
#include "evidence/evidence.h"
#include "evidence/live_looks.h"
#include "evidence/live_stay.h"
#include "evidence/look_choice.h"
#include "evidence/ring_source.h"
#include "evidence/snapshot_drop.h"

#define LEAST_NS 300000000ull /* a look that has less time than this is not begun */

struct followed {
    struct wsdbg_live_process *looks;
    struct wsdbg_live_stay stay;
};

struct live_source {
    struct wsdbg_evidence base;
    struct wsdbg_evidence *ring;
    enum wsdbg_door_use use;
    uint64_t opened_ns; /* the run begins */
    struct followed *processes;
    size_t count, capacity;
    const char *kept; /* folder for looks, NULL = they are not kept */
    char *spool;      /* folder for those that only a recording keeps, NULL = there is none */
};

static struct live_source *live_of(struct wsdbg_evidence *base)
{
    return (struct live_source *)base;
}

/* ---- looking ---- */

static struct wsdbg_live_process *find_process(const struct live_source *source, uint32_t process_id)
{
    for (size_t i = 0; i < source->count; i++)
        if (wsdbg_live_process_id(source->processes[i].looks) == process_id)
            return source->processes[i].looks;
    return NULL;
}

static struct wsdbg_error *ensure_process(struct live_source *source, uint32_t process_id,
                                          struct wsdbg_live_process **out)
{
    struct wsdbg_door door;
    struct wsdbg_segment_map *map = wsdbg_ring_map(source->ring, process_id);
    *out = find_process(source, process_id);
    if (*out)
        return NULL;
    if (!map)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "its segment cannot be read");
    if (!wsdbg_grow((void **)&source->processes, &source->capacity, source->count + 1, sizeof(*source->processes)))
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_segment_map_door(map, &door);
    if (!error)
        error = wsdbg_live_process_open(process_id, &door, out);
    if (!error && source->kept) {
        error = wsdbg_live_process_keep(*out, source->kept);
        if (error)
            wsdbg_live_process_close(*out);
    }
    if (!error)
        source->processes[source->count++] =
            (struct followed){.looks = *out,
                              .stay = {.policy.always = source->use == WSDBG_DOOR_ALWAYS,
                                       .began_ns = source->opened_ns,
                                       .ticked_ns = source->opened_ns}};
    return error;
}

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

/* Of this session whoever stays at another process, and has the GPU that this one was refused for, leaves. */
static bool make_way(struct live_source *source, const struct wsdbg_live_process *process)
{
    const uint16_t wanted = __atomic_load_n(&wsdbg_live_process_door(process)->taken_gpu, __ATOMIC_ACQUIRE);
    bool any = false;
    for (size_t i = 0; i < source->count && wanted >= 1 && wanted <= 16; i++) {
        struct followed *other = &source->processes[i];
        const uint16_t held = __atomic_load_n(&wsdbg_live_process_door(other->looks)->held_gpus, __ATOMIC_ACQUIRE);
        if (other->looks != process && held >> (wanted - 1) & 1)
            any |= wsdbg_live_stay_make_way(&other->stay, other->looks, wsdbg_door_now_ns());
    }
    return any;
}

static struct wsdbg_error *look_at(struct live_source *source, struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    struct wsdbg_error *error = wsdbg_live_process_look(process, deadline_ns);
    if (!wsdbg_live_process_is_taken(process, error) || !make_way(source, process))
        return error;
    wsdbg_error_destroy(error);
    return wsdbg_live_process_look(process, deadline_ns);
}

/* What is in the way becomes a note; NULL = not looked at. */
static struct wsdbg_live_process *look_at_one(struct live_source *source, uint32_t process_id, uint64_t deadline_ns,
                                              struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_live_process *process = NULL;
    struct wsdbg_error *error = ensure_process(source, process_id, &process);
    if (!error && wsdbg_door_now_ns() + LEAST_NS > deadline_ns)
        error = wsdbg_error_create(WSDBG_ERROR_BUSY, "no time was left for it");
    if (!error)
        error = look_at(source, process, deadline_ns);
    if (!error)
        return process;
    if (!process || wsdbg_live_process_is_alive(process)) /* else its end is all that there is to see */
        wsdbg_look_add_trouble(snapshot, process_id, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return NULL;
}

/* Looks at every process that wants it.  Those that an inspector stays at come first: it may have to make way. */
static void look_at_all(struct live_source *source, enum wsdbg_door_use use, uint64_t deadline_ns,
                        struct wsdbg_live_process **looked, size_t *looked_count, struct wsdbg_snapshot *snapshot)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < snapshot->context_count; i++) {
            const uint32_t process_id = snapshot->contexts[i].process_id;
            if (snapshot->contexts[i].attended != (pass == 0) || wsdbg_look_came_before(snapshot, i) ||
                !wsdbg_look_is_wanted(snapshot, process_id, use, false))
                continue;
            struct wsdbg_live_process *process = look_at_one(source, process_id, deadline_ns, snapshot);
            if (process)
                looked[(*looked_count)++] = process;
        }
}

/* By deadline_ns, CLOCK_MONOTONIC. */
static struct wsdbg_error *complete(struct live_source *source, enum wsdbg_door_use use, uint64_t deadline_ns,
                                    struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    struct wsdbg_live_process **looked = calloc(snapshot->context_count + 1, sizeof(*looked));
    if (!looked)
        return &wsdbg_error_no_memory;
    look_at_all(source, use, deadline_ns, looked, &count, snapshot);
    struct wsdbg_error *error = replace_grids(looked, count, snapshot);
    free(looked);
    return error;
}

/* ---- staying ---- */

static bool is_attended(const struct live_source *source, uint32_t process_id)
{
    for (size_t i = 0; i < source->count; i++)
        if (wsdbg_live_process_id(source->processes[i].looks) == process_id)
            return source->processes[i].stay.policy.stays;
    return false;
}

static void mark_attended(const struct live_source *source, struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        snapshot->contexts[i].attended = is_attended(source, snapshot->contexts[i].process_id);
}

/* A process that cannot be followed now is tried again at the next look; a look says what is in the way. */
static void follow_all(struct live_source *source, const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++) {
        struct wsdbg_live_process *unused;
        if (snapshot->contexts[i].alive && !wsdbg_look_came_before(snapshot, i))
            wsdbg_error_destroy(ensure_process(source, snapshot->contexts[i].process_id, &unused));
    }
}

static void live_attend(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot, uint64_t now_ns, bool over,
                        char *line, size_t size)
{
    struct live_source *source = live_of(base);
    line[0] = '\0';
    if (!over)
        follow_all(source, snapshot);
    for (size_t i = 0; i < source->count; i++) {
        struct followed *process = &source->processes[i];
        if (!over)
            wsdbg_live_process_look_at_fault(process->looks);
        if (!over)
            wsdbg_live_stay_tick(&process->stay, process->looks, snapshot, now_ns);
        if (!line[0] && over)
            wsdbg_live_stay_account(&process->stay, process->looks, line, size);
        else if (!line[0])
            wsdbg_live_stay_trouble(&process->stay, line, size);
    }
}

static void live_look_ahead(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot)
{
    const struct live_source *source = live_of(base);
    for (size_t i = 0; i < source->count; i++)
        if (wsdbg_look_is_wanted(snapshot, wsdbg_live_process_id(source->processes[i].looks), source->use, false))
            wsdbg_live_process_look_ahead(source->processes[i].looks);
}

/* ---- the source ---- */

/* What exceptions had stopped when they were looked at. */
static struct wsdbg_error *add_faults(struct live_source *source, struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    struct wsdbg_live_process **faulted = calloc(source->count + 1, sizeof(*faulted));
    if (!faulted)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < source->count; i++)
        if (wsdbg_live_process_saw_fault(source->processes[i].looks))
            faulted[count++] = source->processes[i].looks;
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
    const uint64_t started_ns = wsdbg_door_now_ns();
    const uint64_t ring_ns = deadline_ns < WSDBG_RING_NS ? deadline_ns : WSDBG_RING_NS;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = source->ring->ops->inspect(source->ring, now_ns, ring_ns, &snapshot);
    if (!error)
        mark_attended(source, &snapshot);
    if (!error)
        error = add_faults(source, &snapshot);
    if (!error && deadline_ns >= WSDBG_DOOR_NS)
        error = complete(source, source->use, started_ns + deadline_ns, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static struct wsdbg_error *live_complete(struct wsdbg_evidence *base, uint64_t deadline_ns,
                                         struct wsdbg_snapshot *snapshot)
{
    return complete(live_of(base), WSDBG_DOOR_ALWAYS, wsdbg_door_now_ns() + deadline_ns, snapshot);
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
    const bool only_recorded = !source->kept || source->kept == source->spool;
    if (!source->kept) { /* before the first look: a recording begins with the first context */
        source->kept = source->spool;
        for (size_t i = 0; source->kept && !error && i < source->count; i++)
            error = wsdbg_live_process_keep(source->processes[i].looks, source->kept);
    }
    for (size_t i = 0; !error && i < source->count; i++)
        error = record_looks(source, source->processes[i].looks, only_recorded, now_ns);
    return error;
}

static void live_keep(struct wsdbg_evidence *base, const char *folder)
{
    live_of(base)->kept = folder;
}

static void live_hold_record(struct wsdbg_evidence *base)
{
    struct wsdbg_evidence *ring = live_of(base)->ring;
    ring->ops->hold_record(ring);
}

static void live_close(struct wsdbg_evidence *base)
{
    struct live_source *source = live_of(base);
    for (size_t i = 0; i < source->count; i++)
        wsdbg_live_process_close(source->processes[i].looks);
    free(source->processes);
    free(source->spool);
    if (source->ring)
        source->ring->ops->close(source->ring);
    free(source);
}

static const struct wsdbg_evidence_ops live_ops = {.name = "live",
                                                   .poll = live_poll,
                                                   .inspect = live_inspect,
                                                   .complete = live_complete,
                                                   .record = live_record,
                                                   .keep = live_keep,
                                                   .attend = live_attend,
                                                   .look_ahead = live_look_ahead,
                                                   .hold_record = live_hold_record,
                                                   .close = live_close};

struct wsdbg_error *wsdbg_evidence_open_live(const char *session, const char *spool, enum wsdbg_door_use use,
                                             struct wsdbg_evidence **out)
{
    struct live_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = &live_ops;
    source->use = use;
    source->opened_ns = wsdbg_door_now_ns();
    source->spool = spool ? strdup(spool) : NULL;
    struct wsdbg_error *error =
        spool && !source->spool ? &wsdbg_error_no_memory : wsdbg_evidence_open_ring(session, spool, &source->ring);
    if (error)
        live_close(&source->base);
    else
        *out = &source->base;
    return error;
}
