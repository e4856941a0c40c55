#!/bin/sh
# registers.sh - what lint says of the kernels of registers/ as nvcc compiles them.
#
# The first line of each source is "// CODE SEVERITY: …".  Of its kernel `defect` lint says that, at the line marked
# "// here" where there is one, and nothing else about registers; of `fixed` nothing.  A second line "// nvcc …" has
# options of the compiler.  Where ptxas ignored setmaxnreg, lint names the same warning of ptxas.  PTX is
# linted as it is.
. "$(dirname "$0")/corpus.sh"

for source in "$folder"/*.cu "$folder"/*.ptx; do
    name=$(basename "$source")
    image=$work/$name.image
    options=$(sed -n '2s,^// nvcc ,,p' "$source")
    case $options in
    *-arch=*) ;;
    *) options="$options -fatbin -gencode arch=compute_90a,code=[sm_90a,compute_90a]" ;;
    esac
    # shellcheck disable=SC2086 # several options
    if [ "${name%.ptx}" != "$name" ]; then
        cp "$source" "$image" # which nvcc would not make, and ptxas does not take
        ptxas -arch=sm_90 -o "$work/cubin" "$source" 2> "$work/nvcc" && fail "$name: ptxas takes it"
    else
        compile "$source" "$image" $options
    fi
    lint "$image"
    line=$(grep -n '// here' "$source" | cut -d: -f1)
    expected=$(sed -n "1s,^// \([A-Z_]*\) \([a-z]*\):.*,defect \1 \2 ${line:--},p" "$source")
    said=$(rows | grep -E ' (REGS|ARCH)_')
    advised=$(sed -n 's/.*(\(C75[0-9]*\)) .*setmaxnreg.*/\1/p' "$work/nvcc" | head -1)
    if [ "$said" != "$expected" ] || ! grep -q "$advised" "$work/said"; then
        fail "$name: expected \"$expected\" $advised, lint says:"
        cat "$work/said"
    fi
done
exit $failed
