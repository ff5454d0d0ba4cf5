#!/bin/sh
# A full /dev/shm is an error message, never a SIGBUS: at the creation of the segment, and when a pipe
# is used for the first time. Runs in a file system of its own, which only a user namespace can have:
# exit 77 (skipped) where there are none.
#   mpl_full.sh MPL_RUN MPL_RANDOM
set -u
run=$1
random=$2
if [ "${3:-}" != inside ]; then
    unshare -rm true 2>/dev/null || exit 77
    exec unshare -rm sh "$0" "$run" "$random" inside
fi
place=$(mktemp -d)
trap 'umount "$place" 2>/dev/null; rmdir "$place"' EXIT
small() {
    mount -t tmpfs -o "size=$1" none "$place" || exit 77
}
fail() {
    echo "mpl_full: $1"
    cat "$place.out"
    rm -f "$place.out"
    exit 1
}

small 4k
"$run" -n 4 -d "$place" "$random" 1 1 1 >"$place.out" 2>&1 && fail "creation should fail"
grep -q "cannot reserve .* for the node segment of job .* free there" "$place.out" ||
    fail "no clear message"
umount "$place"

# Who finds it full first depends on the traffic: a pipe, or the memory that a group shares.
pipes=0
for size in 200k 500k 900k; do
    small $size
    "$run" -n 4 -d "$place" "$random" 1 50 10 >"$place.out" 2>&1 && fail "the job should fail in $size"
    grep -q "signal 7" "$place.out" && fail "a task died of SIGBUS in $size"
    if grep -q "0032-114.*cannot reserve .* for messages from task . to task ." "$place.out"; then
        pipes=1
    else
        grep -q "0032-114.*cannot reserve .* for shared memory of a group" "$place.out" ||
            fail "no clear message of the task in $size"
    fi
    umount "$place"
done
[ $pipes = 1 ] || fail "no pipe found it full"
rm -f "$place.out"
exit 0
