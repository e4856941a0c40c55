/* look_spins_test.c - what a look says of warps in loops that poll without looking like it: kernels of spins.cu, each
 * run until its lanes are in the loop.
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

enum { OUT = 64, CTAS_MANY = 40, IMAGE_BYTES_MOST = 1 << 20 };
#define ADDRESS(word) (SPLIT_MEMORY + 4 * (word))
#define BUDGET UINT64_C(10000000000)

static unsigned char bytes[IMAGE_BYTES_MOST];
static struct wsdbg_image image;

static int read_cubin(void **state)
{
    (void)state;
    FILE *file = fopen(WSDBG_SPINS, "rb");
    assert_non_null(file);
    image = (struct wsdbg_image){bytes, fread(bytes, 1, sizeof bytes, file)};
    fclose(file);
    return 0;
}

static struct wsdbg_snapshot look_at(const struct split_launch *launch)
{
    struct wsdbg_machine *machine = split_warp_run(&image, launch);
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_code_create(&code));
    assert_null(
        wsdbg_look_take_within(machine, code, (struct wsdbg_look_budget){BUDGET, BUDGET, WSDBG_WALKS_COUNTED}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    return snapshot;
}

static struct split_launch launch_of(const char *kernel, uint64_t third)
{
    return (struct split_launch){
        .kernel = kernel, .block = {32, 1, 1}, .parameters = {SPLIT_MEMORY, ADDRESS(OUT), third}};
}

static void check_poll(const struct wsdbg_snapshot *snapshot, uint32_t word, uint32_t value, bool may_time_out)
{
    const struct wsdbg_part *part = &snapshot->parts[0];
    assert_int_equal(snapshot->warps[0].state, WSDBG_WARP_SPIN_GLOBAL);
    assert_true(part->address.known && part->value.known && part->width_bytes.known);
    assert_int_equal(part->address.value, ADDRESS(word));
    assert_int_equal(part->value.value, value);
    assert_int_equal(part->width_bytes.value, 4);
    assert_int_equal(snapshot->sites[part->site].may_time_out, may_time_out);
    assert_non_null(strstr(snapshot->sites[part->site].instruction, "LDG"));
}

static void flags_in_turn_are_polled(void **state)
{
    (void)state;
    struct split_launch launch = launch_of("wait_for_all", 4);
    launch.memory[0] = launch.memory[4] = launch.memory[8] = 1;
    struct wsdbg_snapshot snapshot = look_at(&launch);
    check_poll(&snapshot, 12, 0, false);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_limit_of_rounds_is_told(void **state)
{
    (void)state;
    struct split_launch launch = launch_of("wait_for_all_some_rounds", 4);
    struct wsdbg_snapshot snapshot = look_at(&launch);
    check_poll(&snapshot, 12, 0, true);
    wsdbg_snapshot_deinit(&snapshot);
}

static void work_is_no_poll(void **state)
{
    static const char *const kernels[] = {"work_with_table", "work_and_store"};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct split_launch launch = launch_of(kernels[i], 100000);
        struct wsdbg_snapshot snapshot = look_at(&launch);
        assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_RUNNING);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

/* Registers of few lanes are read.  Those of others in the same loop are taken to poll, but that is not sure. */
static void of_many_warps_few_are_followed(void **state)
{
    (void)state;
    uint32_t read = 0, polling = 0;
    struct split_launch launch = launch_of("wait_for_all", 4);
    launch.ctas = CTAS_MANY;
    struct wsdbg_snapshot snapshot = look_at(&launch);
    for (size_t w = 0; w < snapshot.warp_count; w++) {
        const struct wsdbg_part *part = &snapshot.parts[snapshot.warps[w].part_first];
        polling += snapshot.warps[w].state == WSDBG_WARP_SPIN_GLOBAL;
        read += part->address.known;
    }
    assert_int_equal(polling, CTAS_MANY);
    assert_in_range(read, 1, CTAS_MANY / 2);
    assert_true(snapshot.sites[snapshot.parts[0].site].may_time_out);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_in_turn_are_polled),
        cmocka_unit_test(a_limit_of_rounds_is_told),
        cmocka_unit_test(work_is_no_poll),
        cmocka_unit_test(of_many_warps_few_are_followed),
    };
    return cmocka_run_group_tests(tests, read_cubin, NULL);
}
