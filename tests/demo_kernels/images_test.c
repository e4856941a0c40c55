/* images_test.c - what the compiler made of the demo kernels.
 *
 * Probes that are compiled out leave no trace; probes that are compiled in cost at most two registers and no spill;
 * setmaxnreg is not ignored and wgmma is not serialized in any image.  Reads the build's images and logs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../demo_kernels/gemm/geometry.h"
#include "elf_text.h"
#include "ptxas_log.h"

#define REGISTERS_FOR_PROBES 2

static const char *const gemm_bugs[] = {
#define BUG(id, ...) "gemm_" #id,
#include "../../demo_kernels/gemm/bugs.def"
#undef BUG
};

static const char *const gemm_tiles[] = {
#define TILE(columns) "gemm_n" #columns,
#include "../../demo_kernels/gemm/tiles.def"
#undef TILE
};

static const char *const two_async_warps_images[] = {
#define DEFECT(id, ...) "two_async_warps_" #id,
#include "../../demo_kernels/two_async_warps/defects.def"
#undef DEFECT
};

static void read_log(const char *image, const char *variant, struct ptxas_log *out)
{
    char path[512];
    snprintf(path, sizeof path, IMAGES "/%s_%s.ptxas", image, variant);
    ptxas_log_read(path, out);
}

static const struct ptxas_kernel *find_kernel(const struct ptxas_log *log, const char *name)
{
    for (int i = 0; i < log->count; i++)
        if (strcmp(log->kernel[i].name, name) == 0)
            return &log->kernel[i];
    return NULL;
}

static void assert_clean(const struct ptxas_log *log)
{
    assert_true(log->count > 0);
    assert_int_equal(log->warnings, 0);
    for (int i = 0; i < log->count; i++) {
        assert_int_equal(log->kernel[i].stack_bytes, 0);
        assert_int_equal(log->kernel[i].spill_store_bytes, 0);
        assert_int_equal(log->kernel[i].spill_load_bytes, 0);
        assert_true(log->kernel[i].registers > 0);
    }
}

static void assert_probes_fit(const char *image)
{
    struct ptxas_log plain, probes;
    print_message("%s\n", image);
    read_log(image, "plain", &plain);
    read_log(image, "probes", &probes);
    assert_clean(&plain);
    assert_clean(&probes);
    assert_int_equal(plain.count, probes.count);
    for (int i = 0; i < probes.count; i++) {
        const struct ptxas_kernel *without = find_kernel(&plain, probes.kernel[i].name);
        assert_non_null(without);
        assert_in_range(probes.kernel[i].registers, 1, without->registers + REGISTERS_FOR_PROBES);
    }
}

static void the_correct_gemm_has_four_kernels_that_fit_168_registers(void **state)
{
    static const char *const kernels[] = {"gemm_cooperative", "gemm_cooperative_cluster2", "gemm_pingpong",
                                          "gemm_pingpong_cluster2"};
    struct ptxas_log log;
    (void)state;
    read_log("gemm", "probes", &log);
    assert_int_equal(log.count, 4);
    for (int i = 0; i < 4; i++) {
        const struct ptxas_kernel *kernel = find_kernel(&log, kernels[i]);
        assert_non_null(kernel);
        assert_int_equal(kernel->registers, 168);
    }
}

static void probes_cost_no_spill_and_two_registers_at_most(void **state)
{
    (void)state;
    assert_probes_fit("gemm");
    for (size_t i = 0; i < sizeof gemm_tiles / sizeof *gemm_tiles; i++)
        assert_probes_fit(gemm_tiles[i]);
    for (size_t i = 0; i < sizeof gemm_bugs / sizeof *gemm_bugs; i++)
        assert_probes_fit(gemm_bugs[i]);
    for (size_t i = 0; i < sizeof two_async_warps_images / sizeof *two_async_warps_images; i++)
        assert_probes_fit(two_async_warps_images[i]);
}

static void assert_same_code(const char *image, size_t kernels)
{
    struct elf_texts plain, off;
    char path[512];
    snprintf(path, sizeof path, IMAGES "/%s_plain.fatbin", image);
    elf_texts_read(path, &plain);
    snprintf(path, sizeof path, IMAGES "/%s_off.fatbin", image);
    elf_texts_read(path, &off);
    assert_int_equal(plain.count, kernels);
    assert_int_equal(off.count, plain.count);
    for (size_t i = 0; i < plain.count; i++) {
        assert_string_equal(off.text[i].name, plain.text[i].name);
        assert_true(plain.text[i].size > 0);
        assert_int_equal(off.text[i].size, plain.text[i].size);
        assert_memory_equal(off.text[i].bytes, plain.text[i].bytes, plain.text[i].size);
    }
    elf_texts_free(&plain);
    elf_texts_free(&off);
}

/* `image` is gemm_n<columns>. */
static bool is_streamk_left_out(const char *image)
{
    return atoi(image + strlen("gemm_n")) > STREAMK_COLUMNS_MOST;
}

static void probes_compiled_out_leave_the_same_machine_code(void **state)
{
    (void)state;
    assert_same_code("gemm", 4);
    for (size_t i = 0; i < sizeof gemm_tiles / sizeof *gemm_tiles; i++)
        assert_same_code(gemm_tiles[i], is_streamk_left_out(gemm_tiles[i]) ? 7 : 10);
}

/* The comparison above can fail: with probes the code is another. */
static void probes_compiled_in_change_the_machine_code(void **state)
{
    struct elf_texts plain, probes;
    (void)state;
    elf_texts_read(IMAGES "/gemm_plain.fatbin", &plain);
    elf_texts_read(IMAGES "/gemm_probes.fatbin", &probes);
    assert_int_equal(probes.count, plain.count);
    for (size_t i = 0; i < plain.count; i++)
        assert_true(probes.text[i].size > plain.text[i].size);
    elf_texts_free(&plain);
    elf_texts_free(&probes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_correct_gemm_has_four_kernels_that_fit_168_registers),
        cmocka_unit_test(probes_cost_no_spill_and_two_registers_at_most),
        cmocka_unit_test(probes_compiled_out_leave_the_same_machine_code),
        cmocka_unit_test(probes_compiled_in_change_the_machine_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
