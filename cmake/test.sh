#!/bin/sh
# test.sh - builds the demo with what prepare.sh installs for it alone, then builds and runs all tests that need no GPU:
# as shipped, then under the sanitizers.
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
    # One more than there are cores: many tests mostly wait.
    ctest --test-dir "$folder" -j "$((jobs + 1))" --output-on-failure --no-tests=error "$@" || failed="$failed $preset"
}

# `make demo` must build where nothing is installed but what prepare.sh names.  Done first, in the folder of the first
# tests, it costs seconds: they use what it compiled.
build_demo_alone() {
    echo "== demo"
    packages=$(sh cmake/prepare.sh --list demo)
    status=0
    sh cmake/demo_packages.sh visible build $packages || status=$?
    [ "$status" != 77 ] || return 0
    # What an earlier run found does not count: -U makes cmake look again.
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$PWD/build/packages/pkgconfig \
        sh cmake/build_demo.sh -U '__pkg_config_checked_*' -U '*_LIBRARY' >build/build-demo.log 2>&1 || { tail -60 build/build-demo.log; exit 1; }
    sh cmake/demo_packages.sh used build $packages || exit 1
}

build_demo_alone
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
