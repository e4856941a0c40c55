/* sim_source.c - the ring's evidence, completed by what a simulated device shows of itself while nothing on it moves.
 *
 * Reads: the ring; the files of wsdbg/device_state.h in the session's folder.  Writes: nothing.
 *
 * The file is taken away before anything moves, so two looks at it, however far apart, are one standstill: the first is
 * of the moment when the device came to stand.  The warps it shows keep the histories that the ring has of them.  After
 * a fault another file shows where all stood, kernels with probes too, and stays.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "evidence/completion.h"
#include "evidence/attach_link.h"
#include "evidence/evidence.h"
#include "evidence/look_choice.h"
#include "evidence/ring_source.h"
#include "evidence/snapshot_drop.h"
#include "machine/interpret.h"
#include "wsdbg/device_state.h"

struct sim_source {
    struct wsdbg_evidence base;
    struct wsdbg_evidence *ring;
    enum wsdbg_attach_use use;
    char *folder;
    struct wsdbg_code *code;
    struct shown {
        char *path;
        uint32_t process_id;
        enum wsdbg_record_look_kind kind;
    } * shown; /* files that were seen since the last frame of a recording */
    size_t shown_count, shown_capacity;
};

/* ---- looks ---- */

enum { LOOKS = 2 };

/* What was seen of one context's device. */
struct standstill {
    uint32_t context;
    struct wsdbg_look *looks[LOOKS];
};

static struct wsdbg_error *look_once(struct sim_source *source, enum wsdbg_attach_use use, const char *path,
                                     uint64_t time_ns, struct wsdbg_look **out)
{
    const enum wsdbg_state_choice choice =
        use == WSDBG_ATTACH_ALWAYS ? WSDBG_STATE_ALL_GRIDS : WSDBG_STATE_WITHOUT_PROBES;
    /* Nothing stands still for it. */
    const struct wsdbg_look_budget budget = {UINT64_MAX / 4, UINT64_MAX / 4, WSDBG_WALKS_COUNTED};
    struct wsdbg_machine *machine;
    struct wsdbg_error *error = wsdbg_machine_open_state(path, choice, WSDBG_STATE_MEMORY_THERE, &machine);
    if (error)
        return error;
    if (time_ns)
        machine->time_ns = time_ns;
    error = wsdbg_code_prepare(source->code, machine);
    if (!error)
        error = wsdbg_look_take_within(machine, source->code, budget, out);
    machine->ops->close(machine);
    return error;
}

static void forget(struct standstill *seen)
{
    for (size_t i = 0; i < LOOKS; i++)
        wsdbg_look_destroy(seen->looks[i]);
    *seen = (struct standstill){0};
}

/* For a recording, which does without where memory runs out.  Takes the path. */
static void note_shown(struct sim_source *source, char *path, uint32_t process_id, enum wsdbg_attach_use use)
{
    const enum wsdbg_record_look_kind kind =
        use == WSDBG_ATTACH_ALWAYS ? WSDBG_RECORD_LOOK_STATE : WSDBG_RECORD_LOOK_STATE_BARE;
    if (!wsdbg_grow((void **)&source->shown, &source->shown_capacity, source->shown_count + 1, sizeof *source->shown)) {
        free(path);
        return;
    }
    source->shown[source->shown_count++] = (struct shown){path, process_id, kind};
}

static void forget_shown(struct sim_source *source)
{
    while (source->shown_count)
        free(source->shown[--source->shown_count].path);
}

/* NOT_FOUND where something moves. */
static struct wsdbg_error *look_twice(struct sim_source *source, enum wsdbg_attach_use use,
                                      const struct wsdbg_snapshot *ring, uint32_t context, struct standstill *out)
{
    const struct wsdbg_context *row = &ring->contexts[context];
    char *path = NULL;
    if (asprintf(&path, "%s/%s-%u-%016llx", source->folder, row->error ? WSDBG_STATE_FAULT_FILE : WSDBG_STATE_FILE,
                 row->process_id, (unsigned long long)row->handle) < 0)
        return &wsdbg_error_no_memory;
    use = row->error ? WSDBG_ATTACH_ALWAYS : use;
    *out = (struct standstill){.context = context};
    struct wsdbg_error *error = look_once(source, use, path, 0, &out->looks[0]);
    if (!error)
        error = look_once(source, use, path, wsdbg_attach_clock_ns(), &out->looks[1]);
    for (size_t i = 0; !error && i < LOOKS; i++)
        wsdbg_look_set_process(out->looks[i], row->process_id);
    if (error) {
        free(path);
        forget(out);
        return error;
    }
    note_shown(source, path, row->process_id, use);
    return NULL;
}

/* ---- the snapshot ---- */

struct replaced {
    const struct standstill *seen;
    size_t count;
    enum wsdbg_attach_use use;
};

static bool is_replaced(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const void *user)
{
    const struct replaced *replaced = user;
    const bool is_devices = grid->module < snapshot->module_count && snapshot->modules[grid->module].unnamed;
    for (size_t i = 0; i < replaced->count; i++)
        if (replaced->seen[i].context == grid->context &&
            (snapshot->contexts[grid->context].error
                 ? grid->warps_live > 0
                 : grid->running && (is_devices || replaced->use == WSDBG_ATTACH_ALWAYS)))
            return true;
    return false;
}

/* Every drop comes before the first look adds rows. */
static struct wsdbg_error *show(enum wsdbg_attach_use use, const struct standstill *seen, size_t count,
                                struct wsdbg_snapshot *snapshot)
{
    const struct replaced replaced = {seen, count, use};
    struct wsdbg_snapshot *record = NULL;
    struct wsdbg_error *error = count ? wsdbg_completion_begin(snapshot, &record) : NULL;
    if (!error && count)
        error = wsdbg_snapshot_drop_chosen_grids(snapshot, is_replaced, &replaced);
    const size_t first = snapshot->grid_count;
    for (size_t i = 0; !error && i < count; i++) {
        error = wsdbg_look_snapshot(seen[i].looks, LOOKS, snapshot);
        snapshot->source = "simulator";
    }
    return wsdbg_completion_end(error, snapshot, first, record);
}

static struct wsdbg_error *complete(struct sim_source *source, enum wsdbg_attach_use use,
                                    struct wsdbg_snapshot *snapshot)
{
    forget_shown(source);
    struct standstill *seen = calloc(snapshot->context_count + 1, sizeof *seen);
    struct wsdbg_error *error = seen ? NULL : &wsdbg_error_no_memory;
    size_t count = 0;
    for (uint32_t i = 0; !error && i < snapshot->context_count; i++) {
        if (!snapshot->contexts[i].alive && !snapshot->contexts[i].error)
            continue;
        error = look_twice(source, use, snapshot, i, &seen[count]);
        count += !error;
        if (!error || wsdbg_error_code(error) == WSDBG_ERROR_NO_MEMORY)
            continue;
        if (wsdbg_error_code(error) != WSDBG_ERROR_NOT_FOUND)
            wsdbg_look_add_trouble(snapshot, snapshot->contexts[i].process_id, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        error = NULL;
    }
    if (!error)
        error = show(use, seen, count, snapshot);
    for (size_t i = 0; i < count; i++)
        forget(&seen[i]);
    free(seen);
    return error;
}

/* ---- the source ---- */

static struct sim_source *sim_of(struct wsdbg_evidence *base)
{
    return (struct sim_source *)base;
}

static struct wsdbg_error *sim_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    struct wsdbg_evidence *ring = sim_of(base)->ring;
    return ring->ops->poll(ring, now_ns, out);
}

static struct wsdbg_error *sim_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                       struct wsdbg_snapshot *out)
{
    struct sim_source *source = sim_of(base);
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = source->ring->ops->inspect(source->ring, now_ns, deadline_ns, &snapshot);
    if (error)
        return error;
    /* A shorter time is for the histories alone: a look would make them old. */
    if (deadline_ns >= WSDBG_RING_NS)
        error = complete(source, source->use, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

/* A simulated device is not stopped for it. */
static struct wsdbg_error *sim_complete(struct wsdbg_evidence *base, uint64_t deadline_ns,
                                        struct wsdbg_snapshot *snapshot)
{
    (void)deadline_ns;
    return complete(sim_of(base), WSDBG_ATTACH_ALWAYS, snapshot);
}

static void sim_fetch(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot, uint64_t deadline_ns)
{
    struct wsdbg_evidence *ring = sim_of(base)->ring;
    if (ring->ops->fetch)
        ring->ops->fetch(ring, snapshot, deadline_ns);
}

static struct wsdbg_error *sim_record(struct wsdbg_evidence *base, const char *path, uint64_t now_ns)
{
    struct sim_source *source = sim_of(base);
    struct wsdbg_error *error = wsdbg_evidence_record(source->ring, path, now_ns);
    for (size_t i = 0; !error && i < source->shown_count; i++)
        error = wsdbg_ring_record_look(source->ring, now_ns, source->shown[i].process_id, source->shown[i].kind,
                                       source->shown[i].path);
    forget_shown(source);
    return error;
}

static void sim_hold_record(struct wsdbg_evidence *base)
{
    struct wsdbg_evidence *ring = sim_of(base)->ring;
    ring->ops->hold_record(ring);
}

static void sim_join(struct wsdbg_evidence *base, const struct wsdbg_join *join)
{
    struct wsdbg_evidence *ring = sim_of(base)->ring;
    ring->ops->join(ring, join);
}

static void sim_close(struct wsdbg_evidence *base)
{
    struct sim_source *source = sim_of(base);
    if (source->ring)
        source->ring->ops->close(source->ring);
    forget_shown(source);
    free(source->shown);
    wsdbg_code_destroy(source->code);
    free(source->folder);
    free(source);
}

static const struct wsdbg_evidence_ops sim_ops = {.name = "simulator",
                                                  .poll = sim_poll,
                                                  .inspect = sim_inspect,
                                                  .complete = sim_complete,
                                                  .fetch = sim_fetch,
                                                  .record = sim_record,
                                                  .hold_record = sim_hold_record,
                                                  .join = sim_join,
                                                  .close = sim_close};

struct wsdbg_error *wsdbg_evidence_open_simulator(const char *session, const char *spool, enum wsdbg_attach_use use,
                                                  struct wsdbg_evidence **out)
{
    struct sim_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = &sim_ops;
    source->use = use;
    source->folder = strdup(spool);
    struct wsdbg_error *error = source->folder ? wsdbg_code_create(&source->code) : &wsdbg_error_no_memory;
    if (!error)
        error = wsdbg_evidence_open_ring(session, spool, &source->ring);
    if (error) {
        sim_close(&source->base);
        return error;
    }
    *out = &source->base;
    return NULL;
}
