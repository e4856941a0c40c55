/* poll_states.c - kernels that poll words of memory: flags of the host and of other kernels, grid barriers whose CTAs
 * are not all on the GPU.  See states.h.
 */
#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

#include "gemm_shape.h"

void global_flag(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 1, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
}

/* A kernel that waits for the host, as a server does. */
void host_flag(struct picture *p)
{
    global_flag(p);
    strcpy(p->snapshot.sites[p->snapshot.site_count - 1].instruction, "LDG.E.STRONG.SYS R0, desc[UR4][R2.64]");
    p->snapshot.sites[p->snapshot.site_count - 1].is_system = true;
}

/* Volatile, but nobody outside of the CTA's cluster can write it. */
void shared_flag(struct picture *p)
{
    global_flag(p);
    strcpy(p->snapshot.sites[p->snapshot.site_count - 1].instruction, "ld.volatile.shared.u32 %r30, [ready]");
    for (size_t i = 0; i < p->snapshot.warp_count; i++)
        if (p->snapshot.warps[i].state == WSDBG_WARP_SPIN_GLOBAL)
            p->snapshot.warps[i].state = WSDBG_WARP_SPIN_SHARED;
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].state == WSDBG_WARP_SPIN_GLOBAL)
            p->snapshot.parts[i].state = WSDBG_WARP_SPIN_SHARED;
}

/* Lane 0 waits at an mbarrier, the others poll a word that it may write behind that. */
void shared_flag_of_lanes(struct picture *p)
{
    shared_flag(p);
    const uint32_t barrier = picture_mbarrier(p, 1, 0, 0, 1, 1, 0);
    for (uint32_t w = 0; w < p->warps; w++)
        picture_part(p, w, WSDBG_WARP_WAIT_MBARRIER, barrier, 0);
    for (size_t i = 0; i < p->snapshot.warp_count; i++) {
        p->snapshot.warps[i].state = WSDBG_WARP_WAIT_MBARRIER;
        p->snapshot.warps[i].barrier = barrier + (uint32_t)i / p->warps;
        p->snapshot.warps[i].parity = wsdbg_known_u32(0);
    }
}

static void time_out(struct picture *p)
{
    for (size_t i = 0; i < p->snapshot.site_count; i++)
        p->snapshot.sites[i].may_time_out = true;
}

void flag_with_time_limit(struct picture *p)
{
    global_flag(p);
    time_out(p);
}

void shared_flag_with_time_limit(struct picture *p)
{
    shared_flag(p);
    time_out(p);
}

/* The host sleeps, computes or asks again and again; or nothing is known of it. */
static void free_host(struct picture *p)
{
    p->snapshot.thread_count = 0;
}

void flag_host_free(struct picture *p)
{
    global_flag(p);
    free_host(p);
}

static void flag_others(struct picture *p, enum wsdbg_host_state state)
{
    global_flag(p);
    p->snapshot.threads[0].host_state = state;
}

void flag_thread_free(struct picture *p)
{
    flag_others(p, WSDBG_HOST_GOES_ON);
}

void flag_stranger_free(struct picture *p)
{
    flag_others(p, WSDBG_HOST_STRANGER_GOES_ON);
}

void flag_threads_unknown(struct picture *p)
{
    flag_others(p, WSDBG_HOST_NOT_KNOWN);
}

/* The call was found by chance: it began a moment ago. */
void flag_call_is_short(struct picture *p)
{
    global_flag(p);
    p->snapshot.threads[0].since_ns = p->snapshot.time_ns - 1000000;
}

/* ... or long ago, but long after the launch. */
void flag_call_is_late(struct picture *p)
{
    global_flag(p);
    p->snapshot.launches[0].time_ns = 1000000000;
    p->snapshot.threads[0].since_ns = 4000000000;
}

void flag_other_context(struct picture *p)
{
    global_flag(p);
    p->snapshot.threads[0].context = 1;
}

/* The launch was 1 s, the picture 4 s. */
static void flag_attached(struct picture *p, uint64_t attach_ns)
{
    global_flag(p);
    p->snapshot.launches[0].time_ns = 1000000000;
    p->snapshot.looks[0].earlier_attach_ns = attach_ns;
}

void flag_looked_at_before(struct picture *p)
{
    flag_attached(p, 2000000000);
}

void flag_looked_at_before_its_launch(struct picture *p)
{
    flag_attached(p, 900000000);
}

void flag_launch_unknown_looked_at_before(struct picture *p)
{
    flag_attached(p, 900000000);
    p->snapshot.grids[0].launch = WSDBG_NONE;
}

void shared_flag_host_free(struct picture *p)
{
    shared_flag(p);
    free_host(p);
}

void lanes_poll_host_free(struct picture *p)
{
    lanes_poll(p);
    free_host(p);
}

void not_resident_host_free(struct picture *p)
{
    not_resident(p);
    free_host(p);
}

void dependent_grid_host_free(struct picture *p)
{
    dependent_grid(p);
    free_host(p);
}

void not_resident(struct picture *p)
{
    global_flag(p);
    p->snapshot.launches[0].grid[0] = 1000;
    p->snapshot.grids[0].cta_total = 1000;
}

/* All CTAs poll one word, with the value `there`, which the host could write too. */
static void grid_polls(struct picture *p, uint64_t there, uint32_t total)
{
    global_flag(p);
    p->snapshot.launches[0].grid[0] = total;
    p->snapshot.grids[0].cta_total = total;
    for (size_t i = 0; i < p->snapshot.part_count; i++) {
        p->snapshot.parts[i].address = wsdbg_known_u64(0x7f0000001000);
        p->snapshot.parts[i].value = wsdbg_known_u64(there);
    }
    free_host(p);
}

/* A barrier of the grid by atomics, over more CTAs than fit: each of the four there has raised it. */
void grid_barrier_not_resident(struct picture *p)
{
    grid_polls(p, 4, 300);
}

/* ... a counter that goes down. */
void grid_barrier_down_not_resident(struct picture *p)
{
    grid_polls(p, 296, 300);
}

/* ... a flag that holds another number. */
void flag_not_resident(struct picture *p)
{
    grid_polls(p, 1, 300);
}

/* ... CTAs that poll words of their own. */
void own_flags_not_resident(struct picture *p)
{
    grid_polls(p, 4, 300);
    p->snapshot.parts[0].address = wsdbg_known_u64(0x7f0000002000);
}

/* All CTAs are there and wait for the fifth request of the host. */
void requests_as_many_as_ctas(struct picture *p)
{
    grid_polls(p, 4, 4);
}

/* A cooperative grid of 16, the first twelve of which have left. */
void grid_barrier_some_left(struct picture *p)
{
    grid_polls(p, 4, 16);
    p->snapshot.launches[0].flags = WSDBG_LAUNCH_COOPERATIVE;
    for (uint32_t i = 0; i < 4; i++)
        p->snapshot.ctas[i].x = 12 + i;
}

/* CTAs with high numbers are there: the others may have ended before. */
void earlier_ctas_gone(struct picture *p)
{
    not_resident(p);
    p->snapshot.ctas[3].x = 999;
}

void flag_to_come(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
}
