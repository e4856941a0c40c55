/* follows_test.c - waits that follow from another one: bytes that are missing because their loader is held up before
 * its copies, words that nobody writes because their writer hangs.  And an expect_tx alone, for which nobody waits.
 *
 * Each row states a picture and what may be said of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gemm_shape.h"

#define NOT_SAID 0
#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY

enum { WARPS = 2, LANES = 32 };

static uint32_t wait_of(struct picture *p, uint32_t family)
{
    return picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(family, 0), STAGES, 0, WSDBG_LANES_ONE);
}

static uint32_t access_of(const struct picture *p, enum wsdbg_access_kind kind)
{
    uint32_t access = 0;
    while (p->snapshot.accesses[access].kind != kind)
        access++;
    return access;
}

/* ---- bytes ---- */

/* The first slot lacks bytes, and the loader waits for the second one. */
static void bytes_are_missing(struct picture *p)
{
    const struct words full = {.pending = {0, 1, 1, 1}, .bytes = {BYTES / 2}};
    const struct gemm g = gemm_picture(p, &full, &empty_unused);
    both_wait(p, g.empty[1], 0, g.full[0], 0);
}

/* A way leads from this wait to the copy past all announcements. */
static void leads_to_copy(struct picture *p, uint32_t wait)
{
    picture_bare_expect(p, wait, access_of(p, WSDBG_ACCESS_COPY));
}

static void loader_is_before_its_copy(struct picture *p)
{
    bytes_are_missing(p);
    const uint32_t wait = wait_of(p, EMPTY);
    p->snapshot.accesses[wait].site = p->snapshot.warps[0].site;
    leads_to_copy(p, wait);
}

static void loader_is_elsewhere(struct picture *p)
{
    bytes_are_missing(p);
    leads_to_copy(p, wait_of(p, EMPTY));
}

static void copy_brings_an_arrival(struct picture *p)
{
    loader_is_before_its_copy(p);
    p->snapshot.accesses[access_of(p, WSDBG_ACCESS_COPY)].comes_with_arrival = true;
}

/* ---- words that are polled ---- */

/* In four CTAs. */
static void word_is_polled(struct picture *p)
{
    picture_init(p, 4, WARPS, LANES);
    picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
}

static void stand_in_cta(struct picture *p, uint32_t cta, uint32_t warp, enum wsdbg_warp_state state)
{
    const uint32_t row = cta * p->warps + warp;
    p->snapshot.warps[row].state = state;
    p->snapshot.warps[row].barrier = state == MBARRIER_WAIT ? cta : WSDBG_NONE;
    p->snapshot.warps[row].parity = wsdbg_known_u32(0);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == row) {
            p->snapshot.parts[i].state = state;
            p->snapshot.parts[i].barrier = p->snapshot.warps[row].barrier;
            p->snapshot.parts[i].parity = wsdbg_known_u32(0);
        }
}

static void a_cta_hangs(struct picture *p)
{
    word_is_polled(p);
    for (uint32_t warp = 0; warp < WARPS; warp++)
        stand_in_cta(p, 2, warp, MBARRIER_WAIT);
}

static void one_of_its_warps_polls(struct picture *p)
{
    word_is_polled(p);
    stand_in_cta(p, 2, 0, MBARRIER_WAIT);
}

/* Then the CTA may hang because of a poll. */
static void its_cluster_polls(struct picture *p)
{
    a_cta_hangs(p);
    picture_cluster(p);
}

/* ---- CTAs that are not seen ---- */

/* Of eight CTAs the first four are there, each on its own multiprocessor. */
static void four_of_eight_poll(struct picture *p, uint32_t multiprocessors)
{
    word_is_polled(p);
    p->snapshot.launches[0].grid[0] = p->snapshot.grids[0].cta_total = 8;
    p->snapshot.contexts[0].sm_count = wsdbg_known_u32(multiprocessors);
    for (uint32_t cta = 0; cta < 4; cta++)
        p->snapshot.ctas[cta].sm = wsdbg_known_u32(cta);
}

static void no_multiprocessor_is_empty(struct picture *p)
{
    four_of_eight_poll(p, 4);
}

static void one_multiprocessor_is_empty(struct picture *p)
{
    four_of_eight_poll(p, 5);
}

static void enough_are_empty_for_a_cluster(struct picture *p)
{
    four_of_eight_poll(p, 4 + 4);
    picture_cluster(p);
}

static void too_few_are_empty_for_a_cluster(struct picture *p)
{
    four_of_eight_poll(p, 4 + 3);
    picture_cluster(p);
}

static void place_is_not_known(struct picture *p)
{
    four_of_eight_poll(p, 5);
    p->snapshot.ctas[3].sm.known = false;
}

/* ---- rounds ---- */

/* All warps arrive on one barrier and wait for it.  Nobody can arrive again. */
static void all_wait_for_a_phase(struct picture *p, uint32_t last_waiter)
{
    picture_init(p, 1, 3, LANES);
    picture_role(p, 0, "first", 0, 0);
    picture_role(p, 1, "others", 1, 2);
    picture_name(p, FULL, "full", 1, 3, 3);
    const uint32_t full = picture_mbarrier(p, FULL, 0, 1, 3, 3, 0), named = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 3 * LANES, WSDBG_LANES_ALL);
    picture_reach(p, 0, 2, arrive, 0, 255, 0);
    picture_reach(p, 0, 2, sync, 0, 0, 2);
    picture_wait(p, 0, last_waiter, MBARRIER_WAIT, full, 1);
    if (last_waiter < 2)
        picture_wait(p, last_waiter + 1, 2, WSDBG_WARP_WAIT_NAMED, named, 0);
}

static void all_wait_for_the_same(struct picture *p)
{
    all_wait_for_a_phase(p, 2);
}

static void others_wait_elsewhere(struct picture *p)
{
    all_wait_for_a_phase(p, 0);
}

/* ---- named barriers ---- */

/* Two warpgroups meet at barriers of their own, with ids from a register; all were at barrier 0 before.  Warp 0 has
 * left, and so has the other warpgroup. */
static void mate_left(struct picture *p, uint32_t first_threads)
{
    picture_init(p, 1, 8, LANES);
    const uint32_t named = picture_object(p, WSDBG_BARRIER_NAMED, 0);
    const uint32_t first = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, first_threads, WSDBG_LANES_ALL);
    const uint32_t own = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 0, 4 * LANES, WSDBG_LANES_ALL);
    picture_reach(p, 0, 7, first, 1, 1, 0);
    picture_reach(p, 0, 7, own, 0, 255, 2);
    picture_exit(p, 0, 0);
    picture_exit(p, 4, 7);
    picture_wait(p, 1, 3, WSDBG_WARP_WAIT_NAMED, named, 0);
    picture_count(p, 1, 3, 4 * LANES);
}

static void mate_left_behind_a_block_wide_sync(struct picture *p)
{
    mate_left(p, 0);
}

/* A pair meets in each round of a loop.  One of them has left, and nobody knows how often it came. */
static void partner_of_a_pair_left(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t barrier = picture_object(p, WSDBG_BARRIER_NAMED, 2);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 2, 1, 64, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, sync, 0, 0, 0);
    picture_reach(p, 2, 2, sync, 0, 255, 2);
    picture_reach(p, 3, 3, sync, 0, 255, 0);
    picture_exit(p, 0, 1);
    picture_exit(p, 3, 3);
    picture_wait(p, 2, 2, WSDBG_WARP_WAIT_NAMED, barrier, 0);
    picture_count(p, 2, 2, 64);
}

/* ... so did another warp that is gone: it may be the one that is missing. */
static void partner_and_another_left(struct picture *p)
{
    partner_of_a_pair_left(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp == 0)
            p->pending[i].before_most = 255;
}

/* The first barrier took as many threads as this one: one of the others may be meant. */
static void mate_left_behind_another_sync(struct picture *p)
{
    mate_left(p, 4 * LANES);
}

/* After two looks that saw the same. */
static const struct row {
    const char *name;
    void (*state)(struct picture *p);
    const char *cause;
    int confidence; /* of the surest finding with this cause, NOT_SAID */
} table[] = {
    {"bytes are missing", bytes_are_missing, "TX_MISMATCH", LIKELY},
    {"... their loader stands before its copy", loader_is_before_its_copy, "TX_MISMATCH", NOT_SAID},
    {"... no: at another wait", loader_is_elsewhere, "TX_MISMATCH", LIKELY},
    {"... no: a copy brings an arrival", copy_brings_an_arrival, "TX_MISMATCH", LIKELY},
    {"a word that nobody writes", word_is_polled, "GLOBAL_SPIN", LIKELY},
    {"... a CTA hangs by itself", a_cta_hangs, "GLOBAL_SPIN", POSSIBLE},
    {"... no: a warp of it polls", one_of_its_warps_polls, "GLOBAL_SPIN", LIKELY},
    {"... no: another CTA of its cluster polls", its_cluster_polls, "GLOBAL_SPIN", LIKELY},
    {"later CTAs find no room", no_multiprocessor_is_empty, "NOT_RESIDENT", LIKELY},
    {"... no: a multiprocessor is empty, so they have left", one_multiprocessor_is_empty, "NOT_RESIDENT", NOT_SAID},
    {"... then nobody writes the word", one_multiprocessor_is_empty, "GLOBAL_SPIN", LIKELY},
    {"... enough are for a cluster of four", enough_are_empty_for_a_cluster, "NOT_RESIDENT", NOT_SAID},
    {"... too few are", too_few_are_empty_for_a_cluster, "NOT_RESIDENT", LIKELY},
    {"... where a CTA is is not known", place_is_not_known, "NOT_RESIDENT", LIKELY},
    {"a round more, and others have left the loop", others_wait_elsewhere, "ROLE_DISAGREE", POSSIBLE},
    {"... all wait for it", all_wait_for_the_same, "ROLE_DISAGREE", NOT_SAID},
    {"a warp of the warpgroup left", mate_left_behind_a_block_wide_sync, "WAKER_EXITED", LIKELY},
    {"... others were at the barrier, too", mate_left_behind_another_sync, "WAKER_EXITED", NOT_SAID},
    {"the other one of a pair left", partner_of_a_pair_left, "WAKER_EXITED", POSSIBLE},
    {"... and another warp that may have come", partner_and_another_left, "WAKER_EXITED", NOT_SAID},
};

static bool check(const struct row *row)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    int surest = NOT_SAID;
    row->state(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (strcmp(wsdbg_cause_name(diagnosis.findings[i].cause), row->cause) == 0 &&
            (int)diagnosis.findings[i].confidence > surest)
            surest = (int)diagnosis.findings[i].confidence;
    for (size_t i = 0; i < diagnosis.finding_count && surest != row->confidence; i++)
        print_error("%s: %s (%s): %s\n", row->name, wsdbg_cause_name(diagnosis.findings[i].cause),
                    wsdbg_confidence_name(diagnosis.findings[i].confidence), diagnosis.findings[i].sentence);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return surest == row->confidence;
}

static void what_follows_is_not_the_cause(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        wrong += !check(&table[i]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_follows_is_not_the_cause)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
