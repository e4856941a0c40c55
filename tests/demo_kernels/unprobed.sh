#!/bin/sh
# unprobed.sh WSDBG FOLDER TABLE - every row of TABLE, run on the simulator from the image without probes; the programs are
# in FOLDER.
set -u
wsdbg=$1 programs=$2 table=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
first="SELECT f.cause, coalesce(r.name, '-'), coalesce(b.name, '-'), s.names_inferred FROM finding f
    JOIN snapshot s ON s.id = f.snapshot_id LEFT JOIN name r ON r.kind = 'role' AND r.identifier = f.role
    LEFT JOIN barrier o ON o.id = f.barrier_id LEFT JOIN name b ON b.id = o.name_id ORDER BY f.id LIMIT 1"

matches() {
    [ "$1" = '*' ] || [ "$1" = "$2" ]
}

while IFS='|' read -r program bug cause role barrier; do
    case $program in '#'*) continue ;; waits) variant= ;; *) variant='--variant plain' ;; esac
    "$wsdbg" run --device sim --stall 1 -o "$folder/$bug.db" -- "$programs/$program" --bug "$bug" $variant \
        >"$folder/said" 2>&1 </dev/null
    "$wsdbg" query "$folder/$bug.db" --csv "$first" | tail -n 1 | tr -d '\r' >"$folder/got"
    IFS=, read -r got_cause got_role got_barrier inferred <"$folder/got"
    rm -f "$folder/$bug.db"
    if [ "$got_cause" != "$cause" ] || ! matches "$role" "$got_role" || ! matches "$barrier" "$got_barrier" ||
        [ "$inferred" != 1 ]; then
        echo "$program $bug: $(cat "$folder/got"), not $cause,$role,$barrier:"
        cat "$folder/said"
        failed=1
    fi
done <"$table"
exit $failed
