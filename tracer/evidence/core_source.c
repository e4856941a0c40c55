/* core_source.c - the ring's evidence, completed by a GPU core dump at the first stall that is inspected with time for
 * it, or by the one that the driver wrote when an error of the GPU ended a context.
 *
 * Reads: the ring; one dump of each process whose work stands still or has died.  Writes: nothing that stays.
 * A dump ends the contexts of its process, so there is one a process and a run; later looks show the same one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "evidence/completion.h"
#include "evidence/core_dump.h"
#include "evidence/attach_link.h"
#include "evidence/evidence.h"
#include "evidence/look_choice.h"
#include "evidence/look_keeper.h"
#include "evidence/ring_source.h"
#include "evidence/snapshot_drop.h"
#include "machine/interpret.h"

#define READ_NS UINT64_C(10000000000) /* for registers; the dump is there, and nothing stands still for it */

/* What was seen of one process. */
struct dump {
    uint32_t process_id;
    struct wsdbg_look *look; /* NULL = there is none: */
    char trouble[192];       /* why */
    char untold[192];        /* why it could not be kept, "" = it was, or was not to be */
    char *kept;              /* its file, until a recording has it */
    bool saw_warps;
    bool lost;     /* it was asked for, and did not come */
    bool of_error; /* nobody asked for it: the driver wrote it of an error */
};

struct core_source {
    struct wsdbg_evidence base;
    struct wsdbg_evidence *ring;
    char *folder;
    enum wsdbg_attach_use use;
    struct wsdbg_progress *progress;
    struct wsdbg_cancel *cancel;
    struct wsdbg_code *code;
    struct dump *dumps;
    size_t dump_count, dump_capacity;
    const char *kept; /* folder for looks, NULL = they are not kept */
};

static struct wsdbg_error *look_at(struct core_source *source, struct wsdbg_machine *machine, struct dump *dump)
{
    struct wsdbg_error *error = NULL;
    struct wsdbg_look_keeper *keeper = NULL;
    if (source->kept)
        error = wsdbg_look_keeper_create(source->kept, dump->process_id, &keeper);
    if (!error)
        error = wsdbg_code_prepare(source->code, machine);
    if (!error)
        error = wsdbg_look_keeper_take(keeper, machine, source->code,
                                       (struct wsdbg_look_budget){READ_NS, READ_NS, WSDBG_WALKS_COUNTED}, &dump->look);
    if (!error)
        wsdbg_look_set_process(dump->look, dump->process_id);
    wsdbg_look_keeper_write(keeper, machine);
    if (wsdbg_look_keeper_trouble(keeper))
        snprintf(dump->untold, sizeof dump->untold, "%s", wsdbg_look_keeper_trouble(keeper));
    dump->kept = wsdbg_look_keeper_next(keeper);
    wsdbg_look_keeper_destroy(keeper);
    dump->saw_warps = !error && machine->warp_count > 0;
    return error;
}

/* A dump that the driver made by itself is of an error: without one it tells less than the ring. */
static struct wsdbg_error *fill_dump(struct core_source *source, bool of_error, uint64_t deadline_ns, struct dump *dump)
{
    const struct wsdbg_core_wait wait = {.folder = source->folder,
                                         .process_id = dump->process_id,
                                         .deadline_ns = deadline_ns,
                                         .progress = source->progress,
                                         .cancel = source->cancel,
                                         .map = wsdbg_ring_map(source->ring, dump->process_id)};
    struct wsdbg_machine *machine;
    struct wsdbg_error *error =
        of_error ? wsdbg_core_dump_collect(&wait, &machine) : wsdbg_core_dump_take(&wait, &machine);
    if (error)
        return error;
    if (of_error && !wsdbg_machine_has_exception(machine))
        error = wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the GPU core dump names no thread with an error");
    else
        error = look_at(source, machine, dump);
    machine->ops->close(machine);
    return error;
}

/* One dump a process, also where it failed: the byte that asks for it may still be in the pipe. */
static struct wsdbg_error *take_dump(struct core_source *source, uint32_t process_id, bool of_error,
                                     uint64_t deadline_ns)
{
    for (size_t i = 0; i < source->dump_count; i++)
        if (source->dumps[i].process_id == process_id)
            return NULL;
    if (!wsdbg_grow((void **)&source->dumps, &source->dump_capacity, source->dump_count + 1, sizeof *source->dumps))
        return &wsdbg_error_no_memory;
    struct dump *dump = &source->dumps[source->dump_count++];
    *dump = (struct dump){.process_id = process_id, .of_error = of_error};
    struct wsdbg_error *error = fill_dump(source, of_error, deadline_ns, dump);
    if (error)
        snprintf(dump->trouble, sizeof dump->trouble, "%s", wsdbg_error_message(error));
    dump->lost = error && !of_error && wsdbg_error_code(error) == WSDBG_ERROR_BUSY;
    wsdbg_error_destroy(error);
    return NULL;
}

static struct wsdbg_error *take_dumps(struct core_source *source, uint64_t deadline_ns,
                                      const struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < snapshot->context_count; i++) {
        const uint32_t process_id = snapshot->contexts[i].process_id;
        if (wsdbg_look_came_before(snapshot, i) || !wsdbg_look_is_wanted(snapshot, process_id, source->use, true))
            continue;
        error = take_dump(source, process_id, false, deadline_ns);
    }
    return error;
}

/* What a dump shows, with what the ring has of the same warps.  Every drop comes before the first look adds rows. */
static struct wsdbg_error *show_dumps(const struct core_source *source, struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_snapshot *record = NULL;
    struct wsdbg_error *error = source->dump_count ? wsdbg_completion_begin(snapshot, &record) : NULL;
    for (size_t i = 0; !error && i < source->dump_count; i++)
        if (source->dumps[i].saw_warps)
            error = wsdbg_snapshot_drop_grids(snapshot, source->dumps[i].process_id);
    const size_t first = snapshot->grid_count;
    for (size_t i = 0; !error && i < source->dump_count; i++) {
        struct dump *dump = &source->dumps[i];
        if (dump->look) {
            error = wsdbg_look_snapshot(&dump->look, 1, snapshot);
            snapshot->source = "core";
            if (dump->untold[0])
                wsdbg_look_add_note(snapshot, dump->untold);
        } else {
            wsdbg_look_add_trouble(snapshot, dump->process_id, dump->trouble);
        }
    }
    return wsdbg_completion_end(error, snapshot, first, record);
}

static struct wsdbg_error *core_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    struct core_source *source = (struct core_source *)base;
    return source->ring->ops->poll(source->ring, now_ns, out);
}

static struct wsdbg_error *core_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                        struct wsdbg_snapshot *out)
{
    struct core_source *source = (struct core_source *)base;
    struct wsdbg_snapshot snapshot = {0};
    const uint64_t ring_ns = deadline_ns < WSDBG_RING_NS ? deadline_ns : WSDBG_RING_NS;
    const uint64_t started_ns = wsdbg_attach_clock_ns();
    struct wsdbg_error *error = source->ring->ops->inspect(source->ring, now_ns, ring_ns, &snapshot);
    if (!error && deadline_ns >= WSDBG_ATTACH_NS)
        error = take_dumps(source, started_ns + deadline_ns, &snapshot);
    if (!error)
        error = show_dumps(source, &snapshot);
    if (error) {
        wsdbg_snapshot_deinit(&snapshot);
        return error;
    }
    *out = snapshot;
    return NULL;
}

static void core_fetch(struct wsdbg_evidence *base, const struct wsdbg_snapshot *snapshot, uint64_t deadline_ns)
{
    struct core_source *source = (struct core_source *)base;
    const uint64_t until_ns = wsdbg_attach_clock_ns() + deadline_ns;
    for (size_t i = 0; i < snapshot->context_count; i++)
        if (snapshot->contexts[i].error)
            wsdbg_error_destroy(take_dump(source, snapshot->contexts[i].process_id, true, until_ns));
}

static bool core_is_lost(const struct wsdbg_evidence *base)
{
    const struct core_source *source = (const struct core_source *)base;
    for (size_t i = 0; i < source->dump_count; i++)
        if (source->dumps[i].lost)
            return true;
    return false;
}

static bool core_ended_work(const struct wsdbg_evidence *base)
{
    const struct core_source *source = (const struct core_source *)base;
    for (size_t i = 0; i < source->dump_count; i++)
        if (source->dumps[i].look && !source->dumps[i].of_error)
            return true;
    return false;
}

static struct wsdbg_error *core_record(struct wsdbg_evidence *base, const char *path, uint64_t now_ns)
{
    struct core_source *source = (struct core_source *)base;
    struct wsdbg_error *error = wsdbg_evidence_record(source->ring, path, now_ns);
    const bool only_recorded = !source->kept || source->kept == source->folder;
    if (!source->kept)
        source->kept = source->folder; /* before the first dump: a recording begins with the first context */
    for (size_t i = 0; !error && i < source->dump_count; i++) {
        struct dump *dump = &source->dumps[i];
        if (!dump->kept)
            continue;
        error = wsdbg_ring_record_look(source->ring, now_ns, dump->process_id, WSDBG_RECORD_LOOK_CORE, dump->kept);
        if (only_recorded)
            unlink(dump->kept);
        free(dump->kept);
        dump->kept = NULL;
    }
    return error;
}

static void core_keep(struct wsdbg_evidence *base, const char *folder)
{
    ((struct core_source *)base)->kept = folder;
}

static void core_hold_record(struct wsdbg_evidence *base)
{
    struct wsdbg_evidence *ring = ((struct core_source *)base)->ring;
    ring->ops->hold_record(ring);
}

static void core_close(struct wsdbg_evidence *base)
{
    struct core_source *source = (struct core_source *)base;
    for (size_t i = 0; i < source->dump_count; i++) {
        wsdbg_look_destroy(source->dumps[i].look);
        free(source->dumps[i].kept);
    }
    if (source->ring)
        source->ring->ops->close(source->ring);
    wsdbg_code_destroy(source->code);
    free(source->dumps);
    free(source->folder);
    free(source);
}

static const struct wsdbg_evidence_ops core_ops = {.name = "core",
                                                   .poll = core_poll,
                                                   .inspect = core_inspect,
                                                   .fetch = core_fetch,
                                                   .is_lost = core_is_lost,
                                                   .ended_work = core_ended_work,
                                                   .record = core_record,
                                                   .keep = core_keep,
                                                   .hold_record = core_hold_record,
                                                   .close = core_close};

struct wsdbg_error *wsdbg_evidence_open_core(const char *session, const char *spool, const char *folder,
                                             enum wsdbg_attach_use use, struct wsdbg_progress *progress,
                                             struct wsdbg_cancel *cancel, struct wsdbg_evidence **out)
{
    struct core_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = &core_ops;
    source->use = use;
    source->progress = progress;
    source->cancel = cancel;
    source->folder = strdup(folder);
    struct wsdbg_error *error = source->folder ? wsdbg_code_create(&source->code) : &wsdbg_error_no_memory;
    if (!error)
        error = wsdbg_evidence_open_ring(session, spool, &source->ring);
    if (error) {
        core_close(&source->base);
        return error;
    }
    *out = &source->base;
    return NULL;
}
