/* fake_hang.c - a program that looks like one whose kernel hangs (or crawls): it writes the shared segment of its
 * session itself, as the observer and the GPU would, and then sleeps.
 *
 * usage: fake_hang MODE
 *   hang    the producer warp has exited, the consumer warp waits for it on full[0]
 *   slow    one warp runs without a sign of progress: nobody can say that it hangs
 *   bulk    both warps wait for bulk stores: no rule knows why they do not end
 *   ptx     as hang, of a module whose source file is not there and whose image is kept: PTX
 *   stubborn  as hang, and SIGTERM is ignored
 *   parent  as hang, with a child process that sleeps
 *   leaves  as hang, and the program ends by itself with status 9 after a second
 *   healthy both warps exit
 *   fault   as hang, but after 200 ms the kernel ends with CUDA error 719, and the program with status 7
 *   mapped  as hang, of a ring that the GPU maps, and the program stops itself by SIGSTOP
 *   busy    one warp writes events, all of kinds that leave its slot as it is, and the program ends after a second
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/segment_writer.h"

enum { PRODUCER, CONSUMER };
enum { FULL = 0, STAGES = 2, LIFE_MS = 20000, LEAVES_AFTER_MS = 1000 };

static const struct wsdbg_name names[] = {
    {.kind = WSDBG_NAME_ROLE, .id = PRODUCER, .name = "producer"},
    {.kind = WSDBG_NAME_ROLE, .id = CONSUMER, .name = "consumer"},
    {.kind = WSDBG_NAME_MBARRIER,
     .id = FULL,
     .stages = STAGES,
     .arriving_roles = 1u << PRODUCER,
     .waiting_roles = 1u << CONSUMER,
     .name = "full"},
    {.kind = WSDBG_NAME_SOURCE, .id = 0, .name = "pipeline.cu"}, /* the last one: for the mode ptx alone */
};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static struct segment_warp start_warp(struct segment_writer *writer, uint32_t module, uint32_t warp, uint32_t role)
{
    struct segment_warp made = {.module = module, .grid_id = 1, .ctas = 1, .warp = warp, .warps = 2, .sm_warp = warp};
    segment_writer_begin(writer, &made);
    segment_writer_role(writer, &made, role);
    return made;
}

/* Returns the producer. */
static struct segment_warp write_warps(struct segment_writer *writer, uint32_t module, const char *mode)
{
    struct segment_warp producer = start_warp(writer, module, 0, PRODUCER);
    segment_writer_event(writer, &producer,
                         (struct segment_event){WSDBG_EVENT_MBARRIER_INIT, FULL, 0, 0, WSDBG_NO_ITERATION, 1});
    if (strcmp(mode, "slow") == 0 || strcmp(mode, "busy") == 0)
        return producer;
    struct segment_warp consumer = start_warp(writer, module, 1, CONSUMER);
    if (strcmp(mode, "bulk") == 0) {
        const struct segment_event wait = {.kind = WSDBG_EVENT_BULK_WAIT_BEGIN, .iteration = WSDBG_NO_ITERATION};
        segment_writer_event(writer, &producer, wait);
        segment_writer_event(writer, &consumer, wait);
        return producer;
    }
    segment_writer_event(writer, &producer,
                         (struct segment_event){.kind = WSDBG_EVENT_EXIT, .iteration = WSDBG_NO_ITERATION});
    if (strcmp(mode, "healthy") == 0)
        segment_writer_event(writer, &consumer,
                             (struct segment_event){.kind = WSDBG_EVENT_EXIT, .iteration = WSDBG_NO_ITERATION});
    else
        segment_writer_event(writer, &consumer,
                             (struct segment_event){WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FULL, 0, 0, 0, SITE(77, 32)});
    return producer;
}

/* The observer's part: the image that the module was loaded from. */
static void keep_image(struct segment_writer *writer, uint32_t module)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d-%u.image", getenv("WSDBG_SPOOL"), (int)getpid(), module);
    FILE *image = fopen(path, "w");
    assert_non_null(image);
    fputs(".visible .entry pipeline_kernel()\n{\n.loc 1 77 5\nret;\n}\n.file 1 \"/src/pipeline.cu\"\n", image);
    fclose(image);
    segment_writer_segment(writer)->modules[module].image_kept = 1;
}

static struct segment_writer *write_segment(const char *session, const char *mode, struct segment_warp *producer)
{
    struct segment_writer *writer = segment_writer_create_shm(session, (uint32_t)getpid());
    uint32_t context = segment_writer_context(writer, 1, 64, 16);
    if (strcmp(mode, "mapped") == 0)
        segment_writer_map_ring(writer, context);
    const bool ptx = strcmp(mode, "ptx") == 0;
    uint32_t module = segment_writer_module(writer, context, names, ptx ? NAME_COUNT : NAME_COUNT - 1);
    if (ptx)
        keep_image(writer, module);
    uint32_t function = segment_writer_function(writer, module, "pipeline_kernel", 168);
    segment_writer_launch(
        writer,
        &(struct segment_launch){
            .function = function, .context = context, .ctas = 1, .threads = 64, .thread_id = (uint32_t)getpid()});
    *producer = write_warps(writer, module, mode);
    return writer;
}

/* The observer's part: histories are copied out when wsdbg asks. */
static void serve_history(struct segment_writer *writer)
{
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    uint32_t asked = __atomic_load_n(&segment->history_request, __ATOMIC_ACQUIRE);
    if (asked == __atomic_load_n(&segment->history_done, __ATOMIC_RELAXED))
        return;
    segment_writer_copy_history(writer);
    segment->contexts[0].history_copied = asked;
    __atomic_store_n(&segment->history_done, asked, __ATOMIC_RELEASE);
}

/* The GPU's part where the mode has one: a warp that moves and never comes to a milestone. */
static void write_event(struct segment_writer *writer, struct segment_warp *warp)
{
    segment_writer_event(writer, warp,
                         (struct segment_event){.kind = WSDBG_EVENT_WGMMA_COMMIT, .iteration = warp->count});
}

/* The observer's part after an error of the GPU: the slots were copied 30 ms before. */
static void end_context(struct segment_writer *writer)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct wsdbg_context_row *row = &segment_writer_segment(writer)->contexts[0];
    row->slots_device_address = 0x7f0000000000;
    row->slots_copied_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - 30000000u;
    row->error = 719;
    __atomic_store_n(&row->state, WSDBG_CONTEXT_FAULTED, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
    const char *session = getenv("WSDBG_SESSION"), *mode = argc > 1 ? argv[1] : "hang";
    if (!session)
        return 98;
    if (strcmp(mode, "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    FILE *pid = fopen("pid", "w");
    fprintf(pid, "%d\n", (int)getpid());
    fclose(pid);
    if (strcmp(mode, "parent") == 0 && fork() == 0) {
        pid = fopen("child", "w");
        fprintf(pid, "%d\n", (int)getpid());
        fclose(pid);
        sleep(20);
        _exit(0);
    }
    puts("the program's own words");
    fflush(stdout);
    struct segment_warp producer;
    struct segment_writer *writer = write_segment(session, mode, &producer);
    if (strcmp(mode, "fault") == 0) {
        usleep(200000);
        end_context(writer);
        usleep(100000);
        return 7;
    }
    if (strcmp(mode, "mapped") == 0)
        raise(SIGSTOP);
    const bool busy = strcmp(mode, "busy") == 0;
    const bool leaves = busy || strcmp(mode, "leaves") == 0 || strcmp(mode, "healthy") == 0;
    const int life_ms = leaves ? LEAVES_AFTER_MS : strcmp(mode, "slow") == 0 ? 2 * LEAVES_AFTER_MS : LIFE_MS;
    for (int i = 0; i < life_ms; i += 5) {
        if (busy)
            write_event(writer, &producer);
        serve_history(writer);
        usleep(5000);
    }
    return 9;
}
