#!/bin/sh
# calls.sh - programs of the CUDA runtime under `wsdbg run --device sim` and `wsdbg explore`.
#
#     calls.sh WSDBG FOLDER
#
# FOLDER holds calls.cu, built with the shared runtime (calls-shared), the static one (calls-static), that without PIE (calls-fixed), without symbols (calls-stripped), and NVIDIA's
# shared one by RPATH (calls-rpath); unit_a.cu and unit_b.cu as units (relocatable device code); graphs-shared and graphs-static; and plugins with plugin_a.so and plugin_b.so.
# Exit status: 77 where NVIDIA's compiler did not make them.
set -u
wsdbg=$1 folder=$2
[ -x "$folder/calls-shared" ] || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# expect STATUS WORDS COMMAND...: the command ends with the status, and says the words on stderr
expect() {
    status=$1 words=$2
    shift 2
    rm -f "$work"/run.db*
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" != "$status" ] || ! grep -qF "$words" "$work/err"; then
        echo "expected status $status and \"$words\" of: $*"
        echo "got status $got:"
        cat "$work/out" "$work/err"
        failed=1
    fi
}

for kind in shared static fixed rpath; do
    expect 0 'no hang' "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/calls-$kind" works
    expect 124 'HANG: ' "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/calls-$kind" hangs
    grep -qF '  launched at main' "$work/err" && grep -qF ': main > cudaDeviceSynchronize > ' "$work/err" || {
        echo "calls-$kind: the launch and the wait are not shown as main's:"
        cat "$work/err"
        failed=1
    }
    expect 124 'HANG: ' "$wsdbg" explore --schedules 5 -o "$work/run.db" -- "$folder/calls-$kind" hangs
    expect 0 'ended by a GPU fault' "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/calls-$kind" faults
done
for kind in shared static; do
    expect 0 'no hang' timeout 30 "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/graphs-$kind" works
    expect 124 'HANG: ' timeout 30 "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/graphs-$kind" hangs
done
expect 124 'HANG: ' timeout 60 "$wsdbg" explore --schedules 3 -o "$work/run.db" -- "$folder/graphs-shared" hangs
for time in 1 2 3; do
    expect 0 'no hang' timeout 30 "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/plugins" "$folder/plugin_a.so" "$folder/plugin_b.so"
done
expect 0 '2 kernel launches seen, no hang' "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/units"
expect 1 'has kernels but no symbols' "$wsdbg" run --device sim -o "$work/run.db" -- "$folder/calls-stripped" works
exit $failed
