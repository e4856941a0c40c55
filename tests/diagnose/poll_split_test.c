/* poll_split_test.c - what is said of a warp whose lower lanes wait for the upper ones, which poll a word that the
 * lower ones write next.  Each row states what else is known, and what is to be said after two equal looks.  The host's
 * only thread is in cuStreamSynchronize.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "picture.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define POLLED UINT64_C(0x7f1200000000)
enum { GATHER_LINE = 200, STORE_LINE, CTAS = 2, WARPS = 2, LOWER = 0xffff };

static struct wsdbg_part *waiting_part(struct picture *p, uint32_t warp)
{
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == warp && p->snapshot.parts[i].state == WSDBG_WARP_RECONVERGE)
            return &p->snapshot.parts[i];
    return NULL;
}

/* Warp 0 of both CTAs is split, warp 1 waits for it at the block's barrier. */
static void begin(struct picture *p)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    picture_init(p, CTAS, WARPS, 32);
    const uint32_t bar = picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_wait(p, 0, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    strcpy(s->sites[s->site_count - 1].instruction, "LDG.E.STRONG.GPU R0, desc[UR4][R2.64]");
    for (size_t i = 0; i < s->part_count; i++) {
        s->parts[i].lanes = ~(uint32_t)LOWER;
        s->parts[i].address = wsdbg_known_u64(POLLED);
        s->parts[i].width_bytes = wsdbg_known_u32(4);
        s->parts[i].value = wsdbg_known_u64(0);
    }
    picture_access(p, WSDBG_ACCESS_EXIT, 0, 0, 0, WSDBG_LANES_ALL);
    const uint32_t gather = (uint32_t)s->site_count - 1;
    picture_access(p, WSDBG_ACCESS_EXIT, 0, 0, 0, WSDBG_LANES_ALL);
    picture_part(p, 0, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        struct wsdbg_part *part = waiting_part(p, cta * WARPS);
        part->lanes = LOWER;
        part->site = gather;
        part->writes_site = wsdbg_known_u32(gather + 1);
    }
    strcpy(s->sites[gather].instruction, "WARPSYNC.ALL");
    strcpy(s->sites[gather + 1].instruction, "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64], R0");
    picture_wait(p, 1, 1, WSDBG_WARP_WAIT_NAMED, bar, 0);
    picture_count(p, 1, 1, 64);
    strcpy(s->threads[0].call, "cuStreamSynchronize");
}

static void as_it_is(struct picture *p)
{
    (void)p;
}

static void no_store(struct picture *p)
{
    for (uint32_t cta = 0; cta < CTAS; cta++)
        waiting_part(p, cta * WARPS)->writes_site.known = false;
}

static void in_one_cta(struct picture *p)
{
    waiting_part(p, 0)->writes_site.known = false;
}

static void some_lane_waits_for_a_copy(struct picture *p)
{
    picture_part(p, 0, WSDBG_WARP_WAIT_BULK, WSDBG_NONE, 0);
}

static void some_lane_polls_elsewhere(struct picture *p)
{
    picture_part(p, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    for (size_t i = p->snapshot.part_count - CTAS; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].site = waiting_part(p, 0)->site;
}

/* In the other CTA. */
static void another_warp_runs(struct picture *p)
{
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == WARPS + 1)
            p->snapshot.parts[i].state = p->snapshot.warps[WARPS + 1].state = WSDBG_WARP_RUNNING;
}

static void host_is_free(struct picture *p)
{
    p->snapshot.threads[0].call[0] = 0;
    p->snapshot.thread_count = 0;
}

static void ctas_are_to_come(struct picture *p)
{
    p->snapshot.grids[0].cta_total = 2 * CTAS;
}

/* The second CTA is another grid's, which waits for the end of the first one's. */
static void dependent_waits(struct picture *p)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    s->grids = reallocarray(s->grids, 2, sizeof *s->grids);
    must(s->grids);
    s->grids[1] = s->grids[0];
    s->grid_count = 2;
    s->grids[1].launch = s->grids[0].launch = WSDBG_NONE;
    s->grids[0].cta_count = s->grids[0].cta_total = s->grids[1].cta_count = s->grids[1].cta_total = 1;
    s->grids[1].cta_first = 1;
    s->ctas[1].grid = 1;
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].warp >= WARPS) {
            s->parts[i].state = s->warps[s->parts[i].warp].state = WSDBG_WARP_WAIT_GRID_DEPENDENCY;
            s->parts[i].barrier = s->warps[s->parts[i].warp].barrier = WSDBG_NONE;
        }
}

static const struct row {
    const char *name;
    void (*known)(struct picture *p);
    const char *cause;
    enum wsdbg_confidence confidence;
    const char *says;
} table[] = {
    {"as it is", as_it_is, "LANE_SPLIT", LIKELY, "lanes 0-15 wait"},
    {"..., and where they would write", as_it_is, "LANE_SPLIT", LIKELY, "would write that word at kernel.cu:201"},
    {"in one of two CTAs", in_one_cta, "LANE_SPLIT", LIKELY, "lanes 0-15 wait"},
    {"no store is known", no_store, "GLOBAL_SPIN", LIKELY, NULL},
    {"a lane of the warp waits for something else", some_lane_waits_for_a_copy, "GLOBAL_SPIN", LIKELY, NULL},
    {"a lane of the warp polls something else", some_lane_polls_elsewhere, "GLOBAL_SPIN", LIKELY, NULL},
    {"another warp runs", another_warp_runs, "UNKNOWN", POSSIBLE, NULL},
    {"the host may write it", host_is_free, "LANE_SPLIT", POSSIBLE, "something outside the grid may write it too"},
    {"CTAs are to come", ctas_are_to_come, "NOT_RESIDENT", LIKELY, NULL},
    {"a dependent grid waits", dependent_waits, "GRID_DEPENDENCY", LIKELY, NULL},
};

static void check(const struct row *row)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    begin(&p);
    row->known(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *first = &diagnosis.findings[0];
    if (strcmp(wsdbg_cause_name(first->cause), row->cause) != 0 || first->confidence != row->confidence ||
        (row->says && !strstr(first->sentence, row->says)))
        fail_msg("%s: %s (%s): %s", row->name, wsdbg_cause_name(first->cause), wsdbg_confidence_name(first->confidence),
                 first->sentence);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (strcmp(row->cause, "LANE_SPLIT") != 0)
            assert_int_not_equal(diagnosis.findings[i].cause, WSDBG_CAUSE_LANE_SPLIT);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

static void who_else_may_write_the_word_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i]);
}

static void the_sentence_names_both_sides(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    begin(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_true(diagnosis.hang);
    assert_int_equal(diagnosis.findings[0].cta_count, CTAS);
    assert_string_equal(diagnosis.findings[0].sentence,
                        "The lanes of warp 0 have diverged: lanes 0-15 wait at kernel.cu:200 for lanes 16-31, which "
                        "poll 4 bytes at 0x7f1200000000 (value 0x0) at kernel.cu:100. The waiting lanes would write "
                        "that word at kernel.cu:201, but only after the polling lanes join them.");
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* One look alone shows no standstill. */
static void one_look_is_not_enough(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    begin(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_int_equal(diagnosis.findings[i].confidence, POSSIBLE);
    assert_false(diagnosis.hang);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_else_may_write_the_word_decides),
        cmocka_unit_test(the_sentence_names_both_sides),
        cmocka_unit_test(one_look_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
