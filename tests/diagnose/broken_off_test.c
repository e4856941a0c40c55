/* broken_off_test.c - an elected lane or a warp that left in the middle of a loop that the others go on with, a warp
 * that leaves out a named barrier, lanes that wait apart.
 *
 * Most tests write the walks of all threads, let a replay run them until they hang, and make the picture of that
 * moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"
#include "ways.h"

enum { RING_FULL = 1, RING_EMPTY, DONE, OTHER, STAGES = 2, GROUP = 4, WARPS = 12 };
enum { ALL_LANES = -1, BUT_LANE_0 = -2, NAMED = 3, GROUP_THREADS = GROUP * 32 };

static struct way ways[WARPS + 2];
static uint32_t way_count;

/* A way of lanes of a warp; 0 = lane 0.  Ways of one warp are begun one after the other. */
static struct way *begin(uint32_t warp, int lanes)
{
    struct way *way = &ways[way_count++];
    *way = (struct way){.warp = warp, .lanes = (uint32_t)lanes};
    return way;
}

static void initialise(struct way *way, uint32_t empty_count)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(RING_FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(RING_EMPTY, s), empty_count);
    }
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 1);
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, 0), 2);
}

/* All threads of the CTA. */
static void meet(struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
}

static void put_barriers(struct picture *p)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, RING_FULL, "full", STAGES, 1, 2);
    picture_name(p, RING_EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, DONE, "done", 1, 2, 1);
    picture_name(p, OTHER, "other", 1, 2, 1);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, RING_FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, RING_EMPTY, s, 0, 1, 1, 0);
    }
    picture_mbarrier(p, DONE, 0, 0, 1, 1, 0);
    picture_mbarrier(p, OTHER, 0, 0, 1, 1, 0);
    for (uint32_t id = 0; id < NAMED; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 0, 0, WSDBG_LANES_ALL);
}

/* Runs the ways until they hang. */
static void stand(struct picture *p)
{
    put_barriers(p);
    ways_put(p, ways, way_count);
    way_count = 0;
    assert_true(ways_stand(p));
}

/* ---- an elected lane that breaks off ---- */

enum { ROUNDS = 6, PAIR_THREADS = 64 };

/* Warp 8 tells someone else of each round.  It releases round `late` when the producer is done; 0 = none. */
static void consume(struct way *way, uint32_t rounds, bool releases, uint32_t late)
{
    meet(way);
    for (uint32_t i = 0; i < rounds; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_FULL, i % STAGES), i / STAGES & 1);
        if (way->warp == 2 * GROUP)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OTHER, 0), 1);
        if (late && i == late)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, 2, PAIR_THREADS);
        if (releases)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(RING_EMPTY, i % STAGES), 1);
    }
}

static void produce(struct way *way, bool meets)
{
    initialise(way, 2);
    meet(way);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(RING_FULL, i % STAGES), 1);
    }
    if (meets)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, 2, PAIR_THREADS);
}

/* Lane 0 of warp 4 releases, and so does warp 8.  Other lanes of warp 4 only wait. */
static void put_consumers(struct picture *p, uint32_t rounds, int others, uint32_t rounds_of_others, uint32_t late)
{
    produce(begin(0, 0), late > 0);
    for (uint32_t w = 1; w < WARPS; w++)
        if (w == GROUP) {
            consume(begin(w, 0), rounds, true, 0);
            consume(begin(w, others), rounds_of_others, false, 0);
        } else if (w == 2 * GROUP) {
            consume(begin(w, 0), ROUNDS, true, late);
        } else {
            meet(begin(w, 0));
        }
    stand(p);
}

static void an_elected_lane_that_breaks_off_is_blamed(void **state)
{
    struct picture p;
    (void)state;
    put_consumers(&p, 2, BUT_LANE_0, ROUNDS, 0);
    ways_expect(
        &p, "WAKER_EXITED",
        "Warp 0 waits on \"empty\" stage 0 at kernel.cu:100, but lane 0 of warp 4, which arrived on \"empty\" until "
        "then, left the kernel in the middle of a loop that the rest of the warp goes on with.");
    picture_deinit(&p);
}

/* What is missing is a release of warp 8, or that, too. */
static void a_lane_that_breaks_off_is_not_blamed_for_others(void **state)
{
    (void)state;
    for (uint32_t late = 1; late <= 2; late++) {
        struct picture p;
        put_consumers(&p, 2, BUT_LANE_0, ROUNDS, late);
        assert_false(ways_say(&p, "in the middle of a loop"));
        picture_deinit(&p);
    }
}

/* Lanes 1 to 31 of warp 4 release both stages in two rounds, and leave.  Lane 0 only waits, for three rounds.  Warp 8
 * waits for these and releases them. */
static void most_lanes_of_a_warp_are_not_elected(void **state)
{
    struct picture p;
    (void)state;
    for (uint32_t w = 0; w < WARPS; w++)
        for (int part = 0; part <= (w == GROUP); part++) {
            struct way *way = begin(w, part ? BUT_LANE_0 : 0);
            if (w == 0)
                initialise(way, GROUP_THREADS / GROUP);
            meet(way);
            for (uint32_t i = 0; i < (part ? 2 : 3) * STAGES && w % GROUP == 0; i++) {
                if (w == 0)
                    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
                way_add(way, w == 0 ? WSDBG_ACCESS_ARRIVE : WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_FULL, i % STAGES),
                        w == 0 ? 1 : i / STAGES & 1);
                if (part || w == 2 * GROUP)
                    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(RING_EMPTY, i % STAGES), 1);
            }
            if (w == 0)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_EMPTY, 0), 0);
            if (w % GROUP == 0 && w && !part)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_FULL, 0), 1);
        }
    stand(&p);
    assert_false(ways_say(&p, "in the middle of a loop"));
    picture_deinit(&p);
}

/* All but the elected lane leave, or one that is not elected. */
static void lanes_that_leave_and_arrive_nowhere_are_not_blamed(void **state)
{
    static const int leavers[] = {BUT_LANE_0, 1 << 1};
    (void)state;
    for (size_t i = 0; i < sizeof leavers / sizeof *leavers; i++) {
        struct picture p;
        put_consumers(&p, ROUNDS, leavers[i], 2, 1);
        assert_false(ways_say(&p, "in the middle of a loop"));
        picture_deinit(&p);
    }
}

/* ---- a lane that announces bytes ---- */

/* Lane 0 of warp 1 fills three rounds, and the third one lacks bytes.  Its other lanes stay. */
enum filler {
    LEAVES,           /* before it copies what it announced */
    LEAVES_AT_ONCE,   /* ... where it had announced bytes for all stages */
    COPIES_FIRST,     /* and then announces; its last copy brings too little */
    COPIES_ELSEWHERE, /* warp 2 copies, and leaves the last copy out */
    COPIES_LATE       /* warp 2 copies in two parts, and waits for something else before the last round */
};

enum { FILLS = STAGES + 1, BYTES = 64 };

static void fill(struct way *way, enum filler filler)
{
    for (uint32_t i = 0; i < (filler == LEAVES_AT_ONCE ? STAGES : FILLS); i++) {
        const uint32_t full = MBARRIER_AT(RING_FULL, i % STAGES), is_last = i + 1 == FILLS;
        if (filler == COPIES_FIRST)
            way_add(way, WSDBG_ACCESS_COPY, full, is_last ? BYTES / 2 : BYTES);
        if (filler >= COPIES_ELSEWHERE && i >= STAGES)
            way_add(way, WSDBG_ACCESS_WAIT, full, i / STAGES - 1);
        for (int part = 0; part < 2 && filler == COPIES_LATE && way->warp == 2; part++) {
            if (is_last && part == 0)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
            way_add(way, WSDBG_ACCESS_COPY, full, BYTES / 2);
        }
        if (way->warp == 1)
            way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, full, BYTES);
        if (filler == COPIES_ELSEWHERE ? way->warp == 2 && !is_last : filler == LEAVES && !is_last)
            way_add(way, WSDBG_ACCESS_COPY, full, BYTES);
    }
}

static void put_fillers(struct picture *p, enum filler filler)
{
    for (uint32_t w = 0; w < WARPS; w++)
        for (int part = 0; part <= (w == 1); part++) {
            struct way *way = begin(w, part ? BUT_LANE_0 : 0);
            if (w == 0)
                initialise(way, 1);
            meet(way);
            if ((w == 1 && !part) || (filler >= COPIES_ELSEWHERE && w == 2))
                fill(way, filler);
            if (w == 1 && part)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_FULL, 0), filler != LEAVES_AT_ONCE);
            for (uint32_t i = 0; i < FILLS && w == GROUP; i++)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(RING_FULL, i % STAGES), i / STAGES & 1);
        }
    stand(p);
}

static void a_lane_that_leaves_before_it_copies_what_it_announced_is_blamed(void **state)
{
    static const char said[] = "announced bytes on \"full\" stage 0 and left the kernel before any copy";
    struct picture p;
    (void)state;
    for (enum filler filler = LEAVES; filler <= LEAVES_AT_ONCE; filler++) {
        put_fillers(&p, filler);
        ways_expect(&p, "WAKER_EXITED", said);
        picture_deinit(&p);
    }
    for (enum filler filler = COPIES_FIRST; filler <= COPIES_ELSEWHERE; filler++) {
        put_fillers(&p, filler);
        assert_false(ways_say(&p, said));
        picture_deinit(&p);
    }
}

static void a_copy_that_is_held_up_is_not_missing(void **state)
{
    struct picture p;
    (void)state;
    put_fillers(&p, COPIES_LATE);
    assert_false(ways_say(&p, "bytes are missing"));
    picture_deinit(&p);
}

/* ---- a warp that leaves out a named barrier ---- */

static void use(struct way *way, uint8_t kind, uint32_t id, uint32_t threads)
{
    way_add(way, kind, id, threads)->access = 0;
}

/* Warps 0 to 3 meet at two barriers in each round, and one of them leaves after the first round. */
static void leave_mates(bool is_open)
{
    for (uint32_t w = 0; w < WARPS; w++) {
        struct way *way = begin(w, ALL_LANES);
        for (uint32_t i = 0; i < (w == 2 ? 1 : 3) && w < GROUP; i++) {
            use(way, WSDBG_ACCESS_NAMED_SYNC, 1, GROUP_THREADS);
            use(way, WSDBG_ACCESS_NAMED_SYNC, 2, GROUP_THREADS);
        }
        way->is_open = is_open && w == 2;
    }
}

static void a_warp_that_leaves_its_mates_at_a_named_barrier_is_blamed(void **state)
{
    struct picture p;
    (void)state;
    leave_mates(false);
    stand(&p);
    ways_expect(&p, "WAKER_EXITED",
                "but warp 2 leaves it out: in its code it uses the barrier 1 time, against 3 times in that of each of "
                "warps 0-1, 3. It has exited.");
    picture_deinit(&p);
}

/* It may have come to the barrier behind the end of its walk. */
static void a_warp_of_which_not_all_is_known_is_not_blamed(void **state)
{
    struct picture p;
    (void)state;
    leave_mates(true);
    put_barriers(&p);
    p.snapshot.warps[2].state = WSDBG_WARP_EXITED;
    ways_put(&p, ways, way_count);
    way_count = 0;
    assert_true(ways_stand(&p));
    assert_false(ways_say(&p, "leaves it out"));
    picture_deinit(&p);
}

/* Warps 0 and 1 take turns to tell warps 4 to 7 of a round; warp 0 waits for something else.  Their mates do not. */
static void warps_that_take_turns_to_arrive_leave_nothing_out(void **state)
{
    struct picture p;
    (void)state;
    for (uint32_t w = 0; w < WARPS; w++) {
        struct way *way = begin(w, ALL_LANES);
        if (w == 0)
            initialise(way, 1);
        meet(way);
        for (uint32_t i = 0; i < 5 && w < 2 * GROUP; i++) {
            if (w == 0 && i == 2)
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
            if (w >= GROUP)
                use(way, WSDBG_ACCESS_NAMED_SYNC, 1, GROUP_THREADS + 32);
            else if (w == i % 2)
                use(way, WSDBG_ACCESS_NAMED_ARRIVE, 1, GROUP_THREADS + 32);
        }
    }
    stand(&p);
    assert_false(ways_say(&p, "leaves it out"));
    picture_deinit(&p);
}

/* Warps 4 to 7 tell warps 8 to 11 twice, but warp 6 once.  Nobody waits where they tell it. */
static void a_warp_that_leaves_out_an_arrival_for_others_is_blamed(void **state)
{
    struct picture p;
    (void)state;
    for (uint32_t w = 0; w < WARPS; w++) {
        struct way *way = begin(w, ALL_LANES);
        for (uint32_t i = 0; i < 2 && w >= GROUP; i++) {
            if (w < 2 * GROUP)
                use(way, WSDBG_ACCESS_NAMED_SYNC, 2, GROUP_THREADS);
            if (i == 0 || w != 6)
                use(way, w < 2 * GROUP ? WSDBG_ACCESS_NAMED_ARRIVE : WSDBG_ACCESS_NAMED_SYNC, 1, 2 * GROUP_THREADS);
        }
        meet(way);
    }
    stand(&p);
    ways_expect(
        &p, "ARRIVE_MISSING",
        "Warp 8 waits on named barrier 1 at kernel.cu:108, but warp 6 leaves it out: in its code it uses the barrier "
        "1 time, against 2 times in that of each of warps 4-5, 7.");
    picture_deinit(&p);
}

/* ---- arrivals that are still to come ---- */

/* A phase takes one arrival of warps 4 to 7, of which `came` have come.  The last one never arrives. */
static bool lacks_a_mate(uint32_t came, uint32_t expected)
{
    struct picture p;
    put_barriers(&p);
    const uint32_t lacks = picture_mbarrier(&p, DONE, 1, 0, expected - came, expected, 0),
                   go = picture_mbarrier(&p, OTHER, 1, 0, 1, 1, 0);
    const uint32_t arrives = picture_access(&p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 1), 1, 1, WSDBG_LANES_ONE),
                   lets_go = picture_access(&p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OTHER, 1), 1, 1, WSDBG_LANES_ONE),
                   waits = picture_access(&p, WSDBG_ACCESS_WAIT, MBARRIER_AT(OTHER, 1), 1, 0, WSDBG_LANES_ONE);
    picture_exit(&p, 1, 3);
    picture_exit(&p, 8, WARPS - 1);
    picture_wait(&p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, lacks, 0);
    picture_wait(&p, 4, 7, WSDBG_WARP_WAIT_MBARRIER, go, 0);
    picture_reach(&p, 0, 0, lets_go, 0, UINT8_MAX, 2);
    picture_reach(&p, 1, 3, arrives, 0, 0, 0);
    picture_reach(&p, 8, WARPS - 1, arrives, 0, 0, 0);
    picture_reach(&p, 4, 6, arrives, 0, UINT8_MAX, 2);
    picture_reach(&p, 4, 7, waits, 0, UINT8_MAX, 2);
    const bool says = ways_say(&p, "arrive on it, but warp 7 of the same warpgroup never does");
    picture_deinit(&p);
    return says;
}

static void a_warp_that_never_arrives_is_told_before_all_its_mates_have_come(void **state)
{
    (void)state;
    for (uint32_t came = 1; came <= 3; came++)
        assert_true(lacks_a_mate(came, 4));
    assert_false(lacks_a_mate(1, 6)); /* not one of each */
}

/* ---- lanes that wait apart ---- */

/* Whether a warp has split by its record: `lanes` of its lanes, from `first` on, began a wait before lane 0 and those
 * with it began theirs, on the same barrier or another one. */
static bool is_split(uint32_t first, uint32_t lanes, uint32_t lanes_of_0, bool same)
{
    struct device *d = device_create(1, 1, 1, 128);
    init(d, 0, 0, FULL, 0, 1);
    init(d, 0, 0, EMPTY, 0, 1);
    wait(d, 0, 0, FULL, 0, 0, 0);
    struct result r = judge(d, 0, 128);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    struct wsdbg_history_event *events = &r.snapshot.history[r.snapshot.warps[0].history_first];
    const uint32_t last = r.snapshot.warps[0].history_count - 1, other = events[last - 1].barrier;
    events[last - 1] = events[last];
    events[last - 1].barrier = same ? events[last].barrier : other;
    events[last - 1].value = 90u | first << 16 | lanes << 21;
    events[last].value = 90u | lanes_of_0 << 21;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    bool split = false;
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        split |= strstr(r.diagnosis.findings[i].sentence, "The lanes of ") != NULL;
    done(&r);
    return split;
}

static void only_other_lanes_that_wait_for_the_same_have_split(void **state)
{
    (void)state;
    assert_true(is_split(1, 31, 1, true));
    assert_false(is_split(1, 31, 2, true)); /* some lane waits twice */
    assert_false(is_split(1, 31, 1, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_elected_lane_that_breaks_off_is_blamed),
        cmocka_unit_test(a_lane_that_breaks_off_is_not_blamed_for_others),
        cmocka_unit_test(most_lanes_of_a_warp_are_not_elected),
        cmocka_unit_test(lanes_that_leave_and_arrive_nowhere_are_not_blamed),
        cmocka_unit_test(a_lane_that_leaves_before_it_copies_what_it_announced_is_blamed),
        cmocka_unit_test(a_copy_that_is_held_up_is_not_missing),
        cmocka_unit_test(a_warp_that_leaves_its_mates_at_a_named_barrier_is_blamed),
        cmocka_unit_test(a_warp_of_which_not_all_is_known_is_not_blamed),
        cmocka_unit_test(warps_that_take_turns_to_arrive_leave_nothing_out),
        cmocka_unit_test(a_warp_that_leaves_out_an_arrival_for_others_is_blamed),
        cmocka_unit_test(a_warp_that_never_arrives_is_told_before_all_its_mates_have_come),
        cmocka_unit_test(only_other_lanes_that_wait_for_the_same_have_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
