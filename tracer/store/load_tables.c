/* load_tables.c - reads the session tables back: processes, contexts, modules, names, functions, launches, activities.
 */
#include "store/load_internal.h"
#include "store/tables.h"
#include "store/words.h"

#include "wsdbg/session.h"

static struct wsdbg_process_end read_end(struct wsdbg_select *q)
{
    const bool ended = wsdbg_select_or(q, 0) != 0;
    const struct wsdbg_optional_u32 status = wsdbg_select_u32(q), signal = wsdbg_select_u32(q);
    if (!ended)
        return (struct wsdbg_process_end){.kind = WSDBG_END_NONE};
    if (signal.known)
        return (struct wsdbg_process_end){WSDBG_END_SIGNAL, (int32_t)signal.value};
    if (status.known)
        return (struct wsdbg_process_end){WSDBG_END_EXITED, (int32_t)status.value};
    return (struct wsdbg_process_end){.kind = WSDBG_END_UNKNOWN};
}

/* Those that the picture knows as users of CUDA. */
static struct wsdbg_error *load_processes(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT p.process_id, coalesce(p.pid, p.process_id), p.rank, p.local_rank, p.world_size, "
                       "p.rank_from, p.job, iif(p.node_id IS NULL, NULL, p.hostname), p.ended, p.exit_status, "
                       "p.signal, m.seen_ns FROM member m JOIN process p ON p.process_id = m.process_id "
                       "WHERE m.snapshot_id = ?1 ORDER BY p.process_id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, NULL, &s->processes, &s->process_count, sizeof *s->processes)) {
        struct wsdbg_process *p = &s->processes[s->process_count - 1];
        p->process_id = (uint32_t)wsdbg_select_number(&q);
        p->pid = (uint32_t)wsdbg_select_number(&q);
        p->rank = wsdbg_select_u32(&q);
        p->local_rank = wsdbg_select_u32(&q);
        p->world_size = wsdbg_select_u32(&q);
        wsdbg_select_text(&q, p->rank_from, sizeof p->rank_from);
        wsdbg_select_text(&q, p->job, sizeof p->job);
        wsdbg_select_text(&q, p->host, sizeof p->host);
        p->end = read_end(&q);
        p->seen_ns = wsdbg_select_u64(&q);
    }
    return wsdbg_select_end(&q);
}

static void read_given(struct wsdbg_select *q, struct wsdbg_context *c)
{
    c->given_ns = wsdbg_select_u64(q);
    c->done_given_ns = wsdbg_select_u64(q);
    c->kernels = wsdbg_select_u64(q);
    c->graphs = wsdbg_select_u64(q);
    c->copies = wsdbg_select_u64(q);
    c->memsets = wsdbg_select_u64(q);
    c->others = wsdbg_select_u64(q);
}

static struct wsdbg_error *load_contexts(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, handle, device_ordinal, device_name, sm_count, compute_capability, "
                       "alive, error, state_age_ns, history_depth, history_read, gpu_now_ns, given_ns, done_given_ns, "
                       "kernels, graphs, copies, memsets, others, ring FROM context ORDER BY id",
                       0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->contexts, &s->contexts, &s->context_count, sizeof *s->contexts)) {
        struct wsdbg_context *c = &s->contexts[s->context_count - 1];
        c->process_id = (uint32_t)wsdbg_select_number(&q);
        c->handle = (uint64_t)wsdbg_select_number(&q);
        c->device_ordinal = (uint32_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, c->device_name, sizeof c->device_name);
        c->sm_count = wsdbg_select_u32(&q);
        c->compute_capability = wsdbg_select_u32(&q);
        c->alive = wsdbg_select_number(&q) != 0;
        c->error = (int32_t)wsdbg_select_number(&q);
        c->state_age_ns = wsdbg_select_u64(&q);
        c->history_depth = (uint32_t)wsdbg_select_number(&q);
        c->history_read = wsdbg_select_number(&q) != 0;
        c->gpu_now_ns = (uint64_t)wsdbg_select_number(&q);
        read_given(&q, c);
        c->ring = (enum wsdbg_ring_memory)wsdbg_word_value(wsdbg_select_string(&q), wsdbg_ring_word,
                                                           WSDBG_RING_IN_HOST + 1, WSDBG_RING_NOT_KNOWN);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_modules(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, context_id, \"row\", probed, image_bytes, image_hash, image_path "
                       "FROM module ORDER BY id",
                       0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->modules, &s->modules, &s->module_count, sizeof *s->modules)) {
        struct wsdbg_module *m = &s->modules[s->module_count - 1];
        m->process_id = (uint32_t)wsdbg_select_number(&q);
        m->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(&q));
        m->row = (uint32_t)wsdbg_select_number(&q);
        m->probed = wsdbg_select_number(&q) != 0;
        m->image_bytes = wsdbg_select_u64(&q);
        m->image_hash = wsdbg_select_u64(&q);
        wsdbg_select_text(&q, m->image_path, sizeof m->image_path);
    }
    return wsdbg_select_end(&q);
}

static void read_name(struct wsdbg_select *q, struct wsdbg_name *n)
{
    n->kind =
        (uint8_t)wsdbg_word_value(wsdbg_select_string(q), wsdbg_name_kind_word, WSDBG_NAME_MARK + 1, WSDBG_NAME_NONE);
    n->id = (uint8_t)wsdbg_select_number(q);
    wsdbg_select_text(q, n->name, sizeof n->name);
    n->stages = (uint8_t)wsdbg_select_number(q);
    n->first_free = (uint8_t)wsdbg_select_number(q);
    n->arriving_roles = (uint32_t)wsdbg_select_number(q);
    n->waiting_roles = (uint32_t)wsdbg_select_number(q);
}

/* Names are ordered by module, so that each module's lie together.  Their map is found by position. */
static struct wsdbg_error *load_names(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, module_id, kind, identifier, name, stages, first_free, arriving_roles, "
                       "waiting_roles, inferred FROM name ORDER BY module_id, position",
                       0);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->names, &s->names, &s->name_count, sizeof *s->names)) {
        const uint32_t module = wsdbg_id_map_find(&loader->modules, wsdbg_select_number(&q));
        read_name(&q, &s->names[s->name_count - 1]);
        if (module == WSDBG_NONE)
            continue;
        if (s->modules[module].names_count++ == 0)
            s->modules[module].names_first = (uint32_t)s->name_count - 1;
        const int64_t inferred = wsdbg_select_or(&q, -1);
        /* The author's come first. */
        if (inferred == 0 && s->modules[module].names_given == s->modules[module].names_count - 1)
            s->modules[module].names_given++;
        else if (inferred == 0)
            s->names[s->name_count - 1].reserved = WSDBG_NAME_OF_VARIABLE;
        s->modules[module].names_undecided |= inferred < 0;
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_functions(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, module_id, name, registers, static_shared_bytes, local_bytes, "
                       "max_threads, binary_version FROM function ORDER BY id",
                       0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->functions, &s->functions, &s->function_count, sizeof *s->functions)) {
        struct wsdbg_function *f = &s->functions[s->function_count - 1];
        f->process_id = (uint32_t)wsdbg_select_number(&q);
        f->module = wsdbg_id_map_find(&loader->modules, wsdbg_select_number(&q));
        wsdbg_select_text(&q, f->name, sizeof f->name);
        f->registers = wsdbg_select_u32(&q);
        f->static_shared_bytes = wsdbg_select_u32(&q);
        f->local_bytes = wsdbg_select_u32(&q);
        f->max_threads = wsdbg_select_u32(&q);
        f->binary_version = wsdbg_select_u32(&q);
    }
    return wsdbg_select_end(&q);
}

static void read_launch(struct wsdbg_loader *loader, struct wsdbg_select *q, struct wsdbg_launch *l)
{
    l->process_id = (uint32_t)wsdbg_select_number(q);
    l->sequence = (uint64_t)wsdbg_select_number(q);
    l->time_ns = (uint64_t)wsdbg_select_number(q);
    l->stream = (uint64_t)wsdbg_select_number(q);
    l->function = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(q));
    l->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(q));
    l->thread_id = (uint32_t)wsdbg_select_number(q);
    for (int axis = 0; axis < 3; axis++)
        l->grid[axis] = (uint32_t)wsdbg_select_number(q);
    for (int axis = 0; axis < 3; axis++)
        l->block[axis] = (uint32_t)wsdbg_select_number(q);
    for (int axis = 0; axis < 3; axis++)
        l->cluster[axis] = wsdbg_select_u32(q);
    l->dynamic_shared_bytes = (uint32_t)wsdbg_select_number(q);
    l->flags = (uint32_t)wsdbg_select_number(q);
    l->result = (int32_t)wsdbg_select_number(q);
}

/* Only the launches that were in the picture: the session may have seen many more. */
static struct wsdbg_error *load_launches(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, sequence, time_ns, stream, function_id, context_id, thread_id, grid_x, "
                       "grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z, "
                       "dynamic_shared_bytes, flags, result FROM launch "
                       "WHERE ?1 BETWEEN first_snapshot AND last_snapshot ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->launches, &s->launches, &s->launch_count, sizeof *s->launches))
        read_launch(loader, &q, &s->launches[s->launch_count - 1]);
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_activities(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT process_id, kind, device_ordinal, correlation, start_ns, end_ns, stream, bytes, name "
                       "FROM activity WHERE ?1 BETWEEN first_snapshot AND last_snapshot ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &s->activities, &s->activity_count, sizeof *s->activities)) {
        struct wsdbg_activity *a = &s->activities[s->activity_count - 1];
        a->process_id = (uint32_t)wsdbg_select_number(&q);
        a->kind = wsdbg_word_value(wsdbg_select_string(&q), wsdbg_activity_kind_word, WSDBG_ACTIVITY_SET + 1, 0);
        a->device_ordinal = (uint32_t)wsdbg_select_number(&q);
        a->correlation = (uint32_t)wsdbg_select_number(&q);
        a->start_ns = (uint64_t)wsdbg_select_number(&q);
        a->end_ns = (uint64_t)wsdbg_select_number(&q);
        a->stream = (uint64_t)wsdbg_select_number(&q);
        a->bytes = (uint64_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, a->name, sizeof a->name);
    }
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_session_tables(struct wsdbg_loader *loader)
{
    struct wsdbg_error *error = load_processes(loader);
    if (!error)
        error = load_contexts(loader);
    if (!error)
        error = load_modules(loader);
    if (!error)
        error = load_names(loader);
    if (!error)
        error = load_functions(loader);
    if (!error)
        error = load_launches(loader);
    if (!error)
        error = load_activities(loader);
    return error;
}
