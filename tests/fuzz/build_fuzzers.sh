#!/bin/sh
# build_fuzzers.sh OUT SOURCES... - compiles the sources for libFuzzer with clang and the flags in $FUZZ_FLAGS, into the
# archive OUT/rooms.a that every fuzzer is linked with.  77 = no clang with libFuzzer here.
set -u
out=$1
shift
command -v clang >/dev/null 2>&1 || { echo "clang is not installed: skipped"; exit 77; }
rm -rf "$out"
mkdir -p "$out" || exit 1
echo 'int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) { return b && n > 9 && 0; }' > "$out/probe.c"
clang -fsanitize=fuzzer,address,undefined "$out/probe.c" -o "$out/probe" 2>/dev/null || { echo "clang has no libFuzzer: skipped"; exit 77; }
# Rooms have files of equal names: the object is called after the whole path.  Without optimisation they compile in a
# quarter of the time, which costs more here than the fuzzers run.
printf '%s\n' "$@" | OUT=$out xargs -P 2 -I{} sh -c \
    'clang -std=gnu17 -gline-tables-only -O0 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all $FUZZ_FLAGS -c "$1" -o "$OUT/$(echo "$1" | tr / _).o"' sh {} || exit 1
ar rcs "$out/rooms.a" "$out"/*.o
