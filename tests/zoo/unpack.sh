#!/bin/sh
# unpack.sh CMAKE CASES FOLDER EXPECTED ARCHIVE... - unpacks what was recorded of the zoo into FOLDER, for recorded.sh.  Fails where EXPECTED has not
# exactly the cases of CASES, or an archive names a folder of whoever recorded it.
set -eu
cmake=$1 cases=$2 folder=$3 expected=$4
shift 4
rm -rf "$folder"
mkdir -p "$folder"
cut -f1 "$cases" >"$folder/names"
cut -f1 "$expected" | diff "$folder/names" -
cd "$folder"
for archive in "$@"; do
    "$cmake" -E tar xf "$archive"
done
if grep -rlE '/(tmp|work|root|home)/' .; then
    echo "these name a folder of the machine that recorded them"
    exit 1
fi
