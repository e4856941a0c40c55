#!/bin/sh
# lacking.sh SOURCE BUILD SCRATCH - the checks of cmake/demo_packages.sh fail, and say why, where prepare.sh's list lacks SQLite.
set -eu
source=$1 build=$2 scratch=$3
cd "$source"
packages=$(sh cmake/prepare.sh --list demo)
lacking=$(echo "$packages" | sed 's/ libsqlite3-dev / /')
[ "$lacking" != "$packages" ] || { echo "prepare.sh does not name libsqlite3-dev"; exit 1; }

must_fail_with() { # words, command
    words=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        echo "succeeded, but should not have: $*"
        exit 1
    fi
    grep -q -- "$words" "$scratch/said" || { echo "no '$words' in what was said:"; cat "$scratch/said"; exit 1; }
}

sh cmake/demo_packages.sh visible "$scratch" $lacking
export PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR="$scratch/packages/pkgconfig"
must_fail_with "ackage 'sqlite3'" cmake --preset demo -B "$scratch/configured" -D WSDBG_KERNELS=OFF
must_fail_with "libsqlite3-dev.*: /usr/include/sqlite3.h" sh cmake/demo_packages.sh used "$build" $lacking
