#!/bin/sh
# gpu_tools.sh - what compute-sanitizer reports of the kernels of rows.c, on a machine with a GPU; a TSV on stdout.
#
#     tests/races/gpu_tools.sh RACE_KERNELS [SANITIZER_FOLDER] [SECONDS]
#
# RACE_KERNELS: the program bin/race_kernels of the build.  It needs only the driver's libcuda.so.1.
# SANITIZER_FOLDER: the folder compute-sanitizer of a CUDA toolkit; default: compute-sanitizer from PATH.  The bin and lib files of PyPI's
#   nvidia-cuda-sanitizer-api 13.0, in one folder, do as well (28 MiB).
# SECONDS: no run begins later than this (default 220).
#
# Columns: number, name, broken or fixed, tool, exit status, what was reported.  Each run has 10 seconds; four run at a time.
set -u
program=$1
folder=${2:-}
seconds=${3:-220}
sanitizer=${folder:+$folder/}compute-sanitizer
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
end=$(($(date +%s) + seconds))
"$program" >"$work/list" || exit 1

one() { # number, name, which, tool
    out=$work/$1-$3-$4
    [ "$(date +%s)" -lt "$end" ] || { printf '%s\t%s\t%s\t%s\t-\tnot run\n' "$1" "$2" "$3" "$4" >"$out.row"; return; }
    if [ "$4" = none ]; then
        timeout -k 2 10 "$program" "$1" "$3" >"$out" 2>&1
    else
        timeout -k 2 10 "$sanitizer" --tool "$4" --error-exitcode 9 "$program" "$1" "$3" >"$out" 2>&1
    fi
    status=$?
    said=$(grep -E -c '^========= (Error|Warning|Potential|Race|Invalid)' "$out")
    kinds=$(grep -E -o '(Potential )?(RAW|WAR|WAW) hazard|Race reported|Invalid __[a-z]+__ [a-z]+|Missing wait|Uninitialized|Barrier error[^.]*|misaligned|hardware exception' "$out" |
        sort | uniq -c | sort -rn | head -3 | sed 's/^ *\([0-9]*\) \(.*\)/\2 x \1/' | paste -sd, -)
    case $status in
    124 | 137) kinds="no end in 10 s" ;;
    0) kinds=${kinds:-nothing} ;;
    *) kinds=${kinds:-$(grep -v '^========= COMPUTE' "$out" | grep -m 1 . | tr '\t' ' ' | cut -c1-80)} ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$status" "$kinds${said:+ ($said lines)}" >"$out.row"
}

tab=$(printf '\t')
for tool in none racecheck memcheck; do
    while IFS=$tab read -r number name code; do
        for which in broken fixed; do
            one "$number" "$name" "$which" "$tool" &
        done
        [ $((number % 2)) -eq 1 ] && wait
    done <"$work/list"
    wait
done
cat "$work"/*.row | sort -n
