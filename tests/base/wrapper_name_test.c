/* wrapper_name_test.c - which functions only wrap a barrier's or a copy's instruction, by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/wrapper_name.h"

static void wrappers_are_known_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "_ZN7cutlass4arch14ClusterBarrier4waitEPKmj",
        "_ZNK7cutlass4arch14ClusterBarrier8try_waitEj",
        "_ZN7cutlass4arch21warpgroup_reg_deallocILj40EEEvv",
        "_ZN7cutlass16PipelineTmaAsyncILi7EE13consumer_waitENS_13PipelineStateILj7EEENS_13ConsumerTokenE",
        "_ZN7cutlass22OrderedSequenceBarrierILi1ELi2EE6arriveEv",
        "_ZN4cute12cluster_waitEv",
        "_ZN4cute4copyINS_9Copy_AtomIJNS_13SM90_TMA_LOADEN7cutlass6half_tEEEEEEvRKT_",
        "_ZN4cuda3ptx3__417mbarrier_try_waitEPKmj",
        "_ZN4cuda3std3__48__detail4loadEv",
        "_ZSt4movev",
        "_ZN18cooperative_groups4__v110grid_group4syncEv",
        "_ZN65_INTERNAL_dea5b328_34_48_hopper_warp_specialized_gemm_cu_stride_A24__cvta_generic_to_sharedEPKv",
        "_ZN5flash18named_barrier_syncEjj",
        "_ZN7kittens11SemaphoreTyILi3EE4waitEi",
        "_Z13mbarrier_waitPmj",
        "_Z20mbar_try_wait_parityjj",
        "mbarrier_wait",
        "my::TmaBarrier::wait<3>(int)",
        "__syncwarp",
        "wsdbg_probe_event",
        "_ZN4cuda7barrierILN2GM1SE1EE4waitEi", /* an enum's value as an argument */
        "_ZN4cute3MMAILN2GM5MajorE0ELS2_1EE3fmaEv",
        "_ZN2my10TmaBarrierILN1a1bEn12EE11try_acquireEv",
        "_ZL13mbarrier_waitPmj",
        "_ZN2myL9mbar_waitEPmj",
        "MbarTryWait",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!wsdbg_is_wrapper_name(names[i]))
            fail_msg("%s", names[i]);
}

static void the_authors_own_functions_are_none(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "_Z",
        "_Z8consumerPm",
        "_Z4waitjj", /* of anything: its shape decides */
        "_ZN7cutlass4gemm10collective13CollectiveMmaINS0_34MainloopSm90TmaGmmaWarpSpecializedILi7EEEE3mmaEv",
        "_ZN7cutlass4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiEEENS_16PipelineTmaAsyncILi2EEEEclEv",
        "_ZN5flash21CollectiveMainloopFwdILi2EN7cutlass4arch14ClusterBarrierEE8mma_waitEv",
        "_ZZN5flash21CollectiveMainloopFwdILi2EE3mmaI6TensorEEbvENKUlRT_RT0_E_clIS2_EEDaS3_",
        "_ZN6kernel8pipelineILi4EE3runEv",
        "_ZN6kernel9ProducersIXadL_Z1fvEEE4mainEv",
        "_Z999kernel",
        "_ZN7cutlass",
        "consumer_loop",
        "cutlass::arch",
        "GemmPipeline::process_block", /* "lock", and "sync" in "async", are no words of theirs */
        "GemmPipeline::load_async",
        "GemmPipeline::wait_and_compute",
        "pipelines::compute_block",
        "flash::PipelinedLoop::run_block",
        "_ZN5flash13PipelinedLoop9wait_loopEv",
        "mbar_consumer_loop",
        "producer_mbarrier_loop",
        "computeNumBars",
        "numbarries",
        "__my_consumer",
        "_ZN1aILLLLLE4waitEv",
        "cuda",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (wsdbg_is_wrapper_name(names[i]))
            fail_msg("%s", names[i]);
}

static void waits_are_known_by_name(void **state)
{
    (void)state;
    assert_true(wsdbg_is_waiting_name("_Z9wait_fullPmj"));
    assert_true(wsdbg_is_waiting_name("a::B::producer_acquire"));
    assert_false(wsdbg_is_waiting_name("_Z8try_waitjj"));
    assert_false(wsdbg_is_waiting_name("load_async"));
    assert_false(wsdbg_is_waiting_name(""));
    assert_true(wsdbg_is_own_name("_Z15wsdbg_mbar_waitPm"));
    assert_false(wsdbg_is_own_name("mbar_wait"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrappers_are_known_by_name),
        cmocka_unit_test(the_authors_own_functions_are_none),
        cmocka_unit_test(waits_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
