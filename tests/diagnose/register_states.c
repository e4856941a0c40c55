/* register_states.c - register pools: who holds, who asks, who has left.  See states.h. */
#include "states.h"

#include "gemm_shape.h"

/* Warps 4-11 ask for more; `code_releases`: a setmaxnreg.dec to 40 is in the code. */
static struct gemm pool_picture(struct picture *p, bool code_releases)
{
    struct gemm g = gemm_barriers(p, &full_filled, &empty_unused);
    if (code_releases)
        picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    g.release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, wait, 0, 0, 0);
    picture_reach(p, 4, 11, g.release, 0, 0, 2);
    picture_exit(p, 1, 3);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    return g;
}

/* Warp 0 gave 128 registers a thread back, which served warps 4 and 8 of its file; warps 1-3 left with all of theirs.
 */
void regs_partial(struct picture *p)
{
    const struct gemm g = pool_picture(p, true);
    picture_wait(p, 5, 7, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_wait(p, 9, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 40, 0);
    picture_holds(p, 4, 11, 168, 232);
    picture_holds(p, 4, 4, 232, 0);
    picture_holds(p, 8, 8, 232, 0);
}

/* ... and all three of that file have left: what they held tell those of their warpgroups that were not served. */
void regs_partial_served_left(struct picture *p)
{
    const struct gemm g = pool_picture(p, true);
    picture_access(p, WSDBG_ACCESS_REGISTERS_REQUEST, 0, 1, 232, WSDBG_LANES_ALL);
    picture_wait(p, 1, 3, MBARRIER_WAIT, g.empty[0], 0);
    picture_holds(p, 1, 3, 168, 0);
    picture_wait(p, 5, 7, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_wait(p, 9, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 5, 7, 168, 232);
    picture_holds(p, 9, 11, 168, 232);
    for (uint32_t warp = 0; warp <= 8; warp += 4)
        picture_exit(p, warp, warp);
}

/* 40 x 128 + 240 x 256: one warp of two is served in each file. */
void regs_exhausted(struct picture *p)
{
    const struct gemm g = pool_picture(p, true);
    picture_wait(p, 4, 7, MBARRIER_WAIT, g.full[0], 1);
    picture_wait(p, 8, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 40, 0);
    picture_holds(p, 4, 7, 240, 0);
    picture_holds(p, 8, 11, 168, 240);
}

void regs_no_release(struct picture *p)
{
    const struct gemm g = pool_picture(p, false);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 168, 0);
    picture_holds(p, 4, 11, 168, 232);
}

/* Warps 0 to 3 have not released registers yet: they wait at the cluster barrier.  Warp 4 may not have arrived there:
 * it waits for registers. */
void release_behind_a_barrier(struct picture *p)
{
    const struct gemm g = gemm_barriers(p, &full_unused, &empty_unused);
    const uint32_t dec = picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    const uint32_t cluster = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    picture_reach(p, 0, 3, dec, 0, 0, 2);
    picture_reach(p, 4, 4, arrive, 0, 1, 2);
    picture_wait(p, 0, 3, WSDBG_WARP_WAIT_CLUSTER, cluster, 0);
    picture_wait(p, 5, 11, WSDBG_WARP_WAIT_CLUSTER, cluster, 0);
    picture_wait(p, 4, 4, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 3, 168, 0);
    picture_holds(p, 5, 11, 168, 0);
    picture_holds(p, 4, 4, 168, 232);
}

/* ... and nobody can follow whether those release registers. */
void release_perhaps_behind_a_barrier(struct picture *p)
{
    release_behind_a_barrier(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->snapshot.accesses[p->pending[i].access].kind == WSDBG_ACCESS_REGISTERS_RELEASE)
            p->pending[i].after = 1;
}

/* The loading warps run and have not reached their setmaxnreg.dec yet. */
void release_to_come(struct picture *p)
{
    const struct gemm g = gemm_barriers(p, &full_unused, &empty_unused);
    const uint32_t dec = picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, dec, 0, 0, 2);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 4, 11, 168, 232);
}
