/* thread_arrivals_test.c - a CTA in which every thread arrives on one mbarrier and waits there.  Lane 0 of warp 0
 * copies a tile and arrives with its bytes; so this warp arrives by two instructions.
 *
 * The same kernel is judged from a record of its events, and from its walks and the picture of its end.  A ring with
 * two arrivals a round is judged when nobody makes one of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caused.h"
#include "ways.h"

enum { TILE = 1, WARPS = 4, LANES = 32, THREADS = WARPS * LANES, BYTES = 4096, OTHER_LANES = (int)~1u };

static const struct kernel {
    const char *name;
    /* The first finding of a record, and of the picture; NULL: the kernel finishes. */
    const char *of_record, *of_picture;
    const char *says;    /* words of the picture's sentence, NULL = any */
    uint32_t count_more; /* added to the barrier's count */
    uint32_t bytes_more; /* ... to the bytes that are announced */
    bool lacks_copy;
    bool leaves;    /* lane 0 leaves behind its copy, without its arrival */
    bool is_served; /* a fifth warp is to make the copy, and waits elsewhere for ever */
} kernels[] = {
    {.name = "nothing"},
    {.name = "more bytes are announced than come",
     .of_record = "TX_MISMATCH",
     .of_picture = "TX_MISMATCH",
     .bytes_more = 16},
    {.name = "the copy is left out",
     .of_record = "TMA_NEVER_COMPLETED",
     .of_picture = "TX_MISMATCH",
     .lacks_copy = true},
    {.name = "the count is too high",
     .of_record = "ARRIVE_SHORT",
     .of_picture = "ARRIVE_SHORT",
     .says = "a round brings only 128",
     .count_more = 1},
    {.name = "lane 0 leaves before its arrival",
     .of_record = "ARRIVE_MISSING",
     .of_picture = "WAKER_EXITED",
     .says = "lane 0 of warp 0, whose code arrives there, left the kernel",
     .leaves = true},
};

/* ---- from a record ---- */

static struct device *record(const struct kernel *k)
{
    struct device *d = device_create(1, WARPS + k->is_served, 1, 32);
    init(d, 0, 0, TILE, 0, THREADS + k->count_more);
    if (k->is_served)
        named_sync(d, 0, WARPS, 1, THREADS);
    for (uint32_t w = 0; w < WARPS; w++) {
        named_sync(d, 0, w, 0, THREADS);
        arrive(d, 0, w, TILE, 0, WSDBG_NO_ITERATION, w == 0 ? LANES - 1 : LANES);
        if (w == 0 && !k->lacks_copy)
            copy(d, 0, w, TILE, 0, WSDBG_NO_ITERATION, BYTES, 0);
        if (w == 0 && !k->leaves)
            arrive_expect(d, 0, w, TILE, 0, WSDBG_NO_ITERATION, BYTES + k->bytes_more);
        wait(d, 0, w, TILE, 0, 0, WSDBG_NO_ITERATION);
        leave(d, 0, w);
    }
    return d;
}

static void the_record_of_several_arrivals_of_a_warp_is_one_phase(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct result r = judge(record(&kernels[i]), 0, 128);
        print_message("%s\n", kernels[i].name);
        assert_int_equal(r.snapshot.grids[0].running, kernels[i].of_record != NULL);
        if (kernels[i].of_record)
            assert_string_equal(wsdbg_cause_name(r.diagnosis.findings[0].cause), kernels[i].of_record);
        done(&r);
    }
    (void)state;
}

/* Whoever announced the bytes waits for them, and another warp stands elsewhere: it may be meant to copy. */
static void bytes_that_another_warp_may_bring_are_no_mismatch(void **state)
{
    const struct kernel k = {.lacks_copy = true, .is_served = true};
    struct result r = judge(record(&k), 0, 128);
    assert_true(r.snapshot.grids[0].running);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++) {
        assert_int_not_equal(r.diagnosis.findings[i].cause, WSDBG_CAUSE_TX_MISMATCH);
        assert_int_not_equal(r.diagnosis.findings[i].cause, WSDBG_CAUSE_TMA_NEVER_COMPLETED);
    }
    done(&r);
    (void)state;
}

/* ---- from walks and a picture ---- */

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS + 1];
    memset(ways, 0, sizeof ways);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(TILE, 0), THREADS + k->count_more);
    way_add(&ways[0], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    if (!k->lacks_copy)
        way_add(&ways[0], WSDBG_ACCESS_COPY, MBARRIER_AT(TILE, 0), BYTES);
    if (!k->leaves) {
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(TILE, 0), BYTES + k->bytes_more);
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), 0);
    }
    for (uint32_t i = 1; i <= WARPS; i++) {
        ways[i].warp = i - 1;
        ways[i].lanes = i == 1 ? (uint32_t)OTHER_LANES : UINT32_MAX;
        way_add(&ways[i], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        way_add(&ways[i], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TILE, 0), 1);
        way_add(&ways[i], WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), 0);
    }
    ways_put(p, ways, WARPS + 1);
}

static bool stand_still(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, TILE, "tile", 1, 1, 1);
    picture_mbarrier(p, TILE, 0, 0, THREADS + k->count_more, THREADS + k->count_more, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    const uint32_t copies = picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(TILE, 0), 1, 1, WSDBG_LANES_ONE),
                   arrives = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TILE, 0), 1, 1, WSDBG_LANES_UNKNOWN);
    picture_reach(p, 0, 0, copies, 0, UINT8_MAX, 0);
    picture_reach(p, 0, WARPS - 1, arrives, 0, 1, 0);
    put_ways(p, k);
    return ways_stand(p);
}

static void the_picture_tells_lanes_that_left_from_a_count_that_is_too_high(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand_still(&p, &kernels[i]), kernels[i].of_picture != NULL);
        if (kernels[i].of_picture)
            ways_expect(&p, kernels[i].of_picture, kernels[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- a ring of which nobody makes one of two arrivals ---- */

enum { FILLED = 2, FREED, STAGES = 2, ROUNDS = 8, TMA = 0, LOADER, CONSUMER, RING_WARPS };

static const struct ring {
    const char *name, *cause, *says;
    uint32_t lanes;         /* of the TMA warp that wait for the ring to drain; the others have left */
    bool arrives_elsewhere; /* the TMA warp arrives on "full" by another instruction */
    bool is_open;           /* it is not known how the TMA warp goes on behind the first wait */
} rings[] = {
    {.name = "the elected lane left, and most of its warp goes on",
     .cause = "WAKER_EXITED",
     .says = "lane 0 of warp 0 left the kernel",
     .lanes = (uint32_t)OTHER_LANES},
    {.name = "most lanes of the warp have left",
     .cause = "ARRIVE_MISSING",
     .says =
         "Nobody makes the arrival on \"full\" at kernel.cu:200, which is on the way of warp 0: so each phase lacks 1",
     .lanes = 2},
    {.name = "the warp arrives in another way: no such arrival is missed", .lanes = 2, .arrives_elsewhere = true},
    {.name = "the warp may arrive behind what is known of it", .lanes = 2, .is_open = true},
};

static void put_ring_ways(struct picture *p, const struct ring *r)
{
    static struct way ways[RING_WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(&ways[CONSUMER], WSDBG_ACCESS_INIT, MBARRIER_AT(FILLED, s), 2 + r->arrives_elsewhere);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_INIT, MBARRIER_AT(FREED, s), 1);
    }
    for (uint32_t w = 0; w < RING_WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    ways[TMA].lanes = r->lanes;
    ways[TMA].is_open = r->is_open;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t full = MBARRIER_AT(FILLED, i % STAGES), empty = MBARRIER_AT(FREED, i % STAGES);
        way_add(&ways[LOADER], WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
        way_add(&ways[LOADER], WSDBG_ACCESS_ARRIVE, full, 1);
        if (i == 0 || !r->is_open)
            way_add(&ways[TMA], WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
        if (r->arrives_elsewhere)
            way_add(&ways[TMA], WSDBG_ACCESS_ARRIVE, full, 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, full, i / STAGES & 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_ARRIVE, empty, 1);
    }
    ways_put(p, ways, RING_WARPS);
}

static bool ring_stands(struct picture *p, const struct ring *r)
{
    picture_init(p, 1, RING_WARPS, 32);
    picture_name(p, FILLED, "full", STAGES, 1, 2);
    picture_name(p, FREED, "empty", STAGES, 2, 1);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FILLED, s, 0, 2 + r->arrives_elsewhere, 2 + r->arrives_elsewhere, 0);
        picture_mbarrier(p, FREED, s, 0, 1, 1, 0);
    }
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    put_ring_ways(p, r);
    /* No walk has this one. */
    const uint32_t unmade =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FILLED, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    picture_reach(p, TMA, TMA, unmade, 0, UINT8_MAX, 0);
    return ways_stand(p);
}

static void an_arrival_that_nobody_makes_is_told(void **state)
{
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        struct picture p;
        print_message("%s\n", rings[i].name);
        assert_true(ring_stands(&p, &rings[i]));
        if (rings[i].cause)
            ways_expect(&p, rings[i].cause, rings[i].says);
        else
            assert_false(ways_say(&p, "Nobody makes the arrival"));
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_of_several_arrivals_of_a_warp_is_one_phase),
        cmocka_unit_test(bytes_that_another_warp_may_bring_are_no_mismatch),
        cmocka_unit_test(the_picture_tells_lanes_that_left_from_a_count_that_is_too_high),
        cmocka_unit_test(an_arrival_that_nobody_makes_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
