/* print_stacks.c - print_stacks PID [LIMIT_MS]: prints what wsdbg reads of a process's host threads, one line a frame.
 * For the tests beside it and the measurement in tests/h200/host_stacks.py; also to look at a process by hand. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/host_stacks.h"

static void print_frame(const struct wsdbg_host_frame *f)
{
    char line[16] = "?", offset[24] = "";
    if (f->kind == WSDBG_HOST_FRAME_LEFT_OUT) {
        printf("    ... %u frames\n", f->left_out);
        return;
    }
    if (f->line.known)
        snprintf(line, sizeof line, "%u", f->line.value);
    if (f->offset_bytes.known)
        snprintf(offset, sizeof offset, "+0x%" PRIx64, f->offset_bytes.value);
    printf("    %s %s%s %s:%s%s%s\n", wsdbg_host_frame_kind_name(f->kind), *f->function ? f->function : "?", offset,
           *f->file ? f->file : "?", line, *f->module ? " " : "", f->module);
}

int main(int count, char **words)
{
    struct wsdbg_snapshot s = {0};
    const struct wsdbg_host_request request = {.process_id = count > 1 ? (uint32_t)strtoul(words[1], NULL, 10) : 0};
    const uint64_t limit_ns = (count > 2 ? strtoull(words[2], NULL, 10) : 1000) * 1000000;
    struct wsdbg_error *error = wsdbg_host_stacks_read(&request, 1, limit_ns, &s);
    if (error) {
        fprintf(stderr, "print_stacks: %s\n", wsdbg_error_message(error));
        return 1;
    }
    const struct wsdbg_host_process *p = &s.host_processes[0];
    printf("process %u, %u threads, python %s, read in %.2f ms%s%s\n", p->process_id, p->threads.value,
           *p->python ? p->python : "-", (double)p->read_ns / 1e6, *p->obstacle ? ": " : "", p->obstacle);
    for (size_t i = 0; i < s.host_stack_count; i++) {
        const struct wsdbg_host_stack *t = &s.host_stacks[i];
        printf("  thread %u \"%s\" %s %s%s%s\n", t->thread_id, t->name, wsdbg_host_motion_name(t->motion),
               t->system_call, *t->end ? ", ends: " : "", t->end);
        for (uint32_t f = 0; f < t->frame_count; f++)
            print_frame(&s.host_frames[t->frame_first + f]);
    }
    wsdbg_snapshot_deinit(&s);
    return 0;
}
