/* residency.c - the multiprocessors' room: CTAs are placed when there is room for their whole cluster, and leave.
 *
 * Grids are served in the order they came; one that waits for its predecessor is passed over.  A CTA gives its room
 * back when its last warp exits; its memory stays while engines still work for its grid.
 */
#include "hopper/residency.h"

#include <stdlib.h>
#include <string.h>

#include "hopper/probe.h"
#include "hopper/race.h"
#include "hopper/values.h"

enum { REGISTER_ALIGNMENT = 64 };

static uint32_t warps_of(const struct hopper_grid *grid)
{
    const uint32_t *block = grid->launch.block;
    return (block[0] * block[1] * block[2] + HOPPER_LANES - 1) / HOPPER_LANES;
}

static uint32_t ctas_of_cluster(const struct hopper_grid *grid)
{
    const uint32_t *cluster = grid->launch.cluster;
    return cluster[0] * cluster[1] * cluster[2];
}

/* The hardware hands out 8 registers a thread at a time: a launch with 255 gets 256. */
static uint32_t registers_given(uint32_t registers_per_thread)
{
    enum { PORTION = 8 };
    return (registers_per_thread + PORTION - 1) / PORTION * PORTION;
}

static uint32_t registers_of_warp(uint32_t registers_per_thread)
{
    return registers_given(registers_per_thread) * HOPPER_LANES;
}

uint32_t hopper_registers_of_cta(uint32_t registers_per_thread, uint32_t warps)
{
    return registers_of_warp(registers_per_thread) * ((warps + 3) / 4 * 4);
}

struct hopper_sm hopper_empty_sm(uint32_t group)
{
    struct hopper_sm sm = {.shared_free = HOPPER_SM_SHARED,
                           .threads_free = HOPPER_SM_THREADS,
                           .ctas_free = HOPPER_SM_CTAS,
                           .group = group};
    for (unsigned file = 0; file < HOPPER_REGISTER_FILES; file++)
        sm.registers_free[file] = HOPPER_SM_REGISTERS / HOPPER_REGISTER_FILES;
    return sm;
}

/* ---- room ---- */

struct room {
    uint32_t shared, warp_registers, warps;
};

static struct room room_of(const struct hopper_grid *grid)
{
    const uint32_t warps = warps_of(grid);
    return (struct room){.shared = grid->shared_bytes + HOPPER_SHARED_START,
                         .warp_registers = registers_of_warp(grid->launch.registers_per_thread),
                         .warps = warps};
}

/* A slot of each register file: slot s uses file s % 4. */
#define SLOTS_OF_A_FILE 0x1111111111111111ull

/* The file with the most registers left that has a slot too, NONE when no file has room for a warp. */
static uint32_t choose_file(const struct hopper_sm *sm, uint32_t warp_registers)
{
    uint32_t best = WSDBG_PTX_NONE;
    for (uint32_t file = 0; file < HOPPER_REGISTER_FILES; file++)
        if (sm->registers_free[file] >= warp_registers && ~sm->slots_taken & SLOTS_OF_A_FILE << file &&
            (best == WSDBG_PTX_NONE || sm->registers_free[file] > sm->registers_free[best]))
            best = file;
    return best;
}

/* Takes room for a CTA and says its warps' slots; false, and the SM is as it was, when there is not enough. */
static bool take(struct hopper_sm *sm, struct room room, uint64_t *slots)
{
    struct hopper_sm after = *sm;
    if (sm->ctas_free < 1 || sm->shared_free < room.shared || sm->threads_free < room.warps * HOPPER_LANES)
        return false;
    for (uint32_t i = 0; i < room.warps; i++) {
        const uint32_t file = choose_file(&after, room.warp_registers);
        if (file == WSDBG_PTX_NONE)
            return false;
        const uint64_t free_slots = ~after.slots_taken & SLOTS_OF_A_FILE << file;
        after.slots_taken |= free_slots & -free_slots;
        after.registers_free[file] -= room.warp_registers;
    }
    after.ctas_free--;
    after.shared_free -= room.shared;
    after.threads_free -= room.warps * HOPPER_LANES;
    *slots = after.slots_taken & ~sm->slots_taken;
    *sm = after;
    return true;
}

static bool fits(const struct hopper_sm *sm, struct room room)
{
    struct hopper_sm copy = *sm;
    uint64_t slots;
    return take(&copy, room, &slots);
}

static void give(struct hopper_sm *sm, struct room room, uint64_t slots)
{
    sm->ctas_free++;
    sm->shared_free += room.shared;
    for (uint32_t file = 0; file < HOPPER_REGISTER_FILES; file++)
        sm->registers_free[file] +=
            (uint32_t)__builtin_popcountll(slots & SLOTS_OF_A_FILE << file) * room.warp_registers;
    sm->threads_free += room.warps * HOPPER_LANES;
    sm->slots_taken &= ~slots;
}

/* The least occupied SM with room; of a group, or of any (`group` NONE). */
static uint32_t choose_sm(const struct hopper_sm *sms, uint32_t count, uint32_t group, struct room room)
{
    uint32_t best = WSDBG_PTX_NONE;
    for (uint32_t i = 0; i < count; i++)
        if ((group == WSDBG_PTX_NONE || sms[i].group == group) &&
            (best == WSDBG_PTX_NONE || sms[i].ctas_free > sms[best].ctas_free) && fits(&sms[i], room))
            best = i;
    return best;
}

struct seat {
    uint32_t sm;
    uint64_t slots;
};

/* Room for `count` CTAs in one group of SMs; nothing is taken when there is not. */
static bool take_seats(struct hopper_sm *sms, uint32_t sm_count, uint32_t group, struct room room, uint32_t count,
                       struct seat *seats)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t sm = choose_sm(sms, sm_count, group, room);
        if (sm == WSDBG_PTX_NONE || !take(&sms[sm], room, &seats[i].slots)) {
            while (i-- > 0)
                give(&sms[seats[i].sm], room, seats[i].slots);
            return false;
        }
        seats[i].sm = sm;
    }
    return true;
}

static bool seat_cluster(struct hopper_sm *sms, const struct wsdbg_gpu *gpu, const struct hopper_grid *grid,
                         struct seat *seats)
{
    const uint32_t count = ctas_of_cluster(grid);
    const struct room room = room_of(grid);
    if (count == 1)
        return take_seats(sms, gpu->sm_count, WSDBG_PTX_NONE, room, 1, seats);
    for (uint32_t group = 0; group < gpu->group_count; group++)
        if (take_seats(sms, gpu->sm_count, group, room, count, seats))
            return true;
    return false;
}

uint64_t hopper_resident_most(struct wsdbg_gpu *gpu, const struct hopper_grid *grid, uint64_t enough)
{
    struct hopper_sm *sms = calloc(gpu->sm_count, sizeof *sms);
    if (!sms)
        return 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sms[i] = hopper_empty_sm(gpu->sms[i].group);
    uint64_t count = 0;
    struct seat seats[HOPPER_CLUSTER_CTAS];
    while (count < enough && seat_cluster(sms, gpu, grid, seats))
        count += ctas_of_cluster(grid);
    free(sms);
    return count;
}

/* ---- CTAs come ---- */

static bool make_warp(struct hopper_cta *cta, uint32_t index, uint64_t *slots)
{
    const struct hopper_grid *grid = cta->grid;
    const struct hopper_code *code = grid->code;
    struct hopper_warp *warp = &cta->warps[index];
    const struct hopper_registers *frame = &code->frames[grid->launch.function - code->program->functions];
    const uint32_t *block = grid->launch.block, threads = block[0] * block[1] * block[2];
    const uint32_t rest = threads - index * HOPPER_LANES;
    warp->cta = cta;
    warp->index = index;
    warp->slot = (uint32_t)__builtin_ctzll(*slots);
    *slots &= *slots - 1;
    warp->live = rest >= HOPPER_LANES ? HOPPER_ALL : (1u << rest) - 1;
    warp->frame = frame;
    warp->registers_held = registers_given(grid->launch.registers_per_thread);
    warp->split_count = 1;
    warp->splits[0] = (struct hopper_split){.lanes = warp->live, .pc = frame->function->first};
    warp->priority = hopper_new_priority(grid->gpu);
    warp->local_bytes = frame->function->local_bytes;
    warp->register_block = calloc(1, frame->byte_count + (size_t)REGISTER_ALIGNMENT); /* large ones cost what is used */
    if (!warp->register_block)
        return false;
    warp->registers = warp->register_block + (-(uintptr_t)warp->register_block & (REGISTER_ALIGNMENT - 1));
    if (warp->local_bytes) {
        warp->local = calloc(HOPPER_LANES, warp->local_bytes);
        if (!warp->local)
            return false;
    }
    hopper_probe_begin(warp);
    return hopper_make_ready(grid->gpu, warp);
}

static void free_cta(struct wsdbg_gpu *gpu, struct hopper_cta *cta)
{
    if (!cta)
        return;
    for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++) {
        struct hopper_warp *warp = &cta->warps[i];
        hopper_not_ready(gpu, warp);
        hopper_unlist_spin(gpu, warp);
        hopper_warp_freed(warp);
        free(warp->register_block);
        hopper_probe_free(warp->probe);
        free(warp->local);
    }
    hopper_cta_freed(cta);
    free(cta->warps);
    free(cta->shared);
    free(cta);
}

static struct hopper_cta *make_cta(struct hopper_cluster *cluster, struct hopper_grid *grid, uint32_t rank,
                                   struct seat seat)
{
    struct hopper_cta *cta = calloc(1, sizeof *cta);
    if (!cta)
        return NULL;
    cta->grid = grid;
    cta->cluster = cluster;
    cta->rank = rank;
    cta->sm = seat.sm;
    cta->slots = seat.slots;
    cta->shared_bytes = grid->shared_bytes;
    cta->shared_first = grid->code->uses_groups_memory ? HOPPER_SHARED_OF_GROUPS : HOPPER_SHARED_START;
    cta->shared = calloc(1, HOPPER_SHARED_START + grid->shared_bytes);
    cta->warp_count = cta->live_warps = warps_of(grid);
    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++)
        cta->warps[i].ready_at = cta->warps[i].spin_at = WSDBG_PTX_NONE;
    cta->is_resident = true;
    return cta;
}

/* Where in the grid the CTA is: its cluster's number, x fastest, and its rank in it. */
static void set_index(struct hopper_cta *cta, uint64_t cluster_number)
{
    const uint32_t *grid = cta->grid->launch.grid, *cluster = cta->grid->launch.cluster;
    uint64_t number = cluster_number;
    uint32_t rank = cta->rank;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t clusters = grid[i] / cluster[i];
        cta->index[i] = (uint32_t)(number % clusters) * cluster[i] + rank % cluster[i];
        number /= clusters;
        rank /= cluster[i];
    }
}

static void free_cluster(struct wsdbg_gpu *gpu, struct hopper_cluster *cluster)
{
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++)
        free_cta(gpu, cluster->ctas[i]);
    hopper_race_cluster_freed(cluster);
    free(cluster->ctas);
    free(cluster);
}

static bool make_cluster(struct wsdbg_gpu *gpu, struct hopper_grid *grid, const struct seat *seats)
{
    struct hopper_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return false;
    cluster->cta_count = cluster->ctas_live = ctas_of_cluster(grid);
    cluster->ctas = calloc(cluster->cta_count, sizeof(struct hopper_cta *));
    bool is_whole = cluster->ctas != NULL;
    for (uint32_t rank = 0; is_whole && rank < cluster->cta_count; rank++) {
        struct hopper_cta *cta = cluster->ctas[rank] = make_cta(cluster, grid, rank, seats[rank]);
        is_whole = cta && cta->shared && cta->warps;
        if (is_whole)
            set_index(cta, grid->ctas_started / cluster->cta_count);
        uint64_t slots = seats[rank].slots;
        for (uint32_t i = 0; is_whole && i < cta->warp_count; i++)
            is_whole = make_warp(cta, i, &slots);
    }
    if (!is_whole) {
        free_cluster(gpu, cluster);
        return false;
    }
    cluster->next = grid->clusters;
    grid->clusters = cluster;
    return true;
}

static bool may_begin(const struct hopper_grid *grid)
{
    const struct wsdbg_grid_run *after = grid->launch.after;
    return !after || after->grid.ctas_triggered == after->grid.ctas_total;
}

/* False: no room for its next cluster. */
static bool place_grid(struct wsdbg_gpu *gpu, struct hopper_grid *grid)
{
    struct seat seats[HOPPER_CLUSTER_CTAS];
    const uint32_t count = ctas_of_cluster(grid);
    while (grid->ctas_started < grid->ctas_total) {
        if (!seat_cluster(gpu->sms, gpu, grid, seats))
            return false;
        if (!make_cluster(gpu, grid, seats)) {
            for (uint32_t i = 0; i < count; i++)
                give(&gpu->sms[seats[i].sm], room_of(grid), seats[i].slots);
            hopper_engine_fault(gpu, grid, HOPPER_OUT_OF_MEMORY, "no memory for a CTA");
            return false;
        }
        grid->ctas_started += count;
        gpu->resident_ctas += count;
        atomic_store(&hopper_run_of(grid)->state, WSDBG_GRID_RUNNING);
    }
    return true;
}

void hopper_place_ctas(struct wsdbg_gpu *gpu)
{
    gpu->may_place = false;
    for (struct wsdbg_grid_run *run = gpu->runs; run; run = run->next) {
        const int state = atomic_load(&run->state);
        if (state == WSDBG_GRID_DONE || state == WSDBG_GRID_FAULTED || !may_begin(&run->grid))
            continue;
        if (!place_grid(gpu, &run->grid))
            break;
    }
}

/* ---- CTAs go ---- */

static void drop_room(struct wsdbg_gpu *gpu, struct hopper_cta *cta)
{
    if (!cta->is_resident)
        return;
    cta->is_resident = false;
    gpu->resident_ctas--;
    give(&gpu->sms[cta->sm], room_of(cta->grid), cta->slots);
    gpu->may_place = true;
}

static bool is_over(const struct hopper_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (cluster->ctas[i]->live_warps || cluster->ctas[i]->engine_works)
            return false;
    return true;
}

/* Clusters without a live CTA, once no engine can touch their memory. */
void hopper_free_done(struct wsdbg_gpu *gpu, struct hopper_grid *grid)
{
    grid->has_done_clusters = false;
    for (struct hopper_cluster **at = &grid->clusters; *at;) {
        struct hopper_cluster *cluster = *at;
        if (!is_over(cluster)) {
            grid->has_done_clusters |= cluster->ctas_live == 0;
            at = &cluster->next;
            continue;
        }
        *at = cluster->next;
        free_cluster(gpu, cluster);
    }
    if (grid->ctas_done == grid->ctas_total && !grid->works_pending &&
        atomic_load(&hopper_run_of(grid)->state) == WSDBG_GRID_RUNNING) {
        atomic_store(&hopper_run_of(grid)->state, WSDBG_GRID_DONE);
        gpu->may_place = true;
        hopper_changed(gpu);
    }
}

void hopper_cta_triggered(struct hopper_cta *cta)
{
    struct hopper_grid *grid = cta->grid;
    if (cta->triggered)
        return;
    cta->triggered = true;
    if (++grid->ctas_triggered == grid->ctas_total)
        grid->gpu->may_place = true;
}

void hopper_warp_done(struct wsdbg_gpu *gpu, struct hopper_warp *warp)
{
    struct hopper_cta *cta = warp->cta;
    if (warp->probe)
        hopper_probe_exit(warp);
    hopper_not_ready(gpu, warp);
    if (--cta->live_warps)
        return;
    drop_room(gpu, cta);
    hopper_cta_triggered(cta);
    cta->grid->ctas_done++;
    cta->cluster->ctas_live--;
    cta->grid->has_done_clusters |= cta->cluster->ctas_live == 0;
}

void hopper_give_up(struct wsdbg_gpu *gpu, struct hopper_grid *grid)
{
    hopper_engines_drop(gpu, grid);
    while (grid->clusters) {
        struct hopper_cluster *cluster = grid->clusters;
        grid->clusters = cluster->next;
        for (uint32_t i = 0; i < cluster->cta_count; i++)
            drop_room(gpu, cluster->ctas[i]);
        free_cluster(gpu, cluster);
    }
}
