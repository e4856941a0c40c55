/* tables.c - writes what belongs to the whole session: contexts, modules, names, functions, launches, activities;
 * process_rows.c writes processes.  Reads a snapshot.  Rows are found again by their natural key, so a later snapshot
 * updates them and the ids that older rows refer to stay. */
#include "store/tables.h"

#include <stdlib.h>

#include "store/words.h"
#include "wsdbg/session.h"

const char *wsdbg_name_kind_word(unsigned kind)
{
    static const char *const words[] = {[WSDBG_NAME_NONE] = "none",
                                        [WSDBG_NAME_ROLE] = "role",
                                        [WSDBG_NAME_MBARRIER] = "mbarrier",
                                        [WSDBG_NAME_NAMED_BARRIER] = "named barrier",
                                        [WSDBG_NAME_MARK] = "mark"};
    return kind < sizeof words / sizeof *words ? words[kind] : "none";
}

const char *wsdbg_activity_kind_word(unsigned kind)
{
    static const char *const words[] = {
        "unknown", [WSDBG_ACTIVITY_KERNEL] = "kernel", [WSDBG_ACTIVITY_COPY] = "copy", [WSDBG_ACTIVITY_SET] = "set"};
    return kind < sizeof words / sizeof *words ? words[kind] : "unknown";
}

void wsdbg_table_ids_deinit(struct wsdbg_table_ids *ids)
{
    free(ids->contexts);
    free(ids->modules);
    free(ids->names);
    free(ids->functions);
    free(ids->launches);
}

static struct wsdbg_error *ids_alloc(struct wsdbg_table_ids *ids, const struct wsdbg_snapshot *snapshot)
{
    ids->contexts = calloc(snapshot->context_count + 1, sizeof *ids->contexts);
    ids->modules = calloc(snapshot->module_count + 1, sizeof *ids->modules);
    ids->names = calloc(snapshot->name_count + 1, sizeof *ids->names);
    ids->functions = calloc(snapshot->function_count + 1, sizeof *ids->functions);
    ids->launches = calloc(snapshot->launch_count + 1, sizeof *ids->launches);
    const bool whole = ids->contexts && ids->modules && ids->names && ids->functions && ids->launches;
    return whole ? NULL : &wsdbg_error_no_memory;
}

void wsdbg_insert_reference(struct wsdbg_insert *insert, const int64_t *ids, size_t count, uint32_t index)
{
    wsdbg_insert_maybe(insert, index < count && ids[index] != 0, index < count ? ids[index] : 0);
}

void wsdbg_insert_offset(struct wsdbg_insert *insert, int64_t base, size_t count, uint32_t index)
{
    wsdbg_insert_maybe(insert, index < count, base + index);
}

static void write_given(struct wsdbg_insert *insert, const struct wsdbg_context *c)
{
    wsdbg_insert_u64(insert, c->given_ns);
    wsdbg_insert_u64(insert, c->done_given_ns);
    wsdbg_insert_u64(insert, c->kernels);
    wsdbg_insert_u64(insert, c->graphs);
    wsdbg_insert_u64(insert, c->copies);
    wsdbg_insert_u64(insert, c->memsets);
    wsdbg_insert_u64(insert, c->others);
}

static struct wsdbg_error *write_contexts(struct wsdbg_store *store, const struct wsdbg_snapshot *s, int64_t *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(
        &insert, store,
        "INSERT INTO context (process_id, \"row\", handle, device_ordinal, device_name, sm_count, compute_capability, "
        "alive, error, state_age_ns, history_depth, history_read, gpu_now_ns, given_ns, done_given_ns, kernels, "
        "graphs, copies, memsets, others, ring) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET handle = excluded.handle, device_ordinal = excluded.device_ordinal, "
        "device_name = excluded.device_name, sm_count = excluded.sm_count, "
        "compute_capability = excluded.compute_capability, alive = excluded.alive, error = excluded.error, "
        "state_age_ns = excluded.state_age_ns, "
        "history_depth = excluded.history_depth, history_read = excluded.history_read, "
        "gpu_now_ns = excluded.gpu_now_ns, given_ns = excluded.given_ns, done_given_ns = excluded.done_given_ns, "
        "kernels = excluded.kernels, graphs = excluded.graphs, copies = excluded.copies, "
        "memsets = excluded.memsets, others = excluded.others, ring = excluded.ring RETURNING id");
    for (size_t i = 0; i < s->context_count; i++) {
        const struct wsdbg_context *c = &s->contexts[i];
        int64_t row = 0;
        for (size_t j = 0; j < i; j++)
            row += s->contexts[j].process_id == c->process_id;
        wsdbg_insert_number(&insert, c->process_id);
        wsdbg_insert_number(&insert, row);
        wsdbg_insert_number(&insert, (int64_t)c->handle);
        wsdbg_insert_number(&insert, c->device_ordinal);
        wsdbg_insert_text(&insert, c->device_name);
        wsdbg_insert_u32(&insert, c->sm_count);
        wsdbg_insert_u32(&insert, c->compute_capability);
        wsdbg_insert_number(&insert, c->alive);
        wsdbg_insert_maybe(&insert, c->error != 0, c->error);
        wsdbg_insert_u64(&insert, c->state_age_ns);
        wsdbg_insert_number(&insert, c->history_depth);
        wsdbg_insert_number(&insert, c->history_read);
        wsdbg_insert_maybe(&insert, c->gpu_now_ns != 0, (int64_t)c->gpu_now_ns);
        write_given(&insert, c);
        wsdbg_insert_string(&insert, wsdbg_ring_word(c->ring));
        ids[i] = wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_modules(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                         struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO module (process_id, context_id, \"row\", probed, image_bytes, image_hash, "
                       "image_path) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                       "context_id = excluded.context_id, probed = excluded.probed, "
                       "image_bytes = excluded.image_bytes, image_hash = excluded.image_hash, "
                       "image_path = excluded.image_path RETURNING id");
    for (size_t i = 0; i < s->module_count; i++) {
        const struct wsdbg_module *m = &s->modules[i];
        wsdbg_insert_number(&insert, m->process_id);
        wsdbg_insert_reference(&insert, ids->contexts, s->context_count, m->context);
        wsdbg_insert_number(&insert, m->row);
        wsdbg_insert_number(&insert, m->probed);
        wsdbg_insert_u64(&insert, m->image_bytes);
        wsdbg_insert_u64(&insert, m->image_hash);
        wsdbg_insert_text(&insert, m->image_path);
        ids->modules[i] = wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static void write_name(struct wsdbg_insert *insert, int64_t module_id, uint32_t position, const struct wsdbg_module *m,
                       const struct wsdbg_name *n)
{
    wsdbg_insert_number(insert, module_id);
    wsdbg_insert_number(insert, position);
    wsdbg_insert_string(insert, wsdbg_name_kind_word(n->kind));
    wsdbg_insert_number(insert, n->id);
    wsdbg_insert_string(insert, n->name);
    wsdbg_insert_maybe(insert, n->stages != 0, n->stages);
    wsdbg_insert_number(insert, n->first_free);
    wsdbg_insert_maybe(insert, n->arriving_roles != 0, n->arriving_roles);
    wsdbg_insert_maybe(insert, n->waiting_roles != 0, n->waiting_roles);
    wsdbg_insert_maybe(insert, !m->names_undecided,
                       position >= m->names_given && n->reserved != WSDBG_NAME_OF_VARIABLE);
}

static struct wsdbg_error *write_names(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                       struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(
        &insert, store,
        "INSERT INTO name (module_id, position, kind, identifier, name, stages, first_free, "
        "arriving_roles, waiting_roles, inferred) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "kind = excluded.kind, identifier = excluded.identifier, name = excluded.name, "
        "stages = excluded.stages, first_free = excluded.first_free, "
        "arriving_roles = excluded.arriving_roles, waiting_roles = excluded.waiting_roles, "
        "inferred = excluded.inferred RETURNING id");
    for (size_t i = 0; i < s->module_count; i++) {
        const struct wsdbg_module *m = &s->modules[i];
        for (uint32_t j = 0; j < m->names_count && m->names_first + j < s->name_count; j++) {
            write_name(&insert, ids->modules[i], j, m, &s->names[m->names_first + j]);
            ids->names[m->names_first + j] = wsdbg_insert_row(&insert);
        }
    }
    return wsdbg_insert_end(&insert);
}

/* A function's row within its process: the number of that process's functions before it. */
static int64_t functions_before(const struct wsdbg_snapshot *s, size_t index)
{
    int64_t row = 0;
    for (size_t i = 0; i < index; i++)
        row += s->functions[i].process_id == s->functions[index].process_id;
    return row;
}

static struct wsdbg_error *write_functions(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                           struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO function (process_id, \"row\", module_id, name, registers, static_shared_bytes, "
                       "local_bytes, max_threads, binary_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                       "ON CONFLICT DO UPDATE SET module_id = excluded.module_id, name = excluded.name, "
                       "registers = excluded.registers, static_shared_bytes = excluded.static_shared_bytes, "
                       "local_bytes = excluded.local_bytes, max_threads = excluded.max_threads, "
                       "binary_version = excluded.binary_version RETURNING id");
    int64_t row = 0;
    for (size_t i = 0; i < s->function_count; i++) {
        const struct wsdbg_function *f = &s->functions[i];
        if (i > 0 && s->functions[i - 1].process_id == f->process_id)
            row++;
        else
            row = functions_before(s, i);
        wsdbg_insert_number(&insert, f->process_id);
        wsdbg_insert_number(&insert, row);
        wsdbg_insert_reference(&insert, ids->modules, s->module_count, f->module);
        wsdbg_insert_string(&insert, f->name);
        wsdbg_insert_u32(&insert, f->registers);
        wsdbg_insert_u32(&insert, f->static_shared_bytes);
        wsdbg_insert_u32(&insert, f->local_bytes);
        wsdbg_insert_u32(&insert, f->max_threads);
        wsdbg_insert_u32(&insert, f->binary_version);
        ids->functions[i] = wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static void write_launch(struct wsdbg_insert *insert, const struct wsdbg_snapshot *s, const struct wsdbg_table_ids *ids,
                         const struct wsdbg_launch *l)
{
    wsdbg_insert_number(insert, l->process_id);
    wsdbg_insert_number(insert, (int64_t)l->sequence);
    wsdbg_insert_number(insert, (int64_t)l->time_ns);
    wsdbg_insert_number(insert, (int64_t)l->stream);
    wsdbg_insert_reference(insert, ids->functions, s->function_count, l->function);
    wsdbg_insert_reference(insert, ids->contexts, s->context_count, l->context);
    wsdbg_insert_number(insert, l->thread_id);
    for (int axis = 0; axis < 3; axis++)
        wsdbg_insert_number(insert, l->grid[axis]);
    for (int axis = 0; axis < 3; axis++)
        wsdbg_insert_number(insert, l->block[axis]);
    for (int axis = 0; axis < 3; axis++)
        wsdbg_insert_u32(insert, l->cluster[axis]);
    wsdbg_insert_number(insert, l->dynamic_shared_bytes);
    wsdbg_insert_number(insert, l->flags);
    wsdbg_insert_number(insert, l->result);
}

/* What a graph launch runs is known only once a grid of it was seen, and is kept then. */
#define KEPT(column) #column " = iif(excluded.function_id IS NULL, " #column ", excluded." #column "), "
#define KEPT_OF(name) KEPT(name##_x) KEPT(name##_y) KEPT(name##_z)
#define KEPT_SHAPE KEPT(function_id) KEPT_OF(grid) KEPT_OF(block) KEPT_OF(cluster) KEPT(dynamic_shared_bytes)

static struct wsdbg_error *write_launches(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                          struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO launch (process_id, sequence, time_ns, stream, function_id, context_id, thread_id, "
                       "grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z, "
                       "dynamic_shared_bytes, flags, result, first_snapshot, last_snapshot) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?20, ?20) ON CONFLICT DO "
                       "UPDATE SET result = excluded.result, flags = excluded.flags, " KEPT_SHAPE
                       "last_snapshot = excluded.last_snapshot RETURNING id");
    for (size_t i = 0; i < s->launch_count; i++) {
        write_launch(&insert, s, ids, &s->launches[i]);
        wsdbg_insert_number(&insert, store->snapshot_id);
        ids->launches[i] = wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_activities(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO activity (process_id, kind, device_ordinal, correlation, start_ns, end_ns, stream, "
                       "bytes, name, first_snapshot, last_snapshot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?10, ?10) "
                       "ON CONFLICT DO UPDATE SET last_snapshot = excluded.last_snapshot");
    for (size_t i = 0; i < s->activity_count; i++) {
        const struct wsdbg_activity *a = &s->activities[i];
        wsdbg_insert_number(&insert, a->process_id);
        wsdbg_insert_string(&insert, wsdbg_activity_kind_word(a->kind));
        wsdbg_insert_number(&insert, a->device_ordinal);
        wsdbg_insert_number(&insert, a->correlation);
        wsdbg_insert_number(&insert, (int64_t)a->start_ns);
        wsdbg_insert_number(&insert, (int64_t)a->end_ns);
        wsdbg_insert_number(&insert, (int64_t)a->stream);
        wsdbg_insert_maybe(&insert, a->kind != WSDBG_ACTIVITY_KERNEL, (int64_t)a->bytes);
        wsdbg_insert_text(&insert, a->name);
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_write_session_tables(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                               struct wsdbg_table_ids *ids)
{
    struct wsdbg_error *error = ids_alloc(ids, snapshot);
    if (!error)
        error = write_contexts(store, snapshot, ids->contexts);
    if (!error)
        error = write_modules(store, snapshot, ids);
    if (!error)
        error = write_names(store, snapshot, ids);
    if (!error)
        error = write_functions(store, snapshot, ids);
    if (!error)
        error = write_launches(store, snapshot, ids);
    if (!error)
        error = write_activities(store, snapshot);
    return error;
}
