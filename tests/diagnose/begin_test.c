/* begin_test.c - what threads do before their first wait: they release some stages of a ring, but not all, or one of
 * them twice; or nobody releases a barrier first for which all wait.
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

enum { FULL = 1, EMPTY, GO, DATA, STAGES = 3, GROUP = 4, WARPS = 8, PRODUCER = 0, HELPER = 1, ROUNDS = 12 };
enum { NAMED = 1 };

static struct way ways[WARPS];

static void arrive(uint32_t warp, uint32_t ring, uint32_t stage);

/* `at_once`: the stages that the producer releases as soon as it has initialised them, a bit each. */
static void begin(uint32_t go_count, uint32_t at_once)
{
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && w == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
            if (at_once >> s & 1)
                arrive(w, EMPTY, s);
        }
        if (w == PRODUCER) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(GO, 0), go_count);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(DATA, 0), 1);
        }
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, WARPS * 32);
    }
}

static void wait_for(uint32_t warp, uint32_t ring, uint32_t stage, uint32_t parity)
{
    way_add(&ways[warp], WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, stage), parity & 1);
}

static void arrive(uint32_t warp, uint32_t ring, uint32_t stage)
{
    way_add(&ways[warp], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, stage), 1);
}

static void put(struct picture *p)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, GO, "go", 1, 2, 1);
    picture_name(p, DATA, "data", 1, 1, 2);
    for (uint32_t i = 0; i < 2 * STAGES; i++)
        picture_mbarrier(p, FULL + i / STAGES, i % STAGES, 0, 1, 1, 0);
    picture_mbarrier(p, GO, 0, 0, 1, 1, 0);
    picture_mbarrier(p, DATA, 0, 0, 1, 1, 0);
    for (uint32_t id = 0; id <= NAMED; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    ways_put(p, ways, WARPS);
}

/* ---- stages that are released before the first round ---- */

/* Warp `first` releases stages before the first round; the producer waits for that with parity 0. */
struct pre {
    const char *name, *cause, *says; /* says NULL: nothing is said of the time before the first wait */
    uint32_t first, count, stages[STAGES + 1];
    uint32_t at_once; /* stages that are released as soon as they are initialised, a bit each */
};

static const struct pre pre[] = {
    {.name = "each once", .first = PRODUCER, .count = 3, .stages = {0, 1, 2}},
    {.name = "one of them not",
     .cause = "ARRIVE_MISSING",
     .says = "Before the first wait, warp 0 does not arrive on \"empty\" stage 1, but on other stages of \"empty\". "
             "With that arrival the kernel would finish.",
     .first = PRODUCER,
     .count = 2,
     .stages = {0, 2}},
    {.name = "... the last one",
     .cause = "ARRIVE_MISSING",
     .says = "Before the first wait, warp 0 does not arrive on \"empty\" stage 2, but on other stages of \"empty\". "
             "With that arrival the kernel would finish.",
     .first = PRODUCER,
     .count = 2,
     .stages = {0, 1}},
    {.name = "... where each is released before the next one is initialised",
     .cause = "ARRIVE_MISSING",
     .says = "Before the first wait, warp 0 does not arrive on \"empty\" stage 1",
     .first = PRODUCER,
     .at_once = 1 << 0 | 1 << 2},
    {.name = "... by who arrives in the rounds, too",
     .cause = "ARRIVE_MISSING",
     .says = "Before the first wait, warp 4 does not arrive on \"empty\" stage 1",
     .first = GROUP,
     .count = 2,
     .stages = {2, 0}},
    {.name = "... by a warp that never waits", .first = HELPER, .count = 2, .stages = {0, 1}},
    {.name = "one of them twice",
     .cause = "DOUBLE_ARRIVE",
     .says = "Before the first wait, warp 0 arrives more often on \"empty\" stage 1 than on other stages of \"empty\". "
             "Without that arrival the kernel would finish.",
     .first = PRODUCER,
     .count = 4,
     .stages = {0, 1, 2, 1}},
    {.name = "... twice in a row",
     .cause = "DOUBLE_ARRIVE",
     .says = "Before the first wait, warp 0 arrives more often on \"empty\" stage 1 than on other stages of \"empty\". "
             "Without that arrival the kernel would finish.",
     .first = PRODUCER,
     .count = 4,
     .stages = {0, 1, 1, 2}},
    {.name = "... by a warp that never waits", .first = HELPER, .count = 4, .stages = {0, 1, 2, 1}},
};

static void run_ring(const struct pre *k)
{
    begin(1, k->at_once);
    for (uint32_t i = 0; i < k->count; i++)
        arrive(k->first, EMPTY, k->stages[i]);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(PRODUCER, EMPTY, i % STAGES, i / STAGES);
        arrive(PRODUCER, FULL, i % STAGES);
        wait_for(GROUP, FULL, i % STAGES, i / STAGES);
        arrive(GROUP, EMPTY, i % STAGES);
    }
}

static void each_stage_is_released_once_before_the_first_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pre / sizeof *pre; i++) {
        struct picture p;
        print_message("%s\n", pre[i].name);
        run_ring(&pre[i]);
        put(&p);
        assert_int_equal(ways_stand(&p), i > 0);
        if (pre[i].says)
            ways_expect(&p, pre[i].cause, pre[i].says);
        else
            assert_false(ways_say(&p, "Before the first wait"));
        picture_deinit(&p);
    }
}

/* ---- a barrier that nobody releases first ---- */

/* The producer waits for GO before each round of DATA, and warp 4 gives it behind each round but the last one. */
enum release {
    LACKS_ONE,     /* nobody gives GO first */
    EITHER,        /* warp 4 also gives it behind the last round: whoever begins, the kernel finishes */
    HALF,          /* two warps give GO, and one of them does so before the first round, too */
    GIVER_LEFT,    /* ... or a third one did so, and has left */
    GIVER_STANDS,  /* another warp would give it later, and stands at a named barrier */
    BRINGS_DATA,   /* GO also counts bytes, which a copy brings in each round */
    WAITS_AGAIN,   /* the producer waits for something that never comes, behind all rounds */
    NOT_ALL_KNOWN, /* a warp has left behind the end of its walk */
    RELEASES
};

static bool gives(enum release k, uint32_t round)
{
    return round + 1 < ROUNDS || k == EITHER;
}

static bool gives_by_two(enum release k)
{
    return k == HALF || k == GIVER_LEFT;
}

static void run_rounds(enum release k)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(PRODUCER, GO, 0, i);
        arrive(PRODUCER, DATA, 0);
        for (uint32_t w = GROUP; w < GROUP + (gives_by_two(k) ? 2u : 1u); w++) {
            wait_for(w, DATA, 0, i);
            if (gives(k, i))
                arrive(w, GO, 0);
            if (k == BRINGS_DATA && gives(k, i))
                way_add(&ways[w], WSDBG_ACCESS_COPY, MBARRIER_AT(GO, 0), 0);
        }
    }
}

static void run_handshake(enum release k)
{
    begin(gives_by_two(k) ? 2 : 1, 0);
    if (gives_by_two(k))
        arrive(k == HALF ? GROUP + 1 : HELPER, GO, 0);
    run_rounds(k);
    if (k == GIVER_STANDS) {
        way_add(&ways[PRODUCER], WSDBG_ACCESS_NAMED_SYNC, NAMED, 2 * 32);
        way_add(&ways[HELPER], WSDBG_ACCESS_NAMED_SYNC, NAMED, 2 * 32);
        arrive(HELPER, GO, 0);
        wait_for(PRODUCER, GO, 0, ROUNDS);
    }
    if (k == WAITS_AGAIN)
        wait_for(PRODUCER, GO, 0, ROUNDS);
    ways[WARPS - 1].is_open = k == NOT_ALL_KNOWN;
}

static void a_barrier_that_nobody_releases_first_is_told(void **state)
{
    (void)state;
    for (enum release k = 0; k < RELEASES; k++) {
        struct picture p;
        print_message("release %d\n", (int)k);
        run_handshake(k);
        put(&p);
        if (k == NOT_ALL_KNOWN)
            p.snapshot.warps[WARPS - 1].state = WSDBG_WARP_EXITED;
        assert_true(ways_stand(&p));
        if (k == LACKS_ONE)
            ways_expect(
                &p, "ARRIVE_MISSING",
                "Nobody has arrived on \"go\" yet, and all who would arrive wait for something else first. With 1 "
                "arrival before the first wait the kernel would finish.");
        else
            assert_false(ways_say(&p, "Nobody has arrived on"));
        picture_deinit(&p);
    }
}

/* Both sides arrive on each barrier of both rings, and wait by the tokens of some of these arrivals: the producer until
 * a stage is empty, warp 4 until it is full.  So warp 4 must arrive on "empty" before its first wait. */
static void run_tokens(uint32_t begun, bool brings_bytes)
{
    begin(1, 0);
    for (uint32_t s = 0; s < STAGES; s++)
        for (uint32_t ring = FULL; ring <= EMPTY; ring++)
            way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(ring, s), 2);
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, WARPS * 32);
    for (uint32_t s = 0; s < begun; s++)
        arrive(GROUP, EMPTY, s);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        arrive(PRODUCER, EMPTY, i % STAGES);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), 0)->number_known = false;
        if (brings_bytes) {
            way_add(&ways[PRODUCER], WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, i % STAGES), 128);
            way_add(&ways[PRODUCER], WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), 128);
        }
        arrive(PRODUCER, FULL, i % STAGES);
        arrive(GROUP, FULL, i % STAGES);
        way_add(&ways[GROUP], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), 0)->number_known = false;
        arrive(GROUP, EMPTY, i % STAGES);
    }
}

static void who_arrives_only_behind_its_waits_is_told(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < 3; row++) {
        const bool has_begun = row == 0, brings_bytes = row < 2;
        struct picture p;
        run_tokens(has_begun ? STAGES : 0, brings_bytes);
        put(&p);
        assert_int_equal(ways_stand(&p), !has_begun);
        if (!has_begun && brings_bytes)
            ways_expect(&p, "ARRIVE_MISSING",
                        "Warp 4 arrives on \"empty\" only behind waits that others end after they passed it. Had it "
                        "arrived once on each stage before, the kernel would finish.");
        else if (!has_begun)
            ways_expect(&p, "WAIT_CYCLE", NULL);
        picture_deinit(&p);
    }
}

/* Then nothing tells which of the two was meant to begin. */
static void a_cycle_that_may_begin_anywhere_stays_one(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    run_handshake(EITHER);
    put(&p);
    assert_true(ways_stand(&p));
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_WAIT_CYCLE);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_is_released_once_before_the_first_round),
        cmocka_unit_test(a_barrier_that_nobody_releases_first_is_told),
        cmocka_unit_test(who_arrives_only_behind_its_waits_is_told),
        cmocka_unit_test(a_cycle_that_may_begin_anywhere_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
