#!/bin/sh
# run_fuzzer.sh SECONDS CORPUS OUT SOURCES... - builds one libFuzzer target with clang from the sources and the flags in
# $FUZZ_FLAGS, runs it on a copy of the corpus for a while.  77 = no clang with libFuzzer here.
set -u
seconds=$1 corpus=$2 out=$3
shift 3
command -v clang >/dev/null 2>&1 || { echo "clang is not installed: skipped"; exit 77; }
mkdir -p "$out/corpus" || exit 1
echo 'int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) { return b && n > 9 && 0; }' > "$out/probe.c"
clang -fsanitize=fuzzer,address,undefined "$out/probe.c" -o "$out/probe" 2>/dev/null || { echo "clang has no libFuzzer: skipped"; exit 77; }
# shellcheck disable=SC2086
clang -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all "$@" $FUZZ_FLAGS -o "$out/fuzzer" || exit 1
cp "$corpus"/* "$out/corpus/" || exit 1
exec "$out/fuzzer" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$out/" "$out/corpus"
