"""Whole packaged programs of Open MPI, unmodified, in turns: under poe, under poe on its own MPI library (-mpi poe), and
under mpirun. LAMMPS, HPCC, testers of ScaLAPACK, mpi4py; two tasks, and four, which are more than the processors here."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from measuring import OPEN_MPI, POE, median, ratio, rounds, save, scaled, seconds, table, text
from results import row

TASKS = (2, 4)
LIMIT = 1.02
SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests"

# A liquid of 4000 atoms that interact by the potential of Lennard and Jones.
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 100
run {steps}
"""

RING = """
from mpi4py import MPI
world = MPI.COMM_WORLD
me, n = world.Get_rank(), world.Get_size()
token = bytearray(1000)
for lap in range({laps}):
    if me == 0:
        world.Send(token, 1)
        world.Recv(token, n - 1)
    else:
        world.Recv(token, me - 1)
        world.Send(token, (me + 1) % n)
total = world.allreduce(me)
assert total == n * (n - 1) // 2
"""


def hpcc_input():
    example = next(pathlib.Path("/usr/share/doc/hpcc/examples").glob("_hpccinf.txt*"))
    read = "zcat" if example.suffix == ".gz" else "cat"
    lines = subprocess.run([read, str(example)], capture_output=True, text=True, check=True).stdout.splitlines()
    for i, line in enumerate(lines):  # a small problem on a 1 x 2 grid
        if re.match(r"\d+\s+Ns$", line):
            lines[i] = "200 Ns"
        if re.match(r"\d+\s+Ps$", line):
            lines[i] = "1 Ps"
        if re.match(r"\d+\s+Qs$", line):
            lines[i] = "2 Qs"
    return "\n".join(lines) + "\n"


def programs(folder):
    """name -> (directory, command); a missing program is left out and reported."""
    found = {}
    write = lambda name, content: (folder / name).write_text(content) and str(folder / name)
    if shutil.which("lmp"):
        found["LAMMPS, 4000 atoms"] = (folder, ["lmp", "-log", "none", "-in", write("in.lj", LAMMPS.format(steps=scaled(300)))])
    if shutil.which("hpcc"):
        write("hpccinf.txt", hpcc_input())
        found["HPCC, N = 200"] = (folder, ["hpcc"])
    for tester, data in (("xdlu", "LU.dat"), ("xdqr", "QR.dat"), ("xdllt", "LLT.dat")):
        program = pathlib.Path(SCALAPACK, tester)
        if program.exists():
            directory = folder / tester
            directory.mkdir()
            shutil.copy(pathlib.Path(SCALAPACK, data), directory)
            found[f"ScaLAPACK, {tester}"] = (directory, [str(program)])
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True).returncode == 0:
        found["mpi4py, ring"] = (folder, ["/usr/bin/python3", write("ring.py", RING.format(laps=scaled(20000)))])
    return found


def run():
    if not OPEN_MPI:
        raise SystemExit("bench packages: needs openmpi-bin (./dev bench installs it)")
    results, shown = {}, []
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as name:
        for program, (directory, command) in programs(pathlib.Path(name)).items():
            for tasks in TASKS:
                what = f"{program}, {tasks} tasks"
                launches = {"poe": [POE, *command, "-procs", str(tasks)],
                            "poe -mpi poe": [POE, *command, "-procs", str(tasks), "-mpi", "poe"],
                            "mpirun": [OPEN_MPI, "--oversubscribe", "-n", str(tasks), *command]}
                results[what] = found = rounds({name: lambda launch=launch: seconds(launch, 120, cwd=directory)
                                                for name, launch in launches.items()}, 5)
                times = {name: median(found, name) for name in launches}
                shown.append([what, *(text(time, 1, 2) for time in times.values()),
                              *(text(ratio(times[name], times["mpirun"])) for name in ("poe", "poe -mpi poe")), LIMIT])
    table("packaged programs built with Open MPI, whole jobs, s", ["", *launches, "poe", "-mpi poe", "target"], shown)
    save("packages", results)
    return rows_of(results)


def rows_of(results):
    return [row(f"{what}{on}, s", median(found, name), {"mpirun": median(found, "mpirun")}, LIMIT)
            for what, found in results.items() for name, on in (("poe", ""), ("poe -mpi poe", ", on POE's library"))]
