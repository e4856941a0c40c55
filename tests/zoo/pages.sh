#!/bin/sh
# pages.sh WSDBG RECORDED PAGES - the reports shown on the pages of docs/causes are what wsdbg says: each block that begins with
# "```report CASE EVIDENCE" holds the first lines of the report of what was recorded of that case of the zoo (folder RECORDED; evidence ring, live
# or core), up to the kernel.  UPDATE_GOLDEN=1 writes the blocks anew.
set -eu
wsdbg=$1 recorded=$2 pages=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

report() {
    case $2 in
    ring) "$wsdbg" replay --stall 0.5 "$recorded/ring/$1/ring.wsrec" ;;
    live) "$wsdbg" core "$recorded/live/$1/1.core" "$recorded/live/$1/2.core" ;;
    core) "$wsdbg" core "$recorded/core/$1/core" ;;
    *) echo "no such evidence: $2" ;;
    esac 2>&1 | sed '/^[^ ].*, \(grid [0-9]\|launch ?\)/,$d'
}

failed=0
blocks=0
for page in "$pages"/*.md; do
    sed -n 's/^```report \([a-z0-9-]*\) \([a-z]*\)$/\1 \2/p' "$page" >"$folder/wanted"
    while read -r name kind; do
        report "$name" "$kind" >"$folder/$name.$kind"
        blocks=$((blocks + 1))
        [ -s "$folder/$name.$kind" ] || { echo "$page: nothing was said of $name ($kind)" && failed=1; }
    done <"$folder/wanted"
    awk -v folder="$folder" '
        /^```report / { print; file = folder "/" $2 "." $3; while ((getline line < file) > 0) print line; close(file); inside = 1; next }
        /^```/ { inside = 0 }
        !inside { print }' "$page" >"$folder/page"
    if [ -n "${UPDATE_GOLDEN:-}" ]; then
        cmp -s "$folder/page" "$page" || cp "$folder/page" "$page"
    else
        diff -u "$page" "$folder/page" || failed=1
    fi
done
[ "$blocks" -gt 0 ] || { echo "no page shows a report" && failed=1; }
exit $failed
