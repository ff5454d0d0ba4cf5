#!/bin/sh
# ssh_tree FANOUT NODE...: runs /bin/true on each node through a tree of ssh, as a launcher would and
# nothing else: what a launch by ssh cannot be faster than. The node where it runs is none of them.
# SSH_OPTIONS: further words for each ssh.
fanout=$1
shift
self=$(readlink -f "$0")
left=$fanout
while [ $# -gt 0 ]; do
    # The next of as many equal parts as are left: its first node starts the others.
    count=$((($# + left - 1) / left))
    left=$((left - 1))
    head=$1
    rest=
    taken=0
    while [ "$taken" -lt "$count" ]; do
        [ "$taken" -eq 0 ] || rest="$rest $1"
        shift
        taken=$((taken + 1))
    done
    if [ -n "$rest" ]; then
        ssh -o BatchMode=yes $SSH_OPTIONS "$head" "/bin/true; SSH_OPTIONS='$SSH_OPTIONS' exec sh $self $fanout$rest" </dev/null &
    else
        ssh -o BatchMode=yes $SSH_OPTIONS "$head" /bin/true </dev/null &
    fi
done
wait
