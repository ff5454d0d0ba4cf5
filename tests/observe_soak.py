#!/usr/bin/env python3
"""Packaged applications of Open MPI and MPICH, observed and traced, one after the other: observe_soak.py MINUTES [SEED].

Each run is compared with the profile of the same run (tests/multiproc/mpi_profiles.py), and looks for deadlocks after
short waits. A report of a deadlock, a difference, a lost record or an exit status ends the search with status 1, after
all programs have had their turns. Programs that are not installed are left out and named, and so are those that fail under the
launcher of their library, too."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "multiproc"), str(HERE / "bench")]
import mpi_profiles  # noqa: E402
import packages_bench  # noqa: E402

SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")
# The tutorials of PETSc, of the package libpetsc3.18-dev-examples: source, arguments, tasks.
PETSC = pathlib.Path("/usr/share/petsc/3.18/share/petsc/examples/src")
PETSC_CONFIG = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/pkgconfig"
TUTORIALS = (("ksp/ksp/tutorials/ex2", ("-m", "40", "-n", "40"), 4), ("snes/tutorials/ex19", ("-da_refine", "2"), 4),
             ("ts/tutorials/ex2", (), 2))
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n"], "mpich": ["mpiexec.mpich", "-n"]}
LIMIT = 120  # s; of a run under the library's own launcher
DEADLOCK_TIMEOUT = 3  # s; waits of these programs are often longer on a busy computer
NWCHEM = "start water\ngeometry; N 0 0 0; N 0 0 1.1; end\nbasis; * library 6-31g; end\ntask scf\n"
COLLECTIVES = """
import array
from mpi4py import MPI
world = MPI.COMM_WORLD
me, n = world.Get_rank(), world.Get_size()
halves = world.Split(me % 2, me)
for lap in range(200):
    lengths = [(me + 1) * (other + 1) for other in range(n)]
    taken = array.array("i", [0] * sum(lengths))
    world.Alltoallv([array.array("i", range(sum(lengths))), lengths, MPI.INT], [taken, lengths, MPI.INT])
    halves.allreduce(me)
    requests = [world.irecv(source=MPI.ANY_SOURCE, tag=lap) for _ in range(n - 1)]
    for other in range(n):
        if other != me:
            world.send(list(range(lap)), dest=other, tag=lap)
    MPI.Request.waitall(requests)
    world.gather({me: lap}, root=lap % n)
"""


def programs(folder):
    """Tuples of a name, the library, the number of tasks, the directory, and the command."""
    found, missing = [], []
    for name, (directory, command) in packages_bench.programs(folder).items():
        if "ScaLAPACK" not in name:
            found.append((name, "openmpi", 2, directory, command))
    (folder / "collectives.py").write_text(COLLECTIVES)
    if any(name == "mpi4py, ring" for name, *_ in found):
        found.append(("mpi4py, collectives", "openmpi", 3, folder, ["/usr/bin/python3", str(folder / "collectives.py")]))
    for library in ("openmpi", "mpich"):
        place = SCALAPACK / f"{library}-tests"
        testers = sorted(place.glob("x[sdcz]*")) if place.exists() else []
        if not testers:
            missing.append(f"ScaLAPACK of {library}")
        for tester in testers:
            data = [file for file in place.glob("*.dat")]
            directory = folder / f"{library}-{tester.name}"
            directory.mkdir()
            for file in data:
                shutil.copy(file, directory)
            # These need more than two tasks. Tasks of MPICH never give a processor away while they wait.
            more = tester.name.endswith(("sep", "svd", "evr"))
            if not more or library == "openmpi" or (os.cpu_count() or 1) >= 4:
                found.append((f"ScaLAPACK {tester.name}", library, 4 if more else 2, directory, [str(tester)]))
    if shutil.which("NPmpich2"):
        found.append(("NetPIPE", "mpich", 2, folder, ["NPmpich2", "-u", "200000", "-n", "50", "-o", str(folder / "np.out")]))
    else:
        missing.append("NetPIPE")
    if shutil.which("nwchem.mpich"):
        (folder / "water.nw").write_text(NWCHEM)
        found.append(("NWChem", "mpich", 2, folder, ["nwchem.mpich", str(folder / "water.nw")]))
    else:
        missing.append("NWChem")
    if (PETSC / f"{TUTORIALS[0][0]}.c").exists() and pathlib.Path(PETSC_CONFIG, "PETSc.pc").exists():
        found += petsc_programs(folder)
    else:
        missing.append("PETSc")
    return found, missing


def petsc_programs(folder):
    """The same tuples for the tutorials of PETSc, which are compiled here."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], env=dict(os.environ, PKG_CONFIG_PATH=PETSC_CONFIG),
                           check=True, capture_output=True, text=True).stdout.split()
    found = []
    for source, arguments, tasks in TUTORIALS:
        program = folder / f"petsc-{source.replace('/', '-')}"
        subprocess.run(["/usr/bin/mpicc.openmpi", "-w", "-O1", str(PETSC / f"{source}.c"), "-o", str(program), *flags, "-lm"], check=True)
        found.append((f"PETSc {source}", "openmpi", tasks, folder, [str(program), *arguments]))
    return found


def fails_alone(library, tasks, command, directory, env):
    """Whether the program fails without poe."""
    try:
        return subprocess.run([*LAUNCHERS[library], str(tasks), *command], cwd=directory, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main():
    minutes = float(sys.argv[1])
    order = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    bad, runs, calls, unusable = 0, 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="poe-observe-soak-") as name:
        folder = pathlib.Path(name)
        found, missing = programs(folder)
        print(f"{len(found)} programs" + (f"; not installed: {', '.join(missing)}" if missing else ""), flush=True)
        profiles = {library: mpi_profiles.compiled(library, name) for library in {program[1] for program in found}}
        begin = time.monotonic()
        order.shuffle(found)
        while time.monotonic() < begin + 60 * minutes:
            for what, library, tasks, directory, command in found:
                if time.monotonic() >= begin + 60 * minutes:
                    break
                if what in unusable:
                    continue
                env = dict(os.environ, MP_DEADLOCK_TIMEOUT=str(DEADLOCK_TIMEOUT), OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
                try:
                    done, profiled, traced, summary = mpi_profiles.run(profiles[library], tasks, command, str(directory), env,
                                                                       ("-ttempsize", "16G"))
                except SystemExit as failed:
                    text = str(failed)
                    unusable.add(what)
                    if fails_alone(library, tasks, command, directory, env):
                        print(f"{what} ({library}) fails under {LAUNCHERS[library][0]}, too, and is left out", flush=True)
                        continue
                    print(f"{what} ({library}): {text[-600:]}", flush=True)
                    bad += 1
                    continue
                runs += 1
                calls += sum(count for count, _ in profiled.values())
                faults = list(mpi_profiles.differences(profiled, traced))
                if "deadlock" in done.stderr:
                    faults.append("a deadlock was reported: " + done.stderr[-1500:])
                if summary["lost"]:
                    faults.append(f"{summary['lost']} records lost")
                bad += 1 if faults else 0
                for fault in faults:
                    print(f"{what} ({library}): {fault}", flush=True)
                (directory / "profiled.trc").unlink()
        print(f"{runs} runs, {calls} calls, {(time.monotonic() - begin) / 60:.0f} minutes: "
              + (f"{bad} with faults" if bad else "no deadlock was reported, and all counts and bytes agree"), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
