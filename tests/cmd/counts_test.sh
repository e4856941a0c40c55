# counts_test.sh WSDBG SIM_APP COUNTS.ptx - what the simulator's record of arrivals says of a count that is too high; and that it says
# nothing where a release was left out.
set -eu
wsdbg=$1 app=$2 kernels=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# says KERNEL THREADS STATUS TEXT: the whole report on one line has the text.  On a machine under load the record can come too late for a
# verdict, which then says less: three tries.
says() {
    for try in 1 2 3; do
        status=0
        timeout 60 "$wsdbg" run --device sim -o "$1-$try.db" -- "$app" "$kernels" "$1" "$2" > out 2>&1 < /dev/null || status=$?
        if [ $status = "$3" ] && tr -s ' \n' ' ' < out | grep -q "$4"; then
            return
        fi
    done
    echo "$1: status $status, expected $3 and '$4'" >&2
    cat out >&2
    exit 1
}
says count_right 384 0 'no hang'
says count_one_too_low 384 0 'no hang'
says count_one_too_high 384 124 'HANG: ARRIVE_SHORT (likely) .* is initialised for 257 arrivals, but a round brings only 256 (by warps 4-11)'
says lone_arrival 32 124 'HANG: ARRIVE_SHORT (likely) .* is initialised for 2 arrivals, but a round brings only 1 (by warp 0)'
says second_arrival_behind_a_wait 96 124 'HANG: WAIT_CYCLE '
says release_skipped 384 124 'HANG: ARRIVE_MISSING (likely) Warp 6 went through a round without arriving'
says release_skipped_at_first 384 124 'HANG: ARRIVE_MISSING '

# A simulated device that works is not stalled, however long it takes.
timeout 60 "$wsdbg" run --device sim --stall 0.2 -o long.db -- "$app" "$kernels" long_work 256 > out 2>&1 < /dev/null
if grep -Eq 'SLOW|busy for|not completed' out || ! grep -q 'no hang' out; then
    echo "long_work: a stall was seen" >&2
    cat out >&2
    exit 1
fi

# A loop without an end is no stall either, but it is not silent.
timeout 20 "$wsdbg" run --device sim --stall 0.2 -o endless.db -- "$app" "$kernels" endless 32 > out 2>&1 < /dev/null &
run=$!
for try in $(seq 150); do
    grep -q 'executed instructions for' out && break
    sleep 0.1
done
kill $run 2> /dev/null || true
wait $run || true
if ! grep -q 'a loop without an end would look the same' out || grep -q HANG out; then
    echo "endless: nothing was said of it, or a hang" >&2
    cat out >&2
    exit 1
fi
