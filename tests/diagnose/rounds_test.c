/* rounds_test.c - a pipeline of two stages between a producer and its consumers, with one defect at a time.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that
 * moment. The diagnosis of the picture must name the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, KEPT, FREED, OTHER, STAGES = 2, ROUNDS = 9, PRODUCER = 0, WARPS_MOST = 8, GROUP = 4 };

/* Accesses of the picture. */
enum { FILLS, FREES, FULL_WAIT, EMPTY_WAIT, DRAIN_WAIT };

/* What is wrong in the kernel; 0 = nothing.  Iterations count from 1. */
struct defect {
    const char *name, *cause;          /* cause NULL: the kernel finishes */
    const char *says;                  /* words of the sentence */
    uint32_t no_release, two_releases; /* the iteration in which the consumers do not release, or release twice */
    uint32_t count_more;               /* added to the count of "empty" stage 1 */
    uint32_t counts_more;              /* ... of all stages */
    uint32_t parity_flip;              /* 1: all waits of the producer have the other parity */
    uint32_t drain;                    /* after so many iterations the producer waits for all stages once more */
    uint32_t tile;                     /* after so many iterations the consumers begin with stage and parity 0 again */
    uint32_t rounds_fewer;             /* iterations that the consumers leave out at the end */
    uint32_t rounds_more;              /* ... or make, and the producer does not */
    uint32_t silent;                   /* consumers that never release, and should */
    bool is_early;                     /* ... as they leave the kernel at once */
    uint32_t no_copy;                  /* the iteration in which the producer announces bytes, but copies none */
    /* What the kernel is like. */
    uint32_t consumers;     /* 0 = 1, warp 1; else warps of the second warpgroup */
    uint32_t quiet;         /* consumers that never release by design */
    uint32_t begins_at;     /* the stage of the first iteration */
    bool waits_twice;       /* consumers wait for each phase twice */
    bool releases_twice;    /* ... and release behind both waits */
    bool is_open;           /* nobody knows how the consumers' walks end */
    bool is_stage_0_hidden; /* the picture lacks the word of "empty" stage 0 */
    bool invalidates;       /* the producer invalidates the barriers at the end */
    bool may_release;       /* by its code the producer, too, could come to a release */
    bool is_release_vague;  /* nobody knows on which barriers the code releases */
    bool all_but_one;       /* all lanes of the producer but lane 0 produce.  Lane 0 has left at once */
    bool serves_other;      /* ... but for an arrival on "other" */
    bool keeps;             /* behind the first copy comes another one, "kept", which consumers free at their end */
    bool is_kept_late;      /* ... and the wait for its place, once before it, has the wrong parity */
    bool releases_late;     /* consumers release a stage in the next iteration, behind its wait */
    uint32_t drains;        /* the producer waits for so many stages once at its end */
    bool drains_in_loop;    /* ... by the instruction of its other waits */
};
#define ALL_BUT_ONE 0xfffffffeu

static const struct defect defects[] = {
    {.name = "nothing"},
    {.name = "a release is left out", .cause = "ARRIVE_MISSING", .no_release = 4},
    {.name = "a release is made twice", .cause = "DOUBLE_ARRIVE", .two_releases = 4},
    {.name = "a count is too high", .cause = "ARRIVE_SHORT", .count_more = 1},
    {.name = "the first parity is wrong", .cause = "PARITY_WRONG", .parity_flip = 1},
    {.name = "the parity begins anew with each tile", .cause = "PARITY_DRIFT", .tile = 2},
    {.name = "the consumer leaves some rounds earlier", .cause = "WAKER_EXITED", .rounds_fewer = 3},
    {.name = "a release is left out by a consumer that waits twice",
     .cause = "ARRIVE_MISSING",
     .says = "went through a round without arriving",
     .no_release = 4,
     .waits_twice = true},
    {.name = "nobody releases",
     .cause = "ARRIVE_MISSING",
     .says = "No thread arrives on",
     .silent = 1,
     .invalidates = true},
    {.name = "the consumer leaves before its first release",
     .cause = "WAKER_EXITED",
     .says = "warp 1, whose code has such an arrival, exited without one",
     .rounds_fewer = ROUNDS,
     .may_release = true},
    {.name = "a copy is left out", .cause = "TX_MISMATCH", .says = "128 bytes are missing", .no_copy = 4},
    {.name = "one of four consumers never releases",
     .cause = "ARRIVE_MISSING",
     .says = "It takes 4 arrivals",
     .consumers = 4,
     .silent = 1},
    {.name = "two of four consumers leave at once: no count is blamed",
     .cause = "WAIT_CYCLE",
     .consumers = 4,
     .silent = 2,
     .is_early = true},
    {.name = "two of four consumers release, and all counts are too high",
     .cause = "ARRIVE_SHORT",
     .says = "is initialised for 3 arrivals, but a round brings only 2",
     .consumers = 4,
     .quiet = 2,
     .counts_more = 1},
    {.name = "all counts are too high, and one word is not known",
     .cause = "ARRIVE_SHORT",
     .says = "is initialised for 2 arrivals, but a round brings only 1",
     .counts_more = 1,
     .begins_at = 1,
     .is_stage_0_hidden = true},
    {.name = "the producer lets its slots drain after four rounds each", .drain = 4},
    {.name = "... and a count is too high",
     .cause = "ARRIVE_SHORT",
     .says = "\"empty\" stage 1 is initialised for 2 arrivals, but a round brings only 1",
     .count_more = 1,
     .drain = 4},
    {.name = "... without its last release", .cause = "ARRIVE_MISSING", .no_release = 6, .rounds_fewer = 2},
    {.name = "the producer drains the ring", .drains = STAGES},
    {.name = "... and consumers release a stage behind the next one's wait", .drains = STAGES, .releases_late = true},
    {.name = "consumers free something once, at their end", .keeps = true},
    {.name = "... and the one wait for it has the wrong parity",
     .cause = "PARITY_WRONG",
     .says = "Warp 0 begins with parity 0 to wait on \"freed\"",
     .consumers = 4,
     .keeps = true,
     .is_kept_late = true},
    {.name = "... and there is one of them",
     .cause = "PARITY_WRONG",
     .says = "Warp 0 begins with parity 0 to wait on \"freed\"",
     .keeps = true,
     .is_kept_late = true},
    /* Not LANE_SPLIT: lane 0 never passed the wait in which the others stand. */
    {.name = "... and one lane of the producer left",
     .cause = "ARRIVE_MISSING",
     .no_release = 6,
     .rounds_fewer = 2,
     .all_but_one = true},
};
enum { DRIFTS = 5 }; /* row */

static uint32_t consumers_of(const struct defect *d)
{
    return d->consumers ? d->consumers : 1;
}

static uint32_t warps_of(const struct defect *d)
{
    return d->consumers ? WARPS_MOST : 2;
}

static uint32_t lanes_of(const struct defect *d, uint32_t warp)
{
    return d->all_but_one && warp == PRODUCER ? ALL_BUT_ONE : 1;
}

static void produce(const struct defect *d, struct way *way)
{
    const uint32_t releases = consumers_of(d) - d->quiet;
    const uint32_t lanes = (uint32_t)__builtin_popcount(lanes_of(d, PRODUCER));
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), lanes);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s),
                releases + d->counts_more + (s == 1 ? d->count_more : 0));
    }
    if (d->keeps) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(KEPT, 0), lanes);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FREED, 0), releases);
    }
    if (d->serves_other)
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, 0), 1);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t s = (i + d->begins_at) % STAGES;
        if (i == 1 && d->keeps) {
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FREED, 0), !d->is_kept_late);
            way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(KEPT, 0), 128);
            way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(KEPT, 0), 128);
        }
        for (uint32_t k = i; d->drain && i > 0 && i % d->drain == 0 && k < i + STAGES; k++)
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, k % STAGES), (k / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, s), (i / STAGES & 1) ^ 1 ^ d->parity_flip)->access =
            EMPTY_WAIT;
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, s), 128);
        if (i + 1 != d->no_copy)
            way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, s), 128);
    }
    for (uint32_t i = ROUNDS; i < ROUNDS + d->drains; i++)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1)->access =
            d->drains_in_loop ? EMPTY_WAIT : DRAIN_WAIT;
    for (uint32_t s = 0; s < STAGES && d->invalidates; s++)
        way_add(way, WSDBG_ACCESS_INVALIDATE, MBARRIER_AT(EMPTY, s), 0);
}

static void consume(const struct defect *d, struct way *way, bool releases)
{
    const uint32_t rounds = ROUNDS - d->rounds_fewer + d->rounds_more;
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t of_tile = d->tile ? i % d->tile : i, s = (of_tile + d->begins_at) % STAGES;
        const uint32_t times = i + 1 == d->no_release ? 0 : i + 1 == d->two_releases ? 2 : 1;
        for (uint32_t k = 0; k <= d->waits_twice; k++) {
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, s), of_tile / STAGES & 1);
            if (k == 0 && d->releases_twice)
                way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1);
        }
        if (i == 0 && d->keeps)
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(KEPT, 0), 0);
        for (uint32_t k = 0; k < times && releases && !(d->releases_late && i == 0); k++)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, d->releases_late ? (s + 1) % STAGES : s), 1);
    }
    if (d->releases_late)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, (rounds - 1) % STAGES), 1);
    if (d->keeps)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FREED, 0), 1);
    way->is_open = d->is_open;
}

static void put_ways(struct picture *p, const struct defect *d)
{
    static struct way all[WARPS_MOST + 1];
    struct way *const ways = all + d->all_but_one; /* before them lane 0 of the producer */
    memset(all, 0, sizeof all);
    if (d->serves_other) {
        way_add(&all[0], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        way_add(&all[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OTHER, 0), 1);
    }
    produce(d, &ways[PRODUCER]);
    ways[PRODUCER].lanes = lanes_of(d, PRODUCER);
    for (uint32_t w = 1; w < warps_of(d); w++) {
        const uint32_t first = d->consumers ? GROUP : 1;
        ways[w].warp = w;
        if (w < first || w >= first + consumers_of(d) || (d->is_early && w < first + d->silent))
            way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        else
            consume(d, &ways[w], w - first >= d->silent + d->quiet);
    }
    ways_put(p, all, warps_of(d) + d->all_but_one);
}

/* The accesses that a reader of the code finds. */
static void put_accesses(struct picture *p, const struct defect *d)
{
    const uint32_t first = d->consumers ? GROUP : 1, last = first + consumers_of(d) - 1;
    const enum wsdbg_lanes waiting = d->all_but_one ? WSDBG_LANES_UNKNOWN : WSDBG_LANES_ONE;
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE),
                   frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0),
                                          d->is_release_vague ? 0 : STAGES, 1, WSDBG_LANES_ONE),
                   full = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE),
                   empty = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, waiting);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, waiting);
    picture_reach(p, PRODUCER, PRODUCER, fills, 0, UINT8_MAX, 2);
    picture_reach(p, PRODUCER, PRODUCER, empty, 0, UINT8_MAX, 2);
    picture_reach(p, first, last, full, 0, UINT8_MAX, 2);
    if (d->no_copy) { /* a reader does not see how many bytes are announced */
        const wsdbg_access_kinds kinds[] = {WSDBG_ACCESS_COPY, WSDBG_ACCESS_ARRIVE_EXPECT, WSDBG_ACCESS_ARRIVE_EXPECT};
        for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            picture_reach(p, PRODUCER, PRODUCER,
                          picture_access(p, kinds[i], MBARRIER_AT(FULL, 0), STAGES, 128 * i, WSDBG_LANES_ONE), 0,
                          UINT8_MAX, 2);
    }
    if (d->may_release)
        picture_reach(p, PRODUCER, PRODUCER, frees, 0, UINT8_MAX, 2);
    if (d->is_early)
        picture_reach(p, first, first + d->silent - 1, frees, 0, 0, 0);
    if (d->silent + d->quiet < consumers_of(d))
        picture_reach(p, first + d->silent + d->quiet, last, frees, 0, UINT8_MAX, 2);
}

/* Runs the kernel and makes the picture of its end.  False: it does not hang. */
static bool stand_still(struct picture *p, const struct defect *d)
{
    picture_init(p, 1, warps_of(d), 32);
    picture_name(p, FULL, "full", STAGES, 1u << PRODUCER, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1u << PRODUCER);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    if (d->keeps) {
        picture_name(p, KEPT, "kept", 1, 1u << PRODUCER, 2);
        picture_name(p, FREED, "freed", 1, 2, 1u << PRODUCER);
        picture_mbarrier(p, KEPT, 0, 0, 1, 1, 0);
        picture_mbarrier(p, FREED, 0, 0, 1, 1, 0);
    }
    if (d->serves_other) {
        picture_name(p, OTHER, "other", 1, 1u << PRODUCER, 2);
        picture_mbarrier(p, OTHER, 0, 0, 1, 1, 0);
    }
    put_accesses(p, d);
    put_ways(p, d);
    const bool stands = ways_stand(p);
    for (size_t b = 0; d->is_stage_0_hidden && b < p->snapshot.barrier_count; b++)
        if (p->snapshot.barriers[b].id == EMPTY && p->snapshot.barriers[b].stage == 0)
            p->snapshot.barriers[b].phase.known = false;
    return stands;
}

static void test_each_defect_is_told(void **state)
{
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        struct picture p;
        print_message("%s\n", defects[i].name);
        assert_int_equal(stand_still(&p, &defects[i]), defects[i].cause != NULL);
        if (defects[i].cause)
            ways_expect(&p, defects[i].cause, defects[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* The consumer leaves before its first release, or there is none: nobody knows on which barriers the code releases. */
static void test_warps_are_not_blamed_for_arrivals_that_may_be_elsewhere(void **state)
{
    static const struct defect kernel = {.rounds_fewer = ROUNDS, .may_release = true, .is_release_vague = true};
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    assert_true(stand_still(&p, &kernel));
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_true(diagnosis.findings[i].confidence == WSDBG_CONFIDENCE_POSSIBLE ||
                    diagnosis.findings[i].cause == WSDBG_CAUSE_UNKNOWN);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_ARRIVE_MISSING);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

/* The consumers make one more iteration than the producer.  It waits behind its last round: that is no round without an
 * arrival if it drains the ring. */
static void test_a_round_more_than_there_are_arrivals_is_told(void **state)
{
    static const struct defect kernels[] = {
        {.name = "the producer stands in its drain",
         .cause = "ROLE_DISAGREE",
         .says =
             "Warp 1 waits for one more round of \"full\" stage 1 at kernel.cu:101 than the kernel has arrivals for: "
             "from its start to its end there are arrivals for 4 rounds, by warp 0. The",
         .rounds_more = 1,
         .drains = STAGES,
         .releases_late = true},
        {.name = "... and a lane of it has left that took no part in the ring",
         .cause = "ROLE_DISAGREE",
         .says = "waits for one more round of \"full\" stage 1",
         .rounds_more = 1,
         .drains = STAGES,
         .releases_late = true,
         .all_but_one = true,
         .serves_other = true},
        {.name = "... has left behind its drain",
         .cause = "WAKER_EXITED",
         .says = "by warp 0, which has exited",
         .rounds_more = 1,
         .drains = STAGES},
        {.name = "... has left without a drain",
         .cause = "WAKER_EXITED",
         .says = "by warp 0, which has exited",
         .rounds_more = 1},
        {.name = "... stands in waits that may be those of more rounds",
         .rounds_more = 1,
         .drains = STAGES,
         .drains_in_loop = true,
         .releases_late = true},
        {.name = "... has left behind such waits", .rounds_more = 1, .drains = STAGES, .drains_in_loop = true},
        {.name = "... has left behind a wait for one stage alone", .rounds_more = 1, .drains = 1},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_true(stand_still(&p, &kernels[i]));
        if (kernels[i].cause)
            ways_expect(&p, kernels[i].cause, kernels[i].says);
        else
            assert_false(ways_say(&p, "for one more round"));
        picture_deinit(&p);
    }
    (void)state;
}

/* The evidence row of a finding that speaks of the replay; NULL = there is none. */
static const char *account_of(const struct wsdbg_finding *finding)
{
    for (size_t i = 0; i < finding->evidence_count; i++)
        if (strstr(finding->evidence[i].text, "followed from its start"))
            return finding->evidence[i].text;
    return NULL;
}

/* A repair after which all go on, though nobody knows how far: nothing is said of the kernel's end, and of a count of
 * all stages the cause is only possible. */
static void test_a_way_that_is_not_known_to_its_end_is_told(void **state)
{
    static const struct defect kernels[] = {
        {.name = "a release is left out", .cause = "ARRIVE_MISSING", .no_release = 4, .is_open = true},
        {.name = "a count is too high", .cause = "ARRIVE_SHORT", .count_more = 1, .is_open = true},
        {.name = "all counts are too high", .cause = "ARRIVE_SHORT", .counts_more = 1, .is_open = true},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        bool is_told = false;
        assert_true(stand_still(&p, &kernels[i]));
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        for (size_t k = 0; k < diagnosis.finding_count; k++) {
            const struct wsdbg_finding *finding = &diagnosis.findings[k];
            const char *account = account_of(finding);
            if (!account)
                continue;
            is_told = true;
            assert_string_equal(wsdbg_cause_name(finding->cause), kernels[i].cause);
            assert_int_equal(finding->confidence,
                             kernels[i].counts_more ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY);
            assert_non_null(strstr(account, "all that is stuck would go on; how the kernel goes on after that is not"));
            assert_null(strstr(finding->sentence, "finish"));
        }
        assert_true(is_told);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

/* The picture has phases that the replay does not reach.  So the replay is not what happened, and nothing is concluded
 * from it; what the walks show without one may be told. */
static void test_another_picture_is_not_explained(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    assert_true(stand_still(&p, &defects[DRIFTS]));
    p.snapshot.barriers[0].phase.value ^= 1;
    p.snapshot.barriers[1].phase.value ^= 1;
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_null(strstr(diagnosis.findings[i].sentence, "that do not alternate"));
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

/* The same, but the walks alone tell of more arrivals than the waits take: whatever happened, that is wrong. */
static void test_walks_with_too_many_arrivals_are_told(void **state)
{
    static const struct defect kernels[] = {
        {.name = "a release is made twice",
         .cause = "DOUBLE_ARRIVE",
         .says = "arrived on \"empty\" stage 1 once more in a round than in its other rounds, after 2 arrivals",
         .two_releases = 4},
        {.name = "each release is made twice, with a wait between",
         .cause = "DOUBLE_ARRIVE",
         .says = "there are 8 (most by warp 1), and the waits take 3 phases of 1",
         .waits_twice = true,
         .releases_twice = true},
        {.name = "a release is left out", .no_release = 4},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        print_message("%s\n", kernels[i].name);
        assert_true(stand_still(&p, &kernels[i]));
        for (size_t b = 0; b < p.snapshot.barrier_count; b++) /* that no order of the walks leads to */
            if (p.snapshot.barriers[b].id == FULL)
                p.snapshot.barriers[b].pending_tx_bytes = wsdbg_known_u64(64);
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        const struct wsdbg_finding *first = &diagnosis.findings[0];
        const bool is_told = diagnosis.finding_count && first->cause == WSDBG_CAUSE_DOUBLE_ARRIVE;
        if (is_told != (kernels[i].cause != NULL) || (is_told && !strstr(first->sentence, kernels[i].says)))
            fail_msg("%s", diagnosis.finding_count ? first->sentence : "nothing");
        if (is_told)
            assert_int_equal(first->confidence, WSDBG_CONFIDENCE_LIKELY);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

/* Whether these arrivals were made rests on which CTA got which tile: then that is only possible. */
static void test_what_rests_on_turns_is_possible(void **state)
{
    static const struct defect twice = {.two_releases = 4};
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    assert_true(stand_still(&p, &twice));
    for (size_t b = 0; b < p.snapshot.barrier_count; b++) /* that no order of the walks leads to */
        if (p.snapshot.barriers[b].id == FULL)
            p.snapshot.barriers[b].pending_tx_bytes = wsdbg_known_u64(64);
    for (size_t i = 0; i < p.snapshot.walk_count; i++)
        p.snapshot.walks[i].is_guessed = p.snapshot.walks[i].is_in_turn = true;
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_DOUBLE_ARRIVE);
    assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_POSSIBLE);
    assert_non_null(strstr(diagnosis.findings[0].evidence[diagnosis.findings[0].evidence_count - 2].text, "in turn"));
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_defect_is_told),
        cmocka_unit_test(test_warps_are_not_blamed_for_arrivals_that_may_be_elsewhere),
        cmocka_unit_test(test_a_round_more_than_there_are_arrivals_is_told),
        cmocka_unit_test(test_a_way_that_is_not_known_to_its_end_is_told),
        cmocka_unit_test(test_another_picture_is_not_explained),
        cmocka_unit_test(test_walks_with_too_many_arrivals_are_told),
        cmocka_unit_test(test_what_rests_on_turns_is_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
