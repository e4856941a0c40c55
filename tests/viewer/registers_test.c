/* The account of a CTA's registers in the four register files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/register_pool.h"

/* One CTA of eight warps, two a file, launched with 100 registers a thread (104 are given out). */
struct kernel {
    struct wsdbg_snapshot snapshot;
    struct wsdbg_grid grid;
    struct wsdbg_function function;
    struct wsdbg_cta cta;
    struct wsdbg_warp_row warps[8];
};

static void make(struct kernel *k)
{
    *k = (struct kernel){.grid = {.warps_per_cta = 8, .cta_count = 1},
                         .function = {.registers = wsdbg_known_u32(100)},
                         .cta = {.warp_count = 8}};
    for (uint32_t w = 0; w < 8; w++)
        k->warps[w] = (struct wsdbg_warp_row){
            .warp = w, .state = WSDBG_WARP_RUNNING, .registers_held = wsdbg_known_u32(w < 4 ? 40 : 100)};
    k->snapshot = (struct wsdbg_snapshot){.grids = &k->grid,
                                          .grid_count = 1,
                                          .functions = &k->function,
                                          .function_count = 1,
                                          .ctas = &k->cta,
                                          .cta_count = 1,
                                          .warps = k->warps,
                                          .warp_count = 8};
}

static void each_file_has_its_own_warps_registers(void **state)
{
    (void)state;
    struct kernel k;
    make(&k);
    const struct viewer_register_pool pool = viewer_register_pool_read(&k.snapshot, 0);
    for (uint32_t f = 0; f < VIEWER_REGISTER_FILES; f++) {
        assert_int_equal(pool.files[f].total.value, 2 * 104 * 32);
        assert_int_equal(pool.files[f].held.value, (40 + 104) * 32);
        assert_int_equal(pool.files[f].asked.value, 0);
    }
}

static void a_request_counts_in_its_own_file_only(void **state)
{
    (void)state;
    struct kernel k;
    make(&k);
    k.warps[5].state = WSDBG_WARP_WAIT_REGISTERS;
    k.warps[5].registers_asked = wsdbg_known_u32(200);
    const struct viewer_register_pool pool = viewer_register_pool_read(&k.snapshot, 0);
    assert_int_equal(pool.files[1].asked.value, (200 - 100) * 32);
    assert_int_equal(pool.files[0].asked.value, 0);
}

static void one_unknown_warp_leaves_its_file_unknown(void **state)
{
    (void)state;
    struct kernel k;
    make(&k);
    k.warps[6].registers_held.known = false;
    const struct viewer_register_pool pool = viewer_register_pool_read(&k.snapshot, 0);
    assert_false(pool.files[2].held.known);
    assert_true(pool.files[2].total.known);
    assert_true(pool.files[3].held.known);
}

static void a_cta_not_wholly_seen_has_no_totals(void **state)
{
    (void)state;
    struct kernel k;
    make(&k);
    k.cta.warp_count = 7;
    const struct viewer_register_pool pool = viewer_register_pool_read(&k.snapshot, 0);
    assert_false(pool.files[0].total.known);
    assert_false(pool.files[0].held.known);
}

static void without_the_launch_the_totals_are_unknown(void **state)
{
    (void)state;
    struct kernel k;
    make(&k);
    k.grid.function = WSDBG_NONE;
    const struct viewer_register_pool pool = viewer_register_pool_read(&k.snapshot, 0);
    assert_false(pool.launch.known);
    assert_false(pool.files[0].total.known);
    assert_true(pool.files[0].held.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_its_own_warps_registers),
        cmocka_unit_test(a_request_counts_in_its_own_file_only),
        cmocka_unit_test(one_unknown_warp_leaves_its_file_unknown),
        cmocka_unit_test(a_cta_not_wholly_seen_has_no_totals),
        cmocka_unit_test(without_the_launch_the_totals_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
