"""Standard output: 4 tasks write 250 MB each of 80-byte lines into a pipe that is read at once."""

import os
import subprocess
import threading
import time

from measuring import (HYDRA, OPEN_MPI, compile_program, environment, hydra, median, open_mpi, poe, ratio, rounds, save,
                       table, text)
from results import row

TASKS = 4
BYTES = 250_000_000
PLAIN_TARGET, LABELLED_TARGET = ">= 1.0", ">= 2.0"  # of the faster peer
MEMORY_TARGET = 64  # MB, of each process


def tree_memory(pid, peaks):
    """Peak resident KB of pid and its pmd."""
    def children(parent):
        try:
            return [int(c) for c in open(f"/proc/{parent}/task/{parent}/children").read().split()]
        except OSError:
            return []
    for one in [pid, *children(pid)]:
        try:
            status = open(f"/proc/{one}/status").read()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        name, peak = fields["Name"].strip(), int(fields.get("VmHWM", "0 kB").split()[0])
        peaks[name] = max(peaks.get(name, 0), peak)


def rate(command, expected, check, counts, tasks=TASKS):
    """MB/s of task output through a pipe into the checker, which counts torn lines."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment())
    reader = subprocess.Popen(check, stdin=process.stdout, stdout=subprocess.PIPE)
    process.stdout.close()
    peaks = {}
    stop = threading.Event()

    def watch():
        while not stop.wait(0.1):
            tree_memory(process.pid, peaks)
    watcher = threading.Thread(target=watch)
    watcher.start()
    output = reader.communicate()[0]
    process.wait()
    took = time.perf_counter() - begin
    stop.set()
    watcher.join()
    torn = int(output.split()[0]) if output.split() else 0
    key = " ".join(os.path.basename(c) for c in command[:1])
    counts.setdefault(key, []).append({"torn": torn, "peaks": peaks})
    return tasks * expected / took / 1e6


def run():
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench stdio: needs mpich and openmpi-bin (./dev bench installs them)")
    writer = compile_program("write_lines.c", "write_lines")
    checker = compile_program("check_lines.c", "check_lines")
    counts = {}

    def measured(command, total, prefix):
        return lambda: rate(command, total, [checker, prefix], counts.setdefault(prefix, {}))
    full = str(BYTES)
    less = str(BYTES // 5)
    results = rounds({
        "pipe": measured(["sh", "-c", f"for i in 1 2 3 4; do {writer} {full} & done; wait"], BYTES, "read"),
        "poe": measured(poe(TASKS, writer, full), BYTES, "read"),
        "hydra": measured(hydra(TASKS, writer, full), BYTES, "read"),
        "mpirun": measured(open_mpi(TASKS, writer, less), BYTES // 5, "read"),
        "poe labelled": measured([*poe(TASKS, writer, full), "-labelio", "yes"], BYTES, "read"),
        "hydra labelled": measured([HYDRA, "-prepend-rank", "-n", str(TASKS), writer, full], BYTES, "read"),
        "mpirun labelled": measured([OPEN_MPI, "--oversubscribe", "--tag-output", "-n", str(TASKS), writer, less],
                                    BYTES // 5, "read"),
    }, 5)
    # Line integrity costs the reader time, so it is looked at in runs that are not timed.
    integrity = {}
    for name, command in {"poe": poe(TASKS, writer, less), "hydra": hydra(TASKS, writer, less),
                          "mpirun": open_mpi(TASKS, writer, less),
                          "poe labelled": [*poe(TASKS, writer, less), "-labelio", "yes"],
                          "hydra labelled": [HYDRA, "-prepend-rank", "-n", str(TASKS), writer, less]}.items():
        found = {}
        rate(command, BYTES // 5, [checker, "check"], found)
        integrity[name] = next(iter(found.values()))[0]["torn"]
    memory = {}
    for run_counts in counts.get("read", {}).get("poe", []):
        for name, peak in run_counts["peaks"].items():
            memory[name] = max(memory.get(name, 0), peak)
    plain = results["poe"]["median"] / max(results["hydra"]["median"], results["mpirun"]["median"])
    labelled = results["poe labelled"]["median"] / max(results["hydra labelled"]["median"],
                                                       results["mpirun labelled"]["median"])
    table("4 tasks x 250 MB of 80-byte lines, MB/s", ["", "MB/s", "torn lines of 2.5 M"],
          [[name, text(results[name]["median"], 1, 0), integrity.get(name, "-")] for name in results])
    table("ratios to the faster peer", ["", "poe/best", "target"],
          [["plain", text(plain), PLAIN_TARGET], ["labelled", text(labelled), LABELLED_TARGET]])
    table(f"peak memory, MB (target {MEMORY_TARGET})", ["process", "MB"],
          [[name, text(peak, 1 / 1024, 1)] for name, peak in memory.items()])
    all_results = {"rates": results, "torn": integrity, "memory_kb": memory,
                   "ratio_plain": plain, "ratio_labelled": labelled}
    save("stdio", all_results)
    return rows_of(all_results)


def rows_of(results):
    rates, torn = results["rates"], results["torn"]
    launchers = ("hydra", "mpirun")

    def rate_row(what, suffix, peers, target=None):
        theirs = {name: median(rates, name + suffix) for name in peers}
        return row(what, median(rates, "poe" + suffix), theirs, target, True)

    what = f"{TASKS} tasks write {BYTES // 1_000_000} MB each"
    return [rate_row(f"{what}, MB/s", "", launchers, PLAIN_TARGET),
            row(f"{what}, MB/s", median(rates, "poe"), {"one shared pipe": median(rates, "pipe")}),
            rate_row(f"{what}, labelled, MB/s", " labelled", launchers, LABELLED_TARGET),
            row("torn lines of 2.5 M", torn["poe"], {name: torn.get(name) for name in launchers}, 0),
            row("torn lines of 2.5 M, labelled", torn["poe labelled"], {"hydra": torn.get("hydra labelled")}, 0),
            *(row(f"peak memory of {name}, MB", peak / 1024, None, MEMORY_TARGET)
              for name, peak in results["memory_kb"].items())]
