#!/bin/sh
# barriers.sh - what lint says of the kernels of barriers/ as nvcc compiles them.
#
# The first line of each source is "// CODE SEVERITY: …".  Of its kernel `defect` lint says that, at the line that is marked
# "// here", and nothing else; of `fixed` it says nothing.  Where the first line is "// clean: …" it says nothing of any kernel.
. "$(dirname "$0")/corpus.sh"

for source in "$folder"/*.cu; do
    name=$(basename "$source" .cu)
    compile "$source" "$work/$name.fatbin" -fatbin -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]'
    lint "$work/$name.fatbin"
    line=$(sed -n '/\/\/ here/=' "$source")
    expected=$(sed -n "1s,^// \([A-Z_]*\) \([a-z]*\):.*,defect \1 \2 $line,p" "$source")
    said=$(rows)
    if [ "$said" != "$expected" ]; then
        fail "$name: lint says \"$said\" and not \"$expected\""
        cat "$work/said"
    fi
done
exit $failed
