"""Collective operations: MPL under poe, MPICH and Open MPI run the same loop, in turns. The results are ratios of
medians to the faster MPI, and their geometric mean.

With more tasks than cores the MPIs may take seconds for a call. A launch that takes too long is dropped, and its
MPI is not launched again for this cell. A cell that only poe completes in time is left out of the mean. When the
virtual cores are far apart, which lasts for seconds or minutes, short calls take twice as long. Therefore a cell whose
launches differ much is launched more often.

./dev bench collectives [apart] [OPERATION|TASKS|BYTES]... measures only these; "apart" adds a barrier after each call.
./dev bench collectives hosts [HOSTS]: see coll_hosts_bench.py.
./dev bench collectives irregular [TASKS]...: see coll_irregular_bench.py."""

import math
import statistics

import coll_hosts_bench
import coll_irregular_bench
from measuring import BUILD, HYDRA, OPEN_MPI, POE, compile_program, measured, output_of, ratio, save, table, text
from results import row

OPERATIONS = ("bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "shift", "sync")
SIZES = (8, 1024, 65536, 1048576)
TASKS = (2, 4, 8, 16)
LAUNCHES, MOST_LAUNCHES = 3, 11
SPREAD = 1.2  # if the slowest launch takes longer than this times the fastest, there are more launches
FAR = 3  # an MPI that is slower by this factor is not launched again
SECONDS = 0.1  # of measuring, in one launch
PATIENCE = 20  # seconds for one launch
MEAN, LARGEST = 0.4, 1.0  # targets: of the mean, and of each cell
BARRIER_TASKS, BARRIER_TURNS, BARRIER = 16, 7, 1.2  # tasks, launches, and the target ratio to the plain barrier


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
        return {name: measured(of) for name, of in values.items()}

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


def beside_plain_barrier(program):
    """Microseconds of a sync under poe and of the plain barrier (plain_barrier.c), in turns: medians."""
    plain = compile_program("plain_barrier.c", "plain_barrier")
    times = {"MPL": [], "plain": []}
    for _ in range(BARRIER_TURNS):
        times["MPL"].append(launch("MPL", program, "sync", SIZES[0], BARRIER_TASKS, ()))
        times["plain"].append(float(output_of([plain, str(BARRIER_TASKS), str(SECONDS)], PATIENCE).split()[3]))
    return {name: measured(values) for name, values in times.items()}


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
                if share is not None:
                    ratios.append(share)
                    if share > LARGEST:
                        missed.append(f"{operation} {size} {tasks}")
                results[f"{operation} {size} {tasks}"] = {**found, "ratio": share}
                rows.append([size if operation != "sync" else "", tasks, *(text(value, 1, 2) for value in found.values()),
                             text(share), LARGEST, "" if share is None else "met" if share <= LARGEST else "MISSED"])
        table(f"{operation}, us", ["bytes", "tasks", *built, "MPL/best", "target", ""], rows)
    mean = geometric_mean(ratios)
    table("all of them", ["cells", "geometric mean", "target", "largest", "missed"],
          [[len(ratios), text(mean), MEAN, text(max(ratios, default=None)), len(missed)]])
    for name in missed:
        print(f"  missed: {name}")
    barrier = beside_plain_barrier(built["MPL"]) if "sync" in wanted(OPERATIONS) and not how else None
    if barrier:
        print(f"sync of {BARRIER_TASKS} tasks: {barrier['MPL']:.1f} us, plain barrier {barrier['plain']:.1f} us: "
              f"{barrier['MPL'] / barrier['plain']:.2f}")
    save("collectives" + "".join(f"-{word}" for word in how), {"cells": results, "geometric_mean": mean, "missed": missed})
    return rows_of(results, barrier)


def rows_of(cells, barrier=None):
    """`cells`: by "operation bytes tasks"; `barrier`: what beside_plain_barrier() returns."""
    ratios = [found["ratio"] for found in cells.values() if found["ratio"] is not None]
    mean = geometric_mean(ratios)
    rows = [{"what": f"geometric mean of {len(ratios)} cells", "ours": None, "ratio": mean, "target": MEAN},
            {"what": "the largest of them", "ours": None, "ratio": max(ratios, default=None), "target": LARGEST}]
    for name, found in cells.items():
        operation, size, tasks = name.split()
        what = f"{operation}, " + (f"{size} B, " if operation != "sync" else "") + f"{tasks} tasks, µs"
        rows.append(row(what, found["MPL"], {peer: found[peer] for peer in ("MPICH", "Open MPI")},
                        LARGEST))
    if barrier:
        rows.append(row(f"sync, {BARRIER_TASKS} tasks, beside a counter and sched_yield, µs", barrier["MPL"],
                        {"plain barrier": barrier["plain"]}, BARRIER))
    return rows
