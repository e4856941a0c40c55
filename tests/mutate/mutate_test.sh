#!/bin/sh
# mutate_test.sh TOOLS ZOO SIMULATOR - the mutator and its preloaded library, on one kernel of the zoo.
#
# TOOLS: folder of mutate, mutated and libmutate_preload.so.  SIMULATOR: folder of the simulated libcuda.so.1.
# Every mutant parses, changes one to three lines, and adds and removes none.  Wrong requests get an error message.
set -u
tools=$1 zoo=$2
export LD_LIBRARY_PATH="$3"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$1"
    failed=1
}

# ragged NAME=VALUE...: runs the program with the library and these variables.
ragged() {
    env "$@" WSDBG_MUTATE_LOG="$work/log" timeout 60 "$tools/mutated" "$tools/libmutate_preload.so" "$zoo" --fixed --case arrive-ragged \
        >"$work/out" 2>"$work/err"
}

# Without a mutant: the library only keeps the PTX that the driver gets.
ragged WSDBG_MUTATE_DUMP="$work" || fail "the program does not end well with the library: $(cat "$work/err")"
[ ! -s "$work/out" ] || fail "something is said on stdout: $(cat "$work/out")"
grep -q 'module 0: left as it is' "$work/log" || fail "the log does not say that the module was left: $(cat "$work/log")"
ptx=$work/0.ptx kernel=zoo_arrive_ragged_fixed

"$tools/mutate" --list "$ptx" --kernel "$kernel" --threads 256 >"$work/rows" || fail "the kernel's mutants are not listed"
for operator in init-count:one-more init-missing arrive-missing:one-warp arrive-missing:later arrive-twice:always expect-bytes:more \
    copy-missing:once parity:first trip-count:less named-missing:one-warp early-return:role delay; do
    grep -q "	$operator	" "$work/rows" || fail "no mutant of $operator"
done
# Roles: warp 0 announces the bytes, warps 4-7 arrive.
grep -q '	expect-bytes:more	.*	TX_MISMATCH	mbarrier 0x400 to 0x408	1$' "$work/rows" || fail 'the barrier or the warps of expect-bytes are wrong'
grep -q '	arrive-missing:always	.*	mbarrier 0x410 to 0x418	f0$' "$work/rows" || fail 'the barriers or the warps of arrive-missing are wrong'

lines=$(wc -l <"$ptx")
while IFS='	' read -r pick _ operator _; do
    "$tools/mutate" "$ptx" --kernel "$kernel" --threads 256 --pick "$pick" -o "$work/mutant.ptx" >"$work/row" || fail "mutant $pick is not made"
    grep -q "^$pick	" "$work/row" || fail "the row of mutant $pick is not printed"
    "$tools/mutate" --list "$work/mutant.ptx" >/dev/null || fail "mutant $pick ($operator) does not parse"
    [ "$(wc -l <"$work/mutant.ptx")" = "$lines" ] || fail "mutant $pick ($operator) has more or fewer lines"
    changed=$(diff "$ptx" "$work/mutant.ptx" | grep -c '^>')
    [ "$changed" -ge 1 ] && [ "$changed" -le 3 ] || fail "mutant $pick ($operator) changes $changed lines"
done <"$work/rows"

# The library makes a mutant itself: too many bytes are announced, so the program hangs.
pick=$(grep '	expect-bytes:more	' "$work/rows" | head -1 | cut -f1)
rm "$work/log"
env WSDBG_MUTATE_PICK="$pick" WSDBG_MUTATE_KERNEL="$kernel" WSDBG_MUTATE_THREADS=256 WSDBG_MUTATE_LOG="$work/log" timeout 60 "$tools/mutated" \
    "$tools/libmutate_preload.so" "$zoo" --fixed --case arrive-ragged --timeout-ms 1000 >"$work/out" 2>"$work/err"
[ $? = 3 ] || fail "the mutant does not hang: $(cat "$work/err")"
grep -q "module 0: mutant $pick	$kernel	expect-bytes:more	" "$work/log" || fail "the log does not name the mutant: $(cat "$work/log")"
grep -q 'module 0: replaced' "$work/log" || fail 'the log does not say that the module was replaced'

# Wrong requests.
"$tools/mutate" "$ptx" --pick 100000 -o "$work/mutant.ptx" 2>"$work/err"
[ $? = 2 ] && grep -q 'there is no mutant 100000' "$work/err" || fail "no error for a mutant that does not exist: $(cat "$work/err")"
echo 'no PTX' >"$work/bad.ptx"
"$tools/mutate" --list "$work/bad.ptx" 2>"$work/err"
[ $? = 1 ] && grep -q 'bad.ptx:1: ' "$work/err" || fail "no error for a text that is not PTX: $(cat "$work/err")"
rm "$work/log"
ragged WSDBG_MUTATE_PICK=100000 || fail 'the program does not end well without such a mutant'
grep -q 'module 0: it has [0-9]* mutants' "$work/log" || fail "the log does not say how many there are: $(cat "$work/log")"
exit $failed
