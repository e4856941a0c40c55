#!/bin/sh
# simulated.sh WSDBG PROGRAM - every row of PROGRAM's table (--list-bugs), run on the simulator, gets the cause that the
# table says, from its probes' events and, of a hang, from the device's state; what only crawls, or is right, gets none.
# And the producer's first events, which are recorded late, have the time of what they tell.
set -u
wsdbg=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# judge OPTION EVIDENCE: the row with this --evidence; after a hang the session says that it had EVIDENCE.  Which one auto
# takes depends on the machine's load: slots that are copied late say nothing, and then the device's state is read.
judge() {
    rm -f "$folder/$name.db"
    "$wsdbg" run --device sim --stall 1 --evidence "$1" -o "$folder/$name.db" -- "$program" --bug "$name" \
        >"$folder/said" 2>&1 </dev/null
    got=$?
    if [ $got != $status ] || ! grep -q "$expected" "$folder/said" ||
        { [ $status = 124 ] && ! grep -q "evidence $2" "$folder/said"; }; then
        echo "$name, --evidence $1: status $got, not $status with '$expected':"
        cat "$folder/said"
        failed=1
    fi
}

# A tab is white space to read, which would take empty columns together.
"$program" --list-bugs | tr '\t' '|' >"$folder/table"
while IFS='|' read -r name cause role barrier kind story; do
    case $(echo "$kind" | tr A-Z a-z) in
    hang | race) expected="HANG: $cause" status=124 ;;
    fault) expected="FAULT: $cause" status=1 ;;
    slow | none) expected="no hang" status=0 ;;
    *) continue ;;
    esac
    judge auto '\(ring\|simulator\)'
    if [ "$status" = 124 ]; then
        judge ring ring
        judge live simulator
    fi
done <"$folder/table"

# By warp of the producer, how many events have the time of its begin.  Warp 0: its begin, its registers, and the first
# k-block; the second k-block comes later.  Warp 1: its begin, its registers, and the set-up of eight barriers.
"$wsdbg" run --quiet --device sim --stall 1 --evidence ring -o "$folder/late.db" -- "$program" --bug waker-exited \
    --m 256 --n 256 --k 128 --ctas 1 >/dev/null 2>&1 </dev/null
late=$("$wsdbg" query "$folder/late.db" --csv "SELECT e.warp, count(*) FROM event_named e
    JOIN event_named b ON b.warp_id = e.warp_id AND b.event = 'kernel begin'
    WHERE e.gpu_time_ns = b.gpu_time_ns AND e.warp < 4 GROUP BY e.warp" | tr -d '\r' | tail -n +2 | tr '\n' ' ')
[ "$late" = '0,7 1,11 2,3 3,3 ' ] || {
    echo "events with the time of the begin, by warp: $late"
    failed=1
}
exit $failed
