#!/bin/sh
# registers.sh - what lint says of the kernels of registers/ as nvcc compiles them.
#
# The first line of each source is "// CODE SEVERITY: …".  Of its kernel `defect` lint says that, at the line marked
# "// here" where there is one, and nothing else about registers; of `fixed` nothing.  A second line "// nvcc …" has
# options of the compiler.  Where ptxas ignored setmaxnreg, lint names the same warning of ptxas.  PTX is
# linted as it is.
#
#   registers.sh WSDBG FOLDER      77: there is no nvcc
set -u
wsdbg=$1
folder=$2
command -v nvcc > /dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# Of lint's text one row a finding: kernel, code, severity, line of the source ("-" where it names none).
rows() {
    awk '
        match($0, /: (error|warning|note): .*\[[A-Z0-9_]+\]$/) {
            place = substr($0, 1, RSTART - 1)
            severity = substr($0, RSTART + 2)
            sub(/:.*/, "", severity)
            code = $NF
            gsub(/[][]/, "", code)
            line = place
            if (sub(/.*: kernel /, "", place)) { sub(/[+,].*/, "", place); print place, code, severity, "-"; code = "" }
            sub(/.*:/, "", line)
            next
        }
        code && /^    in kernel / { sub(/[+].*/, "", $3); print $3, code, severity, line; code = "" }' "$1" |
        grep -E ' (REGS|ARCH)_'
}

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
        ptxas -arch=sm_90 -o "$work/cubin" "$source" 2> "$work/nvcc" && echo "$name: ptxas takes it" && failed=1
    elif ! nvcc $options -lineinfo -o "$image" "$source" 2> "$work/nvcc"; then
        cat "$work/nvcc"
        exit 1
    fi
    "$wsdbg" lint --fail-on never "$image" > "$work/said" 2> "$work/errors" || {
        cat "$work/errors"
        exit 1
    }
    line=$(grep -n '// here' "$source" | cut -d: -f1)
    expected=$(sed -n "1s,^// \([A-Z_]*\) \([a-z]*\):.*,defect \1 \2 ${line:--},p" "$source")
    said=$(rows "$work/said")
    advised=$(sed -n 's/.*(\(C75[0-9]*\)) .*setmaxnreg.*/\1/p' "$work/nvcc" | head -1)
    if [ "$said" != "$expected" ] || ! grep -q "$advised" "$work/said"; then
        failed=1
        echo "$name: expected \"$expected\" $advised, lint says:"
        cat "$work/said"
    fi
done
exit $failed
