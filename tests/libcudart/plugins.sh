#!/bin/sh
# plugins.sh - libraries with a CUDA runtime, opened later or linked with, under `wsdbg run --device sim`.
#
#     plugins.sh WSDBG FOLDER
#
# FOLDER holds plugin-KIND.so with the static runtime (static), the same without exported functions of it (hidden), the shared one (shared) and the
# static one without symbols (stripped); opener has no runtime, opener-static a static one, linked is linked with plugin-hidden.so.
# whole is linked statically as a whole.  keeps_code PROGRAM runs a program that may not change its code.
# Exit status: 77 where NVIDIA's compiler did not make them.
set -u
wsdbg=$1 folder=$2
[ -x "$folder/opener" ] || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# expect STATUS WORDS PROGRAM...: wsdbg run ends with the status, and says the words on stderr
expect() {
    status=$1 words=$2
    shift 2
    rm -f "$work"/run.db*
    "$wsdbg" run --device sim -o "$work/run.db" -- "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" != "$status" ] || ! grep -qF "$words" "$work/err"; then
        echo "expected status $status and \"$words\" of: $*"
        echo "got status $got:"
        cat "$work/out" "$work/err"
        failed=1
    fi
}

for kind in static hidden shared; do
    expect 0 'no hang' "$folder/opener" "$folder/plugin-$kind.so" works
    expect 0 'no hang' "$folder/opener-static" "$folder/plugin-$kind.so" works
    expect 124 'HANG: ' "$folder/opener" "$folder/plugin-$kind.so" hangs
done
expect 0 '2 kernel launches seen, no hang' "$folder/opener" "$folder/plugin-hidden.so" apart
expect 0 'no hang' "$folder/linked"
expect 124 'HANG: ' "$folder/linked" - hangs
expect 1 'plugin-stripped.so has kernels but no symbols' "$folder/opener" "$folder/plugin-stripped.so" works
for linker in "$folder"/opener-ld.*; do
    [ -x "$linker" ] && expect 0 'no hang' "$linker" "$folder/plugin-hidden.so" works
done
# Where no program may change its code, it is said; older kernels have no such rule.
if "$folder/keeps_code" true; then
    expect 1 'this system lets no program change its own code' "$folder/keeps_code" "$folder/opener-static" none works
fi
expect 0 'is linked statically as a whole' "$folder/whole"
exit $failed
