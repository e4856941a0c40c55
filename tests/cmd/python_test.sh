#!/bin/sh
# python_test.sh - what wsdbg run tells the libraries of Python on the simulator, so that they load PTX.
#
#     python_test.sh WSDBG
set -u
wsdbg=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
    echo "$1"
    failed=1
}

printf '.version 8.0\n.target sm_90\n.address_size 64\n' >kernel.ptx

# Triton calls the assembler that these variables name, with such words, and loads what it wrote.
# shellcheck disable=SC2016
for name in TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH; do
    env "$name=/nowhere" "$wsdbg" run --device sim -o "$name.db" -- sh -c \
        '"$'$name'" -lineinfo -v --gpu-name=sm_90a kernel.ptx -o kernel.o && "$'$name'" --version >version' >out 2>&1 ||
        fail "$name: $(cat out)"
    cmp kernel.ptx kernel.o || fail "$name: the PTX was not kept"
    grep -q 'release [0-9][0-9]*\.[0-9]' version || fail "$name: no release in: $(cat version)"
    rm -f kernel.o version
done
# shellcheck disable=SC2016
"$wsdbg" run --device sim -o missing.db -- sh -c '"$TRITON_PTXAS_PATH" -v nowhere.ptx -o kernel.o' >out 2>&1 &&
    fail 'a file that is not there was assembled'
grep -q 'no PTX file is named' out || fail "not said: $(cat out)"
# shellcheck disable=SC2016
CUPY_COMPILE_WITH_PTX=0 "$wsdbg" run --device sim -o cupy.db -- sh -c 'test "$CUPY_COMPILE_WITH_PTX" = 1' >out 2>&1 ||
    fail "CUPY_COMPILE_WITH_PTX: $(cat out)"
exit $failed
