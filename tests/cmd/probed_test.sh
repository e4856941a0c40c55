#!/bin/sh
# probed_test.sh NVCC WSDBG - a kernel with probes of which one thread leaves out one arrival: the verdict, its evidence, the
# report's tables, why and the canned queries say the same of it, with the same line.
set -eu
nvcc=$1 wsdbg=$2 sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$sources/probed.cu" "$work"
cd "$work"

fail() {
    echo "$*" >&2
    exit 1
}

# says WHAT FILE WORDS...: each is in the file, whose lines may be broken anywhere.
says() {
    what=$1
    tr '\n' ' ' <"$2" | tr -s ' ' >one_line
    file=$2
    shift 2
    for words; do
        grep -qF -- "$words" one_line || fail "$what: no '$words' in: $(cat "$file")"
    done
}

"$nvcc" -lineinfo -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -I "$sources/../../instr/include" -o program probed.cu
line=$(grep -n 'the loader waits here' probed.cu | cut -d: -f1)

status=0
"$wsdbg" run --device sim -o probed.db -- ./program >report 2>&1 || status=$?
[ "$status" = 124 ] || fail "status $status: $(cat report)"
says report report 'HANG: ARRIVE_MISSING (likely)' '1 thread of warp 7 (adder) never arrived on "drained" stage 2' \
    "waits forever (probed.cu:$line)" "iteration 8, probed.cu:$line" 'each of warps 4-6 (adder) arrived' \
    '31 of 32 lanes of warp 7 (adder) arrived' '1 of 2 CTAs there now' 'the other CTAs have ended, or have not begun' \
    'wsdbg: session in probed.db' 'wsdbg: show it: wsdbg view; explain it: wsdbg why; ask it: wsdbg query'

"$wsdbg" why probed.db >why
says why why 'warps 4-6 (adder): arrived' 'warp 7 (adder): 31 of 32 lanes arrived, 1 did not'

for query in stuck longest-waits; do
    "$wsdbg" query probed.db "@$query" >"$query"
    says "$query" "$query" "probed.cu:$line" 'pipe '
    ! grep -qw 'line' "$query" || fail "$query has a second line: $(cat "$query")"
    ! grep -q '_Z4pipe' "$query" || fail "$query has a mangled name: $(cat "$query")"
done
