/* tensorrt_llm_tinygemm.cu - TensorRT-LLM's small matmul, as FlashInfer ships it, csrc/tinygemm2.cu, on a small size:
 * C[n][m] = bias[m] + sum of A[n][k] B[m][k].
 *
 * Eight warps copy tiles, four multiply, and a barrier has one thread of a warp as its producer.  The file's entry
 * points for Python are left out.  The program reads no file.  It prints the largest difference between its result and
 * the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-relaxed-constexpr -I PACKAGES/flashinfer/data/csrc -I PACKAGES/flashinfer/data/include
 *          -I PACKAGES/tvm_ffi/include tensorrt_llm_tinygemm.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python and apache-tvm-ffi.
 * ../run.py names the versions.
 */
#include "tvm_ffi_utils.h"

#undef TVM_FFI_DLL_EXPORT_TYPED_FUNC
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function)
#include "tinygemm2.cu"

#include "check.h"

/* What the file would need of a library, in functions that are not called. */
TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t, int32_t)
{
    return nullptr;
}

const TVMFFIByteArray *TVMFFIBacktrace(const char *, int, const char *, int)
{
    return nullptr;
}

enum { STAGES = 16 };

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 128, n_count = argc > 2 ? atoi(argv[2]) : 16;
    const int k_count = argc > 3 ? atoi(argv[3]) : 8192;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)n_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)m_count * k_count, 2);
    const std::vector<bf16> bias = random_numbers<bf16>(m_count, 3);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    flashinfer::tinygemm2::launch_tinygemm2_impl<STAGES, true>(on_device(a), on_device(b), c, on_device(bias), n_count,
                                                               m_count, k_count, nullptr, false);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(c, (size_t)m_count * n_count);
    std::vector<float> wanted = product(
        n_count, m_count, k_count, [&](int n, int k) { return (float)a[(size_t)n * k_count + k]; },
        [&](int m, int k) { return (float)b[(size_t)m * k_count + k]; });
    for (size_t i = 0; i < wanted.size(); i++)
        wanted[i] += (float)bias[i % m_count];
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
