#!/bin/sh
# inlined.sh - code of a header's wrapper around a barrier is named by the line that calls the outermost wrapper, as in a
# report of a hang.  The wrapper's own line is said beside it; in SARIF it is a related location.
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
if ! grep -q "kernel.cu:$line: error: .*\\[ARRIVE_MISSING\\]\$" "$work/said" ||
    ! grep -q "^    in kernel kernel+0x[0-9a-f]*, in code of .*wait.cuh:3\$" "$work/said"; then
    cat "$work/said"
    exit 1
fi
"$wsdbg" lint --sarif "$work/said.sarif" "$work/kernel.cubin" > "$work/said" 2>&1
python3 - "$work/said.sarif" "$line" << 'END'
import json, sys
result, = (r for r in json.load(open(sys.argv[1]))["runs"][0]["results"] if r["ruleId"] == "ARRIVE_MISSING")
def place(location):
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"].rsplit("/", 1)[-1], physical["region"]["startLine"]
assert place(result["locations"][0]) == ("kernel.cu", int(sys.argv[2])), result
assert ("wait.cuh", 3) in [place(r) for r in result["relatedLocations"] if "region" in r["physicalLocation"]], result
END
