/* spin_debug_test.c - lanes of a build without optimisation that are followed round their waits: kernels of
 * debug_waits.cu, executed from their start with memory of this test.
 *
 * Reads the cubin that nvcc makes of debug_waits.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/spin_run.h"
#include "machine/spin.h"
#include "placed_cubin.h"

#define MEMORY UINT64_C(0x700000000) /* the address of the words below */
#define WINDOW UINT64_C(0x7f2100000000)
enum {
    WORDS = 16,
    BARRIERS = 4,
    PARAMETERS = 0x210,
    STACK = 0x28,
    WINDOW_AT = 0x20,
    STACK_AT = 0xfffc00,
    SHARED_AT = 0x400
};

struct launch {
    uint32_t words[WORDS];
    uint32_t variable;
    uint64_t barriers[BARRIERS]; /* in shared memory, where the program's begins */
    uint64_t parameters[3];
    const struct spin_run *run;
};

static bool constant_of(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const struct launch *launch = context;
    const uint32_t at = offset_bytes - PARAMETERS;
    *value = offset_bytes == STACK           ? STACK_AT
             : offset_bytes == WINDOW_AT     ? (uint32_t)(WINDOW - (1 << 24))
             : offset_bytes == WINDOW_AT + 4 ? (uint32_t)((WINDOW - (1 << 24)) >> 32)
                                             : 0;
    if (bank == 0 && at < sizeof launch->parameters)
        memcpy(value, (const char *)launch->parameters + at, sizeof *value);
    return bank == 0;
}

/* All but the clock.  The window of shared memory is behind that of local memory. */
static bool special_of(void *context, uint32_t number, uint32_t *value)
{
    enum { WINDOW_HIGH = 47 };
    (void)context;
    *value = number == WINDOW_HIGH ? (uint32_t)(WINDOW >> 32) : 0;
    return number < 0x50 || number > 0x53;
}

static bool word_of(const void *words, size_t byte_count, uint64_t at, uint32_t *value)
{
    if (at > byte_count - sizeof *value)
        return false;
    memcpy(value, (const char *)words + at, sizeof *value);
    return true;
}

static bool global_of(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    const struct launch *launch = context;
    (void)is_generic;
    return word_of(launch->words, sizeof launch->words, address - MEMORY, value) ||
           word_of(&launch->variable, sizeof launch->variable, address - PLACED_VARIABLES_AT, value);
}

static bool shared_of(void *context, uint32_t address, uint32_t *value)
{
    const struct launch *launch = context;
    return word_of(launch->barriers, sizeof launch->barriers, address - (uint64_t)SHARED_AT, value);
}

static bool local_of(void *context, uint32_t address, uint32_t *value)
{
    (void)context, (void)address, (void)value;
    return false;
}

static struct wsdbg_thread_world world_of(struct launch *launch)
{
    return (struct wsdbg_thread_world){.context = launch,
                                       .constant = constant_of,
                                       .special = special_of,
                                       .global = global_of,
                                       .shared = shared_of,
                                       .local = local_of};
}

/* ---- the code ---- */

static struct wsdbg_image image;
static struct wsdbg_cubin *cubin;

static const struct wsdbg_cubin_function *function_at(void *context, uint64_t address)
{
    (void)context;
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (wsdbg_cubin_function(cubin, i)->address == address)
            return wsdbg_cubin_function(cubin, i);
    return NULL;
}

static struct wsdbg_joined *joined_of(const char *kernel)
{
    static const struct wsdbg_joined_module module = {NULL, function_at};
    struct wsdbg_joined *joined = NULL;
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (strcmp(wsdbg_cubin_function(cubin, i)->name, kernel) == 0)
            assert_null(wsdbg_joined_create(wsdbg_cubin_function(cubin, i), &module, &joined));
    if (!joined)
        fail_msg("%s is not joined", kernel);
    return joined;
}

static int open_code(void **state)
{
    (void)state;
    image = placed_cubin_read(WSDBG_DEBUG_WAITS);
    assert_null(wsdbg_cubin_open(&image, &cubin));
    return 0;
}

static int close_code(void **state)
{
    (void)state;
    wsdbg_cubin_close(cubin);
    free((void *)image.bytes);
    return 0;
}

/* A lane that begins the kernel. */
static bool spins(const char *kernel, struct launch *launch, struct wsdbg_spin *spin)
{
    static const struct wsdbg_thread_state nothing;
    const struct wsdbg_thread_world world = world_of(launch);
    struct wsdbg_joined *joined = joined_of(kernel);
    struct wsdbg_spin_code code = {.graph = joined->graph, .joined = joined};
    const bool found = wsdbg_spin_find(&code, (struct wsdbg_spin_place){0, 0}, &nothing, &world, spin);
    if (found && spin->is_test)
        assert_int_equal(wsdbg_graph_instruction(joined->graph, spin->load)->operation, WSDBG_OP_SYNCS_PHASECHK);
    wsdbg_spin_code_deinit(&code);
    wsdbg_joined_destroy(joined);
    return found;
}

/* ---- what is found ---- */

static void a_poll_through_functions_is_one(void **state)
{
    struct launch launch = {.words = {[5] = 3}, .parameters = {MEMORY, 5}};
    struct wsdbg_spin spin;
    (void)state;
    assert_true(spins("poll_word", &launch, &spin));
    assert_false(spin.is_test || spin.is_shared || spin.may_time_out);
    assert_int_equal(spin.address, MEMORY + 5 * sizeof *launch.words);
    assert_int_equal(spin.value, 3);
    launch.words[5] = 7;
    assert_false(spins("poll_word", &launch, &spin));
}

static void the_address_of_a_variable_is_a_number(void **state)
{
    struct launch launch = {.variable = 3};
    struct wsdbg_spin spin;
    (void)state;
    assert_true(spins("poll_variable", &launch, &spin));
    assert_int_equal(spin.address, PLACED_VARIABLES_AT);
}

/* A word that nobody knows. */
static void what_decides_must_be_known(void **state)
{
    struct launch launch = {.parameters = {MEMORY, WORDS}};
    struct wsdbg_spin spin;
    (void)state;
    assert_false(spins("poll_word", &launch, &spin));
}

static void a_lane_that_others_see_does_not_spin(void **state)
{
    struct launch launch = {.parameters = {MEMORY, 5, MEMORY + 32}};
    struct wsdbg_spin spin;
    (void)state;
    assert_false(spins("poll_word_and_count", &launch, &spin));
}

static void check_wait(const char *kernel)
{
    /* Parameters: stage 2, parity 1; the barrier is in a phase of parity 1. */
    struct launch launch = {.barriers = {[2] = UINT64_C(1) << 63}, .parameters = {UINT64_C(1) << 32 | 2}};
    struct wsdbg_spin spin;
    assert_true(spins(kernel, &launch, &spin));
    assert_true(spin.is_test);
    assert_int_equal(spin.address, SHARED_AT + 2 * sizeof *launch.barriers);
    assert_int_equal(spin.phase, 1);
    assert_false(spin.may_time_out);
    launch.barriers[2] = 0;
    assert_false(spins(kernel, &launch, &spin));
}

static void a_wait_through_functions_is_one_of_a_barrier_and_a_phase(void **state)
{
    (void)state;
    check_wait("wait_at_stage");
}

/* The time decides how long it sleeps, and that alone. */
static void a_wait_with_sleep_goes_on_for_ever(void **state)
{
    (void)state;
    check_wait("wait_with_sleep");
}

/* The report says of a poll with a limit that it may end by itself.  It says nothing like that of a barrier. */
static void a_wait_with_a_limit_is_none(void **state)
{
    struct launch launch = {.barriers = {[2] = UINT64_C(1) << 63}, .parameters = {UINT64_C(1) << 32 | 2}};
    struct wsdbg_spin spin;
    (void)state;
    assert_false(spins("wait_with_limit", &launch, &spin));
}

static void a_poll_with_a_limit_may_end(void **state)
{
    struct launch launch = {.words = {[5] = 3}, .parameters = {MEMORY, 5}};
    struct wsdbg_spin spin;
    (void)state;
    assert_true(spins("poll_with_limit", &launch, &spin));
    assert_true(spin.may_time_out);
    assert_int_equal(spin.address, MEMORY + 5 * sizeof *launch.words);
}

/* Neither of them is the one. */
static void of_two_barriers_none_is_waited_for(void **state)
{
    struct launch launch = {.parameters = {0}};
    struct wsdbg_spin spin;
    (void)state;
    assert_false(spins("wait_at_either", &launch, &spin));
}

/* What the graph says is a test of a wait: the lane that begins the kernel gets there, and with these operands. */
static void what_a_test_asks_is_found_on_the_way_to_it(void **state)
{
    static const struct wsdbg_thread_state nothing;
    struct launch launch = {.parameters = {UINT64_C(1) << 32 | 3}};
    const struct wsdbg_thread_world world = world_of(&launch);
    struct wsdbg_joined *joined = joined_of("wait_at_stage");
    struct wsdbg_spin_code code = {.graph = joined->graph, .joined = joined};
    struct wsdbg_spin_target target;
    (void)state;
    uint32_t test = 0;
    while (wsdbg_graph_instruction(joined->graph, test)->operation != WSDBG_OP_SYNCS_PHASECHK)
        test++;
    assert_true(wsdbg_spin_reach(&code, (struct wsdbg_spin_place){0, 0}, &nothing, &world, test, &target));
    assert_true(target.is_test);
    assert_int_equal(target.address, SHARED_AT + 3 * sizeof *launch.barriers);
    assert_int_equal(target.phase, 1);
    wsdbg_spin_code_deinit(&code);
    wsdbg_joined_destroy(joined);
}

/* What a lane that has come so far has stored. */
static bool stored_by(void *context, uint32_t address, uint32_t *value)
{
    const struct spin_run *run = ((const struct launch *)context)->run;
    for (uint32_t i = 0; i < run->memory.count; i++)
        if (run->memory.words[i].address == address && run->memory.words[i].bits == UINT32_MAX) {
            *value = run->memory.words[i].value;
            return true;
        }
    return false;
}

/* Wherever a lane is found in its wait, its registers and its stack frame tell what it waits for. */
static void a_lane_is_followed_from_where_it_stands(void **state)
{
    enum { STEPS = 400, STEPS_BETWEEN = 23 };
    struct launch launch = {.barriers = {[2] = UINT64_C(1) << 63}, .parameters = {UINT64_C(1) << 32 | 2}};
    struct wsdbg_thread_world before = world_of(&launch), now = before;
    struct wsdbg_joined *joined = joined_of("wait_at_stage");
    struct wsdbg_spin_code code = {.graph = joined->graph, .joined = joined};
    uint32_t left = UINT32_MAX;
    uint64_t why;
    struct spin_run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    (void)state;
    run->code = &code;
    run->world = &before;
    run->steps_left = &left;
    launch.run = run;
    now.local = stored_by;
    for (unsigned i = 0; i < 2 * STEPS; i++) {
        struct wsdbg_spin spin;
        assert_int_equal(spin_run_step(run, &why), SPIN_STEP_GOES);
        if (i < STEPS || i % STEPS_BETWEEN)
            continue;
        assert_true(wsdbg_spin_find(&code, run->at, &run->state, &now, &spin));
        assert_true(spin.is_test);
        assert_int_equal(spin.address, SHARED_AT + 2 * sizeof *launch.barriers);
    }
    free(run);
    wsdbg_spin_code_deinit(&code);
    wsdbg_joined_destroy(joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poll_through_functions_is_one),
        cmocka_unit_test(the_address_of_a_variable_is_a_number),
        cmocka_unit_test(what_decides_must_be_known),
        cmocka_unit_test(a_lane_that_others_see_does_not_spin),
        cmocka_unit_test(a_wait_through_functions_is_one_of_a_barrier_and_a_phase),
        cmocka_unit_test(a_wait_with_sleep_goes_on_for_ever),
        cmocka_unit_test(a_wait_with_a_limit_is_none),
        cmocka_unit_test(a_poll_with_a_limit_may_end),
        cmocka_unit_test(of_two_barriers_none_is_waited_for),
        cmocka_unit_test(a_lane_is_followed_from_where_it_stands),
        cmocka_unit_test(what_a_test_asks_is_found_on_the_way_to_it),
    };
    return cmocka_run_group_tests(tests, open_code, close_code);
}
