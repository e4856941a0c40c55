/* cub_transform.cu - cub::DeviceTransform of the CUDA toolkit: c[i] = a[i] + 2 b[i].
 *
 * On sm_90 a transform of several inputs brings them with bulk copies and an mbarrier.  No checkout is needed.  The
 * program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 cub_transform.cu -lcuda
 */
#include <cub/device/device_transform.cuh>

#include "check.h"

struct AddTwice {
    __device__ float operator()(float a, float b) const
    {
        return a + 2 * b;
    }
};

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 100000;
    const std::vector<float> a = random_numbers<float>(count, 1), b = random_numbers<float>(count, 2);
    float *const c = on_device(std::vector<float>(count));
    must(cub::DeviceTransform::Transform(cuda::std::make_tuple(on_device(a), on_device(b)), c, count, AddTwice{}));
    const std::vector<float> got = from_device(c, count);
    std::vector<float> wanted(count);
    for (int i = 0; i < count; i++)
        wanted[i] = a[i] + 2 * b[i];
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0);
}
