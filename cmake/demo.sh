#!/bin/sh
# demo.sh WSDBG - one hang from start to verdict: live on a GPU or the simulator, else replayed from a recording.
# Writes the session database into build/ and shows a first question asked of it with SQL.
set -u
wsdbg=$1
database=build/demo-$$.db
"$wsdbg" demo parity-wrong -o "$database"
status=$?
if [ "$status" != 124 ]; then
    echo "demo: expected exit status 124 (a hang was found), got $status" >&2
    exit 1
fi
echo
echo "\$ wsdbg query $database @waits"
"$wsdbg" query "$database" @waits
echo
echo "to show it:  $wsdbg view $database"
echo "to explain it:  $wsdbg why $database"
