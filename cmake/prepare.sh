#!/bin/sh
# prepare.sh demo|test - makes a Debian machine ready to build: installs missing packages when root, else prints
# the one line that does.  Says what is lost without a CUDA toolkit.  Reads dpkg's database; writes build/.
# prepare.sh --list demo|test - prints the packages' names alone.
set -eu
list_only=
[ "$1" != --list ] || { list_only=yes; shift; }

packages="gcc g++ cmake ninja-build pkg-config libsqlite3-dev libzstd-dev liblz4-dev libelf-dev libdw-dev zlib1g-dev libjansson-dev libncurses-dev"
[ "$1" = demo ] || packages="$packages libcmocka-dev libvterm-dev libxml2-dev chromium valgrind clang lld python3"
[ -z "$list_only" ] || { echo "$packages"; exit 0; }

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# A compiler, cmake or browser from elsewhere serves as well as Debian's.
for pair in google-chrome:chromium chromium-browser:chromium gcc:gcc g++:g++ cmake:cmake ninja:ninja-build clang:clang ld.lld:lld python3:python3; do
    if command -v "${pair%%:*}" >/dev/null 2>&1; then
        missing=$(printf '%s ' $missing | sed "s/\(^\| \)${pair##*:} / /")
    fi
done
# Installs packages when root, else prints the one line that does and ends.
install() {
    if [ "$(id -u)" = 0 ]; then
        echo "installing: $*"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    else
        echo "These Debian packages are missing; install them and try again:" >&2
        echo "  sudo apt-get install $*" >&2
        exit 1
    fi
}

missing=$(printf '%s ' $missing)
# shellcheck disable=SC2086 # one argument per package
[ -z "${missing% }" ] || install $missing
# The fuzzers need clang's runtime, which Debian has as a package named after clang's version: so after clang itself.
if [ "$1" = test ] && command -v clang >/dev/null 2>&1; then
    version=$(clang -dumpversion | cut -d. -f1)
    [ -e "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-x86_64.a" ] || install "libclang-rt-$version-dev"
fi

if ! command -v nvcc >/dev/null 2>&1 && [ ! -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    echo "No CUDA toolkit (nvcc) found: the demo kernels and the CUPTI observer are not built; the rest is."
fi
mkdir -p build
