#!/bin/sh
# The programs of tests/h200/fleet on two simulated devices, with a stand-in for PyTorch: ranks that torchrun, Python's
# multiprocessing and, where they are installed, launchers of MPI start.  Then whether the scripts that measure a training
# step and an attach work at all: fleet.sh BUILD-FOLDER NCCL-LIBRARY
set -u
here=$(dirname "$0")
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work" WSDBG_FAKE_NCCL="$work/nccl" WSDBG_STAND_IN_NCCL="$2" WSDBG_FAKE_NCCL_CONNECTS=1 PYTHONPATH="$here/site-packages" PYTHONDONTWRITEBYTECODE=1
mkdir "$work/nccl"
cases=skipped-spawn,skipped-fork,skipped-forkserver,skipped-mpich,skipped-open-mpi,skipped-next,sizes,own-kernel,killed,send-alone
python3 "$here/../h200/fleet.py" --device sim --build "$1" --stall 0.5 --jobs 2 --cases $cases --out "$work/fleet.json" >"$work/said" 2>&1
if [ $? -ne 0 ] || grep -E '^[a-z-]+ [0-9]+: ' "$work/said" | grep -qv -e ': right: ' -e ': skipped: fleet: skipped: no mpi' ||
    [ "$(grep -c ': right: ' "$work/said")" -lt 8 ]; then
    cat "$work/said"
    exit 1
fi
for script in "training_step.py --rounds 2 --copies 1" "attach_time.py --programs 2 --times 1 --settle 0.5"; do
    # shellcheck disable=SC2086
    python3 "$here/../h200/"$script --device sim --build "$1" --out "$work/times.json" >"$work/said" 2>&1 || {
        cat "$work/said"
        exit 1
    }
done
