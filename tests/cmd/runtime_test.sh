#!/bin/sh
# runtime_test.sh NVCC WSDBG - a program of the CUDA runtime as nvcc makes it without further options, on the simulator: it runs
# whichever way the runtime is linked, also where LD_LIBRARY_PATH names NVIDIA's own.
set -u
nvcc=$1 wsdbg=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
cat >app.cu <<'EOF'
#include <cstdio>
__global__ void k(int *p) { *p = 3; }
int main()
{
    int *p = nullptr;
    const cudaError_t allocated = cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    const cudaError_t done = cudaDeviceSynchronize();
    std::printf("%s, %s\n", cudaGetErrorName(allocated), cudaGetErrorName(done));
    return allocated != cudaSuccess || done != cudaSuccess;
}
EOF
for link in static shared; do
    "$nvcc" -arch=sm_90a -cudart "$link" -o app app.cu 2>nvcc.log || { cat nvcc.log; exit 1; }
    LD_LIBRARY_PATH=$(dirname "$nvcc")/../lib64 "$wsdbg" run --device sim -o "$link.db" ./app >out 2>err
    status=$?
    if [ "$status" != 0 ] || ! grep -q '^cudaSuccess, cudaSuccess$' out || ! grep -q '^wsdbg: 1 kernel launch seen, no hang' err; then
        echo "with -cudart $link: status $status"
        cat out err
        exit 1
    fi
done
