#!/bin/bash
# door.sh - what the door to the GPU's own state costs and survives, on a machine with a Hopper GPU.
#
#   tests/h200/door.sh BIN SHIM [CASE...]    BIN: folder of gemm and door_steps; SHIM: libwsdbg-shim.so
#
# Cases: clean, inspector:STEP, wsdbg:STEP (killed after that step), early:MS (the inspector, that long after the attach
# began), hung:STEP (the same in a program that hangs), cluster, user.  A healthy program must end with status 0 and the
# checksum of a run that nobody looked at.  Every wait has a limit; only processes that it started are killed.
set -u
bin=$1 shim=$2
shift 2
[ $# -gt 0 ] || set -- clean inspector:attach inspector:suspend inspector:resume wsdbg:attach wsdbg:suspend wsdbg:resume \
    early:30 early:60 hung:suspend cluster user
healthy="--m 2048 --n 2048 --k 2048 --variant plain --checksum --repeat 60000"
hang="--bug arrive-missing --variant plain"
work=$(mktemp -d)

start() { # arguments of gemm
    WSDBG_SESSION=door$$ LD_PRELOAD=$shim "$bin/gemm" "$@" >"$work/app" 2>&1 &
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
    timeout 10 "$bin/door_steps" $app
    kill -9 $app
    wait $app 2>/dev/null
}

kill_at() { # who step
    "$bin/door_steps" $app "$2" >"$work/steps" 2>&1 &
    tool=$!
    sleep 1
    inspector=$(pgrep -P $tool)
    [ "$1" = wsdbg ] && kill -9 $tool || kill -9 $inspector
    sleep 0.5
    kill -9 $tool 2>/dev/null
    wait $tool 2>/dev/null
    tail -1 "$work/steps"
}

kill_early() { # milliseconds
    "$bin/door_steps" $app >"$work/steps" 2>&1 &
    tool=$!
    inspector=
    for _ in $(seq 200); do [ -n "$inspector" ] || inspector=$(pgrep -P $tool); done
    sleep "$(printf '0.%03d' "$1")"
    kill -9 "$inspector"
    wait $tool 2>/dev/null
    tail -2 "$work/steps"
}

one() {
    echo "== $1"
    case $1 in
    clean) start $healthy && timeout 10 "$bin/door_steps" $app && timeout 10 "$bin/door_steps" $app && end_healthy ;;
    inspector:* | wsdbg:*) start $healthy && kill_at "${1%%:*}" "${1#*:}" && end_healthy ;;
    early:*) start $healthy && kill_early "${1#*:}" && end_healthy ;;
    hung:*) start $hang && kill_at inspector "${1#*:}" && end_hung ;;
    cluster) start $hang --cluster 2 && end_hung ;;
    user)
        chmod 755 "$work" && cp "$bin/gemm" "$bin/door_steps" "$shim" "$work" && chmod 755 "$work"/*
        setpriv --reuid=65534 --regid=65534 --clear-groups "$BASH" "$0" "$work" "$work/$(basename "$shim")" clean
        ;;
    esac
    rm -f /dev/shm/wsdbg.door$$.*
}

echo "== nobody looks"
start $healthy
end_healthy
for name in "$@"; do one "$name"; done
rm -rf "$work"
