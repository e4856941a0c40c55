/* matmultut_v10.cu - matmul-v10.cu of KnowingNothing/MatmulTutorial on a small size: C[m][n] = sum of A[m][k] B[n][k].
 *
 * Clusters of two CTAs share the tiles of B by multicast.  The program reads no file.  It prints the largest difference
 * between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT/examples/matmul/this-sm90 matmultut_v10.cu -lcuda
 */
#include "matmul-v10.cu"

#include "tensor_map.h"

typedef __nv_bfloat16 bf16;

static CUtensorMap map_of_bf16(bf16 *memory, int rows, int columns, int box_rows, int box_columns)
{
    return map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, sizeof(bf16), memory, rows, columns, box_rows, box_columns);
}

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 512, n_count = argc > 2 ? atoi(argv[2]) : 512;
    const int k_count = argc > 3 ? atoi(argv[3]) : 512;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)n_count * k_count, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    const CUtensorMap of_a = map_of_bf16(on_device(a), m_count, k_count, BM, BK);
    const CUtensorMap of_b = map_of_bf16(on_device(b), n_count, k_count, BN / CLUSTER_SIZE, BK);
    const CUtensorMap of_c = map_of_bf16(c, m_count, n_count, BM, 64);
    gemm_bf16_launch(&of_a, &of_b, &of_c, c, m_count, n_count, k_count);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(c, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        m_count, n_count, k_count, [&](int m, int k) { return (float)a[(size_t)m * k_count + k]; },
        [&](int n, int k) { return (float)b[(size_t)n * k_count + k]; });
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
