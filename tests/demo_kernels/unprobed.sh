#!/bin/sh
# unprobed.sh WSDBG FOLDER TABLE - every row of TABLE, run on the simulator from the image without probes; the programs are
# in FOLDER.
set -u
wsdbg=$1 programs=$2 table=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
first="SELECT f.cause, coalesce(r.name, '-'), coalesce(b.name, '-'), s.names_inferred, e.evidence FROM finding f
    JOIN snapshot s ON s.id = f.snapshot_id JOIN session e LEFT JOIN name r ON r.kind = 'role' AND r.identifier = f.role
    LEFT JOIN barrier o ON o.id = f.barrier_id LEFT JOIN name b ON b.id = o.name_id
    ORDER BY f.snapshot_id DESC, f.id LIMIT 1" # a stall before the hang may have been looked at too

matches() {
    [ "$1" = '*' ] || [ "$1" = "$2" ]
}

# judge OPTION EVIDENCE: the row again with this --evidence; the session then says that it had EVIDENCE.
judge() {
    "$wsdbg" run --device sim --stall 0.5 --evidence "$1" -o "$folder/$bug.db" -- "$programs/$program" --bug "$bug" $variant \
        >"$folder/said" 2>&1 </dev/null
    "$wsdbg" query "$folder/$bug.db" --csv "$first" | tail -n 1 | tr -d '\r' >"$folder/got"
    IFS=, read -r got_cause got_role got_barrier inferred had <"$folder/got"
    rm -f "$folder/$bug.db"
    if [ "$got_cause" != "$cause" ] || ! matches "$role" "$got_role" || ! matches "$barrier" "$got_barrier" ||
        [ "$inferred" != 1 ] || [ "$had" != "$2" ]; then
        echo "$program $bug, --evidence $1: $(cat "$folder/got"), not $cause,$role,$barrier,1,$2:"
        cat "$folder/said"
        failed=1
    fi
}

while IFS='|' read -r program bug cause role barrier evidence; do
    case $program in '#'*) continue ;; waits) variant= ;; *) variant='--variant plain' ;; esac
    case $evidence in both | state) judge auto simulator ;; esac
    case $evidence in both | events) judge ring ring ;; esac
done <"$table"
exit $failed
