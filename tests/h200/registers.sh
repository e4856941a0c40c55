#!/bin/sh
# What is expected of the kernels of register_configs.def: on the simulator, some of them, and what lint says of all.
# Usage: registers.sh REGISTERS SIMULATOR_FOLDER [WSDBG IMAGE]
set -u
registers=$1 simulator=$2 wsdbg=${3:-} image=${4:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
wrong=0

# Every seventh: of each size some, and of both outcomes.
"$registers" --list >"$work/list" || exit 1
chosen=$(awk 'NR % 7 == 1 { print $1 }' "$work/list")
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$simulator "$registers" --jobs 8 --limit 2 $chosen >"$work/ran.json" || exit 1
sed -n 's/.*"kernel": "\([^"]*\)".*"expected": "\([^"]*\)", "outcome": "\([^"]*\)".*/\1 \2 \3/p' "$work/ran.json" >"$work/ran"
[ "$(wc -l <"$work/ran")" -eq "$(echo "$chosen" | wc -l)" ] || { echo "not every kernel was run"; exit 1; }
while read -r kernel expected outcome; do
    [ "$expected" = "$outcome" ] || { echo "$kernel: expected $expected, $outcome on the simulator"; wrong=1; }
done <"$work/ran"

if [ -n "$image" ] && [ -f "$image" ]; then
    "$wsdbg" lint --suppress REGS_UNBALANCED "$image" >"$work/said" 2>/dev/null
    [ $? -eq 1 ] || { echo "lint found no error in $image"; exit 1; }
    while read -r kernel _ expected; do
        said=finished
        grep -Eq ": kernel $kernel\+0x[0-9a-f]*: error: .*\[REGS_(BUDGET|ORDER)\]" "$work/said" && said=hung
        [ "$expected" = "$said" ] || { echo "$kernel: expected $expected, lint thinks $said"; wrong=1; }
    done <"$work/list"
fi
exit $wrong
