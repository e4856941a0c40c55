/* early_states.c - a warp that has left arrived on a barrier whose word does not hold that, and the neighbours of that
 * state in which it may not have, or the word may hold it.  See states.h. */
#include "states.h"

#include "gemm_shape.h"

#define ALL_LANES UINT32_MAX

struct past {
    uint32_t count;      /* arrivals that a phase takes */
    uint8_t least, most; /* of warp 0, before it left */
    bool may_be_early;
};

/* Warp 0 arrives on the first "full" in one place, and has left; the consumers wait for that phase. */
static uint32_t producer_arrived(struct picture *p, struct past past)
{
    const struct gemm g = gemm_barriers(p, &full_unused, &empty_unused);
    for (uint32_t cta = 0; cta < 2; cta++)
        p->snapshot.barriers[g.full[0] + cta].pending_arrivals =
            p->snapshot.barriers[g.full[0] + cta].expected_arrivals = wsdbg_known_u32(past.count);
    picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), 1, past.count, WSDBG_LANES_ONE);
    const uint32_t arrival = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrival].may_be_early = past.may_be_early;
    picture_reach(p, 0, 0, arrival, past.least, past.most, 0);
    picture_reach(p, 1, 11, arrival, 0, 0, 0);
    picture_exit(p, 0, 3);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = ALL_LANES;
    return arrival;
}

/* Once, and nothing says when. */
static const struct past once = {.count = 1, .least = 1, .most = 1, .may_be_early = true};

void early_arrival(struct picture *p)
{
    producer_arrived(p, once);
}

/* A barrier of the CTA stands between the initialisation and the arrival. */
void arrival_behind_sync(struct picture *p)
{
    producer_arrived(p, (struct past){1, 1, 1, false});
}

void arrival_left_out_perhaps(struct picture *p)
{
    producer_arrived(p, (struct past){1, 0, 1, true});
}

/* Two of them end two phases: the word is as it was before. */
void arrivals_of_two_phases(struct picture *p)
{
    producer_arrived(p, (struct past){1, 2, 2, true});
}

void arrivals_without_end(struct picture *p)
{
    producer_arrived(p, (struct past){1, 1, 255, true});
}

/* The count is higher than what is lost: the phase would not have ended with it. */
void early_arrival_of_two(struct picture *p)
{
    producer_arrived(p, (struct past){2, 1, 1, true});
}

/* There is another arrival: its stage is not known, nor how often the warps executed it. */
void early_arrival_and_others(struct picture *p)
{
    producer_arrived(p, once);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
}

/* Some lanes of the consumers have gone where nobody sees them. */
void early_arrival_and_lanes(struct picture *p)
{
    const uint32_t arrival = producer_arrived(p, once);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = ALL_LANES - 1;
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access == arrival && p->pending[i].warp % p->warps >= 4)
            p->pending[i].before_most = 1;
}

/* The phase of the wait has one arrival of two: what is lost may have been of it, or have ended phases. */
void early_arrivals_in_a_phase(struct picture *p)
{
    producer_arrived(p, (struct past){2, 2, 4, true});
}
