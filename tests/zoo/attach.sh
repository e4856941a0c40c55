#!/bin/sh
# Armed programs on the simulator, and wsdbg attach: attach.sh WSDBG ZOO GEMM PYTHON.
# Every program is armed in a folder of this test, so that other tests are not seen.
set -u
wsdbg=$1 zoo=$2 gemm=$3 python=$4
work=$(mktemp -d)
armed=$work/armed
programs='' failed=0

finish() {
    for program in $programs; do
        kill -KILL "$program" 2>/dev/null
    done
    wait 2>/dev/null
    "$wsdbg" attach --list >/dev/null 2>&1 # removes what they left
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "FAILED: $*"
    failed=1
}

# says WORDS NAME; says_not WORDS NAME
says() {
    grep -qF -- "$1" "$work/$2.err" || fail "$2: no \"$1\" in: $(cat "$work/$2.err")"
}
says_not() {
    grep -qF -- "$1" "$work/$2.err" && fail "$2: \"$1\" in: $(cat "$work/$2.err")"
}

# arm COMMAND...: $program is its process
arm() {
    "$wsdbg" arm --device sim --folder "$armed" -- "$@" >"$work/program.out" 2>"$work/program.err" &
    program=$!
    programs="$programs $program"
}

# has_tables PROCESS
has_tables() {
    [ -e "$armed/segments/wsdbg.armed-elsewhere-$(id -u).$1" ]
}

# comes PROCESS: it has used CUDA, and its tables say whose they are
comes() {
    for i in $(seq 200); do
        has_tables "$1" && "$wsdbg" attach --list --folder "$armed" 2>/dev/null | grep -q "^ *$1\b" && return
        sleep 0.05
    done
    fail "process $1 never used CUDA: $(cat "$work/program.err")"
}

# attach NAME STATUS ARGUMENTS...
attach() {
    name=$1 expected=$2
    shift 2
    timeout 60 "$wsdbg" attach "$@" >"$work/$name.out" 2>"$work/$name.err"
    got=$?
    [ $got -eq "$expected" ] || fail "$name: status $got, not $expected: $(cat "$work/$name.err")"
}

lives() {
    kill -0 "$1" 2>/dev/null || fail "process $1 has ended"
}

# The program is the process itself, and does what it does alone.
arm sh -c 'echo $$; exec "$0" --case ok-late-release' "$zoo"
wait $program && [ "$(head -n 1 "$work/program.out")" = $program ] || fail "an armed program did not run as itself"
has_tables $program && fail "what it left is not removed at its exit"

# A kernel that hangs: the cause that wsdbg run says; the program is left, and can be attached to again.
"$wsdbg" run --device sim -o "$work/run.db" -- "$zoo" --case tx-too-few 2>"$work/run.err"
arm "$zoo" --case tx-too-few
hung=$program
comes $hung
attach first 124 -o "$work/first.db" $hung
is_cause=$(grep HANG: "$work/run.err" | cut -d' ' -f2)
says "HANG: $is_cause" first
[ "$(grep -c 'wsdbg: verdict ' "$work/first.err")" = 1 ] && grep -q 'verdict .* after wsdbg came; ' "$work/first.err" || fail "not one line of the verdict's delay: $(cat "$work/first.err")"
lives $hung
[ "$("$wsdbg" query "$work/first.db" --csv @verdict | wc -l)" -ge 2 ] || fail "the session holds no verdict"
attach exists 125 -o "$work/first.db" $hung
says 'exists already' exists
attach second 124 --json $hung
says "HANG: $is_cause" second
grep -q "\"$is_cause\"" "$work/second.out" || fail "no cause in the JSON: $(head -c 500 "$work/second.out")"
lives $hung

# Two at once: the second one is refused.  A wsdbg that is killed leaves the program as it is.
"$wsdbg" attach --stall 20 $hung 2>"$work/long.err" &
long=$!
sleep 0.5
attach taken 125 $hung
says "$hung: another wsdbg (process $long) is attached to it" taken
"$wsdbg" attach --list --folder "$armed" | grep -q "$hung .*watched by $long" || fail "the list does not tell who watches"
kill -KILL $long
wait $long 2>/dev/null
lives $hung
attach after_kill 124 $hung
says "HANG: $is_cause" after_kill

# The list, and the whole of two ranks.
RANK=1 WORLD_SIZE=2 arm "$zoo" --case ok-late-release
wait $program
RANK=1 WORLD_SIZE=2 arm "$gemm" --bug tx-mismatch
comes $program
attach both 124 --all --folder "$armed"
says 'rank 1 of 2' both
says 'TX_MISMATCH' both
says "process $hung" both
lives $hung
lives $program
"$wsdbg" attach --list --folder "$armed" >"$work/list.out"
[ "$(wc -l <"$work/list.out")" -eq 3 ] || fail "not two in the list: $(cat "$work/list.out")"
kill -KILL $program

# Live on a terminal, until q; the status is that of the verdict.
cat >"$work/terminal.py" <<'PYTHON'
import os, pty, select, sys, time
process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
shown, deadline, asked = b"", time.time() + 30, False
while time.time() < deadline:
    if select.select([terminal], [], [], 0.2)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    if b"HANG" in shown and not asked:
        asked = os.write(terminal, b"q")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
PYTHON
timeout 60 "$python" "$work/terminal.py" "$wsdbg" attach --top $hung >"$work/top.err"
[ $? -eq 124 ] || fail "--top: $(tail -c 500 "$work/top.err")"
says "$is_cause" top
lives $hung
"$wsdbg" arm --history 999 -- true 2>"$work/history.err" && fail "arm --history 999 is accepted"
says 'history' history
attach no_terminal 125 --top $hung
says '--top needs a terminal' no_terminal

# On request it is ended.
attach ends 124 --on-stall kill $hung
sleep 0.2
kill -0 $hung 2>/dev/null && fail "--on-stall kill left the process"

# In the usual folder, found without being named.
"$wsdbg" arm --device sim -- "$zoo" --case tx-too-few >"$work/program.out" 2>"$work/program.err" &
usual=$!
programs="$programs $usual"
for i in $(seq 200); do
    "$wsdbg" attach --list | grep -q "^ *$usual " && break
    sleep 0.05
done
attach usual 124 $usual
says "HANG: $is_cause" usual
kill -KILL $usual

# Files of others in that folder stay, also where a name begins with a process's number.
touch "$armed/$hung.log" "$armed/$hung-11.csv" "$armed/state-$hung-old"

# What is left of killed ones goes with the next wsdbg.
has_tables $hung || fail "a killed process cleaned up after itself?"
attach none 125 --all --folder "$armed"
says 'no armed process of yours that uses CUDA runs here' none
has_tables $hung && fail "what a killed process left is not removed"
[ "$(ls "$armed" | grep "$hung" | sort | tr '\n' ' ')" = "$hung-11.csv $hung.log state-$hung-old " ] ||
    fail "of a killed process there are: $(ls "$armed" | grep "$hung")"
rm "$armed/$hung.log" "$armed/$hung-11.csv" "$armed/state-$hung-old"

# Tables that cannot be read: no verdict.  A signal before the stall time is over: none either.
arm "$zoo" --case tx-too-few
comes $program
segment=$armed/segments/wsdbg.armed-elsewhere-$(id -u).$program
printf '\377' | dd of="$segment" bs=1 seek=8 conv=notrunc 2>/dev/null # the version
attach unreadable 125 $program
says 'version' unreadable
says_not 'no hang' unreadable
printf '\001' | dd of="$segment" bs=1 seek=8 conv=notrunc 2>/dev/null
"$wsdbg" attach --stall 20 $program 2>"$work/interrupted.err" &
short=$!
sleep 1
kill -TERM $short
wait $short
[ $? -eq 143 ] || fail "interrupted: another status"
says 'interrupted: whether something hangs is not known' interrupted
says_not 'no hang' interrupted
lives $program

kill -KILL $program

# What a process was before it executed another program leaves nothing.
arm "$python" -c 'import ctypes, os, time
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
time.sleep(1)
os.execv("/bin/sleep", ["sleep", "60"])'
comes $program
sleep 1.5
lives $program
ls "$armed/segments" | grep -q "\.$program" && fail "an executed program left tables: $(ls "$armed/segments")"
kill $program

# The same PID namespace, but other folders at the same paths, or another number for the user: as some containers have
# it.  shows_inside NAME ARM-OPTION=VALUE UNSHARE-OPTIONS PREPARATION
shows_inside() {
    unshare $3 sh -c "$4" 2>/dev/null || return
    "$wsdbg" arm --device sim $2 -- unshare $3 sh -c "$4"'; exec "$0" --case tx-too-few' "$zoo" \
        >"$work/program.out" 2>"$work/program.err" &
    program=$!
    programs="$programs $program"
    for i in $(seq 100); do
        "$wsdbg" attach $program >/dev/null 2>"$work/$1.err"
        [ $? -eq 124 ] && break
        sleep 0.05
    done
    says "HANG: $is_cause" "$1"
    lives $program
}
mkdir "$work/own"
shows_inside folder "--folder=$work/own/armed" --mount "mount -t tmpfs none $work/own"
[ -e "$work/own/armed" ] && fail "its folder is not its own"
shows_inside memory --history=128 --mount 'mount -t tmpfs none /dev/shm'
kill -KILL $program
rm -f "/tmp/wsdbg-$(id -u)/$program-"*.image "/tmp/wsdbg-$(id -u)/state-$program-"* # its tables went with its /dev/shm
shows_inside user "--folder=$work/user" '--user --map-user=12345' :

# A process that is killed leaves nothing for long, even if nobody attaches.
arm "$zoo" --case tx-too-few
comes $program
killed=$program
# Its tables are there a moment before they say whose they are.
for i in $(seq 200); do
    "$wsdbg" attach --list --folder "$armed" | grep -q "^ *$killed " && break
    sleep 0.05
done
kill -KILL $killed
wait $killed 2>/dev/null
arm "$zoo" --case ok-late-release
wait $program
ls -R "$armed" | grep -q "$killed" && fail "the next armed process leaves: $(ls -R "$armed" | grep "$killed")"

# Under wsdbg run nothing is armed.
"$wsdbg" run --device sim -- "$wsdbg" arm --device sim -- "$zoo" --case tx-too-few 2>"$work/inner.err"
[ $? -eq 124 ] || fail "wsdbg run does not watch what wsdbg arm starts: $(cat "$work/inner.err")"

# A healthy program: no hang, and the result of it alone.
alone=$("$wsdbg" run --device sim -q --evidence ring -- "$gemm" --repeat 20 --checksum 2>/dev/null)
arm "$gemm" --repeat 20 --checksum
comes $program
attach healthy 0 $program
says 'no hang' healthy
wait $program || fail "an attached program failed: $(cat "$work/program.err")"
[ "$(cat "$work/program.out")" = "$alone" ] || fail "another result: $(cat "$work/program.out"), alone $alone"

# At its start, and at its end.
arm sh -c 'sleep 2; exec "$0" --repeat 20' "$gemm"
sleep 0.5
attach start 125 $program
says 'armed, but neither it nor a process below it has used CUDA yet' start
comes $program
attach end 0 --stall 30 $program
says 'have ended' end

# Children: of fork and exec, and of Python's spawn.  The number of the parent means them too.
arm sh -c '"$0" --case tx-too-few & wait' "$zoo"
for i in $(seq 200); do
    child=$(pgrep -P $program zoo) && [ -n "$child" ] && has_tables "$child" && break
    sleep 0.05
done
attach child 124 $program
says "HANG: $is_cause" child
programs="$programs $child"
kill $child $program
wait $program 2>/dev/null
cat >"$work/spawn.py" <<'PYTHON'
import multiprocessing, subprocess, sys
def work(arguments):
    with open(arguments[0], "w") as file:
        child = subprocess.Popen(arguments[1:])
        file.write(str(child.pid))
    child.wait()
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work, args=(sys.argv[1:],))
    process.start()
    process.join()
PYTHON
arm "$python" "$work/spawn.py" "$work/spawned" "$zoo" --case tx-too-few
spawned=''
for i in $(seq 200); do
    spawned=$(cat "$work/spawned" 2>/dev/null) && [ -n "$spawned" ] && has_tables "$spawned" && break
    sleep 0.05
done
programs="$programs $spawned"
attach spawned 124 $program
says "HANG: $is_cause" spawned
kill $spawned

# Switched off; and armed where the folder of wsdbg has vanished.
WSDBG_ARM=0 LD_PRELOAD=$(dirname "$wsdbg")/../lib/wsdbg/libwsdbg-shim.so sh -c : || fail "WSDBG_ARM=0"
(eval "$("$wsdbg" arm --env --folder "$armed")" && sh -c "$(command -v true)") || fail "--env for a shell"
env LD_PRELOAD="$work/gone/libwsdbg-shim.so" WSDBG_ARM=1 true 2>/dev/null || fail "a missing library ends programs"

# Bad input: one line each.
sleep 60 &
sleeper=$!
programs="$programs $sleeper"
attach not_armed 125 $sleeper
says "$sleeper: not armed; start the program with wsdbg arm" not_armed
says "main thread of process $sleeper" not_armed
attach no_process 125 2147483600
says '2147483600: there is no such process' no_process
attach no_number 125 gemm
says 'gemm: not the number of a process' no_number
attach nothing 125
says 'say one of these: a process id, --all, --list' nothing
attach two_ways 125 --all $sleeper
says 'say one of these' two_ways
attach bad_folder 125 --all --folder relative
says 'relative: no absolute path' bad_folder
if [ "$(id -u)" -ne 0 ]; then
    attach foreign 125 1
    says "1: the process is user 0's" foreign
fi
if unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork sh -c 'sleep 60 & wait' &
    outer=$!
    programs="$programs $outer"
    sleep 0.3
    inner=$(pgrep -f -n '^sleep 60$')
    attach namespace 125 "$inner"
    says 'lives in a PID namespace of its own' namespace
    kill "$inner"
fi
"$wsdbg" arm 2>"$work/no_program.err" && fail "arm without a program"
says 'say which program, or --env' no_program
"$wsdbg" arm --format yaml -- true 2>"$work/format.err" && fail "--format without --env"
says '--format is for --env' format
"$wsdbg" arm -- "$work/there-is-none" 2>"$work/missing.err"
[ $? -eq 127 ] || fail "arm of a missing program"

[ $failed -eq 0 ] && echo "all as expected"
exit $failed
