/* host_rows.c - writes and reads the tables host_process, host_stack and host_frame: what the program's threads did, as
 * a picture has it. */
#include "store/host_frames.h"
#include "store/load_internal.h"
#include "store/tables.h"
#include "store/words.h"

/* ---- writing ---- */

struct writer {
    struct wsdbg_store *store;
    const struct wsdbg_snapshot *snapshot;
    struct wsdbg_insert processes, stacks, frames;
};

void wsdbg_write_frame(struct wsdbg_insert *insert, int64_t stack_id, uint32_t position,
                       const struct wsdbg_host_frame *frame)
{
    wsdbg_insert_number(insert, stack_id);
    wsdbg_insert_number(insert, position);
    wsdbg_insert_string(insert, wsdbg_host_frame_kind_name(frame->kind));
    wsdbg_insert_text(insert, frame->function);
    wsdbg_insert_text(insert, frame->file);
    wsdbg_insert_u32(insert, frame->line);
    wsdbg_insert_text(insert, frame->module);
    wsdbg_insert_u64(insert, frame->offset_bytes);
    wsdbg_insert_maybe(insert, frame->kind == WSDBG_HOST_FRAME_LEFT_OUT, frame->left_out);
    wsdbg_insert_row(insert);
}

static void write_stack(struct writer *w, int64_t process_id, const struct wsdbg_host_stack *k)
{
    const struct wsdbg_snapshot *s = w->snapshot;
    wsdbg_insert_number(&w->stacks, process_id);
    wsdbg_insert_number(&w->stacks, k->thread_id);
    wsdbg_insert_text(&w->stacks, k->name);
    wsdbg_insert_text(&w->stacks, k->motion != WSDBG_HOST_MOTION_UNKNOWN ? wsdbg_host_motion_name(k->motion) : NULL);
    wsdbg_insert_text(&w->stacks, k->system_call);
    wsdbg_insert_text(&w->stacks, k->end);
    wsdbg_insert_row(&w->stacks);
    const int64_t id = sqlite3_last_insert_rowid(w->store->db);
    for (uint32_t i = 0; i < k->frame_count && k->frame_first + i < s->host_frame_count; i++)
        wsdbg_write_frame(&w->frames, id, i, &s->host_frames[k->frame_first + i]);
}

static void write_process(struct writer *w, uint32_t index)
{
    const struct wsdbg_snapshot *s = w->snapshot;
    const struct wsdbg_host_process *p = &s->host_processes[index];
    wsdbg_insert_number(&w->processes, w->store->snapshot_id);
    wsdbg_insert_number(&w->processes, p->process_id);
    wsdbg_insert_u32(&w->processes, p->threads);
    wsdbg_insert_text(&w->processes, p->python);
    wsdbg_insert_text(&w->processes, p->obstacle);
    wsdbg_insert_number(&w->processes, (int64_t)p->read_ns);
    wsdbg_insert_row(&w->processes);
    const int64_t id = sqlite3_last_insert_rowid(w->store->db);
    for (size_t i = 0; i < s->host_stack_count; i++)
        if (s->host_stacks[i].process == index)
            write_stack(w, id, &s->host_stacks[i]);
}

struct wsdbg_error *wsdbg_write_host(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct writer w = {.store = store, .snapshot = s};
    if (s->host_process_count == 0)
        return NULL;
    wsdbg_insert_begin(&w.processes, store,
                       "INSERT INTO host_process (snapshot_id, process_id, threads, python, obstacle, read_ns) "
                       "VALUES (?, ?, ?, ?, ?, ?)");
    wsdbg_insert_begin(&w.stacks, store,
                       "INSERT INTO host_stack (host_process_id, thread_id, name, motion, system_call, ends) "
                       "VALUES (?, ?, ?, ?, ?, ?)");
    wsdbg_insert_begin(&w.frames, store,
                       "INSERT INTO host_frame (host_stack_id, position, kind, function, file, line, module, "
                       "offset_bytes, left_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < s->host_process_count; i++)
        write_process(&w, i);
    struct wsdbg_error *errors[] = {wsdbg_insert_end(&w.processes), wsdbg_insert_end(&w.stacks),
                                    wsdbg_insert_end(&w.frames)};
    struct wsdbg_error *first = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (first)
            wsdbg_error_destroy(errors[i]);
        else
            first = errors[i];
    }
    return first;
}

/* ---- reading ---- */

static const char *motion_word(unsigned value)
{
    return wsdbg_host_motion_name(value);
}

static const char *kind_word(unsigned value)
{
    return wsdbg_host_frame_kind_name(value);
}

static struct wsdbg_error *load_processes(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, threads, python, obstacle, read_ns FROM host_process "
                       "WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->host_processes, &s->host_processes,
                                                   &s->host_process_count, sizeof *s->host_processes)) {
        struct wsdbg_host_process *p = &s->host_processes[s->host_process_count - 1];
        p->process_id = (uint32_t)wsdbg_select_number(&q);
        p->threads = wsdbg_select_u32(&q);
        wsdbg_select_text(&q, p->python, sizeof p->python);
        wsdbg_select_text(&q, p->obstacle, sizeof p->obstacle);
        p->read_ns = (uint64_t)wsdbg_select_number(&q);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_stacks(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT k.id, k.host_process_id, k.thread_id, k.name, k.motion, k.system_call, k.ends "
                       "FROM host_stack k JOIN host_process p ON p.id = k.host_process_id "
                       "WHERE p.snapshot_id = ?1 ORDER BY k.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->host_stacks, &s->host_stacks, &s->host_stack_count, sizeof *s->host_stacks)) {
        struct wsdbg_host_stack *k = &s->host_stacks[s->host_stack_count - 1];
        k->process = wsdbg_id_map_find(&loader->host_processes, wsdbg_select_number(&q));
        k->thread_id = (uint32_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, k->name, sizeof k->name);
        k->motion =
            wsdbg_word_value(wsdbg_select_string(&q), motion_word, WSDBG_HOST_MOTION_COUNT, WSDBG_HOST_MOTION_UNKNOWN);
        wsdbg_select_text(&q, k->system_call, sizeof k->system_call);
        wsdbg_select_text(&q, k->end, sizeof k->end);
    }
    return wsdbg_select_end(&q);
}

void wsdbg_read_frame(struct wsdbg_select *select, struct wsdbg_host_frame *out)
{
    out->kind = wsdbg_word_value(wsdbg_select_string(select), kind_word, WSDBG_HOST_FRAME_KINDS, 0);
    wsdbg_select_text(select, out->function, sizeof out->function);
    wsdbg_select_text(select, out->file, sizeof out->file);
    out->line = wsdbg_select_u32(select);
    wsdbg_select_text(select, out->module, sizeof out->module);
    out->offset_bytes = wsdbg_select_u64(select);
    out->left_out = (uint32_t)wsdbg_select_number(select);
}

static struct wsdbg_error *load_frames(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT f.host_stack_id, f.kind, f.function, f.file, f.line, f.module, f.offset_bytes, "
                       "f.left_out FROM host_frame f JOIN host_stack k ON k.id = f.host_stack_id "
                       "JOIN host_process p ON p.id = k.host_process_id WHERE p.snapshot_id = ?1 "
                       "ORDER BY f.host_stack_id, f.position, f.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &s->host_frames, &s->host_frame_count, sizeof *s->host_frames)) {
        struct wsdbg_host_frame *f = &s->host_frames[s->host_frame_count - 1];
        f->stack = wsdbg_id_map_find(&loader->host_stacks, wsdbg_select_number(&q));
        wsdbg_read_frame(&q, f);
        if (f->stack < s->host_stack_count)
            wsdbg_load_count(&s->host_stacks[f->stack].frame_first, &s->host_stacks[f->stack].frame_count,
                             s->host_frame_count - 1);
    }
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_host(struct wsdbg_loader *loader)
{
    struct wsdbg_error *error = load_processes(loader);
    if (!error)
        error = load_stacks(loader);
    return error ? error : load_frames(loader);
}
