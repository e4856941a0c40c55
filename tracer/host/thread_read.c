/* thread_read.c - see thread_read.h.  Reads: the process's memory, what /proc tells of the thread.  Writes: nothing. */
#include "host/thread_read.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "host/python_lines.h"

enum { TRIES = 3 };

static const char torn[] = "it changed while it was read";

/* ---- Python ---- */

static bool read_stack(const struct wsdbg_host_reader *reader, const struct wsdbg_host_choice *choice,
                       struct wsdbg_python_stack *out)
{
    uint64_t frame;
    out->count = 0;
    out->left_out = 0;
    out->end = NULL;
    if (!choice->has_python)
        return true;
    if (!wsdbg_python_thread_frame(reader->python, reader->memory, &choice->python, &frame)) {
        out->end = torn;
        return false;
    }
    wsdbg_python_stack_read(reader->python, reader->memory, frame, out);
    return out->end == NULL;
}

struct wsdbg_host_python_row wsdbg_host_python_row(const struct wsdbg_host_reader *reader,
                                                   const struct wsdbg_python_frame *frame)
{
    struct wsdbg_host_python_row row = {.frame.kind = WSDBG_HOST_FRAME_PYTHON, .is_entry = frame->is_entry};
    const struct wsdbg_python_code *code = wsdbg_python_code_at(reader->codes, frame->code);
    if (!code)
        return row;
    memcpy(row.frame.function, code->function, sizeof row.frame.function);
    memcpy(row.frame.file, code->file, sizeof row.frame.file);
    if (code->lines)
        row.frame.line = wsdbg_python_line(reader->python->layout.lines, code->lines, code->lines_bytes,
                                           code->first_line, frame->offset_bytes);
    return row;
}

static void name_frames(const struct wsdbg_host_reader *reader, const struct wsdbg_python_stack *stack,
                        struct wsdbg_host_thread_picture *out)
{
    out->python_count = 0;
    for (size_t i = 0; i < stack->count; i++) {
        if (i == WSDBG_PYTHON_INNER_FRAMES && stack->left_out > 0)
            out->python[out->python_count++] = (struct wsdbg_host_python_row){
                .frame.kind = WSDBG_HOST_FRAME_LEFT_OUT,
                .frame.left_out = stack->left_out < UINT32_MAX ? (uint32_t)stack->left_out : UINT32_MAX};
        out->python[out->python_count++] = wsdbg_host_python_row(reader, &stack->frames[i]);
    }
    out->python_end = stack->end;
}

/* The outermost frames alone, and without a line the one that the thread goes on in. */
static void keep_common(struct wsdbg_host_thread_picture *out, struct wsdbg_python_agreement same)
{
    const size_t count = same.frames + same.goes_on_in;
    if (count < out->python_count)
        memmove(out->python, out->python + (out->python_count - count), count * sizeof *out->python);
    out->python_count = count < out->python_count ? count : out->python_count;
    if (same.goes_on_in && out->python_count > 0)
        out->python[0].frame.line = (struct wsdbg_optional_u32){0};
    out->python_end = torn;
}

/* ---- one reading, and a second one ---- */

static void read_native(const struct wsdbg_host_reader *reader, const struct wsdbg_host_moment *moment,
                        struct wsdbg_host_thread_picture *out)
{
    out->native.count = 0;
    out->native.end = NULL;
    if (moment->in_kernel && reader->modules)
        wsdbg_native_unwind(reader->modules, reader->memory,
                            &(struct wsdbg_native_start){.pc = moment->pc, .sp = moment->sp}, &out->native);
}

/* True when the thread slept all the time. */
static bool read_once(const struct wsdbg_host_reader *reader, const struct wsdbg_host_choice *choice,
                      struct wsdbg_host_moment *before, struct wsdbg_python_stack *stack,
                      struct wsdbg_host_thread_picture *out)
{
    wsdbg_host_memory_forget(reader->memory);
    *before = wsdbg_host_moment_of(reader->process, choice->thread_id);
    read_stack(reader, choice, stack);
    name_frames(reader, stack, out);
    read_native(reader, before, out);
    const struct wsdbg_host_moment after = wsdbg_host_moment_of(reader->process, choice->thread_id);
    return wsdbg_host_moments_are_one(before, &after);
}

static struct wsdbg_python_agreement read_again(const struct wsdbg_host_reader *reader,
                                                const struct wsdbg_host_choice *choice,
                                                const struct wsdbg_python_stack *first)
{
    struct wsdbg_python_stack second;
    wsdbg_host_memory_forget(reader->memory);
    read_stack(reader, choice, &second);
    return wsdbg_python_stacks_agree(first, &second);
}

/* A broadcast, say, wakes a thread for a moment.  On a busy machine it takes the thread a while to sleep again. */
static bool falls_asleep(const struct wsdbg_host_reader *reader, const struct wsdbg_host_choice *choice)
{
    bool sleeps = false;
    while (*reader->patience_ms > 0 && !sleeps && !wsdbg_host_memory_is_late(reader->memory)) {
        poll(NULL, 0, 1);
        --*reader->patience_ms;
        sleeps = wsdbg_host_moment_of(reader->process, choice->thread_id).in_kernel;
    }
    return sleeps;
}

static bool is_over(int error)
{
    return error == ENOENT || error == ESRCH;
}

static enum wsdbg_host_motion motion_of(const struct wsdbg_host_moment *moment, bool sleeps, bool all)
{
    if (sleeps)
        return WSDBG_HOST_SLEEPS;
    if (!all)
        return WSDBG_HOST_MOVES;
    return moment->known ? WSDBG_HOST_RUNS : WSDBG_HOST_MOTION_UNKNOWN;
}

void wsdbg_host_thread_read(const struct wsdbg_host_reader *reader, const struct wsdbg_host_choice *choice,
                            struct wsdbg_host_thread_picture *out)
{
    struct wsdbg_python_stack stack;
    struct wsdbg_host_moment moment = {0};
    struct wsdbg_python_agreement same = {0};
    bool sleeps = false;
    for (int i = 0; i < TRIES && !sleeps && (!same.all || (moment.known && falls_asleep(reader, choice))); i++) {
        sleeps = read_once(reader, choice, &moment, &stack, out);
        if (!sleeps)
            same = read_again(reader, choice, &stack);
    }
    out->is_gone = !moment.known && is_over(moment.error);
    out->motion = motion_of(&moment, sleeps, same.all);
    out->system_call = sleeps ? moment.call : -1;
    if (!sleeps) {
        out->native.count = 0;
        out->native.end = NULL;
    }
    if (out->motion == WSDBG_HOST_MOVES)
        keep_common(out, same);
}
