/* doubt_left_states.c - pictures of warps that have left, and of polls and records beside them, of which one thing is
 * not known.  See doubt_states.h.
 */
#include "doubt_states.h"

#include <stdlib.h>

#include "device.h"
#include "gemm_shape.h"

/* Two warps wait with two arrivals of `expected`; two have left that may have arrived. */
static void half_have_left(struct picture *p, uint32_t expected)
{
    picture_init(p, 1, 4, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, expected - 2, expected, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 1, arrive, 1, 255, 2);
    picture_reach(p, 2, 3, arrive, 0, 255, 0);
    picture_wait(p, 0, 1, MBARRIER_WAIT, bar, 0);
    picture_exit(p, 2, 3);
}

void one_has_left(struct picture *p)
{
    half_have_left(p, 3);
    doubt_reach_of(p, 3, 0)->before_most = 0;
}

/* Those that wait have arrived before. */
void two_have_left(struct picture *p)
{
    half_have_left(p, 4);
}

/* Those that left may have made the two arrivals, and those that wait none. */
void two_have_left_perhaps_behind_arrivals(struct picture *p)
{
    half_have_left(p, 4);
    for (uint32_t warp = 0; warp < 2; warp++)
        doubt_reach_of(p, warp, 0)->before_least = 0;
}

/* Warp 1 of the second warpgroup waits with one of two arrivals there.  Of the first one, warp 0 alone arrives, and all
 * have left. */
static void left_behind_arrival(struct picture *p, uint32_t phase)
{
    picture_init(p, 1, 8, 32);
    const uint32_t bar = picture_mbarrier(p, 1, 0, phase, 1, 2, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ONE);
    picture_exit(p, 0, 3);
    picture_reach(p, 0, 0, arrive, 1, 1, 0);
    picture_reach(p, 1, 3, arrive, 0, 0, 0);
    picture_wait(p, 4, 7, MBARRIER_WAIT, bar, phase);
    picture_reach(p, 4, 7, arrive, 0, 0, 0);
}

void all_made_by_who_left(struct picture *p)
{
    left_behind_arrival(p, 0);
}

/* The count was right for one phase. */
void later_phase_of_who_left(struct picture *p)
{
    left_behind_arrival(p, 1);
}

/* All lanes of warps 5 to 7 have arrived, and warp 4 has not.  Warp 0 waits. */
static void three_of_four_arrived(struct picture *p)
{
    picture_init(p, 1, 8, 32);
    const uint32_t bar = picture_mbarrier(p, 1, 0, 0, 32, 128, 0), named = picture_object(p, WSDBG_BARRIER_NAMED, 2);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ALL);
    picture_wait(p, 0, 3, MBARRIER_WAIT, bar, 0);
    picture_reach(p, 0, 4, arrive, 0, 0, 0);
    picture_reach(p, 5, 7, arrive, 1, 1, 0);
    picture_wait(p, 4, 7, WSDBG_WARP_WAIT_NAMED, named, 0);
}

void one_left_before_it_arrived(struct picture *p)
{
    three_of_four_arrived(p);
    picture_exit(p, 4, 4);
}

void one_never_arrives(struct picture *p)
{
    three_of_four_arrived(p);
}

/* Half of the consumers of a ring have left; the others wait until slot `stage` is filled.  Slot 0 has half of its
 * releases.
 */
static void half_of_consumers_left(struct picture *p, uint32_t stage)
{
    const struct words empty = {.pending = {4, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_filled, &empty);
    for (uint32_t i = 0; i < p->snapshot.access_count; i++) {
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ONE;
        if (p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE)
            picture_reach(p, 1, 3, i, 0, 0, 0);
    }
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_wait(p, 4, 7, MBARRIER_WAIT, g.full[stage], 1);
    picture_exit(p, 8, 11);
}

/* Those that are there are through with what was in the slot. */
void consumers_left(struct picture *p)
{
    half_of_consumers_left(p, 0);
}

/* ... or have not come to it. */
void consumers_left_perhaps_later(struct picture *p)
{
    half_of_consumers_left(p, 1);
}

/* The consumers left, and so did warps of another role, which arrived once on no barrier that is known.  The count says
 * nothing about who is meant. */
void strangers_left(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    const uint32_t somewhere = picture_access(p, WSDBG_ACCESS_ARRIVE, 0, 0, 1, WSDBG_LANES_ONE);
    for (uint32_t cta = 0; cta < 2; cta++)
        p->snapshot.barriers[g.empty[0] + cta].expected_arrivals =
            p->snapshot.barriers[g.empty[0] + cta].pending_arrivals = wsdbg_known_u32(5);
    picture_reach(p, 1, 3, somewhere, 0, 1, 0);
    picture_wait(p, 0, 0, MBARRIER_WAIT, g.empty[0], 0);
    picture_exit(p, 4, 11);
    for (uint32_t i = 0; i < p->snapshot.access_count; i++)
        if (p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE && i != somewhere)
            picture_reach(p, 1, 3, i, 0, 0, 0);
}

/* Who arrives is not declared.  The role of all that left but the producer is not known. */
void roles_unknown(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    for (size_t i = 0; i < p->snapshot.name_count; i++)
        p->snapshot.names[i].arriving_roles = 0;
    for (size_t i = 0; i < p->snapshot.warp_count; i++)
        if (i % 12 > 0 && i % 12 < 4)
            p->snapshot.warps[i].role = (struct wsdbg_optional_u32){0};
    picture_exit(p, 0, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[2], 0);
}

/* Warp 0 polls global memory, warp 1 memory of the CTA.  Warp 2 waits for an arrival of warp 1. */
void shared_poll_second(struct picture *p)
{
    picture_init(p, 1, 3, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, 1, 1, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, arrive, 0, 0, 2);
    picture_reach(p, 1, 1, arrive, 0, 0, 2);
    picture_reach(p, 2, 2, arrive, 0, 0, 0);
    picture_wait(p, 0, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    picture_wait(p, 1, 1, WSDBG_WARP_SPIN_SHARED, WSDBG_NONE, 0);
    picture_wait(p, 2, 2, MBARRIER_WAIT, bar, 0);
}

void no_shared_poll(struct picture *p)
{
    shared_poll_second(p);
    p->snapshot.warps[1].state = WSDBG_WARP_SPIN_GLOBAL;
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 1)
            p->snapshot.parts[i].state = WSDBG_WARP_SPIN_GLOBAL;
}

#define ONE_LANE (1u << 21) /* in the value of an event */

static void record(struct picture *p, uint32_t warp, uint8_t kind, uint32_t value)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    struct wsdbg_warp_row *row = &s->warps[warp];
    s->history = realloc(s->history, (s->history_count + 1) * sizeof *s->history);
    must(s->history);
    row->last = (struct wsdbg_history_event){.kind = kind, .value = value, .iteration = WSDBG_NO_ITERATION};
    s->history[s->history_count] = row->last;
    row->history_first = (uint32_t)s->history_count++;
    row->history_count = 1;
    row->history_whole = true;
}

/* Warps 0 to 2 arrived once and stand at the end.  Warp 3 waits for a fourth arrival.  Warp 4 is at work. */
void three_on_record(struct picture *p)
{
    picture_init(p, 1, 5, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, 1, 4, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 2, arrive, 1, 1, 0);
    picture_reach(p, 3, 4, arrive, 0, 0, 0);
    doubt_stand_at_sync(p, 0, 2);
    picture_wait(p, 3, 3, MBARRIER_WAIT, bar, 0);
    for (uint32_t warp = 0; warp < 3; warp++)
        record(p, warp, WSDBG_EVENT_MBARRIER_ARRIVE, ONE_LANE);
    record(p, 3, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, 0);
    record(p, 4, WSDBG_EVENT_BEGIN, 0);
}

/* Warp 0 arrived with one lane.  Warp 1 waits for `missing` arrivals more, and warps 2 to 4 have left the kernel. */
static void one_lane_on_record(struct picture *p, uint32_t missing)
{
    picture_init(p, 1, 5, 32);
    const uint32_t bar = picture_mbarrier(p, 0, 0, 0, missing, missing + 1, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_UNKNOWN);
    picture_reach(p, 0, 0, arrive, 1, 1, 0);
    picture_reach(p, 1, 1, arrive, 0, 0, 0);
    doubt_stand_at_sync(p, 0, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, bar, 0);
    picture_exit(p, 2, 4);
    record(p, 0, WSDBG_EVENT_MBARRIER_ARRIVE, ONE_LANE);
    record(p, 1, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, 0);
    for (uint32_t warp = 2; warp < 5; warp++)
        record(p, warp, WSDBG_EVENT_BEGIN, 0);
}

void all_lanes_have_left(struct picture *p)
{
    one_lane_on_record(p, 3 * 32);
}

void more_than_all_lanes_are_missing(struct picture *p)
{
    one_lane_on_record(p, 3 * 32 + 1);
}
