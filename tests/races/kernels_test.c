/* kernels_test.c - each race of rows.c is found in the first schedule, and nothing in its corrected twin. */
#include "races/rows.h"

#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"

/* How often the row's code was reported; *others: how often another code was. */
static unsigned count(const struct race_row *row, bool is_fixed, unsigned *others)
{
    static char text[RACE_TEXT_BYTES];
    const struct wsdbg_gpu_options options = {.multiprocessors = MACHINE_SMS, .finds_races = true};
    const struct kernel_launch launch = {
        .grid = row->launch.grid, .block = row->launch.block, .cluster = row->launch.cluster};
    struct machine machine;
    const struct wsdbg_gpu_race *races;
    unsigned count = 0;
    race_row_text(row, is_fixed, text);
    machine_create(&machine, text, &options);
    if (kernel_launch(&machine, launch) != WSDBG_GPU_IDLE)
        fail_msg("%s: %s", row->name, wsdbg_gpu_fault(machine.run) ? wsdbg_gpu_fault(machine.run)->text : "it hangs");
    const size_t all = wsdbg_gpu_races(machine.gpu, &races);
    for (size_t i = 0; i < all; i++) {
        count += strcmp(races[i].code, row->code) == 0;
    }
    *others = (unsigned)all - count;
    machine_destroy(&machine);
    return count;
}

static void each_race_and_its_twin(void **state)
{
    size_t row_count;
    const struct race_row *const rows = race_rows(&row_count);
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        unsigned others, fixed_others;
        const unsigned found = count(&rows[i], false, &others), fixed = count(&rows[i], true, &fixed_others);
        if (!found || others || fixed || fixed_others) {
            printf("WRONG %s: %u times %s and %u others; the twin: %u and %u\n", rows[i].name, found, rows[i].code,
                   others, fixed, fixed_others);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_race_and_its_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
