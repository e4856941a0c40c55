/* stack_rows.c - see stack_rows.h.
 *
 * Reads: a thread's picture.  Writes: rows of the snapshot.
 *
 * Each call of the interpreter's eval function runs one or more Python frames; the outermost of these is an entry.  So
 * native frames have a place between Python frames, as long as both counts agree.  The interpreter's own native frames
 * are left out.
 */
#include "host/stack_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "host/name_text.h"
#include "model/rows.h"

struct wsdbg_host_unnamed {
    struct wsdbg_snapshot *rows;
    struct wsdbg_native_place *places;
    size_t count, capacity;
};

struct wsdbg_error *wsdbg_host_unnamed_create(struct wsdbg_snapshot *rows, struct wsdbg_host_unnamed **out)
{
    struct wsdbg_host_unnamed *unnamed = calloc(1, sizeof *unnamed);
    if (!unnamed)
        return &wsdbg_error_no_memory;
    unnamed->rows = rows;
    *out = unnamed;
    return NULL;
}

void wsdbg_host_unnamed_destroy(struct wsdbg_host_unnamed *unnamed)
{
    if (!unnamed)
        return;
    free(unnamed->places);
    free(unnamed);
}

/* ---- one frame ---- */

/* Room was made before. */
static struct wsdbg_host_frame *add_frame(struct wsdbg_snapshot *rows)
{
    struct wsdbg_host_frame *frame = &rows->host_frames[rows->host_frame_count++];
    *frame = (struct wsdbg_host_frame){.stack = (uint32_t)rows->host_stack_count - 1};
    rows->host_stacks[rows->host_stack_count - 1].frame_count++;
    return frame;
}

static void add_python(struct wsdbg_snapshot *rows, const struct wsdbg_host_python_row *row)
{
    struct wsdbg_host_frame *frame = add_frame(rows);
    const uint32_t stack = frame->stack;
    *frame = row->frame;
    frame->stack = stack;
}

/* Only the outermost of several frames of one of wsdbg's own libraries is kept: it stands for the hooked call. */
static bool is_in_hook(const struct wsdbg_snapshot *rows, const char *path)
{
    const struct wsdbg_host_stack *stack = &rows->host_stacks[rows->host_stack_count - 1];
    const struct wsdbg_host_frame *last = stack->frame_count ? &rows->host_frames[rows->host_frame_count - 1] : NULL;
    return last && strncmp(wsdbg_host_file_name(path), "libwsdbg-", strlen("libwsdbg-")) == 0 &&
           strcmp(wsdbg_host_file_name(last->module), wsdbg_host_file_name(path)) == 0;
}

static void add_native(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                       const struct wsdbg_native_frame *native)
{
    const struct wsdbg_host_maps *maps = wsdbg_host_modules_maps(reader->modules);
    struct wsdbg_snapshot *rows = unnamed->rows;
    if (native->file < maps->file_count && is_in_hook(rows, maps->files[native->file].path)) {
        unnamed->places[unnamed->count - 1].address = native->address;
        rows->host_frames[rows->host_frame_count - 1].offset_bytes = wsdbg_known_u64(native->address);
        return;
    }
    struct wsdbg_host_frame *frame = add_frame(rows);
    frame->kind = WSDBG_HOST_FRAME_NATIVE;
    if (native->file >= maps->file_count)
        return;
    wsdbg_host_name_put(maps->files[native->file].path, frame->module, sizeof frame->module);
    frame->offset_bytes = wsdbg_known_u64(native->address);
    unnamed->places[unnamed->count++] = (struct wsdbg_native_place){
        .file = native->file, .address = native->address, .frame = (uint32_t)rows->host_frame_count - 1};
}

/* ---- the order of both kinds ---- */

static bool is_eval(const struct wsdbg_python *python, const struct wsdbg_native_frame *native)
{
    return python && native->pc - python->eval_first < python->eval_bytes;
}

static bool is_of_python(const struct wsdbg_python *python, const struct wsdbg_native_frame *native)
{
    return python && native->file == python->file;
}

/* A cut native stack may have fewer calls of the interpreter, never more. */
static bool fits(const struct wsdbg_host_thread_picture *p, const struct wsdbg_python *python)
{
    size_t evals = 0, entries = 0;
    for (size_t i = 0; i < p->native.count; i++)
        evals += is_eval(python, &p->native.frames[i]);
    for (size_t i = 0; i < p->python_count; i++) {
        entries += p->python[i].is_entry;
        if (p->python[i].frame.kind == WSDBG_HOST_FRAME_LEFT_OUT)
            return false;
    }
    return evals > 0 && (p->native.end || p->python_end ? evals <= entries : evals == entries);
}

/* The Python frames that one call of the interpreter runs: up to the next entry.  Returns how many are done. */
static size_t add_run(struct wsdbg_snapshot *rows, const struct wsdbg_host_thread_picture *p, size_t done)
{
    bool is_entry = false;
    while (done < p->python_count && !is_entry) {
        is_entry = p->python[done].is_entry;
        add_python(rows, &p->python[done++]);
    }
    return done;
}

static void add_by_turns(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                         const struct wsdbg_host_thread_picture *p)
{
    size_t done = 0;
    for (size_t i = 0; i < p->native.count && done < p->python_count; i++) {
        if (is_eval(reader->python, &p->native.frames[i]))
            done = add_run(unnamed->rows, p, done);
        else if (!is_of_python(reader->python, &p->native.frames[i]))
            add_native(unnamed, reader, &p->native.frames[i]);
    }
    while (done < p->python_count)
        add_python(unnamed->rows, &p->python[done++]);
}

/* What runs further in than the interpreter, then all Python frames; where there are none, all native ones. */
static void add_one_by_one(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                           const struct wsdbg_host_thread_picture *p)
{
    for (size_t i = 0; i < p->native.count; i++) {
        if (p->python_count > 0 && is_of_python(reader->python, &p->native.frames[i]))
            break;
        add_native(unnamed, reader, &p->native.frames[i]);
    }
    for (size_t i = 0; i < p->python_count; i++)
        add_python(unnamed->rows, &p->python[i]);
}

/* ---- a stack ---- */

static struct wsdbg_error *make_room(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_thread_picture *p)
{
    const struct wsdbg_table_counts more = {.host_stacks = 1, .host_frames = p->python_count + p->native.count};
    if (!wsdbg_grow((void **)&unnamed->places, &unnamed->capacity, unnamed->count + p->native.count + 1,
                    sizeof *unnamed->places))
        return &wsdbg_error_no_memory;
    return wsdbg_rows_reserve(unnamed->rows, &more);
}

/* Native frames that end before they come to the interpreter leave a gap; those that end further out are not shown. */
static const char *end_of(const struct wsdbg_host_thread_picture *p, const struct wsdbg_python *python)
{
    bool reached = false;
    for (size_t i = 0; i < p->native.count; i++)
        reached |= is_of_python(python, &p->native.frames[i]);
    if (p->python_end)
        return p->python_end;
    return p->native.end && (p->python_count == 0 || !reached) ? p->native.end : "";
}

struct wsdbg_error *wsdbg_host_stack_add(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                                         uint32_t thread_id, const struct wsdbg_host_thread_picture *picture)
{
    struct wsdbg_snapshot *rows = unnamed->rows;
    const bool by_turns = fits(picture, reader->python);
    struct wsdbg_error *error = make_room(unnamed, picture);
    if (error)
        return error;
    struct wsdbg_host_stack *stack = &rows->host_stacks[rows->host_stack_count++];
    *stack = (struct wsdbg_host_stack){.process = (uint32_t)rows->host_process_count - 1,
                                       .thread_id = thread_id,
                                       .motion = picture->motion,
                                       .frame_first = (uint32_t)rows->host_frame_count};
    char name[WSDBG_HOST_THREAD_NAME_BYTES];
    wsdbg_host_thread_name(reader->process, thread_id, name);
    wsdbg_host_name_put(name, stack->name, sizeof stack->name);
    wsdbg_host_call_name(picture->system_call, stack->system_call, sizeof stack->system_call);
    snprintf(stack->end, sizeof stack->end, "%s", end_of(picture, reader->python));
    if (by_turns)
        add_by_turns(unnamed, reader, picture);
    else
        add_one_by_one(unnamed, reader, picture);
    return NULL;
}

void wsdbg_host_stacks_name(struct wsdbg_host_unnamed *unnamed, const struct wsdbg_host_reader *reader,
                            struct wsdbg_native_inlines *inlines)
{
    if (reader->modules)
        wsdbg_native_name(reader->modules, reader->memory, unnamed->places, unnamed->count, unnamed->rows->host_frames,
                          inlines);
    unnamed->count = 0;
}
