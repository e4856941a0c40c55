/* afresh_test.c - a producer and a consumer that go round a ring for several tiles, whose rounds are no multiple of the
 * stages.  One of them begins each tile with the first stage and its first phase again.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, WARPS = 2, PRODUCER = 0, CONSUMER, TILES = 3 };

static struct way ways[WARPS];

struct kernel {
    const char *name;
    uint32_t stages, rounds; /* of a tile */
    bool is_afresh[WARPS];   /* the thread begins each tile with stage 0 and its first parity */
    uint32_t left_out;       /* the round in which the consumer releases nothing; NONE = none */
    const char *cause, *says;
};
enum { NONE = 1000 };

static void put_ways(struct picture *p, const struct kernel *k)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    for (uint32_t s = 0; s < k->stages; s++) {
        way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < TILES * k->rounds; i++) {
        const uint32_t of_producer = k->is_afresh[PRODUCER] ? i % k->rounds : i,
                       of_consumer = k->is_afresh[CONSUMER] ? i % k->rounds : i;
        way_add(&ways[PRODUCER], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, of_producer % k->stages),
                (of_producer / k->stages & 1) ^ 1);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, of_producer % k->stages), 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, of_consumer % k->stages),
                of_consumer / k->stages & 1);
        if (i != k->left_out)
            way_add(&ways[CONSUMER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, of_consumer % k->stages), 1);
    }
    ways_put(p, ways, WARPS);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    ways_begin_rings(p, WARPS, FULL, EMPTY, k->stages);
    put_ways(p, k);
    return ways_stand(p);
}

static void a_thread_that_begins_a_ring_afresh_is_told(void **state)
{
    static const struct kernel rows[] = {
        {"a correct kernel", 3, 8, {false, false}, NONE, NULL, NULL},
        {"the producer begins afresh",
         3,
         8,
         {true, false},
         NONE,
         "PARITY_DRIFT",
         "Warp 0 goes back to \"empty\" stage 0, where it began, before the round of the ring is "
         "over. "
         "Had it gone on with \"empty\" stage 2 and parity 1, and so each time, the kernel would finish."},
        {"the consumer does", 3, 8, {false, true}, NONE, "PARITY_DRIFT", "Warp 1 goes back to \"full\" stage 0"},
        {"four stages, five rounds", 4, 5, {true, false}, NONE, "PARITY_DRIFT", "gone on with \"empty\" stage 1"},
        {"two stages", 2, 3, {true, false}, NONE, "PARITY_DRIFT", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

static void other_mistakes_are_none_of_position(void **state)
{
    static const struct kernel rows[] = {
        {"a release is left out", 3, 8, {false, false}, 7, NULL, NULL},
        {"... of a kernel whose tiles all begin afresh", 3, 6, {true, true}, 7, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check_unsaid(&p, stands, "back to");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thread_that_begins_a_ring_afresh_is_told),
                                       cmocka_unit_test(other_mistakes_are_none_of_position)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
