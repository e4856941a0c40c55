/* behind_polls_test.c - a producer that polls memory before each step but the first, and a consumer that waits for it.
 * Either the word is never written, or the two would hang even if it were.
 *
 * A test writes the walks of both threads, and the picture in which the producer polls and the consumer waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STEPS = 3 };
enum { PRODUCER, CONSUMER, WARPS };

static void produce(struct way *way)
{
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), 1);
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (step > 0)
            way_add(way, WSDBG_STEP_POLL, 0, 0);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), ~step & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
    }
}

static void consume(struct way *way, uint32_t waits)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < waits; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
}

/* The first step is over: both barriers have completed a phase. */
static void make_picture(struct picture *p, uint32_t waits)
{
    static struct way ways[WARPS];
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    ways_begin_rings(p, WARPS, FULL, EMPTY, 1);
    produce(&ways[PRODUCER]);
    consume(&ways[CONSUMER], waits);
    ways_put(p, ways, WARPS);
    uint32_t full = WSDBG_NONE;
    for (uint32_t b = 0; b < p->snapshot.barrier_count; b++) {
        p->snapshot.barriers[b].phase = wsdbg_known_u32(1);
        if (p->snapshot.barriers[b].kind == WSDBG_BARRIER_MBARRIER && p->snapshot.barriers[b].id == FULL)
            full = b;
    }
    picture_stand(p, PRODUCER, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    picture_stand(p, CONSUMER, WSDBG_WARP_WAIT_MBARRIER, full, 1);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = 1;
}

static void a_poll_is_no_cause_if_its_end_would_not_help(void **state)
{
    static const struct {
        const char *name;
        uint32_t waits; /* of the consumer */
        const char *cause;
        enum wsdbg_confidence confidence;
        const char *says;
    } rows[] = {
        {"the kernel would finish if the poll ended", STEPS, "GLOBAL_SPIN", WSDBG_CONFIDENCE_LIKELY,
         "Warp 0 polls a word in memory"},
        {"the consumer waits once more than the producer arrives", STEPS + 1, "ROLE_DISAGREE",
         WSDBG_CONFIDENCE_POSSIBLE,
         "Even if all polls of memory end, warp 1 waits for 4 rounds of \"full\" up to the kernel's end, and there are "
         "arrivals for 3, by warp 0."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        make_picture(&p, rows[i].waits);
        ways_expect_as(&p, rows[i].cause, rows[i].confidence, rows[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_poll_is_no_cause_if_its_end_would_not_help)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
