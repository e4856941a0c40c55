#!/bin/sh
# plans.sh WSDBG PROGRAM - every kernel of the GEMM computes the right product on the simulator, with tiles that are not whole,
# k-blocks that are not, and CTAs that share tiles; and so does what --schedule auto chooses.
set -u
wsdbg=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# right ARGUMENTS...: all of C is checked, in one launch after another.
right() {
    rm -f "$folder/gemm.db"
    if ! "$wsdbg" run --quiet --device sim --stall 20 -o "$folder/gemm.db" -- "$program" --check --repeat 2 "$@" \
        >"$folder/said" 2>&1 </dev/null || ! grep -q ' 0 elements wrong' "$folder/said"; then
        echo "gemm $*:"
        cat "$folder/said"
        failed=1
    fi
}

for variant in plain probes; do
    for columns in 64 96 128 160 192 224 256; do
        for cluster in 1 2 4; do
            for schedule in cooperative pingpong streamk; do
                [ $schedule$cluster = pingpong4 ] || [ $schedule$columns = streamk224 ] || [ $schedule$columns = streamk256 ] ||
                    right --variant $variant --columns $columns --cluster $cluster --schedule $schedule \
                        --m 328 --n 456 --k 520 --ctas $((cluster * 3))
            done
        done
        right --variant $variant --columns $columns --transposed --overlap --m 328 --n 456 --k 136
        for schedule in splitk splitk-low; do
            right --variant $variant --columns $columns --cluster 3 --schedule $schedule --m 328 --n 264 --k 520
        done
    done
done

# Split-K: the largest cluster, with launches that overlap; an odd cluster; fewer k-blocks than CTAs.
right --variant plain --schedule splitk-low --columns 64 --cluster 8 --m 136 --n 72 --k 2056 --overlap --transposed
right --schedule splitk --columns 256 --cluster 7 --m 256 --n 512 --k 1024
right --schedule splitk --columns 128 --cluster 4 --m 128 --n 128 --k 128
# One k-block, and more tiles than the device has multiprocessors.
right --variant plain --schedule splitk --columns 64 --cluster 2 --m 1536 --n 768 --k 64

# Stream-K: whole waves before the rest; one tile for all; as many tiles as CTAs.
right --schedule streamk --columns 64 --m 768 --n 320 --k 200 --ctas 7
right --schedule streamk --columns 128 --m 128 --n 128 --k 2048 --ctas 8
right --schedule streamk --columns 128 --m 256 --n 256 --k 128 --ctas 4

for sizes in '8 8 8' '128 128 4096' '256 1024 192' '1000 200 136'; do
    set -- $sizes
    right --schedule auto --m "$1" --n "$2" --k "$3"
done
exit $failed
