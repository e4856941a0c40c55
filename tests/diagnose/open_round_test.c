/* open_round_test.c - which warps that have exited went through a round without the arrival that they make in others:
 * walks of consumers, written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/open_round.h"
#include "ways.h"

enum { FULL = 1, EMPTY, OTHER, STAGES = 2, PRODUCER = 0, FIRST, SECOND, WARPS, STEPS_MOST = 12 };

/* A consumer's steps on FULL and EMPTY: `w` waits for the slot in turn, `a` releases it and goes on to the next one,
 * `o` waits elsewhere, `e` ends what is known of the walk. */
static const struct row {
    const char *says, *first, *second;
    uint32_t waits, arrivals; /* 0 = no round is open */
    uint32_t rounds;          /* of the producer, which waits for a release in all but the first two; 0 = 5 */
} rows[] = {
    {"each round is whole", "wawawa", "wawawa", 0, 0, 0},
    {"both left before a round", "wawa", "wawa", 0, 0, 0},
    {"both left out the last arrival", "wawaw", "wawaw", 3, 2, 0},
    {"... but the producer waits for more rounds: they left too early", "wawaw", "wawaw", 0, 0, 6},
    {"... and it waits for no more than they make", "wawaw", "wawaw", 0, 0, 4},
    {"... and looked at the slot again and again", "wawawwww", "wawawwww", 6, 2, 0},
    {"one left out the last arrival, the other one left before", "wawaw", "wawa", 0, 0, 0},
    {"one never arrives", "wawaw", "www", 3, 2, 0},
    {"a single arrival is no habit", "waw", "waw", 0, 0, 0},
    {"an arrival without a wait", "wawaaw", "wawaaw", 0, 0, 0},
    {"the last wait is for something else", "wawao", "wawao", 0, 0, 0},
    {"the end of one walk is not known", "wawaw", "wae", 3, 2, 0},
    {"the end of no walk is known", "wawawe", "wawawe", 0, 0, 0},
};

static void follow(struct way *way, const char *steps)
{
    uint32_t round = 0;
    for (; *steps && *steps != 'e'; steps++) {
        const uint32_t stage = round % STAGES, parity = round / STAGES & 1;
        if (*steps == 'w')
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, stage), parity);
        else if (*steps == 'o')
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(OTHER, 0), 0);
        else
            round += way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, stage), 1) != NULL;
    }
    way->is_open = *steps == 'e';
}

static void make(struct picture *p, const struct row *row)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = FULL; id <= OTHER; id++)
        for (uint32_t stage = 0; stage < STAGES; stage++) {
            picture_mbarrier(p, id, stage, 0, 2, 2, 0);
            way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(id, stage), 2);
        }
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w].warp = w;
    for (uint32_t i = 0; i < (row->rounds ? row->rounds : 5); i++)
        way_add(&ways[PRODUCER], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
    follow(&ways[FIRST], row->first);
    follow(&ways[SECOND], row->second);
    ways_put(p, ways, WARPS);
}

static void check(const struct row *row)
{
    struct picture p;
    struct wsdbg_case c;
    struct wsdbg_open_round open = {0};
    struct wsdbg_warp_set gone = {{0}};
    uint32_t barrier = 0;
    make(&p, row);
    struct wsdbg_replay *replay = ways_replay(&p, &c);
    while (p.snapshot.barriers[barrier].id != EMPTY)
        barrier++;
    wsdbg_set_add(&gone, FIRST);
    wsdbg_set_add(&gone, SECOND);
    const bool found = wsdbg_open_round_find(&c, &gone, PRODUCER, barrier, &open);
    if (found != (row->waits > 0) || open.waits != row->waits || open.arrivals != row->arrivals)
        fail_msg("%s: %u waits, %u arrivals", row->says, open.waits, open.arrivals);
    if (found)
        assert_int_equal(p.snapshot.barriers[open.waited].id, FULL);
    wsdbg_replay_destroy(replay);
    wsdbg_case_deinit(&c);
    picture_deinit(&p);
}

static void a_round_is_open_whose_wait_has_no_arrival_behind_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_round_is_open_whose_wait_has_no_arrival_behind_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
