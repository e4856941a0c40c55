#!/bin/sh
# runtime_test.sh NVCC WSDBG - a program built on the CUDA runtime, on the simulator: it is told plainly that it needs
# the Driver API, whichever way the runtime is linked, and ends by itself.
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
    return allocated == cudaSuccess || done == cudaSuccess;
}
EOF
for link in static shared; do
    "$nvcc" -arch=sm_90a -cudart "$link" -o app app.cu 2>nvcc.log || { cat nvcc.log; exit 1; }
    LD_LIBRARY_PATH=$(dirname "$nvcc")/../lib64 "$wsdbg" run --device sim -o "$link.db" ./app >out 2>err
    status=$?
    if [ "$status" != 0 ] || ! grep -q '^cudaErrorNotSupported, cudaErrorNotSupported$' out ||
        [ "$(grep -c '^wsdbg: this program uses the CUDA runtime .* the simulator runs programs that use the Driver API$' err)" != 1 ]; then
        echo "with -cudart $link: status $status"
        cat out err
        exit 1
    fi
done
