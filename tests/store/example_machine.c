/* example_machine.c - see example_machine.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *rows(size_t count, size_t bytes)
{
    void *array = calloc(count + 1, bytes);
    assert_non_null(array);
    return array;
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
                                          .inlined_at = sites[i].inlined_at,
                                          .is_passed = i == SITE_WAIT_EMPTY || i == SITE_WAIT_FULL};
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
        {.site = SITE_WAIT_EMPTY,
         .kind = WSDBG_ACCESS_WAIT,
         .certain = true,
         .lanes = WSDBG_LANES_ALL,
         .address = {.known = true, .value = 0x410},
         .stride = 8,
         .places = 2},
        {.site = SITE_WAIT_FULL,
         .kind = WSDBG_ACCESS_WAIT,
         .certain = true,
         .lanes = WSDBG_LANES_ALL,
         .address = {.known = true, .value = 0x400},
         .stride = 8,
         .places = 2},
        {.site = SITE_COPY,
         .kind = WSDBG_ACCESS_COPY,
         .certain = true,
         .lanes = WSDBG_LANES_ONE,
         .address = {.known = true, .value = 0x400},
         .stride = 8,
         .places = 2,
         .count = {.known = true, .value = 16384}},
        {.site = SITE_ARRIVE,
         .kind = WSDBG_ACCESS_ARRIVE,
         .any_rank = true,
         .lanes = WSDBG_LANES_ONE,
         .places = 1,
         .count = {.known = true, .value = 1}},
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
    s->looks[0] = (struct wsdbg_look_row){.time_ns = s->time_ns - 120000000,
                                          .attach_ns = 40000000,
                                          .suspend_ns = 4000000,
                                          .read_ns = 12000000,
                                          .resume_ns = 1000000,
                                          .held_nothing_back = true,
                                          .warps = (uint32_t)s->warp_count,
                                          .warps_read = 3};
    s->looks[1] = (struct wsdbg_look_row){.time_ns = s->time_ns - 20000000,
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

/* The word that is polled lies in the first one. */
static void fill_memory(struct wsdbg_snapshot *s)
{
    static const struct wsdbg_allocation_row memory[] = {{.number = 7,
                                                          .address = 0x7f1200000000u,
                                                          .bytes = 4096,
                                                          .kind = WSDBG_ALLOCATION_DEVICE,
                                                          .peer_devices = 2,
                                                          .call_number = 6,
                                                          .call = "cuMemAlloc"},
                                                         {.number = 8,
                                                          .address = 0x7f0e00000000u,
                                                          .bytes = 65536,
                                                          .kind = WSDBG_ALLOCATION_HOST,
                                                          .device = WSDBG_UNKNOWN32,
                                                          .call_number = 1,
                                                          .call = "cuMemHostAlloc"},
                                                         {.number = 9,
                                                          .address = 0x7f1300000000u,
                                                          .kind = WSDBG_ALLOCATION_IMPORTED,
                                                          .device = WSDBG_UNKNOWN32,
                                                          .call_number = 1,
                                                          .call = "cuIpcOpenMemHandle"},
                                                         {.number = 3,
                                                          .address = 0x7f1400000000u,
                                                          .bytes = 512,
                                                          .kind = WSDBG_ALLOCATION_POOL,
                                                          .flags = WSDBG_ALLOCATION_EXPORTED,
                                                          .call_number = 3,
                                                          .call = "cuMemAllocAsync"}};
    s->allocations = rows(s->allocation_count = sizeof memory / sizeof *memory, sizeof *s->allocations);
    for (size_t i = 0; i < s->allocation_count; i++) {
        s->allocations[i] = (struct wsdbg_allocation){.process_id = s->contexts[0].process_id, .row = memory[i]};
        s->allocations[i].row.time_ns = s->time_ns - 3000000000u + 1000000 * i;
    }
    s->allocations[3].row.freed_ns = s->time_ns - 1000000000;
    struct wsdbg_context *context = &s->contexts[0];
    context->given_ns = wsdbg_known_u64(s->time_ns - 2000000000);
    context->done_given_ns = wsdbg_known_u64(s->time_ns - 2500000000);
    context->kernels = wsdbg_known_u64(3);
    context->graphs = wsdbg_known_u64(1);
    context->copies = wsdbg_known_u64(4);
    context->memsets = wsdbg_known_u64(2);
    context->others = wsdbg_known_u64(0);
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
    s->modules[0].names_given = 0;
    s->contexts[0].history_depth = 0;
    for (size_t i = 0; i < s->barrier_count; i++) {
        struct wsdbg_barrier *b = &s->barriers[i];
        b->shared_offset = wsdbg_known_u32(0x400 + 8 * (b->id * 2 + b->stage));
        b->word = wsdbg_known_u64(b->id ? 0x7ffff000001ffffcu : 0x7ffff800001ffffeu);
        b->pending_tx_bytes = wsdbg_known_u64(0);
        b->completed_phases.known = false;
    }
    fill_sites(s);
    fill_parts(s);
    fill_accesses(s);
    fill_code(s);
    fill_looks(s);
    fill_memory(s);
    fill_before(s);
}
