# corpus.sh - what the tests have in common that compile kernels and look at what lint says of them.  Sourced by them.
#
#   TEST.sh WSDBG [FOLDER]      77: there is no nvcc
#
# $WSDBG_COMPILED, if set, is a folder that keeps compiled images.  A compilation with the same source path and options takes the image from
# there, also in the tests of another build of wsdbg.  Sources and options that name $work are never found there: $work is new each time.
#
# Sets wsdbg, folder, failed=0 and work, a folder that goes away with the test.
# shellcheck shell=sh disable=SC2034 # used by those
set -u
wsdbg=$1
folder=${2:-}
command -v nvcc > /dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$1"
    failed=1
}

# Compiles a source: compile SOURCE OUT OPTION...; what the compiler says is in $work/nvcc.
compile() {
    source_file=$1 out=$2
    shift 2
    kept=${WSDBG_COMPILED:+$WSDBG_COMPILED/$(printf '%s|' "$source_file" "$@" | cksum | tr ' ' -)}
    [ -z "$kept" ] || [ ! -f "$kept" ] || { cp "$kept" "$out" && cp "$kept.said" "$work/nvcc" && return; }
    nvcc "$@" -lineinfo -o "$out" "$source_file" 2> "$work/nvcc" || { cat "$work/nvcc"; exit 1; }
    # Tests run side by side: each file appears whole, and the image last, because it says that the other file is there.
    [ -z "$kept" ] || { cp "$work/nvcc" "$kept.said.$$" && mv "$kept.said.$$" "$kept.said" && cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"; }
}

# What lint says of a file, in $work/said.
lint() {
    "$wsdbg" lint --fail-on never "$1" > "$work/said" 2> "$work/errors" && return
    cat "$work/errors"
    exit 1
}

# Of $work/said one row a finding: kernel, code, severity, line of the source ("-" where it names none).
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
        code && /^    in kernel / { sub(/[+,].*/, "", $3); print $3, code, severity, line; code = "" }' "$work/said" | sort -u
}
