"""Launch and finish: N x /bin/true, and a program that does one collective, under poe and its peers;
beside it what N bare posix_spawn calls cost, the limit."""

import os

from measuring import (HYDRA, OPEN_MPI, BUILD, compile_program, hydra, median, open_mpi, poe, ratio, rounds, save,
                       seconds, table, text)
from results import row

TRUE_TARGETS = {1: 1.0, 8: 1.0, 32: 0.7, 128: 0.7, 256: 0.7}
HELLO_TARGET = 0.1
# mpirun of Open MPI 4.1.4 hangs in most runs of many tasks that end at once; a hang counts as no value.
OPEN_MPI_TIMEOUT = 5


def launch_true():
    spawn = compile_program("spawn_floor.c", "spawn_floor")
    results, rows = {}, []
    for tasks, target in TRUE_TARGETS.items():
        runs = {"poe": lambda: seconds(poe(tasks, "/bin/true")),
                "hydra": lambda: seconds(hydra(tasks, "/bin/true")),
                "spawn": lambda: seconds([spawn, str(tasks), "/bin/true"])}
        count = 31 if tasks <= 32 else 15
        result = rounds(runs, count)
        if OPEN_MPI and tasks <= 128:
            result.update(rounds({"mpirun": lambda: seconds(open_mpi(tasks, "/bin/true"), OPEN_MPI_TIMEOUT)}, 5))
        peers = [result[name]["median"] for name in ("hydra", "mpirun") if name in result]
        result["ratio"] = ratio(result["poe"]["median"], *peers)
        results[tasks] = result
        mpirun = result.get("mpirun", {"median": None, "failed": 0})
        rows.append([tasks, text(result["spawn"]["median"], 1e3), text(result["poe"]["median"], 1e3),
                     text(result["hydra"]["median"], 1e3),
                     text(mpirun["median"], 1e3) + (f" ({mpirun['failed']} hung)" if mpirun["failed"] else ""),
                     text(result["ratio"]), target])
    table("launch and finish of N x /bin/true, ms", ["N", "posix_spawn", "poe", "hydra", "mpirun", "poe/best", "target"],
          rows)
    return results


def launch_hello():
    mpl = compile_program("hello_mpl.c", "hello_mpl", str(BUILD / "bin" / "mpcc"))
    mpich = compile_program("hello_mpi.c", "hello_mpich", "mpicc.mpich")
    openmpi = compile_program("hello_mpi.c", "hello_openmpi", "mpicc.openmpi")
    results, rows = {}, []
    for tasks in (1, 2, 8, 32):
        count = 11 if tasks <= 8 else 5
        runs = {"poe MPL": lambda: seconds(poe(tasks, mpl)),
                "mpiexec MPICH": lambda: seconds(hydra(tasks, mpich)),
                "mpirun Open MPI": lambda: seconds(open_mpi(tasks, openmpi)),
                "poe Open MPI": lambda: seconds(poe(tasks, openmpi)),
                "poe MPICH": lambda: seconds(poe(tasks, mpich))}
        result = rounds(runs, count)
        result["ratio"] = ratio(result["poe MPL"]["median"], result["mpiexec MPICH"]["median"],
                                result["mpirun Open MPI"]["median"])
        results[tasks] = result
        rows.append([tasks, *(text(result[name]["median"], 1e3) for name in runs), text(result["ratio"]), HELLO_TARGET])
    table("launch, one collective, finish, ms",
          ["N", "poe MPL", "mpiexec MPICH", "mpirun Open MPI", "poe Open MPI", "poe MPICH", "MPL/best", "target"], rows)
    return results


def run():
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench launch: needs mpich and openmpi-bin (./dev bench installs them)")
    os.environ.pop("DISPLAY", None)  # Open MPI would look for it
    results = {"true": launch_true(), "hello": launch_hello()}
    save("launch", results)
    return rows_of(results)


def rows_of(results):
    rows = []
    for tasks, found in results["true"].items():
        ms = {name: median(found, name, 1e3) for name in ("poe", "hydra", "mpirun", "spawn")}
        what = f"{tasks} × /bin/true, ms"
        rows += [row(what, ms["poe"], {name: ms[name] for name in ("hydra", "mpirun")}, TRUE_TARGETS[tasks]),
                 row(what, ms["poe"], {"bare loop": ms["spawn"]})]
    for tasks, found in results["hello"].items():
        ms = lambda name: median(found, name, 1e3)
        what = f"hello of {tasks} task{'s' * (tasks > 1)}"
        mpirun, mpiexec = ms("mpirun Open MPI"), ms("mpiexec MPICH")
        rows += [row(f"{what}, MPL, ms", ms("poe MPL"), {"mpirun": mpirun, "mpiexec": mpiexec}, HELLO_TARGET),
                 row(f"{what}, Open MPI's program, ms", ms("poe Open MPI"), {"mpirun": mpirun}),
                 row(f"{what}, MPICH's program, ms", ms("poe MPICH"), {"mpiexec": mpiexec})]
    return rows
