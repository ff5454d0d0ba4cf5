"""What it costs to observe the calls of another MPI library: the same program not observed, observed, traced, and traced by
eztrace, in turns; and what the preloaded library adds to the start of a program that does not use MPI."""

import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from measuring import POE, compile_program, environment, save, scaled
from results import row

RUNS = 7
TRIPS = 200000
WATCHED_NS, TRACED_NS, START_MS = 15, 50, 1
TRACED_RATIO = 1.4  # of a half round trip
MODES = {"not observed": ("-observe", "no"), "observed": (), "traced": ("-tracelevel", "9", "-ttempsize", "4G")}


def launch(*words, tasks, place):
    done = subprocess.run([POE, *map(str, words), "-procs", str(tasks)], env=environment(), cwd=place, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"bench observe: {words[0]} failed: {done.stderr.strip()[-300:]}")
    return [float(word) for word in done.stdout.split()]


def start_of(flags, place):
    begin = time.perf_counter()
    launch("true", *flags, tasks=1, place=place)
    return (time.perf_counter() - begin) * 1e3


def run():
    rows, results = [], {}
    with tempfile.TemporaryDirectory() as place:
        for library, compiler, module in (("Open MPI", "mpicc.openmpi", "openmpi"), ("MPICH", "mpicc.mpich", "mpich")):
            program = compile_program("observe_bench.c", f"observe_bench_{compiler}", compiler)
            values = {mode: [] for mode in MODES}
            if shutil.which("eztrace"):
                values["eztrace"] = []
            for _ in range(max(3, scaled(RUNS, 2))):
                for mode, flags in MODES.items():
                    values[mode].append(launch(program, scaled(TRIPS), *flags, tasks=2, place=place))
                    for trace in pathlib.Path(place).glob("*.trc"):
                        trace.unlink()
                if "eztrace" in values:
                    folder = pathlib.Path(place, "eztrace")
                    values["eztrace"].append(launch("eztrace", "-t", module, "-o", folder, program, scaled(TRIPS), "-observe", "no",
                                                    tasks=2, place=place))
                    shutil.rmtree(folder)
            results[library] = values
            trip, send = ({mode: statistics.median(run[i] for run in runs) for mode, runs in values.items()} for i in (0, 1))
            for mode, target in (("observed", WATCHED_NS), ("traced", TRACED_NS)):
                # A half round trip has a send and a receive.
                rows.append(row(f"{library}: what a call costs more if {mode}, in a half round trip of 8 B, ns",
                                (trip[mode] - trip["not observed"]) / 2, target=target))
                rows.append(row(f"{library}: the same for a send to nobody, ns", send[mode] - send["not observed"], target=target))
                rows.append(row(f"{library}: half a round trip of 8 B, {mode}, against not observed, ns", trip[mode],
                                {"not observed": trip["not observed"]}))
            rows.append(row(f"{library}: half a round trip of 8 B, traced, times that without a tool",
                            trip["traced"] / trip["not observed"], target=TRACED_RATIO))
            if "eztrace" in trip:
                rows.append(row(f"{library}: half a round trip of 8 B, by eztrace, times that without a tool", None,
                                {"eztrace": trip["eztrace"] / trip["not observed"]}))
        starts = {mode: [] for mode in ("not observed", "observed")}
        for _ in range(scaled(100)):
            for mode, each in starts.items():
                each.append(start_of(MODES[mode], place))
        results["start"] = starts
        rows.append(row("what the start of /bin/true costs more, ms",
                        statistics.median(starts["observed"]) - statistics.median(starts["not observed"]), target=START_MS))
    save("observe", results)
    return rows
