/* named_handover_test.c - a warp that takes what two warpgroups hand to it at named barriers, and hands the place back:
 * two of these meetings share a barrier, or a place is handed back too often.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/repair.h"
#include "ways.h"

enum { GROUP = 4, GROUPS = 2, TAKER = 0, WARPS = (1 + GROUPS) * GROUP, ITEMS = 2, ROUNDS = 2, BOTH = (GROUP + 1) * 32 };
enum { IDS = 6 };
/* Accesses of the picture. */
enum { GIVES_FIRST_TO_A, GIVES_FIRST_TO_B, TAKES, GIVES, GIVES_AGAIN, WAITS, HANDS_OVER, ACCESSES };

struct handover {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t empty, full;            /* ids of the first warpgroup's barriers; the second one has the next ones */
    bool gives_for_each_item;        /* the taker gives the places free again before each item */
    bool gives_twice;                /* ... by two instructions, in each round */
};

static const struct handover handovers[] = {
    {"nothing is wrong", NULL, NULL, 4, 2, false, false},
    {"the full barrier of B is the empty one of A", "NAMED_ID_SHARED",
     "Warps 0, 8-11 meet at named barrier 3 at kernel.cu:202, where others meet, too. With a barrier of their own, as "
     "1, the kernel would finish.",
     3, 2, false, false},
    /* Only possible: the same walks are those of groups that leave out a wait after each item. */
    {"the places are given free before each item", "DOUBLE_ARRIVE",
     "Warp 0 arrives at named barriers 4, 5 at kernel.cu:200 more than once, beside the arrivals at another place: so "
     "the others go on too early. With the first of these arrivals alone, the kernel would finish.",
     4, 2, true, false},
    {"a place is given free twice in each round", "DOUBLE_ARRIVE",
     "Warp 0 arrives at named barriers 4, 5 at kernel.cu:203 as well, beside the arrivals at another place: so the "
     "others go on too early. Without them, the kernel would finish.",
     4, 2, false, true},
};

enum { FIRST_OF_LESS = 2 };

static struct way ways[WARPS];

static void use(struct way *way, uint8_t kind, uint32_t access, uint32_t id)
{
    way_add(way, kind, id, BOTH)->access = access;
}

static void take(struct way *way, const struct handover *k)
{
    for (uint32_t item = 0; item < ITEMS; item++) {
        for (uint32_t g = 0; g < GROUPS && (item == 0 || k->gives_for_each_item); g++)
            use(way, WSDBG_ACCESS_NAMED_ARRIVE, GIVES_FIRST_TO_A + g, k->empty + g);
        for (uint32_t i = 0; i < ROUNDS * GROUPS; i++) {
            use(way, WSDBG_ACCESS_NAMED_SYNC, TAKES, k->full + i % GROUPS);
            use(way, WSDBG_ACCESS_NAMED_ARRIVE, GIVES, k->empty + i % GROUPS);
            if (k->gives_twice)
                use(way, WSDBG_ACCESS_NAMED_ARRIVE, GIVES_AGAIN, k->empty + i % GROUPS);
        }
    }
}

static void hand_over(struct way *way, const struct handover *k, uint32_t group)
{
    for (uint32_t i = 0; i < ITEMS * ROUNDS; i++) {
        use(way, WSDBG_ACCESS_NAMED_SYNC, WAITS, k->empty + group);
        use(way, WSDBG_ACCESS_NAMED_ARRIVE, HANDS_OVER, k->full + group);
    }
    use(way, WSDBG_ACCESS_NAMED_SYNC, WAITS, k->empty + group);
}

static bool stand(struct picture *p, const struct handover *k)
{
    static const bool waits[ACCESSES] = {[TAKES] = true, [WAITS] = true};
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = 0; id < IDS; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    for (uint32_t i = 0; i < ACCESSES; i++)
        picture_access(p, waits[i] ? WSDBG_ACCESS_NAMED_SYNC : WSDBG_ACCESS_NAMED_ARRIVE, 0, 0, 0, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
    take(&ways[TAKER], k);
    for (uint32_t w = GROUP; w < WARPS; w++)
        hand_over(&ways[w], k, w / GROUP - 1);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void what_is_wrong_with_the_meetings_is_told(void **state)
{
    for (size_t i = 0; i < sizeof handovers / sizeof *handovers; i++) {
        struct picture p;
        print_message("%s\n", handovers[i].name);
        const bool stands = stand(&p, &handovers[i]);
        assert_int_equal(stands, handovers[i].cause != NULL);
        if (stands)
            ways_expect_as(&p, handovers[i].cause,
                           i < FIRST_OF_LESS ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, handovers[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* Two warps meet, as the count says.  One of them has left, and nobody knows all that it did. */
static void a_warp_that_nobody_knows_may_have_come(void **state)
{
    for (uint32_t is_known = 0; is_known < 2; is_known++) {
        struct picture p;
        picture_init(&p, 1, 3, 32);
        picture_object(&p, WSDBG_BARRIER_NAMED, 0);
        picture_object(&p, WSDBG_BARRIER_NAMED, 1);
        picture_access(&p, WSDBG_ACCESS_NAMED_SYNC, 0, 0, 0, WSDBG_LANES_ALL);
        for (uint32_t w = 0; w < 3; w++)
            ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
        way_add(&ways[0], WSDBG_ACCESS_NAMED_SYNC, 1, 64)->access = 0;
        ways[1].is_open = !is_known;
        ways_put(&p, ways, 3);
        p.snapshot.warps[1].state = WSDBG_WARP_EXITED;
        struct wsdbg_case c;
        struct wsdbg_repairs repairs;
        struct wsdbg_replay *replay = ways_replay(&p, &c);
        assert_null(wsdbg_repairs_find(replay, &repairs));
        assert_int_equal(repairs.count, is_known);
        if (is_known) {
            assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_NAMED);
            assert_int_equal(repairs.rows[0].value, 32);
        }
        wsdbg_replay_destroy(replay);
        wsdbg_case_deinit(&c);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_with_the_meetings_is_told),
        cmocka_unit_test(a_warp_that_nobody_knows_may_have_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
