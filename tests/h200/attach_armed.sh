#!/bin/sh
# Attaches to armed programs on a GPU: one that hangs (twice), a healthy one, and two at once with --all.  Each keeps
# running; the script ends it.  It prints the seconds from attach to verdict.
#
#   tests/h200/attach_armed.sh [BUILD-FOLDER]       (DEVICE=sim: on the simulator, for function alone)
#
# Status 0 when all was as expected.  On one GPU some two minutes at most: every step has a time limit.
set -u
build=${1:-build}
wsdbg=$build/bin/wsdbg gemm=$build/bin/gemm device=${DEVICE:-gpu}
work=$(mktemp -d)
programs='' failed=0

end_programs() {
    for program in $programs; do
        kill -KILL "$program" 2>/dev/null
    done
    programs=''
}
trap 'end_programs; rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    failed=1
}

# arm NAME ARGUMENTS...: $program is its process, which is the program itself
arm() {
    name=$1
    shift
    timeout 120 "$wsdbg" arm --device "$device" --folder "$work/armed" -- "$@" >"$work/$name.out" 2>&1 &
    timer=$!
    sleep "${WARM_S:-4}"
    program=$(pgrep -P $timer)
    programs="$programs $program $timer"
}

# attach NAME STATUS ARGUMENTS...
attach() {
    name=$1 expected=$2
    shift 2
    before=$(date +%s.%N)
    timeout 60 "$wsdbg" attach "$@" >"$work/$name.attach" 2>&1
    got=$?
    after=$(date +%s.%N)
    sed "s/^/  /" "$work/$name.attach" | head -60
    echo "$name: status $got, $(echo "$after $before" | awk '{printf "%.2f", $1 - $2}') s"
    [ $got -eq "$expected" ] || fail "$name: status $got, not $expected"
}

has() {
    grep -q "$2" "$work/$1.attach" || fail "$1: no \"$2\""
}

lives() {
    kill -0 "$1" 2>/dev/null || fail "process $1 has ended"
}

echo "== a program that hangs, twice"
arm hung "$gemm" --bug arrive-missing
hung=$program
attach first 124 "$hung"
has first ARRIVE_MISSING
lives "$hung"
attach second 124 "$hung"
has second ARRIVE_MISSING
lives "$hung"

echo "== the same without probes"
end_programs
arm bare "$gemm" --bug arrive-missing --variant bare
attach bare 124 "$program"
has bare ARRIVE_MISSING
lives "$program"
[ "$device" = sim ] || { attach bare-anyway 124 --look-anyway "$program"; lives "$program"; }

echo "== a healthy program"
end_programs
arm healthy "$gemm" --repeat "${REPEAT:-1000000}"
attach healthy 0 "$program"
has healthy 'no hang'
lives "$program"

echo "== two at once"
end_programs
RANK=0 WORLD_SIZE=2 arm rank0 "$gemm" --bug arrive-missing
RANK=1 WORLD_SIZE=2 arm rank1 "$gemm" --bug tx-mismatch
"$wsdbg" attach --list --folder "$work/armed"
attach all 124 --all --folder "$work/armed"
has all 'rank 0'
has all 'rank 1'
[ $failed -eq 0 ] && echo "all as expected"
exit $failed
