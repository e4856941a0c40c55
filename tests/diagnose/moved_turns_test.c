/* moved_turns_test.c - kernels in which warpgroups take turns at the rounds of a ring, and somebody leaves a round out,
 * leaves too early or releases nothing.  All stages and phases are right: no finding may say that turns are moved.  Nor
 * where both groups begin with the same rounds, and nothing tells which of them is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, GROUP = 4, GROUPS = 2, WARPS = (1 + GROUPS) * GROUP, PRODUCER = 0, TILES = 6 };

/* What goes wrong, in one round: of the second group, or of the producer. */
enum defect {
    GROUP_LEAVES_ROUND_OUT,
    GROUP_LEAVES,
    GROUP_RELEASES_NOTHING,
    PRODUCER_LEAVES_ROUND_OUT,
    PRODUCER_LEAVES,
    PRODUCER_FILLS_NOTHING,
    GROUP_BEGINS_TOO_EARLY, /* with the first round of all, in whatever round */
    DEFECTS
};

struct kernel {
    uint32_t stages, tile_rounds;
    enum defect defect;
    uint32_t round; /* of the group's, or the producer's, own rounds */
};

static struct way ways[WARPS];

static void produce(struct way *way, const struct kernel *k)
{
    for (uint32_t i = 0; i < TILES * k->tile_rounds; i++) {
        if (i == k->round && k->defect == PRODUCER_LEAVES)
            return;
        if (i == k->round && k->defect == PRODUCER_LEAVES_ROUND_OUT)
            continue;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % k->stages), (i / k->stages & 1) ^ 1);
        if (i != k->round || k->defect != PRODUCER_FILLS_NOTHING)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % k->stages), 1);
    }
}

static void consume(struct way *way, uint32_t group, const struct kernel *k)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < TILES * k->tile_rounds; i++) {
        if (i / k->tile_rounds % GROUPS != group)
            continue;
        const bool is_wrong = group == GROUPS - 1 && own++ == k->round;
        if (is_wrong && k->defect == GROUP_LEAVES)
            return;
        if (is_wrong && k->defect == GROUP_LEAVES_ROUND_OUT)
            continue;
        const bool is_early = group == GROUPS - 1 && k->defect == GROUP_BEGINS_TOO_EARLY;
        const uint32_t at = is_early ? i - k->tile_rounds : i;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, at % k->stages), at / k->stages & 1);
        if (!is_wrong || k->defect != GROUP_RELEASES_NOTHING)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, at % k->stages), 1);
    }
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", k->stages, 1, 2);
    picture_name(p, EMPTY, "empty", k->stages, 2, 1);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t s = 0; s < k->stages; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < k->stages && w == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), GROUP);
        }
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (w == PRODUCER)
            produce(&ways[w], k);
        else if (w >= GROUP)
            consume(&ways[w], w / GROUP - 1, k);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

/* Whether the kernel hangs. */
static bool check(const struct kernel *k)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    const bool stands = stand(&p, k);
    if (stands) {
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        for (size_t i = 0; i < diagnosis.finding_count; i++)
            if (strstr(diagnosis.findings[i].sentence, "too early or too late for the turns") ||
                strstr(diagnosis.findings[i].sentence, "too few or too many"))
                fail_msg("%u stages, %u rounds a tile, defect %u in round %u: %s", k->stages, k->tile_rounds, k->defect,
                         k->round, diagnosis.findings[i].sentence);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
    picture_deinit(&p);
    return stands;
}

static void no_moved_turn_makes_up_for_another_mistake(void **state)
{
    uint32_t hangs = 0;
    for (uint32_t stages = 2; stages <= 8; stages++)
        for (uint32_t tile_rounds = 1; tile_rounds <= 3; tile_rounds++)
            for (enum defect defect = 0; defect < DEFECTS; defect++)
                for (uint32_t round = 0; round < TILES * tile_rounds; round++)
                    hangs += check(&(struct kernel){stages, tile_rounds, defect, round});
    assert_true(hangs > 500);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_moved_turn_makes_up_for_another_mistake)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
