/* unit_b.cu - see unit_a.cu. */
__global__ void second(int *p)
{
    *p = 7;
}

int second_unit(int *device)
{
    int b = 0;
    second<<<1, 1>>>(device);
    cudaMemcpy(&b, device, sizeof b, cudaMemcpyDeviceToHost);
    return b;
}
