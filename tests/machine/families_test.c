/* families_test.c - which mbarriers belong together, and how far a walk goes whose end the code does not say: accesses
 * as the tracer finds them, of a kernel nobody has launched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/look.h"

#define ENDLESS(access, first)                                          \
    {                                                                   \
        .kind = WSDBG_ACCESS_##access, .address = { true, first, 8, 0 } \
    }
/* mbarrier.init with so many arrivals */
#define INIT(offset, arrivals)                                                                        \
    {                                                                                                 \
        .kind = WSDBG_ACCESS_INIT, .address = {true, offset, 0, 1}, .count = { true, arrivals, 0, 1 } \
    }

/* The families of a kernel with these accesses, in one grid without a CTA.  Valid until the next call. */
static const struct wsdbg_families *families_with(struct wsdbg_access *accesses, size_t count,
                                                  const struct wsdbg_shared_variable *variables, size_t variable_count)
{
    static struct wsdbg_families families;
    struct wsdbg_code_kernel kernel = {
        .accesses = accesses, .access_count = count, .variables = variables, .variable_count = variable_count};
    struct wsdbg_look_grid beside = {.kernel = &kernel};
    struct wsdbg_grid grid = {0};
    const struct wsdbg_snapshot rows = {.grids = &grid, .grid_count = 1};
    const struct wsdbg_look_seen seen = {.grids = &beside};
    const struct wsdbg_look_operands operands = {0};
    families = (struct wsdbg_families){0};
    assert_null(wsdbg_look_families(NULL, &seen, &operands, NULL, &rows, &families));
    return &families;
}

static const struct wsdbg_families *families_of(struct wsdbg_access *accesses, size_t count)
{
    return families_with(accesses, count, NULL, 0);
}

/* full[3] ends where empty[3] begins: one arrival is expected on the first, two on the other. */
static void a_walk_ends_where_an_array_with_another_count_begins(void **state)
{
    (void)state;
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1), INIT(0x408, 1),         INIT(0x410, 1),       INIT(0x418, 2),         INIT(0x420, 2),
        INIT(0x428, 2), ENDLESS(ARRIVE, 0x400), ENDLESS(WAIT, 0x418), ENDLESS(ARRIVE, 0x418),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(wsdbg_family_places(families, &accesses[6].address), 3);
    assert_true(wsdbg_access_may_be(families, &accesses[6], 0x410));
    assert_false(wsdbg_access_may_be(families, &accesses[6], 0x418));
    assert_int_equal(wsdbg_family_places(families, &accesses[8].address), 0); /* nothing is known to begin behind it */
}

/* A mask leaves more places than any ring has: such a walk ends there, too.  A count that a ring may have is believed.
 */
static void a_walk_of_too_many_places_ends_like_one_without_end(void **state)
{
    (void)state;
    const struct wsdbg_value_set masked = {true, 0x400, 8, 256}, counted = {true, 0x400, 8, 4};
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1), INIT(0x408, 1),         INIT(0x410, 1),       INIT(0x418, 2),         INIT(0x420, 2),
        INIT(0x428, 2), ENDLESS(ARRIVE, 0x400), ENDLESS(WAIT, 0x418), ENDLESS(ARRIVE, 0x418),
    };
    accesses[6].address = masked;
    accesses[8].address.count = 256;
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(wsdbg_family_places(families, &accesses[6].address), 3);
    assert_false(wsdbg_access_may_be(families, &accesses[6], 0x418));
    assert_int_equal(wsdbg_family_places(families, &accesses[8].address), 256);
    assert_int_equal(wsdbg_family_places(families, &counted), 4);
}

/* The code goes along both arrays in one loop, or its bound is that of the whole.  The words tell where the second one
 * begins.  One word with another count ends nothing: it may be the mistake. */
static void a_counted_walk_is_cut_where_several_places_expect_another_number(void **state)
{
    (void)state;
#define SIX(access)                                                     \
    {                                                                   \
        .kind = WSDBG_ACCESS_##access, .address = { true, 0x400, 8, 6 } \
    }
    struct wsdbg_access two_arrays[] = {
        INIT(0x400, 1), INIT(0x408, 1), INIT(0x410, 1), INIT(0x418, 2),
        INIT(0x420, 2), INIT(0x428, 2), SIX(ARRIVE),    ENDLESS(WAIT, 0x418),
    };
    struct wsdbg_access one_array[] = {
        INIT(0x400, 1), INIT(0x408, 1), INIT(0x410, 1), INIT(0x418, 2), INIT(0x420, 1), INIT(0x428, 1), SIX(ARRIVE),
    };
    const struct wsdbg_families *families = families_of(two_arrays, sizeof two_arrays / sizeof *two_arrays);
    uint32_t family, stage;
    assert_true(wsdbg_family_at(families, 0x410, &family, &stage));
    assert_int_equal(stage, 2);
    assert_int_equal(families->rows[family].places, 3);
    assert_true(wsdbg_family_at(families, 0x428, &family, &stage));
    assert_int_equal(stage, 2);
    struct wsdbg_access nobody_names_the_second[] = {
        INIT(0x400, 1), INIT(0x408, 1), INIT(0x410, 1), INIT(0x418, 2), INIT(0x420, 2), INIT(0x428, 2), SIX(ARRIVE),
    };
    families = families_of(nobody_names_the_second, sizeof nobody_names_the_second / sizeof *nobody_names_the_second);
    assert_int_equal(families->count, 2);
    assert_true(wsdbg_family_at(families, 0x428, &family, &stage));
    assert_int_equal(families->rows[family].places, 3);
    assert_int_equal(families->rows[family].stride, 8);
    assert_int_equal(stage, 2);
    families = families_of(one_array, sizeof one_array / sizeof *one_array);
    assert_true(wsdbg_family_at(families, 0x428, &family, &stage));
    assert_int_equal(stage, 5);
#undef SIX
}

/* The counts are equal, but bytes are expected on the one and plain arrivals made on the other. */
static void a_walk_ends_where_an_array_with_another_use_begins(void **state)
{
    (void)state;
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1),
        INIT(0x408, 1),
        INIT(0x410, 1),
        INIT(0x418, 1),
        ENDLESS(ARRIVE_EXPECT, 0x400),
        ENDLESS(WAIT, 0x400),
        ENDLESS(ARRIVE, 0x410),
        ENDLESS(WAIT, 0x410),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(wsdbg_family_places(families, &accesses[4].address), 2);
    assert_int_equal(wsdbg_family_places(families, &accesses[5].address), 2);
}

/* One array, used at a stage and at the stage two further on. */
static void a_walk_over_the_same_array_from_further_on_ends_nothing(void **state)
{
    (void)state;
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1), INIT(0x408, 1), INIT(0x410, 1), INIT(0x418, 1), ENDLESS(ARRIVE, 0x400), ENDLESS(WAIT, 0x410),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(wsdbg_family_places(families, &accesses[4].address), 0);
    assert_true(wsdbg_access_may_be(families, &accesses[4], 0x418));
}

/* A loop that is unrolled by two goes along every second place; those between are named one by one. */
static void an_unrolled_walk_and_the_places_between_are_one_array(void **state)
{
    (void)state;
#define AT(access, offset)                                               \
    {                                                                    \
        .kind = WSDBG_ACCESS_##access, .address = { true, offset, 0, 1 } \
    }
#define EVERY_SECOND(access, first)                                      \
    {                                                                    \
        .kind = WSDBG_ACCESS_##access, .address = { true, first, 16, 0 } \
    }
    struct wsdbg_access accesses[] = {
        INIT(0x400, 4), INIT(0x408, 4),  INIT(0x410, 4),  INIT(0x418, 4),  INIT(0x420, 4),
        INIT(0x428, 4), AT(WAIT, 0x400), AT(WAIT, 0x410), AT(WAIT, 0x420), EVERY_SECOND(WAIT, 0x408),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(families->count, 1);
    assert_int_equal(families->rows[0].first, 0x400);
    assert_int_equal(families->rows[0].stride, 8);
    assert_int_equal(families->rows[0].places, 6);
}

/* One access goes along all places of a ring, others along every second one. */
static void a_walk_along_every_second_place_is_part_of_the_one_along_all(void **state)
{
    (void)state;
#define COUNTED(access, first, stride, places)                                    \
    {                                                                             \
        .kind = WSDBG_ACCESS_##access, .address = { true, first, stride, places } \
    }
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1),
        INIT(0x408, 1),
        INIT(0x410, 1),
        INIT(0x418, 1),
        COUNTED(WAIT, 0x400, 16, 2),
        COUNTED(WAIT, 0x408, 16, 2),
        COUNTED(WAIT, 0x400, 8, 4),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    assert_int_equal(families->count, 1);
    assert_int_equal(families->rows[0].first, 0x400);
    assert_int_equal(families->rows[0].stride, 8);
    assert_int_equal(families->rows[0].places, 4);
    for (uint32_t i = 0; i < 4; i += 2) /* places that expect another number of arrivals are no part of it */
        accesses[i + 1].count.base = 2;
    assert_int_equal(families_of(accesses, sizeof accesses / sizeof *accesses)->count, 2);
}

/* Pairs of a full and an empty barrier: bytes are brought to every second one alone. */
static void an_array_of_pairs_is_two_arrays(void **state)
{
    (void)state;
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1),  INIT(0x408, 1), INIT(0x410, 1), INIT(0x418, 1), EVERY_SECOND(ARRIVE_EXPECT, 0x400),
        AT(WAIT, 0x408),
    };
    const struct wsdbg_families *families = families_of(accesses, sizeof accesses / sizeof *accesses);
    uint32_t full, empty, stage;
    assert_true(wsdbg_family_at(families, 0x410, &full, &stage));
    assert_int_equal(stage, 1);
    assert_true(wsdbg_family_at(families, 0x408, &empty, &stage));
    assert_int_not_equal(full, empty);
}

/* ... also where one loop invalidates all of them. */
static void a_loop_that_only_invalidates_makes_no_ring_of_pairs(void **state)
{
    (void)state;
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1),
        INIT(0x408, 1),
        INIT(0x410, 1),
        INIT(0x418, 1),
        COUNTED(ARRIVE_EXPECT, 0x400, 16, 2),
        COUNTED(WAIT, 0x400, 16, 2),
        COUNTED(WAIT, 0x408, 16, 2),
        COUNTED(ARRIVE, 0x408, 16, 2),
        COUNTED(INVALIDATE, 0x400, 8, 4),
    };
    assert_int_equal(families_of(accesses, sizeof accesses / sizeof *accesses)->count, 2);
}

/* ready[2], taken[2] and last, which all expect one arrival and are used alike: their variables tell them apart.  What
 * nothing is done with yet is of its variable, too; a variable that has other things in it gives no name. */
static void no_array_goes_from_one_variable_into_the_next(void **state)
{
    static const struct wsdbg_shared_variable variables[] = {
        {"_ZZ6kernelPiE5ready", 0x400, 16}, {"taken", 0x410, 16}, {"last", 0x420, 8}, {"more", 0x428, 64}};
    struct wsdbg_access accesses[] = {
        INIT(0x400, 1),    INIT(0x408, 1),    INIT(0x410, 1),         INIT(0x418, 1),
        INIT(0x420, 1),    INIT(0x428, 1),    ENDLESS(ARRIVE, 0x400), ENDLESS(WAIT, 0x400),
        AT(ARRIVE, 0x410), AT(ARRIVE, 0x420), AT(ARRIVE, 0x428),
    };
    (void)state;
    const struct wsdbg_families *families =
        families_with(accesses, sizeof accesses / sizeof *accesses, variables, sizeof variables / sizeof *variables);
    static const struct {
        uint32_t first, places;
        const char *variable;
    } expected[] = {{0x400, 2, "_ZZ6kernelPiE5ready"}, {0x410, 2, "taken"}, {0x420, 1, "last"}, {0x428, 1, NULL}};
    assert_int_equal(families->count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < families->count; i++) {
        assert_int_equal(families->rows[i].first, expected[i].first);
        assert_int_equal(families->rows[i].places, expected[i].places);
        assert_ptr_equal(!families->rows[i].variable, !expected[i].variable);
        if (expected[i].variable)
            assert_string_equal(families->rows[i].variable, expected[i].variable);
    }
    assert_true(families->rows[0].is_all);
    /* Nor does a walk: it is known to end. */
    assert_int_equal(wsdbg_family_places(families, &accesses[6].address), 2);
    assert_false(wsdbg_access_may_be(families, &accesses[7], 0x410));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_of_too_many_places_ends_like_one_without_end),
        cmocka_unit_test(a_walk_ends_where_an_array_with_another_count_begins),
        cmocka_unit_test(a_counted_walk_is_cut_where_several_places_expect_another_number),
        cmocka_unit_test(a_walk_ends_where_an_array_with_another_use_begins),
        cmocka_unit_test(a_walk_over_the_same_array_from_further_on_ends_nothing),
        cmocka_unit_test(an_unrolled_walk_and_the_places_between_are_one_array),
        cmocka_unit_test(a_walk_along_every_second_place_is_part_of_the_one_along_all),
        cmocka_unit_test(an_array_of_pairs_is_two_arrays),
        cmocka_unit_test(a_loop_that_only_invalidates_makes_no_ring_of_pairs),
        cmocka_unit_test(no_array_goes_from_one_variable_into_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
