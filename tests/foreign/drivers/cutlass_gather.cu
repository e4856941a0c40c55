/* cutlass_gather.cu - CUTLASS's example 52, a GEMM that gathers rows of its inputs and scatters those of its output,
 * examples/52_hopper_gather_scatter_fusion, with a fixed seed.
 *
 * The example takes its seed from std::random_device; here that name stands for a number.  A copying warpgroup gathers
 * with cp.async (PipelineAsync).  The example also runs the same in three steps, and compares the two.  The program
 * reads no file.  It prints what the example prints.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG -I CUTLASS/examples -I CUTLASS/examples/52_hopper_gather_scatter_fusion
 *          -I CUTLASS/examples/common -I CUTLASS/include -I CUTLASS/tools/util/include cutlass_gather.cu -lcuda
 */
#include <random>

namespace std
{
struct fixed_seed {
    unsigned operator()() const
    {
        return 42;
    }
};
} // namespace std

#define random_device fixed_seed
#include "52_hopper_gather_scatter_fusion/52_hopper_gather_scatter_fusion.cu"
