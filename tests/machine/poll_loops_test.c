/* poll_loops_test.c - which loops of compiled kernels poll memory: those of polls.cu, by their names.
 *
 * Reads the cubin that nvcc makes of polls.cu.  A loop that polls does so wherever in it a warp stands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/time_limit.h"
#include "machine/wait_site.h"
#include "sass/cubin.h"
#include "sass/follow.h"

static const struct row {
    const char *kernel;
    const char *load; /* that is waited for, the beginning of its text behind a guard; NULL: it polls nothing */
    int word_offset, word_bytes;
    bool is_shared;
} rows[] = {
    {"poll_marked_lines", "LDG.E.128.STRONG.SYS", 4, 4, false},
    {"poll_pairs_together", "LDG.E.128.STRONG.SYS", 8, 8, false},
    {"poll_step", "LDG.E.64.STRONG.SYS", 0, 0, false},
    {"poll_step_of_several", "LDG.E.64.STRONG.SYS", 0, 0, false},
    {"poll_behind_check", "LDG.E.STRONG.SYS", 0, 0, false},
    {"poll_through_table", "LDG.E.STRONG.SYS", 0, 0, false},
    {"poll_shared", "LDS", 0, 0, true},
    {"poll_shared_by_atomics", "ATOMS", 0, 0, true},
    {"work_on_lines", NULL, 0, 0, false},
    {"work_along_chain", NULL, 0, 0, false},
    {"work_along_chain_in_shared", NULL, 0, 0, false},
    {"work_up_to_bound", NULL, 0, 0, false},
};

static struct wsdbg_cubin *open_cubin(char **bytes)
{
    struct wsdbg_cubin *cubin;
    struct wsdbg_image image = {0};
    FILE *file = fopen(WSDBG_POLLS, "rb");
    assert_non_null(file);
    *bytes = malloc(1 << 20);
    assert_non_null(*bytes);
    image.bytes = (unsigned char *)*bytes;
    image.byte_count = fread(*bytes, 1, 1 << 20, file);
    fclose(file);
    assert_null(wsdbg_cubin_open(&image, &cubin));
    return cubin;
}

static const struct wsdbg_cubin_function *kernel_named(const struct wsdbg_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (strcmp(wsdbg_cubin_function(cubin, i)->name, name) == 0)
            return wsdbg_cubin_function(cubin, i);
    fail_msg("no kernel %s", name);
    return NULL;
}

static uint32_t loop_of(const struct wsdbg_graph *graph, uint32_t instruction)
{
    return wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, instruction))->loop;
}

/* The first place at which the kernel polls. */
static bool find_poll(const struct wsdbg_graph *graph, struct wsdbg_wait_site *site)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        assert_null(wsdbg_wait_site_find(graph, i, site));
        if (wsdbg_warp_state_polls(site->state))
            return true;
    }
    return false;
}

static void check_load(const struct row *row, const struct wsdbg_graph *graph, const struct wsdbg_wait_site *site)
{
    char text[WSDBG_INSTRUCTION_TEXT_BYTES];
    wsdbg_instruction_text(wsdbg_graph_instruction(graph, site->instruction), 0, text);
    const char *plain = *text == '@' ? strchr(text, ' ') + 1 : text;
    if (strncmp(plain, row->load, strlen(row->load)) != 0)
        fail_msg("%s polls by %s", row->kernel, text);
    assert_int_equal(site->state, row->is_shared ? WSDBG_WARP_SPIN_SHARED : WSDBG_WARP_SPIN_GLOBAL);
    assert_int_equal(site->word_offset, row->word_offset);
    assert_int_equal(site->word_bytes, row->word_bytes);
}

static void check_all_places(const struct row *row, const struct wsdbg_graph *graph, const struct wsdbg_wait_site *poll)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        struct wsdbg_wait_site site;
        if (loop_of(graph, i) != loop_of(graph, poll->instruction))
            continue;
        assert_null(wsdbg_wait_site_find(graph, i, &site));
        if (site.state != poll->state || site.instruction != poll->instruction || site.home != poll->home)
            fail_msg("%s: not at +0x%x", row->kernel, i * WSDBG_INSTRUCTION_BYTES);
    }
}

static void check(const struct row *row, const struct wsdbg_cubin *cubin)
{
    struct wsdbg_graph *graph;
    struct wsdbg_wait_site site;
    assert_null(wsdbg_graph_create_of_function(kernel_named(cubin, row->kernel), &graph));
    const bool polls = find_poll(graph, &site);
    if (polls != (row->load != NULL))
        fail_msg("%s %s", row->kernel, polls ? "polls" : "does not poll");
    if (polls) {
        check_load(row, graph, &site);
        check_all_places(row, graph, &site);
    }
    wsdbg_graph_destroy(graph);
}

static void loops_that_only_look_poll_and_loops_that_work_do_not(void **state)
{
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], cubin);
    wsdbg_cubin_close(cubin);
    free(bytes);
}

/* The state at the last instruction in a loop of the kernel whose text has `name`. */
static void check_last(const struct wsdbg_cubin *cubin, const char *kernel, const char *name,
                       enum wsdbg_warp_state expected)
{
    struct wsdbg_graph *graph;
    unsigned last = 0;
    assert_null(wsdbg_graph_create_of_function(kernel_named(cubin, kernel), &graph));
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        char text[WSDBG_INSTRUCTION_TEXT_BYTES];
        struct wsdbg_wait_site site;
        wsdbg_instruction_text(wsdbg_graph_instruction(graph, i), 0, text);
        if (loop_of(graph, i) == WSDBG_GRAPH_NONE || !strstr(text, name))
            continue;
        assert_null(wsdbg_wait_site_find(graph, i, &site));
        last = site.state;
    }
    wsdbg_graph_destroy(graph);
    if (last != expected)
        fail_msg("%s: %s at the last %s", kernel, wsdbg_warp_state_name((enum wsdbg_warp_state)last), name);
}

static void a_loop_that_polls_may_lie_in_another_and_may_pause(void **state)
{
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    (void)state;
    check_last(cubin, "poll_each_round", "LDG", WSDBG_WARP_SPIN_GLOBAL);
    check_last(cubin, "poll_each_round", "STG", WSDBG_WARP_RUNNING);
    check_last(cubin, "poll_with_pauses", "LDG", WSDBG_WARP_SPIN_GLOBAL);
    check_last(cubin, "poll_with_pauses", "CLOCKLO", WSDBG_WARP_SPIN_GLOBAL);
    check_last(cubin, "poll_for_some_time", "LDG", WSDBG_WARP_SPIN_GLOBAL);
    check_last(cubin, "poll_for_some_time", "CLOCKLO", WSDBG_WARP_SPIN_GLOBAL);
    check_last(cubin, "work_each_round", "LDG", WSDBG_WARP_RUNNING);
    wsdbg_cubin_close(cubin);
    free(bytes);
}

static void a_poll_may_have_a_time_limit(void **state)
{
    static const struct {
        const char *kernel;
        bool has_limit;
    } polls[] = {{"poll_for_some_time", true}, {"poll_or_trap", true},      {"poll_with_deadline", true},
                 {"poll_step", false},         {"poll_with_pauses", false}, {"poll_shared", false}};
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    (void)state;
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++) {
        struct wsdbg_graph *graph;
        struct wsdbg_wait_site site;
        assert_null(wsdbg_graph_create_of_function(kernel_named(cubin, polls[i].kernel), &graph));
        if (!find_poll(graph, &site) || site.has_limit != polls[i].has_limit)
            fail_msg("%s: state %d, limit %d", polls[i].kernel, (int)site.state, site.has_limit);
        wsdbg_graph_destroy(graph);
    }
    wsdbg_cubin_close(cubin);
    free(bytes);
}

/* Constants of a launch whose second parameter, of 64 bits, is `limit`. */
static bool constant_of(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    enum { PARAMETERS = 0x210, LIMIT = PARAMETERS + 8 };
    const uint64_t *limit = context;
    *value = offset_bytes == LIMIT ? (uint32_t)*limit : offset_bytes == LIMIT + 4 ? (uint32_t)(*limit >> 32) : 64;
    return bank == 0;
}

static bool nothing_special(void *context, uint32_t number, uint32_t *value)
{
    (void)context, (void)number, (void)value;
    return false;
}

/* The first place of the kernel in a loop with a time limit. */
static uint32_t limited_place(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        struct wsdbg_wait_site site;
        assert_null(wsdbg_wait_site_find(graph, i, &site));
        if (site.has_limit) {
            assert_int_equal(site.state, WSDBG_WARP_SPIN_GLOBAL);
            return i;
        }
    }
    fail_msg("no loop has a time limit");
    return 0;
}

/* Whether the limit may count for a thread that came to the place from the kernel's start. */
static bool may_count(const struct wsdbg_cubin *cubin, const char *kernel, uint64_t limit)
{
    struct wsdbg_graph *graph;
    struct wsdbg_follow *follow;
    struct wsdbg_loop loop;
    bool found, counts;
    const struct wsdbg_thread_world world = {.context = &limit, .constant = constant_of, .special = nothing_special};
    const struct wsdbg_thread_state nothing = {.known = {false}};
    struct wsdbg_thread_state state;
    assert_null(wsdbg_graph_create_of_function(kernel_named(cubin, kernel), &graph));
    const uint32_t place = limited_place(graph);
    const struct wsdbg_follow_start start = {.graph = graph, .state = &nothing, .world = world};
    assert_null(wsdbg_follow_create(&start, &follow));
    assert_true(wsdbg_follow_at(follow, place, &state));
    assert_null(wsdbg_loop_around(graph, place, &loop, &found));
    assert_true(found);
    assert_null(wsdbg_time_limit_may_count(&loop, place, &state, &world, &counts));
    free(loop.body);
    wsdbg_follow_destroy(follow);
    wsdbg_graph_destroy(graph);
    return counts;
}

static void a_time_limit_that_the_program_left_out_does_not_count(void **state)
{
    static const char *const kernels[] = {"poll_with_deadline", "poll_up_to_limit"};
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (may_count(cubin, kernels[i], 0))
            fail_msg("%s: no limit counts", kernels[i]);
        if (!may_count(cubin, kernels[i], 5000))
            fail_msg("%s: a limit does not count", kernels[i]);
    }
    wsdbg_cubin_close(cubin);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_only_look_poll_and_loops_that_work_do_not),
        cmocka_unit_test(a_loop_that_polls_may_lie_in_another_and_may_pause),
        cmocka_unit_test(a_poll_may_have_a_time_limit),
        cmocka_unit_test(a_time_limit_that_the_program_left_out_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
