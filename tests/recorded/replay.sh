#!/bin/sh
# replay.sh WSDBG COMMAND FILE GOLDEN [SECOND] - what `wsdbg COMMAND FILE [SECOND]` says is the golden report, line by
# line, and its JSON names the same cause; SECOND lies beside FILE.  The recording has its own clock, so nothing in the report depends on the machine.
set -u
wsdbg=$1 command=$2 recording=$3 golden=$4 second=${5:+$(basename "$5")}
got=$(mktemp)
trap 'rm -f "$got" "$got.json"' EXIT
folder=$(dirname "$recording")
(cd "$folder" && "$wsdbg" "$command" "$(basename "$recording")" ${second:+"$second"}) >"$got" 2>&1
status=$?
echo "status $status" >>"$got"
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$got" "$golden"
diff -u "$golden" "$got" || exit 1

(cd "$folder" && "$wsdbg" "$command" --json "$(basename "$recording")" ${second:+"$second"}) >"$got.json" 2>/dev/null
said=$(sed -nE 's/^(HANG|FAULT|STALL): (cause not known \()?([A-Z_]+)[ ;].*/\3/p' "$got")
if [ -n "$said" ]; then
    grep -q "\"cause\": \"$said\"" "$got.json" || { echo "the JSON report has another cause than $said"; exit 1; }
else
    grep -q '"cause": null' "$got.json" || { echo "the JSON report has a cause, the text none"; exit 1; }
fi
