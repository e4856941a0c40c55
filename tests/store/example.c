/* example.c - see example.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARPS = 12, STAGES = 2, SECOND = 1000000000 };
#define STARTED 1000000000000ull
#define TAKEN (STARTED + 5ull * SECOND)

static void *rows(size_t count, size_t bytes)
{
    void *array = calloc(count + 1, bytes);
    assert_non_null(array);
    return array;
}

static void fill_session(struct example *e)
{
    e->info = (struct wsdbg_session_info){.command = "./gemm --bug parity-wrong",
                                          .wsdbg_version = "0.1.0",
                                          .device = "gpu",
                                          .observer = "driver",
                                          .evidence = "ring",
                                          .hostname = "host",
                                          .started_unix_ns = 1700000000000000000ull,
                                          .started_ns = STARTED,
                                          .stall_seconds = 2};
    e->end = (struct wsdbg_session_end){.exit_status = 124,
                                        .hang = true,
                                        .outcome = "killed after a hang",
                                        .stalled_ns = TAKEN - 85000000,
                                        .verdict_ns = TAKEN,
                                        .ended_ns = TAKEN + 100000000};
}

/* The main thread waits for thread 78, which waits for the GPU. */
static void fill_host(struct wsdbg_snapshot *s)
{
    s->host_processes = rows(s->host_process_count = 1, sizeof *s->host_processes);
    s->host_processes[0] = (struct wsdbg_host_process){
        .process_id = 77, .threads = wsdbg_known_u32(9), .python = "3.12.1", .read_ns = 3200000};
    s->host_stacks = rows(s->host_stack_count = 2, sizeof *s->host_stacks);
    s->host_stacks[0] = (struct wsdbg_host_stack){
        .thread_id = 77, .name = "python3", .motion = WSDBG_HOST_SLEEPS, .system_call = "futex", .frame_count = 2};
    s->host_stacks[1] = (struct wsdbg_host_stack){.thread_id = 78,
                                                  .name = "trainer",
                                                  .motion = WSDBG_HOST_MOVES,
                                                  .frame_first = 2,
                                                  .frame_count = 3,
                                                  .end = "it changed while it was read"};
    s->host_frames = rows(s->host_frame_count = 5, sizeof *s->host_frames);
    s->host_frames[0] = (struct wsdbg_host_frame){.kind = WSDBG_HOST_FRAME_NATIVE,
                                                  .module = "/usr/lib/libc.so.6",
                                                  .function = "pthread_cond_wait",
                                                  .offset_bytes = wsdbg_known_u64(0x1e7)};
    s->host_frames[1] = (struct wsdbg_host_frame){.kind = WSDBG_HOST_FRAME_PYTHON,
                                                  .function = "<module>",
                                                  .file = "/home/me/train.py",
                                                  .line = wsdbg_known_u32(40)};
    s->host_frames[2] = (struct wsdbg_host_frame){
        .stack = 1, .kind = WSDBG_HOST_FRAME_PYTHON, .function = "synchronize", .file = "/usr/torch/cuda/__init__.py"};
    s->host_frames[3] = (struct wsdbg_host_frame){.stack = 1, .kind = WSDBG_HOST_FRAME_LEFT_OUT, .left_out = 9876};
    s->host_frames[4] = (struct wsdbg_host_frame){.stack = 1,
                                                  .kind = WSDBG_HOST_FRAME_PYTHON,
                                                  .function = "Trainer.step",
                                                  .file = "/home/me/train.py",
                                                  .line = wsdbg_known_u32(12)};
}

static void fill_tables(struct wsdbg_snapshot *s)
{
    s->processes = rows(s->process_count = 1, sizeof *s->processes);
    s->processes[0] = (struct wsdbg_process){.process_id = 77, .pid = 77};
    s->contexts = rows(s->context_count = 1, sizeof *s->contexts);
    s->contexts[0] = (struct wsdbg_context){.process_id = 77,
                                            .handle = 0xabc0,
                                            .device_name = "NVIDIA H200",
                                            .sm_count = wsdbg_known_u32(132),
                                            .compute_capability = wsdbg_known_u32(90),
                                            .alive = true,
                                            .history_depth = 128,
                                            .history_read = true,
                                            .gpu_now_ns = 90000};
    s->modules = rows(s->module_count = 1, sizeof *s->modules);
    s->modules[0] = (struct wsdbg_module){
        .process_id = 77, .probed = true, .names_count = 4, .names_given = 4, .image_bytes = wsdbg_known_u64(40960)};
    s->names = rows(s->name_count = 4, sizeof *s->names);
    s->names[0] = (struct wsdbg_name){.kind = WSDBG_NAME_ROLE, .id = 0, .name = "producer"};
    s->names[1] = (struct wsdbg_name){.kind = WSDBG_NAME_ROLE, .id = 1, .name = "consumer"};
    s->names[2] = (struct wsdbg_name){.kind = WSDBG_NAME_MBARRIER,
                                      .id = 0,
                                      .stages = STAGES,
                                      .arriving_roles = 1,
                                      .waiting_roles = 2,
                                      .name = "full"};
    s->names[3] = (struct wsdbg_name){.kind = WSDBG_NAME_MBARRIER,
                                      .id = 1,
                                      .stages = STAGES,
                                      .first_free = 1,
                                      .arriving_roles = 2,
                                      .waiting_roles = 1,
                                      .name = "empty"};
    s->functions = rows(s->function_count = 1, sizeof *s->functions);
    s->functions[0] = (struct wsdbg_function){
        .process_id = 77, .name = "_Z11gemm_kernelILi128EEvPv", .registers = wsdbg_known_u32(168)};
    s->launches = rows(s->launch_count = 1, sizeof *s->launches);
    s->launches[0] = (struct wsdbg_launch){.process_id = 77,
                                           .sequence = 4,
                                           .time_ns = STARTED + SECOND,
                                           .stream = 0x10,
                                           .thread_id = 78,
                                           .grid = {132, 1, 1},
                                           .block = {384, 1, 1},
                                           .cluster = {wsdbg_known_u32(2), wsdbg_known_u32(1), wsdbg_known_u32(1)},
                                           .dynamic_shared_bytes = 205824};
    s->launches_total = 5;
    s->threads = rows(s->thread_count = 1, sizeof *s->threads);
    s->threads[0] = (struct wsdbg_host_thread){.process_id = 77,
                                               .thread_id = 78,
                                               .call = "cuStreamSynchronize",
                                               .since_ns = TAKEN - 4ull * SECOND,
                                               .stream = wsdbg_known_u64(0x10)};
    fill_host(s);
    s->notes = rows(s->note_count = 1, sizeof *s->notes);
    snprintf(s->notes[0], sizeof s->notes[0], "one graph launch was not recorded");
}

static void fill_barriers(struct wsdbg_snapshot *s, uint32_t cta)
{
    for (uint32_t id = 0; id < 2; id++)
        for (uint32_t stage = 0; stage < STAGES; stage++)
            s->barriers[s->barrier_count++] = (struct wsdbg_barrier){.cta = cta,
                                                                     .kind = WSDBG_BARRIER_MBARRIER,
                                                                     .id = id,
                                                                     .stage = stage,
                                                                     .name = &s->names[2 + id],
                                                                     .expected_arrivals = wsdbg_known_u32(id ? 2 : 1),
                                                                     .phase = wsdbg_known_u32(0),
                                                                     .pending_arrivals = wsdbg_known_u32(id ? 2 : 1),
                                                                     .completed_phases = wsdbg_known_u32(0),
                                                                     .waiters = stage == 0 ? (id ? 4 : 8) : 0};
}

static void fill_warp(struct wsdbg_snapshot *s, uint32_t cta, uint32_t warp, uint32_t depth)
{
    const bool producer = warp < 4;
    const uint32_t line = producer ? 212 : 260;
    struct wsdbg_warp_row *w = &s->warps[s->warp_count++];
    *w = (struct wsdbg_warp_row){.cta = cta,
                                 .warp = warp,
                                 .state = WSDBG_WARP_WAIT_MBARRIER,
                                 .role = wsdbg_known_u32(producer ? 0 : 1),
                                 .line = wsdbg_known_u32(line),
                                 .lanes = wsdbg_known_u32(1),
                                 .barrier = cta * 2 * STAGES + (producer ? STAGES : 0),
                                 .registers_held = wsdbg_known_u32(producer ? 40 : 232),
                                 .changed_ns = TAKEN - 2ull * SECOND - 100000000,
                                 .history_whole = true,
                                 .history_first = (uint32_t)s->history_count,
                                 .history_count = depth};
    w->last = (struct wsdbg_history_event){.gpu_time_ns = 80000 + warp,
                                           .iteration = 0,
                                           .value = line,
                                           .kind = WSDBG_EVENT_MBARRIER_WAIT_BEGIN,
                                           .barrier = producer ? 1 : 0};
    for (uint32_t i = 0; i < depth; i++) {
        struct wsdbg_history_event *event = &s->history[s->history_count++];
        *event = (struct wsdbg_history_event){.gpu_time_ns = 70000 + i,
                                              .iteration = WSDBG_NO_ITERATION,
                                              .kind = i == 0 ? WSDBG_EVENT_BEGIN : WSDBG_EVENT_ROLE_BEGIN,
                                              .value = producer ? 0 : 1};
        if (i + 1 == depth)
            *event = w->last;
    }
}

static void fill_picture(struct wsdbg_snapshot *s, uint32_t ctas, uint32_t depth)
{
    s->time_ns = TAKEN;
    s->progress_ns = TAKEN - 2ull * SECOND;
    s->source = "ring";
    s->grids = rows(s->grid_count = 1, sizeof *s->grids);
    s->grids[0] = (struct wsdbg_grid){.grid_id = 9,
                                      .cta_total = ctas,
                                      .warps_per_cta = WARPS,
                                      .cta_count = ctas,
                                      .warps_live = ctas * WARPS,
                                      .running = true};
    s->ctas = rows(s->cta_count = ctas, sizeof *s->ctas);
    s->warps = rows(ctas * WARPS, sizeof *s->warps);
    s->barriers = rows(ctas * 2 * STAGES, sizeof *s->barriers);
    s->history = rows((size_t)ctas * WARPS * depth, sizeof *s->history);
    for (uint32_t cta = 0; cta < ctas; cta++) {
        s->ctas[cta] = (struct wsdbg_cta){.x = cta,
                                          .cluster_id = cta / 2,
                                          .cluster_rank = cta % 2,
                                          .cluster_size = 2,
                                          .sm = wsdbg_known_u32(cta),
                                          .warp_first = cta * WARPS,
                                          .warp_count = WARPS};
        fill_barriers(s, cta);
        for (uint32_t warp = 0; warp < WARPS; warp++)
            fill_warp(s, cta, warp, depth);
    }
}

static void fill_diagnosis(struct example *e)
{
    struct wsdbg_diagnosis *d = &e->diagnosis;
    d->hang = true;
    d->findings = rows(d->finding_count = 1, sizeof *d->findings);
    struct wsdbg_finding *f = &d->findings[0];
    *f = (struct wsdbg_finding){.cause = WSDBG_CAUSE_PARITY_WRONG,
                                .confidence = WSDBG_CONFIDENCE_PROVEN,
                                .cta_count = (uint32_t)e->snapshot.cta_count,
                                .role = wsdbg_known_u32(0),
                                .barrier = STAGES,
                                .sentence = "The producer's first wait on empty[0] asks for parity 0, which no arrival "
                                            "has completed yet.",
                                .fix = "Start the producer's parity at 1."};
    f->evidence = rows(f->evidence_count = 2, sizeof *f->evidence);
    f->evidence[0] = (struct wsdbg_evidence_row){
        WSDBG_EVIDENCE_WARP, 0, WSDBG_NONE, 0, "warp 0 waits on empty[0] with parity 0 before anybody arrived", {0}};
    f->evidence[1] = (struct wsdbg_evidence_row){
        WSDBG_EVIDENCE_BARRIER, WSDBG_NONE, STAGES, WSDBG_NONE, "empty[0] has 2 of 2 arrivals pending", {0}};
    d->edges = rows(d->edge_count = 2, sizeof *d->edges);
    d->edges[0] = (struct wsdbg_edge){0, STAGES, 4, true, "declared"};
    d->edges[1] = (struct wsdbg_edge){4, 0, 0, true, "declared"};
}

void example_hang(struct example *e, uint32_t ctas, uint32_t depth)
{
    *e = (struct example){0};
    fill_session(e);
    fill_tables(&e->snapshot);
    fill_picture(&e->snapshot, ctas, depth);
    fill_diagnosis(e);
}

void example_unknown(struct example *e)
{
    *e = (struct example){0};
    e->info = (struct wsdbg_session_info){.started_ns = STARTED, .stall_seconds = 2};
    struct wsdbg_snapshot *s = &e->snapshot;
    s->time_ns = TAKEN;
    s->modules = rows(s->module_count = 1, sizeof *s->modules);
    s->modules[0] = (struct wsdbg_module){.process_id = 77, .context = WSDBG_NONE};
    s->functions = rows(s->function_count = 1, sizeof *s->functions);
    s->functions[0] = (struct wsdbg_function){.process_id = 77, .module = WSDBG_NONE, .name = "k"};
    s->launches = rows(s->launch_count = 1, sizeof *s->launches);
    s->launches[0] = (struct wsdbg_launch){.process_id = 77, .function = WSDBG_NONE, .context = WSDBG_NONE};
    s->threads = rows(s->thread_count = 1, sizeof *s->threads);
    s->threads[0] = (struct wsdbg_host_thread){.process_id = 77, .context = WSDBG_NONE, .call = "cuCtxSynchronize"};
    s->host_processes = rows(s->host_process_count = 1, sizeof *s->host_processes);
    s->host_processes[0] = (struct wsdbg_host_process){.process_id = 77, .obstacle = "there was no time to read it"};
    s->host_stacks = rows(s->host_stack_count = 1, sizeof *s->host_stacks);
    s->host_stacks[0] = (struct wsdbg_host_stack){.thread_id = 79, .frame_count = 1};
    s->host_frames = rows(s->host_frame_count = 1, sizeof *s->host_frames);
    s->host_frames[0] = (struct wsdbg_host_frame){.kind = WSDBG_HOST_FRAME_NATIVE};
    s->grids = rows(s->grid_count = 1, sizeof *s->grids);
    s->grids[0] = (struct wsdbg_grid){.context = WSDBG_NONE,
                                      .module = WSDBG_NONE,
                                      .launch = WSDBG_NONE,
                                      .function = WSDBG_NONE,
                                      .cta_total = 1,
                                      .warps_per_cta = 1,
                                      .cta_count = 1,
                                      .running = true};
    s->ctas = rows(s->cta_count = 1, sizeof *s->ctas);
    s->ctas[0] = (struct wsdbg_cta){.cluster_size = 1, .warp_count = 1};
    s->barriers = rows(s->barrier_count = 1, sizeof *s->barriers);
    s->barriers[0] = (struct wsdbg_barrier){.kind = WSDBG_BARRIER_MBARRIER};
    s->warps = rows(s->warp_count = 1, sizeof *s->warps);
    s->warps[0] = (struct wsdbg_warp_row){.state = WSDBG_WARP_WAIT_MBARRIER, .barrier = WSDBG_NONE};
    s->history = rows(s->history_count = 0, sizeof *s->history);
}

void example_quiet(struct example *e, uint32_t launches)
{
    *e = (struct example){0};
    fill_session(e);
    e->info.command = "./app";
    e->end = (struct wsdbg_session_end){.outcome = "exited 0", .ended_ns = TAKEN};
    fill_tables(&e->snapshot);
    struct wsdbg_snapshot *s = &e->snapshot;
    s->time_ns = TAKEN;
    s->source = "ring";
    s->thread_count = s->note_count = s->host_process_count = s->host_stack_count = s->host_frame_count = 0;
    free(s->launches);
    s->launches = rows(s->launch_count = launches, sizeof *s->launches);
    s->launches_total = launches;
    for (uint32_t i = 0; i < launches; i++)
        s->launches[i] = (struct wsdbg_launch){.process_id = 77,
                                               .sequence = i,
                                               .time_ns = STARTED + i,
                                               .thread_id = 78,
                                               .grid = {i + 1, 1, 1},
                                               .block = {128, 1, 1}};
}

void example_free(struct example *e)
{
    for (size_t i = 0; i < e->diagnosis.finding_count; i++)
        free(e->diagnosis.findings[i].evidence);
    free(e->diagnosis.findings);
    free(e->diagnosis.edges);
    wsdbg_snapshot_deinit(&e->snapshot);
}

char *example_folder(void)
{
    char *folder = strdup("/tmp/wsdbg-store-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

const char *example_path(const char *folder, const char *name)
{
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

void example_clean(char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

void example_ok(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

void example_refused(struct wsdbg_error *error, const char *text)
{
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), text) || strchr(wsdbg_error_message(error), '\n'))
        fail_msg("\"%s\" is not one line with \"%s\"", wsdbg_error_message(error), text);
    wsdbg_error_destroy(error);
}

void example_store(const struct example *e, const char *path)
{
    struct wsdbg_store *store = NULL;
    example_ok(wsdbg_store_create(path, &e->info, &store));
    example_ok(wsdbg_store_snapshot(store, &e->snapshot));
    if (e->diagnosis.finding_count)
        example_ok(wsdbg_store_diagnosis(store, &e->snapshot, &e->diagnosis));
    if (e->end.outcome)
        example_ok(wsdbg_store_end(store, &e->end));
    wsdbg_store_close(store);
}

static char *render(const struct wsdbg_report *report, bool json)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (json)
        example_ok(wsdbg_report_render_json(report, out));
    else
        wsdbg_report_render_text(report, &(struct wsdbg_sheet){.file = out});
    fclose(out);
    return text;
}

char *example_report(const struct example *e, bool json)
{
    struct wsdbg_report report;
    example_ok(wsdbg_report_gather(&e->info, &e->snapshot, e->diagnosis.finding_count ? &e->diagnosis : NULL,
                                   e->end.outcome ? &e->end : NULL, &report));
    char *text = render(&report, json);
    wsdbg_report_deinit(&report);
    return text;
}

char *example_stored_report(const char *path, bool json)
{
    struct wsdbg_store *store = NULL;
    struct wsdbg_report report;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_report_load(store, &report));
    char *text = render(&report, json);
    wsdbg_report_deinit(&report);
    wsdbg_store_close(store);
    return text;
}

char *example_query(struct wsdbg_store *store, const char *sql, enum wsdbg_query_format format)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    example_ok(wsdbg_store_query(store, sql, format, 0, out));
    fclose(out);
    return text;
}
