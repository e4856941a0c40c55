/* tokens_test.c - a ring whose threads wait by token: each arrives on a barrier itself, and then waits for the phase of
 * that arrival.
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

enum { FULL = 1, EMPTY, DONE, STAGES = 2, ROUNDS = 6, BYTES = 128 };
enum { CONSUMERS = 4, PRODUCER = CONSUMERS, WARPS, ARRIVERS = WARPS }; /* on both barriers of a slot */

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t more;                   /* rounds that the consumers make too many */
    bool twice_before;               /* they arrive on stage 0 once more before their first round */
    uint32_t twice_in;               /* the round, from 1, in which each consumer arrives twice before it waits */
    uint32_t leave_in;               /* ... in which they leave without freeing the slot */
    uint32_t done;                   /* arrivals that their own barrier takes too many */
} kernels[] = {
    {.name = "nothing"},
    {.name = "the consumers make a round more",
     .cause = "WAKER_EXITED",
     .says = "for one more round of \"full\" stage 0 at kernel.cu:100 than the kernel has arrivals for: from its start "
             "to its end there are arrivals for 3 rounds, by warp 4, which has exited.",
     .more = 1},
    {.name = "... or two", .cause = "WAKER_EXITED", .says = "by warp 4, which has exited", .more = 2},
    {.name = "they free a slot once more", .cause = "DOUBLE_ARRIVE", .says = "\"empty\" stage 0", .twice_before = true},
    {.name = "they arrive twice in a round", .cause = "DOUBLE_ARRIVE", .says = "\"full\" stage 0", .twice_in = 3},
    {.name = "they leave before they free a slot",
     .cause = "WAKER_EXITED",
     .says =
         "Warp 4 waits on \"empty\" stage 0 at kernel.cu:104, but all other threads that arrive on it have left the "
         "kernel: warps 0-3, after 2 phases.",
     .leave_in = 3},
    {.name = "their own barrier takes twice as many arrivals",
     .cause = "ARRIVE_SHORT",
     .says = "\"done\" is initialised for 8 arrivals",
     .done = CONSUMERS},
};

static void arrive_and_wait(struct way *way, uint32_t barrier)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, barrier, 1);
    way_add(way, WSDBG_ACCESS_WAIT, barrier, 0)->number_known = false;
}

/* At the end it waits until all slots are free. */
static void produce(struct way *way, const uint32_t drains[STAGES])
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        arrive_and_wait(way, MBARRIER_AT(EMPTY, i % STAGES));
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), BYTES);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), BYTES);
    }
    for (uint32_t s = 0; s < STAGES; s++) {
        arrive_and_wait(way, MBARRIER_AT(EMPTY, s));
        way->steps[way->count - 1].access = drains[s];
    }
}

static void consume(const struct kernel *k, struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1);
    if (k->twice_before)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    for (uint32_t i = 0; i < ROUNDS + k->more; i++) {
        if (i + 1 == k->twice_in)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
        arrive_and_wait(way, MBARRIER_AT(FULL, i % STAGES));
        if (i + 1 == k->leave_in)
            return;
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
    }
    arrive_and_wait(way, MBARRIER_AT(DONE, 0));
}

/* Runs the kernel and makes the picture of its end.  False: it does not hang. */
static bool stand_still(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    uint32_t drains[STAGES];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, DONE, "done", 1, 2, 2);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_mbarrier(p, DONE, 0, 0, CONSUMERS, CONSUMERS, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), CONSUMERS + k->done);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, ARRIVERS, ARRIVERS, 0);
        picture_mbarrier(p, EMPTY, s, 0, ARRIVERS, ARRIVERS, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), ARRIVERS);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), ARRIVERS);
        drains[s] = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, s), 1, 0, WSDBG_LANES_ONE);
    }
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1, 1, WSDBG_LANES_ONE);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (w == PRODUCER)
            produce(&ways[w], drains);
        else
            consume(k, &ways[w]);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void what_is_wrong_with_waits_by_token_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand_still(&p, &kernels[i]), kernels[i].cause, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_wrong_with_waits_by_token_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
