/* walk_thread_test.c - what a thread of a walk gets from global memory: each block once, no address that may be another
 * memory's, no more reads than a GPU that stands still may be asked for.  And constants that tell of clusters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/walk_thread.h"

#define PLACE UINT64_C(0x500000000)
enum { SPECIAL_WINDOW_HIGH = 47, SPECIAL_WINDOW_LOW = 48 }; /* SR_SWINHI, SR_SWINLO */
#define SHARED_WINDOW UINT64_C(0x7e0000000000)
#define LOCAL_WINDOW UINT64_C(0x7f0000000000)
#define WINDOW_BYTES (UINT64_C(1) << 24)

static unsigned reads;

#define SINGLE UINT64_C(0x600000000)
#define SMALL UINT64_C(0x700000000)

/* Every word holds its place; nothing at 0 can be read, at SINGLE a word alone, and at SMALL no large block. */
static struct wsdbg_error *global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    (void)machine;
    assert_int_equal(context, 0);
    assert_true(byte_count == sizeof(uint32_t) || byte_count == WALK_SMALL_BLOCK_BYTES ||
                byte_count == WALK_BLOCK_BYTES);
    assert_int_equal(address % byte_count, 0);
    for (uint32_t i = 0; i < byte_count / sizeof(uint32_t); i++)
        ((uint32_t *)out)[i] = (uint32_t)(address + i * sizeof(uint32_t));
    *known = address != 0 && (address != SINGLE || byte_count == sizeof(uint32_t)) &&
             (address != SMALL || byte_count < WALK_BLOCK_BYTES);
    reads++;
    return NULL;
}

static struct wsdbg_error *no_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                       void *out, uint32_t byte_count, bool *known)
{
    (void)machine, (void)grid, (void)bank, (void)offset, (void)out, (void)byte_count;
    *known = false;
    return NULL;
}

static const struct wsdbg_machine_ops ops = {.global = global, .constant = no_constant};

struct fixture {
    struct wsdbg_machine_context context;
    struct wsdbg_machine_grid grid;
    struct wsdbg_machine machine;
    struct walk_memory memory;
    struct walk_thread thread;
};

/* windows: whether the machine says where shared and local memory have generic addresses. */
static struct wsdbg_thread_world begin(struct fixture *fixture, bool windows)
{
    static const struct wsdbg_cta cta = {.cluster_size = 1};
    reads = 0;
    *fixture = (struct fixture){.machine = {.ops = &ops, .context_count = 1, .grid_count = 1}};
    if (windows) {
        fixture->context.shared_window = wsdbg_known_u64(SHARED_WINDOW);
        fixture->context.local_window = wsdbg_known_u64(LOCAL_WINDOW);
    }
    fixture->machine.contexts = &fixture->context;
    fixture->machine.grids = &fixture->grid;
    fixture->thread = (struct walk_thread){.memory = &fixture->memory, .machine = &fixture->machine, .cta = &cta};
    walk_memory_begin_cta(&fixture->memory);
    return walk_thread_world(&fixture->thread);
}

static void a_block_is_read_once(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint32_t value;
    for (unsigned i = 0; i < WALK_BLOCK_BYTES; i += sizeof value) {
        assert_true(world.global(world.context, PLACE + i, false, &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(reads, 1);
    (void)state;
}

/* Memory may end behind it. */
static void a_small_block_is_read_where_the_large_one_is_not_known(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint32_t value;
    for (unsigned i = 0; i < WALK_SMALL_BLOCK_BYTES; i += sizeof value) {
        assert_true(world.global(world.context, SMALL + i, false, &value));
        assert_int_equal(value, (uint32_t)(SMALL + i));
    }
    assert_int_equal(reads, 2);
    (void)state;
}

/* A kept look has only what was asked for when it was taken. */
static void a_word_may_be_known_where_its_block_is_not(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint32_t value;
    assert_true(world.global(world.context, SINGLE, false, &value));
    assert_int_equal(value, (uint32_t)SINGLE);
    assert_false(world.global(world.context, 0, false, &value));
    (void)state;
}

static void a_generic_address_in_a_known_window_is_not_of_global_memory(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, true);
    uint32_t value;
    assert_false(world.global(world.context, SHARED_WINDOW + 0x400, true, &value));
    assert_false(world.global(world.context, LOCAL_WINDOW + 0x400, true, &value));
    assert_int_equal(reads, 0);
    assert_true(world.global(world.context, PLACE, true, &value));
    assert_int_equal(value, (uint32_t)PLACE);
    assert_true(world.global(world.context, LOCAL_WINDOW + WINDOW_BYTES, true, &value));
    (void)state;
}

/* A live look does not know the windows.  No memory is mapped in them, so what can be read is global. */
static void a_generic_address_is_read_where_no_window_is_known(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint32_t value;
    assert_true(world.global(world.context, PLACE, true, &value));
    assert_int_equal(value, (uint32_t)PLACE);
    assert_false(world.global(world.context, 0, true, &value));
    (void)state;
}

/* One of the two may be known alone. */
static void each_window_counts_for_itself(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, true);
    uint32_t value;
    fixture.context.local_window.known = false;
    assert_false(world.global(world.context, SHARED_WINDOW, true, &value));
    assert_true(world.global(world.context, LOCAL_WINDOW, true, &value));
    (void)state;
}

/* A GPU does not tell where shared memory has generic addresses.  A walk puts them together from special registers. */
static void generic_addresses_of_shared_memory_need_no_window(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world unknown = begin(&fixture, false);
    uint32_t high = 0, low = 1;
    static const struct wsdbg_cta cta = {0};
    fixture.grid.block[0] = fixture.grid.block[1] = fixture.grid.block[2] = 1;
    fixture.thread.cta = &cta;
    assert_true(unknown.special(unknown.context, SPECIAL_WINDOW_HIGH, &high));
    assert_true(unknown.special(unknown.context, SPECIAL_WINDOW_LOW, &low));
    assert_true(((uint64_t)high << 32 | low) == unknown.shared_window);
    assert_true(unknown.shared_window >> 49 != 0); /* no memory of a GPU is there */
    assert_true(begin(&fixture, true).shared_window == SHARED_WINDOW);
    (void)state;
}

static void tables_of_branch_targets_are_those_of_the_image(void **state)
{
    static struct fixture fixture;
    static const uint32_t targets[] = {0x100, 0x2a0, 0x340};
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint32_t value = 0;
    assert_false(world.constant(world.context, WSDBG_CODE_BANK_OF_TABLES, 4, &value));
    fixture.memory.tables = (struct wsdbg_image){.bytes = (const unsigned char *)targets, .byte_count = sizeof targets};
    assert_true(world.constant(world.context, WSDBG_CODE_BANK_OF_TABLES, 4, &value));
    assert_int_equal(value, targets[1]);
    assert_true(world.constant(world.context, WSDBG_CODE_BANK_OF_TABLES, 8, &value));
    assert_int_equal(value, targets[2]);
    assert_false(world.constant(world.context, WSDBG_CODE_BANK_OF_TABLES, 9, &value));
    assert_false(world.constant(world.context, 3, 4, &value));
    (void)state;
}

/* Each CTA gets half of what is left, so that the next one can read something, too. */
static void a_gpu_that_stands_still_is_asked_only_so_often(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    uint64_t at = PLACE;
    uint32_t value;
    for (uint32_t most = WALK_GLOBALS_READ_MOST / 2; most; most /= 2) {
        for (uint32_t i = 0; i < most; i++, at += WALK_BLOCK_BYTES)
            assert_true(world.global(world.context, at, false, &value));
        assert_false(world.global(world.context, at, false, &value));
        assert_true(world.global(world.context, at - 4, false, &value));
        walk_memory_begin_cta(&fixture.memory);
    }
    assert_int_equal(reads, WALK_GLOBALS_READ_MOST - 1);
    (void)state;
}

static void a_lane_knows_which_lanes_are_below_and_above_it(void **state)
{
    enum { SPECIAL_EQUAL_MASK = 0x38 }; /* SR_EQMASK, and behind it SR_LTMASK, SR_LEMASK, SR_GTMASK, SR_GEMASK */
    static const struct {
        uint32_t lane, equal, below, not_above, above, not_below;
    } rows[] = {
        {0, 1, 0, 1, UINT32_MAX - 1, UINT32_MAX},
        {5, 0x20, 0x1f, 0x3f, 0xffffffc0, 0xffffffe0},
        {31, 0x80000000, 0x7fffffff, UINT32_MAX, 0, 0x80000000},
    };
    static const struct wsdbg_cta cta;
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    fixture.grid.block[0] = fixture.grid.block[1] = fixture.grid.block[2] = 1;
    fixture.thread.cta = &cta;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t masks[] = {rows[i].equal, rows[i].below, rows[i].not_above, rows[i].above, rows[i].not_below};
        fixture.thread.lane = rows[i].lane;
        for (uint32_t k = 0; k < sizeof masks / sizeof *masks; k++) {
            uint32_t value;
            assert_true(world.special(world.context, SPECIAL_EQUAL_MASK + k, &value));
            assert_int_equal(value, masks[k]);
        }
    }
    (void)state;
}

/* ---- constants ---- */

/* CTA (5,1,2) of a grid of 12 x 2 x 3 CTAs, with clusters of 3 x 2 x 1. */
static void constants_tell_of_clusters_if_there_are_any(void **state)
{
    static const struct {
        const char *name;
        uint32_t offset_bytes, value;
    } rows[] = {
        {"there are clusters", 0x140, 1},
        {"their size: x", 0x144, 3},
        {"... y", 0x148, 2},
        {"... z", 0x14c, 1},
        {"its reciprocal: x, a third", 0x150, 0x3eaaaaab},
        {"... y, a half", 0x154, 0x3f000000},
        {"... z, one", 0x158, 0x3f800000},
        {"their number: x", 0x15c, 4},
        {"... y", 0x160, 1},
        {"... z", 0x164, 3},
        {"CTAs in each", 0x188, 6},
    };
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    struct wsdbg_machine_cta sibling = {0};
    struct wsdbg_cta cta = {.x = 5, .y = 1, .z = 2, .cluster_size = 6};
    fixture.machine.ctas = &sibling;
    fixture.grid = (struct wsdbg_machine_grid){.grid = {12, 2, 3},
                                               .cluster = {wsdbg_known_u32(3), wsdbg_known_u32(2), wsdbg_known_u32(1)}};
    fixture.thread.cta = &cta;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t value = 0;
        print_message("%s\n", rows[i].name);
        assert_true(world.constant(world.context, 0, rows[i].offset_bytes, &value));
        assert_int_equal(value, rows[i].value);
        assert_false(world.constant(world.context, 4, rows[i].offset_bytes, &value));
    }
    uint32_t value;
    assert_false(world.constant(world.context, 0, 0x168, &value));
    (void)state;
}

static void constants_tell_nothing_of_clusters_that_there_are_not(void **state)
{
    static struct fixture fixture;
    const struct wsdbg_thread_world world = begin(&fixture, false);
    struct wsdbg_cta cta = {.cluster_size = 1};
    uint32_t value;
    fixture.thread.cta = &cta;
    assert_false(world.constant(world.context, 0, 0x140, &value));
    assert_false(world.constant(world.context, 0, 0x144, &value));
    (void)state;
}

/* CTAs take turns in the order of their places; the CTAs of a cluster have one turn. */
static void a_cta_has_its_turn(void **state)
{
    static const struct {
        struct wsdbg_cta cta;
        uint32_t turn, turns;
    } rows[] = {{{.x = 5, .y = 1, .z = 2, .cluster_size = 1}, 65, 72}, {{.x = 5, .cluster_size = 2}, 2, 36}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct fixture fixture;
        begin(&fixture, false);
        fixture.grid.grid[0] = 12;
        fixture.grid.grid[1] = 2;
        fixture.grid.grid[2] = 3;
        fixture.thread.cta = &rows[i].cta;
        const struct wsdbg_thread_world world = walk_thread_world(&fixture.thread);
        assert_int_equal(world.taker, rows[i].turn);
        assert_int_equal(world.takers, rows[i].turns);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cta_has_its_turn),
        cmocka_unit_test(a_lane_knows_which_lanes_are_below_and_above_it),
        cmocka_unit_test(a_block_is_read_once),
        cmocka_unit_test(constants_tell_of_clusters_if_there_are_any),
        cmocka_unit_test(constants_tell_nothing_of_clusters_that_there_are_not),
        cmocka_unit_test(a_small_block_is_read_where_the_large_one_is_not_known),
        cmocka_unit_test(a_word_may_be_known_where_its_block_is_not),
        cmocka_unit_test(a_generic_address_in_a_known_window_is_not_of_global_memory),
        cmocka_unit_test(a_generic_address_is_read_where_no_window_is_known),
        cmocka_unit_test(each_window_counts_for_itself),
        cmocka_unit_test(generic_addresses_of_shared_memory_need_no_window),
        cmocka_unit_test(tables_of_branch_targets_are_those_of_the_image),
        cmocka_unit_test(a_gpu_that_stands_still_is_asked_only_so_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
