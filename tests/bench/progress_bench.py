"""Fair service, and messages that move while a task computes: with the settings that programs get by default,
beside the same with MP_SINGLE_COPY=no, or without the thread that moves messages (MP_POLLING_INTERVAL=0)."""

import statistics
import subprocess

from measuring import BUILD, POE, compile_program, environment, ratio, save, scaled, table, text
from results import row

RUNS = 5
LONG = 400_000_000
GAP_TARGET = 1.2
THREAD_TARGETS = {"compute": 1.001, "calls": 1.02}
LATE = 4 << 20


def launch(program, tasks, *words, **variables):
    run = subprocess.run([POE, program, *map(str, words), "-procs", str(tasks)], env={**environment(), **variables},
                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if run.returncode != 0:
        raise SystemExit(f"bench progress: {' '.join(map(str, words))} failed: {run.stderr.strip()[-300:]}")
    return [float(word) for word in run.stdout.split()]


def in_turns(program, tasks, words, settings):
    """setting -> the values of each run; runs of the settings take turns."""
    values = {name: [] for name in settings}
    for _ in range(max(3, scaled(RUNS, 2))):
        for name, variables in settings.items():
            values[name].append(launch(program, tasks, *words, **variables))
    return values


def run():
    program = compile_program("progress_bench.c", "progress_bench", str(BUILD / "bin" / "mpcc"))
    results = {}
    copies = {"single copy": {}, "MP_SINGLE_COPY=no": {"MP_SINGLE_COPY": "no"}}
    gaps = in_turns(program, 3, ("gap", scaled(LONG)), copies)
    results["gap"] = gaps
    medians = {name: [statistics.median(run[i] for run in runs) for i in (0, 1)] for name, runs in gaps.items()}
    table(f"exchange of 8 bytes while {scaled(LONG) // 1000000} MB arrive from another task",
          ["", "longest gap us", "range", "MB/s"],
          [[name, text(gap, 1, 0), f"{min(r[0] for r in gaps[name]):.0f} to {max(r[0] for r in gaps[name]):.0f}",
            text(rate, 1, 0)] for name, (gap, rate) in medians.items()])
    share = ratio(medians["single copy"][0], medians["MP_SINGLE_COPY=no"][0])
    print(f"longest gap, ratio: {text(share)} (target {GAP_TARGET})\n")
    threads = {"thread": {}, "no thread": {"MP_POLLING_INTERVAL": "0"}}
    rows = []
    for what, target in THREAD_TARGETS.items():
        values = in_turns(program, 2, (what,), threads)
        results[what] = values
        with_thread, without = (statistics.median(run[0] for run in values[name]) for name in threads)
        rows.append([what, text(without, 1, 3), text(with_thread, 1, 3), text(ratio(with_thread, without), 1, 4), target])
    table("with the thread that moves messages while a task computes, and without; us",
          ["", "no thread", "thread", "ratio", "target"], rows)
    results["late"] = [launch(program, 2, "late", LATE)[0] for _ in range(RUNS)]
    table("a blocking send of 4 MB to a receive posted by a task that computes for 1000 ms",
          ["median ms", "range"], [[text(statistics.median(results["late"]), 1, 2),
                                    f"{min(results['late']):.2f} to {max(results['late']):.2f}"]])
    save("progress", results)
    return rows_of(results)


def rows_of(results):
    def middle(values, column=0):
        return statistics.median(run[column] for run in values)
    gap, compute, calls = (results[what] for what in ("gap", "compute", "calls"))
    long = f"while {LONG // 1_000_000} MB arrive from a second task"
    return [row(f"longest gap between exchanges of 8 B with a third task {long}, ms", middle(gap["single copy"]) / 1e3,
                {"MP_SINGLE_COPY=no": middle(gap["MP_SINGLE_COPY=no"]) / 1e3}, GAP_TARGET),
            row("rate of these, MB/s", middle(gap["single copy"], 1),
                {"MP_SINGLE_COPY=no": middle(gap["MP_SINGLE_COPY=no"], 1)}),
            row("a loop that computes beside an open receive, ms", middle(compute["thread"]) / 1e3,
                {"no thread": middle(compute["no thread"]) / 1e3}, THREAD_TARGETS["compute"]),
            row("half a round trip of 8 B with mpc_recv, mpc_bsend, mpc_wait, µs", middle(calls["thread"]),
                {"no thread": middle(calls["no thread"])}, THREAD_TARGETS["calls"]),
            row("blocking send of 4 MB to a receive of a task that computes for 1000 ms, ms",
                statistics.median(results["late"]))]
