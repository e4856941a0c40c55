/* arrivals_per_round.c - how many arrivals one round can bring.  See arrivals_per_round.h.
 *
 * Reads: reaches, accesses, warp states.
 */
#include "diagnose/arrivals_per_round.h"

#define ARRIVALS_MAX 0xfffffu /* an mbarrier has 20 bits for them */

static bool is_arrival(const struct wsdbg_access_row *access)
{
    return wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL);
}

/* Arrivals of each lane; 0 = not known. */
static uint32_t arrivals_of_lane(const struct wsdbg_access_row *access)
{
    if (access->kind == WSDBG_ACCESS_ARRIVE_EXPECT)
        return 1;
    return access->count.known && access->count.value <= ARRIVALS_MAX ? access->count.value : 0;
}

static uint32_t lanes_of(const struct wsdbg_access_row *access)
{
    return access->lanes == WSDBG_LANES_ONE ? 1 : WSDBG_WARP_THREADS;
}

static void add_warp(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier,
                     struct wsdbg_arrivals_per_round *per_round, bool *usual_known)
{
    uint32_t count;
    uint64_t usual = 0, by_lanes[2] = {0};
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    per_round->bounded = per_round->bounded && count > 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        const bool was = !reaches[i].before_known || reaches[i].before_most > 0;
        if (!access || !is_arrival(access) || !(was || reaches[i].after > 0) ||
            !wsdbg_access_is_near(c, warp, access, barrier))
            continue;
        const enum wsdbg_match match = wsdbg_access_match(c, access, barrier);
        const uint64_t lane = arrivals_of_lane(access), all = lane * lanes_of(access);
        per_round->bounded = per_round->bounded && match != WSDBG_MATCH_OPEN && (match == WSDBG_MATCH_NO || lane > 0);
        if (match < WSDBG_MATCH_MAY)
            continue;
        per_round->most += all;
        *usual_known = *usual_known && access->lanes != WSDBG_LANES_UNKNOWN && lane > 0;
        usual = all > usual ? all : usual;
        const uint64_t least = access->lanes == WSDBG_LANES_ALL ? all : lane;
        by_lanes[0] = least > by_lanes[0] ? least : by_lanes[0];
        by_lanes[1] = usual;
    }
    per_round->usual += usual;
    per_round->by_lanes[0] += by_lanes[0];
    per_round->by_lanes[1] += by_lanes[1];
}

struct wsdbg_arrivals_per_round wsdbg_arrivals_per_round_of(const struct wsdbg_case *c,
                                                            const struct wsdbg_warp_set *warps, uint32_t barrier)
{
    struct wsdbg_arrivals_per_round per_round = {.bounded = true};
    bool usual_known = true;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w))
            add_warp(c, w, barrier, &per_round, &usual_known);
    per_round.usual = usual_known ? per_round.usual : 0;
    return per_round;
}

bool wsdbg_arrivals_per_round_fit(const struct wsdbg_arrivals_per_round *per_round, uint64_t made, unsigned *lanes)
{
    *lanes = made == per_round->by_lanes[1];
    return made > 0 && made == per_round->by_lanes[*lanes];
}

bool wsdbg_arrivals_per_round_is_beside_others(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_are_mates(c, w, warp) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED &&
            wsdbg_code_can(c, w, WSDBG_KINDS_ARRIVAL, barrier, NULL) == WSDBG_CAN_NOT &&
            wsdbg_code_behind(c, w, WSDBG_KINDS_ARRIVAL, barrier, NULL) == 0)
            return true;
    return false;
}

/* This exited warp never reached the access. */
static bool never_came(const struct wsdbg_case *c, uint32_t warp, uint32_t access)
{
    const struct wsdbg_reach *reach = wsdbg_code_reach(c, warp, access);
    return reach && reach->before_known && reach->before_most == 0;
}

/* The arrivals of an exited warp that executed each arrival it may have reached once; UINT64_MAX = not known. */
static uint64_t most_of_warp(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || !is_arrival(access) || !wsdbg_access_is_near(c, warp, access, barrier))
            continue;
        const enum wsdbg_match match = wsdbg_access_match(c, access, barrier);
        if (match == WSDBG_MATCH_NO || never_came(c, warp, i))
            continue;
        if (match == WSDBG_MATCH_OPEN || arrivals_of_lane(access) == 0)
            return UINT64_MAX;
        most += (uint64_t)lanes_of(access) * arrivals_of_lane(access);
    }
    return most;
}

uint64_t wsdbg_arrivals_per_round_exited(const struct wsdbg_case *c, uint32_t barrier)
{
    uint64_t sum = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            continue;
        const uint64_t most = most_of_warp(c, w, barrier);
        if (most == UINT64_MAX)
            return UINT64_MAX;
        sum += most;
    }
    return sum;
}
