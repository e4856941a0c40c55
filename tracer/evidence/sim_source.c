/* sim_source.c - the ring's evidence, completed by what a simulated device shows of itself while nothing on it moves.
 *
 * Reads: the ring; the files of wsdbg/device_state.h in the session's folder.  Writes: nothing.
 *
 * The file is taken away before anything moves, so two looks at it, however far apart, are one standstill: the first is
 * of the moment when the device came to stand.  The warps it shows keep the histories that the ring has of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/door.h"
#include "evidence/evidence.h"
#include "evidence/look_choice.h"
#include "evidence/snapshot_drop.h"
#include "machine/interpret.h"
#include "wsdbg/device_state.h"

struct sim_source {
    struct wsdbg_evidence base;
    struct wsdbg_evidence *ring;
    enum wsdbg_door_use use;
    char *folder;
    struct wsdbg_code *code;
};

/* ---- looks ---- */

enum { LOOKS = 2 };

/* What was seen of one context's device. */
struct standstill {
    uint32_t context;
    struct wsdbg_look *looks[LOOKS];
};

static struct wsdbg_error *look_once(struct sim_source *source, const char *path, uint64_t time_ns,
                                     struct wsdbg_look **out)
{
    const enum wsdbg_state_choice choice =
        source->use == WSDBG_DOOR_ALWAYS ? WSDBG_STATE_ALL_GRIDS : WSDBG_STATE_WITHOUT_PROBES;
    const struct wsdbg_look_budget budget = {UINT64_MAX / 4, UINT64_MAX / 4}; /* nothing stands still for it */
    struct wsdbg_machine *machine;
    struct wsdbg_error *error = wsdbg_machine_open_state(path, choice, &machine);
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

/* NOT_FOUND where something moves. */
static struct wsdbg_error *look_twice(struct sim_source *source, const struct wsdbg_snapshot *ring, uint32_t context,
                                      struct standstill *out)
{
    const struct wsdbg_context *row = &ring->contexts[context];
    char *path = NULL;
    if (asprintf(&path, "%s/" WSDBG_STATE_NAME, source->folder, row->process_id, (unsigned long long)row->handle) < 0)
        return &wsdbg_error_no_memory;
    *out = (struct standstill){.context = context};
    struct wsdbg_error *error = look_once(source, path, 0, &out->looks[0]);
    if (!error)
        error = look_once(source, path, wsdbg_door_now_ns(), &out->looks[1]);
    free(path);
    for (size_t i = 0; !error && i < LOOKS; i++)
        wsdbg_look_set_process(out->looks[i], row->process_id);
    if (error)
        forget(out);
    return error;
}

/* ---- what the ring has of the same warps ---- */

struct tables {
    struct wsdbg_grid *grids;
    struct wsdbg_cta *ctas;
    struct wsdbg_warp_row *warps;
    size_t grid_count;
};

static void *copy_of(const void *rows, size_t count, size_t size)
{
    void *copy = malloc(count * size + 1);
    if (copy && count)
        memcpy(copy, rows, count * size);
    return copy;
}

static bool copy_tables(const struct wsdbg_snapshot *snapshot, struct tables *out)
{
    *out = (struct tables){
        .grids = copy_of(snapshot->grids, snapshot->grid_count, sizeof *snapshot->grids),
        .ctas = copy_of(snapshot->ctas, snapshot->cta_count, sizeof *snapshot->ctas),
        .warps = copy_of(snapshot->warps, snapshot->warp_count, sizeof *snapshot->warps),
        .grid_count = snapshot->grid_count,
    };
    return out->grids && out->ctas && out->warps;
}

static void free_tables(struct tables *tables)
{
    free(tables->grids);
    free(tables->ctas);
    free(tables->warps);
}

static const struct wsdbg_grid *find_grid(const struct tables *tables, const struct wsdbg_grid *grid)
{
    for (size_t i = 0; i < tables->grid_count; i++)
        if (tables->grids[i].context == grid->context && tables->grids[i].grid_id == grid->grid_id)
            return &tables->grids[i];
    return NULL;
}

static const struct wsdbg_cta *find_cta(const struct tables *tables, const struct wsdbg_grid *grid,
                                        const struct wsdbg_cta *cta)
{
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (tables->ctas[i].x == cta->x && tables->ctas[i].y == cta->y && tables->ctas[i].z == cta->z)
            return &tables->ctas[i];
    return NULL;
}

static void add_history(const struct tables *tables, const struct wsdbg_cta *was, struct wsdbg_warp_row *warp)
{
    for (uint32_t i = was->warp_first; i < was->warp_first + was->warp_count; i++) {
        const struct wsdbg_warp_row *other = &tables->warps[i];
        if (other->warp != warp->warp)
            continue;
        warp->last = other->last;
        warp->changed_ns = other->changed_ns;
        warp->history_first = other->history_first;
        warp->history_count = other->history_count;
        warp->history_whole = other->history_whole;
        return;
    }
}

/* For the grids from `first` on. */
static void add_histories(struct wsdbg_snapshot *snapshot, size_t first, const struct tables *tables)
{
    for (size_t i = first; i < snapshot->grid_count; i++) {
        struct wsdbg_grid *grid = &snapshot->grids[i];
        const struct wsdbg_grid *was = find_grid(tables, grid);
        if (!was)
            continue;
        grid->progress_ns = was->progress_ns;
        grid->launch = grid->launch == WSDBG_NONE ? was->launch : grid->launch;
        for (uint32_t k = grid->cta_first; k < grid->cta_first + grid->cta_count; k++) {
            const struct wsdbg_cta *cta = &snapshot->ctas[k], *cta_was = find_cta(tables, was, cta);
            for (uint32_t w = cta->warp_first; cta_was && w < cta->warp_first + cta->warp_count; w++)
                add_history(tables, cta_was, &snapshot->warps[w]);
        }
    }
}

/* ---- the snapshot ---- */

struct replaced {
    const struct standstill *seen;
    size_t count;
    enum wsdbg_door_use use;
};

static bool is_replaced(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const void *user)
{
    const struct replaced *replaced = user;
    const bool is_devices = grid->module < snapshot->module_count && snapshot->modules[grid->module].unnamed;
    for (size_t i = 0; i < replaced->count; i++)
        if (grid->running && replaced->seen[i].context == grid->context &&
            (is_devices || replaced->use == WSDBG_DOOR_ALWAYS))
            return true;
    return false;
}

/* Every drop comes before the first look adds rows. */
static struct wsdbg_error *show(const struct sim_source *source, const struct standstill *seen, size_t count,
                                struct wsdbg_snapshot *snapshot)
{
    const struct replaced replaced = {seen, count, source->use};
    struct tables tables;
    struct wsdbg_error *error = copy_tables(snapshot, &tables) ? NULL : &wsdbg_error_no_memory;
    if (!error && count)
        error = wsdbg_snapshot_drop_chosen_grids(snapshot, is_replaced, &replaced);
    const size_t first = snapshot->grid_count;
    for (size_t i = 0; !error && i < count; i++) {
        error = wsdbg_look_snapshot(seen[i].looks, LOOKS, snapshot);
        snapshot->source = "simulator";
    }
    if (!error)
        add_histories(snapshot, first, &tables);
    free_tables(&tables);
    return error;
}

static struct wsdbg_error *complete(struct sim_source *source, struct wsdbg_snapshot *snapshot)
{
    struct standstill *seen = calloc(snapshot->context_count + 1, sizeof *seen);
    struct wsdbg_error *error = seen ? NULL : &wsdbg_error_no_memory;
    size_t count = 0;
    for (uint32_t i = 0; !error && i < snapshot->context_count; i++) {
        if (!snapshot->contexts[i].alive || snapshot->contexts[i].error)
            continue;
        error = look_twice(source, snapshot, i, &seen[count]);
        count += !error;
        if (!error || wsdbg_error_code(error) == WSDBG_ERROR_NO_MEMORY)
            continue;
        if (wsdbg_error_code(error) != WSDBG_ERROR_NOT_FOUND)
            wsdbg_look_add_trouble(snapshot, snapshot->contexts[i].process_id, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        error = NULL;
    }
    if (!error)
        error = show(source, seen, count, snapshot);
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
    error = complete(source, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static void sim_fetch(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot, uint64_t deadline_ns)
{
    struct wsdbg_evidence *ring = sim_of(base)->ring;
    if (ring->ops->fetch)
        ring->ops->fetch(ring, snapshot, deadline_ns);
}

static struct wsdbg_error *sim_record(struct wsdbg_evidence *base, const char *path, uint64_t now_ns)
{
    return wsdbg_evidence_record(sim_of(base)->ring, path, now_ns);
}

static void sim_close(struct wsdbg_evidence *base)
{
    struct sim_source *source = sim_of(base);
    if (source->ring)
        source->ring->ops->close(source->ring);
    wsdbg_code_destroy(source->code);
    free(source->folder);
    free(source);
}

static const struct wsdbg_evidence_ops sim_ops = {.name = "simulator",
                                                  .poll = sim_poll,
                                                  .inspect = sim_inspect,
                                                  .fetch = sim_fetch,
                                                  .record = sim_record,
                                                  .close = sim_close};

struct wsdbg_error *wsdbg_evidence_open_simulator(const char *session, const char *spool, enum wsdbg_door_use use,
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
