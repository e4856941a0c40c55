#!/bin/sh
# chromium_test.sh WSDBG RECORDING - the HTML report of a recorded hang in a headless browser: drawn, whole, no complaint
# on the console, at a desk's width and a phone's.  77 = no chromium here.  Keeps the screenshots with SCREENSHOTS=DIR.
set -eu
wsdbg=$1 recording=$2

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$wsdbg" replay "$recording" -o "$folder/hang.db" >/dev/null 2>&1 || [ $? = 124 ]
"$wsdbg" report "$folder/hang.db" --html -o "$folder/report.html"

fail()
{
    echo "$1" >&2
    exit 1
}

# The browser as root in a container: no sandbox, no GPU, its files in the scratch folder.
browse()
{
    HOME=$folder "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --user-data-dir="$folder/profile" --enable-logging=stderr "$@" "file://$folder/report.html" 2>"$folder/log"
    ! grep 'CONSOLE' "$folder/log" || fail "the browser's console has complaints"
}

browse --dump-dom >"$folder/dom.html"
for part in '<h1>ARRIVE_MISSING</h1>' 'class="fix"' 'id="graph-title"' 'id="timeline-title"' 'id="warps"' 'id="barriers"' \
    'id="overlap"' 'id="session"'; do
    grep -q "$part" "$folder/dom.html" || fail "the browser's document lacks $part"
done
[ "$(grep -c '<svg' "$folder/dom.html")" = 2 ] || fail "there are not two pictures"
[ "$(grep -c '<table' "$folder/dom.html")" = 4 ] || fail "there are not four tables"

# A blank page of this size is a PNG of about 6 KB.
shoot()
{
    browse --screenshot="$folder/$1.png" --window-size="$2"
    [ "$(wc -c <"$folder/$1.png")" -gt 30000 ] || fail "the $1 screenshot is blank"
    [ -z "${SCREENSHOTS:-}" ] || cp "$folder/$1.png" "$SCREENSHOTS/"
}
shoot wide 1100,1560
shoot narrow 500,1560

# At 1000 pixels no table scrolls beside room that is left.
measure='document.querySelectorAll(".scroll").forEach(function (e) { if (e.scrollWidth > e.clientWidth)'
measure="$measure"' document.getElementById("scrolls").textContent += e.textContent.slice(0, 40) })'
sed "s#</body>#<pre id=\"scrolls\"></pre><script>//<![CDATA[\n$measure\n//]]></script></body>#" "$folder/report.html" >"$folder/measured.html"
mv "$folder/measured.html" "$folder/report.html"
browse --dump-dom --window-size=1000,900 >"$folder/dom.html"
grep -q '<pre id="scrolls"></pre>' "$folder/dom.html" || fail "a table scrolls: $(grep 'id="scrolls"' "$folder/dom.html")"
