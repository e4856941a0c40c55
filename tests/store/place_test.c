/* place_test.c - the words for a place in a kernel's code: the first line, from the innermost level outwards, that is
 * in no wrapper of a barrier or a copy.  The chains are those of kernels as nvcc inlines them; which functions are
 * wrappers is found from the chains themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/inlined.h"
#include "model/place.h"
#include "store/example.h"

enum { NONE = 0xffff, SITES_MAX = 32, FUNCTIONS = 3 };

/* The call that a level was inlined at comes before it, as in tables of lines. */
struct site {
    uint32_t function, inlined_at, line; /* line 0 = none is known */
    const char *file, *name, *place;     /* name: of the function that was inlined, "" = the kernel's */
};

static struct wsdbg_function functions[FUNCTIONS] = {{.name = "gemm<3>(int)"}, {.name = "copy"}, {.name = "plain"}};

/* Each site has a chain of its own, as in a picture: the marks of it hold for it alone. */
static void mark_chain(const struct site *table, const bool *wrappers, uint32_t site, struct wsdbg_site *sites)
{
    struct wsdbg_inlined_level levels[SITES_MAX] = {0};
    uint32_t chain[SITES_MAX], at = site;
    size_t count = 0;
    for (; at != NONE && count < SITES_MAX; at = table[at].inlined_at) {
        chain[count] = at;
        levels[count++] = (struct wsdbg_inlined_level){table[at].file, wrappers[at]};
    }
    const size_t passed = wsdbg_inlined_place(levels, count);
    for (size_t i = 0; i < count; i++)
        sites[chain[i]].is_passed = i < passed;
}

static void find_wrappers(const struct site *table, size_t count, bool *wrappers)
{
    struct wsdbg_inlined_row rows[SITES_MAX];
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct wsdbg_inlined_row){
            .function = table[i].name,
            .file = table[i].file,
            .line = table[i].line,
            .caller = table[i].inlined_at == NONE ? WSDBG_NOT_INLINED : table[i].inlined_at,
            .kernel = table[i].function,
        };
    example_ok(wsdbg_inlined_wrappers(rows, count, wrappers));
}

static struct wsdbg_snapshot snapshot_of(const struct site *table, size_t count, struct wsdbg_site *sites)
{
    for (size_t i = 0; i < count; i++) {
        sites[i] = (struct wsdbg_site){.pc = 0x1000 + 16 * i,
                                       .function = table[i].function == NONE ? WSDBG_NONE : table[i].function,
                                       .inlined_at = table[i].inlined_at == NONE ? WSDBG_NONE : table[i].inlined_at,
                                       .offset_bytes = wsdbg_known_u32((uint32_t)(16 * i))};
        snprintf(sites[i].file, sizeof sites[i].file, "%s", table[i].file);
        if (table[i].line)
            sites[i].line = wsdbg_known_u32(table[i].line);
    }
    return (struct wsdbg_snapshot){
        .sites = sites, .site_count = count, .functions = functions, .function_count = FUNCTIONS};
}

/* What a session keeps of the levels is the place of each; from them the same marks follow. */
static void expect_kept_place(const struct site *table, uint32_t site, struct wsdbg_snapshot *s)
{
    char kept[SITES_MAX][WSDBG_PLACE_BYTES], place[WSDBG_PLACE_BYTES];
    for (uint32_t i = 0; i < s->site_count; i++)
        wsdbg_place_text(s, i, kept[i]);
    for (uint32_t i = 0; i < s->site_count; i++)
        s->sites[i].is_passed = wsdbg_place_is_elsewhere(&s->sites[i], kept[i]);
    wsdbg_place_text(s, site, place);
    assert_string_equal(place, table[site].place);
}

static void expect_places(const struct site *table, size_t count)
{
    struct wsdbg_site sites[SITES_MAX];
    bool wrappers[SITES_MAX];
    char place[WSDBG_PLACE_BYTES];
    struct wsdbg_snapshot s = snapshot_of(table, count, sites);
    find_wrappers(table, count, wrappers);
    for (uint32_t i = 0; i < count; i++) {
        mark_chain(table, wrappers, i, sites);
        wsdbg_place_text(&s, i, place);
        assert_string_equal(place, table[i].place);
        expect_kept_place(table, i, &s);
    }
    wsdbg_place_text(&s, (uint32_t)count, place);
    assert_string_equal(place, "");
}
#define EXPECT_PLACES(table) expect_places(table, sizeof(table) / sizeof *(table))

#define GEMM "_ZN7cutlass4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiEEEEclERKNS6_6ParamsEPc"
#define MMA "_ZN7cutlass4gemm10collective13CollectiveMmaINS0_34MainloopSm90TmaGmmaWarpSpecializedILi7EEEE3mmaEv"
#define LOAD "_ZN7cutlass4gemm10collective13CollectiveMmaINS0_34MainloopSm90TmaGmmaWarpSpecializedILi7EEEE4loadEv"
#define GEMM_HPP "/c/include/cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp"
#define MMA_HPP "/c/include/cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp"
#define PIPELINE_HPP "/c/include/cutlass/pipeline/sm90_pipeline.hpp"
#define BARRIER_H "/c/include/cutlass/arch/barrier.h"

/* cutlass/examples/48: every warp of it was at device_kernel.h:123. */
static void of_cutlass_the_mainloop_is_told(void **state)
{
    (void)state;
    static const char wait[] = "sm90_mma_tma_gmma_ss_warpspecialized.hpp:487";
    static const char acquire[] = "sm90_mma_tma_gmma_ss_warpspecialized.hpp:374";
    static const struct site table[] = {
        {0, NONE, 123, "/c/include/cutlass/device_kernel.h", "", "device_kernel.h:123"},
        {0, 0, 803, GEMM_HPP, GEMM, "sm90_gemm_tma_warpspecialized_cooperative.hpp:803"},
        {0, 1, 487, MMA_HPP, MMA, wait},
        {0, 2, 486, PIPELINE_HPP,
         "_ZN7cutlass16PipelineTmaAsyncILi7EE13consumer_waitENS_13PipelineStateILj7EEENS_13ConsumerTokenE", wait},
        {0, 3, 372, BARRIER_H, "_ZNK7cutlass4arch14ClusterBarrier4waitEj", wait},
        {0, 4, 426, BARRIER_H, "_ZN7cutlass4arch14ClusterBarrier4waitEPKmj", wait},
        {0, 0, 632, GEMM_HPP, GEMM, "sm90_gemm_tma_warpspecialized_cooperative.hpp:632"},
        {0, 6, 374, MMA_HPP, LOAD, acquire},
        {0, 7, 513, PIPELINE_HPP, "_ZN7cutlass16PipelineTmaAsyncILi7EE16producer_acquireEjj", acquire},
        {0, 8, 372, BARRIER_H, "_ZNK7cutlass4arch14ClusterBarrier4waitEj", acquire},
        {0, 9, 412, BARRIER_H, "_ZN7cutlass4arch14ClusterBarrier4waitEPKmj", acquire},
        {0, 10, 108, "/c/include/cute/util.hpp", "_ZN4cute21cast_smem_ptr_to_uintEPKv", acquire},
        {0, 11, 151, "/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_20_intrinsics.hpp",
         "_ZN65_INTERNAL_dea5b328_34_48_hopper_warp_specialized_gemm_cu_stride_A24__cvta_generic_to_sharedEPKv",
         acquire},
    };
    EXPECT_PLACES(table);
}

/* FlashAttention-3 waits through a lambda of its own, which is called for keys and for values. */
static void of_flash_attention_the_call_of_its_lambda_is_told(void **state)
{
    (void)state;
    static const char mainloop[] = "/f/hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp";
    static const char mma[] = "_ZN5flash21CollectiveMainloopFwdILi2EE3mmaI6TensorEEbv";
    static const char lambda[] = "_ZZN5flash21CollectiveMainloopFwdILi2EE3mmaI6TensorEEbvENKUlRT_RT0_E_clIS2_EEDaS3_";
    static const char consumer_wait[] = "_ZN7cutlass16PipelineTmaAsyncILi2EE13consumer_waitEj";
    static const char keys[] = "mainloop_fwd_sm90_tma_gmma_ws.hpp:1124";
    static const char values[] = "mainloop_fwd_sm90_tma_gmma_ws.hpp:1173";
    static const struct site table[] = {
        {0, NONE, 120, "/c/include/cutlass/device_kernel.h", "", "device_kernel.h:120"},
        {0, 0, 420, "/f/hopper/flash_fwd_kernel_sm90.h", "_ZN5flash13FlashAttnFwdI4LoopEclEv",
         "flash_fwd_kernel_sm90.h:420"},
        {0, 1, 1124, mainloop, mma, keys},
        {0, 2, 1019, mainloop, lambda, keys},
        {0, 3, 495, PIPELINE_HPP, consumer_wait, keys},
        {0, 1, 1173, mainloop, mma, values},
        {0, 5, 1019, mainloop, lambda, values},
        {0, 6, 495, PIPELINE_HPP, consumer_wait, values},
        {0, 1, 1180, mainloop, mma, "mainloop_fwd_sm90_tma_gmma_ws.hpp:1180"},
        {0, 8, 40, "/f/hopper/named_barrier.hpp", "_ZN5flash18named_barrier_syncEjj",
         "mainloop_fwd_sm90_tma_gmma_ws.hpp:1180"},
        {0, 9, 200, BARRIER_H, "_ZN7cutlass4arch12NamedBarrier4syncEjj", "mainloop_fwd_sm90_tma_gmma_ws.hpp:1180"},
    };
    EXPECT_PLACES(table);
}

/* Nobody knows the names of a user's helpers; small ones that are called here and there are wrappers all the same. */
static void of_a_users_wrapper_the_call_is_told(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", "gemm.cu:150"},
        {0, 0, 31, "/src/sync.h", "_Z9wait_fullPmj", "gemm.cu:150"},
        {0, 1, 12, "/src/sync.h", "_Z4testPmj", "gemm.cu:150"},
        {0, NONE, 180, "/src/gemm.cu", "", "gemm.cu:180"},
        {0, 3, 31, "/src/sync.h", "_Z9wait_fullPmj", "gemm.cu:180"},
        {0, 4, 12, "/src/sync.h", "_Z4testPmj", "gemm.cu:180"},
    };
    EXPECT_PLACES(table);
}

/* A step of the pipeline is no wrapper, however often it is called: the wait stands in it. */
static void of_a_step_of_a_pipeline_its_own_line_is_told(void **state)
{
    (void)state;
    static const char step[] = "_Z7consumePmj", wait[] = "_Z13mbarrier_waitPmj";
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", "gemm.cu:150"},   {0, 0, 60, "/src/step.h", step, "gemm.cu:150"},
        {0, 1, 31, "/src/sync.h", wait, "step.h:60"},        {0, 0, 61, "/src/step.h", step, "gemm.cu:150"},
        {0, 3, 10, "/src/math.h", "_Z3mmav", "gemm.cu:150"}, {0, 3, 11, "/src/math.h", "_Z3mmav", "gemm.cu:150"},
        {0, 3, 12, "/src/math.h", "_Z3mmav", "gemm.cu:150"}, {0, 3, 13, "/src/math.h", "_Z3mmav", "gemm.cu:150"},
        {0, 0, 64, "/src/step.h", step, "gemm.cu:150"},      {0, 0, 65, "/src/step.h", step, "gemm.cu:150"},
        {0, 0, 66, "/src/step.h", step, "gemm.cu:150"},      {0, NONE, 190, "/src/gemm.cu", "", "gemm.cu:190"},
        {0, 11, 60, "/src/step.h", step, "gemm.cu:190"},     {0, 12, 31, "/src/sync.h", wait, "step.h:60"},
    };
    EXPECT_PLACES(table);
}

/* Two waits make a short function a step; and calls of two kernels are one call of each. */
static void a_short_step_with_two_waits_is_no_wrapper(void **state)
{
    (void)state;
    static const char step[] = "_Z4stepPmj", once[] = "_Z4oncePmj", wait[] = "_Z13mbarrier_waitPmj";
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", "gemm.cu:150"}, {0, 0, 60, "/src/gemm.cu", step, "gemm.cu:60"},
        {0, 1, 31, "/src/sync.h", wait, "gemm.cu:60"},     {0, 0, 62, "/src/gemm.cu", step, "gemm.cu:62"},
        {0, 3, 31, "/src/sync.h", wait, "gemm.cu:62"},     {0, NONE, 190, "/src/gemm.cu", "", "gemm.cu:190"},
        {0, 5, 60, "/src/gemm.cu", step, "gemm.cu:60"},    {0, 6, 31, "/src/sync.h", wait, "gemm.cu:60"},
        {0, 5, 70, "/src/gemm.cu", once, "gemm.cu:70"},    {0, 8, 31, "/src/sync.h", wait, "gemm.cu:70"},
        {1, NONE, 290, "/src/gemm.cu", "", "gemm.cu:290"}, {1, 10, 70, "/src/gemm.cu", once, "gemm.cu:70"},
        {1, 11, 31, "/src/sync.h", wait, "gemm.cu:70"},
    };
    EXPECT_PLACES(table);
}

/* A library calls the user's code: that is not a part of the library. */
static void a_lambda_in_a_library_function_is_told(void **state)
{
    (void)state;
    static const char invoke[] = "_ZN18cooperative_groups10invoke_oneEv", each[] = "_ZN4cute8for_eachEv";
    static const char lambda[] = "_ZZ4gemmvENKUlvE_clEv", wait[] = "_Z13mbarrier_waitPmj";
    static const char cute[] = "/c/include/cute/algorithm/tuple_algorithms.hpp";
    static const struct site table[] = {
        {0, NONE, 10, "/src/gemm.cu", "", "gemm.cu:10"},
        {0, 0, 5, "/src/cg.h", invoke, "gemm.cu:10"},
        {0, 1, 11, "/src/gemm.cu", lambda, "gemm.cu:11"},
        {0, 2, 31, "/src/sync.h", wait, "gemm.cu:11"},
        {0, 1, 12, "/src/gemm.cu", lambda, "gemm.cu:12"},
        {0, 4, 31, "/src/sync.h", wait, "gemm.cu:12"},
        {0, NONE, 20, "/src/gemm.cu", "", "gemm.cu:20"},
        {0, 6, 80, cute, each, "gemm.cu:20"},
        {0, 7, 21, "/src/gemm.cu", "_ZZ4gemmvENKUliE_clEi", "gemm.cu:21"},
        {0, 8, 31, "/src/sync.h", wait, "gemm.cu:21"},
        {0, 6, 81, cute, each, "gemm.cu:20"},
        {0, 10, 21, "/src/gemm.cu", "_ZZ4gemmvENKUliE_clEi", "gemm.cu:21"},
        {0, 11, 31, "/src/sync.h", wait, "gemm.cu:21"},
    };
    EXPECT_PLACES(table);
}

/* Folders of users that are called as a library's are. */
static void a_users_folders_are_no_library(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 10, "/launch/include/cutlass/device_kernel.h", "", "device_kernel.h:10"},
        {0, 0, 20, "/u/csrc/cuda/include/consumer.cuh", "_Z7consumev", "consumer.cuh:20"},
        {0, 0, 21, "/u/examples/cute/tutorial/a.cu", "_Z7computev", "a.cu:21"},
        {0, 0, 22, "/u/targets/sm90/gemm.cuh", "_Z4gemmv", "gemm.cuh:22"},
        {0, 0, 23, "/u/targets/sm90/include/gemm.cuh", "_Z5otherv", "gemm.cuh:23"},
    };
    EXPECT_PLACES(table);
}

/* The source view marks the line that the report says, though the wrapper lies in the kernel's own file. */
static void the_line_in_a_file_is_not_a_wrappers(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", "gemm.cu:150"},
        {0, 0, 31, "/src/gemm.cu", "_Z13mbarrier_waitPmj", "gemm.cu:150"},
        {0, 0, 60, "/src/step.h", "_Z4stepv", "gemm.cu:150"},
        {0, 2, 31, "/src/gemm.cu", "_Z13mbarrier_waitPmj", "step.h:60"},
    };
    struct wsdbg_site sites[SITES_MAX];
    bool wrappers[SITES_MAX];
    const struct wsdbg_snapshot s = snapshot_of(table, 4, sites);
    find_wrappers(table, 4, wrappers);
    mark_chain(table, wrappers, 1, sites);
    assert_int_equal(wsdbg_place_line(&s, 1, "/src/gemm.cu"), 150);
    mark_chain(table, wrappers, 3, sites);
    assert_int_equal(wsdbg_place_line(&s, 3, "/src/gemm.cu"), 150);
    assert_int_equal(wsdbg_place_line(&s, 3, "/src/step.h"), 60);
    assert_int_equal(wsdbg_place_line(&s, 3, "/src/other.h"), 0);
}

/* A file that has no line of the place shows the next call outwards that is in it; what lies further in shows nothing.
 */
static void the_line_in_a_file_falls_back_to_the_next_call_outwards(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", ""},
        {0, 0, 60, "/src/step.h", "_Z4stepv", ""},
        {0, 1, 70, "/src/step.h", "_Z5innerv", ""},
        {0, 2, 20, "/src/tile.h", "_Z4tilev", ""},
        {0, 3, 31, "/src/sync.h", "_Z13mbarrier_waitPmj", ""},
    };
    struct wsdbg_site sites[SITES_MAX];
    bool wrappers[SITES_MAX];
    const struct wsdbg_snapshot s = snapshot_of(table, 5, sites);
    find_wrappers(table, 5, wrappers);
    mark_chain(table, wrappers, 4, sites);
    assert_int_equal(wsdbg_place_line(&s, 4, "/src/tile.h"), 20);
    assert_int_equal(wsdbg_place_line(&s, 4, "/src/step.h"), 70);
    assert_int_equal(wsdbg_place_line(&s, 4, "/src/gemm.cu"), 150);
    assert_int_equal(wsdbg_place_line(&s, 4, "/src/sync.h"), 0);
    assert_int_equal(wsdbg_place_line(&s, 4, "step.h"), 70); /* as a probe names a file that was compiled here */
    assert_int_equal(wsdbg_place_line(&s, 4, "src/step.h"), 70);
    assert_int_equal(wsdbg_place_line(&s, 4, "tep.h"), 0);
    assert_int_equal(wsdbg_place_line(&s, 4, "/step.h"), 0);
    assert_int_equal(wsdbg_place_line(&s, 4, ""), 0);
    assert_int_equal(wsdbg_place_line(&s, 5, "/src/gemm.cu"), 0);
}

/* step.h holds one of the two waits, gemm.cu a level of each. */
static void a_modules_file_shows_most_waits(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 150, "/src/gemm.cu", "", ""},
        {0, 0, 60, "/src/step.h", "_Z4stepv", ""},
        {0, NONE, 170, "/src/gemm.cu", "", ""},
    };
    struct wsdbg_site sites[SITES_MAX];
    struct wsdbg_warp_row warps[] = {{.state = WSDBG_WARP_WAIT_MBARRIER, .site = 1},
                                     {.state = WSDBG_WARP_WAIT_MBARRIER, .site = 2}};
    struct wsdbg_module modules[] = {{.source_path = ""}};
    struct wsdbg_snapshot s = snapshot_of(table, 3, sites);
    s.warps = warps;
    s.warp_count = 2;
    s.modules = modules;
    s.module_count = 1;
    assert_string_equal(wsdbg_place_module(&s, 0).source_path, "/src/gemm.cu");
}

/* What is called once is a part of the kernel that has a name. */
static void a_function_that_is_called_once_is_no_wrapper(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 300, "/src/gemm.cu", "", "gemm.cu:300"},
        {0, 0, 150, "/src/gemm.cu", "_Z8consumerPm", "gemm.cu:150"},
        {0, 1, 31, "/lib/barrier.h", "_Z14wsdbg_mbar_waitPmj", "gemm.cu:150"},
        {1, NONE, 7, "/src/copy.cu", "", "copy.cu:7"},
        {1, 3, 9, "/src/copy.cu", "_Z4bulkPm", "copy.cu:9"},
    };
    EXPECT_PLACES(table);
}

static void a_place_without_lines_is_an_offset(void **state)
{
    (void)state;
    static const struct site table[] = {
        {2, NONE, 0, "", "", "plain+0x0"},
        {0, NONE, 0, "", "", "gemm+0x10"},
        {NONE, NONE, 0, "", "", "?+0x20"},
        {NONE, NONE, 8, "/src/a.cu", "", "a.cu:8"},
        {0, NONE, 5, "/src/gemm.cu", "", "gemm.cu:5"},
    };
    EXPECT_PLACES(table);
}

/* No compiler writes that; a damaged file may. */
static void a_circle_of_calls_ends(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, 1, 10, "/src/a.h", "f", "a.h:10"},
        {0, 0, 20, "/src/b.h", "g", "b.h:20"},
        {0, 2, 30, "/src/c.h", "h", "c.h:30"},
        {2, 3, 0, "", "", "plain+0x30"},
    };
    EXPECT_PLACES(table);
    struct wsdbg_site sites[SITES_MAX];
    char place[WSDBG_PLACE_BYTES];
    const struct wsdbg_snapshot s = snapshot_of(table, 4, sites);
    sites[0].is_passed = sites[1].is_passed = true;
    wsdbg_place_text(&s, 0, place);
    assert_non_null(strchr(place, ':'));
}

static void every_level_is_told_on_demand(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 67, "/src/kernel.cu", "", "kernel.cu:67"},
        {0, 0, 45, "/src/b.h", "_Z4stepv", "b.h:45"},
        {0, 1, 123, "/lib/a.h", "_Z13mbarrier_waitPmj", "b.h:45"},
    };
    struct wsdbg_site sites[SITES_MAX];
    char levels[256];
    const struct wsdbg_snapshot s = snapshot_of(table, 3, sites);
    wsdbg_place_levels(&s, 2, levels, sizeof levels);
    assert_string_equal(levels, "a.h:123 < b.h:45 < kernel.cu:67");
    wsdbg_place_levels(&s, 0, levels, sizeof levels);
    assert_string_equal(levels, "kernel.cu:67");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_cutlass_the_mainloop_is_told),
        cmocka_unit_test(of_flash_attention_the_call_of_its_lambda_is_told),
        cmocka_unit_test(of_a_users_wrapper_the_call_is_told),
        cmocka_unit_test(of_a_step_of_a_pipeline_its_own_line_is_told),
        cmocka_unit_test(a_short_step_with_two_waits_is_no_wrapper),
        cmocka_unit_test(a_lambda_in_a_library_function_is_told),
        cmocka_unit_test(a_users_folders_are_no_library),
        cmocka_unit_test(the_line_in_a_file_is_not_a_wrappers),
        cmocka_unit_test(the_line_in_a_file_falls_back_to_the_next_call_outwards),
        cmocka_unit_test(a_modules_file_shows_most_waits),
        cmocka_unit_test(a_function_that_is_called_once_is_no_wrapper),
        cmocka_unit_test(a_place_without_lines_is_an_offset),
        cmocka_unit_test(a_circle_of_calls_ends),
        cmocka_unit_test(every_level_is_told_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
