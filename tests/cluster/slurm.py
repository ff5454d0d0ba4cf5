"""A Slurm on the hosts of the test bed, for its tests and for the benchmark: a controller on the first host, a
daemon on each, and munge for their keys. It goes with the hosts."""

import os
import pathlib
import shutil
import subprocess

import hosts
from hosts import HOSTS, clean_environment, command_on, testbed, wait_for

SYSTEM_PATH = ":/usr/sbin"  # where Debian has the daemons
ROOM = pathlib.Path("/run/testbed/slurm")
CONTROLLER = """ClusterName=testbed
SlurmctldHost=node0
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/slurmd.log
TmpFS=/run/slurm/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_min_interval=0
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=node[0-{last}] CPUs=4 RealMemory=512 State=UNKNOWN
PartitionName=main Nodes=node[0-{last}] Default=YES MaxTime=INFINITE State=UP
PartitionName=small Nodes=node{last} MaxTime=INFINITE State=UP
"""
# On each host. /run is its own there, but for the room; what munged uses must belong to nobody else.
BEGIN = """set -e
mkdir -p /run/slurm/state /run/slurm/spool /run/slurm/tmp /run/munge
mount --bind {room}/etc /etc/slurm
install -m 400 {room}/key /run/munge/key
munged --force --key-file=/run/munge/key --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/munged.pid \\
    --log-file=/run/munge/munged.log --seed-file=/run/munge/seed --num-threads=1
[ "$(hostname)" != node0 ] || slurmctld
slurmd -N "$(hostname)"
"""


def installed():
    return all(shutil.which(name, path=os.environ["PATH"] + SYSTEM_PATH) for name in ("slurmctld", "slurmd", "munged", "srun"))


def on(*args, host=0, **options):
    return subprocess.run(command_on(host, *args), capture_output=True, text=True, timeout=hosts.DEADLINE,
                          env=clean_environment(), **options)


def begin():
    """Returns when all hosts of the test bed are available as nodes."""
    os.environ["PATH"] += SYSTEM_PATH
    hosts.RESIDENT += ("munged", "slurmctld", ": slurmscriptd", "slurmd")
    (ROOM / "etc").mkdir(parents=True)
    (ROOM / "etc" / "slurm.conf").write_text(CONTROLLER.format(last=HOSTS - 1))
    (ROOM / "etc" / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    (ROOM / "key").write_bytes(os.urandom(128))
    for host in range(HOSTS):
        testbed("on", host, "sh", "-c", BEGIN.format(room=ROOM))
    wait_for(lambda: on("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(HOSTS), "nodes to be idle")
