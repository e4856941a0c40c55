#!/bin/sh
# python_test.sh - a Python program whose kernel hangs on the simulator: its stacks in the report, JSON, HTML, SQL.
#
#     python_test.sh WSDBG HANG.PY PYTHON...
#
# Status 77 where none of the interpreters is there.
set -u
wsdbg=$1 program=$2
shift 2
for python in "$@" ''; do
    command -v "$python" >/dev/null 2>&1 && break
done
[ -n "$python" ] || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
    echo "$1"
    failed=1
}

# expect WHAT FILE PATTERN
expect() {
    tr -s ' \n' ' ' <"$2" | grep -q -e "$3" || fail "$1 has no '$3': $(cat "$2")"
}

rows() {
    "$wsdbg" query hang.db --csv "$1" | tail -n +2 | tr -d '\r'
}

"$wsdbg" run --device sim --stall 1 -o hang.db -- "$python" "$program" 3 10000 >out 2>report
[ $? = 124 ] || fail "no hang: $(cat report)"
expect report report 'main thread of process [0-9]* in cuCtxSynchronize for [^:]*: hang.py:[0-9]* in <module> > hang.py:[0-9]* in main > hang.py:40 in [A-Za-z.]*step > …'
expect report report 'hang.py:42 in [A-Za-z.]*step > .*cuCtxSynchronize - '
expect report report ', and 2 more like it: .*hang.py:46 in feed > '

[ "$(rows "SELECT count(*) FROM host_frame WHERE function LIKE '%step' AND line = 42")" = 1 ] || fail 'the innermost line is not 42'
kept=$(rows "SELECT count(*) + sum(coalesce(left_out, 1)) - count(*) FROM host_frame f JOIN host_stack k ON k.id = f.host_stack_id
    JOIN host_process p ON p.id = k.host_process_id WHERE k.thread_id = p.process_id AND f.kind <> 'native'")
[ "$kept" = 10003 ] || fail "the main thread has $kept frames, not 10003" # <module>, main, 10001 of step
[ "$(rows "SELECT count(*) FROM host_stack WHERE motion = 'sleeps'")" = 4 ] || fail 'not all 4 threads sleep'
[ "$(rows "SELECT python FROM host_process")" = "$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3] if sys.version_info >= (3, 11) else "%d.%d" % sys.version_info[:2])')" ] ||
    fail "another version: $(rows 'SELECT python FROM host_process')"
rows "SELECT read_ns / 1000000 FROM host_process" | awk '$1 > 1000 { exit 1 }' || fail 'reading took more than a second'

"$wsdbg" query hang.db @host-stacks >table || fail '@host-stacks failed'
expect @host-stacks table 'cuCtxSynchronize'
"$wsdbg" report hang.db --json >json && "$python" -c '
import json
threads = json.load(open("json"))["host_stacks"][0]["stacks"]
assert [f["line"] for f in threads[0]["frames"] if f["kind"] == "python"][0] == 42, threads[0]
assert threads[0]["call"] == "cuCtxSynchronize" and threads[0]["motion"] == "sleeps"' || fail 'the JSON lacks something'
"$wsdbg" report hang.db --html >page || fail 'no page'
expect page page 'hang.py:42 in'
exit $failed
