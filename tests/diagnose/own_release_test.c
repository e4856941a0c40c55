/* own_release_test.c - one thread loads, uses and releases the slots of a ring.  It has filled all slots before its
 * loop.  In a round it waits until a slot is free again before it releases that slot itself; or it leaves out the last
 * round.
 *
 * A test writes the walk of the thread, lets a replay run it until it hangs, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 6, BYTES = 64, WARPS = 2, LOADER = 0 };
enum { WAIT_FULL, RELEASE, WAIT_EMPTY };

static struct way ways[WARPS];

static void fill(struct way *way, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, round % STAGES), BYTES);
    way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, round % STAGES), BYTES);
}

static void release(struct way *way, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, round % STAGES), 1)->access = RELEASE;
}

/* lacks_last: the last round is not filled, though it is waited for. */
static void loop(struct way *way, bool releases_late, bool lacks_last)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1)->access = WAIT_FULL;
        if (!releases_late)
            release(way, i);
        if (i + STAGES + lacks_last < ROUNDS) {
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1))->access = WAIT_EMPTY;
            fill(way, i + STAGES);
        }
        if (releases_late)
            release(way, i);
    }
}

static bool stand(struct picture *p, bool releases_late, bool lacks_last)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    ways_begin_rings(p, WARPS, FULL, EMPTY, STAGES);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    for (uint32_t a = 0; a < 4; a++)
        picture_reach(p, LOADER, LOADER, a, 0, UINT8_MAX, 2);
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(&ways[LOADER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&ways[LOADER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < STAGES; i++)
        fill(&ways[LOADER], i);
    loop(&ways[LOADER], releases_late, lacks_last);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_thread_that_waits_for_its_own_release_has_no_wrong_parity(void **state)
{
    static const char words[] =
        "warp 0 waits for \"empty\" stage 0, and arrives on it behind that wait, at kernel.cu:201";
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    bool is_said = false;
    (void)state;
    ways_check(&p, stand(&p, false, false), NULL, NULL);
    assert_true(stand(&p, true, false));
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    const struct wsdbg_finding *first = &diagnosis.findings[0];
    print_message("%s\n", first->sentence);
    assert_int_equal(first->cause, WSDBG_CAUSE_UNKNOWN);
    for (size_t i = 0; i < first->evidence_count; i++) {
        print_message("  %s\n", first->evidence[i].text);
        is_said |= strcmp(first->evidence[i].text, words) == 0;
    }
    assert_true(is_said);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

static void a_round_that_the_only_loader_leaves_out_is_told(void **state)
{
    struct picture p;
    (void)state;
    ways_check(
        &p, stand(&p, false, true), "ARRIVE_MISSING",
        "Warp 0 alone arrives on \"full\" stage 1, 2 times from the kernel's start to its end, but waits for it 3 "
        "times itself.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_waits_for_its_own_release_has_no_wrong_parity),
        cmocka_unit_test(a_round_that_the_only_loader_leaves_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
