/* unit_a.cu - one of two translation units of relocatable device code, each with a kernel of its own: both run. */
#include <cstdio>

__global__ void first(int *p)
{
    *p = 2;
}

int second_unit(int *device);

int main()
{
    int *device, a = 0;
    cudaMalloc(&device, sizeof a);
    first<<<1, 1>>>(device);
    cudaMemcpy(&a, device, sizeof a, cudaMemcpyDeviceToHost);
    const int b = second_unit(device);
    printf("%d %d %s\n", a, b, cudaGetErrorName(cudaGetLastError()));
    return !(a == 2 && b == 7);
}
