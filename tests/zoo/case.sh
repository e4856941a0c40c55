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
cause=$(echo "$row" | cut -f2) kind=$(echo "$row" | cut -f5)
timeout_ms=3000 # of those that the ring cannot judge: they poll memory
[ "$kind" != decoy ] || timeout_ms=30000
first="SELECT f.cause || char(9) || f.confidence || char(9) || coalesce(r.name, '') || char(9) || coalesce(b.name,
    CASE o.kind WHEN 'named barrier' THEN o.kind || ' ' || o.identifier ELSE o.kind END, '') AS said FROM finding f
    LEFT JOIN name r ON r.kind = 'role' AND r.identifier = f.role
    LEFT JOIN barrier o ON o.id = f.barrier_id LEFT JOIN name b ON b.id = o.name_id ORDER BY f.id LIMIT 1"

fail() {
    echo "$name: $1"
    cat "$folder/said"
    failed=1
}

# mark VARIANT EVIDENCE: what the answer is worth, see marks.awk.
mark() {
    rm -f "$folder/run.db"
    "$wsdbg" run --device sim --stall 0.3 --evidence "$2" -o "$folder/run.db" -- "$zoo" --case "$name" --variant "$1" \
        --timeout-ms "$timeout_ms" >"$folder/said" 2>&1 </dev/null
    status=$?
    said=$("$wsdbg" query "$folder/run.db" --csv "$first" 2>/dev/null | tail -n +2 | tr -d '\r"')
    case $kind,$status in decoy,0 | decoy,124) ;; decoy,*) echo unfinished && return ;; esac
    printf '%s\t%s\t%s\n' "$(echo "$row" | cut -f1-4)" "$status" "$said" | awk -f "$here/marks.awk"
}

# compare EVIDENCE MARK LINE: every letter that the line has is there, and nothing that is wrong is worse.
compare() {
    case $3 in
    alarm) [ "$2" = runs ] || [ "$2" = alarm ] || fail "$1: $2" ;;
    runs) case $cause,$2 in *,runs) ;; -,* | *,'!'*) fail "$1: $2, was runs" ;; esac ;;
    *)
        for letter in $(echo "$3" | sed 's/[-!]//g; s/./& /g'); do
            case $2 in *"$letter"*) ;; *) fail "$1: $2, was $3" ;; esac
        done
        case $3,$2 in '!'*) ;; *,'!'* | *,runs) fail "$1: $2, was $3" ;; esac
        ;;
    esac
    [ "$kind,$2" != decoy,unfinished ] || fail "$1: a correct kernel does not finish"
    [ "$2" = "$3" ] || echo "$name, $1: $2 now, $3 in $(basename "$expected")"
}

line=$(grep "^$name	" "$expected")
compare state "$(mark plain auto)" "$(echo "$line" | cut -f2)"
compare ring "$(mark probes ring)" "$(echo "$line" | cut -f3)"
if [ "$kind" != decoy ]; then
    "$wsdbg" run --device sim --stall 0.3 -q -o "$folder/fixed.db" -- "$zoo" --case "$name" --fixed --timeout-ms 30000 \
        >"$folder/said" 2>&1 </dev/null || fail "without its defect it ends with $?"
fi
exit $failed
