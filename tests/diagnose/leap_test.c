/* leap_test.c - three threads with two rings: the one in the middle takes a block from the first ring, changes it, and
 * hands it on in the second one.  A block that it need not change it does not hand on, and it does not wait for the
 * slot either: it leaps over a round of the second ring, but not of the first.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, RAW_FULL, RAW_EMPTY, STAGES = 2, RAW_STAGES = 3, ROUNDS = 9 };
enum { LOADER, MIDDLE, CONSUMER, WARPS };

static struct way ways[WARPS];

static void init(struct picture *p, struct way *way, uint32_t id, const char *name, uint32_t stages, uint32_t count)
{
    picture_name(p, id, name, stages, 0, 0);
    for (uint32_t s = 0; s < stages; s++) {
        picture_mbarrier(p, id, s, 0, count, count, 0);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(id, s), count);
    }
}

static void wait(struct way *way, uint32_t id, uint32_t stages, uint32_t round, uint32_t first_parity)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(id, round % stages), (round / stages & 1) ^ first_parity);
}

static void arrive(struct way *way, uint32_t id, uint32_t stages, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(id, round % stages), 1);
}

/* Its own part of a slot of the second ring. */
static void fill_part(struct way *way, uint32_t round)
{
    wait(way, EMPTY, STAGES, round, 1);
    arrive(way, FULL, STAGES, round);
}

/* `ahead`: so many rounds it is further on with the second ring than with the first. */
static void load(struct way *way, uint32_t ahead)
{
    for (uint32_t i = 0; i < ahead; i++)
        fill_part(way, i);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (i + ahead < ROUNDS)
            fill_part(way, i + ahead);
        wait(way, RAW_EMPTY, RAW_STAGES, i, 1);
        arrive(way, RAW_FULL, RAW_STAGES, i);
    }
}

static void change(struct way *way, uint32_t leapt)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait(way, RAW_FULL, RAW_STAGES, i, 0);
        if (i != leapt)
            wait(way, EMPTY, STAGES, i, 1);
        arrive(way, RAW_EMPTY, RAW_STAGES, i);
        if (i != leapt)
            arrive(way, FULL, STAGES, i);
    }
}

static void consume(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait(way, FULL, STAGES, i, 0);
        arrive(way, EMPTY, STAGES, i);
    }
}

static bool stand(struct picture *p, uint32_t ahead, uint32_t leapt)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    init(p, &ways[LOADER], FULL, "full", STAGES, 2);
    init(p, &ways[LOADER], EMPTY, "empty", STAGES, 1);
    init(p, &ways[LOADER], RAW_FULL, "raw full", RAW_STAGES, 1);
    init(p, &ways[LOADER], RAW_EMPTY, "raw empty", RAW_STAGES, 1);
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    load(&ways[LOADER], ahead);
    change(&ways[MIDDLE], leapt);
    consume(&ways[CONSUMER]);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void the_round_that_is_leapt_over_is_told(void **state)
{
    static const char leaps[] = "Warp 1 leaps over a round of \"empty\": it neither waits for it nor arrives on "
                                "\"full\" for it, and goes on with the next one.";
    static const struct {
        const char *name;
        uint32_t ahead, leapt; /* ROUNDS: none */
        const char *cause, *says;
    } rows[] = {
        {"none is leapt over", 1, ROUNDS, NULL, NULL},
        {"the loader waits for no later round before it loads the next block", 0, 4, "ARRIVE_MISSING", leaps},
        {"it does, so the arrival is needed before the next block comes", 1, 4, "ARRIVE_MISSING", leaps},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, rows[i].ahead, rows[i].leapt);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_round_that_is_leapt_over_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
