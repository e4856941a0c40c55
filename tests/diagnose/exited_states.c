/* exited_states.c - warps that left, and lanes of one warp that stand apart, beside them.  See states.h. */
#include "states.h"

#include "gemm_shape.h"

#define LANES_BUT_0 0xfffffffeu

/* Half of the consumers released the slot, the others not, and all have left: a skipped arrival, a count that is too
 * high or a round too few. */
void consumers_left_in_round(struct picture *p)
{
    const struct words empty = {.pending = {4, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_filled, &empty);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_exit(p, 4, 11);
}

enum { LANES = 32, SOME_LANES = 26 };

/* Each lane of warp 1 arrives once in a phase.  In this one some did, and then the warp left. */
static void some_lanes_arrived(struct picture *p, uint32_t arrived)
{
    picture_init(p, 1, 2, 32);
    const uint32_t row = picture_mbarrier(p, FULL, 0, 0, LANES - arrived, LANES, 0);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ALL);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, wait, 0, 0, 1);
    picture_reach(p, 1, 1, arrive, 0, UINT8_MAX, 0);
    picture_wait(p, 0, 0, MBARRIER_WAIT, row, 0);
    picture_exit(p, 1, 1);
}

void lanes_left_an_arrival_out(struct picture *p)
{
    some_lanes_arrived(p, SOME_LANES);
}

void no_lane_arrived(struct picture *p)
{
    some_lanes_arrived(p, 0);
}

/* The elected lane of the producer is through with its loop.  The others wait for a slot on their own; the loop of the
 * elected one has a wait that they did not pass. */
static struct gemm lanes_wait(struct picture *p, const struct words *empty)
{
    const struct gemm g = gemm_picture(p, &full_filled, empty);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp % p->warps == 0)
            p->snapshot.parts[i].lanes = LANES_BUT_0;
    picture_part(p, 0, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp % p->warps == 0)
            p->pending[i].before_most = p->pending[i].after = p->pending[i].after_apart = 0;
    return g;
}

static void elected_lane_waited(struct picture *p)
{
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, wait, 0, 0, 0);
    picture_reach(p, 4, 11, wait, 0, 0, 0);
}

void lanes_behind(struct picture *p)
{
    lanes_wait(p, &empty_unused);
    elected_lane_waited(p);
    picture_exit(p, 4, 11);
}

/* The consumers are there: the slot may be one that they will release. */
void lanes_before_releasers(struct picture *p)
{
    const struct gemm g = lanes_wait(p, &empty_unused);
    elected_lane_waited(p);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 1);
    picture_reach(p, 0, 0, g.expect, 0, 0, 2);
}

/* Some consumers have already arrived for the phase that is waited for. */
void lanes_behind_with_arrivals(struct picture *p)
{
    const struct words empty = {.pending = {4, 8, 8, 8}};
    lanes_wait(p, &empty);
    elected_lane_waited(p);
    picture_exit(p, 4, 11);
}

/* No other lane ever waited there. */
void lanes_wait_alone(struct picture *p)
{
    lanes_wait(p, &empty_unused);
    picture_exit(p, 4, 11);
}

/* As most producers are written: the elected lane waits, the others stand at the end of its branch. */
void one_lane_waits(struct picture *p)
{
    lanes_behind(p);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = p->snapshot.parts[i].lanes == LANES_BUT_0 ? 1 : LANES_BUT_0;
}

/* The producer left.  Its code arrives on "full" in two places with no wait between, as for two partitions. */
static struct gemm two_arrives(struct picture *p, uint32_t expected, enum wsdbg_lanes lanes)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    for (size_t i = 0; i < p->snapshot.barrier_count; i++)
        if (p->snapshot.barriers[i].id == FULL && p->snapshot.barriers[i].kind == WSDBG_BARRIER_MBARRIER)
            p->snapshot.barriers[i].pending_arrivals = p->snapshot.barriers[i].expected_arrivals =
                wsdbg_known_u32(expected);
    const uint32_t first = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, lanes);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, lanes);
    p->snapshot.accesses[first].arrives_again = true;
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
    return g;
}

void two_arrives_of_a_warp(struct picture *p)
{
    two_arrives(p, 32, WSDBG_LANES_ALL);
}

void two_arrives_of_a_lane(struct picture *p)
{
    two_arrives(p, 1, WSDBG_LANES_ONE);
}

/* The barrier counts both. */
void two_arrives_counted(struct picture *p)
{
    two_arrives(p, 64, WSDBG_LANES_ALL);
}

/* Half of what a phase takes is there: it has not been turned by twice as many as it takes. */
void two_arrives_under_way(struct picture *p)
{
    const struct gemm g = two_arrives(p, 32, WSDBG_LANES_ALL);
    for (uint32_t cta = 0; cta < 2; cta++)
        p->snapshot.barriers[g.full[0] + cta].pending_arrivals = wsdbg_known_u32(16);
}

/* A wait stands between them. */
void two_arrives_apart(struct picture *p)
{
    two_arrives(p, 32, WSDBG_LANES_ALL);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].arrives_again = false;
}

/* Slot 0 was filled once and consumed, slots 1 to 3 were filled and released once; by its phases slot 0 was released
 * twice, or never.  After each wait for a filled slot the consumers reach a release. */
static struct gemm released_once_more(struct picture *p, const struct words *empty)
{
    const struct words full = {.phase = {1, 1, 1, 1}, .pending = {1, 1, 1, 1}};
    const struct gemm g = gemm_picture(p, &full, empty);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, wait, 0, 0, 0);
    picture_reach(p, 4, 11, wait, 1, 255, 2);
    picture_answer(p, wait, g.release);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    return g;
}

static const struct words others_released = {.phase = {0, 1, 1, 1}, .pending = {8, 8, 8, 8}};

void slot_released_twice(struct picture *p)
{
    released_once_more(p, &others_released);
}

/* There is a way through the loop without a release: it may have been released never. */
void slot_released_perhaps(struct picture *p)
{
    released_once_more(p, &others_released);
    p->snapshot.answer_count = 0;
}

/* Another wait for a filled slot, after which a release does not have to come. */
void slot_consumed_elsewhere(struct picture *p)
{
    released_once_more(p, &others_released);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, wait, 0, 255, 2);
}

/* They release in one place alone, behind the wait. */
void slot_released_in_one_place(struct picture *p)
{
    const struct gemm g = released_once_more(p, &others_released);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->snapshot.accesses[p->pending[i].access].kind == WSDBG_ACCESS_ARRIVE && p->pending[i].access != g.release)
            p->pending[i].before_most = p->pending[i].after = 0;
}

/* In all as often released as filled: one release went to another stage. */
void release_of_another_stage(struct picture *p)
{
    const struct words empty = {.phase = {0, 0, 1, 1}, .pending = {8, 8, 8, 8}};
    released_once_more(p, &empty);
}

/* Consumers who wait for the wrong parity pass three slots that nobody has filled, and release them. */
void slots_released_unfilled(struct picture *p)
{
    const struct words full = {.phase = {0, 0, 0, 1}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 1, 1}, .pending = {8, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full, &empty);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, wait, 0, 0, 0);
    picture_reach(p, 4, 11, wait, 1, 255, 2);
    picture_answer(p, wait, g.release);
    both_wait(p, g.empty[0], 1, g.full[0], 0);
}

/* A warp waits for a free slot, which its elected lane would then fill.  Lane 0 has left; the other lanes wait. */
void elected_lane_left(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, 1, 1, 0);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(0, 0), 1, 0, WSDBG_LANES_UNKNOWN);
    const uint32_t fill = picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(0, 1), 1, 512, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, wait, 1, 255, 2);
    picture_reach(p, 0, 0, fill, 0, 255, 2);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, bar, 0);
    picture_exit(p, 1, 3);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = UINT32_MAX - 1;
}

/* The same where half of the lanes have left: it is not known whether the elected lane is one of them. */
void half_of_the_lanes_left(struct picture *p)
{
    elected_lane_left(p);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = 0xffff0000u;
}

/* Two warps have arrived and wait for a third arrival.  Warps 2 and 3 have left; 2 executed the arrival `most` times at
 * most. */
static void third_arrival_is_missing(struct picture *p, uint8_t most)
{
    picture_init(p, 1, 4, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, 1, 3, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 1, arrive, 1, 255, 2);
    picture_reach(p, 2, 2, arrive, 0, most, 0);
    picture_reach(p, 3, 3, arrive, 0, 0, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_MBARRIER, bar, 0);
    picture_exit(p, 2, 3);
}

void one_of_three_left(struct picture *p)
{
    third_arrival_is_missing(p, 255);
}

void a_stranger_left(struct picture *p)
{
    third_arrival_is_missing(p, 0);
}

/* Warps of the second warpgroup release the slot, from `first` to `last`.  A warp of the first one has left, and the
 * rest of its warpgroup stays. */
static void one_has_left(struct picture *p, uint32_t gone, uint32_t first, uint32_t last)
{
    const uint32_t made = last - first + 1;
    picture_init(p, 1, 12, 32);
    const uint32_t full = picture_mbarrier(p, FULL, 0, 1, 1, 1, 0),
                   empty = picture_mbarrier(p, EMPTY, 0, 0, 1, made + 1, 0);
    const uint32_t frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    for (uint32_t w = 0; w < 12; w++) {
        const bool releases = w >= first && w <= last;
        picture_reach(p, w, w, frees, releases, releases ? UINT8_MAX : 0, releases ? 2 : 0);
        picture_reach(p, w, w, fills, w == 8, w == 8 ? UINT8_MAX : 0, w == 8 ? 2 : 0);
        if (w == gone || w > 8)
            picture_exit(p, w, w);
        else if (w < 8)
            picture_wait(p, w, w, WSDBG_WARP_WAIT_MBARRIER, full, 1);
    }
    picture_wait(p, 8, 8, WSDBG_WARP_WAIT_MBARRIER, empty, 0);
}

/* Only the first warp of a warpgroup releases, and the one that left is the first of its own. */
void a_leader_left(struct picture *p)
{
    one_has_left(p, 0, 4, 4);
}

/* All warps of a warpgroup release, and in the other one none would. */
void a_warp_of_its_own_left(struct picture *p)
{
    one_has_left(p, 3, 4, 7);
}

/* Warps 1 to 3 of a warpgroup have released the slot, one lane each.  Of warp 0 some lanes have left, and the others
 * wait beside it.  One release is missing. */
static void lanes_have_left(struct picture *p, uint32_t staying)
{
    picture_init(p, 1, 5, 32);
    const uint32_t full = picture_mbarrier(p, FULL, 0, 1, 1, 1, 0), empty = picture_mbarrier(p, EMPTY, 0, 0, 1, 4, 0);
    const uint32_t frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, frees, 0, 0, 0);
    picture_reach(p, 1, 3, frees, 1, UINT8_MAX, 2);
    picture_reach(p, 4, 4, fills, 1, UINT8_MAX, 2);
    picture_wait(p, 0, 3, WSDBG_WARP_WAIT_MBARRIER, full, 1);
    picture_wait(p, 4, 4, WSDBG_WARP_WAIT_MBARRIER, empty, 0);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 0)
            p->snapshot.parts[i].lanes = staying;
}

void an_elected_lane_left(struct picture *p)
{
    lanes_have_left(p, 0xfffffffe);
}

/* More lanes than there are releases missing. */
void lanes_without_work_left(struct picture *p)
{
    lanes_have_left(p, 0x0fffffff);
}
