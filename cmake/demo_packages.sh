#!/bin/sh
# demo_packages.sh visible|used BUILD PACKAGE... - are the named Debian packages enough to build what is in BUILD?
#   visible   fills BUILD/packages with the .pc files of these packages and of all that they depend on, for PKG_CONFIG_LIBDIR
#   used      after a build there: each header read and each library linked must be of one of them, of the compiler or of CUDA
# Reads dpkg's database, ninja's record of what was read.  Exit status: 0 enough, 1 not, 77 cannot be told here.
set -eu
export LC_ALL=C
step=$1 build=$2
shift 2
command -v dpkg-query >/dev/null 2>&1 || { echo "skipped: without dpkg it is not known which package a file is of"; exit 77; }
work=$build/packages
mkdir -p "$work"

# The named packages and whatever of their dependencies is installed.  A dependency may name what another package provides.
closure() {
    dpkg-query -W -f '${db:Status-Status}|${Package}|${Provides}|${Pre-Depends}, ${Depends}\n' | awk -F '|' -v named="$*" '
        function names(list) { gsub(/\([^)]*\)|:[a-z0-9]+/, "", list); gsub(/[,|]/, " ", list); return list }
        $1 == "installed" {
            depends = $4
            for (i = 5; i <= NF; i++) depends = depends " " $i # alternatives: "a | b"
            needs[$2] = needs[$2] " " names(depends)
            givers[$2] = givers[$2] " " $2
            count = split(names($3), given, " ")
            for (i = 1; i <= count; i++) givers[given[i]] = givers[given[i]] " " $2
        }
        END {
            last = split(named, queue, " ")
            for (first = 1; first <= last; first++) {
                count = split(givers[queue[first]], package, " ")
                for (i = 1; i <= count; i++) {
                    if (package[i] in taken) continue
                    taken[package[i]]
                    print package[i]
                    added = split(needs[package[i]], need, " ")
                    for (k = 1; k <= added; k++) queue[++last] = need[k]
                }
            }
        }'
}

# Their files, sorted.  One package may be there for several architectures: each counts.
files_of_closure() {
    dpkg-query -W -f '${Package} ${binary:Package}\n' | awk 'NR == FNR { taken[$1]; next } $1 in taken { print $2 }' "$work/closure" - |
        xargs dpkg-query -L | sort -u
}

cached() { # name: its value in the build's cache
    sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}

# What was read and linked from outside the tree, less what the compiler and CUDA bring themselves.
outside_files() {
    own=$(realpath "$("$(cached CMAKE_C_COMPILER)" -print-file-name=include)")
    cuda=$(cached WSDBG_CUDA_INCLUDE)
    { "$(cached CMAKE_MAKE_PROGRAM)" -C "$build" -t deps | sed -n 's/^    \//\//p'
      grep '^  LINK_LIBRARIES = ' "$build/build.ninja" | tr ' ' '\n' | grep '^/.*\.\(a\|so\)$'; } | sort -u |
        xargs realpath -s | grep -v -e "^$(realpath .)/" -e "^$own/" -e "^${cuda:-/nowhere}/" | sort -u
}

closure "$@" >"$work/closure"
files_of_closure >"$work/files"
if [ "$step" = visible ]; then
    rm -rf "$work/pkgconfig"
    mkdir "$work/pkgconfig"
    grep '/pkgconfig/[^/]*\.pc$' "$work/files" | xargs ln -sf -t "$work/pkgconfig"
    exit 0
fi
outside_files >"$work/outside"
[ -s "$work/outside" ] || { echo "nothing is known of what the build in $build read"; exit 1; }
comm -23 "$work/outside" "$work/files" >"$work/beyond"
[ -s "$work/beyond" ] || exit 0
echo "prepare.sh does not install all that the demo needs:"
# One call for all files, because each call reads dpkg's whole database.
xargs -d '\n' dpkg-query -S <"$work/beyond" 2>&1 | sed 's/^dpkg-query: no path found matching pattern /no package: /'
exit 1
