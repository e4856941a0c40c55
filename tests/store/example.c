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

static void fill_tables(struct wsdbg_snapshot *s)
{
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
        .process_id = 77, .probed = true, .names_count = 4, .image_bytes = wsdbg_known_u64(40960)};
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
    f->evidence[0] = (struct wsdbg_evidence_row){WSDBG_EVIDENCE_WARP, 0, WSDBG_NONE, 0,
                                                 "warp 0 waits on empty[0] with parity 0 before anybody arrived"};
    f->evidence[1] = (struct wsdbg_evidence_row){WSDBG_EVIDENCE_BARRIER, WSDBG_NONE, STAGES, WSDBG_NONE,
                                                 "empty[0] has 2 of 2 arrivals pending"};
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

enum {
    SITE_KERNEL,
    SITE_LOAD,
    SITE_COMPUTE,
    SITE_WAIT_EMPTY,
    SITE_WAIT_FULL,
    SITE_COPY,
    SITE_ARRIVE,
    SITE_POLL,
    SITES
};

/* A kernel that calls load() and compute(), both inlined into it; they call wait() of barrier.h. */
static void fill_sites(struct wsdbg_snapshot *s)
{
    static const struct {
        uint32_t offset, line, inlined_at;
        const char *file, *instruction;
    } sites[SITES] = {
        [SITE_KERNEL] = {0, 300, WSDBG_NONE, "/src/gemm.cu", ""},
        [SITE_LOAD] = {0x1e0, 150, SITE_KERNEL, "/src/gemm.cu", ""},
        [SITE_COMPUTE] = {0x460, 210, SITE_KERNEL, "/src/gemm.cu", ""},
        [SITE_WAIT_EMPTY] = {0x1e0, 31, SITE_LOAD, "/src/barrier.h",
                             "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x10], R4"},
        [SITE_WAIT_FULL] = {0x460, 31, SITE_COMPUTE, "/src/barrier.h", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5], R4"},
        [SITE_COPY] = {0x250, 154, SITE_KERNEL, "/src/gemm.cu", "UTMALDG.2D [UR8], [UR4]"},
        [SITE_ARRIVE] = {0x520, 230, SITE_KERNEL, "/src/gemm.cu", "SYNCS.ARRIVE.A1T0 RZ, [R5+0x10], RZ"},
        [SITE_POLL] = {0x610, 241, SITE_KERNEL, "/src/gemm.cu", "LDG.E.STRONG.GPU R0, [R2.64]"},
    };
    s->sites = rows(s->site_count = SITES, sizeof *s->sites);
    for (int i = 0; i < SITES; i++) {
        s->sites[i] = (struct wsdbg_site){.pc = 0x7f0000000000u + sites[i].offset,
                                          .offset_bytes = wsdbg_known_u32(sites[i].offset),
                                          .line = wsdbg_known_u32(sites[i].line),
                                          .inlined_at = sites[i].inlined_at};
        snprintf(s->sites[i].instruction, sizeof s->sites[i].instruction, "%s", sites[i].instruction);
        snprintf(s->sites[i].file, sizeof s->sites[i].file, "%s", sites[i].file);
    }
}

static struct wsdbg_part *add_part(struct wsdbg_snapshot *s, uint32_t warp, uint32_t lanes)
{
    struct wsdbg_warp_row *w = &s->warps[warp];
    struct wsdbg_part *part = &s->parts[s->part_count];
    if (w->part_count++ == 0)
        w->part_first = (uint32_t)s->part_count;
    s->part_count++;
    *part = (struct wsdbg_part){.warp = warp,
                                .lanes = lanes,
                                .state = w->state,
                                .site = w->site,
                                .barrier = w->barrier,
                                .parity = w->parity,
                                .seen = w->cta == 0};
    return part;
}

static void fill_parts(struct wsdbg_snapshot *s)
{
    s->parts = rows(2 * s->warp_count, sizeof *s->parts);
    for (uint32_t i = 0; i < s->warp_count; i++) {
        struct wsdbg_warp_row *w = &s->warps[i];
        w->last = (struct wsdbg_history_event){0};
        w->history_first = w->history_count = 0;
        w->history_whole = false;
        w->line.known = w->lanes.known = false;
        w->site = w->warp < 4 ? SITE_WAIT_EMPTY : SITE_WAIT_FULL;
        w->parity = wsdbg_known_u32(0);
        if (w->warp != 4) {
            add_part(s, i, UINT32_MAX);
            continue;
        }
        struct wsdbg_part *polling = add_part(s, i, 1);
        polling->state = WSDBG_WARP_SPIN_GLOBAL;
        polling->site = SITE_POLL;
        polling->barrier = WSDBG_NONE;
        polling->parity.known = false;
        polling->address = wsdbg_known_u64(0x7f1200000040u);
        polling->width_bytes = wsdbg_known_u32(4);
        polling->value = wsdbg_known_u64(0);
        add_part(s, i, ~1u);
    }
}

static void fill_accesses(struct wsdbg_snapshot *s)
{
    static const struct wsdbg_access_row accesses[] = {
        {0,
         SITE_WAIT_EMPTY,
         WSDBG_ACCESS_WAIT,
         true,
         false,
         WSDBG_LANES_ALL,
         {.known = true, .value = 0x410},
         8,
         2,
         {0}},
        {0,
         SITE_WAIT_FULL,
         WSDBG_ACCESS_WAIT,
         true,
         false,
         WSDBG_LANES_ALL,
         {.known = true, .value = 0x400},
         8,
         2,
         {0}},
        {0,
         SITE_COPY,
         WSDBG_ACCESS_COPY,
         true,
         false,
         WSDBG_LANES_ONE,
         {.known = true, .value = 0x400},
         8,
         2,
         {.known = true, .value = 16384}},
        {0, SITE_ARRIVE, WSDBG_ACCESS_ARRIVE, false, true, WSDBG_LANES_ONE, {0}, 0, 1, {.known = true, .value = 1}},
    };
    enum { ACCESSES = sizeof accesses / sizeof *accesses };
    s->accesses = rows(s->access_count = ACCESSES, sizeof *s->accesses);
    memcpy(s->accesses, accesses, sizeof accesses);
    s->reaches = rows(s->warp_count * ACCESSES, sizeof *s->reaches);
    for (uint32_t warp = 0; warp < s->warp_count; warp++) {
        const bool producer = s->warps[warp].warp < 4;
        for (uint32_t access = 0; access < ACCESSES; access++) {
            const bool own = producer == (access == 0 || access == 2);
            s->reaches[s->reach_count++] = (struct wsdbg_reach){.warp = warp,
                                                                .access = access,
                                                                .before_most = own ? 255 : 0,
                                                                .before_known = access != 3,
                                                                .after = own ? 2 : 0};
        }
    }
}

/* Four instructions around each place where a warp stands, and those places. */
static void fill_code(struct wsdbg_snapshot *s)
{
    static const uint32_t around[] = {SITE_WAIT_EMPTY, SITE_WAIT_FULL, SITE_POLL};
    s->code = rows(sizeof around / sizeof *around * 5, sizeof *s->code);
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        const struct wsdbg_site *site = &s->sites[around[i]];
        const struct wsdbg_site *call =
            wsdbg_snapshot_site(s, site->inlined_at == SITE_KERNEL ? around[i] : site->inlined_at);
        for (int at = -2; at <= 2; at++) {
            struct wsdbg_code_row *row = &s->code[s->code_count++];
            *row = (struct wsdbg_code_row){.offset_bytes = site->offset_bytes.value + (uint32_t)(16 * at),
                                           .line = wsdbg_known_u32(call->line.value)};
            snprintf(row->file, sizeof row->file, "/src/gemm.cu");
            snprintf(row->text, sizeof row->text, "%s", at == 0 ? site->instruction : at == 1 ? "@!P0 BRA 0x1e0" : "");
        }
    }
}

static void fill_looks(struct wsdbg_snapshot *s)
{
    s->looks = rows(s->look_count = 2, sizeof *s->looks);
    s->looks[0] = (struct wsdbg_look_row){.time_ns = TAKEN - 120000000,
                                          .attach_ns = 40000000,
                                          .suspend_ns = 4000000,
                                          .read_ns = 12000000,
                                          .resume_ns = 1000000,
                                          .warps = (uint32_t)s->warp_count,
                                          .warps_read = 3};
    s->looks[1] = (struct wsdbg_look_row){.time_ns = TAKEN - 20000000,
                                          .suspend_ns = 3000000,
                                          .read_ns = 10000000,
                                          .resume_ns = 1000000,
                                          .detach_ns = 15000000,
                                          .warps = (uint32_t)s->warp_count,
                                          .warps_read = 3,
                                          .moved = 1,
                                          .barriers_changed = wsdbg_known_u32(1)};
    s->excerpts = rows(s->excerpt_count = 2, sizeof *s->excerpts);
    s->excerpts[0] = (struct wsdbg_excerpt){WSDBG_EXCERPT_REGISTERS, WSDBG_NONE, 0, 0, 4, 2, {0, 0x410}};
    s->excerpts[1] = (struct wsdbg_excerpt){
        WSDBG_EXCERPT_SHARED, 0, WSDBG_NONE, 0, 0x400, 4, {0x001ffffe, 0x7ffff800, 0x001ffffe, 0x7ffff800}};
}

/* At the look before, warp 0 of CTA 0 still was at the copy. */
static void fill_before(struct wsdbg_snapshot *s)
{
    struct wsdbg_snapshot *before = rows(1, sizeof *before);
    example_ok(wsdbg_snapshot_copy(s, before));
    before->look_count = 1;
    before->time_ns = before->looks[0].time_ns;
    before->warps[0].site = SITE_COPY;
    before->warps[0].state = WSDBG_WARP_RUNNING;
    before->warps[0].barrier = WSDBG_NONE;
    before->warps[0].parity.known = false;
    before->barriers[0].word = wsdbg_known_u64(0xffffe800001ffffcu);
    s->before = before;
}

void example_machine(struct example *e, uint32_t ctas)
{
    example_hang(e, ctas, 0);
    e->info.evidence = "live";
    struct wsdbg_snapshot *s = &e->snapshot;
    s->source = "live";
    s->names_inferred = true;
    s->modules[0].probed = false;
    s->contexts[0].history_depth = 0;
    for (size_t i = 0; i < s->barrier_count; i++) {
        struct wsdbg_barrier *b = &s->barriers[i];
        b->shared_offset = wsdbg_known_u32(0x400 + 8 * (b->id * STAGES + b->stage));
        b->word = wsdbg_known_u64(b->id ? 0x7ffff000001ffffcu : 0x7ffff800001ffffeu);
        b->pending_tx_bytes = wsdbg_known_u64(0);
        b->completed_phases.known = false;
    }
    fill_sites(s);
    fill_parts(s);
    fill_accesses(s);
    fill_code(s);
    fill_looks(s);
    fill_before(s);
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
    s->thread_count = s->note_count = 0;
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
        wsdbg_report_render_text(report, false, out);
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
