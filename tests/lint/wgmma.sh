#!/bin/sh
# wgmma.sh - the kernels of wgmma/ as nvcc compiles them: what ptxas says of each, and what lint says.
#
# Each source names a code in its first line and holds two kernels: ptxas serializes the wgmma of `defect` or waits for
# them by itself, and lint says the code; of `fixed` neither says anything.  From the machine code with the PTX beside it,
# from a cubin with -lineinfo, from one without and without PTX, and of all codes but WGMMA_SCALE_D from the PTX alone.
. "$(dirname "$0")/corpus.sh"

# The kernels of which a warning with a WGMMA code is said, with the code: "defect WGMMA_SPILL".
expect() {
    lint "$2"
    said=$(rows | sed -n 's/^\([^ ]* WGMMA_[A-Z_]*\) warning .*/\1/p' | sort -u)
    [ "$said" = "$3" ] || fail "$1: lint says \"$said\" and not \"$3\""
}

for source in "$folder"/*.cu; do
    name=$(basename "$source" .cu)
    code=$(sed -n '1s/.*\(WGMMA_[A-Z_]*\).*/\1/p' "$source")
    compile "$source" "$work/$name.fatbin" -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -fatbin --keep --keep-dir "$work"
    advised=$(sed -n "s/.*(C75\(0[89]\|1[0-8]\|20\)).*function '\([a-z]*\)'.*/\2/p" "$work/nvcc" | sort -u)
    [ "$advised" = defect ] || fail "$name: ptxas advises of \"$advised\" and not of \"defect\""
    sed '/^[[:space:]]*\.loc[[:space:]]/d; /^[[:space:]]*\.file[[:space:]]/d; /^[[:space:]]*\.section/,$d' "$work/$name.ptx" > "$work/bare.ptx"
    ptxas -arch=sm_90a -o "$work/bare.cubin" "$work/bare.ptx" 2> "$work/bare.err" || fail "$name: $(cat "$work/bare.err")"
    expect "$name, machine code and PTX" "$work/$name.fatbin" "defect $code"
    expect "$name, cubin with lines" "$work/$name.sm_90a.cubin" "defect $code"
    [ "$code" = WGMMA_SCALE_D ] || expect "$name, PTX" "$work/$name.ptx" "defect $code"
    # Where the wait stood that was in a branch, machine code no longer shows.
    [ "$code" = WGMMA_WAIT_IN_BRANCH ] && code=WGMMA_SERIALIZED
    expect "$name, cubin without lines" "$work/bare.cubin" "defect $code"
done
exit $failed
