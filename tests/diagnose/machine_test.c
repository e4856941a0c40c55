/* machine_test.c - causes from the machine's state and the code alone.  Each row states what one look at the GPU finds
 * and what is to be said of it, after one look (a core dump) and after two equal ones (live).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "picture.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define PROVEN WSDBG_CONFIDENCE_PROVEN
#define MBARRIER_WAIT WSDBG_WARP_WAIT_MBARRIER

/* ---- the reference GEMM: warp 0 fills 4 stages, warps 1-3 have left, warps 4-11 multiply ---- */

enum { FULL, EMPTY, STAGES = 4 };
enum { ROLE_PRODUCER, ROLE_CONSUMER_0, ROLE_CONSUMER_1 };
#define BYTES 49152u

struct gemm {
    uint32_t full[STAGES], empty[STAGES];
    uint32_t expect, release, pool;
};

/* Words of one family, stage by stage. */
struct words {
    uint32_t phase[STAGES], pending[STAGES];
    int64_t bytes[STAGES];
};

static const struct words full_unused = {.pending = {1, 1, 1, 1}}, empty_unused = {.pending = {8, 8, 8, 8}};
static const struct words full_filled = {.phase = {1, 1, 1, 1}, .pending = {1, 1, 1, 1}};

static struct gemm gemm_barriers(struct picture *p, const struct words *full, const struct words *empty)
{
    struct gemm g;
    picture_init(p, 2, 12, 168);
    picture_role(p, ROLE_PRODUCER, "producer", 0, 3);
    picture_role(p, ROLE_CONSUMER_0, "consumer 0", 4, 7);
    picture_role(p, ROLE_CONSUMER_1, "consumer 1", 8, 11);
    picture_name(p, FULL, "full", STAGES, 1 << ROLE_PRODUCER, 1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1);
    picture_name(p, EMPTY, "empty", STAGES, 1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1, 1 << ROLE_PRODUCER);
    for (uint32_t s = 0; s < STAGES; s++) {
        g.full[s] = picture_mbarrier(p, FULL, s, full->phase[s], full->pending[s], 1, full->bytes[s]);
        g.empty[s] = picture_mbarrier(p, EMPTY, s, empty->phase[s], empty->pending[s], 8, empty->bytes[s]);
    }
    g.pool = picture_object(p, WSDBG_BARRIER_REGISTERS, 0);
    return g;
}

/* The code, for warps that stand in their loops. */
static struct gemm gemm_picture(struct picture *p, const struct words *full, const struct words *empty)
{
    struct gemm g = gemm_barriers(p, full, empty);
    const uint32_t init = picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    g.expect = picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    const uint32_t copy = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    g.release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_UNKNOWN);
    const uint32_t at_end =
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_UNKNOWN);
    picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    picture_reach(p, 0, 11, init, 0, 1, 0);
    picture_reach(p, 0, 0, g.expect, 0, 255, 2);
    picture_reach(p, 0, 0, copy, 0, 255, 2);
    picture_reach(p, 0, 0, g.release, 0, 0, 0);
    picture_reach(p, 4, 11, g.expect, 0, 0, 0);
    picture_reach(p, 4, 11, g.release, 0, 255, 2);
    picture_reach(p, 4, 11, at_end, 0, 255, 2);
    picture_holds(p, 0, 3, 40, 0);
    picture_holds(p, 4, 11, 232, 0);
    picture_exit(p, 1, 3);
    return g;
}

static void both_wait(struct picture *p, uint32_t empty, uint32_t empty_parity, uint32_t full, uint32_t full_parity)
{
    picture_wait(p, 0, 0, MBARRIER_WAIT, empty, empty_parity);
    picture_part(p, 0, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, full, full_parity);
}

/* The producer waits for the parity of a filled slot before its first one. */
static void parity_wrong(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* One loader may announce its bytes in two steps, the second with the arrival: nothing is shared by that. */
static void parity_wrong_in_two_steps(struct picture *p)
{
    parity_wrong(p);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
}

/* The same after the ring has been round: stages 1 to 3 were filled and released once. */
static void parity_drift(struct picture *p)
{
    const struct words full = {.phase = {0, 1, 1, 1}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {0, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Nothing was touched, but the consumers came through two arrives on each slot before their loop. */
static void double_arrive(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    for (uint32_t i = 0; i < 2 * STAGES; i++) {
        const uint32_t hand_over =
            picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1, 1, WSDBG_LANES_ONE);
        picture_reach(p, 0, 0, hand_over, 0, 1, 0);
        picture_reach(p, 4, 11, hand_over, 0, 1, 0);
    }
}

/* The loop was unrolled: two rounds of the slot are over and lie behind the consumers, with their waits and arrivals.
 */
static void unrolled_rounds(struct picture *p)
{
    double_arrive(p);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wait, 1, 1, 0);
}

/* One hand-over is how such kernels start; then the phases differ while a slot is free, and a wait for parity 1 is
 * the wrong one. */
static void parity_wrong_after_hand_over(struct picture *p)
{
    const struct words empty = {.phase = {1, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_unused, &empty);
    both_wait(p, g.empty[0], 1, g.full[0], 0);
    const uint32_t hand_over =
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 4, 11, hand_over, 0, 255, 0);
}

/* Every slot is filled as far as the copies go, and the producer is back at the first. */
static void tx_mismatch(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The same with copies under way: each slot at another point. */
static void copies_under_way(struct picture *p)
{
    const struct words full = {.bytes = {1024, 16384, 32768, 49152}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

static void no_bytes_came(struct picture *p)
{
    const struct words full = {.bytes = {BYTES, BYTES, BYTES, BYTES}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Half of the arrivals on the slot of a tile's last k-block are there; everybody stands at the next round of it. */
static void arrive_missing(struct picture *p)
{
    const struct words full = {.phase = {1, 1, 1, 0}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 0, 1}, .pending = {8, 8, 8, 4}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    both_wait(p, g.empty[3], 1, g.full[3], 0);
}

/* Arrivals left over on every stage: some warps may as well have arrived too often. */
static void arrivals_left_over(struct picture *p)
{
    const struct words empty = {.pending = {7, 7, 7, 7}};
    const struct gemm g = gemm_picture(p, &full_filled, &empty);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ONE;
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

/* Half of the arrivals again, but consumer 0 stands in its epilogue at a named barrier: the cause is there. */
static void release_is_late(struct picture *p)
{
    const struct words full = {.phase = {1, 1, 1, 0}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 0, 1}, .pending = {8, 8, 8, 4}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    const uint32_t named = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 256, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[3], 1);
    picture_wait(p, 4, 7, WSDBG_WARP_WAIT_NAMED, named, 0);
    picture_wait(p, 8, 11, MBARRIER_WAIT, g.full[3], 0);
    picture_count(p, 4, 7, 256);
    picture_reach(p, 4, 7, sync, 0, 255, 2);
    picture_reach(p, 8, 11, sync, 0, 0, 0);
}

/* The producer counted a tile too few and left. */
static void waker_exited(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[2], 0);
}

/* The producer counted a tile too few and has come to the block's last sync, which the consumers come to later. */
static void producer_done(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    const uint32_t sync = picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_NAMED, sync, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[2], 0);
    picture_reach(p, 4, 11, last, 0, 0, 2);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp % 12 == 0)
            p->pending[i].after = 0;
}

/* Two loaders, one of which only expects bytes: the other has finished, and so have the consumers. */
static void shared_full_barrier(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_exit(p, 4, 11);
}

/* Both loaders wait, at different turns, and the consumers for the slot that the slower one should fill. */
static void shared_full_in_step(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    for (uint32_t cta = 0; cta < 2; cta++) /* warp 1 has not left */
        p->snapshot.warps[cta * 12 + 1].state = WSDBG_WARP_RUNNING;
    picture_reach(p, 0, 1, expect, 0, 255, 2);
    picture_reach(p, 1, 1, g.expect, 0, 255, 2);
    picture_wait(p, 1, 1, MBARRIER_WAIT, g.empty[2], 0);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The loader fills two barriers of the same stage and nobody is left: which of them belongs to the slot is not known.
 */
static void two_fulls(struct picture *p)
{
    shared_full_barrier(p);
    picture_mbarrier(p, 2, 0, 0, 1, 1, 0);
    picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(2, 0), 1, 512, WSDBG_LANES_ONE);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(2, 0), 1, 512, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, other, 0, 255, 2);
}

/* The producer has left, but the consumers come to an arrival whose barrier could not be followed for certain. */
static void doubtful_arrival(struct picture *p)
{
    waker_exited(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(3, 0), 1, 1, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrive].certain = false;
    picture_reach(p, 4, 11, arrive, 0, 255, 2);
}

/* One warp of each CTA was not seen: it could be anywhere. */
static void a_warp_unseen(struct picture *p)
{
    waker_exited(p);
    p->snapshot.grids[0].warps_per_cta = 13;
}

/* The same where the barrier counts both loaders. */
static void two_arrivals(struct picture *p)
{
    shared_full_barrier(p);
    for (size_t i = 0; i < p->snapshot.barrier_count; i++)
        if (p->snapshot.barriers[i].id == FULL && p->snapshot.barriers[i].kind == WSDBG_BARRIER_MBARRIER)
            p->snapshot.barriers[i].pending_arrivals = p->snapshot.barriers[i].expected_arrivals = wsdbg_known_u32(2);
}

/* The producer has left, but some consumer warp runs: perhaps what it does is not understood. */
static void one_still_runs(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 10, MBARRIER_WAIT, g.full[2], 0);
}

/* The producer has filled all slots and the consumers left without taking the last ones: no shared barrier here. */
static void producer_runs_on(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_exit(p, 4, 11);
}

/* Two rings, as for the keys and values of attention.  The loader waits in both for the right phase of a slot; the
 * consumers wait for bytes that do not come.  The slots of one ring say nothing about the other's. */
static void two_rings(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    enum { OTHER_FULL = 2, OTHER_EMPTY };
    const uint32_t other_full = picture_mbarrier(p, OTHER_FULL, 0, 0, 1, 1, 0);
    const uint32_t other_empty = picture_mbarrier(p, OTHER_EMPTY, 0, 0, 8, 8, 0);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(OTHER_FULL, 0), 1, 512, WSDBG_LANES_ONE);
    const uint32_t release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OTHER_EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
    picture_reach(p, 4, 11, release, 0, 255, 2);
    (void)other_full;
    both_wait(p, other_empty, 0, g.full[0], 0);
}

/* 240 registers do not fit.  Consumer 0's warp 4 was not served, its mates were and stand at their first wgmma: they do
 * not run, and nobody else does. */
static void wgmma_held_up(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t wgmma = picture_access(p, WSDBG_ACCESS_WGMMA, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 4, wgmma, 0, 0, 2);
    picture_reach(p, 5, 11, wgmma, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 4, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_wait(p, 5, 7, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
    picture_wait(p, 8, 8, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
    picture_wait(p, 9, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 4, 4, 168, 240);
    picture_holds(p, 5, 8, 240, 0);
    picture_holds(p, 9, 11, 168, 240);
}

/* The tensor cores work: everybody else waits for what comes after. */
static void wgmma_at_work(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t wgmma = picture_access(p, WSDBG_ACCESS_WGMMA, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wgmma, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
}

/* The same with one warp of a warpgroup ahead of its mates: it waits for the next bytes, they finish with these. */
static void wgmma_behind(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t wgmma = picture_access(p, WSDBG_ACCESS_WGMMA, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wgmma, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 4, MBARRIER_WAIT, g.full[1], 1);
    picture_wait(p, 5, 7, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
    picture_wait(p, 8, 11, MBARRIER_WAIT, g.full[1], 1);
}

/* The same where it is not known whose code arrives: producers and consumers have left, any of them may be meant. */
static void somebody_left(struct picture *p)
{
    producer_runs_on(p);
    for (size_t i = 0; i < p->snapshot.name_count; i++)
        p->snapshot.names[i].arriving_roles = 0;
}

/* ---- registers ---- */

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
static void regs_partial(struct picture *p)
{
    const struct gemm g = pool_picture(p, true);
    picture_wait(p, 5, 7, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_wait(p, 9, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 40, 0);
    picture_holds(p, 4, 11, 168, 232);
    picture_holds(p, 4, 4, 232, 0);
    picture_holds(p, 8, 8, 232, 0);
}

/* 40 x 128 + 240 x 256: one warp of two is served in each file. */
static void regs_exhausted(struct picture *p)
{
    const struct gemm g = pool_picture(p, true);
    picture_wait(p, 4, 7, MBARRIER_WAIT, g.full[0], 1);
    picture_wait(p, 8, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 40, 0);
    picture_holds(p, 4, 7, 240, 0);
    picture_holds(p, 8, 11, 168, 240);
}

static void regs_no_release(struct picture *p)
{
    const struct gemm g = pool_picture(p, false);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 0, 0, 168, 0);
    picture_holds(p, 4, 11, 168, 232);
}

/* The loading warps run and have not come to their setmaxnreg.dec yet. */
static void release_to_come(struct picture *p)
{
    const struct gemm g = gemm_barriers(p, &full_unused, &empty_unused);
    const uint32_t dec = picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, dec, 0, 0, 2);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_REGISTERS, g.pool, 0);
    picture_holds(p, 4, 11, 168, 232);
}

/* ---- small kernels of four warps ---- */

static uint32_t small(struct picture *p, uint32_t pending, uint32_t expected, int64_t bytes)
{
    picture_init(p, 1, 4, 32);
    return picture_mbarrier(p, FULL, 0, 0, pending, expected, bytes);
}

static uint32_t block_sync(struct picture *p, uint32_t first_warp, uint32_t last_warp)
{
    const uint32_t sync = picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_wait(p, first_warp, last_warp, WSDBG_WARP_WAIT_NAMED, sync, 0);
    picture_count(p, first_warp, last_warp, 0);
    return sync;
}

static void arrive_short(struct picture *p)
{
    const uint32_t bar = small(p, 32, 96, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 1, 1, 0);
    picture_reach(p, 2, 3, arrive, 0, 0, 0);
    picture_reach(p, 2, 3, last, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

/* The same where it could not be followed how many lanes arrive: two warps of 32 lanes fit. */
static void arrive_short_of_some_lanes(struct picture *p)
{
    arrive_short(p);
    p->snapshot.accesses[0].lanes = WSDBG_LANES_UNKNOWN;
}

/* ... and where they do not fit, a lane may have left out its arrival. */
static void arrive_of_some_lanes(struct picture *p)
{
    arrive_short_of_some_lanes(p);
    p->snapshot.barriers[0].pending_arrivals = wsdbg_known_u32(40);
}

/* Loaders that copy with cp.async: its arrivals come when the copies have landed. */
static void copies_that_arrive(struct picture *p)
{
    const uint32_t bar = small(p, 64, 64, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_COPY_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 1, 1, 0);
    picture_reach(p, 2, 3, arrive, 0, 0, 0);
    picture_reach(p, 2, 3, last, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

static void tx_no_arrive(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t expect = picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), 1, 1024, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, expect, 0, 1, 0);
    picture_reach(p, 1, 1, last, 0, 0, 2);
    picture_wait(p, 1, 1, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 0);
    block_sync(p, 2, 3);
}

/* The same where the address of expect_tx could not be followed: there is no other mbarrier. */
static void tx_no_arrive_somewhere(struct picture *p)
{
    tx_no_arrive(p);
    p->snapshot.accesses[0].certain = p->snapshot.accesses[0].address.known = false;
}

/* ... and where there is one, the bytes may be announced there. */
static void tx_announced_elsewhere(struct picture *p)
{
    tx_no_arrive_somewhere(p);
    picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
}

static void copy_missing(struct picture *p)
{
    const uint32_t bar = small(p, 0, 1, 1024);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), 1, 1024, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, expect, 0, 1, 0);
    picture_reach(p, 1, 3, last, 0, 0, 2);
    picture_wait(p, 1, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 0);
}

/* Lane 0 waits for arrivals of the other lanes, which wait for lane 0. */
static void lane_split(struct picture *p)
{
    const uint32_t bar = small(p, 31, 31, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_UNKNOWN);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 1, 1, arrive, 0, 0, 2);
    picture_reach(p, 1, 1, last, 0, 0, 2);
    picture_reach(p, 0, 0, last, 1, 1, 0);
    picture_reach(p, 2, 3, last, 1, 1, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, bar, 0);
    picture_part(p, 1, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    block_sync(p, 0, 0);
    block_sync(p, 2, 3);
}

/* The same where the address of the arrival could not be followed. */
static void lane_split_doubtful(struct picture *p)
{
    lane_split(p);
    p->snapshot.accesses[0].certain = p->snapshot.accesses[0].address.known = false;
}

static void not_initialised(struct picture *p)
{
    const uint32_t bar = small(p, 0, 0, 0);
    struct wsdbg_barrier *row = &p->snapshot.barriers[bar];
    row->phase = row->pending_arrivals = row->expected_arrivals = (struct wsdbg_optional_u32){0};
    row->pending_tx_bytes = (struct wsdbg_optional_u64){0};
    row->word = wsdbg_known_u64(0);
    picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 1), 1, 32, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, last, 0, 0, 2);
    picture_reach(p, 1, 3, last, 1, 1, 0);
    picture_wait(p, 0, 0, MBARRIER_WAIT, bar, 0);
    block_sync(p, 1, 3);
}

static void named_count(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t one = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 96, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, last, 0, 0, 2);
    picture_reach(p, 2, 3, sync, 0, 0, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_NAMED, one, 0);
    picture_count(p, 0, 1, 96);
    block_sync(p, 2, 3);
}

/* The same where the instruction is guarded and stands on everybody's way: the other two are behind it, but two warps
 * alone cannot have opened it before. */
static void named_count_guarded(struct picture *p)
{
    named_count(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access == 0)
            p->pending[i].before_most = 1;
}

/* The same in a loop, and the other two have come through the barrier before: rather a round too few. */
static void named_round_missing(struct picture *p)
{
    named_count(p);
    const uint32_t before = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, 1, 1, 96, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, 0, 1, 255, 2);
    picture_reach(p, 2, 3, before, 1, 255, 0);
}

/* One warp has left: it may be the one that is missing. */
static void named_one_left(struct picture *p)
{
    named_count(p);
    picture_exit(p, 3, 3);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 3)
            p->snapshot.parts[i] = p->snapshot.parts[--p->snapshot.part_count];
}

/* All wait, but where warp 0 goes on to is not known. */
static void unknown_way_on(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 1, 3, last, 0, 0, 2);
    picture_reach(p, 1, 3, arrive, 0, 0, 0);
    picture_wait(p, 1, 3, MBARRIER_WAIT, bar, 0);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_GRID_DEPENDENCY, WSDBG_NONE, 0);
}

/* Nobody has left and nobody can arrive; the arrival in the code is on no path of these warps. */
static void nobody_left(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 3, arrive, 0, 0, 0);
    picture_wait(p, 0, 3, MBARRIER_WAIT, bar, 0);
}

/* The other two might still come to the barrier: they run. */
static void named_gathers(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t one = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 128, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, sync, 1, 1, 0);
    picture_reach(p, 2, 3, sync, 0, 0, 2);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_NAMED, one, 0);
    picture_count(p, 0, 1, 128);
}

static void block_sync_in_role(struct picture *p)
{
    const uint32_t bar = small(p, 64, 64, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 0, 0, 2);
    picture_reach(p, 2, 3, other, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

static void two_mbarriers(struct picture *p)
{
    picture_init(p, 1, 2, 32);
    const uint32_t a = picture_mbarrier(p, 0, 0, 0, 32, 32, 0), b = picture_mbarrier(p, 1, 0, 0, 32, 32, 0);
    const uint32_t arrive_a = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t arrive_b = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, a, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, b, 0);
    picture_reach(p, 0, 0, arrive_b, 0, 0, 2);
    picture_reach(p, 1, 1, arrive_a, 0, 0, 2);
}

static void global_flag(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 1, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
}

/* A kernel that waits for the host, as a server does. */
static void host_flag(struct picture *p)
{
    global_flag(p);
    strcpy(p->snapshot.sites[p->snapshot.site_count - 1].instruction, "LDG.E.STRONG.SYS R0, desc[UR4][R2.64]");
}

static void not_resident(struct picture *p)
{
    global_flag(p);
    p->snapshot.launches[0].grid[0] = 1000;
    p->snapshot.grids[0].cta_total = 1000;
}

/* CTAs with high numbers are there: the others may have ended before. */
static void earlier_ctas_gone(struct picture *p)
{
    not_resident(p);
    p->snapshot.ctas[3].x = 999;
}

static void flag_to_come(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
}

static void everybody_works(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    block_sync(p, 0, 0);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 1, 1, last, 0, 255, 2);
}

/* The producer runs: it is slow, the consumers wait for it. */
static void slow_producer(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
}

/* Nobody knows where warp 0 stands: it may do anything. */
static void unknown_code(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
    for (uint32_t cta = 0; cta < 2; cta++)
        p->snapshot.warps[cta * 12].state = WSDBG_WARP_UNKNOWN;
}

/* The wait has ended, the warp was stopped before it could see that. */
static void wait_has_ended(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* ---- clusters ---- */

static uint32_t cluster(struct picture *p)
{
    picture_init(p, 2, 2, 32);
    for (uint32_t cta = 0; cta < 2; cta++) {
        p->snapshot.ctas[cta].cluster_id = 0;
        p->snapshot.ctas[cta].cluster_rank = cta;
        p->snapshot.ctas[cta].cluster_size = 2;
    }
    return picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
}

/* CTA 0 stands at the cluster barrier, CTA 1 waits for an arrival that CTA 0 makes after it. */
static void cluster_missing(struct picture *p)
{
    const uint32_t bar = cluster(p), barrier = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    p->snapshot.accesses[arrive].any_rank = true;
    picture_reach(p, 0, 1, arrive, 0, 0, 2);
    picture_reach(p, 0, 1, join, 1, 1, 2);
    picture_wait(p, 0, 1, MBARRIER_WAIT, bar, 0);
    for (uint32_t w = 0; w < 2; w++) {
        p->snapshot.warps[w].state = p->snapshot.parts[w].state = WSDBG_WARP_WAIT_CLUSTER;
        p->snapshot.warps[w].barrier = p->snapshot.parts[w].barrier = barrier;
    }
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access == arrive && p->pending[i].warp >= 2)
            p->pending[i].after = 0;
}

/* All threads stand at the cluster barrier: it opens. */
static void cluster_opens(struct picture *p)
{
    cluster(p);
    const uint32_t barrier = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    p->snapshot.barriers[barrier].pending_arrivals = wsdbg_known_u32(0);
    p->snapshot.barriers[barrier + 1].pending_arrivals = wsdbg_known_u32(0);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, join, 1, 1, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_CLUSTER, barrier, 0);
}

/* CTA 1 of the cluster has left: it is not among the CTAs seen. */
static void peer_exited(struct picture *p)
{
    const uint32_t bar = cluster(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrive].any_rank = true;
    picture_reach(p, 0, 1, arrive, 0, 0, 0);
    picture_wait(p, 0, 1, MBARRIER_WAIT, bar, 0);
    p->snapshot.cta_count = p->snapshot.grids[0].cta_count = p->ctas = 1;
    p->snapshot.warp_count = 2;
    p->snapshot.part_count = 2;
    p->pending_count = 2;
}

/* Two CTAs of a cluster that release each other's slots. */
static struct gemm gemm_cluster(struct picture *p, const struct words *full, const struct words *empty)
{
    const struct gemm g = gemm_picture(p, full, empty);
    for (uint32_t cta = 0; cta < 2; cta++) {
        p->snapshot.ctas[cta].cluster_id = 0;
        p->snapshot.ctas[cta].cluster_rank = cta;
        p->snapshot.ctas[cta].cluster_size = 2;
    }
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].any_rank =
            p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE || p->snapshot.accesses[i].kind == WSDBG_ACCESS_COPY;
    return g;
}

static void cluster_parity_wrong(struct picture *p)
{
    const struct gemm g = gemm_cluster(p, &full_unused, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

static void cluster_tx_mismatch(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* A ring of mbarriers, and warps that have come to the cluster barrier at the end: those are only waiting. */
static void ring_before_cluster_barrier(struct picture *p)
{
    const uint32_t a = cluster(p), b = picture_mbarrier(p, 1, 0, 0, 1, 1, 0);
    const uint32_t end = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    const uint32_t arrive_a = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t arrive_b = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, a, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, b, 0);
    picture_reach(p, 0, 0, arrive_b, 0, 0, 2);
    picture_reach(p, 1, 1, arrive_a, 0, 0, 2);
    picture_reach(p, 0, 1, join, 0, 0, 2);
    for (uint32_t w = 2; w < 4; w++) {
        p->snapshot.warps[w].state = p->snapshot.parts[w == 2 ? 1 : 3].state = WSDBG_WARP_WAIT_CLUSTER;
        p->snapshot.warps[w].barrier = p->snapshot.parts[w == 2 ? 1 : 3].barrier = end + 1;
    }
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp >= 2)
            p->pending[i].after = 0;
}

static void cluster_arrive_missing(struct picture *p)
{
    const struct words full = {.phase = {1, 1, 1, 0}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 0, 1}, .pending = {8, 8, 8, 4}};
    const struct gemm g = gemm_cluster(p, &full, &empty);
    both_wait(p, g.empty[3], 1, g.full[3], 0);
}

/* Rank 1's loader is stopped elsewhere: rank 0 lacks the half that it would have brought, and that is no mismatch. */
static void cluster_bytes_from_peer(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    for (uint32_t s = 0; s < STAGES; s++) {
        struct wsdbg_barrier *peer = &p->snapshot.barriers[g.full[s] + 1];
        peer->pending_arrivals = wsdbg_known_u32(1);
        peer->pending_tx_bytes = wsdbg_known_u64(0);
    }
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    const uint32_t named = picture_object(p, WSDBG_BARRIER_NAMED, 3);
    struct wsdbg_warp_row *loader = &p->snapshot.warps[12];
    loader->state = WSDBG_WARP_WAIT_NAMED;
    loader->barrier = named + 1;
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 12 && p->snapshot.parts[i].state == MBARRIER_WAIT)
            p->snapshot.parts[i] = (struct wsdbg_part){.warp = 12,
                                                       .lanes = 1,
                                                       .state = WSDBG_WARP_WAIT_NAMED,
                                                       .barrier = named + 1,
                                                       .count = wsdbg_known_u32(256)};
}

/* CTA 1 has left, but arrivals come from the own CTA only. */
static void peer_exited_for_good(struct picture *p)
{
    peer_exited(p);
    p->snapshot.accesses[0].any_rank = false;
}

/* ---- what must be said ---- */

static const struct row {
    const char *name;
    void (*state)(struct picture *p);
    const char *cause;
    enum wsdbg_confidence one_look, two_looks;
    const char *role, *barrier; /* NULL = not looked at */
} table[] = {
    {"parity wrong", parity_wrong, "PARITY_WRONG", LIKELY, LIKELY, "producer", "empty"},
    {"parity wrong, bytes in two steps", parity_wrong_in_two_steps, "PARITY_WRONG", LIKELY, LIKELY, "producer",
     "empty"},
    {"parity wrong later", parity_drift, "PARITY_DRIFT", LIKELY, LIKELY, "producer", "empty"},
    {"double arrive", double_arrive, "DOUBLE_ARRIVE", LIKELY, LIKELY, "consumer 0", "empty"},
    {"rounds of an unrolled loop", unrolled_rounds, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"parity wrong after a hand-over", parity_wrong_after_hand_over, "PARITY_WRONG", LIKELY, LIKELY, "producer",
     "empty"},
    {"bytes expected that no copy brings", tx_mismatch, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"copies under way", copies_under_way, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"no bytes at all", no_bytes_came, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, "producer", "full"},
    {"arrivals missing", arrive_missing, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"arrivals left over everywhere", arrivals_left_over, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"arrivals late for another reason", release_is_late, "NAMED_COUNT", LIKELY, LIKELY, "consumer 0", NULL},
    {"two rings", two_rings, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"a wgmma held up", wgmma_held_up, "REGS_EXHAUSTED", PROVEN, PROVEN, NULL, NULL},
    {"a wgmma at work", wgmma_at_work, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"the producer left", waker_exited, "WAKER_EXITED", PROVEN, PROVEN, "producer", "full"},
    {"the producer is done", producer_done, "ROLE_DISAGREE", LIKELY, LIKELY, "producer", "full"},
    {"two loaders, one arrival", shared_full_barrier, "TX_SHARED_BARRIER", LIKELY, LIKELY, "producer", "full"},
    {"two loaders out of step", shared_full_in_step, "TX_SHARED_BARRIER", LIKELY, LIKELY, "producer", "full"},
    {"two barriers to fill", two_fulls, "WAKER_EXITED", PROVEN, PROVEN, NULL, "empty"},
    {"an arrival on some barrier", doubtful_arrival, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a warp that was not seen", a_warp_unseen, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"two loaders, two arrivals", two_arrivals, "WAKER_EXITED", PROVEN, PROVEN, NULL, "empty"},
    {"the producer left, somebody runs", one_still_runs, "WAKER_EXITED", POSSIBLE, LIKELY, "producer", "full"},
    {"the consumers left", producer_runs_on, "WAKER_EXITED", PROVEN, PROVEN, "consumer 0", "empty"},
    {"somebody left", somebody_left, "WAKER_EXITED", PROVEN, PROVEN, "none", "empty"},
    {"part of a warpgroup released", regs_partial, "REGS_PARTIAL_WARPGROUP", LIKELY, PROVEN, "producer", NULL},
    {"240 registers do not fit", regs_exhausted, "REGS_EXHAUSTED", PROVEN, PROVEN, NULL, NULL},
    {"nobody released", regs_no_release, "REGS_EXHAUSTED", PROVEN, PROVEN, "producer", NULL},
    {"a release to come", release_to_come, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"too many arrivals expected", arrive_short, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"too many expected, lanes not known", arrive_short_of_some_lanes, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"arrivals of some lanes", arrive_of_some_lanes, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"bytes announced somewhere", tx_no_arrive_somewhere, "TX_NO_ARRIVE", LIKELY, PROVEN, NULL, NULL},
    {"bytes announced elsewhere", tx_announced_elsewhere, "ARRIVE_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"bytes without an arrival", tx_no_arrive, "TX_NO_ARRIVE", LIKELY, PROVEN, NULL, NULL},
    {"a copy that is not issued", copy_missing, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, NULL, NULL},
    {"lanes apart", lane_split, "LANE_SPLIT", LIKELY, PROVEN, NULL, NULL},
    {"lanes apart, arrival doubtful", lane_split_doubtful, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"no mbarrier there", not_initialised, "BARRIER_NOT_INIT", LIKELY, PROVEN, NULL, NULL},
    {"a named barrier counts too many", named_count, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"a guarded named barrier", named_count_guarded, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"a round of a named barrier is missing", named_round_missing, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a named barrier and a warp that left", named_one_left, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a way on that is not known", unknown_way_on, "GRID_DEPENDENCY", POSSIBLE, POSSIBLE, NULL, NULL},
    {"nobody can arrive, nobody left", nobody_left, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a named barrier still gathers", named_gathers, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"a block-wide sync in one role", block_sync_in_role, "BLOCK_SYNC_IN_ROLE", LIKELY, LIKELY, NULL, NULL},
    {"opposite order", two_mbarriers, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a flag nobody sets", global_flag, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"a flag the host may set", host_flag, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"CTAs that cannot start", not_resident, "NOT_RESIDENT", POSSIBLE, LIKELY, NULL, NULL},
    {"CTAs that may have ended", earlier_ctas_gone, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"a flag somebody may set", flag_to_come, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"honest work", everybody_works, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"a slow producer", slow_producer, "SLOW", LIKELY, LIKELY, NULL, NULL},
    {"code that is not known", unknown_code, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a wait that has ended", wait_has_ended, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a cluster barrier not reached", cluster_missing, "CLUSTER_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"parity wrong in a cluster", cluster_parity_wrong, "PARITY_WRONG", LIKELY, LIKELY, "producer", "empty"},
    {"arrivals missing in a cluster", cluster_arrive_missing, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"bytes that no copy brings, in a cluster", cluster_tx_mismatch, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"a ring before the cluster barrier", ring_before_cluster_barrier, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a CTA left that is not needed", peer_exited_for_good, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"bytes another CTA would bring", cluster_bytes_from_peer, "NAMED_COUNT", LIKELY, LIKELY, "producer", NULL},
    {"a CTA of the cluster left", peer_exited, "PEER_EXITED", LIKELY, LIKELY, NULL, NULL},
};

static const char *role_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->role.known ? wsdbg_snapshot_name(snapshot, 0, WSDBG_NAME_ROLE, finding->role.value) : NULL;
    return name ? name->name : "none";
}

static const char *barrier_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->barrier < snapshot->barrier_count ? snapshot->barriers[finding->barrier].name : NULL;
    return name ? name->name : "none";
}

/* Nothing contradicts the verdict: what else is said is less sure, or of the same cause. */
static void assert_one_cause(const struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 1; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].confidence >= LIKELY)
            assert_int_equal(diagnosis->findings[i].cause, diagnosis->findings[0].cause);
}

static void check(const struct row *row, bool still)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    row->state(&p);
    if (still)
        picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *finding = &diagnosis.findings[0];
    if (strcmp(wsdbg_cause_name(finding->cause), row->cause) != 0)
        print_error("%s, %s: %s\n", row->name, still ? "two looks" : "one look", finding->sentence);
    assert_string_equal(wsdbg_cause_name(finding->cause), row->cause);
    if (finding->confidence != (still ? row->two_looks : row->one_look))
        print_error("%s, %s: %s: %s\n", row->name, still ? "two looks" : "one look",
                    wsdbg_confidence_name(finding->confidence), finding->sentence);
    assert_int_equal(finding->confidence, still ? row->two_looks : row->one_look);
    assert_int_equal(diagnosis.hang, finding->confidence >= LIKELY && finding->cause != WSDBG_CAUSE_SLOW);
    if (row->role)
        assert_string_equal(role_of(&p.snapshot, finding), row->role);
    if (row->barrier)
        assert_string_equal(barrier_of(&p.snapshot, finding), row->barrier);
    assert_true(finding->cause == WSDBG_CAUSE_SLOW || finding->cause == WSDBG_CAUSE_UNKNOWN ||
                finding->cause == WSDBG_CAUSE_WAIT_CYCLE || finding->fix[0]);
    assert_one_cause(&diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* Two looks that differ, at a moment at which all slots happen to lack the same. */
static void copies_that_move_are_no_mismatch(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    tx_mismatch(&p);
    picture_still(&p);
    p.snapshot.looks[1].moved = 1;
    picture_judge(&p, &diagnosis);
    assert_false(diagnosis.hang);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* The same state, but another CTA moved between two looks; *before is what the first one saw. */
static bool hangs_beside_movement(void (*state)(struct picture *p), void (*change)(struct wsdbg_snapshot *before))
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    state(&p);
    for (size_t b = 0; b < p.snapshot.barrier_count; b++)
        p.snapshot.barriers[b].word = wsdbg_known_u64(b);
    picture_still(&p);
    p.snapshot.looks[1].moved = 3;
    struct wsdbg_snapshot *before = calloc(1, sizeof *before);
    assert_non_null(before);
    assert_null(wsdbg_snapshot_copy(&p.snapshot, before));
    if (change)
        change(before);
    p.snapshot.before = before;
    picture_judge(&p, &diagnosis);
    const bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return hang;
}

static void change_a_word_of_each_cta(struct wsdbg_snapshot *before)
{
    before->barriers[0].word.value ^= 1;
    before->barriers[1].word.value ^= 1;
}

static void drop_the_ctas(struct wsdbg_snapshot *before)
{
    before->cta_count = 0;
}

static void a_cta_is_judged_by_its_own_movement(void **state)
{
    (void)state;
    assert_true(hangs_beside_movement(arrive_missing, NULL));
    assert_true(hangs_beside_movement(no_bytes_came, NULL)); /* no copy takes that long */
    assert_false(hangs_beside_movement(arrive_missing, change_a_word_of_each_cta));
    assert_false(hangs_beside_movement(waker_exited, change_a_word_of_each_cta));
    assert_false(hangs_beside_movement(arrive_missing, drop_the_ctas));
}

static void what_is_about_to_go_on_is_no_hang(void **state)
{
    (void)state;
    check(&(struct row){"all there", cluster_opens, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
    check(&(struct row){"mates at work", wgmma_behind, "SLOW", LIKELY, 0, NULL, NULL}, false);
    check(&(struct row){"arrivals to land", copies_that_arrive, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
}

/* The place is named by file and line, for inlined code with the caller in another file, else by function and offset.
 */
static void places_are_named_as_well_as_known(void **state)
{
    (void)state;
    static const char *const named[] = {"at kernel.cu:100", "at kernel.cu:100 (from main.cu:7)", "at kernel+0x"};
    for (unsigned i = 0; i < 3; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        parity_wrong(&p);
        struct wsdbg_site *site = &p.snapshot.sites[p.snapshot.warps[0].site];
        if (i == 1) {
            site->inlined_at = 0;
            strcpy(p.snapshot.sites[0].file, "main.cu");
            p.snapshot.sites[0].line = wsdbg_known_u32(7);
        }
        if (i == 2)
            site->file[0] = 0;
        picture_judge(&p, &diagnosis);
        if (!strstr(diagnosis.findings[0].sentence, named[i]))
            fail_msg("%s is not in: %s", named[i], diagnosis.findings[0].sentence);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

static void each_state_gives_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        check(&table[i], false);
        check(&table[i], true);
    }
}

/* ---- rows nobody can trust ---- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t odd_value(uint32_t *seed)
{
    static const uint32_t values[] = {0, 1, 31, 255, 1u << 16, INT32_MAX, UINT32_MAX - 1, UINT32_MAX};
    return values[next_random(seed) % (sizeof values / sizeof *values)];
}

/* Puts a value that nobody expects into one field of a row of each table. */
static void spoil(struct picture *p, uint32_t *seed)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    if (p->pending_count) {
        struct wsdbg_reach *reach = &p->pending[next_random(seed) % p->pending_count];
        uint32_t *const fields[] = {&reach->warp, &reach->access};
        *fields[next_random(seed) % 2] = odd_value(seed);
        reach->after = (uint8_t)odd_value(seed);
    }
    if (s->access_count) {
        struct wsdbg_access_row *access = &s->accesses[next_random(seed) % s->access_count];
        uint32_t *const fields[] = {&access->grid,          &access->site,   &access->kind,   &access->lanes,
                                    &access->address.value, &access->stride, &access->places, &access->count.value};
        *fields[next_random(seed) % 8] = odd_value(seed);
    }
    struct wsdbg_warp_row *warp = &s->warps[next_random(seed) % s->warp_count];
    uint32_t *const fields[] = {&warp->barrier, &warp->site, &warp->registers_held.value, &warp->registers_asked.value};
    *fields[next_random(seed) % 4] = odd_value(seed);
}

static void spoilt_rows_are_survived(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 4000; round++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        table[next_random(&seed) % (sizeof table / sizeof *table)].state(&p);
        for (uint32_t i = 0; i <= round % 3; i++)
            spoil(&p, &seed);
        picture_judge(&p, &diagnosis);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_gives_its_cause),        cmocka_unit_test(places_are_named_as_well_as_known),
        cmocka_unit_test(copies_that_move_are_no_mismatch),  cmocka_unit_test(a_cta_is_judged_by_its_own_movement),
        cmocka_unit_test(what_is_about_to_go_on_is_no_hang), cmocka_unit_test(spoilt_rows_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
