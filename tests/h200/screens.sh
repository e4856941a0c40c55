#!/bin/sh
# screens.sh [BUILD] - the screens in docs/SCREENS.md: every view of one hang, on a GPU or the simulator, as `wsdbg run --tui` shows it.
# Run from the root of the tree, so that the kernel's source is found.  Writes Markdown on stdout.
set -eu
build=${1:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# One tab at a time: the whole session runs anew for each, and ends with the program of the view before.
shot() { # view, keys
    view=$1 keys=$2
    printf '## %s\n\n```\n' "$view"
    rm -f "$folder"/hang.db*
    "$build/tests/screenshot" 100x26 "until=HANG" $keys sleep=500 show -- \
        "$build/bin/wsdbg" run --tui -o "$folder/hang.db" -- gemm --bug arrive-missing | sed "s|$folder/||g" | cat -s
    printf '```\n\n'
}
PATH=$PWD/$build/bin:$PATH
shot Overview ""
shot Cause keys=2
shot Warps "keys=3 sleep=200 keys=jj keys=l keys=j keys=l"
shot Barriers "keys=4 sleep=200 keys=j keys=l"
shot Graph keys=5
shot Timeline "keys=6 sleep=200 keys=+"
shot Source "keys=7 sleep=200 keys=]"
shot Registers keys=8
shot Log keys=9
shot Ranks keys=R
shot Help keys=0
