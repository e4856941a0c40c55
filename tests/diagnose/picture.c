/* picture.c - see picture.h. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum { NAMES_MAX = 32, ROW_BYTES_MAX = 1 << 20 };

/* One more row of a table that the snapshot owns. */
#define ADD(array, count, ...)                                       \
    do {                                                             \
        (array) = realloc((array), ((count) + 1) * sizeof *(array)); \
        must(array);                                                 \
        (array)[(count)++] = __VA_ARGS__;                            \
    } while (0)

static void add_site(struct picture *p, const char *instruction, uint32_t line)
{
    struct wsdbg_site site = {.function = 0,
                              .offset_bytes = wsdbg_known_u32((uint32_t)p->snapshot.site_count * 16),
                              .line = wsdbg_known_u32(line),
                              .inlined_at = WSDBG_NONE};
    strncpy(site.instruction, instruction, sizeof site.instruction - 1);
    strncpy(site.file, "src/kernel.cu", sizeof site.file - 1);
    ADD(p->snapshot.sites, p->snapshot.site_count, site);
}

void picture_init(struct picture *p, uint32_t ctas, uint32_t warps, uint32_t registers)
{
    *p = (struct picture){.ctas = ctas, .warps = warps};
    struct wsdbg_snapshot *s = &p->snapshot;
    s->source = "core";
    s->time_ns = 5000000000ull;
    s->names_inferred = true;
    s->names = calloc(NAMES_MAX, sizeof *s->names);
    must(s->names);
    ADD(s->contexts, s->context_count, (struct wsdbg_context){.alive = true});
    ADD(s->modules, s->module_count, (struct wsdbg_module){.row = 0});
    struct wsdbg_function function = {.module = 0, .registers = wsdbg_known_u32(registers)};
    strcpy(function.name, "kernel");
    ADD(s->functions, s->function_count, function);
    struct wsdbg_launch launch = {.function = 0, .grid = {ctas, 1, 1}, .block = {warps * 32, 1, 1}};
    ADD(s->launches, s->launch_count, launch);
    ADD(s->grids, s->grid_count,
        (struct wsdbg_grid){.cta_total = ctas,
                            .warps_per_cta = warps,
                            .block = {warps * 32, 1, 1},
                            .cta_count = ctas,
                            .running = true,
                            .warps_live = ctas * warps});
    for (uint32_t cta = 0; cta < ctas; cta++)
        ADD(s->ctas, s->cta_count,
            (struct wsdbg_cta){
                .x = cta, .cluster_id = cta, .cluster_size = 1, .warp_first = cta * warps, .warp_count = warps});
    for (uint32_t i = 0; i < ctas * warps; i++)
        ADD(s->warps, s->warp_count,
            (struct wsdbg_warp_row){.cta = i / warps,
                                    .warp = i % warps,
                                    .state = WSDBG_WARP_RUNNING,
                                    .barrier = WSDBG_NONE,
                                    .site = 0,
                                    .registers_held = wsdbg_known_u32((registers + 7) / 8 * 8)});
    add_site(p, "NOP", 1);
    ADD(s->looks, s->look_count, (struct wsdbg_look_row){.time_ns = 4000000000ull});
    /* The host waits for the grid, and no other thread of it goes on. */
    ADD(s->threads, s->thread_count,
        (struct wsdbg_host_thread){
            .thread_id = 77, .call = "cuCtxSynchronize", .since_ns = 1000000000, .host_state = WSDBG_HOST_ALL_BLOCKED});
}

void picture_cluster(struct picture *p)
{
    for (uint32_t cta = 0; cta < p->ctas; cta++) {
        p->snapshot.ctas[cta].cluster_id = 0;
        p->snapshot.ctas[cta].cluster_rank = cta;
        p->snapshot.ctas[cta].cluster_size = p->ctas;
    }
}

void picture_deinit(struct picture *p)
{
    free(p->pending);
    wsdbg_snapshot_deinit(&p->snapshot);
}

static struct wsdbg_name *add_name(struct picture *p, uint8_t kind, uint32_t id, const char *name)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    must(s->name_count < NAMES_MAX);
    struct wsdbg_name *row = &s->names[s->name_count++];
    *row = (struct wsdbg_name){.kind = kind, .id = (uint8_t)id};
    strncpy(row->name, name, sizeof row->name - 1);
    s->modules[0].names_count = (uint32_t)s->name_count;
    return row;
}

void picture_role(struct picture *p, uint32_t id, const char *name, uint32_t first_warp, uint32_t last_warp)
{
    add_name(p, WSDBG_NAME_ROLE, id, name);
    for (uint32_t i = 0; i < p->ctas * p->warps; i++)
        if (i % p->warps >= first_warp && i % p->warps <= last_warp)
            p->snapshot.warps[i].role = wsdbg_known_u32(id);
}

void picture_name(struct picture *p, uint32_t id, const char *name, uint32_t stages, uint32_t arriving,
                  uint32_t waiting)
{
    struct wsdbg_name *row = add_name(p, WSDBG_NAME_MBARRIER, id, name);
    row->stages = (uint8_t)stages;
    row->arriving_roles = arriving;
    row->waiting_roles = waiting;
}

uint32_t picture_mbarrier(struct picture *p, uint32_t id, uint32_t stage, uint32_t phase, uint32_t pending,
                          uint32_t expected, int64_t bytes)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    const uint32_t first = (uint32_t)s->barrier_count;
    for (uint32_t cta = 0; cta < p->ctas; cta++) {
        struct wsdbg_barrier row = {.cta = cta,
                                    .kind = WSDBG_BARRIER_MBARRIER,
                                    .id = id,
                                    .stage = stage,
                                    .name = wsdbg_snapshot_name(s, 0, WSDBG_NAME_MBARRIER, id),
                                    .phase = wsdbg_known_u32(phase),
                                    .pending_arrivals = wsdbg_known_u32(pending),
                                    .expected_arrivals = wsdbg_known_u32(expected),
                                    .pending_tx_bytes = wsdbg_known_u64((uint64_t)bytes),
                                    .shared_offset = wsdbg_known_u32(MBARRIER_AT(id, stage))};
        ADD(s->barriers, s->barrier_count, row);
    }
    return first;
}

uint32_t picture_object(struct picture *p, enum wsdbg_barrier_kind kind, uint32_t id)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    for (uint32_t cta = 0; cta < p->ctas; cta++)
        ADD(s->barriers, s->barrier_count, (struct wsdbg_barrier){.cta = cta, .kind = kind, .id = id});
    return (uint32_t)s->barrier_count - p->ctas;
}

#define EACH(i, first_warp, last_warp)                \
    for (uint32_t i = 0; i < p->ctas * p->warps; i++) \
        if (i % p->warps >= (first_warp) && i % p->warps <= (last_warp))

void picture_leave(struct picture *p, uint32_t row)
{
    struct wsdbg_warp_row *warp = &p->snapshot.warps[row];
    warp->state = WSDBG_WARP_EXITED;
    warp->site = WSDBG_NONE;
    warp->registers_held = (struct wsdbg_optional_u32){0};
    p->snapshot.grids[0].warps_exited++;
    p->snapshot.grids[0].warps_live--;
}

void picture_exit(struct picture *p, uint32_t first_warp, uint32_t last_warp)
{
    EACH(i, first_warp, last_warp)
    {
        picture_leave(p, i);
    }
}

static void add_part(struct picture *p, uint32_t warp, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity)
{
    ADD(p->snapshot.parts, p->snapshot.part_count,
        (struct wsdbg_part){.warp = warp,
                            .lanes = 1,
                            .state = state,
                            .site = p->snapshot.warps[warp].site,
                            .barrier = barrier,
                            .parity = wsdbg_known_u32(parity),
                            .seen = true});
}

/* At the newest site. */
static void stand(struct picture *p, uint32_t row, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity)
{
    struct wsdbg_warp_row *warp = &p->snapshot.warps[row];
    warp->state = state;
    warp->barrier = barrier;
    warp->site = (uint32_t)p->snapshot.site_count - 1;
    if (state == WSDBG_WARP_WAIT_MBARRIER)
        warp->parity = wsdbg_known_u32(parity);
    add_part(p, row, state, barrier, parity);
}

void picture_stand(struct picture *p, uint32_t row, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity)
{
    add_site(p, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x8], R4", 100 + row);
    stand(p, row, state, barrier, parity);
}

void picture_wait(struct picture *p, uint32_t first_warp, uint32_t last_warp, enum wsdbg_warp_state state,
                  uint32_t barrier, uint32_t parity)
{
    add_site(p, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+0x8], R4", 100 + first_warp);
    EACH(i, first_warp, last_warp)
    {
        stand(p, i, state, barrier == WSDBG_NONE ? barrier : barrier + i / p->warps, parity);
    }
}

void picture_count(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t count)
{
    for (size_t i = 0; i < p->snapshot.part_count; i++) {
        struct wsdbg_part *part = &p->snapshot.parts[i];
        if (part->warp % p->warps >= first_warp && part->warp % p->warps <= last_warp)
            part->count = wsdbg_known_u32(count);
    }
}

void picture_holds(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t registers, uint32_t asked)
{
    EACH(i, first_warp, last_warp)
    {
        p->snapshot.warps[i].registers_held = wsdbg_known_u32(registers);
        if (asked)
            p->snapshot.warps[i].registers_asked = wsdbg_known_u32(asked);
    }
}

void picture_part(struct picture *p, uint32_t warp, enum wsdbg_warp_state state, uint32_t barrier, uint32_t parity)
{
    EACH(i, warp, warp)
    {
        add_part(p, i, state, barrier == WSDBG_NONE ? barrier : barrier + i / p->warps, parity);
    }
}

uint32_t picture_access(struct picture *p, enum wsdbg_access_kind kind, uint32_t address, uint32_t places,
                        uint32_t count, enum wsdbg_lanes lanes)
{
    add_site(p, wsdbg_access_kind_name(kind), 200 + (uint32_t)p->snapshot.access_count);
    struct wsdbg_access_row row = {.site = (uint32_t)p->snapshot.site_count - 1,
                                   .kind = kind,
                                   .certain = places > 0,
                                   .lanes = lanes,
                                   .stride = 8,
                                   .places = places,
                                   .count = wsdbg_known_u32(count)};
    if (places > 0)
        row.address = wsdbg_known_u32(address);
    ADD(p->snapshot.accesses, p->snapshot.access_count, row);
    return (uint32_t)p->snapshot.access_count - 1;
}

void picture_reach_of(struct picture *p, uint32_t row, uint32_t access, uint8_t least, uint8_t most, uint8_t after)
{
    ADD(p->pending, p->pending_count,
        (struct wsdbg_reach){.warp = row,
                             .access = access,
                             .before_least = least,
                             .before_most = most,
                             .before_known = true,
                             .after = after,
                             .after_apart = after});
}

void picture_reach(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t access, uint8_t least,
                   uint8_t most, uint8_t after)
{
    EACH(i, first_warp, last_warp)
    {
        picture_reach_of(p, i, access, least, most, after);
    }
}

void picture_answer(struct picture *p, uint32_t wait, uint32_t arrival)
{
    ADD(p->snapshot.answers, p->snapshot.answer_count, (struct wsdbg_answer_row){.wait = wait, .arrival = arrival});
}

void picture_bare_expect(struct picture *p, uint32_t wait, uint32_t expect)
{
    ADD(p->snapshot.answers, p->snapshot.answer_count,
        (struct wsdbg_answer_row){.wait = wait, .arrival = expect, .is_bare = true});
}

void picture_still(struct picture *p)
{
    struct wsdbg_look_row again = {.time_ns = 4200000000ull, .barriers_changed = wsdbg_known_u32(0)};
    ADD(p->snapshot.looks, p->snapshot.look_count, again);
    p->snapshot.source = "live";
}

static int by_warp(const void *left, const void *right)
{
    const struct wsdbg_reach *a = left, *b = right;
    if (a->warp != b->warp)
        return a->warp < b->warp ? -1 : 1;
    return a->access < b->access ? -1 : a->access > b->access;
}

static int parts_by_warp(const void *left, const void *right)
{
    const struct wsdbg_part *a = left, *b = right;
    return a->warp < b->warp ? -1 : a->warp > b->warp;
}

void picture_ready(struct picture *p)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    if (p->pending_count)
        qsort(p->pending, p->pending_count, sizeof *p->pending, by_warp);
    s->reaches = p->pending;
    s->reach_count = p->pending_count;
    p->pending = NULL;
    p->pending_count = 0;
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof *s->parts, parts_by_warp);
    for (size_t i = s->part_count; i-- > 0;) {
        s->warps[s->parts[i].warp].part_first = (uint32_t)i;
        s->warps[s->parts[i].warp].part_count++;
    }
}

void picture_judge(struct picture *p, struct wsdbg_diagnosis *out)
{
    picture_ready(p);
    must(wsdbg_diagnose(&p->snapshot, out) == NULL);
}

int picture_confidence_of(struct picture *p, enum wsdbg_cause cause)
{
    struct wsdbg_diagnosis diagnosis;
    int confidence = PICTURE_NOT_SAID;
    picture_judge(p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++) {
        printf("  %s\n", diagnosis.findings[i].sentence);
        if (diagnosis.findings[i].cause == cause && (int)diagnosis.findings[i].confidence > confidence)
            confidence = (int)diagnosis.findings[i].confidence;
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    return confidence;
}

void picture_judge_fault(struct wsdbg_snapshot *snapshot, struct wsdbg_exception *stopped, struct wsdbg_diagnosis *out)
{
    const struct wsdbg_snapshot before = *snapshot;
    struct wsdbg_context *context = &snapshot->contexts[snapshot->grids[0].context];
    const int error = context->error;
    context->error = 719;
    snapshot->exceptions = stopped;
    snapshot->exception_count = 1;
    must(wsdbg_diagnose_faults(snapshot, out) == NULL);
    context->error = error;
    *snapshot = before;
}
