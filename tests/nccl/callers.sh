#!/bin/sh
# A call of NCCL reaches the function that it would have reached without wsdbg: callers.sh SHIM FOLDER
set -u
shim=$1 folder=$2
failed=0

# same WHAT EXPECTED PRELOADED_BEFORE PRELOADED_BEHIND PROGRAM LIBRARY...: first without the observer, then with it
same() {
    what=$1 expected=$2 before=$3 behind=$4
    shift 4
    for preloaded in "$before:$behind" "$before:$shim:$behind"; do
        got=$(LD_PRELOAD=$preloaded WSDBG_SESSION=nccl-callers LD_LIBRARY_PATH=$folder timeout 10 "$@" 2>&1 |
            grep -v '^wsdbg: ')
        [ "$got" = "$expected" ] && continue
        echo "$what, LD_PRELOAD=$preloaded: \"$got\", not \"$expected\""
        failed=1
    done
}

alone=$folder/nccl_callers linked=$folder/nccl_callers_linked passes_on=$folder/libpasses_on.so
one=$folder/libcalls_one.so two=$folder/libcalls_two.so
same 'one copy' '1 1' '' '' "$alone" "$one"
same 'two private copies' '1 2 1 2' '' '' "$alone" "$one" "$two"
same 'two private copies, the other way round' '2 1 2 1' '' '' "$alone" "$two" "$one"
same 'a linked copy goes before a private one' '1 1' '' '' "$linked" "$two"
same 'a preloaded copy goes before a private one' '1 1' '' "$folder/libcopy_one.so" "$alone" "$two"
same 'a library before the observer forwards calls' '101 101' "$passes_on" '' "$linked" "$one"
same 'a library behind the observer forwards calls' '101 101' '' "$passes_on" "$linked" "$one"
exit $failed
