/* module_test.c - modules and libraries from PTX text, files and fatbins; their kernels and variables; bad images. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/kernels.h"

static void kernels_are_found_by_name(void **state)
{
    const char *name = NULL;
    CUfunction function = NULL;
    CUmodule of = NULL, module = load_kernels();
    (void)state;
    function = find_kernel(module, "number");
    OK(cu.cuFuncGetName(&name, function));
    assert_string_equal(name, "number");
    OK(cu.cuFuncGetModule(&of, function));
    assert_ptr_equal(of, module);
    assert_cuda(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetFunction(&function, module, "numbers"));
    OK(cu.cuModuleUnload(module));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuModuleGetFunction(&function, module, "number"));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuFuncGetName(&name, function));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuModuleUnload((CUmodule)&name));
}

static void kernels_are_counted(void **state)
{
    unsigned count = 0;
    CUfunction functions[16] = {NULL};
    const char *name = NULL;
    CUmodule module = load_kernels();
    (void)state;
    OK(cu.cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, KERNEL_COUNT);
    OK(cu.cuModuleEnumerateFunctions(functions, 16, module));
    OK(cu.cuFuncGetName(&name, functions[KERNEL_COUNT - 1]));
    assert_string_equal(name, LAST_KERNEL);
    assert_null(functions[KERNEL_COUNT]);
    OK(cu.cuModuleUnload(module));
}

static void variables_have_their_values(void **state)
{
    CUdeviceptr address = 0;
    size_t length = 0;
    uint32_t values[4] = {0};
    CUmodule module = load_kernels();
    (void)state;
    OK(cu.cuModuleGetGlobal_v2(&address, &length, module, "counter"));
    assert_int_equal(length, 4);
    OK(cu.cuMemcpyDtoH_v2(values, address, 4));
    assert_int_equal(values[0], 7);
    OK(cu.cuModuleGetGlobal_v2(&address, &length, module, "table"));
    assert_int_equal(length, 16);
    OK(cu.cuMemcpyDtoH_v2(values, address, 16));
    assert_int_equal(values[3], 4);
    OK(cu.cuMemsetD32_v2(address, 9, 4)); /* constants are written like memory */
    assert_cuda(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetGlobal_v2(&address, &length, module, "none"));
    OK(cu.cuModuleUnload(module));
}

/* The observer finds what probes would have brought: a config that is off, the same one each time, and names. */
static void wsdbg_finds_a_config_in_any_module(void **state)
{
    CUdeviceptr config = 0, again = 0, names = 0;
    size_t length = 0;
    unsigned char bytes[40];
    static const unsigned char off[sizeof bytes];
    CUmodule module = load_kernels();
    (void)state;
    OK(cu.cuModuleGetGlobal_v2(&config, &length, module, "wsdbg_config_v1"));
    assert_int_equal(length, sizeof bytes);
    OK(cu.cuMemcpyDtoH_v2(bytes, config, sizeof bytes));
    assert_memory_equal(bytes, off, sizeof bytes);
    OK(cu.cuModuleGetGlobal_v2(&again, &length, module, "wsdbg_config_v1"));
    assert_true(config == again);
    OK(cu.cuModuleGetGlobal_v2(&names, &length, module, "wsdbg_names_v1"));
    assert_int_equal(length % 64, 0);
    OK(cu.cuModuleUnload(module));
}

static void attributes_of_a_kernel(void **state)
{
    int value = -1;
    size_t offset, length;
    CUmodule module = load_kernels();
    CUfunction big = find_kernel(module, "big"), number = find_kernel(module, "number");
    (void)state;
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, big));
    assert_int_equal(value, 32768);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, big));
    assert_int_equal(value, 90);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, big));
    assert_int_equal(value, 49152 - 32768);
    OK(cu.cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 32768));
    assert_cuda(CUDA_ERROR_INVALID_VALUE,
                cu.cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 32768 + 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_NUM_REGS, 32));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuFuncGetAttribute(&value, 99, big));
    OK(cu.cuFuncGetParamInfo(number, 1, &offset, &length));
    assert_int_equal(offset, 8);
    assert_int_equal(length, 4);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuFuncGetParamInfo(number, 2, &offset, &length));
    OK(cu.cuModuleUnload(module));
}

static void occupancy_is_what_fits_on_a_multiprocessor(void **state)
{
    int count = 0;
    size_t available = 0;
    CUmodule module = load_kernels();
    CUfunction big = find_kernel(module, "big");
    (void)state;
    /* 32 KiB and 1 KiB that the system keeps: six of 33 in 228. */
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, big, 128, 0));
    assert_int_equal(count, 6);
    OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&available, big, 2, 128));
    assert_int_equal(available, (228 / 2 - 1) * 1024 - 32768);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, big, 0, 0));
    OK(cu.cuModuleUnload(module));
}

/* ---- libraries: in no context until a context asks ---- */

static void a_library_serves_each_context(void **state)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction here = NULL, there = NULL;
    CUmodule module = NULL;
    CUcontext second;
    CUdeviceptr first_counter, second_counter;
    int value = 0;
    (void)state;
    OK(cu.cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "shared"));
    assert_cuda(CUDA_ERROR_NOT_FOUND, cu.cuLibraryGetKernel(&kernel, library, "none"));
    OK(cu.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
    OK(cu.cuKernelGetFunction(&here, kernel));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, here));
    assert_int_equal(value, 100000);
    OK(cu.cuLibraryGetGlobal(&first_counter, NULL, library, "counter"));
    OK(cu.cuLibraryGetModule(&module, library));
    assert_cuda(CUDA_ERROR_NOT_PERMITTED, cu.cuModuleUnload(module));
    OK(cu.cuCtxCreate_v2(&second, 0, 0));
    OK(cu.cuKernelGetFunction(&there, kernel));
    assert_ptr_not_equal(here, there);
    OK(cu.cuLibraryGetGlobal(&second_counter, NULL, library, "counter"));
    assert_true(first_counter != second_counter);
    OK(cu.cuCtxDestroy_v2(second));
    OK(cu.cuLibraryUnload(library));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuKernelGetFunction(&here, kernel));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuLibraryUnload(library));
}

/* ---- files, fatbins ---- */

static void from_a_file(void **state)
{
    char path[] = "wsdbg-module-XXXXXX";
    CUmodule module = NULL;
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    assert_int_equal(write(file, kernels, strlen(kernels)), strlen(kernels)); /* without a zero byte */
    OK(cu.cuModuleLoad(&module, path));
    find_kernel(module, "number");
    OK(cu.cuModuleUnload(module));
    close(file);
    unlink(path);
    assert_cuda(CUDA_ERROR_FILE_NOT_FOUND, cu.cuModuleLoad(&module, path));
}

static void load_fatbin(const char *name, CUresult expected, CUmodule *module)
{
    char path[4096];
    snprintf(path, sizeof path, IMAGES "/%s.fatbin", name);
    assert_cuda(expected, cu.cuModuleLoad(module, path));
}

static void from_the_ptx_of_a_fatbin(void **state)
{
    static const char *const packings[] = {"default", "speed", "none"}; /* zstd, LZ4, not packed */
    (void)state;
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        CUmodule module = NULL;
        unsigned count = 0;
        load_fatbin(packings[i], CUDA_SUCCESS, &module);
        OK(cu.cuModuleGetFunctionCount(&count, module));
        assert_int_equal(count, 1);
        OK(cu.cuModuleUnload(module));
    }
}

static const char *fatbin_path;
static void load_what_cannot_run(void)
{
    CUmodule module;
    CUcontext context;
    cu.cuInit(0);
    cu.cuCtxCreate_v2(&context, 0, 0);
    _exit(cu.cuModuleLoad(&module, fatbin_path) == CUDA_ERROR_NO_BINARY_FOR_GPU ? 0 : 1);
}

/* ---- bad images: text, result, what is said in the log ---- */

static void bad_text_is_refused_in_words(void **state)
{
    static const struct {
        const char *text;
        CUresult result;
        const char *log;
    } rows[] = {
        {"not ptx at all", CUDA_ERROR_INVALID_PTX, ":1:"},
        {"", CUDA_ERROR_INVALID_PTX, ":1:"},
        {"\177EL", CUDA_ERROR_INVALID_PTX, ":1:"},
        {".version 8.3\n.target sm_90\n.address_size 64\n.entry k() {\n  frobnicate.u32 %r1;\n}\n",
         CUDA_ERROR_INVALID_PTX, ":5:"},
        {".version 8.7\n.target sm_100\n.address_size 64\n.entry k() {\n  ret;\n}\n", CUDA_ERROR_INVALID_PTX, "sm_100"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char log[512] = "?";
        int options[] = {5, 6};
        void *values[] = {log, (void *)sizeof log};
        CUmodule module = NULL;
        assert_cuda(rows[i].result, cu.cuModuleLoadDataEx(&module, rows[i].text, 2, options, values));
        if (!strstr(log, rows[i].log))
            fail_msg("the log '%s' has no '%s'", log, rows[i].log);
    }
}

static void a_cubin_is_refused(void **state)
{
    static const char cubin[64] = "\177ELF\2\1\1\063\007";
    CUmodule module;
    (void)state;
    assert_cuda(CUDA_ERROR_NO_BINARY_FOR_GPU, cu.cuModuleLoadData(&module, cubin));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuModuleLoadData(&module, NULL));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuModuleLoadData(NULL, kernels));
}

static void a_fatbin_without_ptx_says_how_to_get_it(void **state)
{
    static const char *const rows[][2] = {
        {IMAGES "/machine_code.fatbin", "/machine_code.fatbin holds machine code for sm_90a; "},
        {IMAGES "/newer.fatbin", "/newer.fatbin holds PTX for sm_100; "},
    };
    char said[1024];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fatbin_path = rows[i][0];
        assert_int_equal(in_child(load_what_cannot_run, 20, said, sizeof said), 0);
        assert_non_null(strstr(said, rows[i][1]));
        assert_non_null(strstr(said, "the simulator executes PTX for sm_90 or older: compile with -gencode "
                                     "arch=compute_90a,code=[sm_90a,compute_90a]"));
    }
}

static int without_cuda(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest before[] = {cmocka_unit_test(a_fatbin_without_ptx_says_how_to_get_it)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_found_by_name),
        cmocka_unit_test(kernels_are_counted),
        cmocka_unit_test(variables_have_their_values),
        cmocka_unit_test(wsdbg_finds_a_config_in_any_module),
        cmocka_unit_test(attributes_of_a_kernel),
        cmocka_unit_test(occupancy_is_what_fits_on_a_multiprocessor),
        cmocka_unit_test(a_library_serves_each_context),
        cmocka_unit_test(from_a_file),
        cmocka_unit_test(from_the_ptx_of_a_fatbin),
        cmocka_unit_test(bad_text_is_refused_in_words),
        cmocka_unit_test(a_cubin_is_refused),
    };
    return cmocka_run_group_tests(before, without_cuda, NULL) + cmocka_run_group_tests(tests, api_begin, api_end);
}
