#!/bin/sh
# Ranks on the simulator: one wsdbg with two of them, a wsdbg for each and the merged session, marks, members that Python
# makes: ranks.sh WSDBG ZOO PYTHON-SCRIPT.  On a GPU: DEVICE=gpu LIFE_S=30, for how long a process waits for a mark.
set -u
wsdbg=$1 zoo=$2 python_script=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
failed=0

fail() {
    echo "$*"
    failed=1
}

# says WORDS FILE
says() {
    grep -qF -- "$1" "$2" || fail "no \"$1\" in: $(cat "$2")"
}

# ask FILE QUERY: its rows
ask() {
    "$wsdbg" query "$work/$1.db" --csv "$2" | tail -n +2 | tr -d '\r'
}

# is NAME GOT EXPECTED
is() {
    [ "$2" = "$3" ] || fail "$1: \"$2\", not \"$3\""
}

# run NAME STATUS OPTIONS... -- COMMAND...: its words are in NAME.err, its database is NAME.db
run() {
    name=$1 status=$2
    shift 2
    "$wsdbg" run --device "${DEVICE:-sim}" -o "$work/$name.db" "$@" >"$work/$name.out" 2>"$work/$name.err"
    got=$?
    [ $got -eq "$status" ] || fail "$name: status $got: $(cat "$work/$name.err")"
}

export WORLD_SIZE=2 MASTER_PORT=29500

# Two ranks under one wsdbg; one of them hangs, and that is the status.
run both 124 -- sh -c 'RANK=0 LOCAL_RANK=0 "$0" --case ok-late-release & RANK=1 LOCAL_RANK=1 "$0" --case tx-too-few; wait' "$zoo"
says 'rank 1 of 2 (local 1, host ' "$work/both.err"
is both "$(ask both 'SELECT rank, local_rank, world_size, rank_from, job FROM process ORDER BY rank')" \
    '0,0,2,RANK,"MASTER_PORT=29500
"
1,1,2,RANK,"MASTER_PORT=29500
"'
is blame "$(ask both "SELECT rank, blame FROM member JOIN process USING (process_id) WHERE blame IS NOT NULL")" '1,origin'

# A wsdbg for each of them: merged, the same verdict.
run first 0 -- env RANK=0 LOCAL_RANK=0 "$zoo" --case ok-late-release
run second 124 -- env RANK=1 LOCAL_RANK=1 "$zoo" --case tx-too-few
"$wsdbg" merge "$work/first.db" "$work/second.db" -o "$work/all.db" 2>"$work/merge.err" || fail "merge: $(cat "$work/merge.err")"
says 'one machine' "$work/merge.err"
says 'one run: all that know it have MASTER_PORT=29500' "$work/merge.err"
is verdict "$(ask all @verdict)" "$(ask both @verdict)"
is whose "$(ask all 'SELECT rank FROM finding JOIN process USING (process_id)')" 1
"$wsdbg" report "$work/all.db" >"$work/all.txt"
is heading "$(head -1 "$work/all.txt" | cut -d' ' -f1-4)" 'rank 1 of 2'

# Refused, and no file: the same rank twice, another run, a name that is taken.
run twice 0 -- env RANK=1 "$zoo" --case ok-late-release
run other 0 -- env RANK=0 MASTER_PORT=29501 "$zoo" --case ok-late-release
refuse() {
    words=$1
    shift
    "$wsdbg" merge "$@" -o "$work/none.db" 2>"$work/none.err"
    is "$words" $? 125
    says "$words" "$work/none.err"
    is "$words" "$(wc -l <"$work/none.err")" 1
    [ ! -e "$work/none.db" ] || fail "$words: none.db is there"
}
refuse 'both have rank 1' "$work/second.db" "$work/twice.db"
refuse 'MASTER_PORT is 29500 in the one and 29501 in the other' "$work/second.db" "$work/other.db"
refuse 'No such file' "$work/second.db" "$work/nothing.db"
"$wsdbg" merge "$work/first.db" "$work/second.db" -o "$work/all.db" 2>"$work/none.err" && fail 'all.db is overwritten'
says 'exists already' "$work/none.err"

# A variable of one's own.
run named 0 --rank-from MY_RANK -- env RANK=0 MY_RANK=7 "$zoo" --case ok-late-release
is named "$(ask named 'SELECT rank, world_size, rank_from FROM process')" '7,,MY_RANK'
run bad 125 --rank-from 'A=B' -- true
says "'A=B' is not the name of a variable" "$work/bad.err"

# Marks: who sees one takes its picture, and the other one waits for that.
mkdir "$work/marks"
run waits 0 --mark "$work/marks" -- env RANK=0 sh -c '"$0" --case ok-late-release; sleep "$1"' "$zoo" "${LIFE_S:-3}" &
waits=$!
until [ -s "$work/waits.db" ]; do sleep 0.02; done
sleep 0.5
run hangs 124 --mark "$work/marks" -- env RANK=1 "$zoo" --case tx-too-few
wait $waits
says '1 of 1 other wsdbg took their picture' "$work/hangs.err"
says 'a hang was found on ' "$work/waits.err"
says ': TX_MISMATCH' "$work/waits.err"
is marked "$(ask waits 'SELECT diagnosed, hang FROM shown_snapshot')" '1,0'
is marks "$(cd "$work/marks" && echo *)" "$(cd "$work/marks" && echo wsdbg-*.hang)"
run later 0 --mark "$work/marks" -- env RANK=0 "$zoo" --case ok-late-release
says '1 mark of before this run is ignored' "$work/later.err"

# Members that set their rank themselves, however Python makes them.  One is killed before anybody waits for it.
unset WORLD_SIZE
if command -v python3 >/dev/null; then
    for way in fork spawn forkserver; do
        run "$way" 0 -- python3 "$python_script" "$way"
        is "$way" "$(ask "$way" 'SELECT rank, world_size, rank_from FROM process ORDER BY rank')" '0,3,RANK
1,3,RANK
2,3,RANK'
        # The fork server asks at once how its processes ended.
        [ "$way" = forkserver ] || is "$way killed" "$(ask "$way" 'SELECT rank FROM process WHERE signal = 9')" 2
        is "$way ended" "$(ask "$way" 'SELECT count(*) FROM process WHERE ended')" 3
    done
fi
exit $failed
