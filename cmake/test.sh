#!/bin/sh
# test.sh - builds and runs all tests that need no GPU: as shipped, then under the sanitizers.
# Writes build/, build/asan, build/tsan.  Stops at the first build that fails; tests all run.
set -eu
jobs=$(nproc)
failed=

run_preset() { # preset, build folder, extra ctest arguments
    preset=$1 folder=$2
    shift 2
    echo "== $preset"
    cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; exit 1; }
    cmake --build "$folder" -j "$jobs" >"build/build-$preset.log" 2>&1 || { tail -60 "build/build-$preset.log"; exit 1; }
    ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "$@" || failed="$failed $preset"
}

run_preset dev build -LE gpu
# libFuzzer's programs bring sanitizers of their own.
run_preset asan build/asan -LE "gpu|kernels|libfuzzer"
# What threads and other processes share: the ring, the segment, the tables.
run_preset tsan build/tsan -R "evidence_threads|evidence_sources|shim_registry"

# The optimiser of a release build sees what the others do not: it must compile without a warning too.
echo "== release"
cmake --preset release -DWSDBG_KERNELS=OFF >build/configure-release.log 2>&1 || { cat build/configure-release.log; exit 1; }
cmake --build build/release -j "$jobs" >build/build-release.log 2>&1 || { tail -60 build/build-release.log; exit 1; }

[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
