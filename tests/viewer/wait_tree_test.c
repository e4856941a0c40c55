/* The wait-for graph as a tree: what stands below what, where a cycle closes, what is not known. */
#include "store/example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/wait_tree.h"

/* The tree as text, a line for each of its lines: depth blanks, a letter for the kind, the first warp of the group. */
static const char *tree_text(const struct example *example, bool verdict, const struct viewer_filter *filter)
{
    static char text[4096];
    static const struct viewer_filter everything;
    static const char letters[] = {'n', 'b', '<', '^', '?'};
    const struct viewer_picture picture = {.snapshot = &example->snapshot,
                                           .diagnosis = verdict ? &example->diagnosis : NULL};
    const struct viewer_context context = {.picture = &picture, .filter = filter ? filter : &everything};
    struct viewer_wait_tree tree = {0};
    size_t used = 0;
    text[0] = '\0';
    example_ok(viewer_wait_tree_read(&context, &tree));
    for (size_t i = 0; i < tree.count; i++) {
        const struct viewer_wait_line *line = &tree.lines[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%*s%c", line->depth, "", letters[line->kind]);
        if (line->node != WSDBG_NONE)
            used += (size_t)snprintf(text + used, sizeof text - used, "%u",
                                     example->snapshot.warps[tree.graph.warp_sources[line->node]].warp);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", line->in_cycle ? "*" : "");
    }
    viewer_wait_tree_deinit(&tree);
    return text;
}

static void set_edges(struct example *example, const struct wsdbg_edge *edges, size_t count)
{
    free(example->diagnosis.edges);
    example->diagnosis.edges = malloc(count * sizeof *edges);
    assert_non_null(example->diagnosis.edges);
    memcpy(example->diagnosis.edges, edges, count * sizeof *edges);
    example->diagnosis.edge_count = count;
}

/* Warps 0-3 wait on `empty` for warps 4-11, those on `full` for warp 0. */
static void a_cycle_is_closed_with_a_line_back(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 3, 1);
    const uint32_t barrier = example.snapshot.warps[0].barrier, other = example.snapshot.warps[4].barrier;
    const struct wsdbg_edge edges[] = {{0, barrier, 4, true, "declared"}, {4, other, 0, true, "declared"}};
    set_edges(&example, edges, 2);
    assert_string_equal(tree_text(&example, true, NULL), "n0*\n"
                                                         " b0*\n"
                                                         "  n4*\n"
                                                         "   b4*\n"
                                                         "    <0*\n");
    example_free(&example);
}

static void a_waker_that_does_not_wait_ends_its_branch(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 1, 1);
    for (uint32_t w = 4; w < 12; w++)
        example.snapshot.warps[w].state = WSDBG_WARP_RUNNING;
    const struct wsdbg_edge edges[] = {{0, example.snapshot.warps[0].barrier, 4, false, "declared"}};
    set_edges(&example, edges, 1);
    assert_string_equal(tree_text(&example, true, NULL), "n0\n"
                                                         " b0\n"
                                                         "  n4\n");
    example_free(&example);
}

static void nobody_known_is_said(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 1, 1);
    const struct wsdbg_edge edges[] = {{0, example.snapshot.warps[0].barrier, WSDBG_NONE, false, "nobody known"}};
    set_edges(&example, edges, 1);
    assert_string_equal(tree_text(&example, true, NULL), "n0\n"
                                                         " b0\n"
                                                         "  ?\n"
                                                         "n4\n" /* no edge speaks of it: nobody is known either */
                                                         " b4\n"
                                                         "  ?\n");
    example_free(&example);
}

static void before_a_verdict_there_are_only_waits(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 2, 1);
    assert_string_equal(tree_text(&example, false, NULL), "n0\n"
                                                          " b0\n"
                                                          "n4\n"
                                                          " b4\n");
    example_free(&example);
}

static void who_nobody_waits_for_comes_first(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 1, 1);
    const struct wsdbg_edge edges[] = {{4, example.snapshot.warps[4].barrier, 0, false, "declared"},
                                       {0, example.snapshot.warps[0].barrier, WSDBG_NONE, false, "nobody known"}};
    set_edges(&example, edges, 2);
    assert_string_equal(tree_text(&example, true, NULL), "n4\n"
                                                         " b4\n"
                                                         "  n0\n"
                                                         "   b0\n"
                                                         "    ?\n");
    example_free(&example);
}

static void a_filter_hides_roots_and_keeps_their_wakers(void **state)
{
    (void)state;
    struct example example;
    struct viewer_filter filter = {.role = "producer"};
    example_hang(&example, 1, 1);
    const struct wsdbg_edge edges[] = {{0, example.snapshot.warps[0].barrier, 4, false, "declared"}};
    set_edges(&example, edges, 1);
    assert_string_equal(tree_text(&example, true, &filter), "n0\n"
                                                            " b0\n"
                                                            "  n4\n"
                                                            "   b4\n"
                                                            "    ?\n");
    example_free(&example);
}

static void without_a_snapshot_there_is_nothing(void **state)
{
    (void)state;
    static const struct viewer_filter everything;
    const struct viewer_picture picture = {0};
    const struct viewer_context context = {.picture = &picture, .filter = &everything};
    struct viewer_wait_tree tree = {0};
    example_ok(viewer_wait_tree_read(&context, &tree));
    assert_int_equal(tree.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_is_closed_with_a_line_back),
        cmocka_unit_test(a_waker_that_does_not_wait_ends_its_branch),
        cmocka_unit_test(nobody_known_is_said),
        cmocka_unit_test(before_a_verdict_there_are_only_waits),
        cmocka_unit_test(who_nobody_waits_for_comes_first),
        cmocka_unit_test(a_filter_hides_roots_and_keeps_their_wakers),
        cmocka_unit_test(without_a_snapshot_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
