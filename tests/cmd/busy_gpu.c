/* busy_gpu.c - a program that looks like one whose kernel keeps a whole chip busy: it writes the shared segment of its
 * session itself, and goes on changing every warp's slot, as a pipelined kernel does.
 *
 * usage: busy_gpu SECONDS [CTAS [WARPS]]     132 CTAs of 12 warps by default; the first four warps of a CTA produce
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/segment_writer.h"

enum { PRODUCER, CONSUMER };
enum { FULL, EMPTY, STAGES = 4, PRODUCER_WARPS = 4, PERIOD_US = 5000, WARPS_PER_SM = 64, HISTORY = 128 };

static const struct wsdbg_name names[] = {
    {.kind = WSDBG_NAME_ROLE, .id = PRODUCER, .name = "producer"},
    {.kind = WSDBG_NAME_ROLE, .id = CONSUMER, .name = "consumer"},
    {.kind = WSDBG_NAME_MBARRIER,
     .id = FULL,
     .stages = STAGES,
     .arriving_roles = 1u << PRODUCER,
     .waiting_roles = 1u << CONSUMER,
     .name = "full"},
    {.kind = WSDBG_NAME_MBARRIER,
     .id = EMPTY,
     .stages = STAGES,
     .arriving_roles = 1u << CONSUMER,
     .waiting_roles = 1u << PRODUCER,
     .name = "empty"},
};

static uint32_t role_of(uint32_t warp)
{
    return warp < PRODUCER_WARPS ? PRODUCER : CONSUMER;
}

static struct segment_warp *start_warps(struct segment_writer *writer, uint32_t module, uint32_t ctas, uint32_t warps)
{
    struct segment_warp *all = calloc((size_t)ctas * warps, sizeof *all);
    assert_non_null(all);
    for (uint32_t i = 0; i < ctas * warps; i++) {
        uint32_t cta = i / warps, warp = i % warps;
        all[i] = (struct segment_warp){.module = module,
                                       .grid_id = 1,
                                       .cta = cta,
                                       .ctas = ctas,
                                       .warp = warp,
                                       .warps = warps,
                                       .sm = cta,
                                       .sm_warp = warp};
        segment_writer_begin(writer, &all[i]);
        segment_writer_role(writer, &all[i], role_of(warp));
    }
    return all;
}

/* One step of the pipeline: every warp begins to wait for its next stage. */
static void step(struct segment_writer *writer, struct segment_warp *all, uint32_t count, uint32_t iteration)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t barrier = role_of(all[i].warp) == PRODUCER ? EMPTY : FULL;
        uint8_t stage = (uint8_t)(iteration % STAGES), parity = (uint8_t)(iteration / STAGES % 2);
        segment_writer_event(writer, &all[i],
                             (struct segment_event){WSDBG_EVENT_MBARRIER_WAIT_BEGIN, barrier, stage, parity, iteration,
                                                    SITE(100 + barrier, 32)});
    }
}

int main(int argc, char **argv)
{
    const char *session = getenv("WSDBG_SESSION");
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint32_t ctas = argc > 2 ? (uint32_t)atoi(argv[2]) : 132, warps = argc > 3 ? (uint32_t)atoi(argv[3]) : 12;
    if (!session)
        return 98;
    struct segment_writer *writer = segment_writer_create_shm(session, (uint32_t)getpid());
    uint32_t context = segment_writer_context(writer, ctas, WARPS_PER_SM, HISTORY);
    uint32_t module = segment_writer_module(writer, context, names, sizeof names / sizeof names[0]);
    uint32_t function = segment_writer_function(writer, module, "pipeline_kernel", 168);
    segment_writer_launch(writer, &(struct segment_launch){.function = function,
                                                           .context = context,
                                                           .ctas = ctas,
                                                           .threads = warps * 32,
                                                           .thread_id = (uint32_t)getpid()});
    struct segment_warp *all = start_warps(writer, module, ctas, warps);
    for (uint32_t i = 0; i < seconds * 1e6 / PERIOD_US; i++) {
        step(writer, all, ctas * warps, i);
        usleep(PERIOD_US);
    }
    free(all);
    return 0;
}
