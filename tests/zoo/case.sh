#!/bin/sh
# case.sh WSDBG ZOO CASE EXPECTED - one case of the zoo on the simulator: from the state of the machine (no probes, no events), from the
# probes' record, and from both.  Fails where an answer is worse than the line of the case in EXPECTED says, where both together are wrong
# though one alone is right, where a decoy is called a hang and the line does not say so, or where the kernel without its defect does not finish.
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

# mark VARIANT OPTION...
mark() {
    variant=$1
    shift
    answer run --device sim --stall 0.3 "$@" -o "$folder/run.db" -- "$zoo" --case "$name" --variant "$variant" \
        --timeout-ms "$timeout_ms"
    case $kind,$status in decoy,0 | decoy,124) ;; decoy,*) echo unfinished && return ;; esac
    worth
}

# better MARK MARK: what both kinds of evidence must come to, by what each does.
better() {
    case $1,$2 in
    crb,* | *,crb) echo crb ;;
    alarm,* | *,alarm) echo alarm ;;
    runs,runs) echo runs ;;
    '!'* | *,'!'*) echo '!--' ;;
    *) echo --- ;;
    esac
}

line=$(grep "^$name	" "$expected")
state=$(echo "$line" | cut -f2) ring=$(echo "$line" | cut -f3)
compare state "$(mark plain --history 0 --evidence live)" "$state"
compare ring "$(mark probes --evidence ring)" "$ring"
both=$(mark probes --evidence auto) must=$(better "$state" "$ring")
[ "$must" = --- ] || compare both "$both" "$must"
case $must,$both in ---,'!'*) fail "both: $both" ;; esac
if [ "$kind" != decoy ]; then
    "$wsdbg" run --device sim --stall 0.3 -q -o "$folder/fixed.db" -- "$zoo" --case "$name" --fixed --timeout-ms 30000 \
        >"$folder/said" 2>&1 </dev/null || fail "without its defect it ends with $?"
fi
exit $failed
