#!/bin/sh
# run_fuzzer.sh SECONDS SEED CORPUS OUT ROOMS SOURCES... - links one libFuzzer target with what build_fuzzers.sh made in ROOMS,
# with the flags in $FUZZ_FLAGS and the libraries in $FUZZ_LIBRARIES, and runs it on a copy of the corpus for a while.
# 77 = build_fuzzers.sh found no clang with libFuzzer.
set -u
seconds=$1 seed=$2 corpus=$3 out=$4 rooms=$5
shift 5
[ -f "$rooms/rooms.a" ] || { echo "no fuzzers were built: skipped"; exit 77; }
mkdir -p "$out/corpus" || exit 1
# shellcheck disable=SC2086
clang -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $FUZZ_FLAGS "$@" "$rooms/rooms.a" $FUZZ_LIBRARIES -o "$out/fuzzer" || exit 1
cp "$corpus"/* "$out/corpus/" || exit 1
exec "$out/fuzzer" -verbosity=0 -seed="$seed" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$out/" "$out/corpus"
