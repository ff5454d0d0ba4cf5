"""Point-to-point messages: MPL under poe, MPICH and Open MPI through the same loop, in turns, and
beside them what the machine allows (poe_limits). Ratios of medians to the faster MPI."""

import os
import subprocess

from measuring import (BUILD, HYDRA, OPEN_MPI, POE, compile_program, environment, measured, output_of, ratio, save,
                       table, text)
from results import row

LAUNCHES = 3
# So many times the launches at most, until all programs have met one state of the cores at each size.
PATIENT = 4
# Repetitions of a run that met the same state of the cores (see repetitions.h).
LEAST_REPETITIONS = 20
# Bytes and what MPL may take of the faster MPI's time, at most.
PINGPONG = {0: 0.65, 8: 0.65, 64: 0.65, 512: 0.60, 1024: 0.60, 4096: 0.60, 8192: 0.60, 16384: 0.70, 65536: 0.70,
            262144: 0.95, 1048576: 1.00, 4194304: 1.00}
STREAM = {8: 0.6, 64: 0.6, 512: 0.6, 4096: None, 65536: None, 1048576: None}
MANY = 10000  # messages that wait
MANY_TARGET = 1.3  # of the time among none
ONE_CORE_TARGET = 1.2  # of a bare hand-over by sched_yield
TCP_TARGETS = {8: 1.15, 1048576: 1.05}  # of bare TCP
SYNC_TARGETS = {2: None, 4: None, 8: None, 16: 0.15}
BOTH_WAYS = {8: None, 1024: None, 65536: 0.8, 262144: 0.8, 1048576: 0.8}


def programs():
    return {"MPL": compile_program("comm_bench.c", "comm_bench_mpl", str(BUILD / "bin" / "mpcc")),
            "MPICH": compile_program("comm_bench.c", "comm_bench_mpich", "mpicc.mpich", "-DUSE_MPI"),
            "Open MPI": compile_program("comm_bench.c", "comm_bench_openmpi", "mpicc.openmpi", "-DUSE_MPI")}


def launch(name, tasks, program, arguments, extra, patience=300, least=LEAST_REPETITIONS):
    """The values of one run: (bytes, state of the cores) -> microseconds; None if it failed or took too long."""
    prefix = {"MPL": [POE], "POE": [POE], "MPICH": [HYDRA, "-n", str(tasks)],
              "Open MPI": [OPEN_MPI, "--oversubscribe", "--bind-to", "none", "-n", str(tasks)], "bare TCP": []}[name]
    suffix = ["-procs", str(tasks), *extra] if prefix == [POE] else []
    line = f"/dev/shm/poe-bench-line-{os.getpid()}"
    variables = {"COMM_BENCH_LINE": line} if tasks == 2 and "one" not in arguments else {}
    out = output_of([*prefix, program, *arguments, *suffix], patience, **variables)
    if os.path.exists(line):
        os.unlink(line)
    if out is None:
        return None
    lines = map(str.split, out.splitlines())
    return {(int(words[1]), words[2]): float(words[3]) for words in lines if int(words[5]) >= least}


def operation(built, what, sizes, tasks=2, pin="cores", extra=(), launches=LAUNCHES, names=None, **how):
    """state -> name -> bytes -> median over launches. A size has figures in a state only if all programs met that state,
    so that None beside figures means a run that failed or took too long; such a run is not repeated. Sizes that no state
    has are launched again, PATIENT times at most. States without figures are left out."""
    names = names or list(built)
    values, failed = {}, set()

    def met(state, size):
        of = values[state]
        return any((name, size) in of for name in names) and all((name, size) in of or (name, size) in failed for name in names)

    for launched in range(PATIENT * launches):
        for size in sizes:  # short runs in turns: the state may change at any time
            if launched >= launches and any(met(state, size) for state in values):
                continue
            for name in names:
                if (name, size) in failed:
                    continue
                found = launch(name, tasks, built[name], ["-pin", pin, what, str(size)], extra, **how)
                if found is None:
                    failed.add((name, size))
                for (_, state), value in (found or {}).items():
                    values.setdefault(state, {}).setdefault((name, size), []).append(value)
    return {state: {name: {size: measured(of.get((name, size), ())) if met(state, size) else None for size in sizes}
                    for name in names}
            for state, of in values.items() if any(met(state, size) for size in sizes)}


def show(title, by_state, targets, own="MPL"):
    for state, result in sorted(by_state.items()):
        rows = []
        for size, target in targets.items():
            if all(of[size] is None for of in result.values()):
                continue
            ours = result[own][size]
            share = ratio(ours, *(result[name][size] for name in ("MPICH", "Open MPI")))
            verdict = "" if target is None or share is None else ("met" if share <= target else "MISSED")
            rows.append([size, *(text(result[name][size], 1, 3) for name in result), text(share),
                         target if target is not None else "", verdict])
        table(f"{title}; cores {state}", ["bytes", *result, f"{own}/best", "target", ""], rows)


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
        results[what] = operation({"MPL": built["MPL"]}, what, (0, MANY))
        for state, result in sorted(results[what].items()):
            ours = result["MPL"]
            table(f"half a round trip of 8 bytes among {what} messages, us; cores {state}",
                  ["0", str(MANY), "ratio", "target"],
                  [[text(ours[0], 1, 3), text(ours[MANY], 1, 3), text(ratio(ours[MANY], ours[0])), MANY_TARGET]])
    two = {"MPL": built["MPL"], "Open MPI": built["Open MPI"]}
    results["one_core"] = operation(two, "pingpong", (8,), pin="one")
    bare = results["limits"]["yield_one_core"]
    for result in results["one_core"].values():
        table("half a round trip of 8 bytes, both tasks on one core, us",
              ["sched_yield", *result, "MPL/yield", "target"],
              [[text(bare, 1, 3), *(text(value[8], 1, 3) for value in result.values()),
                text(ratio(result["MPL"][8], bare)), ONE_CORE_TARGET]])
    rows = []
    for tasks in SYNC_TARGETS:
        values = {}
        for name, program in two.items():
            found = [launch(name, tasks, program, ["-pin", "cores", "sync"], ()) for _ in range(LAUNCHES)]
            values[name] = measured([time for of in found for time in (of or {}).values()])
        results[f"sync_{tasks}"] = values
        rows.append([tasks, *(text(value, 1, 2) for value in values.values()),
                     text(ratio(values["MPL"], values["Open MPI"]))])
    table("mpc_sync and MPI_Barrier, us", ["tasks", "MPL", "Open MPI", "ratio"], rows)
    bare = compile_program("comm_bench.c", "comm_bench_tcp", "cc", "-DUSE_TCP")
    results["tcp"] = operation({"MPL": built["MPL"], "bare TCP": bare}, "pingpong", TCP_TARGETS, extra=("-euilib", "ip"))
    for state, result in sorted(results["tcp"].items()):
        table(f"half a round trip over TCP on loopback, us; cores {state}",
              ["bytes", "bare TCP", "MPL", "ratio", "target"],
              [[size, text(result["bare TCP"][size], 1, 2), text(result["MPL"][size], 1, 2),
                text(ratio(result["MPL"][size], result["bare TCP"][size])), target]
               for size, target in TCP_TARGETS.items()])
    save("comm", results)
    return rows_of(results)


def rows_of(results):
    limits, rows = results["limits"], []
    for what, targets, title in (("pingpong", PINGPONG, "half a round trip"), ("stream", STREAM, "one-way stream"),
                                 ("sendrecv", BOTH_WAYS, "sendrecv"),
                                 ("exchange", BOTH_WAYS, "exchange of 2 + 2 messages")):
        rows += [row(f"{title}, {size} B, {state}, µs", found["MPL"][size],
                     {name: found[name][size] for name in ("MPICH", "Open MPI")}, target)
                 for state, found in sorted(results[what].items()) for size, target in targets.items()]
    for what in ("unexpected", "posted"):
        rows += [row(f"half a round trip, 8 B among {MANY} {what} messages, {state}, µs", found["MPL"][MANY],
                     {"among none": found["MPL"][0]}, MANY_TARGET)
                 for state, found in sorted(results[what].items())]
    for found in results["one_core"].values():
        what = "half a round trip, 8 B, both tasks on one core, µs"
        rows += [row(what, found["MPL"][8], {"sched_yield": limits["yield_one_core"]}, ONE_CORE_TARGET),
                 row(what, found["MPL"][8], {"Open MPI": found["Open MPI"][8]})]
    rows += [row(f"mpc_sync of {tasks} tasks, µs", results[f"sync_{tasks}"]["MPL"],
                 {"Open MPI": results[f"sync_{tasks}"]["Open MPI"]}, target) for tasks, target in SYNC_TARGETS.items()]
    rows += [row(f"TCP on loopback, half a round trip, {size} B, {state}, µs", found["MPL"][size],
                 {"bare TCP": found["bare TCP"][size]}, target)
             for state, found in sorted(results["tcp"].items()) for size, target in TCP_TARGETS.items()]
    return rows
