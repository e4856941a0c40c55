#!/bin/sh
# screens.sh [BUILD] - the screens in the README: every view of one hang on a GPU, as `wsdbg run --tui` shows it.
# Run from the root of the tree, so that the kernel's source is found.  Writes Markdown on stdout.
set -eu
build=${1:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# One tab at a time: the whole session runs anew for each, and ends with the program of the view before.
shot() { # view, keys
    view=$1 keys=$2
    printf '<details><summary>%s</summary>\n\n```\n' "$view"
    rm -f "$folder"/hang.db*
    "$build/tests/screenshot" 100x26 "until=HANG" $keys sleep=500 show -- \
        "$build/bin/wsdbg" run --tui -o "$folder/hang.db" -- gemm --bug arrive-missing | sed "s|$folder/||g" | cat -s
    printf '```\n</details>\n\n'
}
PATH=$PWD/$build/bin:$PATH
shot overview ""
shot cause keys=2
shot warps "keys=3 sleep=200 keys=jj keys=l keys=j keys=l"
shot barriers "keys=4 sleep=200 keys=j keys=l"
shot graph keys=5
shot timeline "keys=6 sleep=200 keys=+"
shot source "keys=7 sleep=200 keys=]"
shot registers keys=8
shot log keys=9
shot help keys=0
