#!/bin/sh
# A full /dev/shm is an error message, never a SIGBUS: at the creation of the segment, and when a pipe
# is used for the first time. Collective calls for which there is no room go another way. Runs in a
# file system of its own, which only a user namespace can have: exit 77 (skipped) where there are none.
#   mpl_full.sh MPL_RUN MPL_RANDOM MPL_LONG_CALLS
set -u
run=$1
random=$2
long_calls=$3
if [ "${4:-}" != inside ]; then
    unshare -rm true 2>/dev/null || exit 77
    exec unshare -rm sh "$0" "$run" "$random" "$long_calls" inside
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

for size in 200k 500k 900k; do
    small $size
    "$run" -n 4 -d "$place" "$random" 1 50 10 >"$place.out" 2>&1 && fail "the job should fail in $size"
    grep -q "signal 7" "$place.out" && fail "a task died of SIGBUS in $size"
    grep -q "0032-114.*cannot reserve .* for messages from task . to task ." "$place.out" ||
        fail "no clear message of the task in $size"
    umount "$place"
done

# Room for messages, and not for all that collective calls share.
for size in 2500k 3m; do
    small $size
    MP_COLL_INDEX=shared-memory MP_COLL_SHIFT=shared-memory \
        "$run" -n 3 -d "$place" "$long_calls" short >"$place.out" 2>&1 || fail "the calls fail in $size"
    grep -q "ATTENTION: 0032-123 cannot reserve .* for long data of a group" "$place.out" ||
        fail "nobody tells that there was no room in $size"
    grep -q "all calls are right" "$place.out" || fail "the calls are wrong in $size"
    umount "$place"
done
small 20m
"$run" -n 3 -d "$place" "$long_calls" short >"$place.out" 2>&1 || fail "the calls fail"
grep -q ATTENTION "$place.out" && fail "there is room enough"
umount "$place"
rm -f "$place.out"
exit 0
