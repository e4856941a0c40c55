#!/bin/sh
# probes_sass.sh NVCC INCLUDE SOURCE_DIR WORK_DIR - what the probes become in machine code.
#   compiled out: the code section is that of a kernel without probes, byte for byte
#   fat builds:   off for chips before sm_90
#   compiled in:  no spill, no barrier, and no convergence barrier or warp sync that was not there before
set -eu
nvcc=$1 include=$2 source=$3 work=$4
mkdir -p "$work"
compile() { # output, flags...
    output=$1
    shift
    "$nvcc" -gencode arch=compute_90a,code=sm_90a -Xptxas -v -I "$include" "$@" -cubin -o "$work/$output.cubin" \
        "$source/kernel.cu" 2>"$work/$output.log" || { cat "$work/$output.log"; exit 1; }
    # objcopy does not know the machine; readelf gives the section's place in the file.
    for kernel in every_probe enters_late; do
        set -- $(readelf -SW "$work/$output.cubin" 2>/dev/null |
            awk -v name=".text.$kernel" '{ sub(/^ *\[ *[0-9]+\]/, "") } $1 == name { print $4, $5 }')
        tail -c +$((0x$1 + 1)) "$work/$output.cubin" | head -c $((0x$2)) >"$work/$output.$kernel"
        [ -s "$work/$output.$kernel" ] || { echo "no code of $kernel found in $output.cubin"; exit 1; }
    done
}
# Instructions of kernel $2 of image $1 whose low 12 opcode bits are $3 (hexadecimal), from the 16-byte words.
count_opcode() {
    od -An -v -tx8 -w16 "$work/$1.$2" | awk -v want="$3" 'substr($1, 14, 3) == want { n++ } END { print n + 0 }'
}

compile bare -DBARE
compile off -DWSDBG_PROBES=0
compile on
for kernel in every_probe enters_late; do
    cmp "$work/bare.$kernel" "$work/off.$kernel" ||
        { echo "compiled out, the SASS of $kernel differs from a kernel without probes"; exit 1; }
    ! cmp -s "$work/bare.$kernel" "$work/on.$kernel" || { echo "compiled in, the probes of $kernel are not there"; exit 1; }
    for opcode in 945 941 948 348 b1d; do # BSSY, BSYNC, WARPSYNC (two forms), BAR
        bare=$(count_opcode bare $kernel $opcode) on=$(count_opcode on $kernel $opcode)
        [ "$bare" = "$on" ] || { echo "$kernel, opcode 0x$opcode: $bare without probes, $on with"; exit 1; }
    done
done
[ "$(grep -c '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$work/on.log")" = 2 ] || { cat "$work/on.log"; exit 1; }
[ "$(grep -c 'used 0 barriers' "$work/on.log")" = 2 ] || { cat "$work/on.log"; exit 1; }
# Each of the 31 probes stores to its slot: if the stores were gone the checks above would mean nothing.
stores=$(count_opcode on every_probe 986)
[ "$stores" -ge 31 ] || { echo "only $stores global stores with the probes in"; exit 1; }
# A fat build for an older chip beside Hopper: the probes are off there, and it compiles.
"$nvcc" -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -I "$include" -c -o "$work/fat.o" \
    "$source/kernel.cu" 2>"$work/fat.log" || { cat "$work/fat.log"; exit 1; }
echo "identical when compiled out; $stores stores, no spill, no new convergence barrier when compiled in"
