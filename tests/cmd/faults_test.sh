#!/bin/sh
# faults_test.sh NVCC WSDBG - a kernel that dies on the simulator: the report, as text and from the database, says which
# thread did what, at which line.
set -eu
nvcc=$1 wsdbg=$2 sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "$*" >&2
    exit 1
}

"$nvcc" -lineinfo -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -o program "$sources/faults.cu"

# expect WHICH WORDS...: each is in the report.
expect() {
    which=$1
    shift
    status=0
    "$wsdbg" run --device sim -o "$which.db" -- ./program "$which" >"$which.said" 2>&1 || status=$?
    [ "$status" = 1 ] || fail "$which: status $status: $(cat "$which.said")"
    "$wsdbg" report "$which.db" >"$which.report"
    for report in "$which.said" "$which.report"; do
        tr '\n' ' ' <"$report" | tr -s ' ' >one_line
        for words; do
            grep -qF -- "$words" one_line || fail "$which: no '$words' in $report: $(cat "$report")"
        done
    done
}

thread='thread (37,0,0) of CTA (0,0,0)'
expect 0 'FAULT: UNKNOWN' "$thread" 'CUDA_EXCEPTION_4' 'at faults.cu:33' 'executed a trap'
expect 1 'FAULT: DOUBLE_ARRIVE (likely)' 'at faults.cu:37' "$thread" 'the simulator says: mbarrier 0x'
expect 2 'FAULT: UNKNOWN (the simulator says where' 'The simulator stopped warp' 'CUDA_EXCEPTION_14' 'at faults.cu:40' 'the address 0x10' "$thread"
expect 3 'FAULT: UNKNOWN' 'CUDA_EXCEPTION_12' "$thread" 'faults.cu:42'
expect 4 'FAULT: UNKNOWN' 'CUDA_EXCEPTION_6' 'at faults.cu:44' 'not a multiple of 4' "$thread"
expect 5 'FAULT: BARRIER_NOT_INIT (likely)' 'Warp 1' '"spare" at faults.cu:46'

# Its warps may have left.
"$wsdbg" run --device sim -o 6.db -- ./program 6 >6.said 2>&1 && fail "6: it does not fail"
grep -q 'CUDA error 700.*64 bytes at 0x1000' 6.said || grep -q 'ended the kernel.*64 bytes at 0x1000' 6.said ||
    fail "6: nothing of the copy: $(cat 6.said)"
