#!/bin/sh
# mapped.sh WSDBG GEMM - the hanging GEMM on the simulator gets the same report from a ring that the GPU maps as from one in its
# memory: cause, confidence, warps, barriers, histories.  Slots alone are enough for a hang, and only the histories prove.
set -u
wsdbg=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# look RING [OPTION...]: into $folder/RING.
look() {
    ring=$1
    shift
    "$wsdbg" run --device sim --stall 1 --evidence ring --ring "$ring" -o "$folder/$ring.db" "$@" -- "$program" --bug arrive-missing \
        >"$folder/$ring" 2>&1 </dev/null
    [ $? = 124 ] || { echo "--ring $ring: no hang" && cat "$folder/$ring" && failed=1; }
}

# same QUERY: both sessions answer the same, and not nothing.
same() {
    for ring in device mapped; do
        "$wsdbg" query "$folder/$ring.db" --csv "$1" >"$folder/answer-$ring"
    done
    if ! cmp -s "$folder/answer-device" "$folder/answer-mapped" || [ "$(wc -l <"$folder/answer-mapped")" -lt 2 ]; then
        echo "$1:" && diff "$folder/answer-device" "$folder/answer-mapped" && failed=1
    fi
}

# says FILE WORDS
says() {
    grep -q "$2" "$folder/$1" || { echo "$1 lacks '$2':" && cat "$folder/$1" && failed=1; }
}

look device
look mapped
says device 'evidence ring, stall'
says mapped 'evidence ring, mapped, stall'
says mapped 'HANG: ARRIVE_MISSING (proven)'
same 'SELECT cause, confidence, sentence, fix FROM finding'
same 'SELECT cta_x, warp, role, state, barrier, stage FROM stuck ORDER BY cta_x, warp'
same 'SELECT cta_x, warp, count(*) AS events FROM event_named GROUP BY cta_x, warp'
[ $failed = 0 ] || exit 1
rm "$folder/mapped.db"
look mapped --history 0
says mapped 'HANG: '
exit $failed
