#!/bin/sh
# test.sh - builds the demo with what prepare.sh installs for it alone, then builds and runs all tests that need no GPU:
# optimised as a release is, then under the sanitizers.  While tests run, the next preset is built with the lowest
# priority: many tests mostly wait.
# Writes build/, build/asan, build/tsan.  Stops at the first build that fails; tests all run.
set -eu
jobs=$(nproc)
failed=
late= # tests that passed only when they ran again
background=
lowest= # what runs a command with the lowest priority
trap '[ -z "$background" ] || kill "$background" 2>/dev/null' EXIT

build() { # preset, build folder, target, extra configure arguments
    preset=$1 folder=$2 target=$3
    shift 3
    cmake --preset "$preset" "$@" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; return 1; }
    $lowest cmake --build "$folder" -j "$jobs" --target "$target" >"build/build-$preset.log" 2>&1 || { tail -60 "build/build-$preset.log"; return 1; }
}

finish_background() {
    wait "$background" || exit 1
    background=
}

# One call of ctest; keeps what it printed of tests that failed, and returns whether all passed.
run_once() { # build folder, ctest arguments
    folder=$1
    shift
    status=0
    ctest --test-dir "$folder" --output-on-failure -O build/tests.log "$@" || status=$?
    [ "$status" = 0 ] || awk '/^ *Start +[0-9]+:/ || /^ *[0-9]+\/[0-9]+ Test/ {shown = 0} /\*\*\*/ {shown = 1} shown' build/tests.log >>build/failures.log
    return "$status"
}

# Many tests start processes and measure real time: where the machine stood still, they fail through no fault of the
# program.  A few that failed run once more, alone.  Those that pass then are named at the end, with what they printed.
# What a sanitizer found is no matter of time; leaks are, as a test that fails frees nothing.
run_ctest() { # build folder, ctest arguments
    list=$1/Testing/Temporary/LastTestsFailed.log
    rm -f "$list"
    run_once "$@" && return 0
    [ -e "$list" ] || return 1
    ! grep -q 'ERROR: AddressSanitizer\|WARNING: ThreadSanitizer\|: runtime error:' build/tests.log || return 1
    names=$(sed 's/^[0-9]*://' "$list" | tr '\n' ' ')
    [ "$(echo "$names" | wc -w)" -le 5 ] || return 1
    run_once "$1" --rerun-failed || return 1
    late="$late $names"
}

run_tests() { # preset, build folder, labels to leave out, extra ctest arguments
    preset=$1 folder=$2 without=$3
    shift 3
    echo "== $preset"
    run_ctest "$folder" -j "$((3 * jobs))" -L waits -LE "$without" "$@" || failed="$failed $preset"
    # One more than there are cores: these wait too, now and then.
    run_ctest "$folder" -j "$((jobs + 1))" --no-tests=error -LE "waits|$without" "$@" || failed="$failed $preset"
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

rm -f build/failures.log
build_demo_alone
build dev build all
# The lint tests compile kernels; those of the second preset use what the first compiled.
export WSDBG_COMPILED="$PWD/build/compiled"
rm -rf "$WSDBG_COMPILED"
mkdir "$WSDBG_COMPILED"
(lowest="nice -n 19" && build asan build/asan all) &
background=$!
run_tests dev build gpu
finish_background
(lowest="nice -n 19" && build tsan build/tsan thread_tests) &
background=$!
# libFuzzer's programs bring sanitizers of their own.  Of the recorded cases, on all of which the first tests ran the
# same program, every fifth has to do.
run_tests asan build/asan "gpu|kernels|libfuzzer|golden|zoo"
run_ctest build/asan -j "$((jobs + 1))" --no-tests=error -L "golden|zoo" -LE "gpu|kernels|waits" -I 1,,5 ||
    failed="$failed asan"
finish_background
# What threads and other processes share: the ring, the segment, the tables.
run_tests tsan build/tsan gpu -L threads

[ ! -e build/failures.log ] || cat build/failures.log
[ -z "$late" ] || echo "Passed only when run again, alone: $late"
[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
