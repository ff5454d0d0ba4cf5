#!/usr/bin/env python3
"""Runs one program again and again under poe on several hosts of the test bed, and keeps everything of each run that
fails: its output and, of a process that died of a signal, the core file and the stacks in it. For failures that happen
once in a hundred jobs. Needs root, and gdb for the stacks.

  tests/soak/foreign_jobs.py [--runs 1000] [--hosts 4] [--tasks 8] [--keep build/soak] [--poe FILE] [--peer mpirun]
                               PROGRAM [ARGUMENT...]

--peer mpirun: the same jobs under Open MPI's own launcher, to find out whether POE is involved. The last line tells how
many runs failed; the exit status is 1 if any did."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
# On hosts that are namespaces of one computer Open MPI would look for other ways between them, some without success.
# The hosts share the computer's cores, which Open MPI does not know, so a task that waits must yield.
PLAIN_NETWORK = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "eth0",
                 "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PATIENCE = 120


def command_of(options, folder):
    names = [f"node{host}" for host in range(options.hosts)]
    each = -(-options.tasks // options.hosts)
    hosts = pathlib.Path(folder, "hosts")
    if options.peer == "mpirun":
        hosts.write_text("".join(f"{name} slots={each}\n" for name in names))
        launcher = [shutil.which("mpirun.openmpi"), "--hostfile", str(hosts), "-n", str(options.tasks), "--mca", "plm_rsh_agent", "ssh",
                    "--mca", "oob_tcp_if_include", "eth0", *options.program]
    else:
        hosts.write_text("".join(f"{name}\n" for name in names for _ in range(each)))
        launcher = [options.poe, *options.program, "-procs", str(options.tasks), "-hostfile", str(hosts)]
    return [TESTBED, "on", "0", *launcher]


def keep(options, run, result, folder):
    """Moves what is left of a failed run to a directory of its own, with the stacks of its cores."""
    place = pathlib.Path(options.keep, f"run{run}")
    place.mkdir(parents=True, exist_ok=True)
    (place / "status").write_text(f"{result.returncode}\n")
    (place / "stdout").write_bytes(result.stdout)
    (place / "stderr").write_bytes(result.stderr)
    for core in pathlib.Path(folder).glob("core*"):
        stacks = subprocess.run(["gdb", "-q", "-batch", "-ex", "thread apply all bt", options.program[0], str(core)],
                                capture_output=True, text=True)
        (place / f"{core.name}.stacks").write_text(stacks.stdout)
        shutil.move(str(core), place)


def soak(options):
    failed = 0
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="poe-soak-") as folder:
        command = command_of(options, folder)
        for run in range(1, options.runs + 1):
            try:
                result = subprocess.run(["sh", "-c", 'ulimit -c unlimited; cd "$0" && exec "$@"', folder, *command],
                                        capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                                        env={**os.environ, **PLAIN_NETWORK})
            except subprocess.TimeoutExpired as late:
                result = subprocess.CompletedProcess(command, "hung", late.stdout or b"", late.stderr or b"")
            if result.returncode != 0:
                failed += 1
                keep(options, run, result, folder)
            if run % 50 == 0 or run == options.runs:
                print(f"{run} runs, {failed} failed, {time.time() - begin:.0f} s", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--keep", default=str(ROOT / "build" / "soak"))
    parser.add_argument("--poe", default=str(ROOT / "build" / "release" / "bin" / "poe"),
                        help="the poe to test; an installed one, if the tree is built anew meanwhile")
    parser.add_argument("--peer", choices=("poe", "mpirun"), default="poe")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.program:
        parser.error("no program is given")
    if "TESTBED" not in os.environ:
        os.execv(TESTBED, [TESTBED, str(options.hosts), "--", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
    sys.exit(1 if soak(options) else 0)


if __name__ == "__main__":
    main()
