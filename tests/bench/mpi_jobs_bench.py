"""Whole MPI jobs for mpi_bench: their start and memory, and programs that check their own results (examples/nas and
mini-applications). A program's time is the one that it prints, without the start of the job."""

import re

from measuring import BUILD, HYDRA, OPEN_MPI, POE, ROOT, compile_program, in_turns, output_of, ratio, scaled, seconds, table, text
from results import row

PEERS = ("MPICH", "Open MPI")
COMPILERS = {"POE": str(BUILD / "bin" / "mpicc.poe"), "MPICH": "mpicc.mpich", "Open MPI": "mpicc.openmpi"}
START_TARGETS = {2: 0.15, 16: 0.05, 128: 0.05}
MEMORY_TARGET, NOT_SLOWER = 0.5, 1.0
# Seconds after which a job counts as one that did not finish.
PATIENCE = 20
LAUNCHES = 5
# Source in examples/, and arguments so that a run takes about a second.
PROGRAMS = {"EP, class W": ("nas/ep.c", "W"), "CG, class A": ("nas/cg.c", "A"), "MG, class A": ("nas/mg.c", "A"),
            "FT, class A": ("nas/ft.c", "A"), "IS, class A": ("nas/is.c", "A"),
            "conjugate gradients, 512 x 512": ("cg.c", "512"), "hydrodynamics, 400 x 100": ("hydro.c", "sod", "400", "100")}


def build(source, name):
    return {library: compile_program(source, f"{name}_{library.replace(' ', '')}", compiler, "-Wno-stringop-overflow", "-lm")
            for library, compiler in COMPILERS.items()}


def command(library, tasks, *words):
    return {"POE": [POE, *words, "-procs", str(tasks)], "MPICH": [HYDRA, "-n", str(tasks), *words],
            "Open MPI": [OPEN_MPI, "--oversubscribe", "--bind-to", "none", "-n", str(tasks), *words]}[library]


def named(what, found):
    """What is measured, and which peers did not finish."""
    late = [name for name in PEERS if found[name] is None]
    return what + (f" ({' and '.join(late)} did not finish in {PATIENCE} s)" if late else "")


def start():
    """A job that makes one barrier, less a job of /bin/true under the same launcher; and the memory of its tasks."""
    hello, memory, rows, results = build("hello_mpi.c", "hello"), build("mpi_memory.c", "memory"), [], {}
    for tasks, target in START_TARGETS.items():
        time = lambda library, program: lambda: seconds(command(library, tasks, program), PATIENCE)
        jobs = in_turns(scaled(7), {**{library: time(library, program) for library, program in hello.items()},
                                    **{f"{library} true": time(library, "/bin/true") for library in hello}})
        ours = {library: None if None in (jobs[library], jobs[f"{library} true"]) else
                max(1e3 * (jobs[library] - jobs[f"{library} true"]), 0.1) for library in hello}
        size = lambda library: lambda: (out := output_of(command(library, tasks, memory[library]), PATIENCE)) and int(out)
        sizes = in_turns(1, {library: size(library) for library in memory})
        results[tasks] = {"start": jobs, "memory": sizes}
        for what, found, limit in (("start and end of {} tasks less /bin/true, ms", ours, target),
                                   ("memory (PSS) of each of {} tasks, KB", sizes, MEMORY_TARGET)):
            rows.append(row(named(what.format(tasks), found), found["POE"], {peer: found[peer] for peer in PEERS}, limit))
        table(f"{tasks} tasks", ["", *hello], [["start, ms", *map(text, ours.values())],
                                               ["memory, KB", *map(text, sizes.values())]])
    return rows, results


def time_of(library, tasks, program, words):
    """The seconds that the program prints; None if it did not finish or its result is wrong."""
    out = output_of(command(library, tasks, program, *words), PATIENCE)
    found = re.search(r"(\d+\.\d+) s, ", out or "")
    return float(found[1]) if found else None


def programs(tasks):
    rows, results, shown = [], {}, []
    for what, (source, *words) in PROGRAMS.items():
        built = build(ROOT / "examples" / source, source.replace("/", "_").removesuffix(".c"))
        runs = {library: lambda library=library: time_of(library, tasks, built[library], words) for library in built}
        results[what] = found = in_turns(scaled(LAUNCHES), runs)
        rows.append(row(named(f"{what}, {tasks} tasks, s", found), found["POE"], {peer: found[peer] for peer in PEERS},
                        NOT_SLOWER))
        shown.append([what, *map(text, found.values()), text(ratio(found["POE"], *(found[peer] for peer in PEERS)))])
    table(f"whole programs, {tasks} tasks, s", ["", *COMPILERS, "POE/best"], shown)
    return rows, results
