/* named_states.c - who stands at named barriers, who has been there how often.  See states.h. */
#include <stdlib.h>

#include "device.h"
#include "gemm_shape.h"
#include "states.h"

/* Warps that wait on named barrier `id` for `count` threads. */
static void gather(struct picture *p, uint32_t first_warp, uint32_t last_warp, uint32_t id, uint32_t count)
{
    picture_wait(p, first_warp, last_warp, WSDBG_WARP_WAIT_NAMED, picture_object(p, WSDBG_BARRIER_NAMED, id), 0);
    picture_count(p, first_warp, last_warp, count);
}

static uint32_t sync_on(struct picture *p, uint32_t id, uint32_t count)
{
    return picture_access(p, WSDBG_ACCESS_NAMED_SYNC, id, 1, count, WSDBG_LANES_ALL);
}

/* Warps 0 to 4 of eight reach one instruction, which counts two warps.  Warp 4 waits there; all others have left. */
static void five_come(struct picture *p, uint8_t least, uint8_t most)
{
    picture_init(p, 1, 8, 32);
    const uint32_t sync = sync_on(p, 2, 64);
    picture_reach(p, 0, 4, sync, least, most, 0);
    picture_reach(p, 5, 7, sync, 0, 0, 0);
    picture_exit(p, 0, 3);
    picture_exit(p, 5, 7);
    gather(p, 4, 4, 2, 64);
}

void five_on_two(struct picture *p)
{
    five_come(p, 1, 1);
}

void five_on_two_in_a_loop(struct picture *p)
{
    five_come(p, 1, 255);
}

/* Which of them came is decided by what nobody can follow. */
void some_of_five_on_two(struct picture *p)
{
    five_come(p, 0, 1);
}

/* The count comes from a register; that of those who wait was read. */
void five_on_two_of_a_register(struct picture *p)
{
    five_on_two(p);
    p->snapshot.accesses[0].count = (struct wsdbg_optional_u32){0};
}

/* An epilogue of two groups in turns on one id: a warp of the second left it before its last turn. */
void turn_missing(struct picture *p)
{
    picture_init(p, 1, 8, 32);
    const uint32_t sync = sync_on(p, 1, 128);
    picture_reach(p, 0, 3, sync, 3, 3, 0);
    picture_reach(p, 4, 6, sync, 3, 3, 0);
    picture_reach(p, 7, 7, sync, 2, 2, 0);
    picture_exit(p, 0, 3);
    picture_exit(p, 7, 7);
    gather(p, 4, 6, 1, 128);
}

/* The same in a loop: how often is not known. */
void turn_missing_in_a_loop(struct picture *p)
{
    turn_missing(p);
    for (size_t i = 0; i < p->pending_count; i++) {
        p->pending[i].before_least = 1;
        p->pending[i].before_most = 255;
    }
}

/* Three warps of a warpgroup stand at its barrier.  The fourth has left; nobody knows whether it ever came. */
void fourth_warp_left(struct picture *p)
{
    picture_init(p, 1, 8, 32);
    const uint32_t sync = sync_on(p, 1, 128);
    picture_reach(p, 0, 2, sync, 1, 255, 2);
    picture_reach(p, 3, 3, sync, 0, 255, 0);
    picture_reach(p, 4, 7, sync, 0, 0, 0);
    picture_exit(p, 3, 7);
    gather(p, 0, 2, 1, 128);
}

/* A warp of the next warpgroup has left, too, and it did come. */
void fourth_warp_left_beside_another(struct picture *p)
{
    fourth_warp_left(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp == 4)
            p->pending[i].before_least = p->pending[i].before_most = 1;
}

/* Two groups hand over to each other by ids 1 and 2, in a loop; the second has made its last round and left. */
void partners_gone(struct picture *p)
{
    picture_init(p, 1, 8, 32);
    const uint32_t sync = sync_on(p, 1, 256);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, 1, 1, 256, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, sync, 1, 255, 2);
    picture_reach(p, 4, 7, arrive, 1, 255, 0);
    picture_exit(p, 4, 7);
    gather(p, 0, 3, 1, 256);
}

/* Two pairs with an instruction and a mind of their own use one id: warp 2 has come twice, its mate waits. */
void two_pairs_share(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t first = sync_on(p, 3, 64), second = sync_on(p, 3, 64);
    picture_reach(p, 0, 1, first, 1, 1, 0);
    picture_reach(p, 2, 2, second, 2, 2, 0);
    picture_reach(p, 3, 3, second, 1, 1, 2);
    picture_exit(p, 0, 2);
    gather(p, 3, 3, 3, 64);
}

/* ... where both come equally often: the instructions tell them apart. */
void two_pairs_share_equally(struct picture *p)
{
    two_pairs_share(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp < 3)
            p->pending[i].before_least = p->pending[i].before_most = 2;
}

/* ... where the mate left a round too early: the pairs need not have met. */
void mate_has_left(struct picture *p)
{
    two_pairs_share(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp >= 2)
            p->pending[i].before_least = p->pending[i].before_most = p->pending[i].warp - 1;
}

/* A group of four for the second time; what decides whether warp 2 comes twice nobody can follow, but it has left. */
void left_after_a_round(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t first = sync_on(p, 1, 128), second = sync_on(p, 1, 128);
    picture_reach(p, 0, 3, first, 1, 1, 0);
    picture_reach(p, 0, 1, second, 1, 1, 0);
    picture_reach(p, 2, 2, second, 0, 1, 0);
    picture_reach(p, 3, 3, second, 1, 1, 0);
    picture_exit(p, 2, 2);
    const uint32_t barrier = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    for (uint32_t w = 0; w < 4; w += w == 1 ? 2 : 1) {
        picture_wait(p, w, w, WSDBG_WARP_WAIT_NAMED, barrier, 0);
        picture_count(p, w, w, 128);
    }
}

/* Warps 0 to 7 arrive `times` on a barrier for twelve, 8 to 11 wait there for the `round`-th time. */
static void hand_over(struct picture *p, uint8_t times, uint8_t round)
{
    picture_init(p, 1, 12, 32);
    picture_role(p, ROLE_PRODUCER, "math", 0, 7);
    picture_role(p, ROLE_CONSUMER_0, "mover", 8, 11);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, 1, 1, 384, WSDBG_LANES_ALL);
    const uint32_t sync = sync_on(p, 1, 384), last = sync_on(p, 0, 0);
    picture_reach(p, 0, 7, arrive, times, times, 0);
    picture_reach(p, 8, 11, sync, round, round, 2);
    picture_reach(p, 0, 7, last, 1, 1, 0);
    picture_reach(p, 8, 11, last, 0, 0, 2);
    gather(p, 0, 7, 0, 0);
    gather(p, 8, 11, 1, 384);
}

void arrived_twice(struct picture *p)
{
    hand_over(p, 2, 1);
}

/* An arrival too few: those who wait wait rightly. */
void arrived_too_seldom(struct picture *p)
{
    hand_over(p, 2, 3);
}

/* In a loop: how often those who wait came is not known. */
void arrived_in_a_loop(struct picture *p)
{
    arrived_twice(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access < 2)
            p->pending[i].before_most = 255;
}

/* ---- block-wide barriers ---- */

enum { PRODUCERS = 4, GROUPS_OF_WARPS = 3, BEGINS = 0, IN_BRANCH, TURN };

/* The whole ways of the warps that have left: all come to the first barrier of the kernel, and those from `first` on to
 * the one that the first consumers stand at. */
static void left_by_ways(struct picture *p, uint32_t first)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    s->walks = calloc(PRODUCERS, sizeof *s->walks);
    s->steps = calloc((size_t)PRODUCERS * 2, sizeof *s->steps);
    must(s->walks && s->steps);
    for (uint32_t w = 0; w < PRODUCERS; w++) {
        s->walks[s->walk_count++] = (struct wsdbg_walk_row){.warp = w,
                                                            .lanes = UINT32_MAX,
                                                            .step_first = (uint32_t)s->step_count,
                                                            .step_count = 1 + (w >= first),
                                                            .is_whole = true};
        for (uint32_t access = BEGINS; access <= (w >= first ? IN_BRANCH : BEGINS); access++)
            s->steps[s->step_count++] = (struct wsdbg_step_row){
                .access = access, .kind = WSDBG_ACCESS_NAMED_SYNC, .rank = WSDBG_STEP_OWN_RANK, .number_known = true};
    }
}

/* Two warpgroups of consumers take turns.  The first one waits at a barrier for all threads; the second one would come
 * there, too, but waits for its turn, which the first one gives behind the barrier.  Producers have left. */
static void barrier_for_all_in_a_turn(struct picture *p, uint32_t first)
{
    picture_init(p, 1, GROUPS_OF_WARPS * 4, 32);
    const uint32_t turn = picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
    for (uint32_t access = BEGINS; access <= IN_BRANCH; access++)
        sync_on(p, 0, 0);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 11, BEGINS, 1, 1, 0);
    picture_reach(p, first, 3, IN_BRANCH, 1, 1, 0);
    picture_reach(p, 4, 7, IN_BRANCH, 0, UINT8_MAX, 2);
    picture_reach(p, 8, 11, IN_BRANCH, 0, UINT8_MAX, 2);
    picture_reach(p, 4, 4, TURN, 0, UINT8_MAX, 2);
    picture_exit(p, 0, 3);
    gather(p, 4, 7, 0, 0);
    for (uint32_t w = 4; w < 8; w++)
        p->snapshot.warps[w].site = p->snapshot.accesses[IN_BRANCH].site;
    picture_wait(p, 8, 11, WSDBG_WARP_WAIT_MBARRIER, turn, 0);
    left_by_ways(p, first);
}

void barrier_of_consumers(struct picture *p)
{
    barrier_for_all_in_a_turn(p, PRODUCERS);
}

/* All producers came there before they left. */
void barrier_of_all(struct picture *p)
{
    barrier_for_all_in_a_turn(p, 0);
}

/* ... and of their ways some step is not known to be at another place. */
void barrier_of_consumers_perhaps(struct picture *p)
{
    barrier_of_consumers(p);
    for (size_t i = 0; i < p->snapshot.step_count; i++)
        p->snapshot.steps[i].access = WSDBG_NONE;
}

/* ... or they are not known to their ends. */
void barrier_of_consumers_in_open_ways(struct picture *p)
{
    barrier_of_consumers(p);
    for (size_t i = 0; i < p->snapshot.walk_count; i++)
        p->snapshot.walks[i].is_whole = false;
}
