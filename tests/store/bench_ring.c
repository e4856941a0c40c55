/* bench_ring.c - measures the whole way of ten million events: from the segments of ten processes, each with a full
 * chip of warps and full histories, to the session database.
 *
 *   bench_ring FILE PROCESSES   writes FILE; prints one JSON object.  measure.py runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "evidence/segment_writer.h"
#include "evidence/snapshot_build.h"
#include "store/bench.h"
#include "store/store.h"

enum { SMS = 132, SM_WARPS = 64, WARPS = 32, STAGES = 4, DEPTH = 128, PROCESSES_MAX = 32 };
enum { FULL, EMPTY };

/* A consumer's loop: it waits for a stage, uses it, gives it back; then it waits for ever. */
static void write_warp(struct segment_writer *writer, struct segment_warp *warp)
{
    segment_writer_begin(writer, warp);
    segment_writer_role(writer, warp, 1);
    for (uint32_t i = 0; warp->count < DEPTH - 1; i++) {
        const uint8_t stage = i / 3 % STAGES, parity = i / 3 / STAGES % 2;
        const struct segment_event loop[] = {
            {WSDBG_EVENT_MBARRIER_WAIT_END, FULL, stage, parity, i / 3, SITE(233, 32)},
            {WSDBG_EVENT_WGMMA_ISSUE, 0, stage, 0, i / 3, 0},
            {WSDBG_EVENT_MBARRIER_ARRIVE, EMPTY, stage, 0, i / 3, SITE(180, 1)},
        };
        segment_writer_event(writer, warp, loop[i % 3]);
    }
    segment_writer_event(writer, warp,
                         (struct segment_event){WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FULL, 0, 0, DEPTH, SITE(222, 32)});
}

static struct segment_writer *write_process(uint32_t process_id)
{
    struct segment_writer *writer = segment_writer_create(process_id);
    const uint32_t context = segment_writer_context(writer, SMS, SM_WARPS, DEPTH);
    const uint32_t module = segment_writer_module(writer, context, NULL, 0);
    const uint32_t ctas = SMS * SM_WARPS / WARPS;
    for (uint32_t i = 0; i < ctas * WARPS; i++) {
        struct segment_warp warp = {.context = context,
                                    .module = module,
                                    .grid_id = 1,
                                    .cta = i / WARPS,
                                    .ctas = ctas,
                                    .warp = i % WARPS,
                                    .warps = WARPS,
                                    .sm = i / SM_WARPS,
                                    .sm_warp = i % SM_WARPS};
        write_warp(writer, &warp);
    }
    segment_writer_copy_history(writer);
    return writer;
}

static void look(struct segment_writer *writer, struct wsdbg_tracker *tracker, uint64_t now_ns)
{
    const struct wsdbg_segment_view view = {(const unsigned char *)segment_writer_segment(writer),
                                            segment_writer_bytes(writer)};
    bench_ok(wsdbg_segment_check(&view, "bench"));
    bench_ok(wsdbg_tracker_look(tracker, &view, true, now_ns));
}

static struct wsdbg_snapshot take(struct segment_writer *const *writers, uint32_t count)
{
    const uint64_t now_ns = 5000000000;
    struct wsdbg_tracker trackers[PROCESSES_MAX] = {0};
    struct wsdbg_tracker *processes[PROCESSES_MAX];
    struct wsdbg_snapshot snapshot;
    for (uint32_t i = 0; i < count; i++) {
        look(writers[i], &trackers[i], now_ns);
        processes[i] = &trackers[i];
    }
    const struct wsdbg_build_request request = {
        .processes = processes, .process_count = count, .now_ns = now_ns, .source = "ring", .histories = true};
    bench_ok(wsdbg_snapshot_build(&request, &snapshot));
    for (uint32_t i = 0; i < count; i++)
        wsdbg_tracker_deinit(&trackers[i]);
    return snapshot;
}

static void measure(const char *path, struct segment_writer *const *writers, uint32_t count)
{
    const struct wsdbg_session_info info = {.command = "synthetic", .device = "sim", .stall_seconds = 2};
    struct wsdbg_store *store = NULL;
    bench_ok(wsdbg_store_create(path, &info, &store));
    const double start = bench_seconds();
    struct wsdbg_snapshot snapshot = take(writers, count);
    const double taken = bench_seconds();
    bench_ok(wsdbg_store_snapshot(store, &snapshot));
    wsdbg_store_close(store);
    const double closed = bench_seconds();
    printf("{\"ring_events\": %zu, \"ring_snapshot_s\": %.4f, \"ring_events_per_s\": %.0f, \"ring_peak_mib\": %ld}\n",
           snapshot.history_count, taken - start, (double)snapshot.history_count / (closed - start), bench_peak_mib());
    wsdbg_snapshot_deinit(&snapshot);
}

int main(int count, char **arguments)
{
    struct segment_writer *writers[PROCESSES_MAX];
    const int processes = count == 3 ? atoi(arguments[2]) : 0;
    if (processes < 1 || processes > PROCESSES_MAX)
        return fprintf(stderr, "usage: bench_ring FILE PROCESSES (1 to %d)\n", PROCESSES_MAX), 125;
    for (int i = 0; i < processes; i++)
        writers[i] = write_process(1000 + (uint32_t)i);
    measure(arguments[1], writers, (uint32_t)processes);
    for (int i = 0; i < processes; i++)
        segment_writer_destroy(writers[i]);
    return 0;
}
