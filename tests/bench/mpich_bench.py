"""Packaged programs of MPICH, unmodified: on POE's library (poe -mpi poe) and on their own under its launcher. Both must have
the same result. A run is given up after LIMIT seconds, because tasks of MPICH do not give a processor away while they wait."""

import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from measuring import HYDRA, POE, SHORT, environment, save
from results import row

TASKS = (2,) if SHORT else (2, 4, 8, 16)
RUNS = 1 if SHORT else 3
LIMIT = 30
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


def run_once(command, pattern, inputs):
    """Seconds and the lines of the result; None and nothing if the run was given up. Each run has a folder of its own
    with the inputs, because NWChem fails beside the files of an earlier run."""
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as parent:
        folder = shutil.copytree(inputs, pathlib.Path(parent, "run"))
        begin = time.perf_counter()
        try:
            done = subprocess.run(command, env=environment(), cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None, []
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"bench mpich: {' '.join(command)} failed: {done.stderr[-500:]}")
    return seconds, re.findall(pattern, done.stdout + done.stderr)


def run():
    rows, values = [], {}
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as name:
        folder = pathlib.Path(name)
        for what, (command, pattern, most) in programs(folder).items():
            for tasks in (each for each in TASKS if each <= most):
                times = {"poe": [], "MPICH": []}
                for _ in range(RUNS):
                    ours, result = run_once([POE, *command, "-mpi", "poe", "-procs", str(tasks)], pattern, folder)
                    times["poe"].append(ours)
                    if None in times["MPICH"]:
                        continue
                    theirs, expected = run_once([HYDRA, "-n", str(tasks), *command], pattern, folder)
                    times["MPICH"].append(theirs)
                    if theirs is not None and ours is not None and (result != expected or not result):
                        raise SystemExit(f"bench mpich: {what} on {tasks} tasks: {result} on POE's library, {expected} on MPICH")
                values[f"{what}, {tasks}"] = times
                median = {who: None if None in all else statistics.median(all) for who, all in times.items()}
                given_up = " and ".join(who for who in ("poe", "MPICH") if median[who] is None)
                rows.append(row(f"{what}, {tasks} tasks, s" + (f" ({given_up} did not finish in {LIMIT} s)" if given_up else ""),
                                median["poe"], {"MPICH": median["MPICH"]}))
    save("mpich", values)
    return rows
