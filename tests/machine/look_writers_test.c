/* look_writers_test.c - the store by which waiting lanes would end the poll of others of their warp: real code in many
 * shapes, each run until its lanes wait, and what is found of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interpret.h"
#include "machine/split_warp.h"
#include "sass/cubin.h"

enum { WORD = 0, OUT = 64, STRUCT = 128, CTA = 3, STRIDE = 7, IMAGE_BYTES_MOST = 1 << 20 };
#define ADDRESS(word) (SPLIT_MEMORY + 4 * (word))
#define BUDGET UINT64_C(10000000000)

/* With what each kernel is launched, and whether its waiting lanes write the word. */
static const struct {
    const char *kernel;
    bool writes;
    uint32_t word; /* there before: what a taken lock has */
    uint64_t third;
    uint32_t block_x;
} cases[] = {
    {"by_exchange", true, 0, 0, 32},
    {"by_release", true, 0, 0, 32},
    {"by_reduction", true, 0, 0, 32},
    {"by_added_lanes", true, 0, 0, 32},
    {"by_block", true, 0, 0, 32},
    {"by_index", true, 0, STRIDE, 32},
    {"of_module", true, 0, 0, 32},
    {"for_data", true, 0, 0, 32},
    {"in_sync", true, 0, 0, 32},
    {"of_wide", true, 0, 0, 32},
    {"in_rows", true, 0, 0, 16},
    {"in_rounds", true, 0, 4, 32},
    {"holds_lock", true, 0, 0, 32},
    {"polls_lock", false, 1, 0, 32},
    {"polls_lock_elected", false, 1, 0, 32},
    {"polls_elected", false, 0, 0, 32},
    {"another_unlocks", false, 1, 0, 32},
    {"another_resets", false, 0, 0, 32},
    {"polls_again", false, 0, 0, 32},
    {"another_word", false, 0, 0, 32},
    {"before_only", false, 0, 0, 32},
    {"in_called", false, 0, 0, 32},
    {"in_pointed", false, 0, 0, 32},
    {"of_table", false, 0, ADDRESS(STRUCT), 32},
};

static struct wsdbg_image image;

/* The cubin in a fatbin. */
static struct wsdbg_image read_image(const char *name)
{
    char path[512], *cubin;
    static unsigned char bytes[IMAGE_BYTES_MOST];
    size_t count;
    snprintf(path, sizeof path, "%s/%s", WSDBG_SPLIT_LANES, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const struct wsdbg_image fatbin = {bytes, fread(bytes, 1, sizeof bytes, file)};
    fclose(file);
    assert_null(wsdbg_cubin_of_image(&fatbin, IMAGE_BYTES_MOST, &cubin, &count));
    return (struct wsdbg_image){(const unsigned char *)cubin, count};
}

static struct split_launch launch_of(const char *kernel)
{
    struct split_launch launch = {.kernel = kernel, .block = {32, 1, 1}, .cta_x = CTA};
    const uint64_t addresses[] = {ADDRESS(WORD), ADDRESS(OUT)};
    launch.parameters[0] = ADDRESS(WORD);
    launch.parameters[1] = ADDRESS(OUT);
    memcpy(&launch.memory[STRUCT], addresses, sizeof addresses);
    return launch;
}

static struct wsdbg_snapshot look_at(const struct split_launch *launch)
{
    struct wsdbg_machine *machine = split_warp_run(&image, launch);
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take_within(machine, code, (struct wsdbg_look_budget){BUDGET, BUDGET, WSDBG_WALKS_COUNTED}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    return snapshot;
}

/* The text of the store, "" where there is none; parts that poll have none in any case. */
static const char *store_in(const struct wsdbg_snapshot *snapshot)
{
    const char *text = "";
    for (size_t i = 0; i < snapshot->part_count; i++) {
        const struct wsdbg_part *part = &snapshot->parts[i];
        if (!part->writes_site.known)
            continue;
        assert_int_equal(part->state, WSDBG_WARP_RECONVERGE);
        text = wsdbg_snapshot_site(snapshot, part->writes_site.value)->instruction;
    }
    return text;
}

static void assert_found(const struct split_launch *launch, bool writes)
{
    struct wsdbg_snapshot snapshot = look_at(launch);
    const char *text = store_in(&snapshot);
    const bool stores = strstr(text, "STG") || strstr(text, "ATOM") || strstr(text, "RED");
    if (stores != writes)
        fail_msg("%s: \"%s\"", launch->kernel, text);
    wsdbg_snapshot_deinit(&snapshot);
}

static void check_all(const char *name)
{
    image = read_image(name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct split_launch launch = launch_of(cases[i].kernel);
        launch.memory[WORD] = cases[i].word;
        launch.parameters[2] = cases[i].third;
        launch.block[0] = cases[i].block_x;
        launch.block[1] = 32 / cases[i].block_x;
        assert_found(&launch, cases[i].writes);
    }
    free((void *)image.bytes);
}

static void the_store_is_found_in_optimised_code(void **state)
{
    (void)state;
    check_all("split_lanes_o3.fatbin");
}

static void the_store_is_found_in_plain_code(void **state)
{
    (void)state;
    check_all("split_lanes_o0.fatbin");
}

/* A pointer that was loaded before the wait is in a register; plain code has it in memory by then. */
static void a_pointer_that_was_loaded_before_is_known(void **state)
{
    (void)state;
    image = read_image("split_lanes_o3.fatbin");
    struct split_launch launch = launch_of("in_struct");
    launch.parameters[0] = ADDRESS(STRUCT);
    assert_found(&launch, true);
    free((void *)image.bytes);
}

static void the_first_lane_that_writes_is_enough(void **state)
{
    (void)state;
    image = read_image("split_lanes_o3.fatbin");
    struct split_launch launch = launch_of("by_exchange");
    struct wsdbg_snapshot snapshot = look_at(&launch);
    assert_int_equal(snapshot.part_count, 2);
    assert_true(snapshot.parts[0].writes_site.known);
    assert_int_equal(snapshot.parts[0].lanes, 0xffff);
    assert_string_equal(store_in(&snapshot), "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64], R0");
    wsdbg_snapshot_deinit(&snapshot);
    free((void *)image.bytes);
}

static void without_registers_nothing_is_said(void **state)
{
    (void)state;
    image = read_image("split_lanes_o3.fatbin");
    struct split_launch launch = launch_of("by_exchange");
    launch.no_registers_of = 0xffff;
    assert_found(&launch, false);
    free((void *)image.bytes);
}

/* Of warps in the same state one is judged: the others take what was found of it. */
static void like_warps_are_judged_once(void **state)
{
    (void)state;
    image = read_image("split_lanes_o3.fatbin");
    struct split_launch launch = launch_of("by_exchange");
    launch.ctas = 40;
    struct wsdbg_machine *machine = split_warp_run(&image, &launch);
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take_within(machine, code, (struct wsdbg_look_budget){BUDGET, BUDGET, WSDBG_WALKS_COUNTED}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    const uint32_t reads = split_warp_reads(machine);
    assert_int_equal(snapshot.part_count, 2 * launch.ctas);
    for (size_t i = 0; i < snapshot.part_count; i++)
        assert_int_equal(snapshot.parts[i].writes_site.known, snapshot.parts[i].state == WSDBG_WARP_RECONVERGE);
    /* What each of them polls, and one waiting lane. */
    assert_in_range(reads, launch.ctas, launch.ctas + 8);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    free((void *)image.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_store_is_found_in_optimised_code),
        cmocka_unit_test(the_store_is_found_in_plain_code),
        cmocka_unit_test(a_pointer_that_was_loaded_before_is_known),
        cmocka_unit_test(the_first_lane_that_writes_is_enough),
        cmocka_unit_test(like_warps_are_judged_once),
        cmocka_unit_test(without_registers_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
