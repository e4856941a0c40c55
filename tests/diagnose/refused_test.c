/* refused_test.c - what is said of calls that the driver refused: a case a row, on a device with an H200's limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/refused.h"
#include "model/launch_needs.h"

/* A kernel of 64 registers and 1 KiB of static shared memory, launched with one warpgroup a CTA: nothing is wrong. */
static struct wsdbg_refusal launch(int32_t result)
{
    struct wsdbg_refusal refusal = {0};
    struct wsdbg_refusal_row *row = &refusal.row;
    memset(row, 0xff, sizeof *row);
    row->kind = WSDBG_REFUSAL_LAUNCH;
    row->result = result;
    row->flags = 0;
    row->dynamic_shared_bytes = 0;
    for (int axis = 0; axis < 3; axis++) {
        row->grid[axis] = 1;
        row->block[axis] = axis ? 1 : 128;
        row->required_cluster[axis] = 0;
    }
    row->registers = 64;
    row->static_shared_bytes = 1024;
    row->most_dynamic_shared_bytes = 49152 - 1024;
    row->most_threads = 1024;
    row->non_portable_cluster = row->must_have_cluster = 0;
    row->registers_per_cta = 65536;
    row->threads_per_cta = 1024;
    row->shared_per_cta = 49152;
    row->shared_per_cta_most = 232448;
    row->cooperative = 1;
    row->sm_count = 132;
    row->compute_capability = 90;
    strcpy(row->call, "cuLaunchKernel");
    strcpy(row->name, "_Z4gemmPf");
    return refusal;
}

static void expect(const struct wsdbg_refusal *refusal, const struct wsdbg_holds *holds, enum wsdbg_refused cause,
                   const char *sentence)
{
    struct wsdbg_refused_words words;
    wsdbg_refused_explain(refusal, holds, &words);
    assert_string_equal(words.sentence, sentence);
    assert_string_equal(wsdbg_refused_name(words.cause), wsdbg_refused_name(cause));
}

static void registers_are_counted_as_they_are_given_out(void **state)
{
    struct wsdbg_refusal refusal = launch(701);
    struct wsdbg_refused_words words;
    (void)state;
    refusal.row.registers = 170;
    refusal.row.block[0] = 384;
    refusal.row.most_threads = 256;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_TOO_MANY_REGS,
           "170 → 176 registers × 384 threads = 67,584 > 65,536; largest that launches: 168");
    wsdbg_refused_explain(&refusal, NULL, &words);
    assert_string_equal(words.subject, "gemm, grid 1x1x1, block 384x1x1");
    refusal.row.registers = 224;
    refusal.row.block[0] = 257; /* 9 warps take the room of 12 */
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_TOO_MANY_REGS,
           "224 registers × 257 → 384 threads = 86,016 > 65,536; largest that launches: 168");
}

static void a_cta_beyond_the_launch_bounds_is_no_matter_of_registers(void **state)
{
    struct wsdbg_refusal refusal = launch(701);
    (void)state;
    refusal.row.most_threads = 256;
    refusal.row.block[0] = 384;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_BLOCK,
           "a CTA of 384 threads: the kernel was compiled for at most 256 (__launch_bounds__, .maxntid, .reqntid)");
}

static void shared_memory(void **state)
{
    struct wsdbg_refusal refusal = launch(1);
    (void)state;
    refusal.row.dynamic_shared_bytes = 65536;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
           "65,536 bytes of dynamic shared memory > 48,128, as the kernel's MAX_DYNAMIC_SHARED_SIZE_BYTES is set");
    refusal.row.dynamic_shared_bytes = 232448;
    expect(
        &refusal, NULL, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
        "1,024 static + 232,448 dynamic = 233,472 bytes of shared memory > 232,448, the most that a CTA gets on this "
        "device");
    refusal.row.dynamic_shared_bytes = 0;
    refusal.row.kind = WSDBG_REFUSAL_SETTING;
    refusal.row.attribute = 8;
    refusal.row.value = 232000;
    expect(
        &refusal, NULL, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
        "MAX_DYNAMIC_SHARED_SIZE_BYTES 232,000 + 1,024 static = 233,024 bytes > 232,448, the most that a CTA gets on "
        "this device");
}

static void clusters(void **state)
{
    struct wsdbg_refusal refusal = launch(1);
    struct wsdbg_refusal_row *row = &refusal.row;
    (void)state;
    row->grid[0] = 16;
    memcpy(row->cluster, (uint32_t[]){16, 1, 1}, sizeof row->cluster);
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER,
           "a cluster of 16 CTAs: more than 8 are not portable, and the kernel's NON_PORTABLE_CLUSTER_SIZE_ALLOWED is "
           "not set");
    row->non_portable_cluster = 1;
    row->clusters_most = 0;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER,
           "no group of multiprocessors has room for a cluster of 16 such CTAs, even on an empty device");
    row->clusters_most = WSDBG_UNKNOWN32;
    row->grid[0] = 24;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER,
           "a grid of 24 x 1 x 1 CTAs is not a whole number of clusters of 16 x 1 x 1");
    row->grid[0] = 32;
    memcpy(row->cluster, (uint32_t[]){16, 2, 1}, sizeof row->cluster);
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER,
           "a cluster of 16 x 2 x 1 = 32 CTAs: at least 1 and at most 16");
    memcpy(row->cluster, (uint32_t[]){4, 1, 1}, sizeof row->cluster);
    memcpy(row->required_cluster, (uint32_t[]){2, 1, 1}, sizeof row->cluster);
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER,
           "a cluster of 4 x 1 x 1 CTAs: the kernel was compiled for 2 x 1 x 1 (__cluster_dims__)");
    memset(row->cluster, 0xff, sizeof row->cluster);
    memset(row->required_cluster, 0, sizeof row->cluster);
    row->must_have_cluster = 1;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_CLUSTER, "the kernel can only be launched with a cluster size");
}

static void grids_and_blocks(void **state)
{
    struct wsdbg_refusal refusal = launch(1);
    struct wsdbg_refusal_row *row = &refusal.row;
    (void)state;
    row->grid[1] = 65536;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_GRID,
           "a grid of 1 x 65,536 x 1 CTAs: at most 2,147,483,647 x 65,535 x 65,535");
    row->grid[1] = 1;
    row->block[0] = 2048;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_BLOCK,
           "a CTA of 2048 x 1 x 1 = 2,048 threads: at least 1 and at most 1,024, of these 64 in z");
    row->block[0] = 1024;
    row->result = 720;
    row->flags = WSDBG_LAUNCH_COOPERATIVE;
    row->grid[0] = 265;
    row->ctas_per_sm = 2;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_NOT_COOPERATIVE,
           "a cooperative grid of 265 CTAs > 2 a multiprocessor × 132 = 264 that are resident at one time");
}

/* Nothing is found, and nothing that the driver did not tell is taken for zero. */
static void what_is_not_known_is_no_reason(void **state)
{
    static const char sentence[] =
        "shape, registers, shared memory and cluster are within the known limits of kernel and device; a required CTA "
        "size (.reqntid), a parameter, the stream or a launch attribute may be the reason";
    static const int32_t results[] = {1, 701, 720, 801, 912};
    (void)state;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        struct wsdbg_refusal refusal = launch(results[i]);
        expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_REFUSED, sentence);
        memset((char *)&refusal.row + offsetof(struct wsdbg_refusal_row, registers), 0xff,
               sizeof refusal.row - offsetof(struct wsdbg_refusal_row, registers));
        refusal.row.flags = WSDBG_LAUNCH_COOPERATIVE;
        refusal.row.dynamic_shared_bytes = 230000;
        expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_REFUSED, sentence);
    }
}

static struct wsdbg_holds holds_of(const char *ptx)
{
    struct wsdbg_holds holds;
    const struct wsdbg_image image = {(const unsigned char *)ptx, strlen(ptx)};
    assert_null(wsdbg_holds_read(&image, &holds));
    return holds;
}

static void code_for_another_device(void **state)
{
    struct wsdbg_refusal refusal = launch(209);
    const struct wsdbg_holds newer = holds_of("// made by hand\n.version 8.7\n.target sm_120, debug\n");
    const struct wsdbg_holds hopper = holds_of(".version 8.0\n .target sm_90a\n");
    const struct wsdbg_holds runs = holds_of(".version 8.0\n.target sm_80\n");
    (void)state;
    expect(&refusal, NULL, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
           "the module has no code for this device; which architectures it has code for is not known");
    expect(&refusal, &newer, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
           "the module holds PTX for sm_120, none of which runs on this device, sm_90");
    expect(&refusal, &runs, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
           "the driver accepts none of the module's code for this device, sm_90; the module holds PTX for sm_80");
    refusal.row.compute_capability = 100;
    expect(&refusal, &hopper, WSDBG_REFUSED_ARCH_MISMATCH,
           "the module holds PTX for sm_90a; this device is sm_100, and code for sm_90a runs on sm_90 only");
    refusal.row.result = 218; /* what a driver answers to PTX text of another architecture */
    expect(&refusal, &hopper, WSDBG_REFUSED_ARCH_MISMATCH,
           "the module holds PTX for sm_90a; this device is sm_100, and code for sm_90a runs on sm_90 only");
    refusal.row.result = 222;
    expect(&refusal, &runs, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
           "the PTX is of version 8.0, newer than this driver can compile");
}

static void what_is_no_image_is_an_error(void **state)
{
    static const char *const texts[] = {
        "", "no code", ".version 8.0\n", ".target sm_90\n", ".version 8.0\n.target compute_90\n", "\177ELF"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wsdbg_holds holds;
        const struct wsdbg_image image = {(const unsigned char *)texts[i], strlen(texts[i])};
        struct wsdbg_error *error = wsdbg_holds_read(&image, &holds);
        assert_string_equal(wsdbg_error_message(error), "neither PTX nor a fatbin nor a cubin");
        wsdbg_error_destroy(error);
    }
}

/* The same numbers as the toolkit's occupancy calculator. */
static void portions_of_a_register_file(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_registers_given(170), 176);
    assert_int_equal(wsdbg_registers_of_cta(168, 384), 64512);
    assert_int_equal(wsdbg_registers_of_cta(255, 256), 65536);
    assert_int_equal(wsdbg_registers_of_cta(32, 33), 4096); /* 2 warps as 4 */
    assert_int_equal(wsdbg_registers_most(128, WSDBG_SM_90_REGISTERS), 255);
    assert_int_equal(wsdbg_registers_most(256, WSDBG_SM_90_REGISTERS), 255);
    assert_int_equal(wsdbg_registers_most(384, WSDBG_SM_90_REGISTERS), 168);
    assert_int_equal(wsdbg_registers_most(512, WSDBG_SM_90_REGISTERS), 128);
    assert_int_equal(wsdbg_registers_most(1024, WSDBG_SM_90_REGISTERS), 64);
    assert_int_equal(wsdbg_registers_most(0, WSDBG_SM_90_REGISTERS), 0);
    assert_int_equal(wsdbg_threads_most(170, WSDBG_SM_90_REGISTERS), 256);
    assert_int_equal(wsdbg_threads_most(168, WSDBG_SM_90_REGISTERS), 384);
    assert_int_equal(wsdbg_threads_most(32, WSDBG_SM_90_REGISTERS), 1024);
    assert_int_equal(wsdbg_threads_most(UINT32_MAX, WSDBG_SM_90_REGISTERS), 0);
    for (uint32_t threads = 1; threads <= 1024; threads++)
        assert_true(wsdbg_registers_of_cta(wsdbg_registers_most(threads, WSDBG_SM_90_REGISTERS), threads) <=
                    WSDBG_SM_90_REGISTERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_counted_as_they_are_given_out),
        cmocka_unit_test(a_cta_beyond_the_launch_bounds_is_no_matter_of_registers),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(clusters),
        cmocka_unit_test(grids_and_blocks),
        cmocka_unit_test(what_is_not_known_is_no_reason),
        cmocka_unit_test(code_for_another_device),
        cmocka_unit_test(what_is_no_image_is_an_error),
        cmocka_unit_test(portions_of_a_register_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
