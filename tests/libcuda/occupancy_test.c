/* occupancy_test.c - what fits on a multiprocessor, and on the chip: the figures of NVIDIA's own calculator for sm_90.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/kernels.h"

/* A kernel of so many registers a thread, and static shared memory. */
static CUfunction kernel_of(CUmodule *module, unsigned registers, unsigned shared_bytes)
{
    char text[512];
    snprintf(text, sizeof text,
             ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k() .maxnreg %u\n{\n"
             ".reg .b32 %%r1;\n.shared .align 16 .b8 room[%u];\nmov.u32 %%r1, room;\nst.shared.u32 [%%r1], %%r1;\n"
             "ret;\n}\n",
             registers, shared_bytes);
    OK(cu.cuModuleLoadData(module, text));
    return find_kernel(*module, "k");
}

/* Registers a thread, static and dynamic shared bytes, threads a CTA; CTAs, by cuda_occupancy.h of CUDA 13.0. */
static const struct {
    unsigned registers, fixed, dynamic;
    int threads, ctas;
} rows[] = {
    {32, 16, 0, 1, 32},         /* CTAs */
    {32, 16, 0, 256, 8},        /* threads */
    {32, 16, 0, 96, 21},        /* warps that are no multiple of four, in four register files */
    {32, 16, 0, 160, 12},       /* 60 of the 64 warps */
    {33, 16, 0, 256, 6},        /* counted as 40 */
    {40, 16, 0, 256, 6},        /* registers */
    {255, 16, 0, 32, 8},        /* counted as 256: two warps in each file */
    {255, 16, 0, 96, 2},        /* 6 of the 8 */
    {255, 16, 0, 256, 1},       /* all */
    {255, 16, 0, 288, 0},       /* more than all */
    {168, 16, 0, 384, 1},       /* a warp-specialized GEMM */
    {168, 16, 0, 416, 0},       /* 13 warps are counted as 16 */
    {168, 16, 0, 128, 3},       /* three warps in each file */
    {16, 32768, 0, 128, 6},     /* 33 KiB each of 228, with what the system keeps */
    {16, 16, 231424, 128, 1},   /* the most there is */
    {16, 1000, 20000, 128, 10}, /* in steps of 128 bytes */
};

static void ctas_of_a_multiprocessor(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUmodule module = NULL;
        int count = -1;
        CUfunction k = kernel_of(&module, rows[i].registers, rows[i].fixed);
        OK(cu.cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)rows[i].dynamic));
        OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, k, rows[i].threads, rows[i].dynamic));
        if (count != rows[i].ctas)
            fail_msg("row %zu: %d CTAs, not %d", i, count, rows[i].ctas);
        OK(cu.cuModuleUnload(module));
    }
}

/* What is promised is what a cooperative grid gets, and no CTA more. */
static void a_cooperative_grid_of_all_that_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUmodule module = NULL;
        CUfunction k = kernel_of(&module, rows[i].registers, rows[i].fixed);
        const unsigned most = 132 * (unsigned)rows[i].ctas, threads = (unsigned)rows[i].threads;
        OK(cu.cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)rows[i].dynamic));
        if (most)
            OK(cu.cuLaunchCooperativeKernel(k, most, 1, 1, threads, 1, 1, rows[i].dynamic, NULL, NULL));
        assert_cuda(most ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                    cu.cuLaunchCooperativeKernel(k, most + 1, 1, 1, threads, 1, 1, rows[i].dynamic, NULL, NULL));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuModuleUnload(module));
    }
}

/* The most threads a CTA of the function can have: registers, threads. */
static void registers_limit_the_cta(void **state)
{
    static const int most[][2] = {{32, 1024}, {64, 1024}, {65, 896}, {96, 640}, {128, 512}, {168, 384}, {255, 256}};
    (void)state;
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        CUmodule module = NULL;
        int value = -1;
        CUfunction k = kernel_of(&module, (unsigned)most[i][0], 16);
        OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k));
        assert_int_equal(value, most[i][1]);
        OK(launch(k, 1, (unsigned)value, NULL, NULL));
        if (value < 1024)
            assert_cuda(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch(k, 1, (unsigned)value + 1, NULL, NULL));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuModuleUnload(module));
    }
}

/* ---- grids that wait for all of their CTAs ---- */

/* Each CTA adds 1 to *counter, and waits until all have. */
static const char grid_barrier[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                                   ".visible .entry meet(.param .u64 counter)\n{\n"
                                   ".reg .pred %p1;\n.reg .b32 %r<3>;\n.reg .b64 %rd1;\n"
                                   "ld.param.u64 %rd1, [counter];\nmov.u32 %r1, %nctaid.x;\n"
                                   "atom.global.add.u32 %r0, [%rd1], 1;\n"
                                   "$again:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.lt.u32 %p1, %r2, %r1;\n"
                                   "@%p1 bra $again;\nret;\n}\n";
static unsigned ctas_to_meet;

static uint32_t arrived_at(CUdeviceptr counter)
{
    return __atomic_load_n((uint32_t *)counter, __ATOMIC_ACQUIRE);
}

/* Ends with 0 when all met, 1 when those that are resident wait. */
static void meet(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr counter;
    void *parameters[] = {&counter};
    if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, grid_barrier) ||
        cu.cuModuleGetFunction(&function, module, "meet") || cu.cuMemAlloc_v2(&counter, 4) ||
        cu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000) ||
        cu.cuLaunchKernel(function, ctas_to_meet, 1, 1, 1, 1, 1, 200000, NULL, parameters, NULL))
        _exit(2);
    /* Device memory is memory of the process: no call waits for the kernel. */
    while (arrived_at(counter) < (ctas_to_meet < 132 ? ctas_to_meet : 132))
        usleep(1000);
    if (ctas_to_meet <= 132)
        _exit(cu.cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 3);
    usleep(100000);
    _exit(arrived_at(counter) == 132 && cu.cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY ? 1 : 4);
}

static void a_grid_that_is_not_resident_does_not_meet(void **state)
{
    static const struct {
        unsigned ctas; /* of which a multiprocessor holds one */
        int status;
    } grids[] = {{131, 0}, {132, 0}, {133, 1}, {264, 1}};
    char said[512];
    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        ctas_to_meet = grids[i].ctas;
        assert_int_equal(in_child(meet, 30, said, sizeof said), grids[i].status);
    }
}

/* Clusters are placed whole, within 16 or 18 multiprocessors: with one CTA on each some stay empty. */
static void clusters_are_placed_together(void **state)
{
    static const struct {
        uint32_t size;
        int least, most;
    } sizes[] = {{1, 132, 132}, {2, 66, 66}, {4, 32, 33}, {8, 16, 16}, {16, 8, 8}};
    CUmodule module = NULL;
    CUfunction k = kernel_of(&module, 32, 16);
    (void)state;
    OK(cu.cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000));
    OK(cu.cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct cu_launch_attribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                                .value.cluster = {sizes[i].size, 1, 1}};
        const struct cu_launch_config config = {.grid = {sizes[i].size, 1, 1},
                                                .block = {128, 1, 1},
                                                .shared_bytes = 200000,
                                                .attributes = &attribute,
                                                .attribute_count = 1};
        int count = -1;
        OK(cu.cuOccupancyMaxActiveClusters(&count, k, &config));
        assert_in_range(count, sizes[i].least, sizes[i].most);
    }
    OK(cu.cuModuleUnload(module));
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_of_a_multiprocessor),
        cmocka_unit_test(a_cooperative_grid_of_all_that_fits),
        cmocka_unit_test(registers_limit_the_cta),
        cmocka_unit_test(clusters_are_placed_together),
    };
    const struct CMUnitTest before[] = {cmocka_unit_test(a_grid_that_is_not_resident_does_not_meet)};
    return cmocka_run_group_tests(before, open_only, NULL) + cmocka_run_group_tests(tests, api_begin, api_end);
}
