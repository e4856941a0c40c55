#!/bin/sh
# case.sh WSDBG ZOO CASE EXPECTED - one case of the zoo on the simulator: from the state of the machine (no probes) and from the probes'
# record.  Fails where an answer is worse than the line of the case in EXPECTED says, where a decoy is called a hang and the line
# does not say so, or where the kernel without its defect does not finish.
set -u
wsdbg=$1 zoo=$2 name=$3 expected=$4
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
row=$("$zoo" --list | grep "^$name	")
. "$here/hold.sh"
timeout_ms=3000 # of those that the ring cannot judge: they poll memory
[ "$kind" != decoy ] || timeout_ms=30000

# mark VARIANT EVIDENCE
mark() {
    answer run --device sim --stall 0.3 --evidence "$2" -o "$folder/run.db" -- "$zoo" --case "$name" --variant "$1" \
        --timeout-ms "$timeout_ms"
    case $kind,$status in decoy,0 | decoy,124) ;; decoy,*) echo unfinished && return ;; esac
    worth
}

line=$(grep "^$name	" "$expected")
compare state "$(mark plain auto)" "$(echo "$line" | cut -f2)"
compare ring "$(mark probes ring)" "$(echo "$line" | cut -f3)"
if [ "$kind" != decoy ]; then
    "$wsdbg" run --device sim --stall 0.3 -q -o "$folder/fixed.db" -- "$zoo" --case "$name" --fixed --timeout-ms 30000 \
        >"$folder/said" 2>&1 </dev/null || fail "without its defect it ends with $?"
fi
exit $failed
