"""Packaged programs of MPICH, unmodified: on POE's library (poe -mpi poe) and on their own under its launcher. Both must have
the same result. A run is given up after LIMIT seconds, because tasks of MPICH do not yield the processor while they wait.

./dev bench mpich hosts [HOSTS]...: the same with one task on each of 2 and of 16 hosts of the test bed (tests/cluster/testbed,
as root), which are as fast as memory and share the processors of this computer."""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measuring import HYDRA, POE, ROOT, SHORT, environment, save, table
from results import row

TASKS = (2,) if SHORT else (2, 4, 8, 16)
RUNS = 1 if SHORT else 3
LIMIT = 30
HOSTS = (2, 16)
HOSTS_LIMIT = 120
GIVEN_UP = 124  # the status of timeout(1)
TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
# Between hosts that are namespaces of one computer, MPICH's UCX would try other connections, some of which never succeed.
PLAIN_NETWORK = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0"]
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests")
TESTERS = {"xdlu": "LU.dat", "xdqr": "QR.dat", "xdllt": "LLT.dat"}
NWCHEM = "start nitrogen\ngeometry; N 0 0 0; N 0 0 1.1; end\nbasis; * library 6-31g; end\ntask scf\n"


def programs(folder):
    """name -> (command, pattern of the lines that are the result, most tasks)"""
    found = {}
    for tester, data in TESTERS.items():
        if (SCALAPACK / tester).exists():
            shutil.copy(SCALAPACK / data, folder)
            found[f"ScaLAPACK, {tester}"] = ([str(SCALAPACK / tester)], r"\d+ tests completed.*", 16)
    if shutil.which("nwchem.mpich"):
        (folder / "nitrogen.nw").write_text(NWCHEM)
        found["NWChem, N2"] = (["nwchem.mpich", "nitrogen.nw"], r"Total SCF energy = +-?\d+\.\d{6}", 4)
    if shutil.which("NPmpich2"):
        found["NetPIPE, to 100 kB"] = (["NPmpich2", "-u", "100000", "-n", "200", "-o", "netpipe.out"], r" +\d+: +\d+ bytes", 2)
    return found


def run_once(command, pattern, inputs, limit):
    """Seconds and the lines of the result; None and nothing if the run was given up. Each run has a folder of its own
    with the inputs, because NWChem fails beside the files of an earlier run."""
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as parent:
        folder = shutil.copytree(inputs, pathlib.Path(parent, "run"))
        begin = time.perf_counter()
        try:
            done = subprocess.run(command, env=environment(), cwd=folder, capture_output=True, text=True, timeout=limit,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None, []
        seconds = time.perf_counter() - begin
    if done.returncode == GIVEN_UP:
        return None, []
    if done.returncode != 0:
        raise SystemExit(f"bench mpich: {' '.join(command)} failed: {done.stdout[-300:]} {done.stderr[-500:]}")
    return seconds, re.findall(pattern, done.stdout + done.stderr)


def in_turns(what, pattern, inputs, commands, limit):
    """name -> seconds of each run; None for a run that was given up. Ends the benchmark if two libraries have different results."""
    times, results = {name: [] for name in commands}, {}
    for _ in range(RUNS):
        for name, command in commands.items():
            if None in times[name]:
                continue
            seconds, result = run_once(command, pattern, inputs, limit)
            times[name].append(seconds)
            if seconds is None:
                continue
            known = results.setdefault("first", result)
            if result != known or not result:
                raise SystemExit(f"bench mpich: {what}: {result} with {name}, {known} before")
    return times


def row_of(what, times, limit):
    median = {who: None if None in all else statistics.median(all) for who, all in times.items()}
    given_up = " and ".join(who for who in ("poe", "MPICH") if median[who] is None)
    return row(f"{what}, s" + (f" ({given_up} did not finish in {limit} s)" if given_up else ""), median["poe"],
               {"MPICH": median["MPICH"]})


def show(title, values):
    """Each run's seconds, side by side."""
    words = lambda all: " ".join("given up" if each is None else f"{each:.2f}" for each in all)
    table(title, ["", "poe", "MPICH"], [[what, words(times["poe"]), words(times["MPICH"])] for what, times in values.items()])


def run(*words):
    if words[:1] == ("hosts",):
        return run_hosts([int(word) for word in words[1:]] or HOSTS)
    rows, values = [], {}
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as name:
        folder = pathlib.Path(name)
        for what, (command, pattern, most) in programs(folder).items():
            for tasks in (each for each in TASKS if each <= most):
                name = f"{what}, {tasks} tasks"
                values[name] = in_turns(name, pattern, folder,
                                        {"poe": [POE, *command, "-mpi", "poe", "-procs", str(tasks)],
                                         "MPICH": [HYDRA, "-n", str(tasks), *command]}, LIMIT)
                rows.append(row_of(name, values[name], LIMIT))
    show("packaged programs of MPICH, s", values)
    save("mpich", values)
    return rows


def measure():
    """Beside the hosts, in the test bed: prints the times as JSON. Every host sees the folder of a run."""
    hosts = int(os.environ["TESTBED_HOSTS"])
    values = {}
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as name, tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
        file.writelines(f"node{k}\n" for k in range(hosts))
        file.flush()
        folder = pathlib.Path(name)
        for what, (command, pattern, most) in programs(folder).items():
            tasks = min(most, hosts)
            # A launcher that is stopped in the host takes its tasks with it.
            on_first = [TESTBED, "on", "0", "timeout", "--kill-after=5", str(HOSTS_LIMIT), *PLAIN_NETWORK]
            values[f"{what}, {tasks} hosts"] = in_turns(
                f"{what}, {tasks} hosts", pattern, folder,
                {"poe": [*on_first, POE, *command, "-mpi", "poe", "-procs", str(tasks), "-hostfile", file.name],
                 "MPICH": [*on_first, HYDRA, "-launcher", "ssh", "-f", file.name, "-n", str(tasks), *command]},
                HOSTS_LIMIT + 30)
    print(json.dumps(values))


def run_hosts(numbers):
    if os.getuid() != 0:
        raise SystemExit("bench mpich hosts: hosts in namespaces need root")
    values = {}
    for hosts in numbers:
        done = subprocess.run([TESTBED, str(hosts), "--", sys.executable, __file__], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"bench mpich hosts: status {done.returncode}")
        found = json.loads(done.stdout.splitlines()[-1])
        show(f"packaged programs of MPICH, a task on each of {hosts} hosts, s; where both have finished, with equal results", found)
        values.update(found)
    save("mpich-hosts", values)
    return [row_of(what, times, HOSTS_LIMIT) for what, times in values.items()]


if __name__ == "__main__":
    measure()
