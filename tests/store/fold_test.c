/* Folding: which CTAs a group is made of, and how coarse a fold becomes to fit. */
#include "example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "store/fold.h"

#define CTAS 6

struct folded {
    struct example example;
    struct wsdbg_fold_row *rows;
    size_t row_count;
    struct wsdbg_fold_group *groups;
    size_t group_count;
    uint32_t ignored;
};

/* The example's hang; every CTA's producer is `spread` iterations ahead of the CTA before. */
static void fold(struct folded *f, uint32_t spread, size_t limit)
{
    example_hang(&f->example, CTAS, 1);
    struct wsdbg_snapshot *s = &f->example.snapshot;
    f->row_count = s->warp_count;
    f->rows = calloc(f->row_count, sizeof *f->rows);
    assert_non_null(f->rows);
    for (size_t i = 0; i < f->row_count; i++) {
        if (s->warps[i].warp < 4)
            s->warps[i].last.iteration = s->warps[i].cta * spread;
        wsdbg_fold_warp(s, i, &f->rows[i]);
    }
    example_ok(
        wsdbg_fold_fit(f->rows, f->row_count, wsdbg_fold_warp_levels, limit, &f->groups, &f->group_count, &f->ignored));
}

static void unfold(struct folded *f)
{
    free(f->rows);
    free(f->groups);
    example_free(&f->example);
}

/* CTAs of a group, one bit each; fails when a CTA comes twice. */
static unsigned ctas_of(const struct folded *f, const struct wsdbg_fold_group *group)
{
    unsigned seen = 0;
    size_t length;
    for (size_t i = 0; (i = wsdbg_fold_next(group, f->rows, f->row_count, f->ignored, i, &length)) < f->row_count;
         i += length) {
        assert_int_equal(seen >> f->rows[i].cta & 1, 0);
        seen |= 1u << f->rows[i].cta;
    }
    return seen;
}

static void a_group_gives_each_of_its_ctas_once(void **state)
{
    (void)state;
    struct folded f;
    fold(&f, 0, SIZE_MAX);
    assert_int_equal(f.group_count, 2);
    for (size_t g = 0; g < f.group_count; g++)
        assert_int_equal(ctas_of(&f, &f.groups[g]), (1u << CTAS) - 1);
    unfold(&f);
}

static void ctas_that_differ_are_in_groups_of_their_own(void **state)
{
    (void)state;
    struct folded f;
    unsigned all = 0;
    fold(&f, 1, SIZE_MAX);
    assert_int_equal(f.group_count, CTAS + 1);
    for (size_t g = 0; g < f.group_count; g++)
        if (f.groups[g].cta_count == 1)
            all |= ctas_of(&f, &f.groups[g]);
    assert_int_equal(all, (1u << CTAS) - 1);
    unfold(&f);
}

static void too_many_groups_are_folded_more_coarsely_and_keep_their_range(void **state)
{
    (void)state;
    struct folded f;
    fold(&f, 10, 2);
    assert_int_equal(f.group_count, 2);
    const struct wsdbg_range iteration = wsdbg_fold_range(&f.groups[0], WSDBG_WARP_KEY_ITERATION);
    assert_true(iteration.known);
    assert_int_equal(iteration.low, 0);
    assert_int_equal(iteration.high, (CTAS - 1) * 10);
    assert_int_equal(ctas_of(&f, &f.groups[0]), (1u << CTAS) - 1);
    unfold(&f);
}

static void what_fits_is_folded_exactly(void **state)
{
    (void)state;
    struct folded f;
    fold(&f, 0, 2);
    assert_int_equal(f.ignored, wsdbg_fold_warp_levels[0]);
    unfold(&f);
}

/* The stages of one barrier in some CTAs, made one row as on a small screen.
 * In the second CTA, no warp waits at stage 2. */
static struct wsdbg_report_barriers merged(uint32_t waiters_of_stage[4], uint32_t ctas)
{
    struct example example;
    struct wsdbg_fold_row rows[8];
    struct wsdbg_fold_group *groups;
    struct wsdbg_report_barriers out;
    size_t count;
    uint32_t ignored;
    example_hang(&example, 2, 1);
    struct wsdbg_snapshot s = example.snapshot;
    struct wsdbg_barrier barriers[8];
    for (uint32_t i = 0; i < 4 * ctas; i++) {
        barriers[i] = (struct wsdbg_barrier){.kind = WSDBG_BARRIER_MBARRIER,
                                             .cta = i / 4,
                                             .stage = i % 4,
                                             .waiters = i % 4 == 2 && i / 4 > 0 ? 0 : waiters_of_stage[i % 4],
                                             .name = s.barriers[0].name};
        s.barriers = barriers;
        wsdbg_fold_barrier(&s, i, &rows[i]);
    }
    example_ok(wsdbg_fold_fit(rows, 4 * ctas, wsdbg_fold_barrier_levels, 1, &groups, &count, &ignored));
    assert_int_equal(count, 1);
    wsdbg_fold_barriers_row(&s, &groups[0], &out);
    free(groups);
    example_free(&example);
    return out;
}

static void expect_words(struct wsdbg_report_barriers row, const char *expected)
{
    char text[256];
    wsdbg_report_barrier_waited_text(&row, text, sizeof text);
    assert_string_equal(text, expected);
}

static void merged_stages_say_at_which_of_them_warps_wait(void **state)
{
    (void)state;
    expect_words(merged((uint32_t[]){0, 0, 1, 0}, 1), "full[0-3]: waits at [2]");
    expect_words(merged((uint32_t[]){0, 0, 1, 1}, 2), "full[0-3]: waits at [2-3]");
    expect_words(merged((uint32_t[]){0, 0, 0, 0}, 2), "full[0-3]");
    expect_words(merged((uint32_t[]){1, 1, 2, 1}, 1), "full[0-3]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_gives_each_of_its_ctas_once),
        cmocka_unit_test(ctas_that_differ_are_in_groups_of_their_own),
        cmocka_unit_test(too_many_groups_are_folded_more_coarsely_and_keep_their_range),
        cmocka_unit_test(what_fits_is_folded_exactly),
        cmocka_unit_test(merged_stages_say_at_which_of_them_warps_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
