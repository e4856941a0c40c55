/* steps_test.c - a producer that fills two of four slots and then waits until all slots are empty, as a kernel's last
 * wait does.  A consumer empties what was filled.  One wait or arrival is wrong at a time.
 *
 * Another warp waits for something else, so that no change of one mbarrier lets all of them go on: a wait has to be
 * compared with the others of its thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, OTHER, STAGES = 4, ROUNDS = 2, PRODUCER = 0, CONSUMER, BYSTANDER, WARPS };
enum { BYTES = 64 };

struct defect {
    const char *name;
    bool is_told;        /* as a parity of a wait that is unlike the others */
    uint32_t wrong_last; /* the last wait on this stage asks for the other parity; 0 = none does */
    uint32_t no_fill;    /* the round, from 1, in which the producer does not arrive */
    uint32_t no_release; /* ... the consumer */
    bool odd_before;     /* the producer's waits in the rounds ask for different phases */
    bool waits_for_tile; /* the producer waits on a barrier of another kind, on which nobody arrives */
    bool lacks_bytes;    /* the last slot that is filled lacks bytes */
    bool other_lacks;    /* ... the barrier of another kind does, on which a bystander waits */
};

static const struct defect defects[] = {
    {.name = "the last wait on a slot that was never filled has the wrong parity", .is_told = true, .wrong_last = 2},
    {.name = "... and something else lacks bytes", .is_told = true, .wrong_last = 2, .other_lacks = true},
    {.name = "... and the ring does", .wrong_last = 2, .lacks_bytes = true},
    {.name = "... and the waits before differ from each other", .wrong_last = 3, .odd_before = true},
    {.name = "a release is left out", .no_release = 2},
    {.name = "a slot is not filled", .no_fill = 2},
    {.name = "a wait beside the ring does not end", .waits_for_tile = true},
};

static void produce(const struct defect *d, struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 64);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (d->odd_before && i == 1)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i), 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i), !(d->odd_before && i == 1));
        if (d->lacks_bytes && i + 1 == ROUNDS)
            way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i), BYTES);
        else if (i + 1 != d->no_fill)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i), 1);
    }
    if (d->waits_for_tile)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(OTHER, 0), 0);
    for (uint32_t i = ROUNDS; i < ROUNDS + STAGES; i++)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES),
                (i / STAGES & 1) ^ 1 ^ (d->wrong_last != 0 && i % STAGES == d->wrong_last));
}

static void consume(const struct defect *d, struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 64);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i), 0);
        if (i + 1 != d->no_release)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i), 1);
    }
}

static void put_ways(struct picture *p, const struct defect *d)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    produce(d, &ways[PRODUCER]);
    consume(d, &ways[CONSUMER]);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w].warp = w;
    way_add(&ways[BYSTANDER], WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, 0), 1);
    if (d->other_lacks)
        way_add(&ways[BYSTANDER], WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(OTHER, 0), BYTES);
    way_add(&ways[BYSTANDER], WSDBG_ACCESS_WAIT, MBARRIER_AT(OTHER, 0), 0);
    ways_put(p, ways, WARPS);
}

static void put_accesses(struct picture *p)
{
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE),
                   frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE),
                   full = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE),
                   empty = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_reach(p, PRODUCER, PRODUCER, fills, 0, UINT8_MAX, 0);
    picture_reach(p, PRODUCER, PRODUCER, empty, 0, UINT8_MAX, 2);
    picture_reach(p, CONSUMER, CONSUMER, full, 0, UINT8_MAX, 2);
    picture_reach(p, CONSUMER, CONSUMER, frees, 0, UINT8_MAX, 2);
}

/* Whether a finding tells of a wait unlike the others of its thread. */
static bool is_told(struct picture *p)
{
    struct wsdbg_diagnosis diagnosis;
    bool told = false;
    picture_still(p);
    picture_judge(p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis.findings[i];
        if (!strstr(finding->sentence, "So this wait asks for the wrong parity"))
            continue;
        told = true;
        assert_int_equal(finding->cause, WSDBG_CAUSE_PARITY_WRONG);
        assert_int_equal(finding->confidence, WSDBG_CONFIDENCE_LIKELY);
        assert_non_null(strstr(finding->sentence, " for phase 1, and has arrived or copied 0 "
                                                  "times on \"full\" stage 2. At all its 2 waits on other stages it "
                                                  "asks for phase 0"));
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    return told;
}

static void test_only_a_wait_unlike_the_others_is_told(void **state)
{
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        struct picture p;
        print_message("%s\n", defects[i].name);
        picture_init(&p, 1, WARPS, 32);
        picture_name(&p, FULL, "full", STAGES, 1u << PRODUCER, 1u << CONSUMER);
        picture_name(&p, EMPTY, "empty", STAGES, 1u << CONSUMER, 1u << PRODUCER);
        for (uint32_t s = 0; s < STAGES; s++) {
            picture_mbarrier(&p, FULL, s, 0, 1, 1, 0);
            picture_mbarrier(&p, EMPTY, s, 0, 1, 1, 0);
        }
        picture_mbarrier(&p, OTHER, 0, 0, 1, 1, 0);
        put_accesses(&p);
        put_ways(&p, &defects[i]);
        assert_true(ways_stand(&p));
        assert_int_equal(is_told(&p), defects[i].is_told);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_a_wait_unlike_the_others_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
