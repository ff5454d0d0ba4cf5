"""Collective operations: MPL under poe, MPICH and Open MPI through the same loop, in turns. Ratios of
medians to the faster MPI, and their geometric mean.

With more tasks than cores the MPIs may take seconds for a call, so a launch that takes too long counts
as none, and an MPI that was too slow once is not asked again for more of the same. What only poe can do
in that time is left out of the mean. Short calls take two times as long when the virtual cores happen to be
far apart, for seconds or minutes: where launches differ much there are more of them.

./dev bench collectives [apart] [OPERATION|TASKS|BYTES]... measures only these, or with a barrier behind
each call; ./dev bench collectives hosts [HOSTS]
what coll_hosts_bench.py says, ./dev bench collectives irregular [TASKS]... what coll_irregular_bench.py says."""

import math
import statistics

import coll_hosts_bench
import coll_irregular_bench
from measuring import BUILD, HYDRA, OPEN_MPI, POE, compile_program, output_of, ratio, save, table, text
from results import row

OPERATIONS = ("bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "shift", "sync")
SIZES = (8, 1024, 65536, 1048576)
TASKS = (2, 4, 8, 16)
LAUNCHES, MOST_LAUNCHES = 3, 11
SPREAD = 1.2  # slowest to fastest launch from which on there are more
FAR = 3  # times as slow as another, so that it need not be known better
SECONDS = 0.1  # of measuring, in one launch
PATIENCE = 20  # seconds for one launch
MEAN, LARGEST, SHORT = 0.5, 1.0, 0.15  # what is wanted: mean, any cell, 8 bytes of SHORT_ONES at 16 tasks
SHORT_ONES = ("sync", "combine", "concat")


def programs():
    return {"MPL": compile_program("coll_bench.c", "coll_bench_mpl", str(BUILD / "bin" / "mpcc")),
            "MPICH": compile_program("coll_bench.c", "coll_bench_mpich", "mpicc.mpich", "-DUSE_MPI"),
            "Open MPI": compile_program("coll_bench.c", "coll_bench_openmpi", "mpicc.openmpi", "-DUSE_MPI")}


def launch(name, program, operation, size, tasks, how):
    """Microseconds of one call; None when it failed or took too long."""
    words = [program, operation, str(size), str(SECONDS), *how]
    under_poe = [POE, *words, "-procs", str(tasks)]
    command = {"MPL": under_poe, "POE": under_poe, "MPICH": [HYDRA, "-n", str(tasks), *words],
               "Open MPI": [OPEN_MPI, "--oversubscribe", "--bind-to", "none", "-n", str(tasks), *words]}[name]
    out = output_of(command, PATIENCE)
    return float(out.split()[3]) if out else None


def cell(built, operation, size, tasks, how):
    """name -> median over launches, in turns; None where it was too slow."""
    values = {name: [] for name in built}

    def medians():
        return {name: statistics.median(good) if (good := [v for v in of if v is not None]) else None
                for name, of in values.items()}

    asked = set(built)
    for launched in range(MOST_LAUNCHES):
        if launched >= LAUNCHES:
            found = medians()
            fastest = min((time for time in found.values() if time is not None), default=0)
            asked = {name for name in asked if found[name] is not None and found[name] < FAR * fastest}
            if all(max(values[name]) < SPREAD * min(values[name]) for name in asked):
                break
        for name in built:
            if name in asked and None not in values[name]:
                values[name].append(launch(name, built[name], operation, size, tasks, how))
    return medians()


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def target(operation, size, tasks):
    return SHORT if tasks == 16 and size == 8 and operation in SHORT_ONES else LARGEST


def run(*only):
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench collectives: needs mpich and openmpi-bin (./dev bench installs them)")
    if only[:1] == ("hosts",):
        return coll_hosts_bench.run(programs(), *map(int, only[1:2]))
    if only[:1] == ("irregular",):
        return coll_irregular_bench.run(*only[1:])
    how = ("apart",) if "apart" in only else ()
    chosen = {str(word) for word in only} - {"apart"}
    unknown = chosen - set(map(str, OPERATIONS + SIZES + TASKS))
    if unknown:
        raise SystemExit(f"bench collectives: no operation, number of bytes or of tasks {', '.join(unknown)}")

    def wanted(values):
        return [value for value in values if str(value) in chosen] or values

    # 8 is a number of bytes and one of tasks; alone it means both.
    built = programs()
    results, ratios, missed = {}, [], []
    for operation in wanted(OPERATIONS):
        rows = []
        for size in wanted(SIZES) if operation != "sync" else SIZES[:1]:
            for tasks in wanted(TASKS):
                found = cell(built, operation, size, tasks, how)
                share = ratio(found["MPL"], found["MPICH"], found["Open MPI"])
                limit = target(operation, size, tasks)
                if share is not None:
                    ratios.append(share)
                    if share > limit:
                        missed.append(f"{operation} {size} {tasks}")
                results[f"{operation} {size} {tasks}"] = {**found, "ratio": share}
                rows.append([size if operation != "sync" else "", tasks, *(text(value, 1, 2) for value in found.values()),
                             text(share), limit, "" if share is None else "met" if share <= limit else "MISSED"])
        table(f"{operation}, us", ["bytes", "tasks", *built, "MPL/best", "target", ""], rows)
    mean = geometric_mean(ratios)
    table("all of them", ["cells", "geometric mean", "target", "largest", "missed"],
          [[len(ratios), text(mean), MEAN, text(max(ratios, default=None)), len(missed)]])
    for name in missed:
        print(f"  missed: {name}")
    save("collectives" + "".join(f"-{word}" for word in how), {"cells": results, "geometric_mean": mean, "missed": missed})
    return rows_of(results)


def rows_of(cells):
    """`cells`: by "operation bytes tasks"."""
    ratios = [found["ratio"] for found in cells.values() if found["ratio"] is not None]
    mean = geometric_mean(ratios)
    rows = [{"what": f"geometric mean of {len(ratios)} cells", "ours": None, "ratio": mean, "target": MEAN},
            {"what": "the largest of them", "ours": None, "ratio": max(ratios, default=None), "target": LARGEST}]
    for name, found in cells.items():
        operation, size, tasks = name.split()
        what = f"{operation}, " + (f"{size} B, " if operation != "sync" else "") + f"{tasks} tasks, µs"
        rows.append(row(what, found["MPL"], {peer: found[peer] for peer in ("MPICH", "Open MPI")},
                        target(operation, int(size), int(tasks))))
    return rows
