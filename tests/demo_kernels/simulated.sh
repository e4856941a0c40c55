#!/bin/sh
# simulated.sh WSDBG PROGRAM - every row of PROGRAM's table (--list-bugs), run on the simulator, gets the cause that the
# table says, from its probes' events and, of a hang, from the device's state; what only crawls, or is right, gets none.
set -u
wsdbg=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# judge OPTION EVIDENCE: the row with this --evidence; after a hang the session says that it had EVIDENCE.  Which one auto
# takes depends on the machine's load: slots that are copied late say nothing, and then the device's state is read.
judge() {
    rm -f "$folder/$name.db"
    "$wsdbg" run --device sim --stall 1 --evidence "$1" -o "$folder/$name.db" -- "$program" --bug "$name" \
        >"$folder/said" 2>&1 </dev/null
    got=$?
    if [ $got != $status ] || ! grep -q "$expected" "$folder/said" ||
        { [ $status = 124 ] && ! grep -q "evidence $2" "$folder/said"; }; then
        echo "$name, --evidence $1: status $got, not $status with '$expected':"
        cat "$folder/said"
        failed=1
    fi
}

# A tab is white space to read, which would take empty columns together.
"$program" --list-bugs | tr '\t' '|' >"$folder/table"
while IFS='|' read -r name cause role barrier kind story; do
    case $(echo "$kind" | tr A-Z a-z) in
    hang | race) expected="HANG: $cause" status=124 ;;
    fault) expected="FAULT: $cause" status=1 ;;
    slow | none) expected="no hang" status=0 ;;
    *) continue ;;
    esac
    judge auto '\(ring\|simulator\)'
    if [ "$status" = 124 ]; then
        judge ring ring
        judge live simulator
    fi
done <"$folder/table"
exit $failed
