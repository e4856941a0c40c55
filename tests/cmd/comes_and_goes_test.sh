#!/bin/sh
# Processes that come, go or become others, folders without room, and what a killed wsdbg leaves behind, on the fake
# driver: comes_and_goes_test.sh WSDBG APP FOLDER-OF-THE-FAKE
set -u
wsdbg=$1 app=$2
export LD_LIBRARY_PATH=$3
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

# run NAME COMMAND...: a run whose words are in NAME.err; its database is NAME.db
run() {
    name=$1
    shift
    "$wsdbg" run -o "$work/$name.db" -- "$@" >"$work/$name.out" 2>"$work/$name.err"
}

# until_it COMMAND...: waits until the command succeeds, or the process in $watched has ended
until_it() {
    until "$@" 2>/dev/null; do
        kill -0 "$watched" 2>/dev/null || return 0
        sleep 0.02
    done
}

# nothing_left: what runs of this test made is gone
nothing_left() {
    for left in /dev/shm/wsdbg.*/wsdbg.*."$1" "$work"/wsdbg-spool.*; do
        [ ! -e "$left" ] || fail "$left is left"
    done
}

many='i=0; while [ $i -lt 80 ]; do "$0" proc basic >/dev/null || exit 1; i=$((i + 1)); done'
read_all='while ls /dev/shm/wsdbg."$WSDBG_SESSION"/wsdbg.*.[0-9]* >/dev/null 2>&1; do sleep 0.02; done'

# All of them are counted, and the newest 32 are shown at the end: the program goes on until wsdbg has read what the last
# of them left.  (The database also has those of the pictures before.)
run many sh -c "$many; $read_all" "$app" || fail "many: status $?"
says '320 kernel launches seen' "$work/many.err"
shown=$("$wsdbg" query "$work/many.db" --csv 'SELECT count(*) FROM context' | tail -1 | tr -d '\r')
[ "$shown" -ge 32 ] || fail "of 80 processes $shown are shown"

# With few descriptors nobody is lost.
(ulimit -n 64 && run few sh -c "$many" "$app") || fail "few: status $?"
says '320 kernel launches seen' "$work/few.err"

# Nor where more of them come at once than there are descriptors for.
at_once='i=0; while [ $i -lt 80 ]; do "$0" proc basic >/dev/null & i=$((i + 1)); done; wait'
(ulimit -n 40 && run burst sh -c "$at_once" "$app") || fail "burst: status $?"
says '320 kernel launches seen' "$work/burst.err"

# A container's /dev/shm, a full one and one that cannot be written: the program has all of it, and is watched.
if unshare -m true 2>/dev/null; then
    for options in size=64m size=4k ro; do
        export options
        unshare -m sh -c 'mount -t tmpfs -o $options none /dev/shm && shift && exec "$@"' sh x \
            "$wsdbg" run -o "$work/$options.db" -- sh -c '"$0" proc basic >/dev/null && df --output=used /dev/shm | tail -1' \
            "$app" >"$work/$options.out" 2>"$work/$options.err" || fail "$options: status $?"
        says '4 kernel launches seen' "$work/$options.err"
        [ "$(tr -d ' ' <"$work/$options.out")" -le 16 ] || fail "$options: $(cat "$work/$options.out") KiB are used"
    done
fi

# A process that becomes another program, once and for good.
run exec sh -c 'exec "$0" dlsym exec >/dev/null' "$app" || fail "exec: status $?"
says '9 kernel launches seen' "$work/exec.err"
run other sh -c 'exec "$0" dlsym exec-other >/dev/null' "$app" || fail "exec-other: status $?"
says '5 kernel launches seen' "$work/other.err"

# A process that outlives the first one is watched to its end: it ends when wsdbg has said that it does.
mkfifo "$work/hold"
cat >"$work/outlives.sh" <<'END'
APP_WAITS=1 "$1" proc hang <"$2/hold" >"$2/outlives.out" &
until grep -q ready "$2/outlives.out" 2>/dev/null; do sleep 0.02; done
END
"$wsdbg" run --evidence ring --stall 600 -o "$work/outlives.db" -- sh "$work/outlives.sh" "$app" "$work" \
    2>"$work/outlives.err" &
watched=$!
exec 3>"$work/hold"
until_it grep -q 'first process has ended' "$work/outlives.err"
exec 3>&-
wait "$watched" || fail "outlives: status $?"
says "the program's first process has ended; process" "$work/outlives.err"
says '1 kernel launch seen' "$work/outlives.err"

# What a killed wsdbg leaves is removed by the next.
"$wsdbg" run -o "$work/killed.db" -- sleep 600 2>/dev/null &
watched=$!
until_it "$wsdbg" query "$work/killed.db" 'SELECT 1 FROM session' >/dev/null
kill -KILL "$watched"
wait "$watched" 2>/dev/null
ls -d "$work"/wsdbg-spool.* >/dev/null 2>&1 || fail "nothing was left by a killed wsdbg: this tests nothing"
run next true || fail "next: status $?"
nothing_left nobody
"$wsdbg" report "$work/killed.db" >"$work/killed.out" 2>&1
says 'was killed' "$work/killed.out"

exit $failed
