"""MPI on POE's own library, MPICH and Open MPI: one source compiled three times, in turns. Messages between two tasks,
and the grid of collective calls. Beside them the same loop with MPL, which the MPI calls are built on."""

import math

import coll_bench
import comm_bench
from measuring import BUILD, HYDRA, OPEN_MPI, compile_program, ratio, save, table, text
from results import row

PEERS = ("MPICH", "Open MPI")
LATENCY = {size: 0.7 for size in (8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)}
EXCHANGE = {size: 0.8 for size in (8, 1024, 65536, 262144, 1048576)}
OPERATIONS = ("bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "sync")
SIZES = (8, 1024, 65536)
TASKS = (2, 4, 16)
MEAN = 0.5


def programs(source):
    name = source.removesuffix(".c")
    mpicc = str(BUILD / "bin" / "mpicc.poe")
    return {"POE": compile_program(source, f"{name}_poe", mpicc, "-DUSE_MPI"),
            "MPL": compile_program(source, f"{name}_mpl", str(BUILD / "bin" / "mpcc")),
            "MPICH": compile_program(source, f"{name}_mpich", "mpicc.mpich", "-DUSE_MPI"),
            "Open MPI": compile_program(source, f"{name}_openmpi", "mpicc.openmpi", "-DUSE_MPI")}


def mean_of(values):
    """The geometric mean of the values that are there; None if none is."""
    known = [value for value in values if value]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def messages():
    built, rows, results = programs("comm_bench.c"), [], {}
    for what, targets, title in (("pingpong", LATENCY, "half a round trip"), ("stream", EXCHANGE, "one-way stream"),
                                 ("sendrecv", EXCHANGE, "sendrecv"), ("exchange", EXCHANGE, "exchange of 2 + 2 messages")):
        results[what] = found = comm_bench.operation(built, what, targets)
        comm_bench.show(f"{title}, us", found, targets, "POE")
        for state, of in sorted(found.items()):
            shares = [ratio(of["POE"][size], *(of[name][size] for name in PEERS)) for size in targets]
            table(f"{title}; cores {state}", ["geometric mean of POE/best"], [[text(mean_of(shares))]])
            rows += [row(f"{title}, {size} B, {state}, µs", of["POE"][size],
                         {name: of[name][size] for name in PEERS}, target) for size, target in targets.items()]
    return rows, results


def collectives():
    built, rows, shares, results = programs("coll_bench.c"), [], [], {}
    del built["MPL"]
    for tasks in TASKS:
        shown = []
        for operation in OPERATIONS:
            for size in SIZES if operation != "sync" else (8,):
                found = coll_bench.cell(built, operation, size, tasks, ())
                results[f"{operation} {size} {tasks}"] = found
                share = ratio(found["POE"], *(found[name] for name in PEERS))
                shares.append(share)
                shown.append([operation, size, *(text(found[name], 1, 2) for name in built), text(share)])
                rows.append(row(f"{operation}, {size} B, {tasks} tasks, µs", found["POE"],
                                {name: found[name] for name in PEERS}, None))
        table(f"collective calls of {tasks} tasks, us", ["operation", "bytes", *built, "POE/best"], shown)
    table("collective calls", ["geometric mean of POE/best", "target"], [[text(mean_of(shares)), MEAN]])
    return rows, results


def run():
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench mpi: needs mpich and openmpi-bin (./dev bench installs them)")
    rows, results = messages()
    more, calls = collectives()
    save("mpi", {"messages": results, "collectives": calls})
    return rows + more
