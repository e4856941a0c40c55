/* walk_clouds_test.c - ranges of unknown data, beside a map that has a flag for each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sass/walk_clouds.h"

enum { MEMORY_BYTES = 4096, ADDS = 600 };

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void assert_in_order(const struct walk_clouds *clouds)
{
    for (uint32_t i = 0; i < clouds->count; i++) {
        assert_true(clouds->ranges[i].first < clouds->ranges[i].end);
        assert_true(i == 0 || clouds->ranges[i - 1].end < clouds->ranges[i].first);
    }
}

/* `places`: stores begin at so many different places.  If there are few, the ranges are exact; else they may have
 * more. */
static void add_at_random(uint32_t places, uint32_t bytes, bool is_exact)
{
    struct walk_clouds clouds = {.count = 0};
    bool flags[MEMORY_BYTES + 64] = {false};
    uint64_t seed = places;
    for (unsigned i = 0; i < ADDS; i++) {
        const uint32_t address = next_random(&seed) % places * (MEMORY_BYTES / places);
        walk_clouds_add(&clouds, address, bytes);
        memset(&flags[address], true, bytes);
        assert_in_order(&clouds);
        assert_true(clouds.count <= WALK_CLOUDS_MOST);
    }
    for (uint32_t at = 0; at < MEMORY_BYTES; at++)
        assert_true(walk_clouds_have(&clouds, at, 1) == flags[at] || (!is_exact && !flags[at]));
}

static void few_ranges_are_exact(void **state)
{
    (void)state;
    add_at_random(60, 16, true);
    add_at_random(1024, 4, false); /* neighbours touch: at times one range is left, at times many */
    add_at_random(512, 8, false);
}

static void many_ranges_lose_nothing(void **state)
{
    (void)state;
    add_at_random(256, 4, false);
    add_at_random(200, 1, false);
}

static void the_two_nearest_ranges_become_one(void **state)
{
    struct walk_clouds clouds = {.count = 0};
    for (uint32_t i = 0; i < WALK_CLOUDS_MOST; i++)
        walk_clouds_add(&clouds, i * 100 + (i == 40 ? 20 : 0), 4); /* 40 is nearest to 41 */
    walk_clouds_add(&clouds, WALK_CLOUDS_MOST * 100, 4);
    assert_int_equal(clouds.count, WALK_CLOUDS_MOST);
    assert_true(walk_clouds_have(&clouds, 4050, 4));
    assert_false(walk_clouds_have(&clouds, 3950, 4));
    assert_false(walk_clouds_have(&clouds, 4150, 4));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_ranges_are_exact),
        cmocka_unit_test(many_ranges_lose_nothing),
        cmocka_unit_test(the_two_nearest_ranges_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
