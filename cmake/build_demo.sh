#!/bin/sh
# build_demo.sh [CMAKE OPTION]... - configures and builds what `make demo` runs, without the tests, in build/.
set -eu
mkdir -p build
cmake --preset demo "$@" >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
exec cmake --build build -j "$(nproc)" --target instr/all sim/all tracer/all demo_kernels/all
