# hold.sh - read by case.sh and recorded.sh: what one answer of wsdbg is worth, and whether that is less than it was.
# They set: wsdbg, name, row (the case's line of `zoo --list`), expected (the file with what it was), folder (theirs), failed=0.

cause=$(echo "$row" | cut -f2) kind=$(echo "$row" | cut -f5)
first="SELECT f.cause || char(9) || f.confidence || char(9) || coalesce(r.name, '') || char(9) || coalesce(b.name,
    CASE o.kind WHEN 'named barrier' THEN o.kind || ' ' || o.identifier ELSE o.kind END, '') AS said FROM finding f
    LEFT JOIN name r ON r.kind = 'role' AND r.identifier = f.role
    LEFT JOIN barrier o ON o.id = f.barrier_id LEFT JOIN name b ON b.id = o.name_id ORDER BY f.id LIMIT 1"

fail() {
    echo "$name: $1"
    cat "$folder/said"
    failed=1
}

# answer WORD...: wsdbg with these words; its exit status is in $status, what it said first in $said.
answer() {
    rm -f "$folder/run.db"
    "$wsdbg" "$@" >"$folder/said" 2>&1 </dev/null
    status=$?
    said=$("$wsdbg" query "$folder/run.db" --csv "$first" 2>/dev/null | tail -n +2 | tr -d '\r"')
}

# worth: of that answer, see marks.awk.
worth() {
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
