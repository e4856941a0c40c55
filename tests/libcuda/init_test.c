/* init_test.c - finding the driver and its one device; names of functions and errors; what is missing says so. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcuda/api.h"

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

static int open_and_initialize(void **state)
{
    open_only(state);
    OK(cu.cuInit(0));
    return 0;
}

static void nothing_works_before_cuInit(void **state)
{
    int count;
    CUdeviceptr memory;
    CUcontext context;
    (void)state;
    assert_cuda(CUDA_ERROR_NOT_INITIALIZED, cu.cuDeviceGetCount(&count));
    assert_cuda(CUDA_ERROR_NOT_INITIALIZED, cu.cuMemAlloc_v2(&memory, 16));
    assert_cuda(CUDA_ERROR_NOT_INITIALIZED, cu.cuCtxGetCurrent(&context));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuInit(1));
}

static void one_hopper_device(void **state)
{
    int count = 0, version = 0;
    CUdevice device = -1;
    char name[64], cut[6];
    size_t total = 0;
    (void)state;
    OK(cu.cuDriverGetVersion(&version));
    assert_int_equal(version, 13000);
    OK(cu.cuDeviceGetCount(&count));
    assert_int_equal(count, 1);
    OK(cu.cuDeviceGet(&device, 0));
    assert_cuda(CUDA_ERROR_INVALID_DEVICE, cu.cuDeviceGet(&device, 1));
    OK(cu.cuDeviceGetName(name, sizeof name, device));
    assert_string_equal(name, "wsdbg simulated sm_90");
    OK(cu.cuDeviceGetName(cut, sizeof cut, device));
    assert_string_equal(cut, "wsdbg");
    OK(cu.cuDeviceTotalMem_v2(&total, device));
    assert_true(total >= (size_t)1 << 30);
}

static void attributes_are_an_H200s(void **state)
{
    static const struct {
        int number, value;
    } rows[] = {
        {1, 1024},                  /* threads a CTA */
        {10, 32},                   /* warp size */
        {12, 65536},                /* registers a CTA */
        {16, 132},                  /* multiprocessors */
        {39, 2048},                 /* threads a multiprocessor */
        {75, 9},                    /* compute capability 9.0 */
        {76, 0},      {81, 233472}, /* shared memory of a multiprocessor */
        {97, 232448},               /* the most a CTA may have */
        {102, 1},                   /* virtual memory management */
        {120, 1},                   /* clusters */
    };
    int value;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OK(cu.cuDeviceGetAttribute(&value, rows[i].number, 0));
        assert_int_equal(value, rows[i].value);
    }
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuDeviceGetAttribute(&value, 0, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuDeviceGetAttribute(&value, 100000, 0));
    assert_cuda(CUDA_ERROR_INVALID_DEVICE, cu.cuDeviceGetAttribute(&value, 1, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuDeviceGetAttribute(NULL, 1, 0));
}

static void errors_have_names(void **state)
{
    const char *text = NULL;
    (void)state;
    OK(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cu.cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGetErrorString(12345, &text));
    assert_null(text);
}

/* Every error that cuda.h has. */
static void every_error_has_a_name_and_a_text(void **state)
{
    char line[4096], name[128];
    int number;
    unsigned seen = 0;
    FILE *header = fopen(CUDA_HEADER, "r");
    (void)state;
    if (!header)
        skip();
    while (fgets(line, sizeof line, header)) {
        const char *said = NULL, *text = NULL;
        if (sscanf(line, " CUDA_ERROR_%100[A-Z0-9_] = %d", name, &number) != 2)
            continue;
        OK(cu.cuGetErrorName(number, &said));
        assert_string_equal(said + strlen("CUDA_ERROR_"), name);
        OK(cu.cuGetErrorString(number, &text));
        assert_true(strlen(text) > 0);
        seen++;
    }
    fclose(header);
    assert_true(seen >= 90);
}

/* ---- cuGetProcAddress: name, CUDA version, flags (2: per-thread default stream), the exported name that is meant ----
 */

static void names_become_functions_of_a_version(void **state)
{
    static const struct {
        const char *name;
        int version;
        uint64_t flags;
        const char *exported;
    } rows[] = {
        {"cuInit", 13000, 0, "cuInit"},
        {"cuMemAlloc", 13000, 0, "cuMemAlloc_v2"},
        {"cuMemcpyHtoD", 12000, 0, "cuMemcpyHtoD_v2"},
        {"cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds"},
        {"cuLaunchKernel", 12000, 0, "cuLaunchKernel"},
        {"cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz"},
        {"cuCtxCreate", 11000, 0, "cuCtxCreate_v2"},
        {"cuCtxCreate", 12040, 0, "cuCtxCreate_v3"},
        {"cuCtxCreate", 13000, 0, "cuCtxCreate_v4"},
        {"cuStreamGetCaptureInfo", 12000, 0, "cuStreamGetCaptureInfo_v2"},
        {"cuStreamGetCaptureInfo", 12030, 2, "cuStreamGetCaptureInfo_v3_ptsz"},
        {"cuGetProcAddress", 13000, 0, "cuGetProcAddress_v2"},
        {"cuEventElapsedTime", 12000, 0, "cuEventElapsedTime"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *found = NULL;
        int status = -1;
        OK(cu.cuGetProcAddress_v2(rows[i].name, &found, rows[i].version, rows[i].flags, &status));
        assert_int_equal(status, 0);
        assert_ptr_equal(found, dlsym(cu.library, rows[i].exported));
    }
}

static void unknown_names_are_not_found(void **state)
{
    void *found = &found;
    int status = -1;
    (void)state;
    OK(cu.cuGetProcAddress_v2("cuMakeCoffee", &found, 13000, 0, &status));
    assert_int_equal(status, 1);
    assert_null(found);
    found = &found;
    OK(cu.cuGetProcAddress_v2("cuMakeCoffee", &found, 13000, 0, NULL));
    assert_null(found);
    assert_cuda(CUDA_ERROR_NOT_FOUND, cu.cuGetProcAddress("cuMakeCoffee", &found, 13000, 0)); /* as before CUDA 12 */
    OK(cu.cuGetProcAddress_v2("cuMemCreate", &found, 1000, 0, &status)); /* there, but not in CUDA 1 */
    assert_int_equal(status, 2);
    assert_null(found);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGetProcAddress_v2("cuInit", &found, 13010, 0, &status));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGetProcAddress_v2(NULL, &found, 13000, 0, NULL));
}

/* Every function that cuda.h declares resolves. */
static void the_header_has_nothing_that_does_not_resolve(void **state)
{
    char line[4096], name[128];
    unsigned seen = 0;
    FILE *header = fopen(CUDA_HEADER, "r");
    (void)state;
    if (!header)
        skip();
    while (fgets(line, sizeof line, header)) {
        const char *at = strstr(line, "CUresult CUDAAPI cu");
        void *found;
        if (!at || sscanf(at, "CUresult CUDAAPI %120[A-Za-z0-9_]", name) != 1)
            continue;
        if (cu.cuGetProcAddress_v2(name, &found, 13000, 0, NULL) != CUDA_SUCCESS || !found)
            fail_msg("%s does not resolve", name);
        seen++;
    }
    fclose(header);
    assert_true(seen > 300);
}

/* ---- what is missing ---- */

static void ask_for_user_objects(void)
{
    cu.cuInit(0);
    if (cu.cuUserObjectCreate() != CUDA_ERROR_NOT_SUPPORTED ||
        cu.cuUserObjectCreate() != CUDA_ERROR_NOT_SUPPORTED)
        _exit(1);
}

static void a_missing_function_is_named_once(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(in_child(ask_for_user_objects, 10, said, sizeof said), 0);
    assert_string_equal(said, "wsdbg: the simulated driver has no cuUserObjectCreate\n");
}

static void ask_for_tables(void)
{
    static const unsigned char id[16] = {1};
    const void *table = &table;
    if (cu.cuGetExportTable(&table, id) != CUDA_ERROR_NOT_SUPPORTED || table)
        _exit(1);
}

static void a_program_on_the_runtime_is_told(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(in_child(ask_for_tables, 10, said, sizeof said), 0);
    assert_non_null(strstr(said, "CUDA runtime, or a library made with it ("));
    assert_non_null(strstr(said, "link it with -cudart shared"));
}

/* ---- processes and the environment ---- */

static void use_after_fork(void)
{
    int count;
    if (cu.cuDeviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED || cu.cuInit(0) != CUDA_ERROR_NOT_INITIALIZED)
        _exit(1);
}

static void a_child_process_has_no_driver(void **state)
{
    char said[256];
    (void)state;
    assert_int_equal(in_child(use_after_fork, 10, said, sizeof said), 0);
}

static void count_multiprocessors(void)
{
    int count = 0;
    setenv("WSDBG_SIM_MULTIPROCESSORS", "5", 1);
    setenv("WSDBG_SIM_SCHEDULE", "priority:2:5000", 1);
    setenv("WSDBG_SIM_SEED", "0x1234", 1);
    if (cu.cuInit(0) || cu.cuDeviceGetAttribute(&count, 16, 0) || count != 5)
        _exit(1);
}

static void refuse_schedule(void)
{
    setenv("WSDBG_SIM_SCHEDULE", "sideways", 1);
    if (cu.cuInit(0) != CUDA_ERROR_INVALID_VALUE)
        _exit(1);
}

static void the_environment_sets_size_and_schedule(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(count_multiprocessors, 10, said, sizeof said), 0);
    assert_string_equal(said, "");
    assert_int_equal(in_child(refuse_schedule, 10, said, sizeof said), 0);
    assert_non_null(strstr(said, "WSDBG_SIM_SCHEDULE: 'sideways' is not round-robin, random or priority"));
}

int main(void)
{
    const struct CMUnitTest before[] = {
        cmocka_unit_test(nothing_works_before_cuInit),
        cmocka_unit_test(a_missing_function_is_named_once),
        cmocka_unit_test(the_environment_sets_size_and_schedule),
    };
    const struct CMUnitTest after[] = {
        cmocka_unit_test(one_hopper_device),
        cmocka_unit_test(attributes_are_an_H200s),
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(every_error_has_a_name_and_a_text),
        cmocka_unit_test(names_become_functions_of_a_version),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(the_header_has_nothing_that_does_not_resolve),
        cmocka_unit_test(a_program_on_the_runtime_is_told),
        cmocka_unit_test(a_child_process_has_no_driver),
    };
    return cmocka_run_group_tests(before, open_only, NULL) + cmocka_run_group_tests(after, open_and_initialize, NULL);
}
