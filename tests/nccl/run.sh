#!/bin/sh
# Findings for two ranks that use NCCL under one wsdbg, when one of them does not make its call or is late:
# run.sh WSDBG NCCL_RANKS [CASE...]
set -u
wsdbg=$1 ranks=$2
shift 2
only=" $* "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work WORLD_SIZE=2
failed=0

fail() {
    echo "$*"
    failed=1
}

# run CASE STATUS FINDING SENTENCE [OPTIONS...]: expects "CAUSE,confidence,rank" as the first finding, with SENTENCE in its
# sentence
run() {
    name=$1 status=$2 finding=$3 sentence=$4
    shift 4
    case $only in "  " | *" $name "*) ;; *) return ;; esac
    mkdir -p "$work/$name"
    WSDBG_FAKE_NCCL=$work/$name timeout -k 2 20 "$wsdbg" run --device sim --stall 0.5 "$@" -o "$work/$name.db" -- \
        sh -c 'RANK=0 "$0" "$1" & RANK=1 "$0" "$1"; wait' "$ranks" "$name" >"$work/$name.out" 2>"$work/$name.err"
    got=$?
    [ $got -eq "$status" ] || fail "$name: status $got, not $status: $(cat "$work/$name.err")"
    said=$(ask "$name" "SELECT cause, confidence, p.rank FROM finding LEFT JOIN process p USING (process_id) ORDER BY finding.id LIMIT 1")
    [ "$said" = "$finding" ] || fail "$name: \"$said\", not \"$finding\": $(cat "$work/$name.err")"
    [ -z "$sentence" ] || ask "$name" 'SELECT sentence FROM finding ORDER BY id LIMIT 1' | grep -qF -- "$sentence" ||
        fail "$name: no \"$sentence\" in: $(ask "$name" 'SELECT sentence FROM finding')"
}

# ask CASE QUERY: its rows
ask() {
    "$wsdbg" query "$work/$1.db" --csv "$2" 2>&1 | tail -n +2 | tr -d '\r'
}

# is NAME QUERY EXPECTED
is() {
    case $only in "  " | *" $1 "*) ;; *) return ;; esac
    got=$(ask "$1" "$2")
    [ "$got" = "$3" ] || fail "$1: $2: \"$got\", not \"$3\""
}

run works 0 '' ''
is works "SELECT p.rank, c.rank, c.rank_count, c.made_by, c.calls, c.collectives FROM communicator c JOIN process p USING (process_id) JOIN shown_snapshot s ON s.id = c.snapshot_id ORDER BY 1, c.number" '0,0,2,ncclCommInitRank,4,2
0,0,2,ncclCommInitRank,1,1
1,1,2,ncclCommInitRank,4,2
1,1,2,ncclCommInitRank,1,1'
is works "SELECT operation, k.number, peer, grouped FROM collective k JOIN communicator c ON c.id = communicator_id JOIN process p USING (process_id) JOIN shown_snapshot s ON s.id = c.snapshot_id WHERE p.rank = 0 ORDER BY k.time_ns" 'all_reduce,1,,0
all_reduce,2,,0
send,1,1,1
receive,1,1,1
broadcast,1,1,0'
run refused 0 '' ''
is refused "SELECT p.rank, c.rank, count(k.number), count(*) FROM collective k JOIN communicator c ON c.id = communicator_id JOIN process p USING (process_id) JOIN shown_snapshot s ON s.id = c.snapshot_id WHERE c.calls > 0 GROUP BY 1, 2 ORDER BY 1" '0,0,64,64
1,1,0,64'
run many 0 '' ''
is many "SELECT p.rank, count(*), sum(c.state = 'finalized'), sum(c.state = 'destroyed'), max(c.number) FROM communicator c JOIN process p USING (process_id) JOIN shown_snapshot s ON s.id = c.snapshot_id GROUP BY 1 ORDER BY 1" '0,32,1,0,33
1,32,1,0,33'
run leaves 124 RANK_MISSING,likely,1 'Rank 1 has not entered all_reduce #2 of communicator '
run splits 124 RANK_MISSING,likely,1 'Rank 1 has not entered all_reduce #2 of communicator '
run sizes 124 RANK_MISMATCH,likely,1 'rank 0 called all_reduce #2 (4096 float32, sum), and rank 1 all_reduce #2 (64 float32, sum)'
run order 124 RANK_MISMATCH,likely,1 'Ranks make their calls in different orders: rank 0 waits for rank 1 in all_reduce #'
run order-12 124 RANK_MISMATCH,likely,1 'Ranks make their calls in different orders: rank 0 waits for rank 1 in all_reduce #'
run queued 124 RANK_MISMATCH,likely,1 'Ranks make their calls in different orders: rank 0 waits for rank 1 in all_reduce #'
run sends-both 124 RANK_MISMATCH,likely,1 'rank 0 waits for rank 1 in receive #1 from rank 0 of communicator'
run dies 124 RANK_GONE,likely,1 'and rank 0 waits in all_reduce #2 of communicator'
run own-kernel 124 ARRIVE_SHORT,likely,1 ''
is own-kernel "SELECT rank, blame FROM member JOIN process USING (process_id) WHERE blame IS NOT NULL ORDER BY rank" '0,victim
1,origin'

# The lines of the calls, which have returned: the call itself is in sum().
source=$(dirname "$0")/ranks.c
line_of() {
    grep -n "$1" "$source" | head -1 | cut -d: -f1
}
call=$(line_of 'must(all_reduce(NULL, NULL, count')
said() {
    case $only in "  " | *" $1 "*) ;; *) return ;; esac
    ask "$1" 'SELECT sentence FROM finding ORDER BY id LIMIT 1' | grep -qF -- "$2" ||
        fail "$1: no \"$2\" in: $(ask "$1" 'SELECT sentence FROM finding')"
}
for rank in 0 1; do
    said sizes "Rank $rank called it at ranks.c:$call in sum, called from ranks.c:$(line_of 'rank ? FEW : MANY') in sizes."
done
said order "Rank 0 called it at ranks.c:$call in sum, called from ranks.c:$(line_of 'rank ? second : first') in order."
said order "Rank 1 called it at ranks.c:$call in sum, called from ranks.c:$(line_of 'rank ? second : first') in order."
said leaves "Rank 0 called it at ranks.c:$call in sum, called from "
is sizes "SELECT count(*) FROM launch_site WHERE kind = 'call' AND place LIKE '%in sizes'" 2

# A rank that may still make its call is no hang: --give-up ends the run, and the finding is only possible.
run skips 124 RANK_MISSING,possible,1 'its main thread sleeps in clock_nanosleep' --give-up 2
run sends-alone 124 RANK_MISSING,possible,1 'Rank 1 has not entered receive #1 from rank 0 of communicator' --give-up 2
# Calls that wait on the host, while no kernel runs.
run sends-first 124 RANK_MISSING,possible,1 'Rank 1 has not entered receive #1 from rank 0 of communicator' --give-up 2
is sends-first 'SELECT count(*) FROM grid JOIN shown_snapshot s ON s.id = snapshot_id WHERE running' 0
run makes-alone 124 RANK_MISSING,possible,1 'Rank 1 has not entered ncclCommInitRank of communicator' --give-up 2
said makes-alone ', in which rank 0 waits on the host; its main thread sleeps in clock_nanosleep, '
run send-dies 124 RANK_GONE,likely,1 'Rank 1 (process '
run send-is-late 0 RANK_MISSING,possible,1 'its main thread sleeps'
run makes-late 0 RANK_SKEW,possible,1 'its main thread runs'
# A rank that makes its call late is no hang either.
run late 0 RANK_SKEW,possible,1 'its main thread runs'
run sleeps 0 RANK_MISSING,possible,1 'its main thread sleeps'
exit $failed
