/* few_rounds_test.c - rounds that lack arrivals, and who is to blame: warps that let one of them wait for the round, a
 * count that no round reaches, and the last use of a named barrier, which most warps pass by.
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

enum { FULL = 1, EMPTY, START = 7, ROUNDS = 3, GROUPS = 3, WARPS = 1 + GROUPS, ALL_LANES = 32 };

static struct way ways[WARPS];

static void begin(struct picture *p, uint32_t full, uint32_t empty)
{
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_name(p, FULL, "full", 1, 1, 0xe);
    picture_name(p, EMPTY, "empty", 1, 0xe, 1);
    picture_mbarrier(p, FULL, 0, 0, full, full, 0);
    picture_mbarrier(p, EMPTY, 0, 0, empty, empty, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), full);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), empty);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w].warp = w;
}

static void add_mbarrier(struct picture *p, uint32_t id, const char *name, uint32_t arriving, uint32_t waiting)
{
    picture_name(p, id, name, 1, arriving, waiting);
    picture_mbarrier(p, id, 0, 0, 1, 1, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(id, 0), 1);
}

static void meet(void)
{
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
}

/* ---- a release that is left out in the last round ---- */

/* Warp 1 waits for each round, and the other readers meet it instead.  All wait for the last round, by one instruction,
 * and leave out its release; or warp 1 alone does. */
enum { BY_ROUND = 100, BY_LAST };

static void put_readers(struct picture *p, bool all_forget, bool wait_at_one_place)
{
    begin(p, 1, GROUPS);
    picture_object(p, WSDBG_BARRIER_NAMED, 1);
    add_mbarrier(p, START, "start", 1, 0xe);
    meet();
    way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(START, 0), 1);
    for (uint32_t g = 1; g <= GROUPS; g++)
        way_add(&ways[g], WSDBG_ACCESS_WAIT, MBARRIER_AT(START, 0), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (i & 1) ^ 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        for (uint32_t g = 1; g <= GROUPS; g++) {
            const bool is_last = i + 1 == ROUNDS;
            if (g == 1 || is_last)
                way_add(&ways[g], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1)->access =
                    !is_last ? BY_ROUND : BY_LAST + (wait_at_one_place ? 0 : g);
            if (!is_last)
                way_add(&ways[g], WSDBG_ACCESS_NAMED_SYNC, 1, GROUPS * ALL_LANES);
            if (!is_last || (g > 1 && !all_forget))
                way_add(&ways[g], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
        }
    }
    way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (ROUNDS & 1) ^ 1);
    for (uint32_t g = 1; g <= GROUPS; g++)
        ways[g].lanes = 1;
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
}

static void who_waits_only_where_nobody_releases_forgets_it_too(void **state)
{
    static const char says[] = "Warps 1-3 went through a round without arriving on \"empty\"";
    (void)state;
    for (uint32_t row = 0; row < 3; row++) {
        struct picture p;
        put_readers(&p, row != 1, row != 2);
        assert_int_equal(ways_say(&p, says), row == 0);
        picture_deinit(&p);
    }
}

/* ---- a count that no round reaches ---- */

/* The producer is one warp and FULL takes the arrivals of `counted`; two readers release a slot, and EMPTY takes what
 * one of them makes. */
static void put_few_producers(struct picture *p, uint32_t counted, bool other_fills)
{
    begin(p, counted, 1);
    meet();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (i & 1) ^ 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        if (other_fills && i > 0)
            way_add(&ways[3], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        for (uint32_t w = 1; w < 3; w++) {
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 2);
        }
        if (other_fills)
            way_add(&ways[3], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
    }
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
}

static void arrivals_that_are_still_to_come_are_not_too_many(void **state)
{
    struct picture p;
    (void)state;
    put_few_producers(&p, 2, false);
    ways_expect(&p, "ARRIVE_SHORT", "gets only 1 (by warp 0). So not even the first one completes");
    picture_deinit(&p);
}

/* Another warp arrives in some rounds: then it is not the count. */
static void rounds_that_differ_speak_for_no_count(void **state)
{
    struct picture p;
    (void)state;
    put_few_producers(&p, 2, true);
    assert_false(ways_say(&p, "phases that warp"));
    picture_deinit(&p);
}

/* ---- a ring beside one barrier ---- */

/* Warp 0 fills the two slots of a ring in turn, each time that warp 1 has said that it may, on one barrier.
 * Warp 1 leaves that out in one round. */
static void put_ready(struct picture *p)
{
    enum { SLOTS = 2, TURNS = 6, FORGOTTEN = 2 };
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_name(p, FULL, "full", SLOTS, 1, 2);
    picture_name(p, START, "ready", 1, 2, 1);
    picture_mbarrier(p, START, 0, 0, 1, 1, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(START, 0), 1);
    for (uint32_t s = 0; s < SLOTS; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
    }
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w].warp = w;
    meet();
    for (uint32_t i = 0; i < TURNS; i++) {
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(START, 0), i & 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % SLOTS), 1);
        if (i != FORGOTTEN + 1)
            way_add(&ways[1], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(START, 0), 1);
        way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % SLOTS), i / SLOTS & 1);
    }
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
}

static void rounds_of_a_ring_arrive_on_one_barrier(void **state)
{
    struct picture p;
    (void)state;
    put_ready(&p);
    ways_expect(&p, "ARRIVE_MISSING", "Warp 1 went through a round without arriving on \"ready\"");
    picture_deinit(&p);
}

/* ---- the last use of a named barrier ---- */

/* All warps meet at barrier 1 in each round.  `passing` of them, from the last one on, leave the last use out and have
 * nothing else to do.  `goes_on`: those who come to it do more behind it. */
static void put_meetings(struct picture *p, uint32_t passing, bool goes_on)
{
    begin(p, 1, 1);
    picture_object(p, WSDBG_BARRIER_NAMED, 1);
    meet();
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].lanes = UINT32_MAX;
        for (uint32_t i = 0; i < ROUNDS; i++)
            if (i + 1 < ROUNDS || w + passing < WARPS)
                way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 1, WARPS * ALL_LANES);
        if (goes_on && w + passing < WARPS)
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
    }
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
}

static void what_most_warps_pass_by_stands_in_the_way_of_few(void **state)
{
    static const struct {
        uint32_t passing;
        bool goes_on;
        const char *cause;
    } rows[] = {{3, false, "ARRIVE_MISSING"}, {3, true, "WAKER_EXITED"}, {1, false, "WAKER_EXITED"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        put_meetings(&p, rows[i].passing, rows[i].goes_on);
        ways_expect(&p, rows[i].cause, NULL);
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- both sides of a ring may go on at once ---- */

/* Warp 1 takes what warp 2 fills in turn on two slots, and gives a slot back two rounds late: too late by one.  The
 * slots' barriers are not known to be stages of one ring.  With the other parity warp 1 would take the slots before
 * they are filled, and all would finish: warp 2 begins only after two others. */
static void put_late_release(struct picture *p)
{
    enum { SLOTS = 2, TURNS = 7 };
    begin(p, 1, 1);
    add_mbarrier(p, FULL + 2, "full b", 4, 2);
    add_mbarrier(p, EMPTY + 2, "empty b", 2, 4);
    add_mbarrier(p, START, "start", 1, 4);
    add_mbarrier(p, START + 1, "go", 8, 1);
    meet();
    way_add(&ways[3], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(START + 1, 0), 1);
    way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(START + 1, 0), 0);
    way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(START, 0), 1);
    way_add(&ways[2], WSDBG_ACCESS_WAIT, MBARRIER_AT(START, 0), 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        const uint32_t slot = i % SLOTS * 2, phase = i / SLOTS & 1;
        way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL + slot, 0), phase)->access = BY_ROUND;
        if (i >= SLOTS)
            way_add(&ways[1], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY + slot, 0), 1);
        way_add(&ways[2], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY + slot, 0), phase ^ 1)->access = BY_LAST;
        way_add(&ways[2], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL + slot, 0), 1);
    }
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
}

static void a_reader_that_would_begin_free_has_no_wrong_parity(void **state)
{
    struct picture p;
    (void)state;
    put_late_release(&p);
    assert_false(ways_say(&p, "parity"));
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_only_where_nobody_releases_forgets_it_too),
        cmocka_unit_test(arrivals_that_are_still_to_come_are_not_too_many),
        cmocka_unit_test(rounds_that_differ_speak_for_no_count),
        cmocka_unit_test(rounds_of_a_ring_arrive_on_one_barrier),
        cmocka_unit_test(what_most_warps_pass_by_stands_in_the_way_of_few),
        cmocka_unit_test(a_reader_that_would_begin_free_has_no_wrong_parity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
