/* host_stack.c - see host_stack.h.  Reads: rows of a snapshot.  Writes: text. */
#include "model/host_stack.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/place.h"
#include "model/process.h"

enum { FRAMES_MOST = 512, OUTER_SHOWN = 3, INNER_SHOWN = 7, FRAME_TEXT_BYTES = WSDBG_HOST_FUNCTION_BYTES + 96 };

const char *wsdbg_host_call_of(const struct wsdbg_host_thread *threads, size_t count, uint32_t process_id,
                               uint32_t thread_id)
{
    for (size_t i = 0; i < count; i++)
        if (threads[i].process_id == process_id && threads[i].thread_id == thread_id)
            return threads[i].call;
    return "";
}

void wsdbg_host_thread_text(const char *process, bool is_main, const struct wsdbg_host_stack *stack, char *out,
                            size_t bytes)
{
    if (is_main)
        snprintf(out, bytes, "main thread of %s", process);
    else
        snprintf(out, bytes, "thread %" PRIu32 "%s%s%s of %s", stack->thread_id, stack->name[0] ? " (" : "",
                 stack->name, stack->name[0] ? ")" : "", process);
}

void wsdbg_host_motion_text(const struct wsdbg_host_stack *stack, char *out, size_t bytes)
{
    out[0] = '\0';
    if (stack->motion == WSDBG_HOST_SLEEPS && stack->system_call[0])
        snprintf(out, bytes, ", sleeps in %s", stack->system_call);
    else if (stack->motion != WSDBG_HOST_MOTION_UNKNOWN)
        snprintf(out, bytes, ", %s", wsdbg_host_motion_name(stack->motion));
}

static bool frames_are_alike(const struct wsdbg_host_frame *a, const struct wsdbg_host_frame *b)
{
    return a->kind == b->kind && a->line.known == b->line.known && a->line.value == b->line.value &&
           a->offset_bytes.known == b->offset_bytes.known && a->offset_bytes.value == b->offset_bytes.value &&
           a->left_out == b->left_out && strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->module, b->module) == 0;
}

bool wsdbg_host_stacks_are_alike(const struct wsdbg_host_stack *a, const struct wsdbg_host_stack *b,
                                 const struct wsdbg_host_frame *frames)
{
    if (a->process != b->process || a->motion != b->motion || a->frame_count != b->frame_count ||
        strcmp(a->system_call, b->system_call) != 0 || strcmp(a->end, b->end) != 0)
        return false;
    for (uint32_t i = 0; i < a->frame_count; i++)
        if (!frames_are_alike(&frames[a->frame_first + i], &frames[b->frame_first + i]))
            return false;
    return true;
}

/* ---- frames ---- */

/* A module's file is often called __init__.py: the folder tells which. */
static const char *short_path(const char *path)
{
    const char *name = wsdbg_place_file(path);
    if (strcmp(name, "__init__.py") != 0 || name - path < 2)
        return name;
    const char *folder = name - 2;
    while (folder > path && *folder != '/')
        folder--;
    return *folder == '/' ? folder + 1 : folder;
}

static void python_text(const struct wsdbg_host_frame *frame, char *out, size_t bytes)
{
    char line[16] = "?";
    if (frame->line.known)
        snprintf(line, sizeof line, "%" PRIu32, frame->line.value);
    snprintf(out, bytes, "%s:%s in %s", frame->file[0] ? short_path(frame->file) : "?", line,
             frame->function[0] ? frame->function : "?");
}

bool wsdbg_host_frame_is_simulators(const struct wsdbg_host_frame *frame)
{
    static const char folder[] = "/wsdbg/sim/";
    const char *found = frame->kind == WSDBG_HOST_FRAME_NATIVE ? strstr(frame->module, folder) : NULL;
    return found && found + strlen(folder) == wsdbg_place_file(frame->module);
}

/* A function as its source has it: without what GCC adds to the names of copies and parts of it. */
static void function_text(const char *function, char *out, size_t bytes)
{
    static const char *const added[] = {".isra.", ".constprop.", ".part.", ".cold", ".lto_priv."};
    size_t length = strlen(function);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *found = strstr(function, added[i]);
        if (found && found > function && (size_t)(found - function) < length)
            length = (size_t)(found - function);
    }
    snprintf(out, bytes, "%.*s", (int)length, function);
}

/* A line of the simulator's tells a reader nothing about the program. */
static void native_text(const struct wsdbg_host_frame *frame, char *out, size_t bytes)
{
    const char *module = frame->module[0] ? wsdbg_place_file(frame->module) : "?";
    char function[sizeof frame->function];
    function_text(frame->function, function, sizeof function);
    if (frame->function[0] && frame->line.known && frame->file[0] && !wsdbg_host_frame_is_simulators(frame))
        snprintf(out, bytes, "%s:%" PRIu32 " in %s", wsdbg_place_file(frame->file), frame->line.value, function);
    else if (frame->function[0])
        snprintf(out, bytes, "%s", function);
    else if (frame->offset_bytes.known)
        snprintf(out, bytes, "%s+0x%" PRIx64, module, frame->offset_bytes.value);
    else
        snprintf(out, bytes, "%s", module);
}

void wsdbg_host_frame_text(const struct wsdbg_host_frame *frame, char *out, size_t bytes)
{
    if (frame->kind == WSDBG_HOST_FRAME_LEFT_OUT)
        snprintf(out, bytes, "%" PRIu32 " frame%s", frame->left_out, frame->left_out == 1 ? "" : "s");
    else if (frame->kind == WSDBG_HOST_FRAME_PYTHON)
        python_text(frame, out, bytes);
    else
        native_text(frame, out, bytes);
}

/* ---- a stack ---- */

bool wsdbg_host_frame_is_ours(const struct wsdbg_host_frame *frame)
{
    return frame->kind == WSDBG_HOST_FRAME_NATIVE &&
           strncmp(wsdbg_place_file(frame->module), "libwsdbg-", strlen("libwsdbg-")) == 0;
}

/* What is worth a place in the line, the innermost first. */
struct shown {
    const struct wsdbg_host_frame *frames[FRAMES_MOST];
    size_t count;
    bool has_call; /* a frame of wsdbg's own stands for the call */
};

bool wsdbg_host_frame_is_start(const struct wsdbg_host_frame *frame)
{
    static const char *const starts[] = {
        "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(frame->function, starts[i]) == 0)
            return true;
    return false;
}

/* Those with a name that tells something. */
static bool has_name(const struct wsdbg_host_frame *frame)
{
    return !wsdbg_host_frame_is_start(frame) && (frame->kind != WSDBG_HOST_FRAME_NATIVE || frame->function[0]);
}

static void choose(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames, bool named,
                   const char *call, struct shown *out)
{
    out->count = 0;
    out->has_call = false;
    for (uint32_t i = 0; i < stack->frame_count && out->count < FRAMES_MOST; i++) {
        const struct wsdbg_host_frame *frame = &frames[stack->frame_first + i];
        if (wsdbg_host_frame_is_ours(frame)) {
            if (!call[0] || out->has_call)
                continue;
            out->has_call = true;
            out->count = 0; /* what the driver calls in turn is its own */
        } else if (named && !has_name(frame)) {
            continue;
        }
        out->frames[out->count++] = frame;
    }
}

static void append(char *out, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, bytes - used, format, arguments);
    va_end(arguments);
}

static void choose_some(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames, const char *call,
                        struct shown *out)
{
    choose(stack, frames, true, call, out);
    if (out->count == 0)
        choose(stack, frames, false, call, out);
}

static void append_frame(const struct wsdbg_host_frame *frame, const char *between, const char *call, char *out,
                         size_t bytes)
{
    char text[FRAME_TEXT_BYTES];
    wsdbg_host_frame_text(frame, text, sizeof text);
    append(out, bytes, "%s%s", out[0] ? between : "", wsdbg_host_frame_is_ours(frame) ? call : text);
}

static void append_end(const struct wsdbg_host_stack *stack, char *out, size_t bytes)
{
    if (!out[0])
        snprintf(out, bytes, "?");
    if (stack->end[0])
        append(out, bytes, " (%s)", stack->end);
}

void wsdbg_host_stack_text(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames,
                           const char *call, char *out, size_t bytes)
{
    struct shown shown;
    out[0] = '\0';
    choose_some(stack, frames, call, &shown);
    for (size_t i = 0; i < shown.count; i++) {
        if (shown.count > OUTER_SHOWN + INNER_SHOWN && i == OUTER_SHOWN) {
            i = shown.count - INNER_SHOWN;
            append(out, bytes, " > …");
        }
        append_frame(shown.frames[shown.count - 1 - i], " > ", call, out, bytes);
    }
    if (call[0] && !shown.has_call)
        append(out, bytes, "%s%s", out[0] ? " > " : "", call);
    append_end(stack, out, bytes);
}

void wsdbg_host_stack_levels(const struct wsdbg_host_stack *stack, const struct wsdbg_host_frame *frames,
                             const char *call, char *out, size_t bytes)
{
    struct shown shown;
    out[0] = '\0';
    choose_some(stack, frames, call, &shown);
    if (call[0] && !shown.has_call)
        append(out, bytes, "%s", call);
    for (size_t i = 0; i < shown.count; i++)
        append_frame(shown.frames[i], " < ", call, out, bytes);
    append_end(stack, out, bytes);
}

bool wsdbg_host_stack_is_main(const struct wsdbg_snapshot *snapshot, const struct wsdbg_host_stack *stack,
                              uint32_t process_id)
{
    return stack->process < snapshot->host_process_count &&
           snapshot->host_processes[stack->process].process_id == process_id &&
           wsdbg_process_is_main(snapshot, process_id, stack->thread_id);
}

static const struct wsdbg_host_frame *innermost_python(const struct wsdbg_snapshot *s,
                                                       const struct wsdbg_host_stack *stack)
{
    for (uint32_t f = stack->frame_first; f - stack->frame_first < stack->frame_count && f < s->host_frame_count; f++)
        if (s->host_frames[f].kind == WSDBG_HOST_FRAME_PYTHON)
            return &s->host_frames[f];
    return NULL;
}

bool wsdbg_host_python_line(const struct wsdbg_snapshot *snapshot, uint32_t process, char *out, size_t bytes)
{
    bool known = false;
    out[0] = '\0';
    for (size_t i = 0; i < snapshot->host_stack_count; i++) {
        const struct wsdbg_host_stack *stack = &snapshot->host_stacks[i];
        if (!wsdbg_host_stack_is_main(snapshot, stack, snapshot->processes[process].process_id))
            continue;
        const struct wsdbg_host_frame *frame = innermost_python(snapshot, stack);
        if (frame) {
            wsdbg_host_frame_text(frame, out, bytes);
            return true;
        }
        known = known || !stack->end[0];
    }
    return known;
}
