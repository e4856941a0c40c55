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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_gives_each_of_its_ctas_once),
        cmocka_unit_test(ctas_that_differ_are_in_groups_of_their_own),
        cmocka_unit_test(too_many_groups_are_folded_more_coarsely_and_keep_their_range),
        cmocka_unit_test(what_fits_is_folded_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
