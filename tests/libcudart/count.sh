#!/bin/sh
# count.sh - docs/LIMITS.md says how many functions the stand-in for the CUDA runtime has: those that the library exports and
# missing.def does not list; the forms of one function for per-thread default streams are counted once.
#
#     count.sh LIBCUDART.SO.13 LIBCUDART.SO.12 MISSING.DEF LIMITS.MD CC
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# count LIBRARY VERSION
count() {
    nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | grep '^cuda' | sort -u >"$work/has"
    "$5" -E -P -DRUNTIME_VERSION="$2" -x c "$3" | grep -o 'MISSING([A-Za-z0-9_]*' | sed 's/MISSING(//' | sort -u >"$work/lacks"
    comm -23 "$work/has" "$work/lacks" | grep -vc '_pt[sd][sz]$'
}

newer=$(count "$1" 13000 "$3" "$4" "$5") older=$(count "$2" 12090 "$3" "$4" "$5")
words="with $newer (CUDA 13) or $older (CUDA 12) of its"
tr '\n' ' ' <"$4" | grep -qF "$words" && exit 0
echo "$4 does not say \"$words\""
exit 1
