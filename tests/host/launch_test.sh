#!/bin/sh
# launch_test.sh - where the kernel that hangs was launched, as the report, the database and JSON say it.
#
#     launch_test.sh WSDBG LAUNCH_APP LAUNCH_APP.C FAKE_PYTHON.SO [LAUNCH.PY PYTHON...]
#
# The expected lines are those that end with a comment SITE and a word.  Without an interpreter the Python part is left
# out.
set -u
wsdbg=$1 app=$2 source=$3 fake_python=$4
shift 4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
failed=0

fail() {
    echo "$*"
    failed=1
}

# lines WORD FILE: "FILE:LINE" of each line with SITE WORD
lines() {
    grep -n "SITE $1\( \|$\)" "$2" | sed "s|^\([0-9]*\):.*|$(basename "$2"):\1|"
}

# site SOURCE WORD: the only such line
site() {
    lines "$2" "$1"
}

# run NAME PROGRAM...: under wsdbg, on the simulator; again if a busy machine left it no time to read lines
run() {
    name=$1
    shift
    for try in 1 2 3; do
        rm -f "$work/$name.db"
        timeout -k 2 20 "$wsdbg" run --device sim --stall 1 ${options:-} -o "$work/$name.db" -- "$@" >"$work/$name.out" 2>"$work/$name.err"
        status=$?
        grep -Eq 'launched at [a-z_]+[, ]' "$work/$name.err" || break
    done
    [ $status = 124 ] || fail "$name: status $status: $(cat "$work/$name.err")"
}

# says NAME TEXT: the report of the kernel that hangs has it, with line breaks as spaces
says() {
    tr -s ' \n' ' ' <"$work/$1.err" | grep -qF -- "$2" || fail "$1: no \"$2\" in: $(cat "$work/$1.err")"
}

not_says() {
    ! tr -s ' \n' ' ' <"$work/$1.err" | grep -qF -- "$2" || fail "$1: \"$2\" in: $(cat "$work/$1.err")"
}

# is NAME QUERY EXPECTED
is() {
    got=$("$wsdbg" query "$work/$1.db" --csv "$2" 2>&1 | tail -n +2 | tr -d '\r')
    [ "$got" = "$3" ] || fail "$1: $2: \"$got\", not \"$3\""
}

main=$(lines main "$source")
for way in plain extended cooperative; do
    run $way "$app" $way
    says $way "launched at $(site "$source" $way) in $way, called from $main in main on "
done
is plain "SELECT kind, launches, n.sequence, f.name, ends FROM launch_site l JOIN launch n ON n.id = launch_id JOIN function f ON f.id = l.function_id" launch,1,0,stuck,
is plain "SELECT function FROM site_frame WHERE position = 0" wrap_cuLaunchKernel
"$wsdbg" report "$work/plain.db" --json | grep -qF "\"launched_at\": \"launched at $(site "$source" plain) in plain, called from $main in main\"" || fail 'the JSON lacks it'

# The frame is larger than the piece of stack: what lies beyond is not known.
run deep "$app" deep
says deep "launched at $(site "$source" deep) in deep on "
is deep 'SELECT ends FROM launch_site' 'the rest of the stack was not kept'

# Five launches from one line are one place; two launches that may be the one are two.
run again "$app" again
says again "launched at $(site "$source" again) in again, called from $main in main on "
is again 'SELECT launches FROM launch_site' 5
run often "$app" often
says often "launched at $(site "$source" often) in often, called from $main in main, or at ? (too many launches may be this one) on "
is often 'SELECT launches FROM launch_site ORDER BY id' '1200
100'
run twice "$app" twice
says twice "launched at $(lines twice "$source" | head -1) in twice, called from $main in main, or at $(lines twice "$source" | tail -1) in twice, called from $main in main on "

run graph "$app" graph
says graph "graph launched at $(site "$source" graph) in graph, called from $main in main; put into a graph at $(site "$source" captured) in capture, called from $(site "$source" captures) in graph, after first, before quick on "
run node "$app" node
says node "graph launched at $(site "$source" node) in node, called from $main in main; put into a graph at $(site "$source" added) in node, called from $main in main on "

# A site that later launches have overwritten is unknown, not that of another launch.
run lost "$app" lost
says lost 'launched at ? (later launches took its place) on '
is lost 'SELECT place IS NULL, ends FROM launch_site' '1,later launches took its place'
run kept "$app" kept
says kept "launched at $(site "$source" kept) in kept, called from $main in main on "

# Stacks that are not the thread's own: what is known is told, and nothing fails.
run fiber "$app" fiber
says fiber "launched at $(site "$source" plain) in plain"
run signal "$app" signal
says signal "launched at $(site "$source" plain) in plain"
run small "$app" small
says small "launched at $(site "$source" plain) in plain, called from $(site "$source" thread) in in_thread on "
run edge "$app" edge
says edge "launched at "

# What looks like an interpreter and is none: the program goes on, and the native frames are there.
for wrong in small-state closed-state cut-state closed-frame cut-frame high-frame no-code closed-code endless; do
    run "fake-$wrong" env FAKE_PYTHON=$wrong sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$1" plain' "$fake_python" "$app"
    says "fake-$wrong" "launched at $(site "$source" plain) in plain, called from $main in main on "
done

options='--launch-sites off' run off "$app" plain
not_says off 'launched at'
is off 'SELECT count(*) FROM launch_site' 0

# An armed program, which somebody looks at later; and one with the switch off.
for sites in on off; do
    "$wsdbg" arm --device sim --launch-sites $sites --folder "$work/armed-$sites" -- "$app" plain >"$work/armed.out" 2>&1 &
    armed=$!
    sleep 1
    timeout -k 2 60 "$wsdbg" attach --folder "$work/armed-$sites" --stall 1 -o "$work/armed-$sites.db" $armed >"$work/armed-$sites.out" 2>"$work/armed-$sites.err"
    kill -9 $armed 2>/dev/null
    wait $armed 2>/dev/null
done
says armed-on "launched at $(site "$source" plain) in plain, called from $main in main on "
not_says armed-off 'launched at'

if [ $# -gt 1 ]; then
    program=$1
    shift
    for python in "$@"; do
        command -v "$python" >/dev/null 2>&1 && "$python" -c '' 2>/dev/null || continue
        step=$("$python" -c 'import sys; print("Trainer.step" if sys.version_info >= (3, 11) else "step")')
        run step "$python" "$program" step
        says step "launched at $(site "$program" step) in $step, called from $(site "$program" main) in main on "
        run thread "$python" "$program" thread
        says thread "launched at $(site "$program" step) in $step, called from $(site "$program" worker) in worker on "
        run deep-python "$python" "$program" deep
        says deep-python "launched at $(site "$program" down) in down, called from $(site "$program" deeper) in down on "
        run gone "$python" "$program" gone
        says gone ", called from $(site "$program" gone) in launch_by_code_that_goes on "
        not_says gone 'in other'
    done
fi
exit $failed
