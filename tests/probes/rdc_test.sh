#!/bin/sh
# rdc_test.sh - a program of relocatable device code with probes in two files: it links, and both kernels record.
# rdc_test.sh NVCC INCLUDE SOURCE_DIR WORK_DIR WSDBG; paths from the root
set -eu
nvcc=$1 include=$2 sources=$3/rdc work=$4/rdc wsdbg=$5
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
    echo "$*" >&2
    exit 1
}

# What a GPU gets: one module, with one config and one list of names.
"$nvcc" -rdc=true -arch=sm_90a -I "$include" -dc "$sources/first.cu" "$sources/second.cu"
"$nvcc" -arch=sm_90a -dlink -cubin first.o second.o -o linked.cubin
for symbol in wsdbg_config_v1 wsdbg_names_v1; do
    count=$(readelf -sW linked.cubin | grep -c "OBJECT.* $symbol\$") || fail "linked.cubin has no $symbol"
    [ "$count" = 1 ] || fail "linked.cubin has $count of $symbol"
done

"$nvcc" -rdc=true -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -I "$include" -o program \
    "$sources/first.cu" "$sources/second.cu"
"$wsdbg" run --device sim --quiet -- ./program >good.txt 2>&1 || fail "it does not end: $(cat good.txt)"

# expect KERNEL WHO BARRIER: the hang of one kernel, seen from its events.
expect() {
    status=0
    "$wsdbg" run --device sim --evidence ring -o "$1.db" -- ./program "$1" >"$1.txt" 2>&1 || status=$?
    [ "$status" = 124 ] || fail "$1: status $status: $(cat "$1.txt")"
    grep -q "^$1, grid" "$1.txt" || fail "$1: another kernel: $(cat "$1.txt")"
    grep -q "$2 *WAIT_NAMED *$3" "$1.txt" || fail "$1: $2 does not wait on $3: $(cat "$1.txt")"
}
expect first receiver sent
expect second sender taken
