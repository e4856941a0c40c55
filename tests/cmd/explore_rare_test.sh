# explore_rare_test.sh WSDBG SIM_APP RARE.ptx - what hangs under few schedules is found in few, as explore draws them by default.
set -eu
wsdbg=$1 app=$2 kernels=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# found KERNEL MOST: a hang or a fault, in so many schedules at most.  That is what docs/results/explore.md says of the median, and more.
found() {
    status=0
    "$wsdbg" explore --schedules "$2" -o "$1.db" -- "$app" "$kernels" "$1" 96 > out 2> err || status=$?
    if [ $status = 0 ] || ! grep -Eq "(hang|fault) in schedule [0-9]+ of launch 0 \\($1\\)" err; then
        echo "$1: nothing was found in $2 schedules, status $status" >&2
        cat err >&2
        exit 1
    fi
    # The session keeps what it takes, of a fault as of a hang.
    if ! "$wsdbg" query "$1.db" --csv 'SELECT text FROM log' | grep -Eq "(hang|fault) in schedule [0-9]+ of launch 0 \\($1\\): It takes"; then
        echo "$1: the session does not say what it takes" >&2
        cat err >&2
        exit 1
    fi
}
found early_release 60
found early_release_far 60
found lapped 60
found late_init 60
found stale_flag 60
