/* look_walks_test.c - which CTAs of a grid are walked where the work of a look is limited: a kernel in PTX, whose warps
 * all wait for an mbarrier, runs in two clusters of two CTAs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look.h"
#include "translate/ptx_code.h"

enum { CTAS = 4, CLUSTER = 2, WARPS = 32, THREADS = 32 * WARPS };

/* A walk takes some 4 instructions a round, and must make all of them, as the rounds are the number of arrivals.  The
 * ways may depend on which CTA it is, so that no CTA shares another's.
 */
#define KERNEL(rounds) KERNEL_OF(rounds, "0", "")
/* `own` is executed for each lane in each round, with a number of its own in %r2. */
#define KERNEL_OF(rounds, number, own)                 \
    ".version 8.6\n.target sm_90a\n.address_size 64\n" \
    ".visible .entry kernel()\n{\n"                    \
    ".shared .align 8 .b64 bar;\n"                     \
    ".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"            \
    "mov.u32 %r0, 0;\n"                                \
    "mov.u32 %r2, " number ";\n"                       \
    "AGAIN:\n" own "add.u32 %r0, %r0, 1;\n"            \
    "setp.lt.u32 %p0, %r0, " rounds ";\n"              \
    "@%p0 bra AGAIN;\n"                                \
    "mov.u32 %r1, %ctaid.x;\n"                         \
    "add.u32 %r1, %r1, %r0;\n"                         \
    "setp.eq.u32 %p1, %r2, 77;\n"                      \
    "@%p1 exit;\n"                                     \
    "mbarrier.arrive.shared::cta.b64 _, [bar], %r1;\n" \
    "ret;\n}\n"

static struct wsdbg_error *no_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                       void *out, uint32_t byte_count, bool *known)
{
    (void)machine, (void)grid, (void)bank, (void)offset, (void)out, (void)byte_count;
    *known = false;
    return NULL;
}

static const struct wsdbg_machine_ops ops = {.constant = no_constant};

/* Row `cta` of the grid: both clusters have their first CTA before any has its second one. */
static struct wsdbg_cta cta_at(uint32_t cta)
{
    const uint32_t cluster = cta % (CTAS / CLUSTER), rank = cta / (CTAS / CLUSTER);
    return (struct wsdbg_cta){.x = cluster * CLUSTER + rank,
                              .cluster_id = cluster,
                              .cluster_rank = rank,
                              .cluster_size = CLUSTER,
                              .warp_first = cta * WARPS,
                              .warp_count = WARPS};
}

/* Walks the grid.  walks[cta]: how many of its warps have a walk that is whole.  is_elsewhere: the first warp is seen
 * at a named barrier, which the kernel does not have. */
static void walk(const char *text, bool is_elsewhere, uint32_t walks[CTAS])
{
    struct wsdbg_machine_context context = {0};
    struct wsdbg_machine_module module = {.image = {(const unsigned char *)text, strlen(text)}};
    struct wsdbg_machine_grid launch = {
        .function_entry = wsdbg_ptx_address(0), .grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}};
    struct wsdbg_machine_cta placed[CTAS] = {{0}};
    struct wsdbg_machine machine = {.ops = &ops,
                                    .contexts = &context,
                                    .context_count = 1,
                                    .modules = &module,
                                    .module_count = 1,
                                    .grids = &launch,
                                    .grid_count = 1,
                                    .ctas = placed,
                                    .cta_count = CTAS};
    struct wsdbg_look_source source = {.machine = &machine, .budget = {.walks_ns = WSDBG_WALKS_COUNTED}};
    struct wsdbg_grid grid = {.warps_per_cta = WARPS, .cta_count = CTAS};
    struct wsdbg_cta ctas[CTAS];
    struct wsdbg_look_cta seen_ctas[CTAS];
    static struct wsdbg_warp_row warps[CTAS * WARPS];
    struct wsdbg_part part = {.lanes = UINT32_MAX, .state = WSDBG_WARP_WAIT_NAMED};
    struct wsdbg_barrier barrier = {.kind = WSDBG_BARRIER_NAMED, .id = 3};
    struct wsdbg_snapshot out = {.grids = &grid,
                                 .grid_count = 1,
                                 .ctas = ctas,
                                 .cta_count = CTAS,
                                 .warps = warps,
                                 .warp_count = CTAS * WARPS,
                                 .parts = &part,
                                 .part_count = 1,
                                 .barriers = &barrier,
                                 .barrier_count = 1};
    struct wsdbg_look_grid seen_grid = {0};
    struct wsdbg_look_part seen_part = {0};
    const struct wsdbg_look_seen seen = {
        .machine = &machine, .grids = &seen_grid, .ctas = seen_ctas, .parts = &seen_part};
    struct wsdbg_look_tables tables = {.out = &out};
    const uint32_t access_first = 0;
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        ctas[cta] = cta_at(cta);
        seen_ctas[cta] = (struct wsdbg_look_cta){.machine = cta, .sibling = cta};
        walks[cta] = 0;
    }
    for (uint32_t w = 0; w < CTAS * WARPS; w++)
        warps[w] = (struct wsdbg_warp_row){.cta = w / WARPS, .warp = w % WARPS, .state = WSDBG_WARP_WAIT_MBARRIER};
    warps[0].part_count = is_elsewhere;
    assert_null(wsdbg_code_create(&source.code));
    wsdbg_code_begin(source.code);
    assert_null(wsdbg_code_kernel(source.code, &machine, 0, &seen_grid.kernel));
    assert_non_null(seen_grid.kernel);
    assert_null(wsdbg_look_walks(&source, &seen, &access_first, &tables));
    for (size_t i = 0; i < out.walk_count; i++)
        walks[warps[out.walks[i].warp].cta] += out.walks[i].is_whole;
    free(out.walks);
    free(out.steps);
    wsdbg_code_destroy(source.code);
}

/* A cluster that is walked in part shows nothing. */
static void where_the_work_is_too_much_whole_clusters_are_walked(void **state)
{
    static const struct {
        const char *name, *text;
        uint32_t walks[CTAS];
    } grids[] = {
        {"work for four CTAs", KERNEL("100"), {WARPS, WARPS, WARPS, WARPS}},
        {"work for two CTAs", KERNEL("26000"), {WARPS, 0, WARPS, 0}},
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        uint32_t walks[CTAS];
        print_message("%s\n", grids[i].name);
        walk(grids[i].text, false, walks);
        for (uint32_t cta = 0; cta < CTAS; cta++)
            assert_int_equal(walks[cta], grids[i].walks[cta]);
    }
    (void)state;
}

/* Each lane has numbers of its own for 4000 rounds: that is no longer way than one of lanes that have the same. */
static void numbers_of_its_own_make_no_way_longer(void **state)
{
    uint32_t walks[CTAS];
    walk(KERNEL_OF("4000", "%laneid", "mad.lo.u32 %r2, %r2, 5, 2;\n"), false, walks);
    assert_int_equal(walks[0], WARPS);
    (void)state;
}

/* Nobody knows then which word was read wrongly, so no walk of the CTA is believed. */
static void walks_that_leave_out_where_a_warp_stands_are_not_whole(void **state)
{
    uint32_t walks[CTAS];
    walk(KERNEL("100"), true, walks);
    assert_int_equal(walks[0], 0);
    assert_int_equal(walks[1], WARPS);
    (void)state;
}

/* ---- walks that may be led ---- */

/* Lane 0 of a warp is known to its end, lane 1 is lost. */
static void who_is_lost_and_still_there_may_be_led(void **state)
{
    struct wsdbg_walk_row rows[] = {{.lanes = 1, .is_whole = true}, {.lanes = 2}};
    struct wsdbg_warp_row warp = {.part_count = 1};
    struct wsdbg_part part = {.lanes = 1};
    const struct wsdbg_snapshot out = {.walks = rows, .walk_count = 2, .warps = &warp, .parts = &part};
    (void)state;
    assert_false(wsdbg_look_walks_are_lost(&out, 0));
    assert_int_equal(wsdbg_look_walks_whole(&out, 0, 2), 1);
    part.lanes = 3;
    assert_true(wsdbg_look_walks_are_lost(&out, 0));
    rows[1].is_whole = true;
    assert_false(wsdbg_look_walks_are_lost(&out, 0));
    assert_int_equal(wsdbg_look_walks_whole(&out, 0, 2), 2);
}

/* A walk that is whole and leaves out the wait in which its warp stands is no better than one that is lost. */
static void walks_that_fit_are_better(void **state)
{
    enum { ELSEWHERE = 0x10, THERE = 0x20 };
    static struct wsdbg_step_row steps[] = {{.kind = WSDBG_ACCESS_WAIT, .address = ELSEWHERE},
                                            {.kind = WSDBG_ACCESS_WAIT, .address = THERE}};
    static const struct {
        uint32_t step[2]; /* of the first walk, of the second */
        bool is_whole[2], is_better;
    } rows[] = {{{0, 1}, {true, true}, true},  {{1, 1}, {true, true}, false}, {{1, 0}, {true, true}, false},
                {{1, 1}, {false, true}, true}, {{0, 1}, {true, false}, true}, {{1, 0}, {false, true}, false},
                {{1, 1}, {true, false}, false}};
    struct wsdbg_warp_row warp = {.part_count = 1};
    struct wsdbg_part part = {.lanes = 1, .state = WSDBG_WARP_WAIT_MBARRIER};
    struct wsdbg_barrier barrier = {.kind = WSDBG_BARRIER_MBARRIER, .shared_offset = wsdbg_known_u32(THERE)};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_walk_row walks[2];
        for (unsigned k = 0; k < 2; k++)
            walks[k] = (struct wsdbg_walk_row){
                .lanes = 1, .step_first = rows[i].step[k], .step_count = 1, .is_whole = rows[i].is_whole[k]};
        const struct wsdbg_snapshot out = {.walks = walks,
                                           .walk_count = 2,
                                           .steps = steps,
                                           .warps = &warp,
                                           .parts = &part,
                                           .barriers = &barrier,
                                           .barrier_count = 1};
        assert_int_equal(wsdbg_look_walks_are_better(&out, 0, 1), rows[i].is_better);
    }
}

/* Walks that were led to one place are none of a CTA whose lanes stand elsewhere. */
static void ctas_share_walks_only_where_they_stand_alike(void **state)
{
    static const struct {
        uint32_t lanes, instruction;
        bool is_alike;
    } rows[] = {{1, 7, true}, {3, 7, false}, {1, 8, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_cta ctas[] = {{.warp_count = 1}, {.warp_first = 1, .warp_count = 1}};
        struct wsdbg_warp_row warps[] = {{.part_count = 1}, {.part_first = 1, .part_count = 1}};
        struct wsdbg_part parts[] = {{.lanes = 1}, {.warp = 1, .lanes = rows[i].lanes}};
        struct wsdbg_look_part places[] = {{.place = {.instruction = 7}},
                                           {.place = {.instruction = rows[i].instruction}}};
        const struct wsdbg_snapshot out = {.ctas = ctas, .warps = warps, .parts = parts};
        const struct wsdbg_look_seen seen = {.parts = places};
        assert_int_equal(wsdbg_look_walks_stand_alike(&seen, &out, 0, 1), rows[i].is_alike);
        assert_int_equal(wsdbg_look_walks_place(&seen, &out, NULL, 0, 0), 8);
        assert_int_equal(wsdbg_look_walks_place(&seen, &out, NULL, 0, 5), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_the_work_is_too_much_whole_clusters_are_walked),
        cmocka_unit_test(numbers_of_its_own_make_no_way_longer),
        cmocka_unit_test(walks_that_leave_out_where_a_warp_stands_are_not_whole),
        cmocka_unit_test(who_is_lost_and_still_there_may_be_led),
        cmocka_unit_test(walks_that_fit_are_better),
        cmocka_unit_test(ctas_share_walks_only_where_they_stand_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
