#!/bin/sh
# wgmma_gemm.sh - the reference GEMM in all its builds: lint speaks of wgmma in the one that ptxas serializes, and only there.
#
#   wgmma_gemm.sh WSDBG IMAGES      IMAGES: the folder of gemm_*.fatbin
set -u
failed=0
serialized=0
for image in "$2"/gemm_*.fatbin; do
    [ -e "$image" ] || continue
    said=$("$1" lint "$image" 2> /dev/null | grep -c 'warning: .*\[WGMMA_')
    case $image in
    */gemm_wgmma_serialized_*) expected=1 serialized=$((serialized + 1)) ;;
    *) expected=0 ;;
    esac
    [ "$said" -eq "$expected" ] || { echo "$image: $said warnings about wgmma, not $expected" && failed=1; }
done
[ "$serialized" -gt 0 ] || { echo "$2: no serialized GEMM" && failed=1; }
exit $failed
