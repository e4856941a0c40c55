/* gemm_states.c - the reference GEMM in the states that its bugs leave it in, and in states that look alike.  See
 * states.h. */
#include "states.h"

#include "gemm_shape.h"

/* The producer waits for the parity of a filled slot before its first one. */
void parity_wrong(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* One loader may announce its bytes in two steps, the second with the arrival: nothing is shared by that. */
void parity_wrong_in_two_steps(struct picture *p)
{
    parity_wrong(p);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
}

/* A consumer may arrive on "full" as well, at an address that is one of many: perhaps the slot is filled by it. */
void parity_wrong_or_filled_by_another(struct picture *p)
{
    parity_wrong(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 11, 11, arrive, 0, 255, 2);
}

/* The same after the ring has been round: stages 1 to 3 were filled and released once. */
void parity_drift(struct picture *p)
{
    const struct words full = {.phase = {0, 1, 1, 1}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {0, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Nothing was touched, but the consumers came through two arrives on each slot before their loop. */
void double_arrive(struct picture *p)
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
void unrolled_rounds(struct picture *p)
{
    double_arrive(p);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wait, 1, 1, 0);
}

/* One hand-over is how such kernels start; then the phases differ while a slot is free, and a wait for parity 1 is
 * the wrong one. */
void parity_wrong_after_hand_over(struct picture *p)
{
    const struct words empty = {.phase = {1, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_unused, &empty);
    both_wait(p, g.empty[0], 1, g.full[0], 0);
    const uint32_t hand_over =
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 4, 11, hand_over, 0, 255, 0);
}

/* The consumers arrived once on each slot but the first before their loop. */
void hand_over_left_out(struct picture *p)
{
    const struct words empty = {.phase = {0, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_unused, &empty);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    for (uint32_t i = 1; i < STAGES; i++)
        picture_reach(p, 4, 11, picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i), 1, 1, WSDBG_LANES_ONE), 0,
                      1, 0);
}

/* The same where they had waited for a filled slot before: then these arrivals may be of rounds of an unrolled loop. */
void releases_behind(struct picture *p)
{
    hand_over_left_out(p);
    picture_reach(p, 4, 11, picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 1), 1, 0, WSDBG_LANES_ALL), 1, 1, 0);
}

/* Every slot is filled as far as the copies go, and the producer is back at the first. */
void tx_mismatch(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The same with copies under way: each slot at another point. */
void copies_under_way(struct picture *p)
{
    const struct words full = {.bytes = {1024, 16384, 32768, 49152}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

void no_bytes_came(struct picture *p)
{
    const struct words full = {.bytes = {BYTES, BYTES, BYTES, BYTES}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Each copy brought more than was announced, and the producer is back at the first slot. */
void too_many_bytes(struct picture *p)
{
    const struct words full = {.bytes = {-16384, -16384, -16384, -16384}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The same where the producer may announce a part of its bytes without arriving: it may yet do so. */
void too_many_in_two_steps(struct picture *p)
{
    too_many_bytes(p);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 16384, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
}

/* What stage 0 lacks came to stage 1, which nobody has announced: the copies name the wrong one. */
void bytes_elsewhere(struct picture *p)
{
    const struct words full = {.pending = {0, 1, 0, 0}, .bytes = {BYTES, -(int64_t)BYTES, BYTES, BYTES}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The same seen by those who wait on the stage that got too many. */
void bytes_from_elsewhere(struct picture *p)
{
    const struct words full = {.pending = {0, 0, 0, 0}, .bytes = {BYTES, -(int64_t)BYTES, 0, 0}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[1], 0);
}

/* Bytes that came early are right where the loader is at work: it announces them next. */
void bytes_early(struct picture *p)
{
    const struct words full = {.pending = {0, 1, 1, 1}, .bytes = {BYTES, -(int64_t)BYTES, 0, 0}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
}

/* The consumers reach the copy, the producer does not. */
static struct gemm copy_of_the_consumers(struct picture *p)
{
    const struct words full = {.bytes = {BYTES, BYTES, BYTES, BYTES}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->snapshot.accesses[p->pending[i].access].kind == WSDBG_ACCESS_COPY)
            p->pending[i].before_most = p->pending[i].after = 0;
    for (uint32_t i = 0; i < p->snapshot.access_count; i++)
        if (p->snapshot.accesses[i].kind == WSDBG_ACCESS_COPY)
            picture_reach(p, 4, 11, i, 0, 255, 2);
    return g;
}

/* All of them wait for the bytes first. */
void copy_stranded(struct picture *p)
{
    const struct gemm g = copy_of_the_consumers(p);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* The producer brings one operand; the copy of the other, which is as large as what is missing, is the consumers'. */
void one_copy_stranded(struct picture *p)
{
    copy_stranded(p);
    for (size_t b = 0; b < p->snapshot.barrier_count; b++)
        if (p->snapshot.barriers[b].kind == WSDBG_BARRIER_MBARRIER && p->snapshot.barriers[b].id == FULL)
            p->snapshot.barriers[b].pending_tx_bytes = wsdbg_known_u64(16384);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        if (p->snapshot.accesses[i].kind == WSDBG_ACCESS_COPY)
            p->snapshot.accesses[i].count = wsdbg_known_u32(16384);
    const uint32_t own =
        picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, BYTES - 16384, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, own, 0, 255, 2);
}

/* Some of them wait for a named barrier, and would issue the copy after that. */
void copy_to_come(struct picture *p)
{
    const struct gemm g = copy_of_the_consumers(p);
    const uint32_t named = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 256, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 7, MBARRIER_WAIT, g.full[0], 0);
    picture_wait(p, 8, 11, WSDBG_WARP_WAIT_NAMED, named, 0);
    picture_count(p, 8, 11, 256);
    picture_reach(p, 4, 11, sync, 0, 255, 2);
}

/* Half of the arrivals on the slot of a tile's last k-block are there; everybody stands at the next round of it. */
void arrive_missing(struct picture *p)
{
    const struct words full = {.phase = {1, 1, 1, 0}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 0, 1}, .pending = {8, 8, 8, 4}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    both_wait(p, g.empty[3], 1, g.full[3], 0);
}

/* Arrivals left over on every stage: some warps may as well have arrived too often. */
void arrivals_left_over(struct picture *p)
{
    const struct words empty = {.pending = {7, 7, 7, 7}};
    const struct gemm g = gemm_picture(p, &full_filled, &empty);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ONE;
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

/* Half of the arrivals again, but consumer 0 stands in its epilogue at a named barrier: the cause is there. */
void release_is_late(struct picture *p)
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
void waker_exited(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[2], 0);
}

/* The producer counted a tile too few and has reached the block's last sync, which the consumers reach later. */
void producer_done(struct picture *p)
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
void shared_full_barrier(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, 32768, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_exit(p, 4, 11);
}

/* Both loaders wait, at different turns, and the consumers for the slot that the slower one should fill. */
void shared_full_in_step(struct picture *p)
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
void two_fulls(struct picture *p)
{
    shared_full_barrier(p);
    picture_mbarrier(p, 2, 0, 0, 1, 1, 0);
    picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(2, 0), 1, 512, WSDBG_LANES_ONE);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(2, 0), 1, 512, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, other, 0, 255, 2);
}

/* The producer has left, but the consumers reach an arrival whose barrier is not known for certain. */
void doubtful_arrival(struct picture *p)
{
    waker_exited(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(3, 0), 1, 1, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrive].certain = false;
    picture_reach(p, 4, 11, arrive, 0, 255, 2);
}

/* One warp of each CTA was not seen: it could be anywhere. */
void a_warp_unseen(struct picture *p)
{
    waker_exited(p);
    p->snapshot.grids[0].warps_per_cta = 13;
}

/* The same where the barrier counts both loaders. */
void two_arrivals(struct picture *p)
{
    shared_full_barrier(p);
    for (size_t i = 0; i < p->snapshot.barrier_count; i++)
        if (p->snapshot.barriers[i].id == FULL && p->snapshot.barriers[i].kind == WSDBG_BARRIER_MBARRIER)
            p->snapshot.barriers[i].pending_arrivals = p->snapshot.barriers[i].expected_arrivals = wsdbg_known_u32(2);
}

/* The producer has left, but some consumer warp runs: perhaps what it does is not understood. */
void one_still_runs(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 10, MBARRIER_WAIT, g.full[2], 0);
}

/* The producer has filled all slots and the consumers left without taking the last ones: no shared barrier here. */
void producer_runs_on(struct picture *p)
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
void two_rings(struct picture *p)
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
void wgmma_held_up(struct picture *p)
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
void wgmma_at_work(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t wgmma = picture_access(p, WSDBG_ACCESS_WGMMA, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wgmma, 0, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 11, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
}

/* The same with one warp of a warpgroup ahead of its mates: it waits for the next bytes, they finish with these. */
void wgmma_behind(struct picture *p)
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
void somebody_left(struct picture *p)
{
    producer_runs_on(p);
    for (size_t i = 0; i < p->snapshot.name_count; i++)
        p->snapshot.names[i].arriving_roles = 0;
}
