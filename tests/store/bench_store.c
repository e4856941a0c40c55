/* bench_store.c - measures the store on a synthetic session: every warp slot of several chips, stuck in a pipelined
 * loop, each with a full history.
 *
 *   bench_store write FILE CONTEXTS DEPTH   stores the session; prints what it took
 *   bench_store read FILE                   opens, loads and asks it; prints what that took
 *
 * Prints one JSON object.  measure.py runs it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "store/bench.h"
#include "store/load.h"

enum { SMS = 132, CTAS = SMS * 2, WARPS = 32, STAGES = 4, BARRIERS = 2 * STAGES };

static void *rows(size_t count, size_t bytes)
{
    void *array = calloc(count, bytes);
    if (!array)
        bench_ok(&wsdbg_error_no_memory);
    return array;
}

/* The producer (every fourth warp) waits on empty and arrives on full, the consumers the other way round. */
static struct wsdbg_history_event event_of(uint32_t warp, uint32_t number)
{
    static const uint8_t kinds[] = {WSDBG_EVENT_MBARRIER_WAIT_BEGIN, WSDBG_EVENT_MBARRIER_WAIT_END,
                                    WSDBG_EVENT_WGMMA_ISSUE, WSDBG_EVENT_MBARRIER_ARRIVE};
    const uint32_t iteration = number / 4;
    const bool producer = warp % 4 == 0, arrives = number % 4 == 3;
    return (struct wsdbg_history_event){.gpu_time_ns = 1000000 + number * 150 + warp,
                                        .iteration = iteration,
                                        .value = 132,
                                        .kind = kinds[number % 4],
                                        .barrier = producer != arrives,
                                        .stage = (uint8_t)(iteration % STAGES),
                                        .parity = iteration / STAGES % 2};
}

static void fill_warp(struct wsdbg_snapshot *s, uint32_t cta, uint32_t warp, uint32_t depth)
{
    struct wsdbg_warp_row *w = &s->warps[s->warp_count++];
    *w = (struct wsdbg_warp_row){.cta = cta,
                                 .warp = warp,
                                 .state = WSDBG_WARP_WAIT_MBARRIER,
                                 .role = wsdbg_known_u32(warp % 4 != 0),
                                 .line = wsdbg_known_u32(132),
                                 .barrier = cta * BARRIERS + (warp % 4 == 0 ? STAGES : 0),
                                 .registers_held = wsdbg_known_u32(168),
                                 .changed_ns = 1,
                                 .history_first = (uint32_t)s->history_count,
                                 .history_count = depth,
                                 .history_whole = true};
    for (uint32_t i = 0; i < depth; i++)
        s->history[s->history_count++] = event_of(warp, i);
    w->last = event_of(warp, depth - 1);
}

static void fill_cta(struct wsdbg_snapshot *s, uint32_t context, uint32_t x, uint32_t depth)
{
    const uint32_t cta = (uint32_t)s->cta_count++;
    s->ctas[cta] = (struct wsdbg_cta){.grid = context,
                                      .x = x,
                                      .cluster_size = 1,
                                      .sm = wsdbg_known_u32(x % SMS),
                                      .warp_first = cta * WARPS,
                                      .warp_count = WARPS};
    for (uint32_t i = 0; i < BARRIERS; i++)
        s->barriers[s->barrier_count++] = (struct wsdbg_barrier){.cta = cta,
                                                                 .kind = WSDBG_BARRIER_MBARRIER,
                                                                 .id = i / STAGES,
                                                                 .stage = i % STAGES,
                                                                 .expected_arrivals = wsdbg_known_u32(1)};
    for (uint32_t warp = 0; warp < WARPS; warp++)
        fill_warp(s, cta, warp, depth);
}

static void fill_context(struct wsdbg_snapshot *s, uint32_t context, uint32_t depth)
{
    s->contexts[context] = (struct wsdbg_context){.process_id = 77,
                                                  .handle = context,
                                                  .device_ordinal = context,
                                                  .device_name = "synthetic",
                                                  .alive = true,
                                                  .history_depth = depth,
                                                  .history_read = true,
                                                  .gpu_now_ns = event_of(WARPS - 1, depth - 1).gpu_time_ns};
    s->grids[context] = (struct wsdbg_grid){.context = context,
                                            .grid_id = context,
                                            .module = WSDBG_NONE,
                                            .launch = WSDBG_NONE,
                                            .function = WSDBG_NONE,
                                            .cta_total = CTAS,
                                            .warps_per_cta = WARPS,
                                            .cta_first = context * CTAS,
                                            .cta_count = CTAS,
                                            .warps_live = CTAS * WARPS,
                                            .running = true};
    for (uint32_t x = 0; x < CTAS; x++)
        fill_cta(s, context, x, depth);
}

static void fill(struct wsdbg_snapshot *s, uint32_t contexts, uint32_t depth)
{
    const size_t ctas = (size_t)contexts * CTAS;
    s->time_ns = 5000000000;
    s->source = "ring";
    s->contexts = rows(s->context_count = contexts, sizeof *s->contexts);
    s->grids = rows(s->grid_count = contexts, sizeof *s->grids);
    s->ctas = rows(ctas, sizeof *s->ctas);
    s->barriers = rows(ctas * BARRIERS, sizeof *s->barriers);
    s->warps = rows(ctas * WARPS, sizeof *s->warps);
    s->history = rows(ctas * WARPS * depth, sizeof *s->history);
    for (uint32_t i = 0; i < contexts; i++)
        fill_context(s, i, depth);
}

static double log_lines_per_s(struct wsdbg_store *store)
{
    enum { LINES = 20000 };
    const double start = bench_seconds();
    for (uint32_t i = 0; i < LINES; i++)
        bench_ok(wsdbg_store_log(store, i, WSDBG_LOG_STDOUT, "tile 1234 of 4096 done, residual 1.25e-06"));
    return LINES / (bench_seconds() - start);
}

static void write_session(const char *path, uint32_t contexts, uint32_t depth)
{
    const struct wsdbg_session_info info = {.command = "synthetic", .device = "sim", .stall_seconds = 2};
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_store *store = NULL;
    struct stat status;
    fill(&snapshot, contexts, depth);
    bench_ok(wsdbg_store_create(path, &info, &store));
    const double lines_per_s = log_lines_per_s(store), start = bench_seconds();
    const clock_t cpu_start = clock();
    bench_ok(wsdbg_store_snapshot(store, &snapshot));
    const double stored = bench_seconds();
    wsdbg_store_close(store);
    const double closed = bench_seconds();
    const double cpu_s = (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
    stat(path, &status);
    printf("{\"events\": %zu, \"warps\": %zu, \"store_s\": %.4f, \"close_s\": %.4f, \"events_per_s\": %.0f, "
           "\"file_mib\": %.1f, \"peak_mib\": %ld, \"log_lines_per_s\": %.0f, \"events_per_cpu_s\": %.0f}\n",
           snapshot.history_count, snapshot.warp_count, stored - start, closed - stored,
           (double)snapshot.history_count / (closed - start), (double)status.st_size / 1048576, bench_peak_mib(),
           lines_per_s, (double)snapshot.history_count / cpu_s);
    wsdbg_snapshot_deinit(&snapshot);
}

static double events_ms(struct wsdbg_store *store, const struct wsdbg_loaded *loaded)
{
    enum { ROUNDS = 500, EVENTS = 256 };
    struct wsdbg_history_event events[EVENTS];
    uint32_t got;
    const double start = bench_seconds();
    for (uint32_t i = 0; i < ROUNDS; i++)
        bench_ok(wsdbg_store_events(store, loaded, i * 7919u % (uint32_t)loaded->snapshot.warp_count, 0, EVENTS, events,
                                    &got));
    return (bench_seconds() - start) * 1e3 / ROUNDS;
}

static double ask_s(struct wsdbg_store *store, const char *query, FILE *out)
{
    const double start = bench_seconds();
    bench_ok(wsdbg_store_query(store, query, WSDBG_QUERY_CSV, 0, out));
    return bench_seconds() - start;
}

static void read_session(const char *path)
{
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    FILE *nowhere = fopen("/dev/null", "w");
    const double start = bench_seconds();
    bench_ok(wsdbg_store_open(path, &store));
    const double opened = bench_seconds();
    bench_ok(wsdbg_store_load(store, false, &loaded));
    const double read = bench_seconds();
    const double one_warp_ms = events_ms(store, &loaded);
    const long view_mib = bench_peak_mib();
    wsdbg_loaded_deinit(&loaded);
    const double before_text = bench_seconds();
    bench_ok(wsdbg_report_text(store, &(struct wsdbg_sheet){.file = nowhere}));
    const double before_json = bench_seconds();
    bench_ok(wsdbg_report_json(store, nowhere));
    const double after_json = bench_seconds();
    const double waits_s = ask_s(store, "@waits", nowhere), timeline_s = ask_s(store, "@timeline", nowhere);
    printf("{\"open_s\": %.4f, \"load_s\": %.4f, \"one_warp_ms\": %.4f, \"view_mib\": %ld, \"report_text_s\": %.4f, "
           "\"report_json_s\": %.4f, \"query_waits_s\": %.4f, \"query_timeline_s\": %.4f, \"peak_mib\": %ld}\n",
           opened - start, read - opened, one_warp_ms, view_mib, before_json - before_text, after_json - before_json,
           waits_s, timeline_s, bench_peak_mib());
    wsdbg_store_close(store);
    fclose(nowhere);
}

int main(int count, char **arguments)
{
    if (count == 5 && strcmp(arguments[1], "write") == 0)
        write_session(arguments[2], (uint32_t)atoi(arguments[3]), (uint32_t)atoi(arguments[4]));
    else if (count == 3 && strcmp(arguments[1], "read") == 0)
        read_session(arguments[2]);
    else
        return fputs("usage: bench_store write FILE CONTEXTS DEPTH | bench_store read FILE\n", stderr), 125;
    return 0;
}
