/* sageattention.cu - the int8 and fp8 attention kernel for sm_90 of thu-ml/SageAttention on a small size.
 *
 * Q and K are int8 with scales, V is fp8; four Q heads share two K/V heads of 128 dimensions.  With CAUSAL=1 a row sees
 * no later rows.  The host function of the checkout launches the kernel, so torch/extension.h here must stand for
 * PyTorch's.
 *
 *     nvcc -std=c++17 -O3 -DCAUSAL=0 --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -I . -I CHECKOUT/csrc sageattention.cu -lcuda
 */
#include <cassert>
#include <sstream>

#include "dispatch_utils.h"

/* One variant is enough; the host function would have all 32 of them compiled. */
#undef DISPATCH_HEAD_DIM
#undef DISPATCH_CAUSAL
#undef DISPATCH_QK_QUANT_GRAN
#undef DISPATCH_RETURN_LSE
#undef DISPATCH_PYTORCH_DTYPE_TO_CTYPE_FP16
#define ONE_VALUE(type, name, value, ...) \
    {                                     \
        constexpr type name = value;      \
        __VA_ARGS__                       \
    }
#define DISPATCH_HEAD_DIM(given, name, ...) ONE_VALUE(int, name, DIMENSION, __VA_ARGS__)
#define DISPATCH_CAUSAL(given, name, ...) ONE_VALUE(bool, name, CAUSAL != 0, __VA_ARGS__)
#define DISPATCH_QK_QUANT_GRAN(given, name, ...) ONE_VALUE(int, name, 2, __VA_ARGS__)
#define DISPATCH_RETURN_LSE(given, name, ...) ONE_VALUE(bool, name, false, __VA_ARGS__)
#define DISPATCH_PYTORCH_DTYPE_TO_CTYPE_FP16(given, name, ...) \
    {                                                          \
        typedef nv_bfloat16 name;                              \
        __VA_ARGS__                                            \
    }
enum { HEADS = 4, KV_HEADS = 2, DIMENSION = 128, Q_ROWS_OF_SCALE = 16, KV_ROWS_OF_SCALE = 128, TILE_Q = 64 };

#include "qattn/qk_int_sv_f8_cuda_sm90.cu"

#include "attention.h"
#include "quantised.h"

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 640, q_length = CAUSAL ? length : 128;
    const int q_scales = (q_length + TILE_Q - 1) / TILE_Q * (TILE_Q / Q_ROWS_OF_SCALE);
    const int kv_scales = (length + KV_ROWS_OF_SCALE - 1) / KV_ROWS_OF_SCALE, padded = kv_scales * KV_ROWS_OF_SCALE;
    const size_t count = (size_t)HEADS * q_length * DIMENSION;
    const std::vector<int8_t> q = random_bytes(count, 1), k = random_bytes((size_t)KV_HEADS * length * DIMENSION, 2);
    const std::vector<__nv_fp8_e4m3> numbers = random_numbers<__nv_fp8_e4m3>((size_t)KV_HEADS * DIMENSION * padded, 3);
    const std::vector<__nv_fp8_e4m3> v = in_columns(numbers, length, padded);
    const std::vector<float> of_q = scales((size_t)HEADS * q_scales), of_k = scales((size_t)KV_HEADS * kv_scales);
    nv_bfloat16 *const o = on_device(std::vector<nv_bfloat16>(count, nv_bfloat16(0.0f)));
    const float scale = 0.088388f;
    qk_int8_sv_f8_accum_f32_attn_inst_buf(
        {on_device(q), torch::kInt8, {1, HEADS, q_length, DIMENSION}},
        {on_device(k), torch::kInt8, {1, KV_HEADS, length, DIMENSION}},
        {on_device(v), at::ScalarType::Float8_e4m3fn, {1, KV_HEADS, DIMENSION, padded}},
        {o, at::ScalarType::BFloat16, {1, HEADS, q_length, DIMENSION}},
        {on_device(of_q), torch::kFloat32, {1, HEADS, q_scales}},
        {on_device(of_k), torch::kFloat32, {1, KV_HEADS, kv_scales}}, 1, CAUSAL, 2, scale, 0);
    must(cudaGetLastError());
    const std::vector<nv_bfloat16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int head = 0; head < HEADS; head++)
        for (int at = 0; at < q_length; at++) {
            const int of = head / (HEADS / KV_HEADS);
            const size_t row = (size_t)head * q_length + at;
            attend(
                CAUSAL ? at + 1 : length, DIMENSION, DIMENSION, scale,
                [&](int i) { return q[row * DIMENSION + i] * of_q[head * q_scales + at / Q_ROWS_OF_SCALE]; },
                [&](int token, int i) {
                    return k[((size_t)of * length + token) * DIMENSION + i] *
                           of_k[of * kv_scales + token / KV_ROWS_OF_SCALE];
                },
                [&](int token, int i) { return (float)numbers[((size_t)of * DIMENSION + i) * padded + token]; },
                &wanted[row * DIMENSION]);
        }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.03f);
}
