/* look_rings_test.c - mbarriers of which the code does not say that they are one array, and what a walk shows of them.
 *
 * A test writes the mbarriers of two CTAs as the code tells them apart, and the steps of one walk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look.h"

enum { CTAS = 2, PLACES_MOST = 5, STEPS_MOST = 8, FIRST = 0x400 };

struct place {
    uint32_t offset, id, stage, expected;
};

/* What a place is afterwards. */
struct stage {
    uint32_t id, stage;
};

static const struct kernel {
    const char *name;
    uint32_t count;
    struct place places[PLACES_MOST];
    uint32_t waits[STEPS_MOST], arrivals[STEPS_MOST]; /* offsets, in order; each list is made by one instruction */
    struct stage becomes[PLACES_MOST];
    uint32_t others[STEPS_MOST]; /* arrivals by another one */
} kernels[] = {
    {"three that a wait takes in turn",
     3,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}, {FIRST + 16, 2, 0, 1}},
     {FIRST, FIRST + 8, FIRST + 16, FIRST},
     {0},
     {{0, 0}, {0, 1}, {0, 2}},
     {0}},
    {"an array of two, and the place behind it",
     3,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 0, 1, 1}, {FIRST + 16, 1, 0, 1}},
     {FIRST, FIRST + 8, FIRST + 16},
     {0},
     {{0, 0}, {0, 1}, {0, 2}},
     {0}},
    {"two arrays of two",
     4,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 0, 1, 1}, {FIRST + 16, 1, 0, 1}, {FIRST + 24, 1, 1, 1}},
     {FIRST, FIRST + 8, FIRST + 16, FIRST + 24},
     {0},
     {{0, 0}, {0, 1}, {1, 0}, {1, 1}},
     {0}},
    {"another count", 2, {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 2}}, {FIRST, FIRST + 8}, {0}, {{0, 0}, {1, 0}}, {0}},
    {"something else is done with the second one",
     2,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}},
     {FIRST, FIRST + 8},
     {FIRST + 8},
     {{0, 0}, {1, 0}},
     {0}},
    {"no instruction takes both", 2, {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}}, {FIRST}, {0}, {{0, 0}, {1, 0}}, {0}},
    {"the second array begins with the last place of the first one",
     5,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 0, 1, 1}, {FIRST + 16, 1, 0, 1}, {FIRST + 24, 1, 1, 1}, {FIRST + 32, 1, 2, 1}},
     {FIRST, FIRST + 8, FIRST + 16},
     {0},
     {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}},
     {FIRST + 24, FIRST + 32}},
    {"... whose other places expect another number of arrivals",
     5,
     {{FIRST, 0, 0, 3}, {FIRST + 8, 0, 1, 3}, {FIRST + 16, 1, 0, 3}, {FIRST + 24, 1, 1, 128}, {FIRST + 32, 1, 2, 128}},
     {0},
     {FIRST, FIRST + 8, FIRST + 16},
     {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}},
     {FIRST + 24, FIRST + 32}},
    {"... of whose other places nothing is known",
     4,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 0, 1, 1}, {FIRST + 16, 1, 0, 1}, {FIRST + 24, 1, 1, 1}},
     {FIRST, FIRST + 8, FIRST + 16},
     {0},
     {{0, 0}, {0, 1}, {1, 0}, {1, 1}},
     {0}},
    {"... whose places one instruction takes, too",
     4,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 0, 1, 1}, {FIRST + 16, 1, 0, 1}, {FIRST + 24, 1, 1, 1}},
     {FIRST, FIRST + 8, FIRST + 16, FIRST + 24},
     {0},
     {{0, 0}, {0, 1}, {1, 0}, {1, 1}},
     {FIRST + 24}},
    {"the third one lies elsewhere",
     3,
     {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}, {FIRST + 32, 2, 0, 1}},
     {FIRST, FIRST + 8, FIRST + 32},
     {0},
     {{0, 0}, {0, 1}, {2, 0}},
     {0}},
};

/* Of some places the count or the offset is not known.  It has a value nevertheless, which must not count. */
static const struct {
    struct kernel kernel;
    uint32_t unknown_counts, unknown_offsets; /* a bit for each place */
} vague[] = {
    {.kernel = {.name = "the count of the first one is not known",
                .count = 2,
                .places = {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}},
                .waits = {FIRST, FIRST + 8},
                .becomes = {{0, 0}, {1, 0}}},
     .unknown_counts = 1 << 0},
    {.kernel = {.name = "... or that of the second one",
                .count = 2,
                .places = {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}},
                .waits = {FIRST, FIRST + 8},
                .becomes = {{0, 0}, {1, 0}}},
     .unknown_counts = 1 << 1},
    {.kernel = {.name = "... or where the second one lies",
                .count = 2,
                .places = {{FIRST, 0, 0, 1}, {FIRST + 8, 1, 0, 1}},
                .waits = {FIRST, FIRST + 8},
                .becomes = {{0, 0}, {1, 0}}},
     .unknown_offsets = 1 << 1},
    {.kernel = {.name = "the other places of a second array may expect another number of arrivals",
                .count = 5,
                .places = {{FIRST, 0, 0, 3},
                           {FIRST + 8, 0, 1, 3},
                           {FIRST + 16, 1, 0, 3},
                           {FIRST + 24, 1, 1, 128},
                           {FIRST + 32, 1, 2, 128}},
                .arrivals = {FIRST, FIRST + 8, FIRST + 16},
                .becomes = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}},
                .others = {FIRST + 24, FIRST + 32}},
     .unknown_counts = 1 << 3 | 1 << 4},
    {.kernel = {.name = "the place before another number of arrivals may expect it, too",
                .count = 4,
                .places = {{FIRST, 0, 0, 3}, {FIRST + 8, 1, 0, 3}, {FIRST + 16, 1, 1, 3}, {FIRST + 24, 1, 2, 128}},
                .arrivals = {FIRST, FIRST + 8, FIRST + 16},
                .becomes = {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
                .others = {FIRST + 24}},
     .unknown_counts = 1 << 2},
};

static uint32_t put_steps(struct wsdbg_step_row *steps, uint32_t count, const uint32_t *offsets, uint8_t kind,
                          uint32_t access)
{
    for (uint32_t i = 0; i < STEPS_MOST && offsets[i]; i++)
        steps[count++] =
            (struct wsdbg_step_row){.access = access, .address = offsets[i], .kind = kind, .rank = WSDBG_STEP_OWN_RANK};
    return count;
}

static void put_barriers(const struct kernel *k, uint32_t unknown_counts, uint32_t unknown_offsets,
                         struct wsdbg_barrier *barriers)
{
    for (uint32_t i = 0; i < CTAS * k->count; i++) {
        const uint32_t number = i % k->count;
        const struct place *place = &k->places[number];
        barriers[i] = (struct wsdbg_barrier){.cta = i / k->count,
                                             .kind = WSDBG_BARRIER_MBARRIER,
                                             .id = place->id,
                                             .stage = place->stage,
                                             .expected_arrivals = {place->expected, !(unknown_counts >> number & 1)},
                                             .shared_offset = {place->offset, !(unknown_offsets >> number & 1)}};
    }
}

static void judge(const struct kernel *k, uint32_t unknown_counts, uint32_t unknown_offsets)
{
    struct wsdbg_barrier barriers[CTAS * PLACES_MOST];
    struct wsdbg_step_row steps[3 * STEPS_MOST];
    struct wsdbg_grid grid = {.cta_count = CTAS, .module = WSDBG_NONE};
    struct wsdbg_cta ctas[CTAS] = {{0}};
    struct wsdbg_warp_row warp = {0};
    struct wsdbg_walk_row walk = {.lanes = 1, .is_whole = true};
    walk.step_count = put_steps(steps, 0, k->waits, WSDBG_ACCESS_WAIT, 0);
    walk.step_count = put_steps(steps, walk.step_count, k->arrivals, WSDBG_ACCESS_ARRIVE, 1);
    walk.step_count = put_steps(steps, walk.step_count, k->others, WSDBG_ACCESS_ARRIVE, 2);
    put_barriers(k, unknown_counts, unknown_offsets, barriers);
    struct wsdbg_snapshot out = {.grids = &grid,
                                 .grid_count = 1,
                                 .ctas = ctas,
                                 .cta_count = CTAS,
                                 .warps = &warp,
                                 .warp_count = 1,
                                 .barriers = barriers,
                                 .barrier_count = CTAS * k->count,
                                 .walks = &walk,
                                 .walk_count = 1,
                                 .steps = steps,
                                 .step_count = walk.step_count};
    wsdbg_look_rings(&out);
    for (uint32_t i = 0; i < CTAS * k->count; i++) {
        assert_int_equal(barriers[i].id, k->becomes[i % k->count].id);
        assert_int_equal(barriers[i].stage, k->becomes[i % k->count].stage);
    }
}

static void stages_that_one_instruction_takes_in_turn_are_one_array(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        print_message("%s\n", kernels[i].name);
        judge(&kernels[i], 0, 0);
    }
    (void)state;
}

static void what_is_not_known_makes_no_array(void **state)
{
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++) {
        print_message("%s\n", vague[i].kernel.name);
        judge(&vague[i].kernel, vague[i].unknown_counts, vague[i].unknown_offsets);
    }
    (void)state;
}

/* Names of a variable's parts are those of its first mbarrier and of its third one. */
static void expect_names(uint32_t number, const char *others, const char *expected)
{
    struct wsdbg_barrier barriers[4];
    struct wsdbg_step_row steps[STEPS_MOST];
    struct wsdbg_name names[] = {
        {.kind = WSDBG_NAME_MBARRIER, .id = 0, .stages = 2, .reserved = WSDBG_NAME_OF_VARIABLE},
        {.kind = WSDBG_NAME_MBARRIER, .id = 1, .stages = 1, .reserved = WSDBG_NAME_OF_VARIABLE},
        {.kind = WSDBG_NAME_MBARRIER, .id = 2, .stages = 1, .reserved = WSDBG_NAME_OF_VARIABLE}};
    struct wsdbg_module module = {.names_count = 3};
    struct wsdbg_grid grid = {.cta_count = 1};
    struct wsdbg_cta cta = {0};
    struct wsdbg_warp_row warp = {0};
    struct wsdbg_walk_row walk = {.lanes = 1, .is_whole = true};
    const uint32_t waits[STEPS_MOST] = {FIRST, FIRST + 8, FIRST + 16, FIRST};
    static const struct place places[] = {{0, 0, 0, 1}, {8, 0, 1, 1}, {16, 1, 0, 1}, {24, 2, 0, 7}};
    strcpy(names[0].name, "drained+0");
    strcpy(names[1].name, "drained+16");
    strcpy(names[2].name, others);
    for (uint32_t i = 0; i < 4; i++)
        barriers[i] = (struct wsdbg_barrier){.kind = WSDBG_BARRIER_MBARRIER,
                                             .id = places[i].id,
                                             .stage = places[i].stage,
                                             .name = &names[places[i].id],
                                             .expected_arrivals = {places[i].expected, true},
                                             .shared_offset = {FIRST + places[i].offset, true}};
    walk.step_count = put_steps(steps, 0, waits, WSDBG_ACCESS_WAIT, 0);
    struct wsdbg_snapshot out = {.modules = &module,
                                 .module_count = 1,
                                 .names = names,
                                 .name_count = 3,
                                 .grids = &grid,
                                 .grid_count = 1,
                                 .ctas = &cta,
                                 .cta_count = 1,
                                 .warps = &warp,
                                 .warp_count = 1,
                                 .barriers = barriers,
                                 .barrier_count = 4,
                                 .walks = &walk,
                                 .walk_count = 1,
                                 .steps = steps,
                                 .step_count = walk.step_count};
    wsdbg_look_rings(&out);
    assert_int_equal(barriers[2].id, 0);
    assert_int_equal(barriers[2].stage, 2);
    assert_string_equal(barriers[number].name->name, expected);
}

/* All of `drained` is one ring; or a part of it is another one. */
static void a_ring_that_fills_its_variable_has_its_name(void **state)
{
    (void)state;
    expect_names(2, "other", "drained");
    expect_names(2, "drained+24", "drained+0");
    expect_names(3, "drained+24", "drained+24");
    expect_names(2, "drained_too+0", "drained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_that_one_instruction_takes_in_turn_are_one_array),
        cmocka_unit_test(what_is_not_known_makes_no_array),
        cmocka_unit_test(a_ring_that_fills_its_variable_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
