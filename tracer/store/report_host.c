/* report_host.c - the report's host stacks: what threads of the program did, as text and as JSON.
 * Reads a snapshot, then a report; writes text and JSON. */
#include "store/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/host_stack.h"
#include "store/json_rows.h"

enum { BLOCKED_LINES = 5, STACK_LINES = 5, PROCESS_LINES = 8 };

/* ---- gathering ---- */

static bool copy_rows(const void *rows, size_t count, size_t bytes, void **out, size_t *out_count)
{
    *out = calloc(count + 1, bytes);
    if (!*out)
        return false;
    if (count > 0)
        memcpy(*out, rows, count * bytes);
    *out_count = count;
    return true;
}

bool wsdbg_report_gather_host(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->stacks = calloc(s->host_stack_count + 1, sizeof *r->stacks);
    if (!r->stacks ||
        !copy_rows(s->host_processes, s->host_process_count, sizeof *s->host_processes, (void **)&r->host_processes,
                   &r->host_process_count) ||
        !copy_rows(s->host_frames, s->host_frame_count, sizeof *s->host_frames, (void **)&r->frames, &r->frame_count))
        return false;
    for (size_t i = 0; i < s->host_stack_count; i++) {
        const struct wsdbg_host_stack *k = &s->host_stacks[i];
        if (k->process >= s->host_process_count || k->frame_first > s->host_frame_count ||
            k->frame_count > s->host_frame_count - k->frame_first)
            continue;
        struct wsdbg_report_stack *out = &r->stacks[r->stack_count++];
        out->row = *k;
        out->process_id = s->host_processes[k->process].process_id;
        out->is_main = wsdbg_process_is_main(s, out->process_id, k->thread_id);
        wsdbg_process_short_text(s, out->process_id, out->process);
        snprintf(out->call, sizeof out->call, "%s",
                 wsdbg_host_call_of(s->threads, s->thread_count, out->process_id, k->thread_id));
    }
    return true;
}

void wsdbg_report_process_words(const struct wsdbg_report *r, uint32_t process_id, char out[WSDBG_PROCESS_BYTES])
{
    snprintf(out, WSDBG_PROCESS_BYTES, "process %" PRIu32, process_id);
    for (size_t i = 0; i < r->process_count; i++)
        if (r->processes[i].process_id == process_id)
            snprintf(out, WSDBG_PROCESS_BYTES, "%s", r->processes[i].name);
}

/* ---- text ---- */

enum { LINE_BYTES = WSDBG_HOST_THREAD_TEXT_BYTES + WSDBG_HOST_STACK_TEXT_BYTES + 160 };

static void put_line(const struct wsdbg_sheet *out, const char *line)
{
    wsdbg_report_wrap(out, NULL, "  - ", line);
}

void wsdbg_report_stack_words(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack, char *thread,
                              size_t thread_bytes, char *text, size_t text_bytes)
{
    char motion[WSDBG_HOST_MOTION_TEXT_BYTES];
    const size_t used = WSDBG_HOST_THREAD_TEXT_BYTES;
    wsdbg_host_thread_text(stack->process, stack->is_main, &stack->row, thread, used);
    wsdbg_host_motion_text(&stack->row, motion, sizeof motion);
    snprintf(thread + strlen(thread), thread_bytes - strlen(thread), "%s", motion);
    wsdbg_host_stack_text(&stack->row, r->frames, stack->call, text, text_bytes);
}

static const struct wsdbg_report_stack *stack_of(const struct wsdbg_report *r, const struct wsdbg_report_thread *thread)
{
    for (size_t i = 0; i < r->stack_count; i++)
        if (r->stacks[i].process_id == thread->process_id && r->stacks[i].row.thread_id == thread->thread_id)
            return &r->stacks[i];
    return NULL;
}

static void blocked_line(const struct wsdbg_report *r, const struct wsdbg_report_thread *t,
                         const struct wsdbg_sheet *out)
{
    const struct wsdbg_report_stack *stack = stack_of(r, t);
    char thread[WSDBG_HOST_THREAD_TEXT_BYTES], text[WSDBG_HOST_STACK_TEXT_BYTES] = "";
    char motion[WSDBG_HOST_MOTION_TEXT_BYTES] = "", time[32] = "?", line[LINE_BYTES];
    wsdbg_host_thread_text(t->process, t->is_main,
                           stack ? &stack->row : &(struct wsdbg_host_stack){.thread_id = t->thread_id}, thread,
                           sizeof thread);
    if (t->waiting_ns.known)
        wsdbg_duration_text(t->waiting_ns.value, time, sizeof time);
    if (stack)
        wsdbg_host_stack_text(&stack->row, r->frames, stack->call, text, sizeof text);
    if (stack && stack->row.motion != WSDBG_HOST_SLEEPS) /* a thread that waits is expected to sleep */
        wsdbg_host_motion_text(&stack->row, motion, sizeof motion);
    snprintf(line, sizeof line, "%s in %s for %s%s%s%s", thread, t->call[0] ? t->call : "?", time, motion,
             stack ? ": " : "", text);
    put_line(out, line);
}

/* How many threads do the same as this one; 0 = it stands in a line of its own, or an earlier one stands for it. */
static size_t alike(const struct wsdbg_report *r, size_t stack)
{
    size_t count = 0;
    for (size_t i = 0; i < r->stack_count && !r->stacks[stack].call[0]; i++) {
        if (r->stacks[i].call[0] || !wsdbg_host_stacks_are_alike(&r->stacks[i].row, &r->stacks[stack].row, r->frames))
            continue;
        if (i < stack)
            return 0;
        count++;
    }
    return count;
}

static void other_line(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack, size_t count,
                       const struct wsdbg_sheet *out)
{
    char thread[WSDBG_HOST_THREAD_TEXT_BYTES + WSDBG_HOST_MOTION_TEXT_BYTES], text[WSDBG_HOST_STACK_TEXT_BYTES];
    char more[48] = "", line[LINE_BYTES];
    wsdbg_report_stack_words(r, stack, thread, sizeof thread, text, sizeof text);
    if (count > 1)
        snprintf(more, sizeof more, ", and %zu more like it", count - 1);
    snprintf(line, sizeof line, "%s%s: %s", thread, more, text);
    put_line(out, line);
}

static size_t stacks_of(const struct wsdbg_report *r, uint32_t process)
{
    size_t count = 0;
    for (size_t i = 0; i < r->stack_count; i++)
        count += r->stacks[i].row.process == process;
    return count;
}

static void obstacle_line(const struct wsdbg_report *r, uint32_t index, const struct wsdbg_sheet *out)
{
    const struct wsdbg_host_process *p = &r->host_processes[index];
    char process[WSDBG_PROCESS_BYTES], line[sizeof p->obstacle + WSDBG_PROCESS_BYTES + 32];
    if (!p->obstacle[0])
        return;
    wsdbg_report_process_words(r, p->process_id, process);
    snprintf(line, sizeof line, "%s stacks of %s: %s", stacks_of(r, index) ? "not all" : "no", process, p->obstacle);
    put_line(out, line);
}

/* "Host threads (3 of 12)"; without the numbers where a process's threads could not be counted. */
static void title_line(const struct wsdbg_report *r, const char *heading, const struct wsdbg_sheet *out)
{
    uint64_t threads = 0;
    bool known = true;
    for (size_t i = 0; i < r->host_process_count; i++) {
        threads += r->host_processes[i].threads.value;
        known &= r->host_processes[i].threads.known;
    }
    if (known)
        wsdbg_report_line(out, heading, "Host threads (%zu of %" PRIu64 ")", r->stack_count, threads);
    else
        wsdbg_report_line(out, heading, "Host threads");
}

void wsdbg_report_host_lines(const struct wsdbg_report *r, const char *heading, const struct wsdbg_sheet *out)
{
    size_t shown = 0, lines = 0;
    title_line(r, heading, out);
    for (size_t i = 0; i < r->thread_count && i < BLOCKED_LINES; i++)
        blocked_line(r, &r->threads[i], out);
    if (r->thread_count > BLOCKED_LINES)
        wsdbg_report_line(out, NULL, "  … and %zu more in a call (@threads)", r->thread_count - BLOCKED_LINES);
    for (size_t i = 0; i < r->stack_count && lines < STACK_LINES; i++) {
        const size_t count = alike(r, i);
        if (count > 0) {
            other_line(r, &r->stacks[i], count, out);
            lines++;
        }
        shown += count;
    }
    for (size_t i = 0; i < r->stack_count; i++)
        shown += r->stacks[i].call[0] != '\0';
    if (r->stack_count > shown)
        wsdbg_report_line(out, NULL, "  … and %zu more stacks (@host-stacks)", r->stack_count - shown);
    for (uint32_t i = 0; i < r->host_process_count && i < PROCESS_LINES; i++)
        obstacle_line(r, i, out);
}

/* ---- JSON ---- */

json_t *wsdbg_json_frame(const struct wsdbg_host_frame *f)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(wsdbg_host_frame_kind_name(f->kind)));
    json_object_set_new(row, "function", wsdbg_json_text(f->function));
    json_object_set_new(row, "file", wsdbg_json_text(f->file));
    json_object_set_new(row, "line", wsdbg_json_u32(f->line));
    json_object_set_new(row, "module", wsdbg_json_text(f->module));
    json_object_set_new(row, "offset_bytes", wsdbg_json_u64(f->offset_bytes));
    json_object_set_new(row, "frames_left_out",
                        wsdbg_json_number_or_null(f->kind == WSDBG_HOST_FRAME_LEFT_OUT, f->left_out));
    return row;
}

static json_t *stack_json(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack)
{
    const struct wsdbg_host_stack *k = &stack->row;
    json_t *row = json_object(), *frames = json_array();
    json_object_set_new(row, "thread_id", json_integer(k->thread_id));
    json_object_set_new(row, "name", wsdbg_json_text(k->name));
    json_object_set_new(row, "motion",
                        k->motion == WSDBG_HOST_MOTION_UNKNOWN ? json_null()
                                                               : json_string(wsdbg_host_motion_name(k->motion)));
    json_object_set_new(row, "system_call", wsdbg_json_text(k->system_call));
    json_object_set_new(row, "call", wsdbg_json_text(stack->call));
    json_object_set_new(row, "ends", wsdbg_json_text(k->end));
    for (uint32_t i = 0; i < k->frame_count; i++)
        json_array_append_new(frames, wsdbg_json_frame(&r->frames[k->frame_first + i]));
    json_object_set_new(row, "frames", frames);
    return row;
}

json_t *wsdbg_json_host(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < r->host_process_count; i++) {
        const struct wsdbg_host_process *p = &r->host_processes[i];
        json_t *row = json_object(), *stacks = json_array();
        json_object_set_new(row, "process_id", json_integer(p->process_id));
        json_object_set_new(row, "threads", wsdbg_json_u32(p->threads));
        json_object_set_new(row, "python", wsdbg_json_text(p->python));
        json_object_set_new(row, "obstacle", wsdbg_json_text(p->obstacle));
        json_object_set_new(row, "read_ns", wsdbg_json_number(p->read_ns));
        for (size_t k = 0; k < r->stack_count; k++)
            if (r->stacks[k].row.process == i)
                json_array_append_new(stacks, stack_json(r, &r->stacks[k]));
        json_object_set_new(row, "stacks", stacks);
        json_array_append_new(array, row);
    }
    return array;
}
