/* role_kinds_test.c - roles by what warps do, and the names of their groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "roles/role_kinds.h"

enum { GROUPS = 5, WARPS = 18, NAME_BYTES = 48 };

static enum wsdbg_role_kind kind_of(bool loads, bool computes, bool stores)
{
    return wsdbg_role_kind_of((struct wsdbg_role_operations){.loads = loads, .computes = computes, .stores = stores});
}

static void a_warp_has_the_role_of_what_it_issues(void **state)
{
    (void)state;
    assert_int_equal(kind_of(false, false, false), WSDBG_ROLE_KIND_NONE);
    assert_int_equal(kind_of(true, false, true), WSDBG_ROLE_KIND_LOADS);
    assert_int_equal(kind_of(false, true, true), WSDBG_ROLE_KIND_COMPUTES);
    assert_int_equal(kind_of(false, false, true), WSDBG_ROLE_KIND_STORES);
    assert_int_equal(kind_of(true, true, false), WSDBG_ROLE_KIND_UNCLEAR);
}

static void one_warp_tells_of_its_group(void **state)
{
    (void)state;
    enum wsdbg_role_kind group = WSDBG_ROLE_KIND_NONE;
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_UNCLEAR);
    assert_int_equal(group, WSDBG_ROLE_KIND_UNCLEAR);
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_STORES);
    assert_int_equal(group, WSDBG_ROLE_KIND_STORES);
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_LOADS);
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_STORES);
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_NONE);
    assert_int_equal(group, WSDBG_ROLE_KIND_LOADS);
    wsdbg_role_kind_add(&group, WSDBG_ROLE_KIND_COMPUTES);
    assert_int_equal(group, WSDBG_ROLE_KIND_UNCLEAR);
}

static void who_waits_for_what_is_loaded_computes(void **state)
{
    (void)state;
    enum wsdbg_role_kind groups[] = {WSDBG_ROLE_KIND_STORES, WSDBG_ROLE_KIND_NONE, WSDBG_ROLE_KIND_NONE};
    wsdbg_role_groups_compute(groups, 3, 2);
    assert_int_equal(groups[1], WSDBG_ROLE_KIND_NONE); /* nobody loads */
    groups[0] = WSDBG_ROLE_KIND_LOADS;
    wsdbg_role_groups_compute(groups, 3, 3);
    assert_int_equal(groups[0], WSDBG_ROLE_KIND_LOADS);
    assert_int_equal(groups[1], WSDBG_ROLE_KIND_COMPUTES);
    assert_int_equal(groups[2], WSDBG_ROLE_KIND_NONE);
}

/* The last group of 18 warps has two; a group of one is no range. */
static void groups_of_one_role_are_numbered(void **state)
{
    (void)state;
    const enum wsdbg_role_kind groups[GROUPS] = {WSDBG_ROLE_KIND_LOADS, WSDBG_ROLE_KIND_COMPUTES,
                                                 WSDBG_ROLE_KIND_UNCLEAR, WSDBG_ROLE_KIND_COMPUTES,
                                                 WSDBG_ROLE_KIND_NONE};
    static const char *const names[GROUPS] = {"producer", "consumer 0", "warps 8-11", "consumer 1", "warps 16-17"};
    char name[NAME_BYTES];
    for (size_t g = 0; g < GROUPS; g++) {
        wsdbg_role_group_name(groups, GROUPS, g, (uint32_t)g * 4, wsdbg_role_group_last(g, WARPS), name, sizeof name);
        assert_string_equal(name, names[g]);
    }
    wsdbg_role_group_name(groups, GROUPS, GROUPS - 1, (GROUPS - 1) * 4, wsdbg_role_group_last(GROUPS - 1, WARPS - 1),
                          name, sizeof name);
    assert_string_equal(name, "warp 16");
}

static void an_mbarrier_is_named_by_its_use(void **state)
{
    (void)state;
    char name[NAME_BYTES];
    assert_int_equal(wsdbg_barrier_use_of(true, true), WSDBG_USE_FULL);
    assert_int_equal(wsdbg_barrier_use_of(false, true), WSDBG_USE_EMPTY);
    assert_int_equal(wsdbg_barrier_use_of(false, false), WSDBG_USE_OTHER);
    wsdbg_use_name(WSDBG_USE_EMPTY, 1, 2, name, sizeof name);
    assert_string_equal(name, "empty 1");
    wsdbg_use_name(WSDBG_USE_FULL, 0, 1, name, sizeof name);
    assert_string_equal(name, "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_has_the_role_of_what_it_issues), cmocka_unit_test(one_warp_tells_of_its_group),
        cmocka_unit_test(who_waits_for_what_is_loaded_computes), cmocka_unit_test(groups_of_one_role_are_numbered),
        cmocka_unit_test(an_mbarrier_is_named_by_its_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
