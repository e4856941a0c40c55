#!/bin/sh
# inlined.sh WSDBG - what stands in a header's function is named with the line of the kernel's own file that calls it.  77: there is no
# nvcc.
set -eu
wsdbg=$1
command -v nvcc > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/wait.cuh" << 'END'
__device__ __forceinline__ void wait_for(unsigned bar)
{
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again;}" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait_twice_removed(unsigned bar) { wait_for(bar); }
END
cat > "$folder/kernel.cu" << 'END'
#include "wait.cuh"
extern "C" __global__ void __launch_bounds__(128, 1) kernel(float *out)
{
    __shared__ unsigned long long bar;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    __syncthreads();
    wait_twice_removed(at); // here
    out[threadIdx.x] = 1;
}
END
nvcc -arch=sm_90a -lineinfo -cubin -o "$folder/kernel.cubin" "$folder/kernel.cu"
"$wsdbg" lint --fail-on never "$folder/kernel.cubin" > "$folder/said" 2> /dev/null
line=$(sed -n '/\/\/ here/=' "$folder/kernel.cu")
if ! grep -q 'wait.cuh:3: error: .*\[ARRIVE_MISSING\]$' "$folder/said" || ! grep -q "^    in kernel kernel+0x[0-9a-f]*, inlined at .*kernel.cu:$line\$" "$folder/said"; then
    cat "$folder/said"
    exit 1
fi
