/* sglang_norm_residual.cu - a fused norm, residual and norm of SGLang, kernels/jit/csrc/muse_spark, on a few rows.
 *
 * A cluster of four CTAs shares a row; each sends its partial sums to the others with st.async.  The program reads no
 * file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -DSGL_CUDA_ARCH=900 -I PACKAGES/sglang/kernels/jit/include
 *          -I PACKAGES/sglang/kernels/jit/csrc -I PACKAGES/tvm_ffi/include sglang_norm_residual.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sglang and apache-tvm-ffi.  ../run.py names the
 * versions.
 */
#include "muse_spark/norm_residual.cuh"

#include "tensor_map.h"

enum { HIDDEN = 8192, THREADS = 256, CLUSTER = 4 };

typedef __nv_bfloat16 bf16;

/* 1 / root mean square of a row. */
static float scale_of(const std::vector<float> &row)
{
    double sum = 0;
    for (float value : row)
        sum += (double)value * value;
    return (float)(1 / std::sqrt(sum / HIDDEN + 1e-6));
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 6;
    const size_t count = (size_t)rows * HIDDEN;
    const std::vector<bf16> branch = random_numbers<bf16>(count, 1), weight_1 = random_numbers<bf16>(HIDDEN, 2);
    const std::vector<bf16> weight_2 = random_numbers<bf16>(HIDDEN, 3);
    const std::vector<float> stream = random_numbers<float>(count, 4), alpha = random_numbers<float>(HIDDEN, 5);
    const std::vector<float> beta = random_numbers<float>(HIDDEN, 6);
    float *const new_stream = on_device(std::vector<float>(count));
    float *const router = on_device(std::vector<float>(count));
    sglang::NormResidualParams params = {};
    params.branch = on_device(branch);
    params.stream = on_device(stream);
    params.output = on_device(std::vector<bf16>(count, bf16(0.0f)));
    params.new_stream = new_stream;
    params.router_out = router;
    params.post_weight = on_device(weight_1);
    params.pre_weight = on_device(weight_2);
    params.alpha = on_device(alpha);
    params.beta = on_device(beta);
    params.post_eps = params.pre_eps = 1e-6f;
    params.num_rows = rows;
    params.gate_channel_wise = params.has_pre_weight = true;
    launch(sglang::muse_spark_norm_residual_cluster<HIDDEN, THREADS, CLUSTER, false, true, false, true, true, true>,
           rows * CLUSTER, THREADS, CLUSTER, 0, params);
    std::vector<float> got = from_device(new_stream, count), wanted(2 * count), row(HIDDEN);
    const std::vector<float> got_router = from_device(router, count);
    got.insert(got.end(), got_router.begin(), got_router.end());
    for (int r = 0; r < rows; r++) {
        const size_t at = (size_t)r * HIDDEN;
        for (int i = 0; i < HIDDEN; i++)
            row[i] = (float)branch[at + i];
        const float first = scale_of(row);
        for (int i = 0; i < HIDDEN; i++)
            wanted[at + i] = row[i] = alpha[i] * stream[at + i] + beta[i] * (row[i] * first * (float)weight_1[i]);
        const float second = scale_of(row);
        for (int i = 0; i < HIDDEN; i++)
            wanted[count + at + i] = row[i] * second * (float)weight_2[i];
    }
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0.02f);
}
