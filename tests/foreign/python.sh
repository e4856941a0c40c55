#!/bin/sh
# python.sh - programs of Python's CUDA libraries on the simulator: what runs, how it ends, and for how long.
#
#     python.sh WSDBG FOLDER
#
# Installs the libraries, versions pinned, into FOLDER/venv where it is not there yet; that needs the network, so no
# test of CI runs this.  Writes: a row of a Markdown table for each program, each way to run it; status 1 where one ended
# otherwise than it should.
set -u
wsdbg=$(realpath "$1") folder=$2
programs=$(realpath "$(dirname "$0")")/python
mkdir -p "$folder" && cd "$folder" || exit 1
if [ ! -x venv/bin/python ]; then
    python3 -m venv venv && venv/bin/pip install -q numpy==2.4.6 triton==3.9.0 cupy-cuda12x==14.2.0 cuda-python==13.4.4 \
        nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 || exit 1
fi
export TRITON_CACHE_DIR="$PWD/triton-cache" CUPY_CACHE_DIR="$PWD/cupy-cache" TRITON_DEFAULT_FP_FUSION=1
failed=0

# row EXPECTED-STATUS PROGRAM WAY WORDS...
row() {
    expected=$1 program=$2 way=$3
    shift 3
    rm -f run.db*
    began=$(date +%s.%N)
    timeout 120 "$wsdbg" "$@" -o run.db -- venv/bin/python "$programs/$program.py" "$way" >out 2>err
    status=$?
    cause=$(sed -n 's/^HANG: //p' err | head -1)
    printf '| `%s` | %s | %s | %s | %s | %.1f |\n' "$program" "$1" "$way" "$status" "${cause:--}" "$(echo "$(date +%s.%N) $began" | awk '{ print $1 - $2 }')"
    grep -q '^ok' out && [ "$status" = "$expected" ] || failed=1
}

for program in with_cuda_python with_cupy with_triton; do
    row 0 "$program" works run --device sim
    row 124 "$program" hangs run --device sim
    row 124 "$program" hangs explore --schedules 10
done
exit $failed
