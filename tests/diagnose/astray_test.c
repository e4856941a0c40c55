/* astray_test.c - attention: a loader fills rings of keys and values, and a consumer keeps a position for each of
 * them.  In a block it waits for the keys, advances their position, and then waits for the values - by mistake at the
 * position of the keys.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ways.h"

enum { KEYS = 1, KEYS_FREE, VALUES, VALUES_FREE, STAGES = 2 };
enum { LOADER, CONSUMER, WARPS };
enum { WAIT_KEYS, RELEASE_KEYS, WAIT_VALUES, RELEASE_VALUES };

static struct way ways[WARPS];

struct kernel {
    const char *name;
    uint32_t stages, blocks;
    bool waits_at_keys;      /* for the values at the position of the keys */
    uint32_t left_out;       /* block in which the values are not loaded; NONE */
    uint32_t kept;           /* block whose values are not released; NONE */
    uint32_t blocks_awaited; /* by the consumer */
    const char *cause, *says;
};

static void init(struct picture *p, uint32_t id, const char *name, uint32_t stages)
{
    picture_name(p, id, name, stages, 0, 0);
    for (uint32_t s = 0; s < stages; s++) {
        picture_mbarrier(p, id, s, 0, 1, 1, 0);
        way_add(&ways[LOADER], WSDBG_ACCESS_INIT, MBARRIER_AT(id, s), 1);
    }
}

static void wait(struct way *way, uint32_t access, uint32_t id, uint32_t stages, uint32_t round, uint32_t first_parity)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(id, round % stages), (round / stages & 1) ^ first_parity)->access =
        access;
}

static void arrive(struct way *way, uint32_t access, uint32_t id, uint32_t stages, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(id, round % stages), 1)->access = access;
}

static void load(const struct kernel *k)
{
    struct way *way = &ways[LOADER];
    for (uint32_t i = 0; i < k->blocks; i++) {
        wait(way, WSDBG_NONE, KEYS_FREE, k->stages, i, 1);
        arrive(way, WSDBG_NONE, KEYS, k->stages, i);
        wait(way, WSDBG_NONE, VALUES_FREE, k->stages, i, 1);
        if (i != k->left_out)
            arrive(way, WSDBG_NONE, VALUES, k->stages, i);
    }
}

static void consume(const struct kernel *k)
{
    struct way *way = &ways[CONSUMER];
    for (uint32_t i = 0; i < k->blocks_awaited; i++) {
        wait(way, WAIT_KEYS, KEYS, k->stages, i, 0);
        arrive(way, RELEASE_KEYS, KEYS_FREE, k->stages, i);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(VALUES, (i + k->waits_at_keys) % k->stages), i / k->stages & 1)
            ->access = WAIT_VALUES;
        if (i != k->kept)
            arrive(way, RELEASE_VALUES, VALUES_FREE, k->stages, i);
    }
}

static bool stand(struct picture *p, const struct kernel *k)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    init(p, KEYS, "keys", k->stages);
    init(p, KEYS_FREE, "keys free", k->stages);
    init(p, VALUES, "values", k->stages);
    init(p, VALUES_FREE, "values free", k->stages);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(KEYS, 0), k->stages, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(KEYS_FREE, 0), k->stages, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(VALUES, 0), k->stages, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(VALUES_FREE, 0), k->stages, 1, WSDBG_LANES_ONE);
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    load(k);
    consume(k);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void waits_on_another_stage_than_is_released_are_told(void **state)
{
    static const char astray[] = "Warp 1 waits for \"values\" stage 1 at kernel.cu:202, but then releases \"values "
                                 "free\" stage 0: the two are not of one stage.";
    static const struct kernel rows[] = {
        {"a correct kernel", 2, 5, false, WSDBG_NONE, WSDBG_NONE, 5, NULL, NULL},
        {"waits at the position of the keys", 2, 5, true, WSDBG_NONE, WSDBG_NONE, 5, "PARITY_DRIFT", astray},
        {"with three stages", 3, 7, true, WSDBG_NONE, WSDBG_NONE, 7, "PARITY_DRIFT", astray},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

static void other_mistakes_are_no_waits_on_another_stage(void **state)
{
    static const struct kernel rows[] = {
        {"a block whose values are not loaded", 2, 5, false, 2, WSDBG_NONE, 5, NULL, NULL},
        {"a block whose values are not released", 2, 5, false, WSDBG_NONE, 1, 5, NULL, NULL},
        {"a consumer that waits for a block too many", 2, 5, false, WSDBG_NONE, WSDBG_NONE, 6, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, &rows[i]);
        ways_check_unsaid(&p, stands, "the two are not of one stage");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_on_another_stage_than_is_released_are_told),
                                       cmocka_unit_test(other_mistakes_are_no_waits_on_another_stage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
