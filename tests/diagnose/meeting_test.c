/* meeting_test.c - an mbarrier at which all threads of a CTA meet: each arrives and then waits, as at a barrier of
 * libcu++.  Some threads return before they come to it, or do not come to a later round.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { MEET = 1, DONE, WARPS = 4, THREADS = WARPS * 32, WAYS_MOST = 2 * WARPS };
#define ALL_LANES UINT32_MAX
#define LAST_LANES 0xff000000u

struct kernel {
    const char *name;
    uint32_t count;           /* arrivals that a phase takes */
    uint32_t rounds[WARPS];   /* how often each warp meets the others */
    bool last_lanes_leave;    /* the last eight lanes of warp 2 return at once */
    bool has_arrival[WARPS];  /* its code has an arrival */
    bool stay;                /* who is done waits for warp 0 */
    bool by_parity;           /* waits name a parity, not a token */
    const char *cause, *says; /* cause NULL: the kernel finishes */
};

static struct way ways[WAYS_MOST];
static uint32_t way_count;

static struct way *add_way(uint32_t warp, uint32_t lanes)
{
    ways[way_count] = (struct way){.warp = warp, .lanes = lanes};
    return &ways[way_count++];
}

static void meet(struct way *way, uint32_t rounds, bool by_parity)
{
    for (uint32_t i = 0; i < rounds; i++) {
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(MEET, 0), 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(MEET, 0), i & 1)->number_known = by_parity;
    }
}

static void begin(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_name(p, MEET, "meet", 1, 0xf, 0xf);
    picture_name(p, DONE, "done", 1, 1, 0xe);
    picture_mbarrier(p, MEET, 0, 0, k->count, k->count, 0);
    picture_mbarrier(p, DONE, 0, 0, 32, 32, 0);
    const uint32_t arrival = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(MEET, 0), 1, 1, WSDBG_LANES_UNKNOWN);
    picture_reach(p, 0, 0, picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1, 1, WSDBG_LANES_UNKNOWN), 0,
                  UINT8_MAX, 2);
    for (uint32_t w = 0; w < WARPS; w++)
        if (k->has_arrival[w])
            picture_reach(p, w, w, arrival, 0, UINT8_MAX, w > 0 && k->stay ? 0 : 2);
}

/* False: the kernel finishes. */
static bool stand(struct picture *p, const struct kernel *k)
{
    begin(p, k);
    way_count = 0;
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < WARPS; w++) {
        const bool is_split = w == 2 && k->last_lanes_leave;
        struct way *way = add_way(w, is_split ? ~LAST_LANES : ALL_LANES);
        if (w == 0) {
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(MEET, 0), k->count);
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 32);
        }
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        meet(way, k->rounds[w], k->by_parity);
        if (k->stay && k->rounds[w])
            way_add(way, w == 0 ? WSDBG_ACCESS_ARRIVE : WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), w == 0);
        if (is_split)
            way_add(add_way(w, LAST_LANES), WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    ways_put(p, ways, way_count);
    return ways_stand(p);
}

#define CAN_ALL                \
    {                          \
        true, true, true, true \
    }

static void who_does_not_come_to_a_meeting_is_told(void **state)
{
    static const struct kernel rows[] = {
        {"all come", THREADS, {2, 2, 2, 2}, false, CAN_ALL, true, false, NULL, NULL},
        {"a warp and some lanes return before it",
         THREADS,
         {1, 1, 1, 0},
         true,
         CAN_ALL,
         false,
         false,
         "WAKER_EXITED",
         "which takes 128 arrivals, one of each thread of the CTA. 40 threads, of warps 2-3, left the kernel before "
         "they came to it."},
        {"one warp alone comes once more",
         THREADS,
         {2, 1, 1, 1},
         false,
         CAN_ALL,
         true,
         false,
         "ARRIVE_MISSING",
         "Warp 0 waits for round 2 of \"meet\" at kernel.cu:100, at which all that arrive also wait. It takes 128 "
         "arrivals, but warps 1-3, which came to earlier rounds, never come to this one."},
        {"... and waits for a parity",
         THREADS,
         {2, 1, 1, 1},
         false,
         CAN_ALL,
         true,
         true,
         "ARRIVE_MISSING",
         "but warps 1-3, which came to earlier rounds, never come to this one."},
        {"... after the others have left",
         THREADS,
         {2, 1, 1, 1},
         false,
         CAN_ALL,
         false,
         false,
         "WAKER_EXITED",
         "but warps 1-3, which came to earlier rounds, left the kernel without coming to this one."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

static void threads_that_are_not_meant_are_not_blamed(void **state)
{
    static const struct kernel rows[] = {
        {"the count is another one than that of all threads",
         100,
         {1, 1, 0, 0},
         false,
         CAN_ALL,
         false,
         false,
         NULL,
         NULL},
        {"the code of the warp that left has no arrival",
         THREADS,
         {1, 1, 1, 0},
         false,
         {true, true, true, false},
         false,
         false,
         NULL,
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check_unsaid(&p, stands, "left the kernel before they came to it");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_does_not_come_to_a_meeting_is_told),
                                       cmocka_unit_test(threads_that_are_not_meant_are_not_blamed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
