#!/bin/sh
# demo.sh WSDBG PROGRAM - `wsdbg demo` runs a demo that has no recording, and the correct kernels, on a GPU or on the
# simulator, and lists each demo once; and the long work of PROGRAM (waits) comes to its end on the simulator.
set -u
wsdbg=$1 waits=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# check STATUS TEXT COMMAND... - how it must end, and what it must say
check() {
    expected=$1 text=$2
    shift 2
    "$@" >"$folder/said" 2>&1 </dev/null
    status=$?
    if [ $status != "$expected" ] || ! grep -q "$text" "$folder/said"; then
        echo "$*: status $status, not $expected with '$text':"
        cat "$folder/said"
        failed=1
    fi
}

check 124 'HANG: NAMED_COUNT' "$wsdbg" demo named-count --stall 1 -o "$folder/demo.db"
check 0 'no hang' "$wsdbg" demo healthy -o "$folder/healthy.db"
check 0 'no hang' "$wsdbg" demo two-async-none -o "$folder/none.db"
twice=$("$wsdbg" demo --list | cut -c51- | sort | uniq -d) # the column of stories
[ -z "$twice" ] || { echo "listed twice: $twice"; failed=1; }
check 0 'no hang' "$wsdbg" run --device sim -o "$folder/work.db" -- "$waits" --bug long-work
exit $failed
