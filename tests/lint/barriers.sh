#!/bin/sh
# barriers.sh - what lint says of the kernels of barriers/ as nvcc compiles them.
#
# The first line of each source is "// CODE SEVERITY: …".  Of its kernel `defect` lint says that, at the line that is marked
# "// here", and nothing else; of `fixed` it says nothing.  Where the first line is "// clean: …" it says nothing of any kernel.
#
#   barriers.sh WSDBG FOLDER      77: there is no nvcc
set -u
wsdbg=$1
folder=$2
command -v nvcc > /dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# "KERNEL CODE SEVERITY LINE" of each finding.
findings() {
    awk '
        / (error|warning|note): .*\[[A-Z_]*\]$/ {
            code = $NF
            gsub(/[][]/, "", code)
            match($0, /: (error|warning|note): /)
            line = substr($0, 1, RSTART - 1)
            severity = substr($0, RSTART + 2, RLENGTH - 4)
            sub(/.*:/, "", line)
            next
        }
        code && /^ *in kernel / { sub(/[+].*/, "", $3); print $3, code, severity, line; code = "" }' "$1" | sort -u
}

for source in "$folder"/*.cu; do
    name=$(basename "$source" .cu)
    nvcc -fatbin -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -lineinfo -o "$work/$name.fatbin" "$source" || exit 1
    if ! "$wsdbg" lint --fail-on never "$work/$name.fatbin" > "$work/said" 2> "$work/errors"; then
        cat "$work/errors"
        exit 1
    fi
    line=$(sed -n '/\/\/ here/=' "$source")
    expected=$(sed -n "1s,^// \([A-Z_]*\) \([a-z]*\):.*,defect \1 \2 $line,p" "$source")
    said=$(findings "$work/said")
    if [ "$said" != "$expected" ]; then
        echo "$name: lint says \"$said\" and not \"$expected\""
        cat "$work/said"
        failed=1
    fi
done
exit $failed
