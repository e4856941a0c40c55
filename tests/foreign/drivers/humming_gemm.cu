/* humming_gemm.cu - the warp-specialized matmul of Humming, include/humming/kernel/humming_ws.cuh, on a small size:
 * C[m][n] = sum of A[m][k] B[n][k], in bf16, with one scale of 1 for each n.
 *
 * Clusters of two CTAs share the tiles of A by multicast.  Where the CTAs are more than the tiles of C, several
 * clusters share a tile along k, and add their parts in turn, by locks in global memory.  What Humming's generator
 * would write is here: the classes of constants, and the instruction.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-relaxed-constexpr -I PACKAGES/humming/include
 *          -I PACKAGES/flashinfer/data/cutlass/include humming_gemm.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts humming-kernels and flashinfer-python.
 * ../run.py names the versions.
 */
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cute/arch/mma_sm90_gmma.hpp>

/* The shared memory's members depend on these. */
#define HUMMING_MMA_TYPE_ID 1
#define HUMMING_SMEM_REUSE_MODE_ID 2
#define HUMMING_USE_WARP_SPEC 1
#define HUMMING_USE_TMA 1
#define HUMMING_USE_TMA_C 1
#define HUMMING_IS_CHANNEL_WEIGHT_SCALE 1
#define HUMMING_RASTER_GROUP_M 1
#include <humming/kernel/humming_ws.cuh>

#include "tensor_map.h"

enum { N = 512, K = 1024, BLOCK_M = 32, BLOCK_N = 128, BLOCK_K = 64, WARP_N = 32, CLUSTER = 2, LOCKS = 1024 };

typedef __nv_bfloat16 bf16;

/* C's tile is transposed: 64 rows of B, BLOCK_M rows of A. */
struct Instruction {
    using ElementB = BFloat16;
    using MmaShape = Shape<BLOCK_M, 64, 16>;
    using ValTypeC = float;
    using ValTypeD = float;
    using BRegisters = uint32_t[4];
    using CRegisters = float[16];
    using DRegisters = float[16];
    static constexpr MmaType kMmaType = MmaType::WGMMA;
    static constexpr uint32_t kATypeBits = 16, kBTypeBits = 16, kCTypeBits = 32, kDTypeBits = 32;
    static constexpr bool kNativeMixed = false;

    __device__ static void fma(uint64_t &a, uint64_t &b, float *d, bool adds)
    {
        namespace gmma = cute::SM90::GMMA;
        gmma::MMA_64x32x16_F32BF16BF16_SS<gmma::Major::K, gmma::Major::K>::fma(
            b, a, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d[12], d[13], d[14], d[15],
            adds ? gmma::ScaleOut::One : gmma::ScaleOut::Zero);
    }
};

struct Layer {
    static constexpr uint32_t kSmVersion = 90, kShapeN = N, kShapeK = K, kPadShapeN = 0, kPadShapeK = 0;
    static constexpr uint32_t kNumExperts = 0, kInputScaleGroupSize = 0, kWeightScaleGroupSize = 0,
                              kWeightScaleGroupSizeN = 0;
    static constexpr uint32_t kMmaScaleGroupSize = 32;
    static constexpr InputQuantizationMode kInputQuantMode = InputQuantizationMode::Disabled;
    static constexpr WeightScaleType kWeightScaleType = WeightScaleType::CHANNEL;
    static constexpr WeightScale2Type kWeightScale2Type = WeightScale2Type::NONE;
    static constexpr bool kIsChannelWeightScale = true, kHasChannelWeightScale = true, kUseFlatWeight = true;
    static constexpr bool kUseIntWeightScale = false, kUseFusedE8m0Scale = false, kHasZeroPoint = false;
    static constexpr bool kIsFpZeroPoint = false, kHasBias = false, kUsePackedKLayout = false, kUseRawWeight = false;
    static constexpr bool kIsBlockWeightScale = false, kIsGroupWeightScale = false, kIsTensorWeightScale = false;
    static constexpr bool kIsChannelWeightScale2 = false, kIsTensorWeightScale2 = false, kHasTensorWeightScale = false;
    static constexpr bool kHasInputScale = false, kHasInputScale2 = false, kIsGroupInputScale = false;
    static constexpr bool kIsTokenInputScale = false, kIsTensorInputScale = false, kIsTokenInputScale2 = false;
    static constexpr bool kIsTensorInputScale2 = false, kUseLdmatrixDequant = false, kUseNativeDequant = false;
    static constexpr bool kUseBlockScaledMma = false;
};

struct Compute {
    static constexpr GemmType kGemmType = GemmType::DENSE;
    static constexpr uint32_t kGemmTypeId = 0;
    static constexpr bool kUseF16Accum = false, kUseBatchInvariant = false, kUseMMajorInputScale = false;
    static constexpr bool kIsIndexedGemm = false, kIsGroupedGemm = false, kIsGroupedContiguousGemm = false;
    static constexpr bool kIsGroupedMaskedGemm = false;
};

struct Tuning {
    static constexpr MmaType kMmaType = MmaType::WGMMA;
    static constexpr SmemReuseMode kSmemReuseMode = SmemReuseMode::ALL_STAGES;
    static constexpr uint32_t kMmaTypeId = 1, kSmemReuseModeId = 2, kNumStages = 4, kProducerStageUnroll = 4;
    static constexpr uint32_t kConsumerStageUnroll = 4, kProducerRegisters = 24, kConsumerRegisters = 248;
    static constexpr uint32_t kNumThreads = 256, kNumMathThreads = 128, kNumLoadThreads = 128, kNumCtasPerSm = 1;
    static constexpr uint32_t kMultiCastSizeA = CLUSTER, kMultiCastSizeB = 1, kRasterGroupM = 1, kOutputChunkRows = 0;
    static constexpr uint32_t kUmmaNumDequantWarpgroups = 1, kUmmaCtaGroupSize = 1;
    static constexpr bool kUseStreamK = true, kUseWarpSpec = true, kUseTma = true, kUseTmaA = true, kUseTmaB = true;
    static constexpr bool kUseTmaC = true, kUseTmaAS = false, kUseTmaAS2 = false, kUseTmaBS = false;
    static constexpr bool kUseTmaBS2 = false, kUseTmaBZP = false, kUseTmaBias = false, kUsePdl = false;
    static constexpr bool kUseUmmaSs = false, kUmmaSplitAsyncLoads = false, kEvictWeightsFirst = false;
    static constexpr bool kWgmmaUseLateAS = false, kWgmmaSplitIssueWait = false;
};

typedef Shape<BLOCK_M, BLOCK_N, BLOCK_K> Block;
typedef Shape<BLOCK_M, WARP_N, BLOCK_K> Warp;
typedef SharedStorage<Instruction, Block, Warp, BFloat16, BFloat16, BFloat16, Layer, Compute, Tuning> Shared;

/* Numbers -1, 0 and 1: sums are exact in bf16, too, in which clusters add their parts. */
static std::vector<bf16> small_numbers(size_t count, uint32_t seed)
{
    std::vector<bf16> all = random_numbers<bf16>(count, seed);
    for (bf16 &number : all)
        number = bf16((float)((float)number > 0.3f) - (float)((float)number < -0.3f));
    return all;
}

/* B in pieces of 8 numbers along k: for each piece all rows; the map orders rows as the instructions want them. */
static CUtensorMap map_of_b(const std::vector<bf16> &b)
{
    std::vector<bf16> pieces(b.size());
    for (size_t n = 0; n < N; n++)
        for (size_t k = 0; k < K; k++)
            pieces[(k / 8 * N + n) * 8 + k % 8] = b[n * K + k];
    const cuuint64_t sizes[] = {64, 64 / WARP_N, N / 64, WARP_N / 16, K / 8};
    const cuuint64_t strides[] = {WARP_N * 16, 1024, 256, N * 16};
    const cuuint32_t box[] = {64, 64 / WARP_N, BLOCK_N / 64, WARP_N / 16, BLOCK_K / 8};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_INT32, on_device(pieces), sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE);
}

static CUtensorMap map_of_c(bf16 *c, int m_count)
{
    const cuuint64_t sizes[] = {64, (cuuint64_t)m_count, N / 64}, strides[] = {N * 2, 128};
    const cuuint32_t box[] = {64, Shared::kOutputTileRows, Shared::kOutputTileColumns / 64};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, c, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_128B);
}

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 96, ctas = argc > 2 ? atoi(argv[2]) : 10;
    const std::vector<bf16> a = small_numbers((size_t)m_count * K, 1), b = small_numbers((size_t)N * K, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * N, bf16(0.0f)));
    const CUtensorMap of_a =
        map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, sizeof(bf16), on_device(a), m_count, K, BLOCK_M, BLOCK_K);
    void *const none = nullptr, *const scales = on_device(std::vector<bf16>(N, bf16(1.0f)));
    launch(humming<Instruction, Shape<0, N, K>, Block, Warp, Shape<0, 0, 0>, BFloat16, BFloat16, BFloat16, BFloat16,
                   Layer, Compute, Tuning>,
           ctas, Tuning::kNumThreads, CLUSTER, sizeof(Shared), of_a, map_of_b(b), map_of_c(c, m_count), none, none,
           scales, none, none, none, (const uint32_t *)nullptr, (const uint32_t *)nullptr, (const uint32_t *)nullptr,
           (const uint32_t *)nullptr, (CUtensorMap *)nullptr, on_device(std::vector<int>(LOCKS)), (uint32_t)m_count, 0u,
           false);
    const std::vector<bf16> got = from_device(c, (size_t)m_count * N);
    const std::vector<float> wanted = product(
        m_count, N, K, [&](int m, int k) { return (float)a[(size_t)m * K + k]; },
        [&](int n, int k) { return (float)b[(size_t)n * K + k]; });
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0);
}
