#!/bin/sh
# simulated.sh WSDBG PROGRAM - every hang of PROGRAM's table (--list-bugs), run on the simulator, gets the cause that the
# table says; what only crawls gets none.
set -u
wsdbg=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
"$program" --list-bugs >"$folder/table"
tab=$(printf '\t')
while IFS="$tab" read -r name cause role barrier kind story; do
    case $kind in
    hang | race) expected="HANG: $cause" status=124 ;;
    slow) expected="no hang" status=0 ;;
    *) continue ;;
    esac
    "$wsdbg" run --device sim --stall 1 -o "$folder/$name.db" -- "$program" --bug "$name" >"$folder/said" 2>&1 </dev/null
    got=$?
    if [ $got != $status ] || ! grep -q "$expected" "$folder/said"; then
        echo "$name: status $got, not $status with '$expected':"
        cat "$folder/said"
        failed=1
    fi
done <"$folder/table"
exit $failed
