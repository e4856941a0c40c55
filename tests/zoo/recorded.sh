#!/bin/sh
# recorded.sh WSDBG CASES RECORDED CASE EXPECTED - one case of the zoo from what was recorded on an H200 (pack.py, folder RECORDED): live looks at
# the kernel without probes, a GPU core dump of it, the record of its probes, and that record with looks of the same run.
# CASES is what `zoo --list` says.  Fails where an answer is worse than the line of the case in EXPECTED says; "none" stands for evidence that could not be had: the kernel had ended.
set -u
wsdbg=$1 recorded=$3 name=$4 expected=$5
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
row=$(grep "^$name	" "$2")
. "$here/hold.sh"

# mark FILE WORD...: with these words, of evidence that has the file.
mark() {
    [ -f "$1" ] || { echo none && return; }
    shift
    answer "$@" -o "$folder/run.db"
    worth
}

hold() {
    [ "$2" = "$3" ] || [ "$2" != none ] || fail "$1: the fixture has no such evidence"
    [ "$2" = none ] || compare "$@"
}

line=$(grep "^$name	" "$expected")
live=$recorded/live/$name core=$recorded/core/$name ring=$recorded/ring/$name both=$recorded/both/$name
hold live "$(mark "$live/1.core" core "$live/1.core" "$live/2.core")" "$(echo "$line" | cut -f2)"
hold core "$(mark "$core/core" core "$core/core")" "$(echo "$line" | cut -f3)"
hold ring "$(mark "$ring/ring.wsrec" replay --stall 0.5 "$ring/ring.wsrec")" "$(echo "$line" | cut -f4)"
hold both "$(mark "$both/1.core" core --ring "$both/ring.wsrec" "$both/1.core" "$both/2.core")" "$(echo "$line" | cut -f5)"
exit $failed
