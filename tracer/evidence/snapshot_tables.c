/* snapshot_tables.c - the host side of a snapshot: processes, contexts, modules, names, functions, launches, threads,
 * activities and notes of every process, with row numbers turned into indexes of the snapshot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/builder.h"
#include "base/grow.h"

/* A marker that nobody has looked at for this long says nothing about now: the process is stopped, or captures. */
#define MARKER_FRESH_NS UINT64_C(1000000000)
#define MARKER_INSIDE_NS UINT64_C(250000000) /* a marker takes some microseconds to put down */

static struct wsdbg_optional_u32 known_unless(uint32_t value, uint32_t unknown)
{
    return (struct wsdbg_optional_u32){.value = value == unknown ? 0 : value, .known = value != unknown};
}

static struct wsdbg_optional_u64 known_unless_zero(uint64_t value)
{
    return (struct wsdbg_optional_u64){.value = value, .known = value != 0};
}

/* A row number of a process as an index of the snapshot. */
static uint32_t index_of(uint32_t row, uint32_t count, uint32_t base)
{
    return row < count ? base + row : WSDBG_NONE;
}

/* Not known where nobody says how the slots come here, or where they were copied after the error.  A mapped ring holds
 * what it held at the error. */
static struct wsdbg_optional_u64 state_age_ns(const struct wsdbg_tracked_context *context)
{
    if (context->ring == WSDBG_RING_IN_HOST)
        return context->fault_seen_ns ? wsdbg_known_u64(0) : (struct wsdbg_optional_u64){0};
    const uint64_t copied_ns = context->row.slots_device_address ? context->row.slots_copied_ns : 0;
    const bool known = copied_ns != 0 && context->fault_seen_ns >= copied_ns;
    return known ? wsdbg_known_u64(context->fault_seen_ns - copied_ns) : (struct wsdbg_optional_u64){0};
}

/* Since when some thread has been inside a call that waits for the context (launches: for room in its queue); 0 = none
 * is. */
static uint64_t blocked_since_ns(const struct wsdbg_tracker *tracker, uint32_t context, bool launches)
{
    uint64_t oldest_ns = 0;
    for (uint32_t i = 0; i < tracker->head.thread_count; i++) {
        struct wsdbg_thread_row row;
        if (!wsdbg_segment_read_thread(&tracker->view, i, &row) || row.context != context)
            continue;
        const bool launch = strncmp(row.call, "cuLaunch", 8) == 0 || strncmp(row.call, "cuGraphLaunch", 13) == 0;
        if ((launch || !launches) && (oldest_ns == 0 || row.since_ns < oldest_ns))
            oldest_ns = row.since_ns;
    }
    return oldest_ns;
}

/* The observer's thread has been in the driver for longer than a marker takes.  As a rule a call of the program holds
 * the context's lock. */
static bool is_kept_inside(const struct wsdbg_marker_row *marker, uint64_t now_ns)
{
    return marker->inside_ns && marker->inside_ns + MARKER_INSIDE_NS < now_ns;
}

/* A marker that the observer has not asked about for a while: it is inside the driver itself, as when the driver stands
 * still over an error of the GPU, or was kept from asking. */
static bool is_lost(const struct wsdbg_marker_row *marker, uint64_t now_ns)
{
    const uint64_t asked_ns = marker->checked_ns > marker->recorded_ns ? marker->checked_ns : marker->recorded_ns;
    return is_kept_inside(marker, now_ns) || (marker->recorded_ns && asked_ns + MARKER_FRESH_NS < now_ns);
}

/* A call that lasts then waits for something else, for example for a kernel's code to be compiled. */
static bool has_done_all(const struct wsdbg_context *context)
{
    return context->given_ns.known && context->given_ns.value <= context->done_given_ns.value;
}

/* That the driver keeps the observer's thread may mean that a call of the program waits for the GPU: the driver may
 * load a kernel's code behind a running kernel.  It also happens while the program asks for a stream's state without a
 * pause, or pins much memory.  What was given last may be what is not done. */
static uint64_t guessed_since_ns(const struct wsdbg_marker_row *marker, const struct wsdbg_context *context,
                                 uint64_t now_ns)
{
    if (!is_kept_inside(marker, now_ns) || has_done_all(context))
        return 0;
    const uint64_t since_ns = marker->recorded_ns ? marker->recorded_ns : marker->inside_ns;
    return context->given_ns.value > since_ns ? context->given_ns.value : since_ns;
}

/* Since when work is unfinished.  The marker tells.  Where a full queue or a capture keeps markers out, or no thread
 * asks them, the waiting threads tell. */
static void set_unfinished(const struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker, uint32_t index,
                           const struct wsdbg_marker_row *marker, struct wsdbg_context *out)
{
    const uint64_t now_ns = builder->request->now_ns;
    const bool in_flight = marker->recorded_ns && marker->checked_ns && marker->checked_ns + MARKER_FRESH_NS >= now_ns;
    uint64_t since_ns = blocked_since_ns(tracker, index, out->work_followed);
    bool is_guess = !in_flight && has_done_all(out);
    if (in_flight && (since_ns == 0 || marker->recorded_ns < since_ns))
        since_ns = marker->recorded_ns;
    if (since_ns == 0) {
        since_ns = guessed_since_ns(marker, out, now_ns);
        is_guess = true;
    }
    out->unfinished_ns = known_unless_zero(since_ns);
    out->unfinished_is_guess = is_guess && since_ns != 0;
}

/* What is seen of the context's work. */
static void set_work(const struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker, uint32_t index,
                     struct wsdbg_context *out)
{
    struct wsdbg_marker_row marker;
    if (!wsdbg_segment_read_marker(&tracker->view, index, &marker))
        return;
    if (marker.state != WSDBG_MARKER_NONE)
        out->done_launches = wsdbg_known_u64(marker.done_launches);
    if (!out->alive)
        return;
    out->work_followed = marker.state == WSDBG_MARKER_WORKS && !is_lost(&marker, builder->request->now_ns);
    out->hidden_ns = known_unless_zero(out->work_followed ? 0 : marker.kept_out_ns);
    set_unfinished(builder, tracker, index, &marker, out);
}

static void set_given(const struct wsdbg_tracker *tracker, uint32_t index, struct wsdbg_context *out)
{
    struct wsdbg_given_row given;
    if (!tracker->head.has_given)
        return;
    wsdbg_segment_read_given(&tracker->view, index, &given);
    out->given_ns = wsdbg_known_u64(given.given_ns);
    out->done_given_ns = known_unless_zero(given.done_given_ns);
    out->copies = wsdbg_known_u64(given.copies);
    out->memsets = wsdbg_known_u64(given.memsets);
    out->others = wsdbg_known_u64(given.others);
}

static void add_contexts(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker)
{
    for (uint32_t i = 0; i < tracker->head.context_count; i++) {
        const struct wsdbg_tracked_context *context = &tracker->contexts[i];
        const struct wsdbg_context_row *row = &context->row;
        struct wsdbg_context *out = &builder->out->contexts[builder->out->context_count++];
        *out = (struct wsdbg_context){
            .process_id = tracker->head.process_id,
            .handle = row->handle,
            .device_ordinal = row->device_ordinal,
            .sm_count = known_unless(row->sm_count, 0),
            .compute_capability = known_unless(row->compute_capability, 0),
            .alive = tracker->alive && row->state == WSDBG_CONTEXT_ALIVE,
            .slots_silent = context->silent,
            .process_ended = !tracker->alive,
            .no_network_card = tracker->head.has_no_network_card,
            .error = row->error,
            .state_age_ns = state_age_ns(context),
            .ring = row->slot_count ? context->ring : WSDBG_RING_NOT_KNOWN,
            .history_depth = row->history_depth,
            .history_read = builder->request->histories && context->mirror,
            .gpu_now_ns = context->gpu_now_ns,
        };
        memcpy(out->device_name, row->device_name, sizeof out->device_name);
        set_given(tracker, i, out);
        set_work(builder, tracker, i, out);
    }
}

/* What the kernel told at the time counts more than what the process meant to do. */
static struct wsdbg_process_end end_of(const struct wsdbg_tracker *tracker)
{
    if (tracker->alive)
        return (struct wsdbg_process_end){.kind = WSDBG_END_NONE};
    if (tracker->end.kind != WSDBG_END_NONE && tracker->end.kind != WSDBG_END_UNKNOWN)
        return tracker->end;
    if (tracker->head.exit_called)
        return (struct wsdbg_process_end){WSDBG_END_EXITED, tracker->head.exit_status & 0xff};
    return (struct wsdbg_process_end){.kind = WSDBG_END_UNKNOWN};
}

static void add_process(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker)
{
    struct wsdbg_rank_row row;
    if (tracker->head.context_count == 0)
        return;
    struct wsdbg_process *out = &builder->out->processes[builder->out->process_count++];
    *out = (struct wsdbg_process){
        .process_id = tracker->head.process_id, .pid = tracker->head.process_id, .end = end_of(tracker)};
    if (!tracker->head.has_rank || !wsdbg_segment_read_rank(&tracker->view, &row))
        return;
    out->rank = known_unless(row.rank, WSDBG_UNKNOWN32);
    out->local_rank = known_unless(row.local_rank, WSDBG_UNKNOWN32);
    out->world_size = known_unless(row.world_size, WSDBG_UNKNOWN32);
    memcpy(out->rank_from, row.rank_from, sizeof out->rank_from);
    memcpy(out->job, row.job, sizeof out->job);
}

/* A name the author gave, that there are none, or a part of the source file's path. */
static void add_name(struct wsdbg_snapshot *out, struct wsdbg_module *module, const struct wsdbg_segment_view *view,
                     uint32_t row)
{
    struct wsdbg_name *name = &out->names[out->name_count];
    wsdbg_segment_read_name(view, row, name);
    module->unnamed |= name->kind == WSDBG_NAME_INFERRED;
    if (name->kind == WSDBG_NAME_INFERRED)
        return;
    if (name->kind != WSDBG_NAME_SOURCE) {
        out->name_count++;
        module->names_count++;
        module->names_given++;
        return;
    }
    const size_t length = strlen(module->source_path);
    /* Parts come in order; one that does not fit on is not believed. */
    if (name->id < WSDBG_SOURCE_PARTS && length == name->id * WSDBG_SOURCE_PART)
        snprintf(module->source_path + length, sizeof module->source_path - length, "%s", name->name);
}

static struct wsdbg_error *add_modules(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                                       const struct wsdbg_process_base *base)
{
    struct wsdbg_snapshot *out = builder->out;
    for (uint32_t i = 0; i < tracker->head.module_count; i++) {
        struct wsdbg_module_row row;
        wsdbg_segment_read_module(&tracker->view, i, &row);
        const uint32_t names = tracker->head.name_count;
        const uint32_t first = row.names_first < names ? row.names_first : names;
        const uint32_t count = row.names_count < names - first ? row.names_count : names - first;
        if (!wsdbg_grow((void **)&out->names, &builder->capacity.names, out->name_count + count, sizeof *out->names))
            return &wsdbg_error_no_memory;
        struct wsdbg_module *module = &out->modules[out->module_count++];
        *module = (struct wsdbg_module){
            .process_id = tracker->head.process_id,
            .context = index_of(row.context, tracker->head.context_count, base->context),
            .row = i,
            .probed = row.probed == 1,
            .image_bytes = known_unless_zero(row.image_bytes),
            .image_hash = known_unless_zero(row.image_hash),
            .names_first = (uint32_t)out->name_count,
        };
        if (row.image_kept == 1)
            snprintf(module->image_path, sizeof module->image_path, "%u-%u.image", tracker->head.process_id, i);
        for (uint32_t n = 0; n < count; n++)
            add_name(out, module, &tracker->view, first + n);
    }
    return NULL;
}

static void add_functions(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                          const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.function_count; i++) {
        struct wsdbg_function_row row;
        wsdbg_segment_read_function(&tracker->view, i, &row);
        struct wsdbg_function *out = &builder->out->functions[builder->out->function_count++];
        *out = (struct wsdbg_function){
            .process_id = tracker->head.process_id,
            .module = index_of(row.module, tracker->head.module_count, base->module),
            .registers = known_unless(row.registers, WSDBG_UNKNOWN32),
            .static_shared_bytes = known_unless(row.static_shared_bytes, WSDBG_UNKNOWN32),
            .local_bytes = known_unless(row.local_bytes, WSDBG_UNKNOWN32),
            .max_threads = known_unless(row.max_threads, WSDBG_UNKNOWN32),
            .binary_version = known_unless(row.binary_version, WSDBG_UNKNOWN32),
        };
        memcpy(out->name, row.name, sizeof out->name);
    }
}

static void count_launch(struct wsdbg_snapshot *out, const struct wsdbg_launch *launch)
{
    if (launch->context >= out->context_count || launch->result != 0 ||
        (launch->flags & (WSDBG_LAUNCH_CAPTURED | WSDBG_LAUNCH_REFUSED)))
        return;
    struct wsdbg_context *context = &out->contexts[launch->context];
    (launch->flags & WSDBG_LAUNCH_GRAPH ? &context->graphs : &context->kernels)->value++;
}

/* Kernels and graphs are counted in the launch table: known as long as all are there. */
static void end_count(struct wsdbg_snapshot *out, const struct wsdbg_tracker *tracker,
                      const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.context_count; i++) {
        struct wsdbg_context *context = &out->contexts[base->context + i];
        const bool known = tracker->head.has_given && !base->launches_dropped;
        context->kernels = (struct wsdbg_optional_u64){known ? context->kernels.value : 0, known};
        context->graphs = (struct wsdbg_optional_u64){known ? context->graphs.value : 0, known};
    }
}

static void add_launches(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                         struct wsdbg_process_base *base)
{
    const uint64_t total = tracker->head.launch_count;
    const uint64_t first = total > WSDBG_LAUNCH_ROWS ? total - WSDBG_LAUNCH_ROWS : 0;
    base->launch = (uint32_t)builder->out->launch_count;
    base->launches_dropped = first > 0;
    for (uint64_t n = first; n < total; n++) {
        struct wsdbg_launch_row row;
        if (!wsdbg_segment_read_launch(&tracker->view, n, &row)) {
            base->launches_dropped = true;
            continue;
        }
        struct wsdbg_launch *out = &builder->out->launches[builder->out->launch_count++];
        *out = (struct wsdbg_launch){
            .process_id = tracker->head.process_id,
            .sequence = n,
            .time_ns = row.time_ns,
            .stream = row.stream,
            .function = index_of(row.function, tracker->head.function_count, base->function),
            .context = index_of(row.context, tracker->head.context_count, base->context),
            .thread_id = row.thread_id,
            .dynamic_shared_bytes = row.dynamic_shared_bytes,
            .flags = row.flags,
            .result = row.result,
            .graph = row.flags & WSDBG_LAUNCH_GRAPH ? row.graph : 0,
        };
        for (int axis = 0; axis < 3; axis++) {
            out->grid[axis] = row.grid[axis];
            out->block[axis] = row.block[axis];
            out->cluster[axis] = known_unless(row.cluster[axis], WSDBG_UNKNOWN32);
        }
        count_launch(builder->out, out);
    }
    end_count(builder->out, tracker, base);
    base->launch_count = (uint32_t)builder->out->launch_count - base->launch;
    builder->out->launches_total += total;
}

static void add_graph_kernels(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                              const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.graph_kernel_count; i++) {
        struct wsdbg_graph_kernel_row row;
        wsdbg_segment_read_graph_kernel(&tracker->view, i, &row);
        struct wsdbg_graph_kernel *out = &builder->out->graph_kernels[builder->out->graph_kernel_count++];
        *out = (struct wsdbg_graph_kernel){
            .process_id = tracker->head.process_id,
            .graph = row.graph,
            .function = index_of(row.function, tracker->head.function_count, base->function),
            .dynamic_shared_bytes = row.dynamic_shared_bytes,
        };
        for (int axis = 0; axis < 3; axis++) {
            out->grid[axis] = row.grid[axis];
            out->block[axis] = row.block[axis];
            out->cluster[axis] = known_unless(row.cluster[axis], WSDBG_UNKNOWN32);
        }
    }
}

/* The file in which the observer kept what a refused call was about. */
static void find_image(const struct wsdbg_snapshot *snapshot, struct wsdbg_refusal *refusal)
{
    if (refusal->row.image)
        snprintf(refusal->image_path, sizeof refusal->image_path, "%u-refused-%u.image", refusal->process_id,
                 refusal->row.image);
    else if (refusal->module != WSDBG_NONE)
        memcpy(refusal->image_path, snapshot->modules[refusal->module].image_path, sizeof refusal->image_path);
}

static void add_refusals(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                         const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.refusal_count; i++) {
        struct wsdbg_refusal *out = &builder->out->refusals[builder->out->refusal_count++];
        *out = (struct wsdbg_refusal){.process_id = tracker->head.process_id, .number = i};
        wsdbg_segment_read_refusal(&tracker->view, i, &out->row);
        out->context = index_of(out->row.context, tracker->head.context_count, base->context);
        out->function = index_of(out->row.function, tracker->head.function_count, base->function);
        out->module = index_of(out->row.module, tracker->head.module_count, base->module);
        find_image(builder->out, out);
    }
    builder->out->refusals_left_out += tracker->head.refusals_left_out;
}

static void add_allocations(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                            const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.allocation_count; i++) {
        struct wsdbg_allocation *out = &builder->out->allocations[builder->out->allocation_count];
        *out = (struct wsdbg_allocation){.process_id = tracker->head.process_id};
        if (!wsdbg_segment_read_allocation(&tracker->view, i, &out->row))
            continue;
        out->context = index_of(out->row.context, tracker->head.context_count, base->context);
        builder->out->allocation_count++;
    }
    builder->out->allocations_left_out += tracker->head.allocations_left_out;
}

static void add_threads(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                        const struct wsdbg_process_base *base)
{
    for (uint32_t i = 0; i < tracker->head.thread_count; i++) {
        struct wsdbg_thread_row row;
        /* A dead process is inside no call, whatever its last rows say. */
        if (!tracker->alive || !wsdbg_segment_read_thread(&tracker->view, i, &row))
            continue;
        struct wsdbg_host_thread *out = &builder->out->threads[builder->out->thread_count++];
        *out = (struct wsdbg_host_thread){
            .process_id = tracker->head.process_id,
            .thread_id = row.thread_id,
            .context = index_of(row.context, tracker->head.context_count, base->context),
            .since_ns = row.since_ns,
            .stream = {.value = row.stream, .known = row.stream != WSDBG_UNKNOWN64},
            .host_state = tracker->head.host_state,
        };
        memcpy(out->call, row.call, sizeof out->call);
    }
}

static void add_activities(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker)
{
    const uint64_t total = tracker->head.activity_count;
    for (uint64_t n = total > WSDBG_ACTIVITY_ROWS ? total - WSDBG_ACTIVITY_ROWS : 0; n < total; n++) {
        struct wsdbg_activity_row row;
        if (!wsdbg_segment_read_activity(&tracker->view, n, &row))
            continue;
        struct wsdbg_activity *out = &builder->out->activities[builder->out->activity_count++];
        *out = (struct wsdbg_activity){
            .process_id = tracker->head.process_id,
            .kind = row.kind,
            .device_ordinal = row.device_ordinal,
            .correlation = row.correlation,
            .start_ns = row.start_ns,
            .end_ns = row.end_ns,
            .stream = row.stream,
            .bytes = row.bytes,
        };
        memcpy(out->name, row.name, sizeof row.name);
    }
}

static void add_notes(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker)
{
    char(*out)[WSDBG_TEXT_BYTES] = &builder->out->notes[builder->out->note_count];
    wsdbg_segment_read_off_reason(&tracker->view, *out);
    if ((*out)[0])
        builder->out->note_count++;
    for (uint32_t i = 0; i < tracker->head.note_count; i++)
        wsdbg_segment_read_note(&tracker->view, i, builder->out->notes[builder->out->note_count++]);
}

static uint64_t at_most(uint64_t count, uint64_t capacity)
{
    return count < capacity ? count : capacity;
}

/* Room for every row of every process, so that adding cannot fail. */
static struct wsdbg_error *allocate(struct wsdbg_builder *builder)
{
    struct wsdbg_table_counts rows = {0};
    for (size_t i = 0; i < builder->request->process_count; i++) {
        const struct wsdbg_segment_head *head = &builder->request->processes[i]->head;
        rows.processes++;
        rows.contexts += head->context_count;
        rows.modules += head->module_count;
        rows.functions += head->function_count;
        rows.launches += at_most(head->launch_count, WSDBG_LAUNCH_ROWS);
        rows.graph_kernels += head->graph_kernel_count;
        rows.refusals += head->refusal_count;
        rows.allocations += head->allocation_count;
        rows.communicators += head->communicator_count;
        rows.collectives += (size_t)head->communicator_count * WSDBG_COLLECTIVE_ROWS;
        rows.threads += head->thread_count;
        rows.activities += at_most(head->activity_count, WSDBG_ACTIVITY_ROWS);
        rows.notes += head->note_count + 1;
    }
    builder->bases = calloc(builder->request->process_count + 1, sizeof *builder->bases);
    return builder->bases ? wsdbg_rows_reserve(builder->out, &rows) : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_build_tables(struct wsdbg_builder *builder)
{
    struct wsdbg_error *error = allocate(builder);
    for (size_t i = 0; !error && i < builder->request->process_count; i++) {
        const struct wsdbg_tracker *tracker = builder->request->processes[i];
        struct wsdbg_process_base *base = &builder->bases[i];
        base->context = (uint32_t)builder->out->context_count;
        base->module = (uint32_t)builder->out->module_count;
        base->function = (uint32_t)builder->out->function_count;
        add_process(builder, tracker);
        add_contexts(builder, tracker);
        error = add_modules(builder, tracker, base);
        add_functions(builder, tracker, base);
        add_launches(builder, tracker, base);
        add_graph_kernels(builder, tracker, base);
        add_refusals(builder, tracker, base);
        add_allocations(builder, tracker, base);
        wsdbg_build_communicators(builder, tracker, base);
        add_threads(builder, tracker, base);
        add_activities(builder, tracker);
        add_notes(builder, tracker);
    }
    return error;
}
