/* left_out_test.c - arrivals that nobody makes, from the probes' record: a barrier left out of the releases, warps that
 * turn off to the end of the kernel a round early; and kernels that look alike and hang for another reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define LIKELY WSDBG_CONFIDENCE_LIKELY

enum { THIRD = 2, EPILOGUE = 2, BYTES = 64, NEVER = 1000 };

/* Warp 0 of CTA 0 fills the slots of all CTAs, warps 1 to `consumers` of each CTA read and release them. */
struct shape {
    const char *name;
    uint32_t ctas, consumers, stages, blocks;
    bool unnamed;
    bool third;         /* the producer waits on a barrier beside "empty" on which nobody arrives */
    bool third_of_tile; /* the last warp waits on it for the whole tile, for which the consumers arrive at its end */
    uint32_t lost;      /* the block whose copy never lands */
    uint32_t turn_off;  /* the block before which the last consumer of the last CTA goes to the end */
    bool all_meet;      /* ... all consumers do, and come back */
    const char *cause, *barrier; /* of the first finding; cause NULL: anything but a missing arrival */
};

static void names(struct device *d, const struct shape *s)
{
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_role(d, EPILOGUE, "epilogue");
    device_mbarrier(d, FULL, "full", s->stages, false, 1 << PRODUCER, 1 << CONSUMER_0);
    device_mbarrier(d, EMPTY, "empty", s->stages, true, 1 << CONSUMER_0, 1 << PRODUCER);
    if (s->third)
        device_mbarrier(d, THIRD, "third", s->stages, true, 1 << CONSUMER_0, 1 << PRODUCER);
    if (s->third_of_tile)
        device_mbarrier(d, THIRD, "third", 1, false, 1 << CONSUMER_0, 1 << EPILOGUE);
}

static void meet(struct device *d, const struct shape *s, uint32_t cta, uint32_t warp)
{
    if (s->ctas > 1)
        cluster_sync(d, cta, warp);
    else
        named_sync(d, cta, warp, 0, 32 * (s->consumers + 2));
}

static void produce(struct device *d, const struct shape *s)
{
    for (uint32_t i = 0; i < s->blocks; i++) {
        const uint32_t stage = i % s->stages, parity = (i / s->stages + 1) & 1;
        wait(d, 0, 0, EMPTY, stage, parity, i);
        if (s->third)
            wait(d, 0, 0, THIRD, stage, parity, i);
        arrive_expect(d, 0, 0, FULL, stage, i, BYTES);
        if (i == s->lost)
            lost_copy(d, 0, 0, FULL, stage, i, BYTES);
        else
            copy(d, 0, 0, FULL, stage, i, BYTES, s->ctas > 1 ? (1u << s->ctas) - 1 : 0);
    }
}

static void consume(struct device *d, const struct shape *s, uint32_t cta, uint32_t warp)
{
    const bool last = cta == s->ctas - 1 && warp == s->consumers;
    for (uint32_t i = 0; i < s->blocks; i++) {
        const uint32_t stage = i % s->stages;
        if (i == s->turn_off && s->all_meet)
            meet(d, s, cta, warp);
        else if (i == s->turn_off && last)
            return;
        wait(d, cta, warp, FULL, stage, i / s->stages & 1, i);
        if (s->ctas > 1)
            arrive_remote(d, cta, warp, EMPTY, stage, i, 0);
        else
            arrive(d, cta, warp, EMPTY, stage, i, 1);
    }
    if (s->third_of_tile)
        arrive(d, cta, warp, THIRD, 0, 0, 1);
}

static struct device *kernel(const struct shape *s)
{
    struct device *d = device_create(s->ctas, s->consumers + 2, s->ctas, 128);
    const uint32_t epilogue = s->consumers + 1;
    if (!s->unnamed)
        names(d, s);
    for (uint32_t cta = 0; cta < s->ctas; cta++) {
        for (uint32_t stage = 0; stage < s->stages; stage++) {
            init(d, cta, 0, FULL, stage, 1);
            init(d, cta, 0, EMPTY, stage, s->ctas * s->consumers);
            if (s->third || (s->third_of_tile && stage == 0))
                init(d, cta, 0, THIRD, stage, s->consumers);
        }
        for (uint32_t warp = 0; warp <= epilogue; warp++) {
            if (!s->unnamed)
                role(d, cta, warp, warp == 0 ? PRODUCER : warp == epilogue ? EPILOGUE : CONSUMER_0);
            meet(d, s, cta, warp);
        }
        if (cta == 0)
            produce(d, s);
        for (uint32_t i = 0; cta > 0 && i < s->blocks; i++)
            arrive_expect(d, cta, 0, FULL, i % s->stages, i, BYTES),
                wait(d, cta, 0, FULL, i % s->stages, i / s->stages & 1, i);
        for (uint32_t warp = 1; warp < epilogue; warp++)
            consume(d, s, cta, warp);
        if (s->third_of_tile)
            wait(d, cta, epilogue, THIRD, 0, 0, 0);
        for (uint32_t warp = 0; warp <= epilogue; warp++) {
            meet(d, s, cta, warp);
            leave(d, cta, warp);
        }
    }
    return d;
}

static const struct shape table[] = {
    {"a barrier left out", 1, 4, 2, 6, .third = true, .lost = NEVER, .turn_off = NEVER, .cause = "ARRIVE_MISSING",
     .barrier = "third"},
    {"the same, 4 stages, 1 consumer", 1, 1, 4, 12, .third = true, .lost = NEVER, .turn_off = NEVER,
     .cause = "ARRIVE_MISSING", .barrier = "third"},
    {"a CTA turns off", 2, 4, 2, 8, .lost = NEVER, .turn_off = 4, .cause = "ARRIVE_MISSING", .barrier = "empty"},
    {"one of 4, with 3 stages", 4, 2, 3, 12, .lost = NEVER, .turn_off = 5, .cause = "ARRIVE_MISSING",
     .barrier = "empty"},
    {"a warp turns off", 1, 3, 2, 8, .lost = NEVER, .turn_off = 5, .cause = "ARRIVE_MISSING", .barrier = "empty"},
    {"without names", 1, 3, 2, 8, .unnamed = true, .lost = NEVER, .turn_off = 5, .cause = "ARRIVE_MISSING"},
    {"arrivals due at the tile's end", 1, 2, 2, 6, .third_of_tile = true, .lost = 3, .turn_off = NEVER},
    {"a sync within the tile", 2, 2, 2, 8, .all_meet = true, .lost = NEVER, .turn_off = 4},
    {"a copy is lost", 1, 2, 2, 8, .lost = 4, .turn_off = NEVER},
};

static const char *barrier_of(const struct result *r, const struct wsdbg_finding *finding)
{
    const struct wsdbg_barrier *row =
        finding->barrier < r->snapshot.barrier_count ? &r->snapshot.barriers[finding->barrier] : NULL;
    return row && row->name ? row->name->name : "";
}

static void check(const struct shape *s, const struct result *r)
{
    const struct wsdbg_finding *first = &r->diagnosis.findings[0];
    assert_true(r->diagnosis.finding_count > 0 && r->diagnosis.hang);
    if (s->cause && (strcmp(wsdbg_cause_name(first->cause), s->cause) != 0 || first->confidence != LIKELY))
        fail_msg("%s: %s (%s): %s", s->name, wsdbg_cause_name(first->cause), wsdbg_confidence_name(first->confidence),
                 first->sentence);
    if (s->cause && !s->unnamed) {
        assert_string_equal(barrier_of(r, first), s->barrier);
        assert_int_equal(first->role.value, CONSUMER_0);
    }
    for (size_t i = 0; i < r->diagnosis.finding_count && !s->cause; i++)
        if (r->diagnosis.findings[i].cause == WSDBG_CAUSE_ARRIVE_MISSING)
            fail_msg("%s: %s", s->name, r->diagnosis.findings[i].sentence);
}

static void each_kernel_gives_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct result r = judge(kernel(&table[i]), 0, 128);
        check(&table[i], &r);
        done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kernel_gives_its_cause)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
