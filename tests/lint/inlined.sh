#!/bin/sh
# inlined.sh - what stands in a header's function is named with the line of the kernel's own file that calls it.
. "$(dirname "$0")/corpus.sh"

cat > "$work/wait.cuh" << 'END'
__device__ __forceinline__ void wait_for(unsigned bar)
{
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again;}" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait_twice_removed(unsigned bar) { wait_for(bar); }
END
cat > "$work/kernel.cu" << 'END'
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
compile "$work/kernel.cu" "$work/kernel.cubin" -arch=sm_90a -cubin
lint "$work/kernel.cubin"
line=$(sed -n '/\/\/ here/=' "$work/kernel.cu")
if ! grep -q 'wait.cuh:3: error: .*\[ARRIVE_MISSING\]$' "$work/said" ||
    ! grep -q "^    in kernel kernel+0x[0-9a-f]*, inlined at .*kernel.cu:$line\$" "$work/said"; then
    cat "$work/said"
    exit 1
fi
