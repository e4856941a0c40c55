/* from_outside.c - whether the host, another grid or another GPU could end that a grid stands still.
 *
 * Reads: states and parts of the grid's warps, what they poll, other grids, host threads (host_waits.c).  Writes:
 * nothing.
 *
 * Mbarriers, named barriers, cluster barriers, registers, wgmma, bulk stores and lanes of one warp are completed inside
 * the grid: nobody outside can.  Others may write a word of memory that a warp polls; whose memory it is tells who
 * (poll_writers.c).  A warp at a place that the code does not explain may be polling.  If the code is not understood at
 * all, it may poll any word.
 */
#include "diagnose/from_outside.h"

#include "diagnose/host_waits.h"
#include "diagnose/poll_writers.h"
#include "diagnose/rank_waits.h"
#include "model/process.h"

/* A grid among all that was seen. */
struct outlook {
    const struct wsdbg_snapshot *snapshot;
    const struct wsdbg_polls *polls;
    uint32_t grid;
};

const char *wsdbg_outside_text(enum wsdbg_outside outside)
{
    static const char *const texts[] = {
        [WSDBG_OUTSIDE_NOBODY] = "nothing outside the kernel can end it",
        [WSDBG_OUTSIDE_HOST] = "the host may still write a word that a warp polls, or may poll",
        [WSDBG_OUTSIDE_GRID] = "another running kernel may still end it",
        [WSDBG_OUTSIDE_DEVICE] = "a warp polls, or may poll, memory that the host or another GPU may write",
        [WSDBG_OUTSIDE_LIMIT] = "a warp polls in a loop that may end by itself",
    };
    return texts[outside];
}

/* ---- the host ---- */

/* The first attach for a look; 0 where that is not known of some look. */
static uint64_t first_attach_ns(const struct wsdbg_snapshot *snapshot)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < snapshot->look_count; i++)
        if (snapshot->looks[i].earlier_attach_ns && snapshot->looks[i].first_attach_ns < first_ns)
            first_ns = snapshot->looks[i].first_attach_ns;
    return first_ns;
}

/* Its threads have been in their calls since then, and none has launched anything. */
static bool gave_nothing_since(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t time_ns)
{
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == process_id && snapshot->threads[i].since_ns > time_ns)
            return false;
    for (size_t i = 0; i < snapshot->launch_count; i++)
        if (snapshot->launches[i].process_id == process_id && snapshot->launches[i].time_ns > time_ns)
            return false;
    return true;
}

/* A look holds back what the host gives the GPU afterwards: nothing, where the host has waited since before the first.
 */
static bool host_is_kept(const struct wsdbg_case *c)
{
    struct wsdbg_snapshot unlooked = *c->snapshot;
    unlooked.look_count = 0;
    struct wsdbg_case before = *c;
    before.snapshot = &unlooked;
    const struct wsdbg_host_thread *thread = wsdbg_host_waits(&before);
    return thread && (!wsdbg_host_is_held_back(c) ||
                      gave_nothing_since(c->snapshot, thread->process_id, first_attach_ns(c->snapshot)));
}

/* A case that cannot be made is one of which nothing is known. */
static bool host_may_write(const struct wsdbg_snapshot *snapshot, uint32_t grid, uint32_t cta)
{
    struct wsdbg_case c;
    struct wsdbg_error *error = wsdbg_case_init(snapshot, grid, &cta, 1, &c);
    if (error) {
        wsdbg_error_destroy(error);
        return true;
    }
    const bool kept = host_is_kept(&c);
    wsdbg_case_deinit(&c);
    return !kept;
}

/* ---- another grid ---- */

static bool may_write(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_RUNNING || state == WSDBG_WARP_UNKNOWN || state == WSDBG_WARP_WAIT_WGMMA ||
           state == WSDBG_WARP_WAIT_BULK;
}

static bool another_grid_may_write(const struct wsdbg_snapshot *snapshot, uint32_t self)
{
    for (size_t w = 0; w < snapshot->warp_count; w++) {
        const uint32_t grid = snapshot->ctas[snapshot->warps[w].cta].grid;
        if (grid != self && snapshot->grids[grid].running &&
            (snapshot->grids[grid].moves || may_write(snapshot->warps[w].state)))
            return true;
    }
    return false;
}

/* ---- the grid's waits ---- */

static enum wsdbg_outside who_writes(const struct wsdbg_snapshot *snapshot, uint32_t grid, uint32_t cta)
{
    if (another_grid_may_write(snapshot, grid))
        return WSDBG_OUTSIDE_GRID;
    return host_may_write(snapshot, grid, cta) ? WSDBG_OUTSIDE_HOST : WSDBG_OUTSIDE_NOBODY;
}

/* Whether the grid is of a rank among others.  Ranks may share memory in ways that wsdbg does not see. */
static bool is_one_of_several(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const uint32_t row = wsdbg_snapshot_grid_process(snapshot, grid);
    const struct wsdbg_process *process = row == WSDBG_NONE ? NULL : &snapshot->processes[row];
    return process && process->rank.known && !(process->world_size.known && process->world_size.value == 1);
}

/* For a warp at a place that the code does not explain. */
static enum wsdbg_outside who_ends_unexplained(const struct outlook *from, uint32_t cta)
{
    const struct wsdbg_snapshot *s = from->snapshot;
    const enum wsdbg_outside who = who_writes(s, from->grid, cta);
    if (who != WSDBG_OUTSIDE_NOBODY || wsdbg_causes_are_known(s, &s->grids[from->grid]))
        return who;
    const bool others = is_one_of_several(s, from->grid) || wsdbg_others_may_write(s, from->grid);
    return others ? WSDBG_OUTSIDE_DEVICE : WSDBG_OUTSIDE_NOBODY;
}

/* Of memory that is not known, the instruction must tell. */
static enum wsdbg_outside who_ends_known_poll(const struct outlook *from, const struct wsdbg_warp_row *warp,
                                              uint32_t site, struct wsdbg_optional_u64 address)
{
    const struct wsdbg_case c = {
        .snapshot = from->snapshot, .grid = from->grid, .of_machine = true, .polls = from->polls};
    const struct wsdbg_poll poll = wsdbg_poll_at(&c, WSDBG_WARP_SPIN_GLOBAL, site, address);
    if (poll.system || poll.writer == WSDBG_WRITER_PROCESS || poll.writer == WSDBG_WRITER_PEER)
        return WSDBG_OUTSIDE_DEVICE;
    if (poll.writer == WSDBG_WRITER_HOST_STORE)
        return WSDBG_OUTSIDE_HOST;
    return poll.writer == WSDBG_WRITER_WARP ? WSDBG_OUTSIDE_GRID : who_writes(from->snapshot, from->grid, warp->cta);
}

/* The record shows neither which memory is polled nor kernels without probes. */
static enum wsdbg_outside who_ends(const struct outlook *from, const struct wsdbg_warp_row *warp,
                                   enum wsdbg_warp_state state, uint32_t site, struct wsdbg_optional_u64 address)
{
    if (wsdbg_warp_state_polls(state) && site != WSDBG_NONE && from->snapshot->sites[site].may_time_out)
        return WSDBG_OUTSIDE_LIMIT;
    switch (state) {
    case WSDBG_WARP_WAIT_GRID_DEPENDENCY:
        return WSDBG_OUTSIDE_GRID;
    case WSDBG_WARP_SPIN_GLOBAL:
        return warp->part_count == 0 ? WSDBG_OUTSIDE_DEVICE : who_ends_known_poll(from, warp, site, address);
    case WSDBG_WARP_UNKNOWN:
    case WSDBG_WARP_RUNNING:
        return who_ends_unexplained(from, warp->cta);
    default:
        return WSDBG_OUTSIDE_NOBODY;
    }
}

static enum wsdbg_outside who_ends_warp(const struct outlook *from, const struct wsdbg_warp_row *warp)
{
    enum wsdbg_outside who = who_ends(from, warp, warp->state, warp->site, (struct wsdbg_optional_u64){0});
    for (uint32_t i = 0; i < warp->part_count && who == WSDBG_OUTSIDE_NOBODY; i++) {
        const struct wsdbg_part *part = &from->snapshot->parts[warp->part_first + i];
        who = who_ends(from, warp, part->state, part->site, part->address);
    }
    return who;
}

static enum wsdbg_outside who_ends_grid(const struct outlook *from)
{
    const struct wsdbg_snapshot *snapshot = from->snapshot;
    const struct wsdbg_grid *row = &snapshot->grids[from->grid];
    enum wsdbg_outside who = WSDBG_OUTSIDE_NOBODY;
    for (uint32_t i = 0; i < row->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[row->cta_first + i];
        for (uint32_t w = 0; w < cta->warp_count && who == WSDBG_OUTSIDE_NOBODY; w++)
            who = who_ends_warp(from, &snapshot->warps[cta->warp_first + w]);
    }
    return who;
}

enum wsdbg_outside wsdbg_outside_can_end(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    struct wsdbg_polls *polls = NULL;
    if (!wsdbg_grid_is_sound(snapshot, &snapshot->grids[grid]) || wsdbg_rank_may_come(snapshot, grid))
        return WSDBG_OUTSIDE_DEVICE;
    struct wsdbg_error *error = wsdbg_polls_create(snapshot, &polls);
    if (error) { /* without it nothing is known of what is polled */
        wsdbg_error_destroy(error);
        return WSDBG_OUTSIDE_DEVICE;
    }
    const enum wsdbg_outside who = who_ends_grid(&(struct outlook){.snapshot = snapshot, .polls = polls, .grid = grid});
    wsdbg_polls_destroy(polls);
    return who;
}
