/* look_clusters_test.c - CTAs of a grid that are not on the GPU: they have exited where another CTA of their cluster is
 * there, else nothing is known of them.  Machines made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look.h"
#include "machine/synthetic.h"

/* ---- where CTAs sit ---- */

/* "0,0 1,0- 3,1": the x and y of seats, those that were left with a minus. */
static const char *seats_of(const uint32_t grid[3], const uint32_t cluster[3], const uint32_t (*places)[2],
                            size_t count)
{
    static char text[256];
    struct wsdbg_machine_grid row = {
        .cluster = {wsdbg_known_u32(cluster[0]), wsdbg_known_u32(cluster[1]), wsdbg_known_u32(cluster[2])}};
    struct wsdbg_machine_cta ctas[8] = {{0}};
    memcpy(row.grid, grid, sizeof row.grid);
    for (size_t i = 0; i < count; i++)
        ctas[i] = (struct wsdbg_machine_cta){.x = places[i][0], .y = places[i][1]};
    const struct wsdbg_machine machine = {.grids = &row, .grid_count = 1, .ctas = ctas, .cta_count = count};
    struct wsdbg_look_seats seats = {0};
    assert_null(wsdbg_look_seats_add(&machine, 0, 0, &seats));
    text[0] = '\0';
    for (size_t i = 0; i < seats.count; i++) {
        const struct wsdbg_look_seat *seat = &seats.rows[i];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u,%u%s", i ? " " : "", seat->at[0], seat->at[1],
                 seat->has_left ? "-" : "");
        const struct wsdbg_machine_cta *sibling = &ctas[seat->sibling];
        assert_int_equal(sibling->x / cluster[0], seat->at[0] / cluster[0]);
        assert_int_equal(sibling->y / cluster[1], seat->at[1] / cluster[1]);
    }
    free(seats.rows);
    return text;
}

static void a_cta_whose_cluster_is_there_has_exited(void **state)
{
    (void)state;
    const uint32_t grid[3] = {4, 2, 1}, pairs[3] = {2, 1, 1}, squares[3] = {2, 2, 1};
    const uint32_t places[][2] = {{3, 1}, {0, 0}, {3, 0}, {2, 1}};
    assert_string_equal(seats_of(grid, pairs, places, 4), "0,0 1,0- 2,0- 3,0 2,1 3,1");
    /* Of a cluster that is not there at all, nothing is said. */
    assert_string_equal(seats_of(grid, squares, places + 2, 2), "2,0- 3,0 2,1 3,1-");
}

static void without_clusters_nobody_is_missed(void **state)
{
    (void)state;
    const uint32_t grid[3] = {4, 1, 1}, none[3] = {1, 1, 1}, places[][2] = {{2, 0}, {0, 0}};
    assert_string_equal(seats_of(grid, none, places, 2), "0,0 2,0");
}

/* The driver may say 1x1x1 for a larger grid. */
static void a_size_that_cannot_be_right_tells_of_no_clusters(void **state)
{
    (void)state;
    const uint32_t wrong[3] = {1, 1, 1}, odd[3] = {3, 1, 1}, pairs[3] = {2, 1, 1}, places[][2] = {{2, 0}};
    assert_string_equal(seats_of(wrong, pairs, places, 1), "2,0");
    assert_string_equal(seats_of(odd, pairs, places, 1), "2,0");
}

/* As a damaged file may have them. */
static void clusters_that_no_hardware_has_are_not_filled_up(void **state)
{
    (void)state;
    const uint32_t grid[3] = {1u << 26, 1, 1}, huge[3] = {1u << 26, 1, 1}, places[][2] = {{5, 0}};
    assert_string_equal(seats_of(grid, huge, places, 1), "5,0");
}

static void ctas_at_one_place_are_all_shown(void **state)
{
    (void)state;
    const uint32_t grid[3] = {2, 1, 1}, pairs[3] = {2, 1, 1}, places[][2] = {{0, 0}, {0, 0}};
    assert_string_equal(seats_of(grid, pairs, places, 2), "0,0 0,0 1,0-");
}

/* ---- what a look makes of it ---- */

static void all_its_warps_have_exited(void **state)
{
    (void)state;
    const struct shape shape = {
        .devices = 1, .ctas_per_device = 4, .warps_per_cta = 3, .cluster_size = 2, .capability = 90};
    struct synthetic *synthetic = synthetic_create(&shape);
    uint32_t warps_seen;
    synthetic->machine.cta_count = 3; /* the last CTA is not there */
    synthetic->machine.warp_count = 9;
    struct wsdbg_snapshot snapshot = synthetic_look(synthetic, &warps_seen);
    assert_int_equal(warps_seen, 9);
    assert_int_equal(snapshot.grids[0].cta_count, 4);
    assert_int_equal(snapshot.grids[0].warps_exited, 3);
    const struct wsdbg_cta *left = &snapshot.ctas[3];
    assert_int_equal(left->x, 3);
    assert_int_equal(left->cluster_rank, 1);
    assert_int_equal(left->cluster_id, snapshot.ctas[2].cluster_id);
    assert_false(left->sm.known);
    assert_int_equal(left->warp_count, 3);
    for (uint32_t w = left->warp_first; w < left->warp_first + 3; w++)
        assert_int_equal(snapshot.warps[w].state, WSDBG_WARP_EXITED);
    wsdbg_snapshot_deinit(&snapshot);
    synthetic_destroy(synthetic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cta_whose_cluster_is_there_has_exited),
        cmocka_unit_test(without_clusters_nobody_is_missed),
        cmocka_unit_test(a_size_that_cannot_be_right_tells_of_no_clusters),
        cmocka_unit_test(clusters_that_no_hardware_has_are_not_filled_up),
        cmocka_unit_test(ctas_at_one_place_are_all_shown),
        cmocka_unit_test(all_its_warps_have_exited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
