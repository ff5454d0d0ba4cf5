"""Fair service, and messages that move while a task computes: with the settings that programs get by default,
beside the same with MP_SINGLE_COPY=no, or without the thread that moves messages (MP_POLLING_INTERVAL=0)."""

import statistics
import subprocess

from measuring import BUILD, POE, compile_program, environment, ratio, save, scaled, table, text

RUNS = 5
LONG = 400_000_000


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
    print(f"longest gap, ratio: {text(share)} (target 1.2)\n")
    threads = {"thread": {}, "no thread": {"MP_POLLING_INTERVAL": "0"}}
    rows = []
    for what, tasks, target in (("compute", 1 + 1, 1.001), ("calls", 2, 1.02)):
        values = in_turns(program, tasks, (what,), threads)
        results[what] = values
        with_thread, without = (statistics.median(run[0] for run in values[name]) for name in threads)
        rows.append([what, text(without, 1, 3), text(with_thread, 1, 3), text(ratio(with_thread, without), 1, 4), target])
    table("with the thread that moves messages while a task computes, and without; us",
          ["", "no thread", "thread", "ratio", "target"], rows)
    results["late"] = [launch(program, 2, "late", 4 << 20)[0] for _ in range(RUNS)]
    table("a blocking send of 4 MB to a receive posted by a task that computes for 1000 ms",
          ["median ms", "range"], [[text(statistics.median(results["late"]), 1, 2),
                                    f"{min(results['late']):.2f} to {max(results['late']):.2f}"]])
    save("progress", results)
