#!/bin/bash
# attach.sh - what the debug attach to the GPU's own state costs and survives, on a machine with a Hopper GPU.
#
#   tests/h200/attach.sh BIN SHIM [CASE...]    BIN: folder of gemm, waits and attach_steps; SHIM: libwsdbg-shim.so
#
# Cases: clean; WHO:STEP, killed after that step (WHO: inspector; wsdbg, the tool that stands for it; both, the inspector
# first; both-wsdbg, the tool first); early:MS (the inspector, that long after the attach began); hung:STEP (the
# inspector, in a program that hangs); cluster; user.  A healthy program must end with status 0 and the checksum of a run
# that nobody looked at, and no inspector or attach watchdog may stay.  Every wait has a limit; only processes that it started
# are killed.
set -u
bin=$1 shim=$2
shift 2
[ $# -gt 0 ] || set -- clean inspector:attach inspector:suspend inspector:resume \
    wsdbg:attach wsdbg:suspend wsdbg:resume both:attach both:suspend both:resume \
    both-wsdbg:attach both-wsdbg:suspend early:30 early:60 hung:suspend cluster user
healthy="gemm --m 2048 --n 2048 --k 2048 --variant plain --checksum --repeat 60000"
hang="gemm --bug arrive-missing --variant plain"
work=$(mktemp -d)

start() { # program and arguments
    local program=$1
    shift
    WSDBG_SESSION=attach$$ LD_PRELOAD=$shim "$bin/$program" "$@" >"$work/app" 2>&1 &
    app=$!
    sleep 1.1
}

end_healthy() {
    timeout 10 tail -s 0.1 --pid=$app -f /dev/null
    if [ -d /proc/$app ] && [ "$(cut -d' ' -f3 /proc/$app/stat)" != Z ]; then
        kill -9 $app
        echo "did not end"
    fi
    wait $app 2>/dev/null
    echo "status $?, $(tail -1 "$work/app")"
}

end_hung() {
    timeout 10 "$bin/attach_steps" $app
    kill -9 $app
    wait $app 2>/dev/null
}

# The inspector is the tool's first child, its attach watchdog the second.
find_helpers() {
    helpers=$(pgrep -P $tool)
    inspector=$(pgrep -o -P $tool)
}

# Whoever is to die second must not have the time to clean up.
kill_who() {
    case $1 in
    inspector) kill -9 $inspector ;;
    wsdbg) kill -9 $tool ;;
    both) kill -9 $inspector && kill -9 $tool ;;
    both-wsdbg) kill -STOP $inspector && kill -9 $tool && kill -9 $inspector ;;
    esac
}

# Up to 5 s for those whose tool is no more.
say_who_stays() {
    local pid
    for pid in $helpers; do
        timeout 5 tail -s 0.1 --pid=$pid -f /dev/null
        [ "$(cut -d' ' -f3 /proc/$pid/stat 2>/dev/null || echo Z)" = Z ] || echo "process $pid of the tool stays"
    done
}

kill_at() { # who step
    "$bin/attach_steps" $app "$2" >"$work/steps" 2>&1 &
    tool=$!
    sleep 1
    find_helpers
    kill_who "$1"
    sleep 0.5
    kill -9 $tool 2>/dev/null
    wait $tool 2>/dev/null
    tail -1 "$work/steps"
    say_who_stays
}

kill_early() { # milliseconds
    "$bin/attach_steps" $app >"$work/steps" 2>&1 &
    tool=$!
    inspector=
    for _ in $(seq 200); do [ -n "$inspector" ] || find_helpers; done
    sleep "$(printf '0.%03d' "$1")"
    find_helpers
    kill -9 "$inspector"
    wait $tool 2>/dev/null
    tail -2 "$work/steps"
    say_who_stays
}

one() {
    echo "== $1"
    case $1 in
    clean) start $healthy && timeout 10 "$bin/attach_steps" $app && timeout 10 "$bin/attach_steps" $app && end_healthy ;;
    inspector:* | wsdbg:* | both*:*) start $healthy && kill_at "${1%%:*}" "${1#*:}" && end_healthy ;;
    early:*) start $healthy && kill_early "${1#*:}" && end_healthy ;;
    hung:*) start $hang && kill_at inspector "${1#*:}" && end_hung ;;
    cluster) start waits --bug cluster-missing && end_hung ;;
    user)
        chmod 755 "$work" && cp "$bin/gemm" "$bin/waits" "$bin/attach_steps" "$shim" "$work" && chmod 755 "$work"/*
        setpriv --reuid=65534 --regid=65534 --clear-groups "$BASH" "$0" "$work" "$work/$(basename "$shim")" clean
        ;;
    esac
    rm -rf /dev/shm/wsdbg.attach$$
}

echo "== nobody looks"
start $healthy
end_healthy
for name in "$@"; do one "$name"; done
rm -rf "$work"
