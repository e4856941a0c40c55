/* cutlass_pipeline_persistent.cu - CUTLASS's test of its pipelines in a persistent kernel,
 * test/unit/pipeline/pipeline_tma_async_warp_specialized_persistent.cu.
 *
 * A copying warpgroup fills stages for two computing ones, which take turns by mbarriers (OrderedSequenceBarrier).  The
 * copies are stood for by transactions of a few bytes.  The first kernel runs in clusters of 2 x 2 CTAs with multicast,
 * the second one without clusters.  There are no data: a kernel is right if it ends.  The program reads no file.
 *
 *     nvcc -std=c++17 -O3 -I CUTLASS/test/unit/pipeline -I CUTLASS/include -I CUTLASS/tools/util/include
 *          cutlass_pipeline_persistent.cu -lcuda
 */
#define CUTLASS_UNIT_TEST_PIPELINE true
#include <gtest/gtest.h>
#include "pipeline_tma_async_warp_specialized_persistent.cu"

#include "check.h"

int main(int argc, char **argv)
{
    const int iterations = argc > 1 ? atoi(argv[1]) : 23;
    PipelineTest<3, cutlass::gemm::GemmShape<2, 2, 1>> clustered;
    must(clustered.run(iterations));
    PipelineTest<4, cutlass::gemm::GemmShape<1, 1, 1>> alone;
    must(alone.run(iterations + 2));
    printf("Passed\n");
    return 0;
}
