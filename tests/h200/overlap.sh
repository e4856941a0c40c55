#!/bin/sh
# A kernel with probes around its wgmma, run to its end on the simulator: with --keep-history its report says what was in
# flight.  Usage: overlap.sh OVERLAP WSDBG IMAGE
set -u
overlap=$1 wsdbg=$2 image=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

watch() { # SESSION OPTIONS...
    session=$work/$1
    shift
    "$wsdbg" run -q --device sim "$@" -o "$session" -- "$overlap" --once "$image" overlapped_64 2 16 2 || exit 1
    "$wsdbg" report "$session" >"$session.txt"
}

watch kept.db --keep-history
cat "$work/kept.db.txt"
for warps in 0-3 4-7; do
    grep -q "^  warps $warps  computes  [01]\.[0-9]* ([01].*), waited [0-9]* ns, a round [0-9]* ns; 8 stages of 16\$" \
        "$work/kept.db.txt" || { echo "no line of warps $warps"; exit 1; }
done
grep -q "^No stall seen" "$work/kept.db.txt" || exit 1

watch plain.db
if grep "wgmma in flight" "$work/plain.db.txt"; then
    echo "histories were kept though nobody asked"
    exit 1
fi
