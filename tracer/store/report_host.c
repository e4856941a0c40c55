/* report_host.c - the report's host stacks: what threads of the program did, as text and as JSON.
 * Reads a snapshot, then a report; writes text and JSON. */
#include "store/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/host_stack.h"
#include "store/json_rows.h"

enum { STACK_LINES = 8, PROCESS_LINES = 8 };

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
        snprintf(out->call, sizeof out->call, "%s",
                 wsdbg_host_call_of(s->threads, s->thread_count, out->process_id, k->thread_id));
    }
    return true;
}

/* ---- text ---- */

static bool matters_most(const struct wsdbg_report_stack *stack)
{
    return stack->call[0] || stack->row.thread_id == stack->process_id;
}

void wsdbg_report_stack_words(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack, char *thread,
                              size_t thread_bytes, char *text, size_t text_bytes)
{
    wsdbg_host_thread_text(stack->process_id, &stack->row, thread, thread_bytes);
    wsdbg_host_stack_text(&stack->row, r->frames, stack->call, text, text_bytes);
}

/* How many threads do the same as this one; 0 = an earlier one does, and stands for it. */
static size_t alike(const struct wsdbg_report *r, size_t stack)
{
    size_t count = 0;
    if (matters_most(&r->stacks[stack]))
        return 1;
    for (size_t i = 0; i < r->stack_count; i++) {
        if (matters_most(&r->stacks[i]) ||
            !wsdbg_host_stacks_are_alike(&r->stacks[i].row, &r->stacks[stack].row, r->frames))
            continue;
        if (i < stack)
            return 0;
        count++;
    }
    return count;
}

static void stack_line(const struct wsdbg_report *r, const struct wsdbg_report_stack *stack, size_t count, FILE *out)
{
    char thread[WSDBG_HOST_THREAD_TEXT_BYTES], text[WSDBG_HOST_STACK_TEXT_BYTES];
    char line[sizeof thread + sizeof text + 2];
    wsdbg_host_threads_text(stack->process_id, &stack->row, count, thread, sizeof thread);
    wsdbg_host_stack_text(&stack->row, r->frames, stack->call, text, sizeof text);
    snprintf(line, sizeof line, "%s: %s", thread, text);
    wsdbg_report_wrap(out, NULL, "  - ", line);
}

static size_t stacks_of(const struct wsdbg_report *r, uint32_t process)
{
    size_t count = 0;
    for (size_t i = 0; i < r->stack_count; i++)
        count += r->stacks[i].row.process == process;
    return count;
}

static void process_line(const struct wsdbg_report *r, uint32_t index, FILE *out)
{
    const struct wsdbg_host_process *p = &r->host_processes[index];
    const size_t shown = stacks_of(r, index);
    char line[sizeof p->obstacle + 96];
    if (p->obstacle[0]) {
        snprintf(line, sizeof line, "process %" PRIu32 ": %s: %s", p->process_id,
                 shown ? "not all stacks were read" : "no stacks were read", p->obstacle);
        wsdbg_report_wrap(out, NULL, "  - ", line);
    } else if (p->threads.known && p->threads.value > shown) {
        wsdbg_report_line(out, NULL, "  - process %" PRIu32 ": %zu more thread%s", p->process_id,
                          p->threads.value - shown, p->threads.value - shown == 1 ? "" : "s");
    }
}

void wsdbg_report_stack_lines(const struct wsdbg_report *r, const char *heading, FILE *out)
{
    size_t shown = 0, lines = 0;
    if (r->host_process_count == 0)
        return;
    wsdbg_report_line(out, heading, "Host stacks");
    for (int most = 1; most >= 0; most--)
        for (size_t i = 0; i < r->stack_count && lines < STACK_LINES; i++) {
            const size_t count = matters_most(&r->stacks[i]) == (most == 1) ? alike(r, i) : 0;
            if (count == 0)
                continue;
            stack_line(r, &r->stacks[i], count, out);
            shown += count;
            lines++;
        }
    if (r->stack_count > shown)
        wsdbg_report_line(out, NULL, "  … and %zu more (@host-stacks)", r->stack_count - shown);
    for (uint32_t i = 0; i < r->host_process_count && i < PROCESS_LINES; i++)
        process_line(r, i, out);
}

/* ---- JSON ---- */

static json_t *frame_json(const struct wsdbg_host_frame *f)
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
        json_array_append_new(frames, frame_json(&r->frames[k->frame_first + i]));
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
