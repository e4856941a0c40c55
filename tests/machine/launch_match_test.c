/* launch_match_test.c - which launch a grid came from that was seen on the GPU, and never a guess. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "machine/interpret.h"
#include "machine/launch_match.h"
#include "synthetic.h"
#include "wsdbg/session.h"

enum { STEP, OTHER }; /* functions */

/* One context whose launches are written by each test, and a grid of 2 x 3 CTAs of 96 threads of STEP on it. */
struct scene {
    struct wsdbg_snapshot snapshot;
    struct wsdbg_context context;
    struct wsdbg_function functions[2];
    struct wsdbg_launch launches[8];
    struct wsdbg_graph_kernel kernels[4];
    struct wsdbg_cta ctas[6];
    struct wsdbg_grid grid;
};

static struct scene *scene(void)
{
    static struct scene s;
    s = (struct scene){
        .context = {.process_id = 7, .alive = true},
        .grid = {.function = STEP, .cta_total = 6, .size = {2, 3, 1}, .block = {96, 1, 1}, .cta_count = 6},
    };
    for (uint32_t i = 0; i < 6; i++)
        s.ctas[i] = (struct wsdbg_cta){.x = i % 2, .y = i / 2};
    s.snapshot = (struct wsdbg_snapshot){.contexts = &s.context,
                                         .context_count = 1,
                                         .functions = s.functions,
                                         .function_count = 2,
                                         .launches = s.launches,
                                         .graph_kernels = s.kernels,
                                         .ctas = s.ctas,
                                         .cta_count = 6};
    return &s;
}

/* The driver (580) gives every cooperative grid one CTA. */
static void size_as_of_a_cooperative_grid(struct scene *s)
{
    memset(s->grid.size, 0, sizeof s->grid.size);
    s->grid.cta_total = 0;
}

static struct wsdbg_launch *launch(struct scene *s, uint32_t function, uint32_t x, uint32_t y, uint32_t flags)
{
    const size_t number = s->snapshot.launch_count++;
    s->launches[number] = (struct wsdbg_launch){.process_id = 7,
                                                .sequence = number,
                                                .function = function,
                                                .grid = {x, y, 1},
                                                .block = {96, 1, 1},
                                                .flags = flags};
    return &s->launches[number];
}

static void graph_launch(struct scene *s, uint32_t graph, uint32_t flags)
{
    struct wsdbg_launch *row = launch(s, WSDBG_NONE, 0, 0, WSDBG_LAUNCH_GRAPH | flags);
    memset(row->block, 0, sizeof row->block);
    row->graph = graph;
}

static void node(struct scene *s, uint32_t graph, uint32_t function, uint32_t x, uint32_t y)
{
    s->kernels[s->snapshot.graph_kernel_count++] = (struct wsdbg_graph_kernel){
        .process_id = 7, .graph = graph, .function = function, .grid = {x, y, 1}, .block = {96, 1, 1}};
}

static uint32_t found(struct scene *s)
{
    wsdbg_find_launch(&s->snapshot, &s->grid);
    return s->grid.launch;
}

static void the_only_launch_of_kernel_and_shape(void **state)
{
    struct scene *s = scene();
    (void)state;
    launch(s, OTHER, 2, 3, 0);
    launch(s, STEP, 3, 2, 0); /* as many CTAs, in another shape */
    launch(s, STEP, 2, 3, 0);
    launch(s, STEP, 2, 3, 0)->result = 1;
    launch(s, STEP, 2, 3, WSDBG_LAUNCH_CAPTURED);
    assert_int_equal(found(s), 2);
}

static void of_several_the_one_that_is_not_done(void **state)
{
    struct scene *s = scene();
    (void)state;
    for (int i = 0; i < 3; i++)
        launch(s, STEP, 2, 3, 0);
    assert_int_equal(found(s), WSDBG_NONE);
    s->context.done_launches = wsdbg_known_u64(2);
    assert_int_equal(found(s), 2);
}

static void launches_that_left_the_table_may_be_the_one(void **state)
{
    struct scene *s = scene();
    (void)state;
    launch(s, STEP, 2, 3, 0)->sequence = 5000;
    assert_int_equal(found(s), WSDBG_NONE);
    s->context.done_launches = wsdbg_known_u64(5000);
    assert_int_equal(found(s), 0);
}

static void a_cooperative_grid_has_the_size_of_its_launch(void **state)
{
    struct scene *s = scene();
    (void)state;
    size_as_of_a_cooperative_grid(s);
    launch(s, STEP, 1, 3, 0); /* CTA (1,0,0) was seen */
    launch(s, STEP, 22, 6, WSDBG_LAUNCH_COOPERATIVE);
    assert_int_equal(found(s), 1);
    assert_int_equal(s->grid.cta_total, 132);
    assert_int_equal(s->grid.size[0], 22);
}

static void one_cta_left_of_a_cooperative_grid(void **state)
{
    struct scene *s = scene();
    (void)state;
    s->grid.cta_total = s->grid.cta_count = s->grid.size[0] = s->grid.size[1] = s->grid.size[2] = 1;
    launch(s, STEP, 22, 6, 0);
    assert_int_equal(found(s), WSDBG_NONE); /* what is not cooperative has the size that the GPU says */
    launch(s, STEP, 22, 6, WSDBG_LAUNCH_COOPERATIVE);
    assert_int_equal(found(s), 1);
    assert_int_equal(s->grid.cta_total, 132);
}

static void a_grid_of_a_graph_belongs_to_the_graph_s_launch(void **state)
{
    struct scene *s = scene();
    (void)state;
    node(s, 4, OTHER, 2, 3);
    node(s, 4, STEP, 2, 3);
    node(s, 5, STEP, 4, 3);
    graph_launch(s, 5, 0);
    graph_launch(s, 4, 0);
    assert_int_equal(found(s), 1);
    const struct wsdbg_launch *row = &s->launches[1];
    assert_int_equal(row->function, STEP);
    assert_memory_equal(row->grid, ((uint32_t[]){2, 3, 1}), 12);
    assert_memory_equal(row->block, ((uint32_t[]){96, 1, 1}), 12);
    assert_int_equal(s->launches[0].function, WSDBG_NONE);
}

static void a_graph_that_may_hold_anything_leaves_it_open(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct scene *s = scene();
        node(s, 4, kind == 2 ? WSDBG_NONE : OTHER, 2, 3);
        launch(s, STEP, 2, 3, 0);
        if (kind == 0)
            graph_launch(s, 0, 0);
        else
            graph_launch(s, 4, kind == 1 ? WSDBG_LAUNCH_GRAPH_PARTLY : 0);
        assert_int_equal(found(s), WSDBG_NONE);
        s->snapshot.launch_count = 1;
        assert_int_equal(found(s), 0);
    }
}

static void the_cluster_that_a_kernel_was_compiled_for(void **state)
{
    struct scene *s = scene();
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        s->grid.cluster[axis] = wsdbg_known_u32(axis == 0 ? 2 : 1);
    launch(s, STEP, 2, 3, 0)->cluster[0] = wsdbg_known_u32(1); /* launched with another one */
    launch(s, STEP, 2, 3, 0);
    assert_int_equal(found(s), 1);
    assert_true(s->launches[1].cluster[0].known);
    assert_int_equal(s->launches[1].cluster[0].value, 2);
}

/* A size that a CTA contradicts is not known; a smaller number than were seen is never said. */
static void a_size_that_the_ctas_contradict_is_not_known(void **state)
{
    const struct shape shape = {
        .devices = 1, .ctas_per_device = 3, .warps_per_cta = 1, .cluster_size = 1, .capability = 90};
    (void)state;
    for (int believed = 0; believed < 2; believed++) {
        struct synthetic *synthetic = synthetic_create(&shape);
        if (!believed)
            memcpy(synthetic->machine.grids[0].grid, ((uint32_t[]){1, 1, 1}), 12);
        struct wsdbg_snapshot snapshot = synthetic_look(synthetic, NULL);
        assert_int_equal(snapshot.grids[0].cta_count, 3);
        assert_int_equal(snapshot.grids[0].cta_total, believed ? 3 : 0);
        wsdbg_snapshot_deinit(&snapshot);
        synthetic_destroy(synthetic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_launch_of_kernel_and_shape),
        cmocka_unit_test(of_several_the_one_that_is_not_done),
        cmocka_unit_test(launches_that_left_the_table_may_be_the_one),
        cmocka_unit_test(a_cooperative_grid_has_the_size_of_its_launch),
        cmocka_unit_test(one_cta_left_of_a_cooperative_grid),
        cmocka_unit_test(a_grid_of_a_graph_belongs_to_the_graph_s_launch),
        cmocka_unit_test(a_graph_that_may_hold_anything_leaves_it_open),
        cmocka_unit_test(the_cluster_that_a_kernel_was_compiled_for),
        cmocka_unit_test(a_size_that_the_ctas_contradict_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
