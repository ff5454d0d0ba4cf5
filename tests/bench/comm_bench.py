"""Point-to-point messages: MPL under poe, MPICH and Open MPI through the same loop, in turns, and
beside them what the machine allows (poe_limits). Ratios of medians to the faster MPI."""

import subprocess

from measuring import (BUILD, HYDRA, OPEN_MPI, POE, compile_program, environment, ratio, save, statistics, table, text)

LAUNCHES = 5
# Bytes and what MPL may take of the faster MPI's time, at most.
PINGPONG = {0: 0.65, 8: 0.65, 64: 0.65, 512: 0.60, 1024: 0.60, 4096: 0.60, 8192: 0.60, 16384: 0.70, 65536: 0.70,
            262144: 0.95, 1048576: 1.00, 4194304: 1.00}
STREAM = {8: 0.6, 64: 0.6, 512: 0.6, 4096: None, 65536: None, 1048576: None}
BOTH_WAYS = {8: None, 1024: None, 65536: 0.8, 262144: 0.8, 1048576: 0.8}


def programs():
    return {"MPL": compile_program("comm_bench.c", "comm_bench_mpl", str(BUILD / "bin" / "mpcc")),
            "MPICH": compile_program("comm_bench.c", "comm_bench_mpich", "mpicc.mpich", "-DUSE_MPI"),
            "Open MPI": compile_program("comm_bench.c", "comm_bench_openmpi", "mpicc.openmpi", "-DUSE_MPI")}


def launch(name, tasks, program, arguments, extra):
    """The values of one run: bytes -> microseconds."""
    prefix = {"MPL": [POE], "MPICH": [HYDRA, "-n", str(tasks)],
              "Open MPI": [OPEN_MPI, "--oversubscribe", "--bind-to", "none", "-n", str(tasks)]}[name]
    suffix = ["-procs", str(tasks), *extra] if name == "MPL" else []
    run = subprocess.run([*prefix, program, *arguments, *suffix], env=environment(), capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=300)
    if run.returncode != 0:
        print(f"  {name} failed: {run.stderr.strip()[-300:]}")
        return {}
    return {int(line.split()[1]): float(line.split()[2]) for line in run.stdout.splitlines()}


def operation(built, what, sizes, tasks=2, pin="cores", extra=(), launches=LAUNCHES, names=None):
    """name -> bytes -> median over launches."""
    names = names or list(built)
    values = {name: {size: [] for size in sizes} for name in names}
    arguments = ["-pin", pin, what, *map(str, sizes)]
    for _ in range(launches):
        for name in names:
            for size, value in launch(name, tasks, built[name], arguments, extra).items():
                values[name][size].append(value)
    return {name: {size: statistics.median(all_values) if all_values else None
                   for size, all_values in of.items()} for name, of in values.items()}


def show(title, result, targets):
    rows = []
    for size, target in targets.items():
        ours = result["MPL"][size]
        share = ratio(ours, *(result[name][size] for name in ("MPICH", "Open MPI") if name in result))
        verdict = "" if target is None or share is None else ("met" if share <= target else "MISSED")
        rows.append([size, *(text(result[name][size], 1, 3) for name in result), text(share),
                     target if target is not None else "", verdict])
    table(title, ["bytes", *result, "MPL/best", "target", ""], rows)


def limits():
    run = subprocess.run([compile_program("poe_limits.c", "poe-limits")], capture_output=True, text=True, check=True)
    values = {line.split()[0]: float(line.split()[1]) for line in run.stdout.splitlines()}
    table("limits of this machine, us (half a round trip, or one operation)", ["what", "us"],
          [[name, text(value, 1, 3)] for name, value in values.items()])
    return values


def run():
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench comm: needs mpich and openmpi-bin (./dev bench installs them)")
    built = programs()
    results = {"limits": limits()}
    for what, targets, title in (("pingpong", PINGPONG, "half a round trip, two cores, us"),
                                 ("stream", STREAM, "one-way stream, us per message"),
                                 ("sendrecv", BOTH_WAYS, "sendrecv, us"),
                                 ("exchange", BOTH_WAYS, "exchange, 2 + 2 messages, us")):
        results[what] = operation(built, what, targets)
        show(title, results[what], targets)
    for what in ("unexpected", "posted"):
        result = operation({"MPL": built["MPL"]}, what, (0, 10000))
        results[what] = result
        ours = result["MPL"]
        table(f"half a round trip of 8 bytes among {what} messages, us", ["0", "10000", "ratio", "target"],
              [[text(ours[0], 1, 3), text(ours[10000], 1, 3), text(ratio(ours[10000], ours[0])), 1.3]])
    one = operation({"MPL": built["MPL"], "Open MPI": built["Open MPI"]}, "pingpong", (8,), pin="one")
    results["one_core"] = one
    bare = results["limits"]["yield_one_core"]
    table("half a round trip of 8 bytes, both tasks on one core, us",
          ["sched_yield", *one, "MPL/yield", "target"],
          [[text(bare, 1, 3), *(text(value[8], 1, 3) for value in one.values()), text(ratio(one["MPL"][8], bare)), 1.2]])
    rows = []
    for tasks in (2, 4, 8, 16):
        crowded = {"MPL": built["MPL"], "Open MPI": built["Open MPI"]}
        values = {}
        for name, program in crowded.items():
            found = [launch(name, tasks, program, ["-pin", "cores", "sync"], ()) for _ in range(LAUNCHES)]
            values[name] = statistics.median(value[0] for value in found if value)
        results[f"sync_{tasks}"] = values
        rows.append([tasks, *(text(value, 1, 2) for value in values.values()), text(ratio(values["MPL"], values["Open MPI"]))])
    table("mpc_sync and MPI_Barrier, us", ["tasks", "MPL", "Open MPI", "ratio"], rows)
    results["tcp"] = operation({"MPL": built["MPL"]}, "pingpong", (8, 1048576), extra=("-euilib", "ip"))
    rows = [[size, text(results["limits"][f"tcp_spin_{size}"], 1, 2), text(results["tcp"]["MPL"][size], 1, 2),
             text(ratio(results["tcp"]["MPL"][size], results["limits"][f"tcp_spin_{size}"])), target]
            for size, target in ((8, 1.15), (1048576, 1.05))]
    table("half a round trip over TCP on loopback, us", ["bytes", "bare TCP", "MPL", "ratio", "target"], rows)
    save("comm", results)
