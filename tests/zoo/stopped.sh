#!/bin/sh
# stopped.sh WSDBG ZOO - a correct program that a debugger has stopped, with its simulated device, for longer than the stall time, is
# no hang: with probes, whatever the ring, and without, the program ends as it would have once it goes on.
set -u
wsdbg=$1 zoo=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# The child of $1 that is called zoo, as soon as there is one.
child() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        for status in /proc/[0-9]*/status; do
            awk -v parent="$1" '/^Name:/ { name = $2 } /^Pid:/ { pid = $2 } /^PPid:/ { if (name == "zoo" && $2 == parent) print pid }' "$status" 2>/dev/null
        done | head -1 | grep . && return
        sleep 0.05
    done
}

# judge VARIANT EVIDENCE RING: a slow kernel of 30 ms of the device's time, stopped soon after it began.
judge() {
    rm -f "$folder"/*
    "$wsdbg" run --device sim --stall 0.3 --evidence "$2" --ring "$3" -o "$folder/run.db" -- "$zoo" --case ok-slow-producer --variant "$1" \
        --work-ms 30 --timeout-ms 30000 >"$folder/said" 2>&1 </dev/null &
    watcher=$!
    program=$(child "$watcher")
    sleep 0.2
    kill -STOP "$program" || { echo "$1, $2, $3: the program had ended before it could be stopped" && failed=1; }
    sleep 1
    kill -CONT "$program"
    wait "$watcher"
    status=$?
    if [ "$status" != 0 ] || grep -q '^HANG' "$folder/said"; then
        echo "$1, $2, $3: status $status"
        cat "$folder/said"
        failed=1
    fi
}

judge probes auto device
judge probes ring mapped
judge plain auto device
exit $failed
