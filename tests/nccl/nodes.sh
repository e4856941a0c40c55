#!/bin/sh
# Two ranks as if on two nodes, on two simulated devices: a wsdbg and a database for each.  Merged, these say what one wsdbg
# says of both: nodes.sh BUILD-FOLDER NCCL-LIBRARY
set -u
here=$(dirname "$0")
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work" WSDBG_FAKE_NCCL="$work/nccl" WSDBG_STAND_IN_NCCL="$2" PYTHONPATH="$here/site-packages" PYTHONDONTWRITEBYTECODE=1
mkdir "$work/nccl"
python3 "$here/../h200/two_nodes.py" --device sim --build "$1" --stall 0.5 --cases own-kernel,skipped-next,skipped,order,killed \
    --out "$work/nodes.json" >"$work/said" 2>&1 && [ "$(grep -c ': the same: ' "$work/said")" -eq 5 ] && exit 0
cat "$work/said"
exit 1
