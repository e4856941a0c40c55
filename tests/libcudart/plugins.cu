/* plugins.cu - one thread opens plugins, whose constructors hold the dynamic loader's lock and use the runtime; the
 * other launches kernels, the first of which loads the program's image.  Neither may wait for the other for ever.
 *
 *     plugins PLUGIN...
 */
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <thread>

template <int N> __global__ void own_kernel(int *out)
{
    atomicAdd(out, N);
}

static std::atomic<bool> begins;
static int failed;

static void launch()
{
    int *device, value = 0;
    while (!begins)
        continue;
    cudaMalloc(&device, sizeof value);
    cudaMemset(device, 0, sizeof value);
    own_kernel<1><<<1, 1>>>(device);
    own_kernel<2><<<1, 1>>>(device);
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    if (value != 3) {
        printf("the program's kernels gave %d: %s\n", value, cudaGetErrorName(cudaGetLastError()));
        failed = 1;
    }
}

int main(int argc, char **argv)
{
    std::thread other(launch);
    begins = true;
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW);
        auto value = plugin ? (int (*)())dlsym(plugin, "plugin_value") : nullptr;
        if (!value || value() != 5) {
            printf("%s gave %d: %s\n", argv[i], value ? value() : -1, value ? cudaGetErrorName(cudaGetLastError()) : dlerror());
            failed = 1;
        }
    }
    other.join();
    return failed;
}
