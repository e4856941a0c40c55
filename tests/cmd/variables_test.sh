#!/bin/sh
# variables_test.sh NVCC WSDBG - mbarriers of a kernel without probes on the simulator: what the program's variables are
# called, in the report and in the history, and no array that is only a neighbour of another one.
set -eu
nvcc=$1 wsdbg=$2 sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "$*" >&2
    exit 1
}

"$nvcc" -lineinfo -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -o program "$sources/variables.cu"
status=0
"$wsdbg" run --device sim -o hang.db -- ./program >report.txt 2>&1 || status=$?
[ "$status" = 124 ] || fail "status $status: $(cat report.txt)"
for line in 'WAIT_MBARRIER  taken\[1\] parity 0, iteration 13' 'WAIT_MBARRIER  ready\[1\] parity 0, iteration 9'; do
    grep -q "$line" report.txt || fail "no line '$line': $(cat report.txt)"
done
! grep -q "are inferred" report.txt || fail "the variables' names are called inferred: $(cat report.txt)"
"$wsdbg" query hang.db @tails >tails.txt
for row in 'wait begin  ready *1 *0 *9 ' 'wait begin  taken *1 *0 *13 ' 'arrive *ready *2 .* 10 '; do
    grep -q "$row" tails.txt || fail "no row '$row': $(cat tails.txt)"
done

# Also where nothing but the events is read.
"$wsdbg" run --device sim --evidence ring -- ./program >ring.txt 2>&1 || true
for words in '\[1\] parity 0, iteration 13' '\[1\] parity 0, iteration 9'; do
    grep -q "WAIT_MBARRIER .*$words" ring.txt || fail "no '$words': $(cat ring.txt)"
done
