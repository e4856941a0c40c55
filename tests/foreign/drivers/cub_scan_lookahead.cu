/* cub_scan_lookahead.cu - CUB's scan with lookahead, of a CUB that is newer than the CUDA toolkit's,
 * cub/device/dispatch/kernels/kernel_scan_lookahead.cuh.  CUB itself chooses it on newer chips; here the program does.
 *
 * Five squads of warps share four resources with stages.  One squad reduces, one scans and stores, one loads tiles by
 * bulk copies, one takes the number of the next tile from a counter, and one looks at the sums of earlier tiles in
 * global memory.  Each phase of a stage has an mbarrier.  The program reads no file.  It compares all sums with the
 * host's.
 *
 *     nvcc -std=c++17 -O3 -I PACKAGES/nvidia/cu13/include/cccl cub_scan_lookahead.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts nvidia-cuda-cccl.  ../run.py names the version.
 */
#include <cub/device/device_scan.cuh>

#include "check.h"

enum { START = 1000 };

struct Tuning {
    __host__ __device__ constexpr cub::ScanPolicy operator()(cuda::compute_capability) const
    {
        return {cub::ScanAlgorithm::lookahead, cub::ScanLookbackPolicy{}, cub::ScanLookaheadPolicy{4, 8, 4}};
    }
};

/* The first call says how much memory the second one needs. */
static void scan(const int *input, int *output, unsigned count)
{
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    for (int is_real = 0; is_real < 2; is_real++) {
        if (is_real)
            must(cudaMalloc(&scratch, scratch_bytes));
        must(cub::detail::scan::dispatch<cub::ForceInclusive::No, false>(
            scratch, scratch_bytes, input, output, cuda::std::plus<>{}, cub::detail::InputValue<int>(START), count, 0,
            Tuning{}));
    }
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? atoi(argv[1]) : 20001;
    std::vector<int> numbers, wanted = {START};
    for (uint32_t word : random_words(count, 9)) {
        numbers.push_back((int)(word >> 20) - 2000);
        wanted.push_back(wanted.back() + numbers.back());
    }
    wanted.pop_back();
    int *const output = on_device(std::vector<int>(count));
    scan(on_device(numbers), output, count);
    return verdict(differences(wanted, from_device(output, count)), count, "sums");
}
