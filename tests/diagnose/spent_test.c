/* spent_test.c - changes with which a kernel would finish, though they are not what is wrong with it: a wait that no
 * longer waits for bytes that never come, a count that comes out by chance, an arrival for threads that have left.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 * Its sentence must name what is wrong, and must not name the change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, OTHER, STAGES = 2, WARPS = 8, BYTES = 128 };

/* Accesses of the picture. */
enum { ARRIVES, WAITS };

static struct way ways[WARPS + 2];
static uint32_t way_count;

/* A way of lanes of a warp; the first one initialises, all meet before they begin. */
static struct way *begin(uint32_t warp, uint32_t lanes, uint32_t full_count, uint32_t empty_count)
{
    struct way *way = &ways[way_count++];
    *way = (struct way){.warp = warp, .lanes = lanes};
    for (uint32_t s = 0; s < STAGES && way_count == 1; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), full_count);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), empty_count);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, s), WARPS);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    return way;
}

static void stand(struct picture *p, uint32_t warps)
{
    picture_init(p, 1, warps, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, OTHER, "other", STAGES, 1, 2);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
        picture_mbarrier(p, OTHER, s, 0, 1, 1, 0);
    }
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    ways_put(p, ways, way_count);
    way_count = 0;
    assert_true(ways_stand(p));
}

/* A warp waits for what it copies itself, and the first of two rounds lacks one of its two copies.  With the other
 * parities it would not wait for the first round, and a copy of the second round would complete that. */
static void a_wait_for_bytes_that_never_come_has_no_wrong_parity(void **state)
{
    struct picture p;
    struct way *way = begin(0, 0, 1, 1);
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t copy = round == 0 ? 1 : 0; copy < 2; copy++)
            way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), BYTES / 2);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), BYTES);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), round)->access = WAITS;
    }
    stand(&p, 1);
    ways_expect(&p, "TX_MISMATCH", "64 bytes");
    picture_deinit(&p);
}

/* Warps 4 and 5 release twice, warps 6 and 7 once.  With a count of 3, the four first releases and the two others make
 * two phases. */
static void a_count_that_each_round_makes_is_right(void **state)
{
    struct picture p;
    struct way *producer = begin(0, 0, 1, 4);
    (void)state;
    way_add(producer, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 0);
    way_add(producer, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
    way_add(producer, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 1);
    for (uint32_t w = 1; w < WARPS; w++) {
        struct way *consumer = begin(w, 0, 0, 0);
        if (w > 5) /* so that they are not like the others */
            way_add(consumer, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OTHER, 0), 1);
        if (w > 3)
            way_add(consumer, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
        if (w < 4 || w > 5)
            continue;
        way_add(consumer, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
        way_add(consumer, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
    stand(&p, WARPS);
    assert_false(ways_say(&p, "is initialised for 4 arrivals, but a round brings"));
    picture_deinit(&p);
}

/* The producer copies for two rounds, and leaves where it should arrive for the second one. */
static void a_thread_that_leaves_where_it_should_arrive_is_blamed(void **state)
{
    struct picture p;
    struct way *producer = begin(0, 0, 1, 1), *consumer;
    (void)state;
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(producer, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, s), BYTES);
        way_add(producer, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, s), BYTES);
        if (s == 0)
            way_add(producer, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, s), 1);
    }
    consumer = begin(1, 0, 0, 0);
    way_add(consumer, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
    way_add(consumer, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 1), 0);
    stand(&p, 2);
    ways_expect(&p, "WAKER_EXITED", "warp 0, whose code has such an arrival, exited without one");
    picture_deinit(&p);
}

/* Lane 0 arrives and announces, lane 1 copies.  Lane 0 leaves before the third round. */
static void a_lane_that_arrives_for_another_one_and_leaves_is_blamed(void **state)
{
    struct picture p;
    struct way *arrives = begin(0, 1u, 1, 1), *copies = begin(0, 2u, 0, 0), *rest = begin(0, ~3u, 0, 0);
    struct way *consumer = begin(1, 0, 0, 0);
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t full = MBARRIER_AT(FULL, i % STAGES), empty = MBARRIER_AT(EMPTY, i % STAGES);
        way_add(copies, WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
        way_add(rest, WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
        if (i < 2) {
            way_add(arrives, WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
            way_add(arrives, WSDBG_ACCESS_ARRIVE_EXPECT, full, BYTES);
        }
        way_add(copies, WSDBG_ACCESS_COPY, full, BYTES);
        way_add(consumer, WSDBG_ACCESS_WAIT, full, i / STAGES & 1);
        way_add(consumer, WSDBG_ACCESS_ARRIVE, empty, 1);
    }
    /* So that the lanes that go on are seen to. */
    way_add(copies, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 1), 1);
    way_add(rest, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 1), 1);
    stand(&p, 2);
    ways_expect(&p, "WAKER_EXITED", "ane 0");
    picture_deinit(&p);
}

/* Warp 0 initialises and leaves, as it should; warps 1-3 arrive on a barrier that counts 4. */
static void a_warp_that_only_initialises_has_not_left_too_early(void **state)
{
    struct picture p;
    (void)state;
    begin(0, 0, 4, 1);
    for (uint32_t w = 1; w < 4; w++) {
        struct way *way = begin(w, 0, 0, 0);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
    }
    stand(&p, 4);
    assert_false(ways_say(&p, "Warp 0 left the kernel"));
    picture_deinit(&p);
}

/* Warp 0 fills "full" and warp 1 frees "empty"; each waits for the other.  "full" has all its arrivals, and 32 bytes
 * are missing or too many.  `with`: each copy comes with an arrival.  `polls`: warp 0 does not wait at a barrier but
 * polls memory, perhaps between an announcement and its copy. */
static bool lacks_bytes_for_good(bool with, bool too_many, bool polls)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    picture_init(&p, 1, 2, 32);
    picture_name(&p, FULL, "full", 1, 1, 2);
    picture_name(&p, EMPTY, "empty", 1, 2, 1);
    const uint32_t full = picture_mbarrier(&p, FULL, 0, 0, 0, 2, too_many ? -32 : 32),
                   empty = picture_mbarrier(&p, EMPTY, 0, 0, 1, 1, 0);
    if (polls)
        picture_wait(&p, 0, 0, WSDBG_WARP_SPIN_SHARED, WSDBG_NONE, 0);
    else
        picture_wait(&p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, empty, 0);
    picture_wait(&p, 1, 1, WSDBG_WARP_WAIT_MBARRIER, full, 0);
    static const enum wsdbg_access_kind kinds[] = {WSDBG_ACCESS_EXPECT, WSDBG_ACCESS_COPY, WSDBG_ACCESS_ARRIVE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const uint32_t access = picture_access(&p, kinds[i], MBARRIER_AT(FULL, 0), 1, i == 2 ? 2 : 0, WSDBG_LANES_ONE);
        p.snapshot.accesses[access].comes_with_arrival = with;
        picture_reach(&p, 0, 0, access, 1, UINT8_MAX, 2);
    }
    const uint32_t frees = picture_access(&p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(&p, 1, 1, frees, 1, UINT8_MAX, 2);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const bool is_mismatch = diagnosis.findings[0].cause == WSDBG_CAUSE_TX_MISMATCH &&
                             diagnosis.findings[0].confidence == WSDBG_CONFIDENCE_LIKELY;
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return is_mismatch;
}

static void bytes_of_a_phase_are_final_if_more_of_them_come_with_an_arrival(void **state)
{
    (void)state;
    for (int too_many = 0; too_many < 2; too_many++) {
        assert_true(lacks_bytes_for_good(true, too_many, false));
        assert_false(lacks_bytes_for_good(false, too_many, false));
        assert_false(lacks_bytes_for_good(true, too_many, true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_bytes_that_never_come_has_no_wrong_parity),
        cmocka_unit_test(a_count_that_each_round_makes_is_right),
        cmocka_unit_test(a_thread_that_leaves_where_it_should_arrive_is_blamed),
        cmocka_unit_test(a_warp_that_only_initialises_has_not_left_too_early),
        cmocka_unit_test(bytes_of_a_phase_are_final_if_more_of_them_come_with_an_arrival),
        cmocka_unit_test(a_lane_that_arrives_for_another_one_and_leaves_is_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
