"""Irregular all-to-all: patterns 1 and 2 of paper 004 at 16 and 64 tasks, mpc_indexv under poe beside
MPI_Alltoallv of MPICH and Open MPI, in turns. Then the paper's algorithms A1 to A4 by name, and the order in
which mpsim has them, with the costs of messages and turns that mptune and mpc_sync measure here.

./dev bench collectives irregular [TASKS]..."""

import itertools
import os
import pathlib
import statistics
import tempfile

from measuring import BUILD, HYDRA, OPEN_MPI, POE, compile_program, in_turns, output_of, ratio, save, table, text
from results import row

TASKS = (16, 64)
PATTERNS = (1, 2)
ELEMENTS = 1024  # in a long message, of 22 bytes: the paper's figures 17 and 18
LAUNCHES = 5
MPCC = str(BUILD / "bin" / "mpcc")
SECONDS = 0.3  # of measuring, in one launch
PATIENCE = 30  # seconds for one launch
LARGEST = 1.0  # of the best MPI's time
# The paper's names, with the forms in which it measures them; the first is blocking.
ALGORITHMS = {"A1 blocking": "pairwise:1", "A1": "pairwise:0", "A2 blocking": "a2:0", "A2": "a2:1",
              "A3 blocking": "a3:0", "A3 one buffer": "a3:1", "A4 blocking": "a4:0",
              "A4 one buffer": "a4:1", "A4 two buffers": "a4:2"}
# Microseconds of a piece that is copied, of a byte or two: A4 of 64 tasks copies 20480 in each, for which perf
# has 96 of its 220 us.
PIECE = 0.005
# Two that are closer than this have no order, measured or simulated.
ALIKE = 1.1


def programs():
    source = "coll_irregular_bench.c"
    return {"MPL": compile_program(source, "coll_irregular_mpl", MPCC),
            "MPICH": compile_program(source, "coll_irregular_mpich", "mpicc.mpich", "-DUSE_MPI"),
            "Open MPI": compile_program(source, "coll_irregular_openmpi", "mpicc.openmpi", "-DUSE_MPI")}


def microseconds(command, **variables):
    out = output_of(command, PATIENCE, **variables)
    return float(out.split()[3]) if out else None


def costs(tasks):
    """What mptune finds that a message costs, and each byte of it: of some runs, since they differ by a half."""
    runs = []
    for _ in range(LAUNCHES):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "tuning"
            output_of([POE, str(BUILD / "bin" / "mptune"), "-o", file, "-procs", str(tasks)], PATIENCE)
            runs.append(dict(line.split()[:2] for line in file.read_text().split("level network")[0].splitlines()))
    return [statistics.median(float(facts[name]) for facts in runs) for name in ("message", "load")]


def model_of(tasks):
    """The flags with which mpsim simulates so many tasks of this computer. A call of mpc_sync is one turn of each."""
    message, byte = costs(tasks)
    sync = compile_program("coll_bench.c", "coll_bench_mpl", MPCC)
    turns = in_turns(LAUNCHES, {"sync": lambda: microseconds([POE, sync, "sync", "8", str(SECONDS), "-procs", str(tasks)])})
    cores = os.cpu_count()
    return ("-ts", f"{message:.3g}", "-tc", f"{byte:.3g}", "-tw", f"{byte:.3g}", "-tp", str(PIECE),
            "-cores", str(cores), "-tt", f"{turns['sync'] * cores / tasks:.2f}")


def simulated(lengths, tasks, model):
    """algorithm -> microseconds by mpsim."""
    times = {}
    with tempfile.NamedTemporaryFile("w", suffix=".lengths") as file:
        file.write(lengths)
        file.flush()
        for name, algorithm in ALGORITHMS.items():
            out = output_of([str(BUILD / "bin" / "mpsim"), "index", algorithm, "-n", str(tasks), "-lengths", file.name, *model], PATIENCE)
            if out:
                times[name] = float(out.splitlines()[1].split()[1])
    return times


def apart(times, a, b):
    return max(times[a], times[b]) > ALIKE * min(times[a], times[b])


def agreement(measured, model):
    """How many of the pairs whose times differ are in the simulator's order, and how many such pairs there are."""
    pairs = [(a, b) for a, b in itertools.combinations(model, 2)
             if measured[a] is not None and measured[b] is not None and apart(model, a, b) and apart(measured, a, b)]
    return sum((model[a] < model[b]) == (measured[a] < measured[b]) for a, b in pairs), len(pairs)


def cell(built, pattern, tasks, model):
    words = (str(pattern), str(ELEMENTS), str(SECONDS))
    mpl = [POE, built["MPL"], *words, "-procs", str(tasks)]
    peers = in_turns(LAUNCHES, {
        "MPL": lambda: microseconds(mpl),
        "MPICH": lambda: microseconds([HYDRA, "-n", str(tasks), built["MPICH"], *words]),
        "Open MPI": lambda: microseconds([OPEN_MPI, "--oversubscribe", "--bind-to", "none", "-n", str(tasks),
                                          built["Open MPI"], *words])})
    forced = in_turns(LAUNCHES, {name: lambda algorithm=algorithm: microseconds(mpl, MP_COLL_INDEX=algorithm)
                       for name, algorithm in ALGORITHMS.items()})
    lengths = output_of([POE, built["MPL"], str(pattern), str(ELEMENTS), "lengths", "-procs", str(tasks)], PATIENCE)
    return peers, forced, simulated(lengths, tasks, model)


def run(*only):
    tasks_wanted = [int(word) for word in only] or TASKS
    built = programs()
    rows, missed, results = [], [], {}
    flags = {tasks: model_of(tasks) for tasks in tasks_wanted}
    for pattern, tasks in itertools.product(PATTERNS, tasks_wanted):
        peers, forced, model = cell(built, pattern, tasks, flags[tasks])
        share = ratio(peers["MPL"], peers["MPICH"], peers["Open MPI"])
        if share is not None and share > LARGEST:
            missed.append(f"pattern {pattern}, {tasks} tasks")
        rows.append([pattern, tasks, *(text(value, 1, 1) for value in peers.values()), text(share), LARGEST,
                     "" if share is None else "met" if share <= LARGEST else "MISSED"])
        agreed, pairs = agreement(forced, model)
        if agreed < pairs:
            missed.append(f"pattern {pattern}, {tasks} tasks: the order of {pairs - agreed} pairs")
        table(f"pattern {pattern}, {tasks} tasks: measured and by mpsim, us; {agreed} of {pairs} pairs in its order\n"
              f"({' '.join(flags[tasks])})",
              ["", "measured", "mpsim"],
              [[name, text(forced[name], 1, 1), text(model.get(name), 1, 1)]
               for name in sorted(forced, key=lambda name: model.get(name, 0))])
        results[f"{pattern} {tasks}"] = {"peers": peers, "forced": forced, "model": model, "ratio": share,
                                         "agreed": agreed, "pairs": pairs, "flags": flags[tasks]}
    table("index of unequal blocks, us", ["pattern", "tasks", *built, "MPL/best", "target", ""], rows)
    for name in missed:
        print(f"  missed: {name}")
    save("collectives-irregular", {"cells": results, "missed": missed})
    return rows_of(results)


def rows_of(cells):
    """`cells`: by "pattern tasks"."""
    rows = []
    for name, found in cells.items():
        pattern, tasks = name.split()
        what = f"pattern {pattern}, {tasks} tasks"
        peers = {peer: found["peers"][peer] for peer in ("MPICH", "Open MPI")}
        rows += [row(f"{what}, µs", found["peers"]["MPL"], peers, LARGEST),
                 row(f"{what}, pairs of algorithms in mpsim's order of {found['pairs']}", found["agreed"], None,
                     f">= {found['pairs']}")]
    return rows
