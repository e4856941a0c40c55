#!/bin/sh
# The doctor's rows of the GPU's own state, on the fake driver: doctor_test.sh WSDBG FOLDER-OF-THE-FAKE
set -eu
wsdbg=$1
export LD_LIBRARY_PATH=$2
unset CUDA_INJECTION64_PATH CUDA_MPS_PIPE_DIRECTORY
failed=0

# row EXPECTED [NAME=VALUE...]
row() {
    expected=$1
    shift
    got=$(env "$@" "$wsdbg" doctor | grep -E 'gpu|live state|staying|core dumps|^wsdbg run' || true)
    case $got in
    *"$expected"*) ;;
    *)
        echo "with '$*': '$got' lacks '$expected'"
        failed=1
        ;;
    esac
}

# no_row NAME NAME=VALUE
no_row() {
    if env "$2" "$wsdbg" doctor | grep -qE "^(ok|no|\?) +$1 "; then
        echo "with '$2' there is a row '$1'"
        failed=1
    fi
}

row 'ok  gpu         0: Fake GPU 0, compute capability 9.0' FAKE_CUDA_LOG=/dev/null
row 'wsdbg run works here.' FAKE_CUDA_LOG=/dev/null
row 'no  gpu         0: Fake GPU 0, compute capability 8.0: location only (lost: roles, barriers, probes and causes: causes are known for sm_90 only)' FAKE_CUDA_MAJOR=8
row 'wsdbg run says where warps are here, and no cause.' FAKE_CUDA_MAJOR=8
row 'ok  live state  the driver'"'"'s debug interface, revision 13.0.163' FAKE_CUDA_LOG=/dev/null
row 'ok  live state  the driver'"'"'s debug interface, revision 13.1.180' FAKE_DEBUG_VERSION=13.1.180
row 'no  live state  the driver speaks revision 12.8.150 of the debug interface, wsdbg knows 13.0.163' FAKE_DEBUG_VERSION=12.8.150
row 'no  live state  CUDA_INJECTION64_PATH is set to /opt/tool.so' CUDA_INJECTION64_PATH=/opt/tool.so
row 'ok  staying     an inspector can stay attached between looks' FAKE_CUDA_LOG=/dev/null
no_row 'staying' FAKE_DEBUG_VERSION=12.8.150
no_row 'staying' CUDA_INJECTION64_PATH=/opt/tool.so
row 'ok  core dumps  made with --evidence core alone' FAKE_CUDA_LOG=/dev/null
row 'no  core dumps  CUDA_INJECTION64_PATH is set to /opt/tool.so' CUDA_INJECTION64_PATH=/opt/tool.so
row 'no  live state  this libcuda has no debug interface' FAKE_CUDA_FAIL=cudbgGetAPIVersion
folder=$(mktemp -d)
: >"$folder/control"
row "no  live state  an MPS control daemon seems to run ($folder/control)" CUDA_MPS_PIPE_DIRECTORY="$folder"
rm -r "$folder"
exit $failed
