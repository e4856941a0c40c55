/* launch_test.c - launches: parameters, geometry, clusters, cooperative grids, what is refused. */
#include <string.h>
#include <unistd.h>

#include "libcuda/kernels.h"

static CUmodule module;

static int begin(void **state)
{
    api_begin(state);
    module = load_kernels();
    return 0;
}

static CUdeviceptr words(size_t count)
{
    CUdeviceptr memory = 0;
    OK(cu.cuMemAlloc_v2(&memory, 4 * count));
    OK(cu.cuMemsetD32_v2(memory, 0xdead, count));
    return memory;
}

static uint32_t word(CUdeviceptr memory, size_t number)
{
    uint32_t value = 0;
    OK(cu.cuMemcpyDtoH_v2(&value, memory + 4 * number, 4));
    return value;
}

static void each_thread_runs_once(void **state)
{
    uint32_t first = 100;
    CUdeviceptr out = words(5 * 70 + 1);
    void *parameters[] = {&out, &first};
    (void)state;
    OK(launch(find_kernel(module, "number"), 5, 70, NULL, parameters));
    OK(cu.cuCtxSynchronize());
    for (unsigned i = 0; i < 5 * 70; i++)
        assert_int_equal(word(out, i), 100 + i);
    assert_int_equal(word(out, 5 * 70), 0xdead);
    OK(cu.cuMemFree_v2(out));
}

static void parameters_may_come_as_a_buffer(void **state)
{
    struct {
        CUdeviceptr out;
        uint32_t first;
    } buffer = {words(1), 55};
    size_t byte_count = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &byte_count,
                     CU_LAUNCH_PARAM_END};
    CUfunction number = find_kernel(module, "number");
    (void)state;
    OK(cu.cuLaunchKernel(number, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    assert_int_equal(word(buffer.out, 0), 55);
    byte_count = 8;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(number, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(number, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuMemFree_v2(buffer.out));
}

/* Grid, block, dynamic shared bytes; none of these runs, and the context lives on. */
static void bad_geometry_is_refused(void **state)
{
    static const struct {
        unsigned grid[3], block[3], shared;
        CUresult result;
    } rows[] = {
        {{0, 1, 1}, {32, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 65536, 1}, {32, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {0, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1025, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {32, 33, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 65}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {32, 1, 1}, 49153, CUDA_ERROR_INVALID_VALUE},
    };
    CUdeviceptr out = words(1);
    void *parameters[] = {&out};
    CUfunction shared = find_kernel(module, "shared");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_cuda(rows[i].result,
                    cu.cuLaunchKernel(shared, rows[i].grid[0], rows[i].grid[1], rows[i].grid[2], rows[i].block[0],
                                      rows[i].block[1], rows[i].block[2], rows[i].shared, NULL, parameters, NULL));
    assert_int_equal(word(out, 0), 0xdead);
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, launch((CUfunction)&out, 1, 1, NULL, parameters));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, launch(NULL, 1, 1, NULL, parameters));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, launch(shared, 1, 1, (CUstream)&out, parameters));
    OK(cu.cuMemFree_v2(out));
}

static void more_shared_memory_must_be_asked_for(void **state)
{
    CUdeviceptr out = words(1);
    void *parameters[] = {&out};
    CUfunction shared = find_kernel(module, "shared");
    (void)state;
    OK(cu.cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000));
    OK(cu.cuLaunchKernel(shared, 1, 1, 1, 32, 1, 1, 200000, NULL, parameters, NULL));
    assert_int_equal(word(out, 0), 200000);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(shared, 1, 1, 1, 32, 1, 1, 200001, NULL, parameters, NULL));
    OK(cu.cuMemFree_v2(out));
}

static CUresult launch_cluster(CUfunction function, uint32_t ctas, uint32_t cluster, void **parameters)
{
    struct cu_launch_attribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                            .value.cluster = {cluster, 1, 1}};
    struct cu_launch_config config = {
        .grid = {ctas, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .attribute_count = 1};
    return cu.cuLaunchKernelEx(&config, function, parameters, NULL);
}

static void clusters_are_launched_as_asked(void **state)
{
    CUdeviceptr out = words(8);
    void *parameters[] = {&out};
    CUfunction ranks = find_kernel(module, "ranks");
    (void)state;
    OK(launch_cluster(ranks, 8, 4, parameters));
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(word(out, i), i % 4);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, launch_cluster(ranks, 6, 4, parameters)); /* not whole clusters */
    assert_cuda(CUDA_ERROR_INVALID_VALUE, launch_cluster(ranks, 8, 0, parameters));
    assert_cuda(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_cluster(ranks, 16, 16, parameters)); /* not portable */
    OK(cu.cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    assert_cuda(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_cluster(ranks, 32, 32, parameters)); /* never */
    OK(cu.cuMemFree_v2(out));
}

static void a_cooperative_grid_must_be_resident(void **state)
{
    CUfunction big = find_kernel(module, "big"); /* six on each of 132 multiprocessors */
    (void)state;
    OK(cu.cuLaunchCooperativeKernel(big, 6 * 132, 1, 1, 32, 1, 1, 0, NULL, NULL));
    assert_cuda(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                cu.cuLaunchCooperativeKernel(big, 6 * 132 + 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuLaunchKernel(big, 6 * 132 + 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuCtxSynchronize());
}

static void unknown_launch_attributes_are_refused(void **state)
{
    struct cu_launch_attribute attribute = {.id = 200};
    struct cu_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .attribute_count = 1};
    CUfunction big = find_kernel(module, "big");
    (void)state;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernelEx(&config, big, NULL, NULL));
    attribute.id = 8; /* a priority: without effect */
    OK(cu.cuLaunchKernelEx(&config, big, NULL, NULL));
    attribute.id = 7; /* a programmatic event: not simulated */
    assert_cuda(CUDA_ERROR_NOT_SUPPORTED, cu.cuLaunchKernelEx(&config, big, NULL, NULL));
    config.attributes = NULL;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernelEx(&config, big, NULL, NULL));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernelEx(NULL, big, NULL, NULL));
    OK(cu.cuCtxSynchronize());
}

/* Device memory is memory of the process. */
static uint32_t now(CUdeviceptr memory)
{
    return __atomic_load_n((uint32_t *)memory, __ATOMIC_ACQUIRE);
}

static CUresult launch_dependent(bool is_programmatic, CUdeviceptr out, CUstream stream)
{
    struct cu_launch_attribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                            .value.programmatic = is_programmatic};
    struct cu_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = stream, .attributes = &attribute, .attribute_count = 1};
    void *parameters[] = {&out};
    return cu.cuLaunchKernelEx(&config, find_kernel(module, "dependent"), parameters, NULL);
}

static void a_dependent_grid_begins_early_and_waits(void **state)
{
    CUstream stream;
    CUdeviceptr flag = words(1), polled = words(1), out = words(2);
    void *parameters[] = {&flag, &polled};
    (void)state;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int is_programmatic = 0; is_programmatic < 2; is_programmatic++) {
        OK(cu.cuMemsetD32_v2(flag, 0, 1));
        OK(cu.cuMemsetD32_v2(out, 0, 2));
        OK(cu.cuCtxSynchronize());
        OK(launch(find_kernel(module, "poll"), 1, 32, stream, parameters));
        OK(launch_dependent(is_programmatic, out, stream));
        while (is_programmatic && now(out) == 0)
            usleep(1000);
        assert_int_equal(now(out), is_programmatic);
        assert_int_equal(now(out + 4), 0);
        OK(cu.cuMemsetD32Async(flag, 1, 1, CU_STREAM_PER_THREAD));
        OK(cu.cuStreamSynchronize(stream));
        assert_int_equal(now(out + 4), 1);
    }
    OK(cu.cuStreamDestroy_v2(stream));
}

static void a_kernel_of_a_library_is_launched_as_it_is(void **state)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    uint32_t value = 3;
    CUdeviceptr out = words(1);
    void *parameters[] = {&out, &value};
    (void)state;
    OK(cu.cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "add"));
    OK(launch(kernel, 1, 1, NULL, parameters));
    assert_int_equal(word(out, 0), 0xdead + 3);
    OK(cu.cuLibraryUnload(library));
    OK(cu.cuMemFree_v2(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_runs_once),
        cmocka_unit_test(parameters_may_come_as_a_buffer),
        cmocka_unit_test(bad_geometry_is_refused),
        cmocka_unit_test(more_shared_memory_must_be_asked_for),
        cmocka_unit_test(clusters_are_launched_as_asked),
        cmocka_unit_test(a_cooperative_grid_must_be_resident),
        cmocka_unit_test(unknown_launch_attributes_are_refused),
        cmocka_unit_test(a_dependent_grid_begins_early_and_waits),
        cmocka_unit_test(a_kernel_of_a_library_is_launched_as_it_is),
    };
    return cmocka_run_group_tests(tests, begin, api_end);
}
