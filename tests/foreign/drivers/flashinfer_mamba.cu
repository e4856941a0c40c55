/* flashinfer_mamba.cu - FlashInfer's update of Mamba states, include/flashinfer/mamba, on a small size.
 *
 * One thread of a CTA reads a head's state in slices and writes the new ones back, both by bulk copies in a ring; other
 * warps compute.  The barriers are libcu++'s, waited for with tokens.  argv[2]: slices of rows (0) or of columns (1).
 * The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -diag-suppress=2361 -DFLASHINFER_ENABLE_BF16
 *          -DFLASHINFER_MAMBA_ENABLE_SM90 -I PACKAGES/flashinfer/data/include flashinfer_mamba.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include <cstdint>
#include <sstream>
#include <vector>

/* The header's templates need these: the state's rows and columns, and rounds of a generator (0: it is not used). */
constexpr int DIM = 128, DSTATE = 128, NTOKENS_MTP = 1, PHILOX_ROUNDS = 0;
typedef int32_t cuSeqlensIndex_t;
typedef int32_t numAcceptedIndex_t;

#include <flashinfer/mamba/selective_state_update.cuh>

#include "check.h"

enum { HEADS = 2 };

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    namespace mamba = flashinfer::mamba;
    const int batch = argc > 1 ? atoi(argv[1]) : 3, in_columns = argc > 2 ? atoi(argv[2]) : 0;
    const size_t rows = (size_t)batch * HEADS * DIM, count = rows * DSTATE;
    const std::vector<float> state = random_numbers<float>(count, 1);
    const std::vector<bf16> x = random_numbers<bf16>(rows, 2), z = random_numbers<bf16>(rows, 3);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)batch * DSTATE, 4);
    const std::vector<bf16> c = random_numbers<bf16>((size_t)batch * DSTATE, 5), d = random_numbers<bf16>(HEADS, 6);
    const std::vector<bf16> dt = random_numbers<bf16>(batch * HEADS, 7);
    const std::vector<float> a = {-0.5f, -0.25f};
    float *const new_state = on_device(state);
    bf16 *const output = on_device(std::vector<bf16>(rows, bf16(0.0f)));
    mamba::SelectiveStateUpdateParams params;
    params.batch = params.state_cache_size = batch;
    params.nheads = HEADS, params.dim = DIM, params.dstate = DSTATE, params.ngroups = 1;
    params.x_stride_batch = params.z_stride_batch = params.out_stride_batch = HEADS * DIM;
    params.dt_stride_batch = HEADS;
    params.B_stride_batch = params.C_stride_batch = DSTATE;
    params.state_stride_batch = HEADS * DIM * DSTATE;
    params.state = new_state, params.output = output, params.x = on_device(x), params.z = on_device(z);
    params.dt = on_device(dt), params.A = on_device(a), params.B = on_device(b), params.C = on_device(c);
    params.D = on_device(d), params.dt_softplus = true;
    mamba::invokeSelectiveStateUpdate<bf16, bf16, float, float, int32_t, void>(
        params, in_columns ? mamba::SSUAlgorithm::kHorizontal : mamba::SSUAlgorithm::kVertical, nullptr);
    must(cudaGetLastError());
    const std::vector<float> got_state = from_device(new_state, count);
    const std::vector<bf16> got_output = from_device(output, rows);
    std::vector<float> wanted(count + rows);
    for (size_t row = 0; row < rows; row++) {
        const size_t head = row / DIM % HEADS, at = row / DIM / HEADS;
        const double step = std::log1p(std::exp((double)(float)dt[at * HEADS + head])),
                     decay = std::exp(a[head] * step);
        double sum = (float)d[head] * (float)x[row];
        for (size_t i = 0; i < DSTATE; i++) {
            const double next = state[row * DSTATE + i] * decay + (float)b[at * DSTATE + i] * step * (float)x[row];
            wanted[row * DSTATE + i] = (float)next;
            sum += next * (float)c[at * DSTATE + i];
        }
        wanted[count + row] = (float)(sum * (float)z[row] / (1 + std::exp(-(float)z[row])));
    }
    return compare(
        wanted, [&](size_t i) { return i < count ? got_state[i] : (float)got_output[i - count]; }, 0.01f);
}
