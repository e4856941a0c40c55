/* ring_order_test.c - a producer and a consumer that go through the stages of a ring in different orders: rounds that
 * the consumer leaps over, stages that it counts in another way, and waits on another stage than the one that it
 * releases.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/repair_trial.h"
#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 7, TILE = 3, BYTES = 64 };
enum { PRODUCER, CONSUMER, WARPS };

/* What is wrong with the consumer; with COPIES the producer copies in each round but one, and with COPIES_LESS it does
 * not arrive in that one either. */
enum defect { NOTHING, COPIES, COPIES_LESS, LEAPS, PHASE_STAYS, BEGINS_TILES_ANEW, WAITS_ON_OTHER };

static struct way ways[WARPS];

static void fill(struct way *way, enum defect defect)
{
    const bool copies = defect == COPIES || defect == COPIES_LESS;
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        if (copies && i != 4) {
            way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), BYTES);
            way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), BYTES);
        } else if (defect != COPIES_LESS) {
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
        }
    }
}

static void drain(struct way *way, enum defect defect)
{
    uint32_t waits[STAGES] = {0};
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t stage = defect == BEGINS_TILES_ANEW ? i % TILE % STAGES : i % STAGES;
        const uint32_t waited = defect == WAITS_ON_OTHER ? 1 - stage : stage;
        const uint32_t parity = defect == BEGINS_TILES_ANEW ? waits[waited]++ & 1
                                : defect == PHASE_STAYS     ? (i >= 2 * STAGES)
                                                            : i / STAGES & 1;
        if (defect == LEAPS && i == 3)
            continue;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, waited), parity);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, stage), 1);
    }
}

static bool stand(struct picture *p, enum defect defect)
{
    ways_begin_rings(p, WARPS, FULL, EMPTY, STAGES);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    fill(&ways[PRODUCER], defect);
    drain(&ways[CONSUMER], defect);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void the_consumer_is_told_what_it_does(void **state)
{
    static const struct {
        const char *name;
        enum defect defect;
        const char *cause, *says; /* cause NULL: the kernel finishes */
    } rows[] = {
        {"nothing is wrong", NOTHING, NULL, NULL},
        {"in one round nothing is copied", COPIES, NULL, NULL},
        {"... nor does the producer arrive", COPIES_LESS, "ARRIVE_MISSING",
         "Warp 0 went through a round without arriving on \"full\" stage 0, as it does in other rounds"},
        {"it leaps over a round", LEAPS, "ARRIVE_MISSING",
         "Warp 1 leaps over a round of \"full\": it neither waits for it nor arrives on \"empty\" for it, and goes on "
         "with the next one. With that arrival the kernel would finish."},
        {"its phase does not flip in time", PHASE_STAYS, "PARITY_DRIFT", "with parities that do not alternate"},
        {"it begins each tile with the first stage", BEGINS_TILES_ANEW, "PARITY_DRIFT", "count the stages differently"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, rows[i].defect);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

static uint32_t first_of(const struct wsdbg_replay *replay, uint32_t id)
{
    uint32_t b = 0;
    while (replay->c->snapshot->barriers[replay->barriers[b].row].id != id)
        b++;
    return b;
}

/* What the two sides' orders show of each ring. */
static void the_order_of_stages_is_read(void **state)
{
    static const struct {
        const char *name;
        enum defect defect;
        bool full_in_order, empty_in_order, full_apart, empty_apart;
    } rows[] = {
        {"nothing is wrong", NOTHING, true, true, false, false},
        {"the consumer leaves out a round", LEAPS, false, false, false, false},
        {"the consumer begins each tile with the first stage", BEGINS_TILES_ANEW, false, false, true, true},
        {"the consumer waits on another stage than it releases", WAITS_ON_OTHER, false, true, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        struct wsdbg_case c;
        uint32_t expected[2 * STAGES];
        print_message("%s\n", rows[i].name);
        stand(&p, rows[i].defect);
        struct wsdbg_replay *replay = ways_replay(&p, &c);
        for (uint32_t b = 0; b < replay->barrier_count; b++)
            expected[b] = replay->barriers[b].expected;
        const struct wsdbg_trial t = {.replay = replay, .c = &c, .expected_was = expected};
        const uint32_t full = first_of(replay, FULL), empty = first_of(replay, EMPTY);
        assert_int_equal(wsdbg_trial_is_in_order(&t, full), rows[i].full_in_order);
        assert_int_equal(wsdbg_trial_is_in_order(&t, empty), rows[i].empty_in_order);
        assert_int_equal(wsdbg_trial_counts_apart(&t, full), rows[i].full_apart);
        assert_int_equal(wsdbg_trial_counts_apart(&t, empty), rows[i].empty_apart);
        wsdbg_replay_destroy(replay);
        wsdbg_case_deinit(&c);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_consumer_is_told_what_it_does),
        cmocka_unit_test(the_order_of_stages_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
