/* refusal_words_test.c - launches, modules and names that are refused: the driver's error, and the words with it.  None
 * of them harms the context. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcuda/kernels.h"

/* What stderr got meanwhile. */
static int caught[2], kept_stderr;

static void catch_stderr(void)
{
    fflush(stderr);
    assert_int_equal(pipe(caught), 0);
    kept_stderr = dup(STDERR_FILENO);
    dup2(caught[1], STDERR_FILENO);
    close(caught[1]);
}

static void give_stderr_back(char *said, size_t said_bytes)
{
    fflush(stderr);
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    const ssize_t count = read(caught[0], said, said_bytes - 1); /* nobody holds the other end: what is there, or 0 */
    said[count > 0 ? count : 0] = '\0';
    close(caught[0]);
}

#define EXPECT_WORDS(expected, call, words)                                         \
    do {                                                                            \
        char said[2048];                                                            \
        catch_stderr();                                                             \
        const CUresult result = call;                                               \
        give_stderr_back(said, sizeof said);                                        \
        assert_int_equal(result, expected);                                         \
        if (!strstr(said, words))                                                   \
            fail_msg("%s: '%s' is not in: %s", #call, (const char *)(words), said); \
    } while (0)

static CUmodule module;

static int begin(void **state)
{
    api_begin(state);
    module = load_kernels();
    return 0;
}

/* ---- launches ---- */

static void geometry(void **state)
{
    static const struct {
        unsigned grid[3], block[3], shared;
        const char *words;
    } rows[] = {
        {{0, 1, 1}, {32, 1, 1}, 0, "a launch is refused: shared: a grid of 0 x 1 x 1 CTAs"},
        {{1, 65536, 1}, {32, 1, 1}, 0, "a launch is refused: shared: a grid of 1 x 65536 x 1 CTAs"},
        {{1, 1, 1}, {0, 1, 1}, 0, "a launch is refused: shared: a CTA of 0 x 1 x 1 threads"},
        {{1, 1, 1}, {1025, 1, 1}, 0, "a launch is refused: shared: a CTA of 1025 x 1 x 1 threads: at most 1024"},
        {{1, 1, 1}, {1, 1, 65}, 0, "a launch is refused: shared: a CTA of 1 x 1 x 65 threads: at most 1024, 64 in z"},
        {{1, 1, 1},
         {32, 1, 1},
         49153,
         "a launch is refused: shared: 49153 bytes of dynamic shared memory, the "
         "function's MAX_DYNAMIC_SHARED_SIZE_BYTES is 49152"},
    };
    uint64_t out = 0;
    void *parameters[] = {&out};
    CUfunction shared = find_kernel(module, "shared");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE,
                     cu.cuLaunchKernel(shared, rows[i].grid[0], rows[i].grid[1], rows[i].grid[2], rows[i].block[0],
                                       rows[i].block[1], rows[i].block[2], rows[i].shared, NULL, parameters, NULL),
                     rows[i].words);
}

static CUresult launch_clusters(unsigned ctas, unsigned cluster)
{
    uint64_t out = 0;
    void *parameters[] = {&out};
    struct cu_launch_attribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                            .value.cluster = {cluster, 1, 1}};
    const struct cu_launch_config config = {
        .grid = {ctas, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .attribute_count = 1};
    return cu.cuLaunchKernelEx(&config, find_kernel(module, "ranks"), parameters, NULL);
}

static void clusters_and_cooperative_grids(void **state)
{
    CUfunction big = find_kernel(module, "big");
    (void)state;
    EXPECT_WORDS(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_clusters(16, 16),
                 "ranks: clusters of 16 CTAs: for more than 8 the function's NON_PORTABLE_CLUSTER_SIZE_ALLOWED must be "
                 "set");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch_clusters(6, 4),
                 "ranks: a grid of 6 x 1 x 1 CTAs is not whole clusters of 4 x 1 x 1");
    EXPECT_WORDS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                 cu.cuLaunchCooperativeKernel(big, 793, 1, 1, 32, 1, 1, 0, NULL, NULL),
                 "big: a cooperative grid of 793 CTAs: 792 fit at one time");
}

static void parameters_that_cannot_be_read(void **state)
{
    CUfunction number = find_kernel(module, "number");
    CUdeviceptr out = 0;
    uint32_t first = 0;
    size_t byte_count = 8;
    char *page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *missing[] = {&out, NULL}, *wild[] = {&out, page + 4096}, *cut[] = {page + 4092, &first};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &out, CU_LAUNCH_PARAM_BUFFER_SIZE, &byte_count,
                     CU_LAUNCH_PARAM_END};
    (void)state;
    munmap(page + 4096, 4096);
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(number, 1, 1, NULL, missing),
                 "number: parameter 2 of 2: no 4 bytes can be read at (nil)");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(number, 1, 1, NULL, wild),
                 "number: parameter 2 of 2: no 4 bytes can be read at 0x");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(number, 1, 1, NULL, cut),
                 "number: parameter 1 of 2: no 8 bytes can be read at 0x");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(number, 1, 1, NULL, NULL),
                 "number: it has 2 parameters, none were given");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(number, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
                 "number: a buffer of 8 bytes, its parameters have 12");
    munmap(page, 4096);
}

/* Kernels that say what they need. */
static void kernels_that_set_limits(void **state)
{
    static const char text[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                               ".visible .entry exactly() .reqntid 64 { ret; }\n"
                               ".visible .entry at_most() .maxntid 128 { ret; }\n"
                               ".visible .entry wide() .maxnreg 168 { ret; }\n"
                               ".visible .entry pairs() .reqnctapercluster 2 { ret; }\n";
    CUmodule limits = NULL;
    (void)state;
    OK(cu.cuModuleLoadData(&limits, text));
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(find_kernel(limits, "exactly"), 1, 32, NULL, NULL),
                 "exactly: a CTA of 32 x 1 x 1 threads, .reqntid says 64 x 1 x 1");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(find_kernel(limits, "at_most"), 1, 129, NULL, NULL),
                 "at_most: a CTA of 129 threads, .maxntid says 128");
    EXPECT_WORDS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch(find_kernel(limits, "wide"), 1, 385, NULL, NULL),
                 "wide: 385 threads with 168 registers each need 86016 registers: an SM has 65536");
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, launch(find_kernel(limits, "pairs"), 3, 32, NULL, NULL),
                 "pairs: a grid of 3 x 1 x 1 CTAs is not whole clusters of 2 x 1 x 1");
    assert_cuda(CUDA_ERROR_NOT_PERMITTED,
                cu.cuFuncSetAttribute(find_kernel(limits, "pairs"), CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    OK(cu.cuModuleUnload(limits));
}

/* ---- modules and names ---- */

static void names_that_are_not_there(void **state)
{
    CUfunction function = NULL;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    (void)state;
    EXPECT_WORDS(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetFunction(&function, module, "nunber"),
                 "wsdbg simulator: the program has no kernel 'nunber', it has number, add, hang, poll, ");
    OK(cu.cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_WORDS(CUDA_ERROR_NOT_FOUND, cu.cuLibraryGetKernel(&kernel, library, "nunber"),
                 "the program has no kernel 'nunber', it has number, ");
    OK(cu.cuLibraryUnload(library));
}

#define HEAD ".version 8.3\n.target sm_90a\n.address_size 64\n"

static void text_that_is_not_for_this_device(void **state)
{
    static const struct {
        const char *text;
        CUresult result;
        const char *words;
    } rows[] = {
        {".version 8.7\n.target sm_100a\n.address_size 64\n", CUDA_ERROR_INVALID_PTX,
         "the module's image:2: the text is for sm_100a; the simulator is an sm_90"},
        {".version 10.1\n.target sm_90a\n.address_size 64\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
         "the module's image:1: PTX 10.1: versions 6 to 9 can be read"},
        {HEAD ".visible .entry k() {\n  tcgen05.fence::before_thread_sync;\n}\n", CUDA_ERROR_INVALID_PTX,
         "the module's image:5: "},
        {HEAD ".visible .entry k() {\n  bra nowhere;\n}\n", CUDA_ERROR_INVALID_PTX, "nowhere"},
        {HEAD ".visible .entry k() {\n  mov.u32 %r1, 0;\n}\n", CUDA_ERROR_INVALID_PTX, "%r1"},
        {HEAD ".visible .entry k() {\n", CUDA_ERROR_INVALID_PTX, "the module's image:"},
        {"\177ELF\2\1\1\063\007 and so on: machine code", CUDA_ERROR_NO_BINARY_FOR_GPU,
         "machine code (a cubin), which the simulator does not execute: load PTX, or a fatbin with PTX in it"},
    };
    CUmodule other = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_WORDS(rows[i].result, cu.cuModuleLoadData(&other, rows[i].text), rows[i].words);
}

/* A program prints its logs whether or not something was written to them: index in the options of the size that is
 * given back. */
static void logs_are_text_in_any_case(void **state)
{
    char errors[256], information[64];
    int options[] = {3, 4, 5, 6};
    CUmodule other = NULL;
    CUlibrary library = NULL;
    (void)state;
    memset(errors, 'x', sizeof errors);
    memset(information, 'x', sizeof information);
    void *good[] = {information, (void *)sizeof information, errors, (void *)sizeof errors};
    OK(cu.cuModuleLoadDataEx(&other, kernels, 4, options, good));
    OK(cu.cuModuleUnload(other));
    assert_string_equal(errors, "");
    assert_string_equal(information, "");
    assert_int_equal((size_t)good[1], 0);
    assert_int_equal((size_t)good[3], 0);
    void *bad[] = {information, (void *)sizeof information, errors, (void *)sizeof errors};
    EXPECT_WORDS(CUDA_ERROR_INVALID_PTX, cu.cuLibraryLoadData(&library, "rubbish", options, bad, 4, NULL, NULL, 0),
                 "rubbish");
    assert_non_null(strstr(errors, "rubbish"));
    assert_int_equal((size_t)bad[3], strlen(errors));
}

/* ---- memory ---- */

static void more_memory_than_there_is(void **state)
{
    CUdeviceptr memory = 0;
    (void)state;
    EXPECT_WORDS(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&memory, (size_t)80 << 30),
                 "no room for 85899345920 bytes: the simulated device has 4294967296, of which ");
}

static void memory_that_is_not_there_is_not_registered(void **state)
{
    char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    munmap(page + 4096, 4096);
    EXPECT_WORDS(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostRegister_v2(page, 3 * 4096, 0),
                 "cuMemHostRegister: not all of the 12288 bytes at 0x");
    OK(cu.cuMemHostRegister_v2(page, 4096, 0));
    OK(cu.cuMemHostUnregister(page));
    munmap(page, 4096);
    munmap(page + 2 * 4096, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry),
        cmocka_unit_test(clusters_and_cooperative_grids),
        cmocka_unit_test(parameters_that_cannot_be_read),
        cmocka_unit_test(kernels_that_set_limits),
        cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(text_that_is_not_for_this_device),
        cmocka_unit_test(logs_are_text_in_any_case),
        cmocka_unit_test(more_memory_than_there_is),
        cmocka_unit_test(memory_that_is_not_there_is_not_registered),
    };
    return cmocka_run_group_tests(tests, begin, api_end);
}
