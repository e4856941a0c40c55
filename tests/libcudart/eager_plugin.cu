/* eager_plugin.cu - a library whose constructor registers kernels, launches one and waits for it, while the program's other
 * thread launches for the first time; see plugins.cu. */
#include <cuda_runtime.h>

__global__ void plugin_kernel(int *out)
{
    *out = 5;
}

static int run()
{
    int *device, value = 0;
    if (cudaMalloc(&device, sizeof value) != cudaSuccess)
        return 0;
    plugin_kernel<<<1, 1>>>(device);
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return value;
}

static int made = run();

extern "C" int plugin_value()
{
    return made;
}
